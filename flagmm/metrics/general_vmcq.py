"""How EvalScope reads and scores the choices of its General-VMCQ format, its faults included.

Reference: EvalScope 1.14.1, `evalscope/utils/multi_choices.py` and `evalscope/metrics/nlp/metrics.py`. Kept to
reproduce published numbers: without a marker ("ANSWER: B", "答案：B") the last capital letter of the reply counts, and
a marker inside the thinking part does, too. For scores of one's own read with `extraction`.
The prompts of the format are in `prompt.general_vmcq`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from string import ascii_uppercase
from typing import Literal, NamedTuple

Language = Literal["english", "chinese"]
Rule = Literal["reference", "careful"]


class _Style(NamedTuple):
    """What tells the replies to English prompts from those to Chinese ones."""

    marker: re.Pattern[str]
    run: re.Pattern[str]
    """Labels without brackets around them."""


_STYLES: dict[Language, _Style] = {
    "english": _Style(re.compile(r"ANSWER\s*:\s*\**\s*", re.IGNORECASE), re.compile(r"([A-Za-z\d][A-Za-z\d ,，/、]*)")),
    "chinese": _Style(re.compile(r"答案\s*[:：]\s*\**\s*"), re.compile(r"([A-Za-z0-9][A-Za-z0-9 ,，/、]*)")),
}
_LATEX_WRAPPERS = re.compile(r"(?:(?:\$|\\\(|\\(?:boxed|fbox|text|textbf|mathbf|mathrm)\s*\{)\s*)*")
_BRACKETED = re.compile(r"[(\[（【]\s*([A-Za-z\d](?:\s*[,，/、]\s*[A-Za-z\d])*)\s*[)\]）】]")
_WORD = re.compile(r"[A-Za-z\d]+")
_CONJUNCTIONS = ("and", "or")
_CONJUNCTION = re.compile(r"\s(?:and|or)\s", re.IGNORECASE)
_ANSWER_SEPARATORS = re.compile(r"[\s,，、/;；]+")
_SEPARATORS = str.maketrans({"，": ",", "、": ",", "/": ",", " ": None})


def general_vmcq_labels(count: int) -> list[str]:
    """Return the labels of `count` options: A to Z, then 1, 2 and on.

    >>> general_vmcq_labels(28)[-3:]
    ['Z', '1', '2']
    """
    return [*ascii_uppercase[:count], *(str(number) for number in range(1, count - 25))]


def read_general_vmcq(
    reply: str, labels: Collection[str], *, language: Language = "english", multiple: bool = False
) -> str:
    """Return the label that a reply chooses, "" for none; with `multiple` all of them, sorted and joined.

    Args:
        reply: the whole reply, thinking included.
        labels: the labels of the item, as `general_vmcq_labels` makes them.
        language: that of the prompt's template, which decides the marker; not that of the reply.
        multiple: whether several labels may be right.

    >>> read_general_vmcq("First ANSWER: A, no. **ANSWER:** C", "ABCD")
    'C'
    >>> read_general_vmcq("ANSWER: C and A", "ABCD", multiple=True)
    'AC'
    """
    known = frozenset(labels)
    stated = _last_stated(reply, known, _STYLES[language])
    if stated is None:
        stated = next((character for character in reversed(reply) if character.isupper()), "")
    elif multiple:
        return "".join(sorted(_listed(stated, known, language)))
    return stated if stated in known else ""


def answer_labels(answer: str | Sequence[str], labels: Collection[str]) -> set[str]:
    """Return the labels that a reference answer lists, in any case; none where it names something else, too.

    They stand between separators, or one letter after another.

    >>> sorted(answer_labels("c, a", "ABCD")), sorted(answer_labels(["AC"], "ABCD")), answer_labels("A, E", "ABCD")
    (['A', 'C'], ['A', 'C'], set())
    """
    known, texts = frozenset(labels), [answer] if isinstance(answer, str) else answer
    separated = [part.upper() for text in texts for part in _ANSWER_SEPARATORS.split(text) if part]
    for parts in (separated, [letter for part in separated for letter in part]):
        if known.issuperset(parts):
            return set(parts)
    return set()


def choice_accuracy(extracted: str, target: str, *, rule: Rule = "reference") -> float:
    """Return 1.0 if `extracted` is `target`, case and outer white space ignored, else 0.0; two empty texts are equal.

    By the "careful" rule the order of the letters does not matter.
    """
    given, wanted = extracted.strip().lower(), target.strip().lower()
    if rule == "careful":
        return float(sorted(given) == sorted(wanted))
    return float(given == wanted)


def multi_choice_accuracy(extracted: str, target: str) -> float:
    """Return the share of the target's letters that were found, 0.0 if any letter is wrong or the target is empty.

    >>> multi_choice_accuracy("A", "AB"), multi_choice_accuracy("ABC", "AB")
    (0.5, 0.0)
    """
    given, wanted = set(extracted.strip().upper()), set(target.strip().upper())
    return len(given) / len(wanted) if wanted and given <= wanted else 0.0


def _last_stated(reply: str, labels: frozenset[str], style: _Style) -> str | None:
    """Return the labels after the last marker that has any, as they are written."""
    for marker in reversed(list(style.marker.finditer(reply))):
        start = _LATEX_WRAPPERS.match(reply, marker.end()).end()  # type: ignore[union-attr]  # it matches ""
        found = _BRACKETED.match(reply, start) or style.run.match(reply, start)
        stated = _leading_labels(found[1], labels) if found else ""
        if stated:
            return stated
    return None


def _leading_labels(text: str, labels: frozenset[str]) -> str:
    """Return `text` up to the last of the labels that it begins with; a conjunction between two labels is no end."""
    words = list(_WORD.finditer(text))
    are_labels = [word[0] in labels or labels.issuperset(word[0]) for word in words]
    end = 0
    for position, word in enumerate(words):
        if are_labels[position]:
            end = word.end()
        elif not (end and word[0].lower() in _CONJUNCTIONS and any(are_labels[position + 1 : position + 2])):
            break
    return text[:end]


def _listed(stated: str, labels: frozenset[str], language: Language) -> set[str]:
    """Return the labels that `stated` lists: those between separators, else its letters; none if one is no label."""
    if language == "chinese":
        text = stated.translate(_SEPARATORS)
        readings = [set(text.split(",") if "," in text else text)]
    else:
        text = _CONJUNCTION.sub(",", stated).translate(_SEPARATORS)
        readings = [set(text.split(",")), set(text.replace(",", ""))]
    return next((reading for reading in readings if reading <= labels), set())
