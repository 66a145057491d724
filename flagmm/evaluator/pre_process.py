"""Names that task folders import; the rules are in `flagmm.metrics.flagevalmm_text`."""

from __future__ import annotations

import re

from flagmm.metrics.flagevalmm_text import normalize_string, process_multiple_choice, remove_unit

__all__ = [
    "convert_circled_numbers",
    "normalize_string",
    "process_multiple_choice",
    "remove_special_characters",
    "remove_unit",
    "strip_answer",
]

_CIRCLED = str.maketrans({circled: str(number) for number, circled in enumerate("①②③④⑤⑥⑦⑧⑨⑩", start=1)})
_SPECIAL = re.compile(r"[-`\\【】*$、,，。.；;:：？?！!\s\u4e00-\u9fff0-9①-⑦\[\]<>a-z='\"(){}]+")
_MARKUP = re.compile(r"The|If|[INST/]|</?Img>")


def convert_circled_numbers(text: str) -> str:
    """The text with ① to ⑩ as plain numbers."""
    return text.translate(_CIRCLED)


def remove_special_characters(text: str) -> str:
    """The text without punctuation, digits, small letters, white space and Chinese characters."""
    return _SPECIAL.sub("", text)


def strip_answer(answer: str) -> str:
    """The text without "The", "If", the letters of the tag [INST], the slash and the tag <Img>; stripped.

    That letters go which only meant a tag is FlagEvalMM's; published numbers were made so.
    """
    return _MARKUP.sub("", answer.replace("<Img>", "").replace("</Img>", "")).strip()
