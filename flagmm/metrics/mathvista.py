"""MathVista: what a reply says, in the form of the reference answer, and VLMEvalKit's table by task and skill.

References: MathVista 53d52587, `evaluation/extract_answer.py` and `evaluation/calculate_score.py`, and VLMEvalKit
e8e78f05, `dataset/utils/mathvista.py:MathVista_acc`.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from flagmm.metrics.edit_distance import edit_distance
from flagmm.metrics.option_labels import option_labels
from flagmm.metrics.text_match import blanks_equal, normalize_text
from flagmm.metrics.vlmevalkit_infer import can_infer

QuestionType = Literal["multi_choice", "free_form"]
AnswerType = Literal["text", "integer", "float", "list"]
Rule = Literal["reference", "careful"]

_QUICK = re.compile(r'The answer is "(.*)"\.')
_LABEL = re.compile(r"\(([a-zA-Z])\)")
_BARE_LABEL = re.compile(r"([a-z])(?:[.):](?:\s.*)?)?", re.IGNORECASE | re.DOTALL)
_LIST_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)")
_PREFETCHED = "Prefetch succeed"
_MAX_LITERAL = 10_000


@dataclass(frozen=True, kw_only=True)
class MathVistaQuestion:
    """What the form of an answer depends on."""

    question_type: QuestionType
    answer_type: AnswerType
    choices: Sequence[str] = ()
    precision: float | None = None
    """Decimals of a float; the data set has it as a float."""


def mathvista_extract(response: str, question: MathVistaQuestion, *, quick: bool = False) -> str | None:
    """Return the answer that the rules read out of a reply, or None where the reference asks a language model.

    An empty reply gives "". With `quick`, `The answer is "X".` gives X.
    """
    if not response:
        return ""
    if question.question_type == "multi_choice" and response in question.choices:
        return response
    number = _cast_text(response, question.answer_type)
    if number is not None:
        return number
    stated = _QUICK.search(response) if quick else None
    return stated[1] if stated else None


def mathvista_normalize(extraction: Any, question: MathVistaQuestion) -> str | None:
    """Return an extracted answer in the form of the reference answers, or None where it does not fit the type.

    A choice becomes an option's text: that of the first letter in round brackets, or of a bare capital, else the option
    with the smallest edit distance, whatever it is. Whole numbers are cut, not rounded.
    """
    if question.question_type == "multi_choice":
        return _chosen_option(extraction, question.choices)
    if question.answer_type in ("integer", "float"):
        return _cast_number(extraction, question)
    return str(extraction) if question.answer_type == "list" else extraction


def mathvista_correct(extraction: Any, answer: str, question: MathVistaQuestion, *, rule: Rule = "reference") -> bool:
    """Say whether an extracted answer is right.

    By the reference it is when its normal form is the reference answer to the letter. The careful rule compares
    numbers by value ("1.50" is 1.5, "14.9" is not 14) with units and thousands, lists by their numbers, and takes a
    choice only by its label or its whole text.
    """
    if rule == "reference":
        return mathvista_normalize(extraction, question) == answer
    text = str(extraction).strip()
    if question.question_type == "multi_choice":
        return _careful_choice(text, question.choices) == normalize_text(answer)
    if question.answer_type == "list":
        return _list_values(text) == _list_values(answer) != []
    if question.answer_type == "float" and (rounded := _cast_number(text, question)) is not None:
        return blanks_equal(rounded, answer)
    return blanks_equal(text, answer)


def mathvista_report(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return VLMEvalKit's table: all, prefetched and right answers overall, by skill and task, in order of first use.

    Args:
        rows: with `task`, `skills` (a list or its literal), `log`, and what `mathvista_hit` wants; none give [].
    """
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in rows:
        outcome = (1, int(row["log"] == _PREFETCHED), int(mathvista_hit(row)))
        for group in ("Overall", *_literal_list(row["skills"]), row["task"]):
            counts[group] = [count + more for count, more in zip(counts[group], outcome, strict=True)]
    return [
        {
            "Task&Skill": group,
            "tot": total,
            "prefetch": prefetched,
            "hit": hits,
            "prefetch_rate": prefetched / total * 100,
            "acc": hits / total * 100,
        }
        for group, (total, prefetched, hits) in counts.items()
    ]


def mathvista_hit(row: Mapping[str, Any]) -> bool:
    """Say whether VLMEvalKit counts `row["res"]` as right.

    A choice must be inferred and be `answer_option`; a number must be one as a whole and equal `answer`. Lists and
    other texts are never right, because VLMEvalKit loses them.
    """
    result = row["res"]
    if row["question_type"] == "multi_choice":
        choices = _literal_list(row["choices"])
        labelled = dict(zip(option_labels(len(choices)), map(str, choices), strict=True))
        return bool(can_infer(result, labelled) == row["answer_option"])
    if row["answer_type"] not in ("integer", "float"):
        return False
    cast = int if row["answer_type"] == "integer" else float
    try:
        given, wanted = cast(result), cast(row["answer"])
    except (TypeError, ValueError, OverflowError):
        return False
    return given == wanted


def _cast_text(text: str, answer_type: AnswerType) -> str | None:
    try:
        if answer_type == "integer":
            return str(int(text))
        return str(float(text)) if answer_type == "float" else None
    except ValueError:
        return None


def _cast_number(extraction: Any, question: MathVistaQuestion) -> str | None:
    try:
        value = float(extraction)
        if question.answer_type == "integer":
            return str(int(value))
        return str(round(value, None if question.precision is None else int(question.precision)))
    except (TypeError, ValueError, OverflowError):
        return None


def _chosen_option(extraction: Any, choices: Sequence[str]) -> str | None:
    if not choices:
        return None
    text = extraction.strip() if isinstance(extraction, str) else str(extraction)
    label = _LABEL.search(text)
    text = label[1].upper() if label else text
    labels = option_labels(len(choices))
    if text in labels:
        return choices[labels.index(text)]
    return min(choices, key=lambda choice: edit_distance(text, choice))


def _careful_choice(text: str, choices: Sequence[str]) -> str | None:
    """The normalised text of the option that `text` is, else that has its bare label or the last one in brackets."""
    options = [normalize_text(choice) for choice in choices]
    if normalize_text(text) in options:
        return normalize_text(text)
    labels = option_labels(len(choices))
    whole = _BARE_LABEL.fullmatch(text)
    named = [label.upper() for label in ([whole[1]] if whole else _LABEL.findall(text)) if label.upper() in labels]
    return options[labels.index(named[-1])] if named else None


def _list_values(text: str) -> list[float]:
    return [float(number) for number in _LIST_NUMBER.findall(text)]


def _literal_list(value: Any) -> list[Any]:
    """A list, or the list that a Python literal writes; another text stands for itself."""
    if not isinstance(value, str):
        return list(value)
    try:
        read = ast.literal_eval(value) if len(value) <= _MAX_LITERAL else value
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        read = value
    return list(read) if isinstance(read, list | tuple) else [value]
