"""OpenEvaluator, CocoEvaluator, ExtractEvaluator, MmmuEvaluator and others on saved answers and on single items."""

from __future__ import annotations

import json

import numpy as np
import pytest

from flagmm.errors import ConfigError, DataError
from flagmm.evaluator import AggregationEvaluator, CocoEvaluator, OpenEvaluator, RetrievalEvaluator, box_evaluator
from flagmm.jsonio import read_json
from flagmm.registry import EVALUATORS
from tests.evaluator.test_base_evaluator import Annotated


def save(folder, answers):
    """Write `t.json`; a reply of None failed."""
    records = [
        {"question_id": key, "answer": reply or "", "status": "failed" if reply is None else "ok"}
        for key, reply in answers.items()
    ]
    (folder / "t.json").write_text(json.dumps(records))


def score(folder, evaluator, annotations, answers):
    """The result, and the entries of `_evaluated.json`."""
    save(folder, answers)
    result = evaluator.process(Annotated(annotations), folder)
    assert read_json(folder / "t_result.json") == json.loads(json.dumps(result))
    return result, {entry["question_id"]: entry for entry in read_json(folder / "t_evaluated.json")}


def typed(kind, answer, **fields):
    return {"question_type": "open", "answer_type": kind, "answer": answer, **fields}


OPEN = {
    "1": typed("integer", 42, area="numbers", depth="one"),
    "2": typed("float", 2.5, area="numbers", depth="one"),
    "3": typed("integer", [1, 2], area="numbers", depth="many"),
    "4": typed("true_false", [True, False], area="words", depth="many"),
    "5": typed("text match", "red", area="words", depth="one"),
    "6": typed("open_ended", "anything", area="words", depth="one"),
}
OPEN_ANSWERS = {
    "1": "I count \\boxed{42}",
    "2": "Answer: 3.9",
    "3": "Answer: 1 and 2",
    "4": "true, true",
    "5": "The car is Red.",
    "6": "whatever",
}


def test_open_answers_are_scored_by_their_type_and_reported_by_the_trackers(tmp_path):
    evaluator = OpenEvaluator(tracker_type="area", tracker_subtype="depth")
    result, evaluated = score(tmp_path, evaluator, OPEN, OPEN_ANSWERS)
    marks = {key: entry["correct"] for key, entry in evaluated.items()}
    assert marks == {"1": 1, "2": 0, "3": 1, "4": 0, "5": 1, "6": None}
    assert (result["accuracy"], result["n"], result["counts"]["unscored"]) == (60.0, 5, 1)
    # [right, questions, share], then the same by depth
    assert result["numbers"] == [2.0, 3, 0.667, {"one": [1.0, 2, 0.5], "many": [1.0, 1, 1.0]}]
    assert result["words"] == [1.0, 2, 0.5, {"many": [0.0, 1, 0.0], "one": [1.0, 1, 1.0]}]


def test_without_trackers_there_is_the_accuracy_alone(tmp_path):
    result, _ = score(tmp_path, OpenEvaluator(), OPEN, OPEN_ANSWERS | {"1": None})
    assert result["accuracy"] == 40.0
    assert "numbers" not in result


def test_open_answers_are_read_by_flagevalmm_s_rule_on_request(tmp_path):
    annotations = {"1": typed("integer", 7)}
    careful, _ = score(tmp_path, OpenEvaluator(), annotations, {"1": "Answer: 7 (of 9)"})
    reference, _ = score(tmp_path, OpenEvaluator(rule="reference"), annotations, {"1": "Answer: 7 (of 9)"})
    assert reference["metrics"][0]["settings"]["rule"] == "reference"
    assert (careful["accuracy"], reference["accuracy"]) == (100.0, 0.0)
    assert careful["rule_disagreements"] == reference["rule_disagreements"] == 1


def test_an_answer_that_its_type_does_not_know_leaves_the_question_unscored(tmp_path, caplog):
    annotations = {"1": typed("integer", "many"), "2": typed("integer", 7)}
    result, _ = score(tmp_path, OpenEvaluator(), annotations, {"1": "7", "2": "7"})
    assert (result["accuracy"], result["counts"]["unscored"]) == (100.0, 1)
    assert "question_id '1'" in caplog.text


CAPTIONS = {
    "1": {"question_type": "caption", "answer": ["a red dog runs", "the dog is red"]},
    "2": {"question_type": "caption", "answer": ["a blue boat"]},
}


def test_captions_equal_to_a_reference_score_full_marks(tmp_path):
    result, _ = score(tmp_path, CocoEvaluator(), CAPTIONS, {"1": "A red dog runs.", "2": "a blue boat"})
    assert [result[f"Bleu_{order}"] for order in (1, 2, 3)] == [1, 1, 1]
    assert result["ROUGE_L"] == 1
    assert result["CIDEr"] > 1
    assert result["headline"] == "CIDEr"


def test_a_caption_that_failed_counts_as_an_empty_one(tmp_path):
    answers = {"1": "a red dog runs", "2": "a blue boat"}
    whole, _ = score(tmp_path, CocoEvaluator(), CAPTIONS, answers)
    half, _ = score(tmp_path, CocoEvaluator(), CAPTIONS, answers | {"2": None})
    assert half["ROUGE_L"] == whole["ROUGE_L"] / 2
    # Bleu-1: all 4 of 4 words are right, and the penalty for 4 words instead of 7 is exp(1 - 7/4).
    assert half["Bleu_1"] == pytest.approx(np.exp(1 - 7 / 4), abs=1e-6)


SIGNS = {
    "1": {"question_type": "short-answer", "answer": ["stop"] * 8 + ["stop sign", "go"]},
    "2": {"question_type": "short-answer", "answer": ["two"] * 3 + ["three"] * 7},
}


def test_short_answers_of_ten_people_have_a_vqa_accuracy_called_accuracy(tmp_path):
    result, entries = score(tmp_path, CocoEvaluator(), SIGNS, {"1": "Stop.", "2": "2"})
    # "2" equals three of ten: three people see two others (2/3), seven see three (1): 0.9.
    assert [entry["correct"] for entry in entries.values()] == [1.0, pytest.approx(0.9)]
    assert (result["accuracy"], result["headline"], result["n"]) == (95.0, "accuracy", 2)
    assert len(result["accuracy_interval"]) == 2
    assert "CIDEr" not in result


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("So \\boxed{\\frac{1}{2}}.", "\\frac{1}{2}"),
        ("\\boxed{3}, no: \\boxed{4}", "4"),
        ("The answer is B.", "B"),
        ("the answer is: 7", "7"),
        ("My first answer is 5.\nFinal Answer: 3.5!", "3.5"),
        ("答案为: 5。", "5"),
        (" 42 ", "42"),
        ("", ""),
    ],
)
def test_a_boxed_or_stated_answer_is_read(reply, read):
    assert box_evaluator.extract_answer(reply) == read


def test_a_box_has_to_hold_the_reference_word_for_word(tmp_path):
    annotations = {key: {"question_type": "open", "answer": "4"} for key in "123"}
    evaluator = EVALUATORS.lookup("BoxEvaluator")()
    result, entries = score(tmp_path, evaluator, annotations, {"1": "\\boxed{4}", "2": "\\boxed{4.0}", "3": None})
    assert ([entry["correct"] for entry in entries.values()], result["accuracy"]) == ([1, 0, 0], 33.33)


THIRDS = {str(number): {"question_type": "short-answer", "answer": ["red"] * 10} for number in range(3)}


@pytest.mark.parametrize(
    ("settings", "shown"),
    [({}, 66.67), ({"keep_digital": 2}, 66.67), ({"keep_digital": 4}, 66.6667), ({"keep_digital": 0}, 67.0)],
)
def test_a_vqa_accuracy_has_as_many_decimals_as_were_asked_for(tmp_path, settings, shown):
    answers = {"0": "red", "1": "Red.", "2": "blue"}
    evaluator = CocoEvaluator(detailed_keys=["question_type"], **settings)
    result, _ = score(tmp_path, evaluator, THIRDS, answers)
    assert (result["accuracy"], result["short-answer"]) == (shown, shown)
    assert (result["n"], len(result["accuracy_interval"])) == (3, 2)  # rounding makes it no other number
    predictions = [{"question_id": key, "answer": text} for key, text in answers.items()]
    assert CocoEvaluator(**settings).cal_accuracy(THIRDS, predictions)["accuracy"] == shown


def test_a_number_of_decimals_is_no_negative_one():
    with pytest.raises(ConfigError, match="keep_digital: expected a number of decimals, 0 or more, found -1"):
        CocoEvaluator(keep_digital=-1)


def test_what_is_scored_as_captions_may_be_said(tmp_path):
    annotations = {key: {**item, "question_type": "open"} for key, item in CAPTIONS.items()}
    result, _ = score(tmp_path, CocoEvaluator(captions=True), annotations, {"1": "A red dog runs.", "2": "a blue boat"})
    assert (result["headline"], result["ROUGE_L"]) == ("CIDEr", 1)


class Pictures(Annotated):
    caption_per_image = 2


def matrix(folder, rows):
    np.save(folder / "t.npy", np.array(rows))


def test_recall_is_counted_over_pictures_and_over_captions(tmp_path):
    # Picture 0 owns captions 0 and 1, picture 1 owns 2 and 3. Picture 1 finds a caption of picture 0 first; captions
    # 1 and 2 find the other one's picture first.
    matrix(tmp_path, [[0.9, 0.8, 0.7, 0.1], [0.2, 0.85, 0.6, 0.5]])
    result = RetrievalEvaluator().process(Pictures({}), tmp_path)
    assert (result["i2t_R@1"], result["t2i_R@1"]) == (50.0, 50.0)
    assert (result["i2t_R@5"], result["t2i_R@10"]) == (100.0, 100.0)
    assert result["mean_recall"] == pytest.approx((50 + 50 + 4 * 100) / 6)
    assert next(iter(result)) == "mean_recall"
    assert read_json(tmp_path / "t_result.json")["evaluator"] == "RetrievalEvaluator"


def test_captions_per_picture_may_be_a_setting(tmp_path):
    matrix(tmp_path, np.eye(4))
    result = RetrievalEvaluator(captions_per_image=1).process(Annotated({}), tmp_path)
    assert result["mean_recall"] == 100.0


def test_a_lost_matrix_is_told(tmp_path):
    with pytest.raises(DataError, match=r"t\.npy: no such file; it holds the similarity"):
        RetrievalEvaluator().process(Annotated({}), tmp_path)


SHORT = {
    "1": {"question_type": "short-answer", "answer": "cat"},
    "2": {"question_type": "short-answer", "answer": "boat"},
}
PARTS = [{"type": "BaseEvaluator"}, {"type": "MetricEvaluator", "metrics": "anls"}]


def test_results_of_several_evaluators_are_joined_and_the_first_gives_the_headline(tmp_path):
    evaluator = AggregationEvaluator(evaluators=PARTS)
    result, evaluated = score(tmp_path, evaluator, SHORT, {"1": "cat", "2": "boats"})
    assert (result["accuracy"], result["anls"], result["headline"]) == (50.0, 90.0, "accuracy")
    assert result["MetricEvaluator.headline"] == "anls"
    assert result["evaluator"] == "AggregationEvaluator"
    assert evaluated["1"]["correct"] == 1
    assert evaluated["2"]["correct"] == 0


def test_an_aggregation_needs_parts(tmp_path):
    with pytest.raises(ConfigError, match="evaluators: name at least one evaluator"):
        AggregationEvaluator(evaluators=[])
    with pytest.raises(ConfigError, match="Nobody"):
        AggregationEvaluator(evaluators=[{"type": "Nobody"}])


def test_a_part_that_fails_leaves_the_files_as_they_were(tmp_path):
    _, before = score(tmp_path, AggregationEvaluator(evaluators=PARTS), SHORT, {"1": "cat", "2": "boat"})
    failing = AggregationEvaluator(evaluators=[*PARTS, {"type": "RetrievalEvaluator"}])
    with pytest.raises(DataError):
        failing.process(Annotated(SHORT), tmp_path)
    assert {entry["question_id"]: entry for entry in read_json(tmp_path / "t_evaluated.json")} == before
    assert read_json(tmp_path / "t_result.json")["accuracy"] == 100.0
