"""The methods that evaluators of task folders call on themselves, under FlagEvalMM's names."""

from __future__ import annotations

import json

import pytest

from flagmm.errors import ConfigError
from flagmm.evaluator import (
    CocoEvaluator,
    ExtractEvaluator,
    OpenEvaluator,
    extract_evaluator,
    mmmu_dataset_evaluator,
    open_evaluator,
)
from flagmm.evaluator.base_evaluator import PROMPT_TEMPLATE, BaseEvaluator
from flagmm.models.api_response import ApiResponse


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
        return ApiResponse(self.reply)


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


@pytest.mark.parametrize(
    ("method", "text", "expected"),
    [
        ("process_punctuation", "1,000-yes", "1000yes"),
        ("process_punctuation", "yes-no. 10.", "yes no 10"),
        ("process_digit_article", "The two dogs dont bark", "2 dogs don't bark"),
        ("process_digit_article", "Zero cars", "0 cars"),
        ("process_digit_article", "none of them", "0"),
        ("preprocess_string", "yes, it is", "yes"),
        ("preprocess_string", "it is not red", "no"),
        ("preprocess_string", "a knot", "no"),  # as FlagEvalMM has it
        ("preprocess_string", "I am unable to tell", "unknown"),
        ("preprocess_string", "a red bus", "a red bus"),
        ("preprocess_string", " ", " "),
        ("preporcess_data", "Yes,\tit is\n", "yes"),
        ("preporcess_data", "The Bus-Stop.", "bus stop"),
    ],
)
def test_short_answers_are_prepared_as_flagevalmm_does_it(method, text, expected):
    assert getattr(CocoEvaluator(), method)(text) == expected


def test_the_tables_behind_short_answers_may_be_looked_into():
    evaluator = CocoEvaluator()
    assert (evaluator.contractions["dont"], evaluator.number_map["ten"], evaluator.articles) == (
        "don't", "10", ["a", "an", "the"],
    )  # fmt: skip
    assert len(evaluator.punct) == 21
    assert evaluator.period_strip.sub("", "a. b.5") == "a b.5"
    assert evaluator.comma_strip.search("1,000")


@pytest.mark.parametrize(
    ("answer_type", "answer", "reply", "mark", "read"),
    [
        ("integer", 42, "So \\boxed{42}", 1, "42"),
        ("float", 2.5, "Answer: 3.9", 0, "3.9"),
        ("true_false", [True, False], "True, False", 1, "True, False"),
        ("text match", ["bus"], "Answer: a Bus", 1, "a Bus"),
    ],
)
def test_an_open_answer_is_marked_by_its_type(answer_type, answer, reply, mark, read):
    pred = {"answer": reply}
    assert OpenEvaluator().get_score({"answer_type": answer_type, "answer": answer}, pred) == mark
    assert pred == {"answer": read, "raw_answer": reply}


@pytest.mark.parametrize(
    ("reply", "mark"), [("The same.\n\nJudgement: 1", 1), ("Judgement: 0", 0), ("I cannot say", 0)]
)
def test_an_open_ended_answer_is_marked_by_the_judge(reply, mark):
    evaluator, gt = OpenEvaluator(), {"answer_type": "open_ended", "question": "Q?", "answer": "gold"}
    evaluator.llm_evaluator = Judge(reply)
    assert evaluator.get_score_by_llm(gt, {"answer": "given"}) == (reply, mark)
    assert evaluator.get_score(gt, {"answer": "given"}) == mark
    assert all(text in evaluator.llm_evaluator.asked[0] for text in ("Q?", "gold", "given", "Judgement: 1"))


def test_an_open_answer_that_nothing_marks_is_told():
    with pytest.raises(ConfigError, match="get_score_by_llm: there is no judge; give judge="):
        OpenEvaluator().get_score({"answer_type": "open_ended", "answer": "a"}, {"answer": "b"})
    with pytest.raises(ValueError, match="answer_type 'essay': no rule scores it"):
        OpenEvaluator().get_score({"answer_type": "essay", "answer": "a"}, {"answer": "b"})


class Reading(Judge):
    """Reads an answer first, and then compares it."""

    def __init__(self, read, compared):
        super().__init__(read)
        self.replies = [read, compared]

    def infer(self, chat_messages, **settings):
        self.reply = self.replies[len(self.asked)]
        return super().infer(chat_messages, **settings)


@pytest.mark.parametrize(
    ("replies", "extracted", "correct", "asked"),
    [
        (("ANSWER: 42", "Judgement: 1"), "42", 1, 2),
        (("ANSWER: 42", "Judgement: 0"), "42", 0, 2),
        (("ANSWER: 42", "hm"), "42", 0, 2),
        (("ANSWER: 0.42 km", ""), "0.42 km", 1, 1),  # the reference word for word
        (("ANSWER: NONE", "Judgement: 0"), "null", 0, 2),
        (("hm", "Judgement: 0"), "[FAILED]", 0, 2),
    ],
)
def test_an_answer_is_extracted_and_compared_by_the_judge(replies, extracted, correct, asked):
    evaluator, pred = ExtractEvaluator(), {"question_id": "1", "answer": "It comes to 42."}
    evaluator.llm_evaluator = Reading(*replies)
    found = evaluator.process_single_prediction(pred, {"question": "How far?", "answer": "0.42 km"})
    told = {"extracted_answer": extracted, "correct": correct, "label": "0.42 km"}
    assert found == ({**pred, **told}, correct)
    assert pred == {"question_id": "1", "answer": "It comes to 42."}
    assert len(evaluator.llm_evaluator.asked) == asked


def test_prompts_for_code_that_asks_by_itself_take_its_fields():
    fields = {"question": "Q{0}?", "gt_answer": "{gold}", "pred_answer": "given"}
    assert all(text in PROMPT_TEMPLATE.format(**fields) for text in ("Q{0}?", "{gold}", "given", "Judgement: Yes"))
    fields = {"question": "Q?", "answer": "gold", "extracted_answer": "given"}
    scored = extract_evaluator.demo_prompt_score.format(**fields)
    assert all(text in scored for text in (*fields.values(), "Judgement: 1", "Judgement: 0"))
    assert "given" in extract_evaluator.demo_prompt_extract.format(answer="given")
    replaced = open_evaluator.demo_prompt_score
    for name, value in fields.items():
        replaced = replaced.replace("{{" + name + "}}", value)
    assert all(text in replaced for text in (*fields.values(), "Judgement: 1"))
    assert "{" not in replaced


@pytest.mark.parametrize(
    ("name", "answer", "wanted", "mark"),
    [
        ("number_matching", "from 3 to 1.2e3", 1200, 1),
        ("number_matching", "110", 100, 0),
        ("number_matching", "109", 100.0, 1),
        ("number_matching", "none", 1, 0),
        ("numbers_matching", "1 and 2", [1, 2], 1),
        ("numbers_matching", "1, 2, 3", [1, 2], 0),
        ("numbers_matching", "2.6", [2.5], 1),
        ("tf_list_matching", "True or false", [True, "false"], 1),
        ("tf_list_matching", "true", ["maybe"], 0),
        ("text_match", "A Red bus", ["blue", "red"], 1),
    ],
)
def test_functions_of_open_answers_have_flagevalmm_s_rules(name, answer, wanted, mark):
    assert getattr(open_evaluator, name)({"answer": answer}, wanted) == mark


def test_functions_of_mmmu_have_its_rules():
    mmmu = mmmu_dataset_evaluator
    options = {"A": "a cat", "B": "a dog"}
    assert mmmu.parse_multi_choice_response("It is (A), or rather (B).", ["A", "B"], options) == "B"
    assert mmmu.parse_multi_choice_response("Hard to say", ["A", "B"], options) == ""  # MMMU draws one
    assert (mmmu.eval_multi_choice(["A", "B"], "B"), mmmu.eval_multi_choice("A", "")) == (True, False)
    assert mmmu.parse_open_response("So the total is 3.14159") == [3.14]
    assert (mmmu.eval_open("3.14", [3.14]), mmmu.eval_open(["dog"], ["a cat"])) == (True, False)
    assert mmmu.normalize_str("1,234.567") == [1234.57]
    assert mmmu.normalize_str(" B ") == [" b", "b "]
    assert mmmu.extract_numbers("1,000 or 2e3 or 4.5") == ["1,000", "2e3", "000", "3", "4.5"]
    assert (mmmu.check_is_number("1,000"), mmmu.check_is_number("x")) == (True, False)
