"""The prompts of EvalScope's General-VMCQ format: a template, options as lines "A) text", media at their placeholders.

Reference: EvalScope 1.14.1, `evalscope/benchmarks/general_vmcq/general_vmcq_adapter.py`. Scores made with this format
depend on its wording, so the templates are EvalScope's to the letter.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from flagmm.errors import DataError
from flagmm.metrics.general_vmcq import general_vmcq_labels

Medium = Literal["image", "video", "audio"]

MEDIA: tuple[Medium, ...] = ("image", "video", "audio")

_ENGLISH = (
    "Answer the following multiple choice question. {extent} of your response should be of the following format: "
    "'ANSWER: [LETTER]' (without quotes) where [LETTER] is one of {{letters}}.{thinking}\n\n{{question}}\n\n{{choices}}"
)
_CHINESE = (
    "回答下面的单项选择题，请选出其中的正确答案。你的回答的{extent}应该是这样的格式："
    '"答案：[LETTER]"（不带引号），其中 [LETTER] 是 {{letters}} 中的一个。{thinking}'
    "\n\n问题：{{question}}\n选项：\n{{choices}}\n"
)
TEMPLATES = {
    "SINGLE_ANSWER": _ENGLISH.format(extent="The entire content", thinking=""),
    "SINGLE_ANSWER_COT": _ENGLISH.format(extent="The last line", thinking=" Think step by step before answering."),
    "CHINESE_SINGLE_ANSWER": _CHINESE.format(extent="全部内容", thinking=""),
    "CHINESE_SINGLE_ANSWER_COT": _CHINESE.format(extent="最后一行", thinking="请在回答前进行一步步思考。"),
}
DEFAULT_TEMPLATE = "SINGLE_ANSWER_COT"

_FIELD = re.compile(r"\{(question|letters|choices)\}|\{\{|\}\}")
_PLACEHOLDER = re.compile(r"<(image|video|audio)[ _](\d+)>")
_INDEXED = {medium: re.compile(rf"{medium}_([1-9]\d{{0,8}})") for medium in MEDIA}


class Piece(NamedTuple):
    """One part of the message, in order."""

    type: Literal["text", "image", "video", "audio"]
    value: Any
    """The text as it is, or the record's cell: a path, a URL, a data URI, or a dict of the medium."""


class VmcqPrompt(NamedTuple):
    pieces: tuple[Piece, ...]
    options: tuple[str, ...]
    missing: tuple[str, ...]
    """Placeholders without a medium, which were left out of the text."""


def build_prompt(record: Mapping[str, Any], *, template: str = TEMPLATES[DEFAULT_TEMPLATE]) -> VmcqPrompt:
    """Make the one user message of a record.

    Raises:
        DataError: the options are no list, or a column of media is none.
    """
    options = read_options(record.get("options"))
    text = fill_template(template, question=str(record["question"]), options=options)
    media = {medium: collect_media(record, medium) for medium in MEDIA}
    pieces, missing = split_at_media(text, media)
    return VmcqPrompt(pieces=tuple(pieces), options=tuple(options), missing=tuple(missing))


def fill_template(template: str, *, question: str, options: Sequence[str]) -> str:
    """Put question, labels and options into `{question}`, `{letters}` and `{choices}`, in one pass.

    Braces in the data stay as they are; in the template, doubled braces stand for one.
    """
    labels = general_vmcq_labels(len(options))
    values = {
        "question": question,
        "letters": ",".join(labels),
        "choices": "\n".join(f"{label}) {option}" for label, option in zip(labels, options, strict=True)),
    }
    return _FIELD.sub(lambda field: values[field[1]] if field[1] else field[0][0], template)


def read_options(cell: object) -> list[str]:
    """Return the option texts of a list, or of a list written as JSON or as a Python literal.

    Raises:
        DataError: it is neither.
    """
    options = _literal(cell) if isinstance(cell, str) else cell
    if not isinstance(options, list | tuple):
        raise DataError(f"options: expected a list, or text that holds one, found {cell!r:.60}")
    return [str(option) for option in options]


def collect_media(record: Mapping[str, Any], medium: Medium) -> dict[int, Any]:
    """Return the media of one kind by number, from 1.

    They are in columns such as `image_1`; the list column `images` is looked at only if those are all empty.

    Raises:
        DataError: the list column is no list.
    """
    indexed = {}
    for column, cell in record.items():
        found = _INDEXED[medium].fullmatch(column)
        if found and _is_filled(cell):
            indexed[int(found[1])] = cell
    if indexed:
        return indexed
    cells = record.get(f"{medium}s")
    if not _is_filled(cells):
        return {}
    if not isinstance(cells, list | tuple):
        raise DataError(f"{medium}s: expected a list, found {cells!r:.60}")
    return {number: cell for number, cell in enumerate(cells, start=1) if _is_filled(cell)}


def split_at_media(text: str, media: Mapping[Medium, Mapping[int, Any]]) -> tuple[list[Piece], list[str]]:
    """Cut `text` at its placeholders (`<image 1>`, `<video_2>`) and put the media in their places.

    Text keeps its white space, but a piece of nothing else is left out, and so is a placeholder without a medium;
    those come back as the second list.
    """
    pieces: list[Piece] = []
    missing: list[str] = []
    start = 0
    for found in _PLACEHOLDER.finditer(text):
        _append_text(pieces, text[start : found.start()])
        start = found.end()
        medium: Medium = found[1]  # type: ignore[assignment]  # the pattern has no other words
        cells, number = media.get(medium, {}), _number(found[2])
        if number in cells:
            pieces.append(Piece(medium, cells[number]))
        else:
            missing.append(found[0])
    _append_text(pieces, text[start:])
    return pieces, missing


def _append_text(pieces: list[Piece], text: str) -> None:
    if text.strip():
        pieces.append(Piece("text", text))


def _number(digits: str) -> int:
    digits = digits.lstrip("0")
    # int() refuses a number of thousands of digits.
    return int(digits) if digits and len(digits) < 10 else 0


def _is_filled(cell: object) -> bool:
    return cell is not None and not (isinstance(cell, str) and not cell)


def _literal(text: str) -> object:
    for parse in (json.loads, _python_literal):
        try:
            value = parse(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        if isinstance(value, list | tuple):
            return value
    return None


def _python_literal(text: str) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of "\\d" and the like, which LaTeX in options is full of
        return ast.literal_eval(text)
