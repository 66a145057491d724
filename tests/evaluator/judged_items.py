"""Questions with verdicts, for tests of what is made of them."""

from __future__ import annotations

from flagmm.evaluator.answers import Answer, Reply
from flagmm.evaluator.verdict import Judged, Verdict

RIGHT, WRONG, UNREAD = (1.0, "A"), (0.0, "B"), (0.0, None)
NOT_SCORED = (None, None)
JUDGE_FAILED = (None, "C", "judge_failed")


def judged(*outcomes, scorable=True, **annotation):
    """One question; an outcome is (correct, extracted[, rule]) of a reply, or the status of one that is no answer."""
    replies = tuple(
        Reply(text="", status=each if isinstance(each, str) else "ok", finish_reason=None, usage=None, inference=number)
        for number, each in enumerate(outcomes)
    )
    verdicts = tuple(
        None
        if isinstance(each, str)
        else Verdict(correct=each[0], extracted=each[1], rule=each[2] if each[2:] else f"rule {each[1]}")
        for each in outcomes
    )
    answer = Answer(question_id="1", annotation=annotation, record={}, replies=replies, repeated=len(outcomes) > 1)
    return Judged(answer=answer, verdicts=verdicts, scorable=scorable)
