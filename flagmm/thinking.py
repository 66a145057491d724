"""The thinking part of a reply, apart from its answer."""

from __future__ import annotations

import re
from typing import NamedTuple

_TAG = re.compile(r"<(/?)think(?:ing)?>")


class Thought(NamedTuple):
    answer: str
    reason: str


def split_thinking(text: str) -> Thought:
    """The answer and the thinking of a reply.

    A closing tag alone ends thinking that began with the reply; an opening tag that nothing closes leaves only what
    stands before it, so that unfinished thinking is never taken for an answer.

    >>> split_thinking("<think>red or blue?</think>Blue")
    Thought(answer='Blue', reason='red or blue?')
    """
    answer: list[str] = []
    reasons: list[str] = []
    is_thinking, start = False, 0
    for tag in _TAG.finditer(text):
        piece, closes = text[start : tag.start()], tag[1] == "/"
        if is_thinking and not closes:
            continue  # one more opening tag is part of the thinking
        if closes and not is_thinking:
            reasons.append("".join([*answer, piece]))
            answer.clear()
        else:
            (reasons if is_thinking else answer).append(piece)
        is_thinking, start = not closes, tag.end()
    if not start:
        return Thought(text, "")
    (reasons if is_thinking else answer).append(text[start:])
    return Thought("".join(answer).strip(), "\n".join(reason.strip() for reason in reasons))
