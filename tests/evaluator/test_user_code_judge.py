"""A task's own scoring and its judge: who gets it, and by which argument."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from flagmm.errors import ModelError, UserCodeError
from flagmm.evaluator import BaseEvaluator
from flagmm.evaluator.answers import Answer, Reply
from flagmm.evaluator.judge import Judge
from flagmm.evaluator.judge_settings import JudgeSettings
from flagmm.evaluator.user_code import UserScoring, needs_judge
from flagmm.types import Usage


class Lender:
    """A judge that is lent, and is the thing lent."""

    name = "lender"

    def __init__(self, failed=0):
        self.settings = {}
        self.asked, self.failed, self.usages = 3, failed, [Usage(total_tokens=4), None]
        self.is_there = False
        self.calls = []

    @contextmanager
    def lend(self):
        self.is_there = True
        yield self
        self.is_there = False


def scoring_of_one_answer():
    reply = Reply(text="A", status="ok", finish_reason=None, usage=None, inference=0)
    answer = Answer(
        question_id="1", annotation={"answer": "A"}, record={"question_id": "1"}, replies=(reply,), repeated=False
    )
    return UserScoring([answer])


def run(function, lender):
    judge = Judge(lender, JudgeSettings()) if lender else None
    return scoring_of_one_answer().run(function, name="evaluate.py: get_result", judge=judge)


FUNCTIONS = {
    "required": (lambda annotations, predictions, judge: {"judge": judge}, True),
    "optional": (lambda annotations, predictions, judge=None: {"judge": judge}, False),
    "variable": (lambda annotations, predictions, *rest: {"judge": rest[0] if rest else None}, False),
    "keyword": (lambda annotations, predictions, *, llm_evaluator: {"judge": llm_evaluator}, True),
    "behind another": (lambda a, p, extra=None, llm_evaluator=None: {"judge": llm_evaluator, "extra": extra}, False),
    "keyword and variable": (lambda a, p, *rest, llm_evaluator=None: {"judge": llm_evaluator, "rest": rest}, False),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_gets_the_judge_by_the_argument_that_it_has_for_it(name):
    function, is_needed = FUNCTIONS[name]
    lender = Lender()
    metrics = run(function, lender)
    assert metrics["judge"] is lender
    assert not metrics.get("extra")
    assert not metrics.get("rest")
    assert needs_judge(function) is is_needed
    if not is_needed:
        assert run(function, None)["judge"] is None


@pytest.mark.parametrize("function", [lambda a, p: {"n": 1}, lambda a, p, **rest: {"n": len(rest) + 1}])
def test_a_function_without_a_place_for_the_judge_is_called_without_and_the_log_says_so(function, caplog):
    assert not needs_judge(function)
    assert run(function, Lender()) == {"n": 1}
    assert "evaluate.py: get_result: takes no third argument, so the judge is not asked" in caplog.text


def test_a_method_finds_the_judge_on_its_evaluator_meanwhile():
    class Mine(BaseEvaluator):
        def cal_accuracy(self, annotations, predictions):
            return {"judge": self.llm_evaluator, "was_there": self.llm_evaluator.is_there}

    lender, evaluator = Lender(), Mine()
    metrics = run(evaluator.cal_accuracy, lender)
    assert (metrics["judge"], metrics["was_there"], lender.is_there) == (lender, True, False)


def test_what_the_judge_was_asked_is_told_also_where_code_caught_its_failures():
    scoring = scoring_of_one_answer()
    scoring.run(lambda a, p, judge: {}, name="x", judge=Judge(Lender(failed=2), JudgeSettings(prompt="unused")))
    report = scoring.about_judge["judge"]
    assert (report["strategy"], report["asked"], report["failed"], report["tokens"]) == ("own_code", 3, 2, 4)
    assert (report["prompt"], report["prompt_hash"]) == (None, None)
    assert scoring.judge_failed == 2


def test_a_failure_that_code_lets_through_is_one_line_that_names_the_code():
    def get_result(annotations, predictions, judge):
        raise ModelError("judge http://h: HTTP 500", kind="server")

    with pytest.raises(UserCodeError, match=r"^evaluate\.py: get_result: judge http://h: HTTP 500; what was judged"):
        run(get_result, Lender())
