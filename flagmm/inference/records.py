"""Predictions as JSON: one line each in `predictions.jsonl`, one object a question in `<task>.json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from flagmm.types import Prediction

_PER_CALL = ("finish_reason", "error", "attempts", "latency", "request")


def to_line(prediction: Prediction) -> dict[str, Any]:
    """A prediction as a line of `predictions.jsonl`."""
    usage, error = prediction.usage, prediction.error
    return {
        "question_id": prediction.question_id,
        "question": prediction.question,
        "answer": prediction.answer,
        "reason": prediction.reason,
        "usage": _usage(usage) if usage else None,
        "status": prediction.status,
        "finish_reason": prediction.finish_reason,
        "error": asdict(error) if error else None,
        "attempts": prediction.attempts,
        "latency": prediction.latency,
        "request": prediction.request,
        "inference": prediction.inference,
        "media": [[item.size, item.mtime_ns, item.digest] for item in prediction.media],
    }


def _usage(usage: Any) -> dict[str, int]:
    names = ("prompt_tokens", "completion_tokens", "total_tokens", "reasoning_tokens")
    return {name: value for name in names if (value := getattr(usage, name)) is not None}


def to_answer(lines: Sequence[dict[str, Any]], *, repeated: bool) -> dict[str, Any]:
    """The entry of `<task>.json` for one question, from its lines in the order of repetitions.

    Repeated questions have `answer` = `{"inference_0": …}`, lists for what differs from call to call, and `statuses`;
    their `status` is "ok" where every repetition is.
    """
    if not repeated:
        return {key: value for key, value in lines[0].items() if key not in ("inference", "media")}
    statuses = [line["status"] for line in lines]
    entry = {
        "question_id": lines[0]["question_id"],
        "question": lines[0]["question"],
        "answer": {f"inference_{line['inference']}": line["answer"] for line in lines},
        "reason": [line["reason"] for line in lines],
        "usage": [line["usage"] for line in lines],
        "status": next((status for status in statuses if status != "ok"), "ok"),
        "statuses": statuses,
    }
    return entry | {key: [line[key] for line in lines] for key in _PER_CALL}
