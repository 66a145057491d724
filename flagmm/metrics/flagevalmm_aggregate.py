"""What FlagEvalMM's evaluator makes of a run: rejected replies, accuracy, groups, repeated inferences, tokens.

Reference: FlagEvalMM fef27ec6, `evaluator/base_evaluator.py:BaseEvaluator.process`. Our own evaluator counts a reply
that is no answer as wrong; here it is left out, as in FlagEvalMM's published numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from flagmm.metrics.flagevalmm_text import clean_choice, fill_blank_match

Rule = Literal["reference", "careful"]

REJECTIONS = ("Error code", "Can not answer because of", "Input data may contain inappropriate content")
_TOKEN_MEANS = {
    "average_tokens": "total_tokens",
    "average_prompt_tokens": "prompt_tokens",
    "average_completion_tokens": "completion_tokens",
}


@dataclass(frozen=True, kw_only=True)
class FlagEvalMMResult:
    """The two files that FlagEvalMM writes."""

    result: dict[str, Any]
    evaluated: list[dict[str, Any]]
    """Per question, rejected replies last: what was read from the reply, and whether it is right."""


class _Place(NamedTuple):
    """Where a reply belongs."""

    question_id: str
    inference: int | None
    """None for a question that was asked once."""

    @property
    def reply_id(self) -> str:
        return self.question_id if self.inference is None else f"{self.question_id}_inference_{self.inference}"


class _Scored(NamedTuple):
    place: _Place
    answer: str
    correct: bool


def is_rejected(answer: Any, *, rule: Rule = "reference") -> bool:
    """Say whether an answer is the message of an endpoint that refused.

    Of several inferences, the reference never calls any rejected that hold a text; the careful rule does when all of
    them are. Inferences without any text are rejected, none at all too.
    """
    if isinstance(answer, str):
        return answer.startswith(REJECTIONS)
    if not isinstance(answer, Mapping):
        return False
    texts = [text for text in answer.values() if isinstance(text, str)]
    return not texts or (rule == "careful" and all(text.startswith(REJECTIONS) for text in texts))


def reject_info(rejected: int, total: int) -> dict[str, Any]:
    """Return `reject_info` with rate (percent, 2 decimals) and numbers; {} where nothing was rejected."""
    if not rejected:
        return {}
    info = {"reject_rate": _percent(rejected, total), "reject_number": rejected, "total_question": total}
    return {"reject_info": info}


def flagevalmm_result(
    annotations: Mapping[str, Mapping[str, Any]],
    predictions: Sequence[Mapping[str, Any]],
    *,
    detailed_keys: Sequence[str] = (),
    rule: Rule = "reference",
) -> FlagEvalMMResult:
    """Score a run of multiple-choice and fill-blank questions as FlagEvalMM does.

    Accuracy is the share of right replies among those kept, each inference counting by itself; `detailed_keys` add one
    per value of those fields. Mean tokens, for runs without repeats, are over all replies kept, whether they tell
    theirs or not. Where all are rejected, accuracy and tokens are None; the reference fails.

    Args:
        annotations: by question id, with `answer` and `question_type`.
        predictions: with `question_id`, `answer` (a text, or several by `inference_0` …) and maybe `usage`.
        rule: the reference gives kept replies of repeated runs to questions by their position among all replies, so
            that they move up where one was rejected; the careful rule lets them stay with their question.

    Raises:
        ValueError: a question of another type.
    """
    is_repeated = any(isinstance(prediction["answer"], Mapping) for prediction in predictions)
    replies = [reply for prediction in predictions for reply in _replies(prediction)]
    kept = [(place, answer) for place, answer in replies if not is_rejected(answer, rule=rule)]
    scored = [_score(place, answer, annotations[place.question_id]) for place, answer in kept]
    result = reject_info(len(replies) - len(kept), len(replies)) | _accuracies(scored, annotations, detailed_keys)
    if not is_repeated:
        result |= _token_means([prediction for prediction in predictions if not is_rejected(prediction["answer"])])
    moves_up = rule == "reference" and is_repeated
    places = [place for place, _ in (replies if moves_up else kept)]
    rejected = [
        {"question_id": place.reply_id, "answer": answer} for place, answer in replies if is_rejected(answer, rule=rule)
    ]
    return FlagEvalMMResult(result=result, evaluated=_by_question(places, scored) + rejected)


def _replies(prediction: Mapping[str, Any]) -> list[tuple[_Place, Any]]:
    question_id, answer = str(prediction["question_id"]), prediction["answer"]
    if not isinstance(answer, Mapping):
        return [(_Place(question_id, None), answer)]
    return [(_Place(question_id, int(name.rpartition("_")[2])), text) for name, text in answer.items()]


def _score(place: _Place, answer: str, annotation: Mapping[str, Any]) -> _Scored:
    question_type = annotation["question_type"]
    if question_type == "multiple-choice":
        letter = clean_choice(answer)[:1]
        return _Scored(place, letter, annotation["answer"].upper() == letter)
    if question_type == "fill-blank":
        match = fill_blank_match(answer, annotation["answer"])
        return _Scored(place, match.matched, match.correct)
    raise ValueError(f"question type {question_type!r}: expected 'multiple-choice' or 'fill-blank'")


def _accuracies(
    scored: Sequence[_Scored], annotations: Mapping[str, Mapping[str, Any]], keys: Sequence[str]
) -> dict[str, Any]:
    groups: dict[str, list[bool]] = {}
    for item in scored:
        for key in keys:
            groups.setdefault(annotations[item.place.question_id][key], []).append(item.correct)
    accuracy = _percent(sum(item.correct for item in scored), len(scored)) if scored else None
    return {"accuracy": accuracy, **{group: _percent(sum(hits), len(hits)) for group, hits in groups.items()}}


def _token_means(predictions: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    usages = [prediction.get("usage") or {} for prediction in predictions]
    return {
        name: sum(usage.get(key) or 0 for usage in usages) / len(usages) if usages else None
        for name, key in _TOKEN_MEANS.items()
    }


def _by_question(places: Sequence[_Place], scored: Sequence[_Scored]) -> list[dict[str, Any]]:
    """One record per question that a reply came to, in the order of the first."""
    questions: dict[str, list[tuple[_Place, _Scored]]] = {}
    for place, item in zip(places, scored, strict=False):
        questions.setdefault(place.question_id, []).append((place, item))
    return [_record(question_id, members) for question_id, members in questions.items()]


def _record(question_id: str, members: Sequence[tuple[_Place, _Scored]]) -> dict[str, Any]:
    if members[0][0].inference is None:
        item = members[0][1]
        return {"question_id": question_id, "answer": item.answer, "correct": item.correct}
    items = [item for _, item in sorted(members, key=lambda member: member[0].inference or 0)]
    return {
        "question_id": question_id,
        "answer": {f"inference_{number}": item.answer for number, item in enumerate(items)},
        "correct": sum(item.correct for item in items) / len(items),
        "inference_scores": [item.correct for item in items],
        "num_inferences": len(items),
    }


def _percent(part: float, total: int) -> float:
    return round(part / total * 100, 2)
