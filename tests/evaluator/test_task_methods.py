"""The methods that evaluators of task folders call on themselves, under FlagEvalMM's names."""

from __future__ import annotations

import json

import pytest

from flagmm.errors import ConfigError
from flagmm.evaluator.base_evaluator import BaseEvaluator
from flagmm.models.gpt import ReplyText


@pytest.fixture
def evaluator():
    return BaseEvaluator()


@pytest.mark.parametrize(
    ("is_clean", "reply", "letter", "correct"),
    [
        (True, "The answer is (b), B", "B", True),
        (True, "b", "B", True),
        (False, "b", "b", False),
        (True, "", "", False),
    ],
)
def test_a_choice_is_compared_by_its_first_letter(is_clean, reply, letter, correct):
    pred = {"answer": reply}
    assert BaseEvaluator(is_clean=is_clean).evaluate_multiple_choice({"answer": "B"}, pred) is correct
    assert pred == {"answer": letter, "raw_answer": reply}


def test_responses_are_compared_as_sets_of_letters(evaluator):
    pred = {"answer": "C and A"}
    assert evaluator.evaluate_multiple_response({"answer": "ac"}, pred) == (True, "AC")
    assert pred["answer"] == "AC"


def test_a_subclass_may_read_letters_in_its_own_way():
    class Mine(BaseEvaluator):
        def maybe_clean_answer(self, answer):
            return answer[-1]

    assert Mine().evaluate_multiple_choice({"answer": "C"}, {"answer": "AB C"})


@pytest.mark.parametrize(
    ("reply", "threshold", "expected", "lines"),
    [
        ("<think>7</think>答案为42。\nsurely", 0.7, (True, "42"), "42\nsurely"),
        ("forty", 0.7, (False, "forty"), "forty"),
        ("photosynthesys", 0.7, (True, "photosynthesys"), "photosynthesys"),
        ("photosynthesys", 0.99, (False, "photosynthesys"), "photosynthesys"),
    ],
)
def test_a_blank_is_right_when_a_line_is_spelled_alike(evaluator, reply, threshold, expected, lines):
    pred = {"answer": reply}
    gold = {"answer": ["42", "photosynthesis"]}
    assert evaluator.evaluate_fill_blank_by_rule(gold, pred, simality_threshold=threshold) == expected
    assert (pred["answer"], pred["raw_answer"]) == (lines, reply)


def test_messages_of_endpoints_that_refused_are_set_apart_and_counted(evaluator):
    answers = ["A", "Error code: 400", {"inference_0": "Error code: 1", "inference_1": "Error code: 2"}, ""]
    results = {}
    kept, rejected = evaluator.filter_rejected([{"answer": answer} for answer in answers], results)
    assert [each["answer"] for each in kept] == ["A", ""]
    assert [each["raw_answer"] for each in rejected] == answers[1:3]
    assert results == {"reject_info": {"reject_rate": 50.0, "reject_number": 2, "total_question": 4}}
    assert evaluator.filter_rejected(kept, clean := {}) == (kept, [])
    assert clean == {}


def test_tokens_are_means_over_what_tells_them(evaluator):
    usage = {"total_tokens": 6, "prompt_tokens": 4, "completion_tokens": 2}
    means = {"average_tokens": 6, "average_prompt_tokens": 4, "average_completion_tokens": 2}
    assert evaluator.statistics_tokens([{"usage": usage}, {"usage": None}, {}]) == means
    assert evaluator.statistics_tokens([]) == dict.fromkeys(means)


def test_repeated_questions_are_taken_apart_and_put_together_again():
    evaluator = BaseEvaluator(aggregation_fields=["note"])
    given = [
        {"question_id": "1", "answer": {"inference_0": "A", "inference_1": "B"}},
        {"question_id": "2", "answer": "A"},
    ]
    assert evaluator.has_multi_inference(given)
    expanded, mapping = evaluator.expand_multi_inference_predictions(given)
    assert [each["question_id"] for each in expanded] == ["1_inference_0", "1_inference_1", "2"]
    assert mapping[1].original_question_id == "1"
    for each in expanded:
        each |= {"correct": each["answer"] == "A", "note": each["answer"].lower()}
    joined, stats = evaluator.aggregate_multi_inference_results(expanded, mapping)
    assert [(each["question_id"], each["correct"], each["note"]) for each in joined] == [
        ("1", 0.5, ["a", "b"]),
        ("2", True, "a"),
    ]
    assert stats == {"single_inference_count": 1, "multi_inference_count": 1, "total_questions": 2}


def test_results_and_entries_are_saved_under_the_data_set_s_name(evaluator, tmp_path):
    evaluator.save({"accuracy": 1}, [{"question_id": "1"}], "t", tmp_path)
    assert json.loads((tmp_path / "t_result.json").read_text()) == {"accuracy": 1}
    assert json.loads((tmp_path / "t_evaluated.json").read_text()) == [{"question_id": "1"}]


class Judge:
    def __init__(self, reply):
        self.reply, self.asked = reply, []

    def build_message(self, query):
        return [{"role": "user", "content": query}]

    def infer(self, chat_messages, **settings):
        self.asked.append(chat_messages[0]["content"])
        return ReplyText(self.reply)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Same.\nJudgement: Yes", (True, "Same.\nJudgement: Yes")),
        ("Judgement: No", (False, "Judgement: No")),
        ("I cannot say.", (False, "[FAILED]")),
    ],
)
def test_the_judge_is_asked_whether_two_answers_are_the_same(evaluator, reply, expected):
    evaluator.llm_evaluator = Judge(reply)
    assert evaluator.evaluate_by_llm({"question": "Q?", "answer": "gold"}, {"answer": "given"}) == expected
    [asked] = evaluator.llm_evaluator.asked
    assert all(text in asked for text in ("Q?", "gold", "given", "Judgement: Yes"))


def test_without_a_judge_it_is_told_what_to_give(evaluator):
    with pytest.raises(ConfigError, match="there is no judge; give judge="):
        evaluator.evaluate_by_llm({"answer": "a"}, {"answer": "b"})


def test_an_evaluator_knows_whether_it_asks_a_judge():
    assert BaseEvaluator().use_llm_evaluator is False
    assert BaseEvaluator(use_llm_evaluator=True).use_llm_evaluator is True


def test_what_scores_can_always_be_called():
    evaluator = BaseEvaluator()
    assert evaluator.eval_func({"1": {"question_type": "multiple-choice", "answer": "A"}}, [
        {"question_id": "1", "answer": "A"}
    ])["accuracy"] == 100.0  # fmt: skip
    assert BaseEvaluator(eval_func=len).eval_func is len
