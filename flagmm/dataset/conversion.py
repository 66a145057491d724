"""What the `process.py` of most tasks does: HuggingFace rows -> `data.json` and picture files.

def process(cfg):
    with Conversion(cfg) as out:
        for number, row in enumerate(out.rows()):
            out.add(
                question_id=number,
                question=row["question"],
                question_type="short-answer",
                answer=row["answer"],
                img_path=out.image(row["image"], str(number)),
            )
"""

from __future__ import annotations

import ast
import hashlib
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any

from flagmm.errors import DataError
from flagmm.jsonio import write_records
from flagmm.media.reading import blaming, read_source
from flagmm.media.sniff import sniff_image
from flagmm.media.source import to_source
from flagmm.metrics.option_labels import option_labels
from flagmm.paths import safe_name

_SUFFIXES = {"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp", "image/gif": ".gif"}
_NUMBERED = re.compile(r"image_(\d+)")
_TOKEN = re.compile(r"<image[ _]?(\d{1,4})>")


class Conversion:
    """Collects the items of one split and writes them when the `with` block ends well.

    Args:
        cfg: what `process` gets: `dataset_path`, `split`, `processed_dataset_path`, perhaps `dataset_name`.
    """

    def __init__(self, cfg: Any) -> None:
        self._cfg = cfg
        self.folder = Path(cfg.processed_dataset_path) / (cfg.get("dataset_name") or "") / (cfg.get("split") or "")
        self._items: list[dict[str, Any]] = []
        self._written: dict[str, bytes] = {}

    def __enter__(self) -> Conversion:
        (self.folder / "img").mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            write_records(self.folder / "data.json", self._items)

    def rows(self, config: str | None = None, *, split: str | None = None) -> Iterator[dict[str, Any]]:
        """The rows of `dataset_path`, pictures as `{"bytes", "path"}` so that their files stay as they are.

        Args:
            config: the data set's config; `dataset_name` where not given.
            split: another split than the task's.
        """
        import datasets

        name = config or self._cfg.get("dataset_name") or None
        split = split or self._cfg.split
        rows = datasets.load_dataset(self._cfg.dataset_path, name=name, split=split)
        yield from undecoded(rows)

    def configs(self) -> list[str]:
        """The configs of `dataset_path`, for data sets that make one task of many; `dataset_name` alone where given."""
        import datasets

        name = self._cfg.get("dataset_name")
        return [name] if name else list(datasets.get_dataset_config_names(self._cfg.dataset_path))

    def add(self, **fields: Any) -> None:
        """One item of `data.json`; `question_id` becomes a text, fields that are None are left out."""
        fields["question_id"] = str(fields["question_id"])
        self._items.append({key: value for key, value in fields.items() if value is not None})

    def image(self, value: Any, name: str | None = None) -> str:
        """Write a picture once, its bytes unchanged, and return its path for `img_path`.

        Args:
            value: an undecoded HuggingFace image, bytes, base64, or a PIL image.
            name: file name without suffix; questions about the same picture give the same, and other bytes under a
                name that is taken get a number. None, where the data set has no name for its pictures, makes one of
                the content.
        """
        data = read_source(to_source(value, root=None))
        digest = hashlib.sha256(data)
        stem = digest.hexdigest()[:16] if name is None else safe_name(name)
        suffix = _suffix(data, stem)
        for number in count(1):
            path = f"img/{stem}{suffix}" if number == 1 else f"img/{stem}_{number}{suffix}"
            if path not in self._written:
                (self.folder / path).write_bytes(data)
            if self._written.setdefault(path, digest.digest()) == digest.digest():
                break
        return path

    def numbered_images(self, row: Mapping[str, Any], name: str) -> dict[int, str]:
        """The pictures of the columns `image_1`, `image_2`, … that are there, by number."""
        found = {int(match[1]): row[key] for key in row if (match := _NUMBERED.fullmatch(key)) and row[key] is not None}
        return {number: self.image(found[number], f"{name}_{number}") for number in sorted(found)}


def _suffix(data: bytes, name: str) -> str:
    known = _SUFFIXES.get(sniff_image(data) or "")
    if known is not None:
        return known
    from PIL import Image

    with blaming(f"picture {name!r}", "cannot be opened"), Image.open(io.BytesIO(data)) as image:
        return f".{(image.format or 'img').lower()}"


def undecoded(rows: Any) -> Any:
    """The HuggingFace data set with its pictures as stored bytes; decoding and encoding again would change them."""
    import datasets

    for column, feature in rows.features.items():
        if isinstance(feature, datasets.Image):
            rows = rows.cast_column(column, datasets.Image(decode=False))
        elif _is_image_list(feature):
            rows = rows.cast_column(column, datasets.List(datasets.Image(decode=False)))
    return rows


def _is_image_list(feature: Any) -> bool:
    import datasets

    inner = feature[0] if isinstance(feature, list) and feature else getattr(feature, "feature", None)
    return isinstance(inner, datasets.Image)


def literal_list(text: Any) -> list[Any]:
    """A list that a data set stores as text, such as "['a', 'b']"; a list stays itself.

    Raises:
        DataError: the text holds no list.
    """
    if isinstance(text, list | tuple):
        return list(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of "\\d" and the like, which LaTeX is full of
            value = ast.literal_eval(str(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, list | tuple):
        raise DataError(f"expected a list, found {text!r}")
    return list(value)


def option_list(text: Any) -> list[str]:
    """Option texts of a list, or of a text that holds one; where its first element is a list, all are in that.

    Raises:
        DataError: the text holds no list.
    """
    values = literal_list(text)
    if values and isinstance(values[0], list | tuple):
        values = [option for inner in values for option in (inner if isinstance(inner, list | tuple) else [inner])]
    return [str(option) for option in values]


def accepted_answers(text: str) -> str | list[str]:
    """The answers where a text holds a list of texts, such as "['4', 'four']"; any other text is one answer."""
    try:
        values = literal_list(text)
    except DataError:
        return text
    return values if values and all(isinstance(value, str) for value in values) else text


def option_letter(answer: Any, options: list[str]) -> str:
    """The letter of the right option, from its letter ("B", "(B)"), its number from 0, or its text.

    Raises:
        DataError: there is no such option, or its text occurs twice.
    """
    labels = option_labels(len(options))
    text = str(answer).strip()
    bare = text.strip("()").strip()
    if bare in labels:
        return bare
    if text.isdecimal() and text not in options and int(text) < len(options):
        return labels[int(text)]
    if options.count(text) != 1:
        raise DataError(f"answer {answer!r}: {options.count(text)} of the options {options!r} say so")
    return labels[options.index(text)]


@dataclass(frozen=True, kw_only=True)
class PlacedImages:
    """A question whose tokens `<image 1>`, `<image 2>`, … are the pictures of `img_path` in this order."""

    question: str
    options: list[str]
    img_path: list[str]


def place_images(question: str, options: Sequence[str], images: Mapping[int, str]) -> PlacedImages:
    """Keep the pictures that `<image 3>` (or `<image_3>`, `<image3>`) in question or options names, and number anew.

    Without any token all pictures stand in front. Each picture is attached once: one that is named again is called
    "[image 1]" beside its first token, and that name stands for the others.

    Args:
        images: paths by the number in the tokens, see `Conversion.numbered_images`.

    Raises:
        DataError: a token names a picture that is not there.
    """
    named = Counter(int(number) for text in (question, *options) for number in _TOKEN.findall(text))
    if missing := sorted(named.keys() - images.keys()):
        raise DataError(f"{question!r:.80} or an option says <image {missing[0]}>, but there is no such picture")
    if not named:
        tokens = "".join(f"<image {place}> " for place in range(1, len(images) + 1))
        return PlacedImages(question=tokens + question, options=list(options), img_path=_in_order(images, images))
    tokens_left = {
        number: _tokens(place, repeated=named[number] > 1) for place, number in enumerate(sorted(named), start=1)
    }
    texts = [_TOKEN.sub(lambda found: next(tokens_left[int(found[1])]), text) for text in (question, *options)]
    return PlacedImages(question=texts[0], options=texts[1:], img_path=_in_order(images, named))


def _tokens(place: int, *, repeated: bool) -> Iterator[str]:
    """What stands for a picture, mention by mention."""
    name = f"[image {place}]"
    yield f"{name} <image {place}>" if repeated else f"<image {place}>"
    while True:
        yield name


def _in_order(images: Mapping[int, str], numbers: Iterable[int]) -> list[str]:
    return [images[number] for number in sorted(numbers)]
