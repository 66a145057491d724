"""The metrics `iou`, `point_in_mask` and `mean_relative_accuracy`."""

from __future__ import annotations

import json

import pytest
from PIL import Image

from flagmm.errors import ConfigError, DataError
from flagmm.evaluator.metric import build_metric
from flagmm.evaluator.metric_evaluator import MetricEvaluator
from flagmm.jsonio import read_json
from tests.evaluator.test_base_evaluator import Annotated

SQUARE = [0, 0, 10, 10]


def process(folder, metric, items):
    """`_result.json` and the entries of `_evaluated.json` for {id: (annotation, reply)}."""
    records = [{"question_id": key, "answer": reply, "status": "ok"} for key, (_, reply) in items.items()]
    (folder / "t.json").write_text(json.dumps(records))
    annotations = {key: {"data_root": str(folder), **annotation} for key, (annotation, _) in items.items()}
    result = MetricEvaluator(metrics=metric).process(Annotated(annotations), folder)
    return result, read_json(folder / "t_evaluated.json")


def test_the_share_of_hits_and_the_mean_overlap(tmp_path):
    items = {
        "whole": ({"answer": SQUARE}, "[0, 0, 10, 10]"),
        "just half": ({"answer": SQUARE}, "It is [0, 0, 10, 5]."),
        "a fifth": ({"answer": "[0, 0, 10, 10]"}, "[0, 0, 10, 2]"),
        "no box": ({"answer": SQUARE}, "I see none."),
        "no reference": ({"answer": "somewhere"}, "[0, 0, 10, 10]"),
    }
    result, evaluated = process(tmp_path, "iou", items)
    assert (result["iou@0.5"], result["mean_iou"], result["n"]) == (50.0, 42.5, 4)
    assert (result["headline"], result["counts"]["unparsed"], result["counts"]["unscored"]) == ("iou@0.5", 1, 1)
    assert len(result["iou@0.5_interval"]) == 2
    assert evaluated[1]["scores"] == {"iou": 0.5}
    assert evaluated[1]["extracted"] == [0, 0, 10, 5]
    strict, _ = process(tmp_path, {"type": "iou", "threshold": 0.6}, items)
    assert (strict["iou@0.6"], strict["mean_iou"]) == (25.0, 42.5)


def test_the_careful_rule_takes_the_last_box(tmp_path):
    items = {"1": ({"answer": SQUARE}, "Not [50, 50, 60, 60] but [0, 0, 10, 10].")}
    result, evaluated = process(tmp_path, "iou", items)
    assert (result["iou@0.5"], result["rule_disagreements"], evaluated[0]["careful_correct"]) == (0.0, 1, 1.0)
    result, evaluated = process(tmp_path, {"type": "iou", "rule": "careful"}, items)
    assert (result["iou@0.5"], evaluated[0]["reference_correct"]) == (100.0, 0.0)


@pytest.mark.parametrize("threshold", [0, 1.1, "0.5"])
def test_a_threshold_that_is_none_is_told(threshold):
    with pytest.raises(ConfigError, match="threshold: expected"):
        build_metric({"type": "iou", "threshold": threshold}, where="metrics")


@pytest.fixture
def mask(tmp_path):
    """A mask of 20 by 10 whose left half is white."""
    picture = Image.new("L", (20, 10))
    picture.paste(255, (0, 0, 10, 10))
    picture.save(tmp_path / "mask.png")
    return {"mask_path": "mask.png"}


@pytest.mark.parametrize(
    ("reply", "unit", "score"),
    [
        ("(3, 5)", "auto", 1.0),
        ("(3, 5), (15, 5)", "auto", 0.5),
        ("(0.25, 0.5)", "auto", 1.0),
        ("(0.75, 0.5)", "auto", 0.0),
        ("(99, 5)", "auto", 0.0),
        ("nowhere", "auto", 0.0),
        ("(250, 500)", "thousandths", 1.0),
        ("(250, 500)", "auto", 0.0),
        ("<think>(15, 5)</think>(3, 5)", "auto", 1.0),
    ],
)
def test_points_are_looked_up_in_the_mask(tmp_path, mask, reply, unit, score):
    metric = {"type": "point_in_mask", "unit": unit}
    result, evaluated = process(tmp_path, metric, {"1": (mask, reply)})
    assert (result["accuracy"], evaluated[0]["correct"]) == (100 * score, score)


def test_a_question_without_a_mask_is_not_scored_and_a_lost_one_is_told(tmp_path, mask):
    result, _ = process(tmp_path, "point_in_mask", {"1": ({}, "(3, 5)"), "2": (mask, "(3, 5)")})
    assert (result["accuracy"], result["counts"]["unscored"]) == (100.0, 1)
    with pytest.raises(DataError, match=r"lost\.png: no such file"):
        process(tmp_path, "point_in_mask", {"1": ({"mask_path": "lost.png"}, "(3, 5)")})
    (tmp_path / "text.png").write_text("no picture")
    with pytest.raises(DataError, match=r"text\.png: not a readable picture"):
        process(tmp_path, "point_in_mask", {"1": ({"mask_path": "text.png"}, "(3, 5)")})


def test_a_number_scores_by_the_thresholds_that_its_error_passes(tmp_path):
    items = {
        "right": ({"answer": 5}, "5"),
        "a tenth off": ({"answer": "5"}, "about 4.5 metres"),
        "far off": ({"answer": 5}, "50"),
        "in words": ({"answer": 5}, "five"),
        "none": ({"answer": 5}, "I cannot tell"),
        "no number to compare": ({"answer": "many"}, "5"),
    }
    result, evaluated = process(tmp_path, "mean_relative_accuracy", items)
    assert [entry["correct"] for entry in evaluated] == [1.0, 0.9, 0.0, 1.0, 0.0, None]
    assert (result["mra"], result["counts"]["unparsed"]) == (58.0, 1)


def test_the_careful_rule_takes_the_number_that_is_stated_last(tmp_path):
    items = {"1": ({"answer": 5}, "It measures 2.5 by 2, so 5.")}
    result, evaluated = process(tmp_path, "mean_relative_accuracy", items)
    # 2.5 is half of 5 away, which the threshold 0.5 alone allows
    assert (result["mra"], result["rule_disagreements"], evaluated[0]["careful_correct"]) == (10.0, 1, 1.0)
    result, _ = process(tmp_path, {"type": "mean_relative_accuracy", "rule": "careful"}, items)
    assert result["mra"] == 100.0
