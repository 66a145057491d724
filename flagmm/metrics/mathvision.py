"""MATH-Vision (MATH-V): the answer in a reply, whether it is right, and accuracy by subject and level.

Reference: MATH-V a1f5cc3a, `evaluation/evaluate.py` and `evaluation/utils.py:find_math_answer`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from flagmm.metrics.latex_box import last_box
from flagmm.metrics.math_equality import latex_equal
from flagmm.metrics.option_labels import option_labels
from flagmm.metrics.text_match import announced_line, blanks_equal, fold_width
from flagmm.thinking import split_thinking

Rule = Literal["reference", "careful"]

_LETTERS = "ABCDE"
_STATEMENTS = ("the final answer is", "the answer is", "the correct answer is", "the answer should be")
_BOXED = re.compile(r"oxed{(.*)}", re.DOTALL)

# Applied one after another: a later one sees what an earlier one leaves.
_CLEANING = (
    *((" ", ""), ("\\,", ""), ("∞", "\\infty"), ("+\\infty", "\\infty"), ("\\\\", "\\"), ("\n", "")),
    *(("\\text", ""), ("\\mbox", ""), ("bmatrix", "pmatrix"), ("\\left", ""), ("\\right", "")),
    *(("^{\\circ}", ""), ("^\\circ", ""), ("{m}^3", ""), ("m^3", "")),
    *(("{units}", ""), ("units", ""), ("{km}", ""), ("km", "")),
    *(("\\!", ""), ("\\\\", "\\"), ("tfrac", "frac"), ("dfrac", "frac"), ("\\left", ""), ("\\right", "")),
    *(("^{\\circ}", ""), ("^\\circ", ""), ("\\$", ""), ("$", ""), ("\\%", ""), ("{.", "{0.")),
)
_SLASH = re.compile(r"(0|-?[1-9][0-9]*)/(0|-?[1-9][0-9]*)")
_BRACKETED_LETTER = re.compile(r"\(([a-e])\)")
_BRACED_LETTER = re.compile(r"\{([a-e])\}")

_ANSWER = re.compile(
    r"(?:\banswer(?:\s+is|\s+should\s+be)?|\boption(?:\s+is)?|答案(?:是|为)?)\s*[:：]?\s*", re.IGNORECASE
)
_LABEL_FIRST = re.compile(r"\W*([A-Z])(?:\)?\s*[.):,].*|\W*)", re.DOTALL)
_TEXT = re.compile(r"\\(?:text|mathrm|mbox)\s*\{([^{}]*)\}")
_LABEL_LAST = re.compile(r"(?:.*\W)?([A-Z])\W*", re.DOTALL)


class MathVisionSample(NamedTuple):
    """One question and whether its reply is right."""

    subject: str
    level: int | str
    correct: bool


def mathvision_extract(response: str) -> str:
    """Return the answer in a reply, in lower case and in the spelling that MATH-V compares.

    Read in this order: a letter alone at the end or on the first line; a number after the last "is "; without a
    `\\boxed{…}`, what follows "the answer is" and the like in its line and sentence; else the last box. Units, degrees,
    blanks and all before the last `=` go. An empty reply gives "".

    >>> mathvision_extract("So the area is $\\\\boxed{5}$.")
    '5'
    """
    text = _last_box_only(_stated(_number_after_is(_lone_letter(response.strip()))))
    answer = _BRACED_LETTER.sub(r"\1", _BRACKETED_LETTER.sub(r"\1", _clean_answer(text.lower())))
    return answer.rstrip(".").lstrip(":").strip()


def mathvision_correct(response: str, answer: str, options: Sequence[str] = (), *, rule: Rule = "reference") -> bool:
    """Say whether a reply is right: it gives the answer or, with options, the text of the option that is the answer.

    By the reference, what `mathvision_extract` reads must equal one of them (see `latex_equal`). The careful rule also
    finds answers among words, units and markup ("**Answer:** 5 cm", "A. 1"), and removes thinking first.

    Raises:
        MissingExtraError: a formula must be evaluated, and latex2sympy2-extended is not installed.
    """
    accepted = [answer]
    if answer in (labels := option_labels(len(options))):
        accepted.append(options[labels.index(answer)])
    extracted = mathvision_extract(response)
    if rule == "reference":
        return any(latex_equal(text, extracted) for text in accepted)
    parts = _answer_parts(split_thinking(response).answer)
    if options and (label := _label(parts, labels)) is not None:
        return label == answer
    return any(
        latex_equal(part, text, rule="careful") or blanks_equal(part, text) for part in parts for text in accepted
    )


def mathvision_report(samples: Iterable[MathVisionSample]) -> dict[str, str]:
    """Return the counts and percent of right answers, as "3/4=75.0%", sorted by key.

    Keys are `-all`, each level (`-level1`), each subject, and both ways of joining the two. No samples give {}.
    """
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for subject, level, correct in samples:
        groups = ("-all", f"-level{level}", subject, f"{subject}_level{level}", f"-level{level}_{subject}")
        for group in groups:
            counts[group][0] += bool(correct)
            counts[group][1] += 1
    return {
        group: f"{right}/{total}={round(right / total * 100, 2)}%" for group, (right, total) in sorted(counts.items())
    }


def _lone_letter(text: str) -> str:
    for letter in _LETTERS:
        ends = (f" {letter}.", f" ({letter}).")
        starts = (f"{letter}\n", f"({letter})\n", f"({letter}) {letter}\n")
        if text.endswith(ends) or text.startswith(starts):
            return letter
    return text


def _number_after_is(text: str) -> str:
    tail = text.split("is ")[-1].rstrip(".")
    try:
        float(tail)
    except ValueError:
        return text
    return tail


def _stated(text: str) -> str:
    """What follows a statement, up to the end of its line and sentence; a box needs none."""
    if "oxed{" in text:
        return text
    for statement in _STATEMENTS:
        for form in (statement, statement.replace("the", "The")):
            _, found, tail = text.rpartition(form)
            text = tail.strip()
            if found:
                text = text.split("\n")[0].split(". ")[0]
    return text


def _last_box_only(text: str) -> str:
    return "\\boxed{" + text.rpartition("oxed{")[2] if text.count("oxed{") > 1 else text


def _clean_answer(text: str) -> str:
    text = text.replace("{}", "")
    boxed = _BOXED.search(text)
    text = boxed[1] if boxed else text
    closing, opening = text.find("}"), text.find("{")
    if closing != -1 and (opening == -1 or closing < opening):
        text = text[:closing]
    text = text.rpartition("=")[2].rpartition("\\approx")[2]
    for old, new in _CLEANING:
        text = text.replace(old, new)
    return _respelled(f"0{text}" if text.startswith(".") else text)


def _respelled(text: str) -> str:
    """Beside roots, roots and fractions with all their braces; 0.5 and a/b as fractions."""
    if "sqrt" in text:
        text = _braced_fractions(_braced_roots(text))
    if text == "0.5":
        return "\\frac{1}{2}"
    slash = _SLASH.fullmatch(text)
    return f"\\frac{{{slash[1]}}}{{{slash[2]}}}" if slash else text


def _braced_roots(text: str) -> str:
    head, *roots = text.split("\\sqrt")
    return "\\sqrt".join([head, *(f"{{{root[0]}}}{root[1:]}" if root[:1] not in ("", "{") else root for root in roots)])


def _braced_fractions(text: str) -> str:
    head, *fractions = text.split("\\frac")
    if any(fraction[:1] != "{" and len(fraction) < 2 for fraction in fractions):
        return text
    return "\\frac".join([head, *map(_braced_fraction, fractions)])


def _braced_fraction(fraction: str) -> str:
    if fraction.startswith("{"):
        return fraction
    top, bottom, rest = fraction[0], fraction[1], fraction[2:]
    return f"{{{top}}}{{{rest}" if bottom == "{" else f"{{{top}}}{{{bottom}}}{rest}"


def _answer_parts(text: str) -> list[str]:
    """The last box, also without percent sign; else the line after the last "answer"; else all, and its last line."""
    text = _TEXT.sub(r"\1", fold_width(text).replace("**", "")).strip()
    box = last_box(text)
    if box is not None:
        return [box, box.replace("\\%", "")]
    statements = list(_ANSWER.finditer(text))
    if statements:
        tail = announced_line(text, statements[-1].end())
        return [tail, tail.split(", ")[0], tail.split(". ")[0]]
    return [text, text.rpartition("\n")[2]]


def _label(parts: Sequence[str], labels: Sequence[str]) -> str | None:
    """The option that a part starts or ends with the label of."""
    for part in parts:
        for form in (_LABEL_FIRST, _LABEL_LAST):
            found = form.fullmatch(part.upper() if len(part.strip("(). ")) == 1 else part)
            if found and found[1] in labels:
                return found[1]
    return None
