"""Small tables with small media, and samples in a form that is easy to compare."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from PIL import Image

from flagmm.dataset.general import GeneralVmcqDataset, GeneralVqaDataset
from flagmm.types import Message, Sample, TextPart

WAV = (
    b"RIFF\x26\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"
    b"\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x02\x00\x00\x00\x00\x00"
)
MP3 = b"ID3\x03\x00\x00\x00\x00\x00\x00\xff\xfb\x10\xc4" + bytes(32)
MP4 = b"\x00\x00\x00\x14ftypmp42\x00\x00\x00\x00mp42" + b"\x00\x00\x00\x10mdat" + bytes(8)
_CONTENT = {".wav": WAV, ".mp3": MP3, ".mp4": MP4}


def write_media(folder: Path, *names: str) -> None:
    """A small file of the right kind under each name."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in _CONTENT:
            path.write_bytes(_CONTENT[path.suffix])
        else:
            Image.new("RGB", (4, 3), "#" + hashlib.sha256(name.encode()).hexdigest()[:6]).save(path)


def write_jsonl(path: Path, *records: Any) -> Path:
    """A record a line; a text is a line as it stands."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [record if isinstance(record, str) else json.dumps(record, ensure_ascii=False) for record in records]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def write_cells(path: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    """A TSV or CSV; what is no text is written as JSON."""
    records = list(records)
    columns = list(dict.fromkeys(column for record in records for column in record))
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writeheader()
        for record in records:
            writer.writerow({key: cell if isinstance(cell, str) else json.dumps(cell) for key, cell in record.items()})
    return path


def vqa(path: Path, **settings: Any) -> GeneralVqaDataset:
    return GeneralVqaDataset(name="general_vqa", data_root=str(path), **settings)


def vmcq(path: Path, **settings: Any) -> GeneralVmcqDataset:
    return GeneralVmcqDataset(name="general_vmcq", data_root=str(path), **settings)


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def asked(text: str, **columns: Any) -> dict[str, Any]:
    """A General-VQA record with one plain message."""
    return {"messages": [user(text)], "answer": "x", **columns}


def shown(sample: Sample) -> list[tuple[str, Any]]:
    """Role and content of each message: a text, or the parts of a structured one."""
    return [(message.role, _content(message)) for message in sample.messages]


def parts(sample: Sample) -> Any:
    """The content of the only message."""
    [message] = sample.messages
    return _content(message)


def _content(message: Message) -> Any:
    if not message.structured:
        [part] = message.content
        return part.text
    return [_part(part) for part in message.content]


def _part(part: Any) -> Any:
    if isinstance(part, TextPart):
        return part.text
    source = part.source
    if source.path is not None:
        return (part.type, Path(source.path).name)
    return (part.type, source.url or source.data)
