"""Small inputs behind public fault reports; which function is asked depends on a line's `area`.

`expected` may hold conditions (">200", {"min": 0.3, "max": 0.99}), so the scorer sees the whole line: it returns
`expected` where what came meets it, else what came. An area that nothing here answers is a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flagmm.evaluator.aggregate import accuracy, count, groups, macro
from flagmm.evaluator.answers import Answer, Reply
from flagmm.evaluator.rules import TypeRules
from flagmm.evaluator.verdict import Judged, Verdict
from flagmm.extraction import extract_choice, extract_choices, extract_number, extract_short_answer, extract_yes_no
from flagmm.metrics.general_vqa import score_general_vqa
from flagmm.metrics.relaxed_accuracy import relaxed_correct
from flagmm.metrics.text_match import blanks_equal
from vector_scorers import bug_media, bug_runs

Area = Callable[[Mapping[str, Any], Any], Any]
"""A function from a line's `input`, and from its `expected` for what that asks, to what came."""

_TEXT_SCORES = {"bleu": "bleu-4", "rouge-1": "Rouge-1-F", "rouge-2": "Rouge-2-F", "rouge-l": "Rouge-L-F"}
_TOLERANCE = 1e-6


def _choice(given: Mapping[str, Any], _: Any) -> Any:
    extract = extract_choices if given["multi"] else extract_choice
    value = extract(given["response"], given["options"]).value
    return list(value) if isinstance(value, tuple) else value


def _open_match(given: Mapping[str, Any], _: Any) -> bool:
    return blanks_equal(extract_short_answer(given["prediction"]).value or "", given["gold"])


def _number_match(given: Mapping[str, Any], _: Any) -> bool:
    return relaxed_correct(given["prediction"], given["gold"], rule="careful")


def _text_metric(given: Mapping[str, Any], _: Any) -> float:
    return score_general_vqa(given["prediction"], given["reference"])[_TEXT_SCORES[given["metric"]]]


def _judged(annotation: dict[str, Any], text: str, correct: float | None, *, scorable: bool = True) -> Judged:
    reply = Reply(text=text, status="ok", finish_reason=None, usage=None, inference=0)
    answer = Answer(question_id="1", annotation=annotation, record={}, replies=(reply,), repeated=False)
    verdict = Verdict(correct=correct, extracted=text, rule="given") if scorable else None
    return Judged(answer=answer, verdicts=(verdict,), scorable=scorable)


def _marked(given: Mapping[str, Any]) -> list[Judged]:
    return [_judged({"cat": item["cat"]}, "x", float(item["correct"])) for item in given["items"]]


def _breakdown(given: Mapping[str, Any], _: Any) -> dict[str, float | None]:
    items = _marked(given)
    missing = set(given["cats"]) - {item["cat"] for item in given["items"]}
    items += [_judged({"cat": cat}, "x", None, scorable=False) for cat in missing]
    return {value: accuracy(members) for value, members in groups(items, "cat").items()}


def _average(given: Mapping[str, Any], _: Any) -> dict[str, float | None]:
    items = _marked(given)
    scores = {value: {"accuracy": accuracy(members)} for value, members in groups(items, "cat").items()}
    return {"micro": accuracy(items), "macro": macro({"cat": scores}, "accuracy")["cat"]}


def _summary(given: Mapping[str, Any], _: Any) -> dict[str, Any]:
    rules, items = TypeRules(), []
    for item in given["items"]:
        annotation = {"question_type": "multiple-choice", "answer": item["gold"]}
        scorable = rules.can_score(annotation)
        correct = rules.score(item["prediction"], annotation).correct if scorable else None
        items.append(_judged(annotation, item["prediction"], correct, scorable=scorable))
    counts = count([item.answer for item in items], items, len(items))
    return {"accuracy": accuracy(items), "no_gold": counts.unscored}


_AREAS: dict[str, Area] = {
    "mcq_extract": _choice,
    "yesno_extract": lambda given, _: extract_yes_no(given["response"]).value,
    "number_extract": lambda given, _: extract_number(given["response"]).value,
    "open_match": _open_match,
    "number_match": _number_match,
    "text_metric": _text_metric,
    "breakdown": _breakdown,
    "average": _average,
    "summary": _summary,
    **bug_media.AREAS,
    **bug_runs.AREAS,
}


def _score(line: Mapping[str, Any]) -> Any:
    area = _AREAS.get(line["area"])
    if area is None:
        return f"no function for the area {line['area']!r}"
    actual = area(line["input"], line["expected"])
    return line["expected"] if _meets(actual, line["expected"], line["area"]) else actual


def _meets(actual: Any, expected: Any, area: str) -> bool:
    if isinstance(expected, dict):
        return _meets_all(actual, expected, area)
    if isinstance(expected, list) and isinstance(actual, list):
        if area == "mcq_extract":
            return set(actual) == set(expected)
        return len(actual) == len(expected) and all(
            _meets(one, other, area) for one, other in zip(actual, expected, strict=True)
        )
    if isinstance(expected, str) and _is_number(actual):
        return _in_range(actual, expected)
    if _is_number(expected) and _is_number(actual):
        return abs(actual - expected) <= _TOLERANCE
    return type(actual) is type(expected) and bool(actual == expected)


def _meets_all(actual: Any, expected: Mapping[str, Any], area: str) -> bool:
    if expected.keys() == {"min", "max"}:
        return _is_number(actual) and bool(expected["min"] <= actual <= expected["max"])
    return isinstance(actual, Mapping) and all(
        key in actual and _meets(actual[key], value, area) for key, value in expected.items()
    )


def _in_range(value: float, condition: str) -> bool:
    if ".." in condition:
        low, high = condition.split("..")
        return float(low) <= value <= float(high)
    limit = float(condition[1:])
    return value > limit if condition[0] == ">" else value < limit


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


SCORERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {"bug_cases": _score}
