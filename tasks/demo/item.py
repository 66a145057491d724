"""One question of the demo, as it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Item:
    question_id: str
    question: str
    question_type: str
    answers: list[str]
    """Accepted spellings; the letter alone for a choice."""
    images: list[bytes]
    sub_task: str
    options: list[str]


def short_answer(question_id: str, question: str, answers: Sequence[str], *images: bytes, sub_task: str) -> Item:
    return Item(
        question_id=question_id,
        question=question,
        question_type="short-answer",
        answers=list(answers),
        images=list(images),
        sub_task=sub_task,
        options=[],
    )


def yes_no(question_id: str, question: str, is_so: bool, *images: bytes, sub_task: str) -> Item:
    return Item(
        question_id=question_id,
        question=question,
        question_type="yes-no",
        answers=["Yes" if is_so else "No"],
        images=list(images),
        sub_task=sub_task,
        options=[],
    )


def choice(question_id: str, question: str, options: Sequence[str], right: str, *images: bytes, sub_task: str) -> Item:
    """A question whose options stand in the order given; `right` is one of them."""
    return Item(
        question_id=question_id,
        question=question,
        question_type="multiple-choice",
        answers=["ABCDEF"[list(options).index(right)]],
        images=list(images),
        sub_task=sub_task,
        options=list(options),
    )
