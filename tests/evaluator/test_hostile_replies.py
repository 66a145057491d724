"""A reply that a rule fails on costs that reply alone; tokens of chat templates around a reply cost nothing."""

from __future__ import annotations

import inspect
import json
import logging

import pytest

from flagmm.errors import DataError
from flagmm.evaluator.base_evaluator import BaseEvaluator
from flagmm.evaluator.metric import Metric
from flagmm.evaluator.metric_evaluator import MetricEvaluator
from flagmm.evaluator.open_evaluator import OpenEvaluator
from flagmm.evaluator.other_evaluators import AggregationEvaluator
from flagmm.evaluator.verdict import Verdict
from flagmm.jsonio import read_json
from flagmm.registry import METRICS
from tests.evaluator.test_base_evaluator import Annotated

ERROR = "ZeroDivisionError: no such value"
SAID_200_TIMES = "one " + "hundred " * 200


class Fragile(Metric):
    """Fails on one reply."""

    def score(self, text, annotation):
        if text == "bad":
            raise ZeroDivisionError("no such value")
        return Verdict(correct=float(text == annotation["answer"]), extracted=text, rule="whole_text")


def fragile(**settings):
    evaluator = BaseEvaluator(**settings)
    evaluator.metrics = [Fragile()]
    return evaluator


def process(folder, evaluator, replies, annotation):
    """`_result.json` and the entries of `_evaluated.json` by id; all questions have the same annotation."""
    records = [{"question_id": key, "answer": reply, "status": "ok"} for key, reply in replies.items()]
    (folder / "t.json").write_text(json.dumps(records), encoding="utf-8")
    result = evaluator.process(Annotated(dict.fromkeys(replies, annotation)), folder)
    return result, {entry["question_id"]: entry for entry in read_json(folder / "t_evaluated.json")}


def test_what_a_rule_raises_costs_that_answer_and_is_told_with_its_id(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        result, entries = process(tmp_path, fragile(), {"q1": "7", "q2": "bad", "q3": "7"}, {"answer": "7"})
    assert result["accuracy"] == 66.67
    assert (result["counts"]["answered"], result["counts"]["unparsed"]) == (3, 1)
    assert result["rules"] == {"rule_failed": 1, "whole_text": 2}
    failed = entries["q2"]
    assert (failed["correct"], failed["extracted"], failed["rule"]) == (0.0, None, "rule_failed")
    assert failed["rule_error"].startswith(ERROR)
    assert failed["raw_answer"] == "bad"
    assert "rule_error" not in entries["q1"]
    (told,) = (record.getMessage() for record in caplog.records)
    assert told.startswith(f"Fragile: the rule failed on 1 answers, which count as wrong: q2 ({ERROR}")


def test_of_a_repeated_question_the_failure_costs_one_repetition(tmp_path):
    replies = {"q1": {"inference_0": "7", "inference_1": "bad"}}
    result, entries = process(tmp_path, fragile(), replies, {"answer": "7"})
    assert result["accuracy"] == 50
    assert entries["q1"]["inference_scores"] == [1.0, 0.0]
    first, second = entries["q1"]["rule_error"]
    assert (first, second.startswith(ERROR)) == (None, True)


def test_scoring_of_its_own_that_calls_the_built_in_goes_on_too(tmp_path):
    class Own(BaseEvaluator):
        def cal_accuracy(self, annotations, predictions, *args, **settings):
            return super().cal_accuracy(annotations, predictions)

    evaluator = Own()
    evaluator.metrics = [Fragile()]
    result, entries = process(tmp_path, evaluator, {"q1": "7", "q2": "bad"}, {"answer": "7"})
    assert result["accuracy"] == 50
    assert entries["q2"]["rule_error"].startswith(ERROR)


def test_a_rule_that_cannot_work_at_all_still_ends_the_scoring(tmp_path):
    class Broken(Metric):
        def score(self, text, annotation):
            raise DataError("mask.png: no such file")

    evaluator = BaseEvaluator()
    evaluator.metrics = [Broken()]
    with pytest.raises(DataError, match=r"mask\.png"):
        process(tmp_path, evaluator, {"q1": "7"}, {"answer": "7"})


@pytest.mark.parametrize(
    ("evaluator", "annotation"),
    [
        pytest.param(MetricEvaluator(metrics="fill_blank"), {"answer": "100"}, id="fill_blank"),
        pytest.param(OpenEvaluator(), {"answer": 100, "answer_type": "integer"}, id="integer"),
        pytest.param(OpenEvaluator(), {"answer": [100], "answer_type": "float"}, id="list"),
        pytest.param(MetricEvaluator(metrics="mean_relative_accuracy"), {"answer": 7}, id="mean_relative_accuracy"),
        pytest.param(
            AggregationEvaluator(evaluators=[{"type": "MetricEvaluator", "metrics": "fill_blank"}]),
            {"answer": "100"},
            id="joined",
        ),
    ],
)
@pytest.mark.parametrize("reply", [SAID_200_TIMES, "hundred " * 5000, "1e999999", "9" * 5000, "1/" + "0" * 400])
def test_a_number_beyond_all_bounds_is_a_wrong_answer(tmp_path, evaluator, annotation, reply):
    right = str(annotation["answer"]).strip("[]")
    result, entries = process(tmp_path, evaluator, {"q1": reply, "q2": right}, annotation)
    assert (entries["q1"]["correct"], entries["q2"]["correct"]) == (0.0, 1.0)
    assert "rule_error" not in entries["q1"]
    assert result["counts"]["answered"] == 2


LABELLED = {"answer": "A", "options": ["red kite", "blue"], "question_type": "multiple-choice"}
OF_YES_NO = {"answer": "yes", "question_type": "yes-no"}
OF_FIGURE = {"category": "VD", "subcategory": "map", "set_id": "0", "figure_id": "1", "question_number": "0"}
RIGHT = {
    "by_type": ("2011", {"answer": "2011", "question_type": "short-answer"}),
    "vqa_accuracy": ("2011", {"answer": ["2011"] * 10}),
    "anls": ("2011", {"answer": ["2011"]}),
    "relaxed_accuracy": ("2011", {"answer": "2011"}),
    "ocrbench": ("2011", {"answer": ["2011"]}),
    "fill_blank": ("2011", {"answer": "2011"}),
    "multiple_response": ("A", LABELLED),
    "yes_no": ("Yes", OF_YES_NO),
    "pope": ("Yes", OF_YES_NO),
    "mme": ("Yes", OF_YES_NO),
    "hallusionbench": ("Yes", OF_YES_NO | OF_FIGURE),
    "mmmu": ("A", LABELLED),
    "mmmu_subjects": ("A", LABELLED),
    "mmmu_pro": ("Answer: A", LABELLED),
    "vlmevalkit": ("2011", {"answer": "2011"}),
    "vlmevalkit_mcq": ("A", LABELLED),
    "vlmevalkit_choice": ("A", LABELLED),
    "vlmevalkit_yes_no": ("Yes", OF_YES_NO),
    "vlmevalkit_vqa": ("2011", {"answer": "2011"}),
    "mathvista": ("2011", {"answer": "2011", "answer_type": "integer"}),
    "mathvision": ("2011", {"answer": "2011"}),
    "math_equal": ("2011", {"answer": "2011"}),
    "iou": ("[1, 2, 30, 40]", {"answer": [1, 2, 30, 40]}),
    "mean_relative_accuracy": ("2011", {"answer": 2011}),
    "typed_open": ("2011", {"answer": 2011, "answer_type": "integer"}),
    "general_vmcq": ("Answer: A", LABELLED),
}
BY_TEXT_OR_MASK = {"coco_caption", "general_vqa", "point_in_mask"}


def test_every_metric_has_a_case():
    assert set(RIGHT) == set(METRICS.names()) - BY_TEXT_OR_MASK


@pytest.mark.parametrize("name", sorted(RIGHT))
@pytest.mark.parametrize("rule", ["reference", "careful"])
def test_tokens_of_a_chat_template_change_no_score(tmp_path, name, rule):
    reply, annotation = RIGHT[name]
    has_rule = "rule" in inspect.signature(METRICS.lookup(name)).parameters
    settings = {"type": name, **({"rule": rule} if has_rule else {})}
    dressed = {"q1": f"{reply}<|im_end|>", "q2": f"{reply}</s>", "q3": f"<|im_start|>assistant\n{reply}<|eot_id|>\n"}
    _, entries = process(tmp_path, MetricEvaluator(metrics=settings), {"q0": reply, **dressed}, annotation)
    assert {key: entry["correct"] for key, entry in entries.items()} == dict.fromkeys(["q0", *dressed], 1.0)
    assert {key: entry["raw_answer"] for key, entry in entries.items()} == {"q0": reply, **dressed}


@pytest.mark.parametrize("name", ["coco_caption", "general_vqa"])
def test_nor_do_they_change_scores_of_texts(tmp_path, name):
    annotation = {"answer": ["a red kite in the sky"]}
    numbers = [
        {key: value for key, value in result.items() if isinstance(value, float)}
        for text in ("a red kite over trees", "a red kite over trees<|im_end|>")
        for result, _ in [process(tmp_path, MetricEvaluator(metrics=name), {"q1": text}, annotation)]
    ]
    assert numbers[0] == numbers[1] != {}


def test_scoring_of_its_own_gets_the_answer_without_tokens_and_keeps_the_raw_one(tmp_path):
    seen = []

    def get_result(annotations, predictions):
        seen.extend(prediction["answer"] for prediction in predictions)
        return {"accuracy": 100.0}

    _, entries = process(tmp_path, BaseEvaluator(eval_func=get_result), {"q1": "2011<|im_end|>"}, {"answer": "2011"})
    assert seen == ["2011"]
    assert entries["q1"]["raw_answer"] == "2011<|im_end|>"


@pytest.mark.parametrize("lacking", ["category", "figure_id", "set_id"])
def test_a_question_without_its_figure_costs_no_run_and_counts_in_aacc_alone(tmp_path, caplog, lacking):
    records = [{"question_id": key, "answer": "Yes", "status": "ok"} for key in ("q1", "q2")]
    (tmp_path / "t.json").write_text(json.dumps(records), encoding="utf-8")
    whole = OF_YES_NO | OF_FIGURE
    part = {key: value for key, value in whole.items() if key != lacking} | {"answer": "no"}
    dataset = Annotated({"q1": whole, "q2": part})
    result = MetricEvaluator(metrics="hallusionbench", group_by=["subcategory"]).process(dataset, tmp_path)
    assert (result["aAcc"], result["fAcc"], result["qAcc"]) == (50, 100, 100)
    [told] = [record.getMessage() for record in caplog.records if "aAcc alone" in record.getMessage()]
    assert lacking in told
    assert "q2" in told


@pytest.mark.parametrize("status", ["ok", None])
def test_a_reply_of_nothing_but_chat_tokens_is_empty(tmp_path, status):
    records = [
        {"question_id": "q1", "answer": "<|im_start|>assistant\n<|im_end|>", **({"status": status} if status else {})},
        {"question_id": "q2", "answer": {"inference_0": "</s>", "inference_1": "7</s>"}},
    ]
    (tmp_path / "t.json").write_text(json.dumps(records), encoding="utf-8")
    counts = fragile().process(Annotated({"q1": {"answer": "7"}, "q2": {"answer": "7"}}), tmp_path)["counts"]
    assert (counts["empty"], counts["answered"]) == (2, 1)
