"""The thinking part of a reply, apart from its answer."""

from __future__ import annotations

import re
from typing import NamedTuple

_CLOSED = re.compile(r"<(think|thinking)>(.*?)</\1>", re.DOTALL)
_OPENING = re.compile(r"<(?:think|thinking)>")
_CLOSING = re.compile(r"</(?:think|thinking)>")


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
    if "<think" not in text and "</think" not in text:
        return Thought(text, "")
    reasons = []
    lone = _CLOSING.search(text)
    if lone and not _OPENING.search(text, 0, lone.start()):
        reasons.append(text[: lone.start()])
        text = text[lone.end() :]
    reasons += [match[2] for match in _CLOSED.finditer(text)]
    text = _CLOSED.sub("", text)
    stray = _CLOSING.search(text)
    while stray:
        reasons.append(text[: stray.start()])
        text = text[stray.end() :]
        stray = _CLOSING.search(text)
    unclosed = _OPENING.search(text)
    if unclosed:
        reasons.append(text[unclosed.end() :])
        text = text[: unclosed.start()]
    return Thought(text.strip(), "\n".join(reason.strip() for reason in reasons))
