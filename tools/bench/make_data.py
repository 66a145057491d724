"""Make a benchmark's data, always the same: multiple-choice questions with photo-like JPEGs of about 300 KB.

    python make_data.py OUT -n 1000 --files 1000     # 1,000 questions, a file each
    python make_data.py OUT -n 20000 --files 0       # text only

OUT/task.py and OUT/data.json are a task for our command, OUT/plain.jsonl the same for the ideal client. The files
in OUT/img are links to OUT/../pictures, which data sets of several sizes share.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SIZE = (1280, 960)
OCTAVES = {4: 1.0, 16: 0.35, 64: 0.2, 256: 0.12, 1280: 0.05}
"""Cells across the picture, and the weight of noise of that grain: much coarse, little fine, as in a photo."""
JPEG_QUALITY = 92
BASES = 8
COLOURS = ["red", "green", "blue", "yellow", "purple", "orange", "white", "black"]
THINGS = ["square", "circle", "triangle", "line", "cross", "ring", "star", "arrow"]

TASK = """dataset = dict(type="VqaBaseDataset", data_root={root!r}, anno_file="data.json", name={name!r})
evaluator = dict(type="BaseEvaluator")
"""


def photo(seed: int) -> bytes:
    """Return a JPEG of smooth noise in several grains."""
    from PIL import Image

    noise = random.Random(seed)
    picture = Image.new("RGB", SIZE)
    for cells, weight in OCTAVES.items():
        grid = (cells, max(1, cells * SIZE[1] // SIZE[0]))
        layer = Image.frombytes("RGB", grid, noise.randbytes(3 * grid[0] * grid[1]))
        picture = Image.blend(picture, layer.resize(SIZE, Image.Resampling.BICUBIC), weight)
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=JPEG_QUALITY)
    return file.getvalue()


def numbered(jpeg: bytes, number: int) -> bytes:
    """Return another file with the same picture: a comment after the start marker holds `number`."""
    comment = f"picture {number}".encode()
    return jpeg[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + jpeg[2:]


def write_pictures(folder: Path, count: int) -> list[Path]:
    """Write `count` files that differ; those already there are kept, as they would come out the same."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{number:06d}.jpg" for number in range(count)]
    missing = [number for number, path in enumerate(paths) if not path.exists()]
    bases = {number % BASES: photo(number % BASES) for number in missing}
    for number in missing:
        paths[number].write_bytes(numbered(bases[number % BASES], number))
    return paths


def link_pictures(paths: list[Path], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for path in paths:
        if not (folder / path.name).exists():
            os.link(path, folder / path.name)


def questions(count: int, files: int) -> Iterator[dict[str, Any]]:
    """Yield the items of data.json; questions take the pictures in turn."""
    for number in range(count):
        choose = random.Random(number)
        pairs = zip(choose.sample(COLOURS, 4), choose.sample(THINGS, 4), strict=True)
        item: dict[str, Any] = {
            "question_id": f"q{number:06d}",
            "question": f"Which of these is the largest thing in picture number {number}?",
            "question_type": "multiple-choice",
            "options": [f"a {colour} {thing}" for colour, thing in pairs],
            "answer": choose.choice("ABCD"),
        }
        yield {**item, "img_path": f"img/{number % files:06d}.jpg"} if files else item


def write_data(folder: Path, *, count: int, files: int) -> None:
    """Write one data set with `count` questions that share `files` pictures (0: text only)."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    link_pictures(write_pictures(folder.parent / "pictures", files), folder / "img")
    items = list(questions(count, files))
    (folder / "data.json").write_text(json.dumps(items))
    (folder / "task.py").write_text(TASK.format(root=str(folder), name=folder.name))
    with (folder / "plain.jsonl").open("w") as lines:
        for item in items:
            text = "\n".join([item["question"], *map("{}. {}".format, "ABCD", item["options"])])
            image = str(folder / item["img_path"]) if files else None
            lines.write(json.dumps({"id": item["question_id"], "text": text, "image": image}) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Make a benchmark's data.")
    parser.add_argument("out", type=Path)
    parser.add_argument("-n", type=int, default=1000, help="questions")
    parser.add_argument("--files", type=int, default=1000, help="pictures that the questions share; 0: text only")
    args = parser.parse_args()
    write_data(args.out, count=args.n, files=args.files)


if __name__ == "__main__":
    main()
