"""How the embedded model answers: a few transparent rules over the text that was read off the pictures.

Nothing here understands a question. Choices are scored by how well the text supports their words, a field that the
question names is looked up on its line, and everything else is answered with the whole text. All rules are
deterministic and in the open, so that a score of this baseline can be explained item by item.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(r"\d+(?:[.,:/-]\d+)+|[^\W_]+")
_QUOTED = re.compile(r'"([^"\n]+)"|“([^”\n]+)”|(?<!\w)\'([^\'\n]+)\'(?!\w)|‘([^’\n]+)’|「([^」\n]+)」')
_NUMBER = re.compile(r"\d[\d.,:/-]*\d|\d")
_IMAGE_TOKEN = re.compile(r"<image \d+>\s*")
_PICTURE = r"(?:image|picture|photo|figure)"
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_PICTURE_NUMBER = re.compile(rf"{_PICTURE}\s*(\d+)|({'|'.join(_ORDINALS)})\s+{_PICTURE}", re.IGNORECASE)
_FIELDS = (
    re.compile(r"\b(?:of|for|does)\s+(?:the\s+|a\s+)?(.+?)(?:\s+(?:on|in|at|cost|show|shown)\b.*)?\?", re.IGNORECASE),
    re.compile(r"\b(?:is|was|are)\s+the\s+(.+?)(?:\s+(?:of|on|in|for|at|shown|written|printed)\b.*)?\?", re.IGNORECASE),
)
_SAME_LABEL = 0.75
"""Similarity from which a misread label counts as the one asked for."""
_SAME_WORDS = 0.85
"""Support from which quoted words count as being there."""


@dataclass(frozen=True, kw_only=True)
class TextBox:
    """One run of text and where it stands."""

    text: str
    corners: tuple[tuple[float, float], ...]
    """Clockwise from the top left, in pixels."""

    @property
    def centre(self) -> tuple[float, float]:
        return sum(x for x, _ in self.corners) / 4, sum(y for _, y in self.corners) / 4

    @property
    def width(self) -> float:
        return math.dist(self.corners[0], self.corners[1])

    @property
    def height(self) -> float:
        return math.dist(self.corners[0], self.corners[3])

    @property
    def tilt(self) -> float:
        """Angle of the upper edge, in radians."""
        (left, top), (right, other_top) = self.corners[:2]
        return math.atan2(other_top - top, right - left)


def order_lines(boxes: Sequence[TextBox]) -> str:
    """Join boxes in reading order: a space between boxes of one line, a newline between lines.

    The page is straightened first by the tilt of its widest boxes, since at three degrees the right end of a
    receipt's line stands level with the left end of the next one.
    """
    if not boxes:
        return ""
    wide = sorted(boxes, key=lambda box: box.width, reverse=True)[: max(1, len(boxes) // 2)]
    tilt = sorted(box.tilt for box in wide)[len(wide) // 2]

    def straight(box: TextBox) -> tuple[float, float]:
        x, y = box.centre
        return x * math.cos(tilt) + y * math.sin(tilt), y * math.cos(tilt) - x * math.sin(tilt)

    lines: list[list[TextBox]] = []
    for box in sorted(boxes, key=lambda box: straight(box)[1]):
        last = lines[-1][-1] if lines else None
        if last and straight(box)[1] - straight(last)[1] < 0.5 * min(box.height, last.height):
            lines[-1].append(box)
        else:
            lines.append([box])
    return "\n".join(" ".join(box.text for box in sorted(line, key=lambda box: straight(box)[0])) for line in lines)


def answer(prompt: str, pages: Sequence[str], *, question_type: str, options: Mapping[str, str]) -> str:
    """Answer `prompt` from the text of each picture; "" when no picture holds any.

    Args:
        options: the choices by label, in order; empty for other questions.
    """
    if not any(pages):
        return ""
    question = question_of(prompt)
    if options:
        return choose_option(question, options, pages)
    text = named_pages(question, pages)
    wanted = quoted(question)
    if question_type == "yes-no" and wanted:
        return "Yes" if all(support(words, text) >= _SAME_WORDS for words in wanted) else "No"
    return find_field(question, text) or text


def question_of(prompt: str) -> str:
    """The prompt up to its last question mark, without image tokens: instructions tend to follow it."""
    text = _IMAGE_TOKEN.sub("", prompt)
    end = max(text.rfind("?"), text.rfind("？"))
    return text[: end + 1] if end >= 0 else text


def choose_option(question: str, options: Mapping[str, str], pages: Sequence[str]) -> str:
    """The label of the option that the text supports best; among equals the longest, then the first.

    Support in the field that the question names counts twice. Options that are pictures ("Image 2") are supported
    by what the question looks for: its quoted words, else its numbers, else all of its words.
    """
    texts = {label: re.sub(rf"^\(?{label}[.):]\s+", "", option) for label, option in options.items()}
    shown = {label: shown_page(text, pages) for label, text in texts.items()}
    if len(pages) > 1 and sum(page is not None for page in shown.values()) > 1:
        clues = quoted(question) or _NUMBER.findall(question) or words_of(question)
        return max(shown, key=lambda label: sum(support(clue, shown[label] or "") for clue in clues))
    text = named_pages(question, pages)
    field = find_field(question, text)

    def score(label: str) -> tuple[float, int]:
        found = support(texts[label], text)
        return 2 * support(texts[label], field) + found, len(texts[label]) if found == 1 else 0

    return max(texts, key=score)


def shown_page(option: str, pages: Sequence[str]) -> str | None:
    """The text of the picture that `option` stands for, or None where it names no single one."""
    numbers = picture_numbers(option)
    return pages[numbers[0] - 1] if len(numbers) == 1 and numbers[0] <= len(pages) else None


def picture_numbers(text: str) -> list[int]:
    """The pictures that `text` names, counted from 1.

    >>> picture_numbers("Image 2"), picture_numbers("the first picture"), picture_numbers("neither")
    ([2], [1], [])
    """
    found = _PICTURE_NUMBER.findall(text)
    numbers = {int(number) if number else _ORDINALS.index(word.lower()) + 1 for number, word in found}
    return sorted(numbers - {0})


def named_pages(question: str, pages: Sequence[str]) -> str:
    """The text of the one picture that the question names, else of all."""
    named = shown_page(question, pages)
    return "\n".join(page for page in pages if page) if named is None else named


def find_field(question: str, text: str) -> str:
    """What follows the label that the question names, on the label's line; "" when there is none.

    >>> find_field("What is the total on the receipt?", "Bread 2.10\\nTOTAL: 7.30")
    '7.30'
    """
    labels = quoted(question) + [found[1] for pattern in _FIELDS if (found := pattern.search(question))]
    for label in labels:
        value = value_after(words_of(label), text)
        if value:
            return value
    return ""


def value_after(label: Sequence[str], text: str) -> str:
    """The rest of the line on which `label` stands, the best match first; "" when nothing is like it."""
    best, value = 0.0, ""
    for line in text.splitlines() if label else ():
        found = list(_TOKEN.finditer(line))
        for start in range(len(found) - len(label) + 1):
            end = start + len(label) - 1
            likeness = similarity(" ".join(label), " ".join(token[0].casefold() for token in found[start : end + 1]))
            rest = line[found[end].end() :].strip(" \t:：.…-=|")
            if rest and likeness >= _SAME_LABEL and likeness > best:
                best, value = likeness, rest
    return value


def support(words: str, text: str) -> float:
    """How well `text` supports `words`: 1 when it has them in this order, else below 0.9 by the likest passage."""
    wanted = words_of(words)
    if not wanted:
        return 0.0
    best = 0.0
    for line in [*text.splitlines(), text.replace("\n", " ")]:
        found = words_of(line)
        if not words.isascii() and "".join(wanted) in "".join(found):
            return 1.0
        for start in range(max(1, len(found) - len(wanted) + 1)):
            passage = found[start : start + len(wanted)]
            if passage == wanted:
                return 1.0
            best = max(best, 0.9 * similarity(" ".join(wanted), " ".join(passage)))
    return best


def similarity(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


def words_of(text: str) -> list[str]:
    """Words and numbers, case folded; 12.50, 3/4 and 10:30 stay whole."""
    return [token.casefold() for token in _TOKEN.findall(text)]


def quoted(question: str) -> list[str]:
    """The phrases in quotation marks; an apostrophe is none."""
    return [next(filter(None, groups)) for groups in _QUOTED.findall(question)]
