"""The numbers of metrics, and what stands beside them in `_result.json`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flagmm.evaluator import MetricEvaluator, VqaEvaluator
from flagmm.evaluator.aggregate import accuracy
from flagmm.evaluator.metric import JudgeableMetric, Metric, build_metric, describe
from flagmm.evaluator.scores import score_metric, score_run
from flagmm.registry import METRICS
from tests.evaluator.judged_items import JUDGE_FAILED, RIGHT, WRONG, judged


class Balanced(Metric):
    """A metric of a task's own whose "accuracy" is no mean of its questions."""

    def summarize(self, items):
        return {"accuracy": 90.0, "other": 1.0}


class Named(Metric):
    name = "hits"


class Extended(Metric):
    """Another headline, with the mean beside it."""

    name = "f1"

    def summarize(self, items):
        return {"accuracy": accuracy(items), "f1": 80.0}


class OwnN(Metric):
    def summarize(self, items):
        return {"accuracy": accuracy(items), "n": "own"}


class Nameless(Metric):
    name = "gone"

    def summarize(self, items):
        return {"first": 3.0}


FOUR = [judged(RIGHT, topic="a")] * 3 + [judged(WRONG, topic="b")]
ERRORS = {"accuracy_stderr": 25.0, "accuracy_interval": [30.06, 95.44]}


@pytest.mark.parametrize(
    ("metric", "numbers", "headline"),
    [
        pytest.param(Metric(), {"accuracy": 75.0, "n": 4, **ERRORS}, "accuracy", id="the mean"),
        pytest.param(
            Named(), {"hits": 75.0, "n": 4, "hits_stderr": 25.0, "hits_interval": [30.06, 95.44]}, "hits", id="any name"
        ),
        pytest.param(Extended(), {"accuracy": 75.0, "f1": 80.0, "n": 4, **ERRORS}, "f1", id="beside the headline"),
        pytest.param(Balanced(), {"accuracy": 90.0, "other": 1.0, "n": 4}, "accuracy", id="no mean of that name"),
        pytest.param(OwnN(), {"accuracy": 75.0, "n": "own", **ERRORS}, "accuracy", id="what the metric says is kept"),
        pytest.param(Nameless(), {"first": 3.0, "n": 4}, "first", id="no number of the metric's name"),
        pytest.param(JudgeableMetric(Extended()), {"accuracy": 75.0, "f1": 80.0, "n": 4, **ERRORS}, "f1", id="judged"),
    ],
)  # fmt: skip
def test_the_mean_has_n_error_and_interval_beside_it(metric, numbers, headline):
    found = score_metric(metric, FOUR)
    assert (found.numbers, found.headline) == (numbers, headline)
    assert found.headline_is_mean is (f"{headline}_interval" in numbers)


def test_n_is_the_denominator():
    found = score_metric(Metric(), [*FOUR, judged(JUDGE_FAILED), judged("failed"), judged(RIGHT, scorable=False)])
    assert (found.numbers["accuracy"], found.numbers["n"]) == (60.0, 5)


def run(*metrics, items=FOUR, keys=(), cluster_by=None):
    return score_run(metrics, [items] * len(metrics), keys=keys, cluster_by=cluster_by)


def test_the_first_metric_gives_the_headline_and_keeps_its_numbers():
    metrics = build_metric({"type": Named}, where="t"), build_metric({"type": Extended}, where="t")
    result = run(metrics[0], *metrics, metrics[1])
    assert (result["headline"], result["hits"], result["n"]) == ("hits", 75.0, 4)
    assert (result["Named_2.hits"], result["Named_2.hits_stderr"]) == (75.0, 25.0)
    assert (result["f1"], result["accuracy"], result["accuracy_stderr"]) == (80.0, 75.0, 25.0)
    assert result["Extended_4.f1"] == 80.0


def test_the_accuracy_s_keys_stay_for_a_mean_of_another_name():
    result = run(Named())
    assert (result["accuracy_answered"], result["accuracy_interval"]) == (75.0, [30.06, 95.44])


def test_micro_and_macro_are_told_by_name():
    result = run(Extended(), items=[judged(RIGHT, topic="a")] * 3 + [judged(WRONG, topic="b")], keys=["topic"])
    assert (result["micro"], result["macro"], result["a"]) == (80.0, {"topic": 80.0}, 80.0)
    plain = run(Metric(), keys=["topic"])
    assert (plain["micro"], plain["macro"]) == (75.0, {"topic": 50.0})
    assert [plain["groups"]["topic"][name]["n"] for name in "ab"] == [3, 1]


@pytest.mark.parametrize("items", [[], [judged(RIGHT, scorable=False)]])
def test_nothing_to_score_is_no_quiet_0(items):
    result = run(Metric(), items=items, keys=["topic"])
    assert (result["accuracy"], result["n"], result["accuracy_stderr"]) == (None, 0, None)
    assert (result["accuracy_interval"], result["micro"], result["macro"]) == (None, None, {"topic": None})


def test_a_metric_is_described_with_its_defaults():
    assert describe(build_metric({"type": "anls", "threshold": 0.3}, where="t")) == {
        "name": "anls", "version": 1, "normaliser": None, "settings": {"threshold": 0.3},
    }  # fmt: skip
    described = describe(build_metric("vqa_accuracy", where="t"))
    assert (described["normaliser"], described["settings"]) == (
        "vqa_normalizer", {"variant": "vqa", "rule": "reference"},
    )  # fmt: skip


def test_a_judge_does_not_hide_which_metric_it_is():
    metric = build_metric("pope", where="t")
    assert describe(JudgeableMetric(metric)) == describe(metric)


def test_secrets_among_a_metric_s_settings_are_masked():
    class Asking(Metric):
        version = 7

        def __init__(self, api_key, place=Path("here")):
            self.asks = api_key

    with METRICS.local():
        METRICS.register_module(name="asking", module=Asking)
        described = describe(build_metric({"type": "asking", "api_key": "sk-1"}, where="t"))
    assert described == {
        "name": "asking", "version": 7, "normaliser": None, "settings": {"place": "here", "api_key": "***"},
    }  # fmt: skip


class Annotated:
    name = "t"

    def __init__(self, annotations):
        self.annotations = annotations

    def get_annotation(self):
        return self.annotations


def evaluate(folder, evaluator, annotations, answers):
    records = [{"question_id": key, "answer": answer} for key, answer in answers.items()]
    (folder / "t.json").write_text(json.dumps(records))
    return evaluator.process(Annotated(annotations), folder)


def repeated(*texts):
    return {f"inference_{number}": text for number, text in enumerate(texts)}


def test_repeats_of_pope_are_runs_of_f1(tmp_path):
    annotations = {"1": {"answer": "yes"}, "2": {"answer": "yes"}, "3": {"answer": "no"}}
    answers = {"1": repeated("Yes", "Yes"), "2": repeated("No", "Yes"), "3": repeated("No", "Yes")}
    result = evaluate(tmp_path, MetricEvaluator(metrics="pope"), annotations, answers)
    # F1 of the first run: precision 1, recall 1/2; of the second: precision 2/3, recall 1.
    assert result["repeats"]["scores"] == [66.67, 80.0]
    assert (result["repeats"]["mean"], result["repeats"]["std"]) == (73.33, 9.43)  # of 2/3 and 4/5, not of 66.67
    assert result["repeats"]["pass_at_k"] == {"1": 66.67, "2": 100.0}
    assert (result["repeats"]["majority_vote"], result["repeats"]["majority_ties"]) == (66.67, 2)
    assert (result["headline"], "f1_interval" in result, result["accuracy"]) == ("f1", False, 66.67)


def test_repeats_of_a_share_pass_with_a_full_mark_only(tmp_path):
    answers = {"1": repeated("red", "crimson", "red")}  # three of ten said crimson: 0.9
    annotations = {"1": {"answer": ["red"] * 7 + ["crimson"] * 3}}
    result = evaluate(tmp_path, VqaEvaluator(), annotations, answers)
    assert (result["headline"], result["repeats"]["scores"]) == ("vqa_accuracy", [100.0, 90.0, 100.0])
    assert result["repeats"]["pass_at_k"] == {"1": 66.67, "2": 100.0, "3": 100.0}
    assert result["repeats"]["majority_vote"] == 100.0
    assert (result["n"], result["vqa_accuracy_stderr"]) == (1, None)


def test_captions_have_no_interval_as_no_caption_has_a_mark(tmp_path):
    annotations = {"1": {"answer": ["a red cat"]}, "2": {"answer": ["a blue dog on a mat"]}}
    answers = {"1": "a red cat", "2": "a dog on a mat"}
    result = evaluate(tmp_path, MetricEvaluator(metrics="coco_caption"), annotations, answers)
    assert (result["headline"], result["n"]) == ("CIDEr", 2)
    assert not result.keys() & {"accuracy", "accuracy_answered", "accuracy_interval", "CIDEr_interval", "interval"}


def test_macro_is_the_mean_of_what_was_not_rounded():
    right = {"a": 1, "b": 1, "c": 4}  # of six each: 16.666, 16.666 and 66.666; rounded they have the mean 33.34
    items = [judged(RIGHT if place < right[name] else WRONG, topic=name) for name in right for place in range(6)]
    assert run(Metric(), items=items, keys=["topic"])["macro"] == {"topic": 33.33}


def test_groups_of_the_same_value_or_of_a_taken_name_are_told_apart():
    items = [judged(RIGHT, topic="x", kind="x"), judged(WRONG, topic="x", kind="n"), judged("failed", topic="accuracy")]
    result = run(Metric(), items=items, keys=["topic", "kind"])
    assert (result["topic.x"], result["kind.x"]) == (50.0, 100.0)
    assert (result["topic.accuracy"], result["kind.n"]) == (0.0, 0.0)
    assert (result["accuracy"], result["n"]) == (33.33, 3)
    assert "x" not in result
    counts = result["groups"]["topic"]["accuracy"]["counts"]
    assert (counts["asked"], counts["answered"], counts["failed"]) == (1, 0, 1)
