"""MMMU's official rules: which choice or open answer a response gives, whether it is right, and the report.

Reference: MMMU bb0b95a9, `mmmu/utils/eval_utils.py` and `mmmu/main_eval_only.py`; `flagevalmm_mmmu` is FlagEvalMM
fef27ec6, `evaluator/mmmu_dataset_evaluator.py`. Where the reference draws a choice at random, there is none here.
A response to a choice that the official parser misses often has a clear answer: see `extraction`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from flagmm.metrics.flagevalmm_text import clean_choice
from flagmm.metrics.mmmu_careful import states_gold

Rule = Literal["reference", "careful"]
OpenAnswer = str | float
Gold = str | Sequence[str]
"""The right answer; several are alternatives."""
Score = dict[str, float]
"""`num`, how many items, and `acc`, the share of right ones, rounded to 3 decimals; 0 of no items."""

DOMAINS = {
    "Art and Design": ("Art", "Art_Theory", "Design", "Music"),
    "Business": ("Accounting", "Economics", "Finance", "Manage", "Marketing"),
    "Science": ("Biology", "Chemistry", "Geography", "Math", "Physics"),
    "Health and Medicine": (
        *("Basic_Medical_Science", "Clinical_Medicine", "Diagnostics_and_Laboratory_Medicine"),
        *("Pharmacy", "Public_Health"),
    ),
    "Humanities and Social Science": ("History", "Literature", "Sociology", "Psychology"),
    "Tech and Engineering": (
        *("Agriculture", "Architecture_and_Engineering", "Computer_Science", "Electronics"),
        *("Energy_and_Power", "Materials", "Mechanical_Engineering"),
    ),
}
"""The subjects of each domain, in the order of the report."""
DOMAIN_OF = {subject: domain for domain, subjects in DOMAINS.items() for subject in subjects}

_OUTER_MARKS = ",.!?;:'"
_MIN_WORDS = 6
"""Words that a response has at least for an option's text to count as its choice."""

_CUES = ("could be ", "so ", "is ", "thus ", "therefore ", "final ", "answer ", "result ")
_LAST_CUES = (*_CUES, "=")
_TRIVIAL = frozenset(":,.!?;'")
# The look-behinds change no result; without them a long run of digits takes quadratic time.
_NUMBERS = (
    re.compile(r"-?\b\d{1,3}(?:,\d{3})+\b"),
    re.compile(r"-?(?<!\d)\d+(?:\.\d+)?[eE][-+]?\d+"),
    re.compile(r"-?(?:(?<!\d)\d+\.\d+|\.\d+|(?<!\d)\d+\b)(?![eE][-+]?\d|[,\d])"),
)


def parse_choice(response: str, options: Mapping[str, str], labels: Sequence[str] | None = None) -> str | None:
    """Return the label that a response gives, or None where the reference draws one at random.

    Labels in round brackets come first, then labels with a space on each side, then, in a response of more than five
    words, option texts anywhere. Of several the one that stands last is taken.

    Args:
        response: what the model said.
        options: the option texts by label.
        labels: the labels to look for, if not those of `options`.

    >>> parse_choice("It is (A), or rather (B).", {"A": "a cat", "B": "a dog"})
    'B'
    """
    for mark in _OUTER_MARKS:
        response = response.strip(mark)
    padded = f" {response} "
    letters = list(options if labels is None else labels)
    by_form = [{label: form.format(label) for label in letters} for form in ("({})", " {} ")]
    for needles in by_form:
        last = _last_found(padded, needles)
        if last is not None:
            return last
    if len(response.split()) < _MIN_WORDS:
        return None
    return _last_found(padded.lower(), {label: str(text).lower() for label, text in options.items()})


def is_choice_correct(gold: Gold, parsed: str | None) -> bool:
    """Say whether `parsed` is the right label, or one of them; no label never is."""
    return parsed is not None and parsed in _alternatives(gold)


def parse_open(response: str) -> list[OpenAnswer]:
    """Return the answers that a response may give: its key parts and the numbers in them, numbers first, sorted.

    The key part of a line is what follows its last cue, such as "is "; without any cue the whole response is one.
    Numbers are rounded to 2 decimals, texts are in lower case, a single character has a space before or after it.
    An empty response gives one empty text.

    >>> parse_open("So the total is 3.14159")
    [3.14]
    """
    parts = _key_parts(response.strip().strip(".").lower())
    numbers = [number for part in parts for number in extract_numbers(part)]
    answers = {answer for text in (*parts, *numbers) for answer in normalize_answer(text)}
    return sorted(answers, key=lambda answer: (isinstance(answer, str), answer != answer, answer))


def open_correct(response: str, gold: Gold, *, rule: Rule = "reference") -> bool:
    """Say whether an open response is right; the "careful" rule is `mmmu_careful.states_gold`.

    >>> open_correct("unknown", "no"), open_correct("unknown", "no", rule="careful")
    (True, False)
    """
    if rule == "careful":
        return states_gold(response, [str(text) for text in _alternatives(gold)])
    return is_open_correct(gold, parse_open(response))


def is_open_correct(gold: Gold, parsed: Iterable[OpenAnswer]) -> bool:
    """Say whether any parsed text contains a right text, or any parsed number is a right number."""
    golds = [answer for text in _alternatives(gold) for answer in normalize_answer(str(text))]
    texts = [answer for answer in golds if isinstance(answer, str)]
    return any(
        any(text in answer for text in texts) if isinstance(answer, str) else answer in golds for answer in parsed
    )


def mmmu_aggregate(
    answers: Mapping[str, Mapping[str, Any]], outputs: Mapping[str, str], *, rule: Rule = "reference"
) -> dict[str, Score]:
    """Score parsed choices and raw open responses by subject, domain ("Overall-Science") and "Overall".

    Args:
        answers: by id, `question_type` and `ground_truth`. The id, `validation_<Subject>_<number>`, tells the subject.
        outputs: by id, the parsed label or the open response. What is not among `answers`, or of no subject of
            `DOMAINS`, is left out; what is missing here is, too, so give "" for an item without an answer.
        rule: how open responses are scored, see `open_correct`.
    """
    hits: dict[str, list[bool]] = defaultdict(list)
    for item, output in outputs.items():
        if item in answers:
            hits["_".join(item.split("_")[1:-1])].append(_is_correct(answers[item], output, rule))
    report: dict[str, Score] = {}
    for domain, subjects in DOMAINS.items():
        present = [subject for subject in subjects if subject in hits]
        report[f"Overall-{domain}"] = _pooled([hits[subject] for subject in present])
        report |= {subject: _score(_share(hits[subject]), len(hits[subject])) for subject in present}
    known = sorted(subject for subjects in DOMAINS.values() for subject in subjects)
    report["Overall"] = _pooled([hits[subject] for subject in known if subject in hits])
    return report


def flagevalmm_mmmu(
    annotations: Mapping[str, Mapping[str, Any]], predictions: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return FlagEvalMM's `accuracy`, `subject_score` and, where items have it, `difficulty_score` in percent.

    A choice is the first letter that FlagEvalMM's rule leaves of the answer; all else is read as MMMU's open answers
    are. Percentages have 2 decimals; no predictions give an accuracy of 0.0.
    """
    hits: list[bool] = []
    by_subject: dict[str, list[bool]] = defaultdict(list)
    by_difficulty: dict[str, list[bool]] = defaultdict(list)
    for prediction in predictions:
        annotation = annotations[str(prediction["question_id"])]
        hit = _is_flagevalmm_correct(annotation, prediction["answer"])
        hits.append(hit)
        by_subject[annotation["subject"]].append(hit)
        if "topic_difficulty" in annotation:
            by_difficulty[annotation["topic_difficulty"]].append(hit)
    result: dict[str, Any] = {"accuracy": _percent(hits)}
    result["subject_score"] = {subject: _percent(group) for subject, group in by_subject.items()}
    if by_difficulty:
        result["difficulty_score"] = {difficulty: _percent(group) for difficulty, group in by_difficulty.items()}
    return result


def _last_found(text: str, needles: Mapping[str, str]) -> str | None:
    """Return the key of the needle whose last place in `text` is latest; the first key of equals."""
    places = {key: text.rfind(needle) for key, needle in needles.items()}
    best = max(places, key=places.__getitem__, default=None)
    return best if best is not None and places[best] >= 0 else None


def _key_parts(text: str) -> list[str]:
    lines = text.split("\n")
    parts = [_key_part(line, _CUES) for line in lines[:-1]] + [_key_part(lines[-1], _LAST_CUES)]
    return [part for part in parts if part and part not in _TRIVIAL] or [text]


def _key_part(line: str, cues: Sequence[str]) -> str:
    """Return the shortest tail after the last place of any cue; an empty tail gives way to the next cue's."""
    shortest = ""
    for cue in cues:
        _, found, tail = line.rpartition(cue)
        if found and (not shortest or len(tail.strip()) < len(shortest)):
            shortest = tail.strip()
    return shortest


def extract_numbers(text: str) -> list[str]:
    """Return the numbers in `text` as they stand there: those with commas, then powers of ten, then plain ones."""
    return [number for pattern in _NUMBERS for number in pattern.findall(text)]


def normalize_answer(text: str) -> list[OpenAnswer]:
    """Return what an open answer is compared as: a number with 2 decimals, or the text in lower case.

    A lone letter gives two texts, with a space before and after.
    """
    text = text.strip()
    try:
        return [round(float(text.replace(",", "")), 2)]
    except ValueError:
        text = text.lower()
    # The spaces keep a lone letter from being found inside a word.
    return [f" {text}", f"{text} "] if len(text) == 1 else [text]


def _is_correct(answer: Mapping[str, Any], output: str, rule: Rule) -> bool:
    gold = answer["ground_truth"]
    if answer["question_type"] == "multiple-choice":
        return is_choice_correct(gold, output)
    return open_correct(output, gold, rule=rule)


def _alternatives(gold: object) -> Sequence[Any]:
    return gold if isinstance(gold, list | tuple) else [gold]


def _pooled(groups: Sequence[Sequence[bool]]) -> Score:
    count = sum(len(group) for group in groups)
    # A weighted mean of means, as the reference computes it, so that the last decimal is rounded alike.
    right = sum(_share(group) * len(group) for group in groups)
    return _score(right / count if count else 0.0, count)


def _score(share: float, count: int) -> Score:
    return {"num": count, "acc": round(share, 3)}


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits) if hits else 0.0


def _is_flagevalmm_correct(annotation: Mapping[str, Any], answer: str) -> bool:
    if annotation["question_type"] == "multiple-choice":
        return bool(annotation["answer"].upper() == clean_choice(answer)[:1])
    return open_correct(answer, annotation["answer"])


def _percent(hits: Sequence[bool]) -> float:
    return round(_share(hits) * 100, 2)
