"""The entries of `_evaluated.json`: an answer with what the evaluator found."""

from __future__ import annotations

from typing import Any

from flagmm.evaluator.verdict import Judged, Verdict
from flagmm.types import Annotation

NOT_ANSWERED = "not_answered"
UNSCORED = "unscored"
_SOMETIMES = ("careful_correct", "reference_correct", "scores", "rule_error")
"""Fields that only some replies have."""


def evaluated_entry(item: Judged) -> dict[str, Any]:
    """The entry of one question; of a repeated one, with lists for what differs between its replies."""
    answer = item.answer
    fields = [
        scored_fields(verdict, answer.annotation, reply.text, scorable=item.scorable, answered=reply.status == "ok")
        for verdict, reply in zip(item.verdicts, answer.replies, strict=True)
    ]
    if not answer.repeated:
        return answer.record | fields[0]
    return answer.record | {
        "correct": item.score if item.counts else None,
        "inference_scores": [field["correct"] for field in fields],
        "num_inferences": len(fields),
        **{key: [field[key] for field in fields] for key in ("raw_answer", "extracted", "rule")},
        **{key: [field.get(key) for field in fields] for key in _SOMETIMES if any(key in field for field in fields)},
        **_label_fields(answer.annotation),
    }


def scored_fields(
    verdict: Verdict | None, annotation: Annotation, text: str, *, scorable: bool = True, answered: bool = True
) -> dict[str, Any]:
    """What the evaluator adds for one reply.

    Args:
        verdict: None for what is no answer, and for questions that cannot be scored.
    """
    fields = {
        "raw_answer": text,
        "correct": verdict.correct if verdict else 0.0 if scorable and not answered else None,
        "extracted": verdict.extracted if verdict else None,
        "rule": verdict.rule if verdict else UNSCORED if answered else NOT_ANSWERED,
        **_label_fields(annotation),
    }
    if verdict is not None and verdict.careful is not None:
        fields["careful_correct"] = verdict.careful
    if verdict is not None and verdict.reference is not None:
        fields["reference_correct"] = verdict.reference
    if verdict is not None and verdict.scores is not None:
        fields["scores"] = dict(verdict.scores)
    if verdict is not None and verdict.error is not None:
        fields["rule_error"] = verdict.error
    return fields


def _label_fields(annotation: Annotation) -> dict[str, Any]:
    """What is right, and where the data say so in other words than a label's, how these were read."""
    read_by = {"label_rule": annotation["label_rule"]} if "label_rule" in annotation else {}
    return {"label": annotation.get("answer"), **read_by, "question_type": annotation.get("question_type")}
