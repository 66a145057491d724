"""The right answer of a multiple-choice record as labels of its options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from flagmm.metrics.general_vmcq import answer_labels, general_vmcq_labels

Answer = str | list[str] | None
AnswerRule = Literal["label", "marked_label", "option_text", "no_option"]
READ_RULES: tuple[AnswerRule, ...] = ("marked_label", "option_text")
"""How an answer is read that names an option otherwise than by its label alone."""

_MARKED = re.compile(r"[(\[（【]?\s*([A-Za-z]|\d+)\s*(?:[)\]）】.．:：、]+|(?=\s))\s*(.*)", re.DOTALL)
_SEPARATORS = re.compile(r"[,，、;；]+")


class RightAnswer(NamedTuple):
    """A record's answer, and how it says which option it means."""

    value: Answer
    """Labels as the prompt has them, capital and, where several are right, sorted and joined; what names no option
    stays as it is."""
    rule: AnswerRule
    """The least plain one of its parts: a label, a label with marks around it or the option's text behind it, the
    text of one option alone, or nothing of these."""


def right_answer(answer: str | list[str], options: Sequence[str], *, multiple: bool) -> RightAnswer:
    """Read an answer.

    Args:
        multiple: whether several labels may be right; a list of answers is otherwise one of alternatives.

    >>> right_answer("b", ["cat", "dog"], multiple=False).value, right_answer("c, a", "wxyz", multiple=True).value
    ('B', 'AC')
    >>> right_answer("(b)", ["cat", "dog"], multiple=False)
    RightAnswer(value='B', rule='marked_label')
    >>> right_answer("dog", ["cat", "dog"], multiple=False)
    RightAnswer(value='B', rule='option_text')
    """
    if multiple:
        return _all_of(answer, options)
    parts = [_read(text, options) for text in ([answer] if isinstance(answer, str) else answer)]
    value = [str(part.value) for part in parts]
    return RightAnswer(value[0] if len(value) == 1 else value, _least_plain(parts))


def _all_of(answer: str | list[str], options: Sequence[str]) -> RightAnswer:
    plain = answer_labels(answer, general_vmcq_labels(len(options)))
    if plain:
        return RightAnswer("".join(sorted(plain)), "label")
    lists = [answer] if isinstance(answer, list) else [[answer], _SEPARATORS.split(answer)]
    for texts in lists:
        parts = [_read(text, options) for text in texts]
        if parts and all(part.rule != "no_option" for part in parts):
            return RightAnswer("".join(sorted({str(part.value) for part in parts})), _least_plain(parts))
    return RightAnswer(answer, "no_option")


def _least_plain(parts: Sequence[RightAnswer]) -> AnswerRule:
    return max((part.rule for part in parts), key=get_args(AnswerRule).index, default="no_option")


def _read(text: str, options: Sequence[str]) -> RightAnswer:
    """The one option that a text means, if it is beyond doubt; the text itself otherwise."""
    bare, labels = text.strip(), general_vmcq_labels(len(options))
    if bare.upper() in labels:
        return RightAnswer(bare.upper(), "label")
    texts = dict(zip(labels, (option.strip() for option in options), strict=True))
    found: dict[str, AnswerRule] = {label: "option_text" for label, option in texts.items() if option == bare}
    marked = _MARKED.fullmatch(bare)
    if marked and marked[1].upper() in labels and marked[2] in ("", texts[marked[1].upper()]):
        found[marked[1].upper()] = "marked_label"
    [only] = found if len(found) == 1 else [None]
    return RightAnswer(text, "no_option") if only is None else RightAnswer(only, found[only])


def relabel(answer: Answer, order: Sequence[int], *, multiple: bool) -> Answer:
    """The answer after its options were put in another order.

    Args:
        answer: as `right_answer` gives it.
        order: for each new place, the old place of its option.
    """
    labels = general_vmcq_labels(len(order))
    moved = {labels[old]: labels[new] for new, old in enumerate(order)}
    if multiple and isinstance(answer, str):
        parts = answer_labels(answer, labels)
        return "".join(sorted(moved[part] for part in parts)) if parts else answer
    if isinstance(answer, list):
        return [moved.get(text, text) for text in answer]
    return moved.get(answer, answer) if answer is not None else None
