"""Small task folders with real pictures, model files, and what runs leave behind."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from PIL import Image

Item = dict[str, Any]

MODEL = "mock-model"
EVALUATOR = 'dict(type="BaseEvaluator")'


def choice(question_id: object, question: str, *, answer: str = "B", **fields: Any) -> Item:
    """A multiple-choice item; `B` is what a `MockEndpoint` answers by itself."""
    item = {"question_id": question_id, "question": question, "question_type": "multiple-choice"}
    return {**item, "options": ["red", "green", "blue"], "answer": answer, **fields}


def choices(count: int, **fields: Any) -> list[Item]:
    """Items with the ids `1`, `2`, … and the questions `Question 1?`, `Question 2?`, …"""
    return [choice(number, f"Question {number}?", **fields) for number in range(1, count + 1)]


def write_picture(path: Path, colour: str = "green", size: tuple[int, int] = (24, 16)) -> Path:
    """A picture of one colour, in the format of its suffix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path)
    return path


def write_data(folder: Path, items: Iterable[Item], *, file: str = "data.json") -> Path:
    """A data root: the annotations, and a picture for every `img_path` in them that is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    items = list(items)
    (folder / file).write_text(json.dumps(items), encoding="utf-8")
    for item in items:
        paths = item.get("img_path") or []
        for path in [paths] if isinstance(paths, str) else paths:
            if not (folder / path).exists():
                write_picture(folder / path)
    return folder


def write_task(
    folder: Path, items: Iterable[Item], *, name: str = "colours", evaluator: str = EVALUATOR, prompt: str = "None"
) -> Path:
    """A task file `<folder>/<name>.py` whose data are in `<folder>/data`."""
    data = write_data(folder / "data", items)
    text = (
        f"dataset = dict(type='VqaBaseDataset', data_root={str(data)!r}, name={name!r}, prompt_template={prompt})\n"
        f"evaluator = {evaluator}\n"
    )
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return path


def write_model(path: Path, url: str | None, **settings: Any) -> Path:
    """A model file for an endpoint; retries are few and quick unless `settings` say otherwise."""
    values = {"model_name": MODEL, "url": url, "num_workers": 4, "timeout": 10, "retries": 2, **settings}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values), encoding="utf-8")
    return path


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def read_lines(path: Path) -> list[Any]:
    """The values of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def answers_by_id(output: Path, task: str = "colours") -> dict[str, Item]:
    """The entries of `<task>.json` by question id."""
    return {entry["question_id"]: entry for entry in read_json(output / task / f"{task}.json")}


def result_of(output: Path, task: str = "colours") -> dict[str, Any]:
    """`<task>_result.json`."""
    value: dict[str, Any] = read_json(output / task / f"{task}_result.json")
    return value


def counts_of(output: Path, task: str = "colours") -> dict[str, int]:
    """The counts of a result that are not 0."""
    return {name: number for name, number in result_of(output, task)["counts"].items() if number}


def add_up(counts: Mapping[str, int]) -> bool:
    """Whether every question asked has exactly one status."""
    return counts["asked"] == sum(counts[name] for name in ("answered", "empty", "refused", "failed"))


def files_under(folder: Path) -> list[str]:
    """The relative paths of all files, in order."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
