"""The table by subset: names, numbers and order as EvalScope's users know them."""

from __future__ import annotations

import csv
import json
from decimal import Decimal

import pytest

from flagmm.paths import RunPaths
from flagmm.report.general_table import draw_report, metric_label, percent_text, subset_scores
from flagmm.report.summary import write_summaries
from flagmm.types import Counts, TaskResult


def result(groups, task="general_vqa", **metrics):
    details = {"groups": {"subset": groups}} if groups else {}
    return TaskResult(task=task, metrics=metrics, counts=Counts(asked=5, answered=5), details=details)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("bleu-1", "BLEU ↑ · 1"),
        ("Rouge-1-R", "ROUGE ↑ · 1 · Recall"),
        ("Rouge-2-P", "ROUGE ↑ · 2 · Precision"),
        ("rouge-l-f", "ROUGE ↑ · L · F1"),
        ("accuracy", "Accuracy ↑"),
        ("anls", "anls"),
    ],
)
def test_metrics_are_named_with_arrow_and_variant(name, label):
    assert metric_label(name) == label


@pytest.mark.parametrize(
    ("score", "text"),
    [
        (100.0, "100%"),
        (0.0, "0%"),
        (2.86, "2.9%"),
        (71.25, "71.3%"),
        (71.24, "71.2%"),
        (0.05, "0.1%"),
        (20.0, "20%"),
        (19.96, "20%"),
        (50, "50%"),
    ],
)
def test_percentages_have_one_decimal_half_up(score, text):
    assert percent_text(Decimal(str(score))) == text


@pytest.mark.parametrize(
    ("metric", "score", "text"),
    [
        ("bleu-1", 0.7125, "71.3%"),
        ("Rouge-L-R", 0.0286, "2.9%"),
        ("Rouge-1-F", 1.0, "100%"),
        ("bleu-4", 0, "0%"),
        ("accuracy", 77.78, "77.8%"),
        ("accuracy", None, "-"),
    ],
)
def test_fractions_and_percentages_are_shown_alike(metric, score, text):
    [row] = subset_scores(result({"a": {metric: score, "n": 1}}))
    assert percent_text(row.percent) == text


@pytest.mark.parametrize(
    ("metric", "score", "text"),
    [
        ("bleu-2", 0.0515, "5.1%"),  # 0.0515 * 100 is 5.1499999999999995
        ("bleu-2", 0.2125, "21.3%"),  # recorded
        ("Rouge-2-F", 0.1895, "19%"),  # recorded
        ("Rouge-L-R", 0.0295, "2.9%"),
        ("bleu-1", 0.0005, "0.1%"),
        ("accuracy", 5.15, "5.1%"),
        ("accuracy", 71.25, "71.3%"),
    ],
)
def test_a_half_is_rounded_by_what_the_fraction_times_100_is(metric, score, text):
    [row] = subset_scores(result({"a": {metric: score, "n": 1}}))
    assert percent_text(row.percent) == text


def test_the_overall_row_is_the_mean_of_the_subsets_rounded_scores():
    groups = {"a": {"bleu-2": 0.3333, "accuracy": 33.33, "n": 3}, "b": {"bleu-2": 0.1429, "accuracy": 14.29, "n": 7}}
    run_s_own = {"bleu-2": 2 / 10, "accuracy": 20.0}
    rows = {row.metric: row for row in subset_scores(result(groups, **run_s_own)) if row.subset == "OVERALL"}
    assert (rows["bleu-2"].score, rows["accuracy"].score) == (0.2, 20.0)
    groups["b"] = {"bleu-2": 0.1437, "accuracy": 14.37, "n": 7}
    rows = {row.metric: row for row in subset_scores(result(groups, **run_s_own)) if row.subset == "OVERALL"}
    assert (rows["bleu-2"].score, rows["accuracy"].score) == (0.2006, 20.06)
    assert percent_text(rows["accuracy"].percent) == "20.1%"


def test_a_subset_without_a_score_weighs_nothing_in_the_overall_row():
    groups = {"a": {"accuracy": 50.0, "n": 2}, "b": {"accuracy": None, "n": 3}}
    assert [row.score for row in subset_scores(result(groups, accuracy=50.0))] == [50.0, None, 50.0]


def test_the_overall_of_what_is_no_mean_is_the_runs_own():
    groups = {"a": {"f1": 50.0, "n": 2}, "b": {"f1": 100.0, "n": 2}}
    assert [row.score for row in subset_scores(result(groups, f1=66.67))] == [50.0, 100.0, 66.67]


def test_one_subset_has_no_overall_row():
    rows = subset_scores(result({"a": {"accuracy": 50.0, "n": 2}}, accuracy=50.0))
    assert [(row.label, row.subset, row.num, row.score) for row in rows] == [("Accuracy ↑", "a", 2, 50.0)]


def test_several_subsets_have_an_overall_row_for_each_metric():
    groups = {"a": {"bleu-1": 1.0, "Rouge-L-R": 2.0, "n": 2}, "b": {"bleu-1": 3.0, "Rouge-L-R": 4.0, "n": 3}}
    rows = subset_scores(result(groups, **{"Rouge-L-R": 3.2, "bleu-1": 2.2}), order=["b", "a"])
    assert [(row.metric, row.subset, row.num, row.score) for row in rows] == [
        ("bleu-1", "b", 3, 3.0),
        ("bleu-1", "a", 2, 1.0),
        ("bleu-1", "OVERALL", 5, 2.2),
        ("Rouge-L-R", "b", 3, 4.0),
        ("Rouge-L-R", "a", 2, 2.0),
        ("Rouge-L-R", "OVERALL", 5, 3.2),
    ]


def test_errors_and_intervals_are_no_rows():
    groups = {"a": {"accuracy": 50.0, "n": 2, "accuracy_stderr": 3.0, "accuracy_interval": [1.0, 99.0]}}
    assert [row.metric for row in subset_scores(result(groups, accuracy=50.0))] == ["accuracy"]


def test_a_subset_without_a_score_has_a_dash(tmp_path):
    text = draw_report([result({"a": {"accuracy": None, "n": 0}}, accuracy=None)], RunPaths(tmp_path))
    assert "| Accuracy ↑ | a        |     0 |       - | default |" in text


def test_the_table_stands_as_in_the_document(tmp_path):
    run = RunPaths(tmp_path)
    config = {"model": {"model_name": "qwen-vl-plus"}, "task": {"dataset": {"subset_list": ["example_openai"]}}}
    run.task("general_vqa").folder.mkdir()
    run.task("general_vqa").config.write_text(json.dumps(config), encoding="utf-8")
    groups = {"example_openai": {"accuracy": 100.0, "n": 5}}
    assert draw_report([result(groups, accuracy=100.0)], run).split("\n\n") == [
        "+--------------+-------------+------------+----------------+-------+---------+---------+\n"
        "| Model        | Dataset     | Metric     | Subset         |   Num |   Score | Cat.0   |\n"
        "+==============+=============+============+================+=======+=========+=========+\n"
        "| qwen-vl-plus | general_vqa | Accuracy ↑ | example_openai |     5 |    100% | default |\n"
        "+--------------+-------------+------------+----------------+-------+---------+---------+",
        "general_vqa: all 5 answered",
    ]


def test_results_without_subsets_keep_their_own_table(tmp_path):
    results = [result({"a": {"accuracy": 1.0, "n": 1}}, accuracy=1.0), result({}, task="colours", accuracy=2.0)]
    first, second = draw_report(results, RunPaths(tmp_path)).split("\n\n")[::2]
    assert "colours" not in first
    assert second.splitlines()[0].split() == ["Task", "Metric", "Score", "Asked", "Answered", "Failed", "Truncated"]
    assert second.splitlines()[2].split()[:2] == ["colours", "accuracy"]


def test_the_summary_files_have_the_scores_by_subset(tmp_path):
    groups = {"a": {"accuracy": 50.0, "n": 2}, "b": {"accuracy": 100.0, "n": 1}}
    write_summaries([result(groups, accuracy=66.67)], RunPaths(tmp_path))
    [task] = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["tasks"]
    assert [(row["subset"], row["num"], row["score"]) for row in task["subsets"]] == [
        ("a", 2, 50.0),
        ("b", 1, 100.0),
        ("OVERALL", 3, 66.67),
    ]
    with open(tmp_path / "summary.csv", encoding="utf-8", newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["subset"]]
    assert [(line["metric"], line["subset"], line["num"], line["score"]) for line in lines] == [
        ("accuracy", "a", "2", "50.0"),
        ("accuracy", "b", "1", "100.0"),
        ("accuracy", "OVERALL", "3", "66.67"),
    ]
    rows = [line for line in (tmp_path / "summary.md").read_text(encoding="utf-8").splitlines() if "Accuracy" in line]
    assert [[cell.strip() for cell in row.split("|")][4:7] for row in rows] == [
        ["a", "2", "50%"],
        ["b", "1", "100%"],
        ["OVERALL", "3", "66.7%"],
    ]
