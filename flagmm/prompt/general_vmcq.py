"""The prompts of EvalScope's General-VMCQ format: a template, options as lines "A) text", media at their placeholders.

Reference: EvalScope 1.14.1, `evalscope/benchmarks/general_vmcq/general_vmcq_adapter.py`. Scores made with this format
depend on its wording, so the templates for a single answer are EvalScope's to the letter; those for several answers
ask for the same form of reply in words of our own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flagmm.errors import ConfigError, DataError
from flagmm.metrics.general_vmcq import Language, general_vmcq_labels
from flagmm.prompt.media_columns import (
    MEDIA,
    MediaCell,
    Piece,
    Reference,
    collect_media,
    read_list,
    split_at_media,
)
from flagmm.registry import did_you_mean
from flagmm.types import Medium

_ENGLISH = (
    "Answer the following multiple choice question. {extent} of your response should be of the following format: "
    "'ANSWER: [LETTER]' (without quotes) where [LETTER] is one of {{letters}}.{thinking}\n\n{{question}}\n\n{{choices}}"
)
_ENGLISH_MULTIPLE = (
    "Answer the multiple choice question below, of which more than one option may be right. {extent} of your response "
    "must read 'ANSWER: [LETTERS]' (without quotes), where [LETTERS] are the letters of all right options among "
    "{{letters}}, with commas between them.{thinking}\n\n{{question}}\n\n{{choices}}"
)
_CHINESE = (
    "回答下面的单项选择题，请选出其中的正确答案。你的回答的{extent}应该是这样的格式："
    '"答案：[LETTER]"（不带引号），其中 [LETTER] 是 {{letters}} 中的一个。{thinking}'
    "\n\n问题：{{question}}\n选项：\n{{choices}}\n"
)
_CHINESE_MULTIPLE = (
    "下面的选择题可能有不止一个正确选项，请把正确选项全部选出。回答的{extent}须写成"
    '"答案：[LETTERS]"（不带引号），其中 [LETTERS] 是 {{letters}} 里所有正确选项的字母，用逗号隔开。{thinking}'
    "\n\n问题：{{question}}\n选项：\n{{choices}}\n"
)
_THINK = " Think step by step before answering."
TEMPLATES = {
    "SINGLE_ANSWER": _ENGLISH.format(extent="The entire content", thinking=""),
    "SINGLE_ANSWER_COT": _ENGLISH.format(extent="The last line", thinking=_THINK),
    "MULTIPLE_ANSWER": _ENGLISH_MULTIPLE.format(extent="The entire content", thinking=""),
    "MULTIPLE_ANSWER_COT": _ENGLISH_MULTIPLE.format(extent="The last line", thinking=_THINK),
    "CHINESE_SINGLE_ANSWER": _CHINESE.format(extent="全部内容", thinking=""),
    "CHINESE_SINGLE_ANSWER_COT": _CHINESE.format(extent="最后一行", thinking="请在回答前进行一步步思考。"),
    "CHINESE_MULTIPLE_ANSWER": _CHINESE_MULTIPLE.format(extent="全部内容", thinking=""),
    "CHINESE_MULTIPLE_ANSWER_COT": _CHINESE_MULTIPLE.format(extent="最后一行", thinking="请先逐步思考，再作答。"),
}
DEFAULT_TEMPLATE = "SINGLE_ANSWER_COT"

_FIELD = re.compile(r"\{(question|letters|choices)\}|\{\{|\}\}")
_NEEDED_FIELDS = ("{question}", "{choices}")


class Template(NamedTuple):
    """A prompt template, and how replies to it are to be read."""

    text: str
    language: Language
    """Chinese replies give their answer behind "答案："."""
    multiple: bool
    """Whether several letters are asked for."""


class VmcqPrompt(NamedTuple):
    text: str
    """The filled template, placeholders included."""
    pieces: tuple[Piece, ...]
    """The parts of the message; the value of a medium is a `MediaCell`."""
    options: tuple[str, ...]
    missing: tuple[Reference, ...]
    """What placeholders ask for in vain; they were left out of the message."""


def find_template(template: str) -> Template:
    """The template of this name, or with this text.

    Raises:
        ConfigError: it is neither a known name nor a text with the fields it needs.
    """
    text = TEMPLATES.get(template, template)
    absent = [field for field in _NEEDED_FIELDS if field not in text]
    if absent:
        known = did_you_mean(template, TEMPLATES)
        raise ConfigError(f"prompt_template: {template!r:.60} is no known name and has no {absent[0]}.{known}")
    return Template(text, "chinese" if "答案" in text else "english", "[LETTERS]" in text)


def build_prompt(record: Mapping[str, Any], *, template: str = TEMPLATES[DEFAULT_TEMPLATE]) -> VmcqPrompt:
    """Make the one user message of a record.

    Raises:
        DataError: there is no question, the options are no list, or a column of media is none.
    """
    if record.get("question") is None:
        raise DataError("question: missing, or null")
    options = read_options(record.get("options"))
    text = fill_template(template, question=str(record["question"]), options=options)
    media: dict[Medium, dict[int, MediaCell]] = {medium: collect_media(record, medium) for medium in MEDIA}
    split = split_at_media(text, media)
    return VmcqPrompt(text=text, pieces=split.pieces, options=tuple(options), missing=split.missing)


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
    options = read_list(cell)
    if options is None:
        raise DataError(f"options: expected a list, or text that holds one, found {cell!r:.60}")
    return [str(option) for option in options]
