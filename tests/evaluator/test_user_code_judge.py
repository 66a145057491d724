"""A task's own scoring and its judge: who gets it, and by which argument."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from flagmm.errors import ModelError, UserCodeError
from flagmm.evaluator import BaseEvaluator
from flagmm.evaluator.answers import Answer, Reply
from flagmm.evaluator.judge import Judge
from flagmm.evaluator.judge_settings import JudgeCall, JudgeSettings, about_call
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


class Telling(Lender):
    """A judge that notes its calls as the real one does."""

    def infer(self, words, question_id=None):
        call = about_call(words=words, attempts=1, error=None if words else "HTTP 500")
        self.calls.append(JudgeCall(question_id or self.asked_about(), call))
        return words


def scoring_of(*names, repeated=False):
    replies = {
        name: tuple(
            Reply(text=name, status="ok", finish_reason=None, usage=None, inference=number)
            for number in range(1 + repeated)
        )
        for name in names
    }
    return UserScoring(
        [
            Answer(question_id=name, annotation={}, record={"question_id": name}, replies=given, repeated=repeated)
            for name, given in replies.items()
        ]
    )


def calls_shown(scoring):
    entries = {entry["question_id"]: entry.get("judge_calls", []) for entry in scoring.evaluated([])}
    return {key: [call["words"] for call in calls] for key, calls in entries.items()}


def test_a_call_belongs_to_the_prediction_at_which_the_loop_stands():
    def get_result(annotations, predictions, judge):
        judge.infer("before any")
        for prediction in sorted(predictions, key=lambda each: each["question_id"], reverse=True):
            prediction["question_id"] = "mine"
        for prediction in predictions:
            judge.infer(f"about {prediction['answer']}")
            if prediction["answer"] == "a":
                for other in predictions:
                    judge.infer(f"{other['answer']} too")
                judge.infer("a again")
        judge.infer("after all")
        return {}

    scoring = scoring_of("a", "b")
    scoring.run(get_result, name="x", judge=Judge(Telling(), JudgeSettings()))
    assert scoring.about_judge["judge"]["errors"] == {}
    shown = {entry["answer"]: [call["words"] for call in entry["judge_calls"]] for entry in scoring.evaluated([])}
    assert shown == {"a": ["about a", "a too", "a again"], "b": ["b too", "about b"]}


def test_a_call_from_a_thread_belongs_to_the_prediction_that_it_names():
    def get_result(annotations, predictions, judge):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda each: judge.infer(each["answer"], question_id=each["question_id"]), predictions))
            pool.submit(judge.infer, "of nobody").result()
        return {}

    scoring = scoring_of("a", "b", repeated=True)
    scoring.run(get_result, name="x", judge=Judge(Telling(), JudgeSettings()))
    assert calls_shown(scoring) == {"a": ["a", "a"], "b": ["b", "b"]}


def test_a_failed_call_is_told_with_its_cause_and_its_question():
    def get_result(annotations, predictions, judge):
        for prediction in predictions:
            judge.infer("" if prediction["question_id"] == "b" else "fine")
        return {}

    scoring = scoring_of("a", "b")
    scoring.run(get_result, name="x", judge=Judge(Telling(failed=1), JudgeSettings()))
    report = scoring.about_judge["judge"]
    assert (report["failed"], report["failed_ids"], report["errors"]) == (1, ["b"], {"HTTP 500": 1})


def test_code_can_copy_the_predictions_and_keep_a_field_of_the_same_name():
    def get_result(annotations, predictions, judge):
        for copied in (copy.copy(predictions), copy.deepcopy(predictions), pickle.loads(pickle.dumps(predictions))):
            assert type(copied) is list
            assert copied == predictions
        for prediction in predictions:
            judge.infer("said")
            prediction["judge_calls"] = "mine"
        return {}

    scoring = scoring_of("a")
    scoring.run(get_result, name="x", judge=Judge(Telling(), JudgeSettings()))
    assert [entry["judge_calls"] for entry in scoring.evaluated([])] == ["mine"]
