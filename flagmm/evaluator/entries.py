"""The entries of `_evaluated.json`: an answer with what the evaluator found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from flagmm.evaluator.answers import Answer, Reply
from flagmm.evaluator.verdict import Judged, Verdict
from flagmm.metrics.flagevalmm_aggregate import is_rejected
from flagmm.types import STATUSES, Annotation

NOT_ANSWERED = "not_answered"
UNSCORED = "unscored"
CLUSTER = "cluster"
"""What a question shares with others that it depends on; those without it share nothing."""
_SOMETIMES = ("careful_correct", "reference_correct", "scores", "judge", "rule_error")
"""Fields that only some replies have."""
_HTTP_STATUS = re.compile(r"Error code: (\d{3})\b")


def evaluated_entry(item: Judged, *, cluster_by: str | None = None) -> dict[str, Any]:
    """The entry of one question; of a repeated one, with lists for what differs between its replies.

    Args:
        cluster_by: the annotation's field that clusters questions; its value is told, for comparisons of runs.
    """
    return _entry(item) | _cluster_field(item.answer.annotation, cluster_by)


def _cluster_field(annotation: Annotation, key: str | None) -> dict[str, str]:
    value = None if key is None else annotation.get(key)
    return {} if value is None else {CLUSTER: str(value)}


def _entry(item: Judged) -> dict[str, Any]:
    answer, record = item.answer, recorded(item.answer)
    fields = [
        scored_fields(verdict, answer.annotation, reply.text, scorable=item.scorable, answered=reply.status == "ok")
        for verdict, reply in zip(item.verdicts, answer.replies, strict=True)
    ]
    if not answer.repeated:
        return record | fields[0]
    return record | {
        "correct": item.score if item.counts else None,
        "inference_scores": [field["correct"] for field in fields],
        "num_inferences": len(fields),
        **{key: [field[key] for field in fields] for key in ("raw_answer", "extracted", "rule")},
        **{key: [field.get(key) for field in fields] for key in _SOMETIMES if any(key in field for field in fields)},
        **_label_fields(answer.annotation),
    }


def recorded(answer: Answer) -> dict[str, Any]:
    """The saved record, with the `status` and `error` that other tools do not save.

    What such a tool saved as an answer where a call had failed is the error's message, and no answer.
    """
    record = dict(answer.record)
    if any(key in record and _is_status(record[key]) for key in ("status", "statuses")):
        return record
    statuses = [reply.status for reply in answer.replies]
    errors = [_saved_error(reply) for reply in answer.replies]
    status = next((status for status in statuses if status != "ok"), "ok")
    if not answer.repeated:
        record |= {"answer": ""} if is_rejected(answer.replies[0].text) else {}
        return {**record, "status": status, "error": record.get("error") or errors[0]}
    if isinstance(record.get("answer"), Mapping):
        record["answer"] = {key: "" if is_rejected(text) else text for key, text in record["answer"].items()}
    return {**record, "status": status, "statuses": statuses, "error": record.get("error") or errors}


def _is_status(value: Any) -> bool:
    return value in STATUSES or (isinstance(value, list) and all(each in STATUSES for each in value))


def _saved_error(reply: Reply) -> dict[str, Any] | None:
    if reply.status != "failed":
        return None
    code = _HTTP_STATUS.match(reply.text)
    message = reply.text if is_rejected(reply.text) else "saved with another status than ours"
    return {"kind": "saved", "message": message, "status": int(code[1]) if code else None}


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
    if verdict is not None and verdict.judge is not None:
        fields["judge"] = dict(verdict.judge)
    if verdict is not None and verdict.error is not None:
        fields["rule_error"] = verdict.error
    return fields


def _label_fields(annotation: Annotation) -> dict[str, Any]:
    """What is right, and where the data say so in other words than a label's, how these were read."""
    read_by = {"label_rule": annotation["label_rule"]} if "label_rule" in annotation else {}
    return {"label": annotation.get("answer"), **read_by, "question_type": annotation.get("question_type")}
