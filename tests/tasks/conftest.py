"""Small HuggingFace data sets in the shape of the published ones, and whole runs of installed tasks on them."""

from __future__ import annotations

import io
import json
import logging
import shutil
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import datasets
import pytest
from PIL import Image

from flagmm.cli import main
from flagmm.types import Annotation


def picture(colour: str = "red", *, mode: str = "RGB", suffix: str = "PNG") -> dict[str, Any]:
    """An image cell: the bytes of a small picture file."""
    file = io.BytesIO()
    Image.new(mode, (8, 6), colour).save(file, suffix)
    return {"bytes": file.getvalue(), "path": None}


class Benchmark:
    """Makes a data set under the published id and runs an installed task on it, in this process."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def write(
        self,
        dataset: str,
        rows: Sequence[Mapping[str, Any]],
        features: datasets.Features,
        *,
        split: str,
        config: str | None = None,
    ) -> None:
        """Write rows as a parquet split of `dataset`, such as "lmms-lab/POPE"; a config is a folder of its own."""
        place = self.folder / dataset / (config or "data")
        place.mkdir(parents=True, exist_ok=True)
        table = datasets.Dataset.from_list([dict(row) for row in rows], features=features)
        table.to_parquet(str(place / f"{split}-00000-of-00001.parquet"))
        self._write_card(dataset, config, place.name, split)

    def _write_card(self, dataset: str, config: str | None, place: str, split: str) -> None:
        """Name the configs in README.md, as the hub's data sets do."""
        configs = self.folder / dataset / "configs.json"
        known = json.loads(configs.read_text()) if configs.exists() else {}
        known.setdefault(config or "default", {})[split] = f"{place}/{split}-*"
        configs.write_text(json.dumps(known))
        lines = ["---", "configs:"]
        for name, splits in known.items():
            lines += [f"- config_name: {name}", "  data_files:"]
            lines += [f"  - split: {key}\n    path: {pattern}" for key, pattern in splits.items()]
        (self.folder / dataset / "README.md").write_text("\n".join([*lines, "---", ""]))

    def run(self, task: str, answers: Mapping[str, str], *arguments: str) -> dict[str, Any]:
        """Prepare, ask a scripted model, score; returns `_result.json`. Results of an earlier run are removed."""
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        model = self.folder / "scripted.json"
        model.write_text(json.dumps({"model_type": "scripted", "answers": dict(answers)}))
        flags = ["--output-dir", "out", "--overwrite", "--quiet", *arguments]
        before = signal.getsignal(signal.SIGTERM), list(logging.getLogger().handlers)
        try:
            status = main(["--tasks", task, "--cfg", str(model), *flags])
        finally:
            signal.signal(signal.SIGTERM, before[0])
            logging.getLogger().handlers[:] = before[1]
            logging.captureWarnings(False)
        assert status in (0, 1), self._capsys.readouterr().err
        results = [json.loads(path.read_text()) for path in (self.folder / "out").glob("*/*_result.json")]
        return results[0] if results else {}  # where no question has a scripted answer, there is no score

    def items(self) -> dict[str, Annotation]:
        """The prepared annotations by id."""
        paths = list(self.folder.glob("cache/**/data.json"))
        assert len(paths) == 1, paths
        return {str(item["question_id"]): item for item in json.loads(paths[0].read_text())}

    def prompts(self) -> dict[str, str]:
        """The finished prompts by id."""
        return {entry["question_id"]: entry["question"] for entry in self._one("*_evaluated.json")}

    def evaluated(self) -> dict[str, dict[str, Any]]:
        """The entries of `_evaluated.json` by id."""
        return {entry["question_id"]: entry for entry in self._one("*_evaluated.json")}

    def media(self, question_id: str) -> list[bytes]:
        """The stored pictures of a prepared item, in order."""
        [data] = self.folder.glob("cache/**/data.json")
        paths = self.items()[question_id]["img_path"]
        return [(data.parent / path).read_bytes() for path in ([paths] if isinstance(paths, str) else paths)]

    def gold(self) -> dict[str, str]:
        """An answer that is right for each prepared item: the reference, or the first of several."""
        return {
            key: str(item["answer"][0] if isinstance(item["answer"], list) else item["answer"])
            for key, item in self.items().items()
        }

    def _one(self, pattern: str) -> Any:
        [path] = (self.folder / "out").glob(f"*/{pattern}")
        return json.loads(path.read_text())


@pytest.fixture
def benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Benchmark:
    """Data sets and results in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLAGEVALMM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf")
    return Benchmark(tmp_path, capsys)
