"""Make the demo's data set: draw it, store it as a HuggingFace data set, read that back, write `data.json` and `img/`.

Drawing stands in for a download. The other steps are those that a benchmark from the HuggingFace hub needs, too.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import charts
import comparisons
import digits
import receipts
import signs
import tables
from item import Item

KINDS = (receipts, tables, signs, charts, digits, comparisons)


def process(cfg: Any) -> None:
    """Write `<processed_dataset_path>/<split>/data.json` and the pictures it names."""
    target = Path(cfg.processed_dataset_path)
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target, prefix="source-") as scratch, quiet_datasets() as datasets:
        source = Path(scratch) / Path(cfg.dataset_path).name
        write_source(source, cfg.split, make_items())
        rows = datasets.load_dataset(str(source), split=cfg.split, cache_dir=str(Path(scratch) / "cache"))
        # the stored bytes are wanted, not pixels that would go through JPEG a second time
        rows = rows.cast_column("images", [datasets.Image(decode=False)])
        write_annotations(target / cfg.split, rows)


def make_items() -> list[Item]:
    return [item for kind in KINDS for item in kind.make_items()]


def write_source(folder: Path, split: str, items: list[Item]) -> None:
    """Store `items` as the one parquet file of a HuggingFace data set."""
    import datasets

    columns = asdict(items[0]).keys()
    features = datasets.Features(
        {
            **dict.fromkeys(columns, datasets.Value("string")),
            "answers": [datasets.Value("string")],
            "options": [datasets.Value("string")],
            "images": [datasets.Image()],
        }
    )
    rows = [{**asdict(item), "images": [{"bytes": image, "path": None} for image in item.images]} for item in items]
    folder.mkdir(parents=True)
    datasets.Dataset.from_list(rows, features=features).to_parquet(str(folder / f"{split}.parquet"))


def write_annotations(folder: Path, rows: Any) -> None:
    (folder / "img").mkdir(parents=True, exist_ok=True)
    content = []
    for row in rows:
        paths = [f"img/{row['question_id']}_{number}.jpg" for number in range(1, len(row["images"]) + 1)]
        for path, image in zip(paths, row["images"], strict=True):
            (folder / path).write_bytes(image["bytes"])
        content.append(annotation(row, paths))
    (folder / "data.json").write_text(json.dumps(content, indent=2, ensure_ascii=False), encoding="utf-8")


def annotation(row: dict[str, Any], paths: list[str]) -> dict[str, Any]:
    """One entry of `data.json`; several pictures are named by tokens in front of the question."""
    several = len(paths) > 1
    tokens = "".join(f"<image {number}> " for number in range(1, len(paths) + 1)) if several else ""
    entry = {
        "question_id": row["question_id"],
        "question": tokens + row["question"],
        "question_type": row["question_type"],
        "answer": row["answers"] if len(row["answers"]) > 1 else row["answers"][0],
        "img_path": paths if several else paths[0],
        "sub_task": row["sub_task"],
    }
    return {**entry, "options": row["options"]} if row["options"] else entry


@contextmanager
def quiet_datasets() -> Iterator[Any]:
    """The package `datasets` without progress bars, which would tear the run's own."""
    import datasets

    were_on = datasets.are_progress_bars_disabled() is False
    datasets.disable_progress_bars()
    try:
        yield datasets
    finally:
        if were_on:
            datasets.enable_progress_bars()
