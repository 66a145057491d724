"""The tables recorded from VLMEvalKit, as a user has them in `$LMUData`."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path

RECORDED = Path(__file__).parents[1] / "data" / "vlmevalkit"
EXPECTED = {path.stem: json.loads(path.read_text()) for path in sorted((RECORDED / "expected").glob("*.json"))}
ROWS = [(name, row) for name, expected in EXPECTED.items() for row in expected["rows"]]
REPLIES = {row["tag"]: row["reply"] for _, row in ROWS}
_TAG = re.compile(r"#(\w+)#")


def tag_of(text: str) -> str:
    """The tag in a question."""
    match = _TAG.search(text)
    assert match, text
    return match[1]


def write_tables(folder: Path, data: Path) -> None:
    """Fill `data` with the tables and their pictures; those that the tables name by path are in `folder`."""
    with zipfile.ZipFile(RECORDED / "media.zip") as archive:
        archive.extractall(folder)
    for name, expected in EXPECTED.items():
        text = (RECORDED / "tables" / f"{name}.tsv").read_text(encoding="utf-8")
        data.mkdir(parents=True, exist_ok=True)
        (data / f"{name}.tsv").write_text(text.replace("{{MEDIA}}", str(folder / "media")), encoding="utf-8")
        for file, picture in expected["files"].items():
            target = data / "images" / name / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / "media" / picture, target)
