"""A model's reply made readable: thinking gone, boxes marked, width folded, LaTeX and Markdown dress taken off.

In what these functions return, the content of each `\\boxed{…}` stands between `BOX_OPEN` and `BOX_CLOSE`,
two control characters that no reply keeps.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from flagmm.lazy_regex import has_any, lazy_compile
from flagmm.metrics.text_match import fold_width
from flagmm.thinking import split_thinking

BOX_OPEN = "\x02"
BOX_CLOSE = "\x03"

_CONTROL = lazy_compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_BOX_TOKEN = lazy_compile(r"\\f?boxed\s{0,9}\{|<\|begin_of_box\|>|<\|end_of_box\|>|\\[{}]|[{}]")
_ANSWER_TAG = lazy_compile(r"<(?:final_?)?answer>", re.IGNORECASE)
_MARKUP_TOKEN = lazy_compile(r"<\|[^|<>\n]{1,40}\|>|</?s>|</(?:final_?)?answer>|<(?:eos|br ?/?)>", re.IGNORECASE)

_HTML_FONT = lazy_compile(r"<(b|strong|i|em)>([^<>]{0,400})</\1>", re.IGNORECASE)

_DRESS = tuple("*`$\\#>~_•")
_DASH = lazy_compile(r"-(?<!\S-)\s")
_LATEX_FONT = lazy_compile(
    r"\\(?:text|textbf|textit|textrm|textsf|mathrm|mathbf|mathit|mathsf|boldsymbol|operatorname)\s{0,9}\{([^{}]*)\}"
)
_LATEX_FRACTION = lazy_compile(r"\\[dt]?frac\s{0,9}\{(-?[\w.]+)\}\s{0,9}\{([\w.]+)\}")
_LATEX_SIGN = lazy_compile(r"\\[()\[\],;!]|\\(?:quad|left|right)\b|\\(?=\s)|\$")
_LATEX_CHARACTER = lazy_compile(r"\\(?:%|degree\b)|\^\s?(?:\\circ\b|\{\s?\\circ\s?\})")
_HEADING = lazy_compile(r"^[ \t]*(?:#{1,6}|>(?![ \t]*[0-9])|[•*-])[ \t]+", re.MULTILINE)
_EMPHASIS = lazy_compile(r"\*{2,}|`+|~~|__+|(?<![\w\s])\*|\*(?![\w\s])|(?<!\S)\*(?=\S)|(?<=\S)\*(?!\S)")


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """What was read out of a reply, and by which rule."""

    value: Any | None
    """The answer; None where the reply commits to none."""
    rule: str
    """Name of the rule that found it, or "no_answer"."""


NO_ANSWER = Extraction(value=None, rule="no_answer")


def strip_thinking(text: str) -> str:
    """Return `text` without its thinking; see `split_thinking`."""
    return split_thinking(text).answer if "<" in text else text


def marked_reply(text: str) -> str:
    """Return the reply in its own spelling, without thinking and chat tokens, its boxes marked."""
    text = strip_thinking(text)
    if not text.isprintable() and not text.replace("\n", "").isprintable():
        text = _CONTROL.sub(" ", text)
    if "<" in text or "\\" in text:
        text = _ANSWER_TAG.sub("\nanswer: ", text)
        text = _MARKUP_TOKEN.sub(" ", _HTML_FONT.sub(r"\2", _mark_boxes(text)))
    return text.strip()


def plain_reply(text: str) -> str:
    """Return the reply as a reader sees it: `marked_reply`, with width folded and LaTeX and Markdown signs gone."""
    text = fold_width(marked_reply(text))
    if not has_any(text, _DRESS) and ("-" not in text or _DASH.search(text) is None):
        return text.strip()
    if "\\" in text or "$" in text:
        text = plain_latex(text)
    return _EMPHASIS.sub("", _HEADING.sub("", text)).strip()


def plain_latex(text: str) -> str:
    """Return `text` without font commands and maths delimiters, simple fractions written as `a/b`."""
    for _ in range(3):  # wrappers may be nested
        text, changes = _LATEX_FONT.subn(r"\1", text)
        if not changes:
            break
    text = _LATEX_CHARACTER.sub(lambda found: "%" if found[0] == r"\%" else "°", text)
    return _LATEX_SIGN.sub("", _LATEX_FRACTION.sub(r"\1/\2", text))


def _mark_boxes(text: str) -> str:
    """Put the box marks in place of each `\\boxed{` and of the brace that closes it."""
    open_braces: list[bool] = []  # for each, whether it opened a box

    def mark(token: re.Match[str]) -> str:
        sign = token[0]
        if sign == "{":
            open_braces.append(False)
        elif sign == "}":
            return BOX_CLOSE if open_braces and open_braces.pop() else sign
        elif sign.endswith("boxed{") or sign.rstrip("{ \t").endswith("boxed"):
            open_braces.append(True)
            return BOX_OPEN
        elif sign.startswith("<"):
            return BOX_OPEN if "begin" in sign else BOX_CLOSE
        return sign

    return _BOX_TOKEN.sub(mark, text)
