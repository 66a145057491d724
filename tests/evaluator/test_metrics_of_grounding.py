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
    result, evaluated = process(tmp_path, {"type": "iou", "rule": "reference"}, items)
    assert (result["iou@0.5"], result["rule_disagreements"], evaluated[0]["careful_correct"]) == (0.0, 1, 1.0)
    result, evaluated = process(tmp_path, "iou", items)
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


GOLD = {"answer": [10, 20, 110, 120], "width": 200, "height": 400}


def test_two_corners_are_a_box_without_any_setting(tmp_path):
    result, evaluated = process(tmp_path, "iou", {"1": (GOLD, "(10,20),(110,120)")})
    assert (result["iou@0.5"], evaluated[0]["extracted"]) == (100.0, [10, 20, 110, 120])


@pytest.mark.parametrize(
    ("settings", "annotation", "reply"),
    [
        pytest.param({"unit": "fractions"}, GOLD, "[0.05, 0.05, 0.55, 0.3]", id="fractions"),
        pytest.param({"unit": "thousandths"}, GOLD, "(50,50),(550,300)", id="thousandths"),
        pytest.param({"form": "xywh"}, GOLD, "[10, 20, 100, 100]", id="xywh"),
        pytest.param(
            {"form": "xywh", "answer_form": "xywh"}, {"answer": [10, 20, 100, 100]}, "10 20 100 100", id="xywh in both"
        ),
        pytest.param(
            {"unit": "pixels", "answer_unit": "fractions"},
            {**GOLD, "answer": [0.05, 0.05, 0.55, 0.3]},
            "[10, 20, 110, 120]",
            id="pixels by the picture's size",
        ),
        pytest.param(
            {"unit": "fractions", "answer_unit": "thousandths"},
            {"answer": "<box>(50, 50), (550, 300)</box>"},
            '{"x1": 0.05, "y1": 0.05, "x2": 0.55, "y2": 0.3}',
            id="neither in pixels needs no size",
        ),
        pytest.param({"unit": "thousandths", "form": "xywh"}, GOLD, "[50, 50, 500, 250]", id="unit and form"),
    ],
)
def test_boxes_may_be_of_any_unit_and_form_and_so_is_the_gold_reply(tmp_path, settings, annotation, reply):
    result, _ = process(tmp_path, {"type": "iou", "threshold": 0.99, **settings}, {"1": (annotation, reply)})
    assert (result["iou@0.99"], result["mean_iou"]) == (100.0, 100.0)
    gold = build_metric({"type": "iou", **settings}, where="metrics").gold_reply(annotation)
    result, _ = process(tmp_path, {"type": "iou", "threshold": 0.99, **settings}, {"1": (annotation, gold)})
    assert result["iou@0.99"] == 100.0


def test_the_size_is_looked_up_in_the_picture_as_it_is_shown(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # on its side: shown as 200 by 400
    Image.new("RGB", (400, 200)).save(tmp_path / "p.jpg", exif=exif)
    annotation = {"answer": [10, 20, 110, 120], "img_path": "p.jpg"}
    result, _ = process(tmp_path, {"type": "iou", "unit": "fractions"}, {"1": (annotation, "[0.05, 0.05, 0.55, 0.3]")})
    assert result["mean_iou"] == 100.0


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        ({"answer": SQUARE, "question_id": "7"}, "question_id '7': no width and height, and no img_path"),
        ({"answer": SQUARE, "img_path": "lost.png"}, "lost.png: its size cannot be read"),
    ],
)
def test_a_size_that_nothing_tells_is_an_error(tmp_path, annotation, message):
    with pytest.raises(DataError, match=message):
        process(tmp_path, {"type": "iou", "unit": "fractions"}, {"1": (annotation, "[0, 0, 1, 1]")})


@pytest.mark.parametrize(
    ("reply", "score", "overlap"),
    [
        ("[0, 0, 10, 10], [20, 0, 30, 10]", 100.0, 100.0),
        ("[20, 0, 30, 10] and [0, 0, 10, 10]", 100.0, 100.0),
        ("[0, 0, 10, 10]", 66.67, 50.0),
        ("[[0, 0, 10, 10], [0, 0, 10, 10], [0, 0, 10, 10]]", 40.0, 33.33),
        ("[50, 50, 60, 60]", 0.0, 0.0),
        ("none", 0.0, 0.0),
    ],
)
def test_of_several_boxes_each_pairs_with_one(tmp_path, reply, score, overlap):
    annotation = {"answer": [SQUARE, [20, 0, 30, 10]]}
    result, _ = process(tmp_path, {"type": "iou", "boxes": "several"}, {"1": (annotation, reply)})
    assert (result["box_f1@0.5"], result["mean_iou"]) == (score, overlap)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"unit": "percent"}, "unit: expected 'same' or 'pixels' or 'fractions' or 'thousandths', found 'percent'"),
        ({"answer_unit": "same"}, "answer_unit: expected 'pixels' or 'fractions' or 'thousandths', found 'same'"),
        ({"form": "cxcywh"}, "form: expected 'xyxy' or 'xywh', found 'cxcywh'"),
        ({"boxes": "many"}, "boxes: expected 'one' or 'several', found 'many'"),
        ({"boxes": "several", "rule": "reference"}, 'metric iou: rule: "reference" reads one box only'),
    ],
)
def test_a_setting_that_is_none_is_told(settings, told):
    with pytest.raises(ConfigError, match=told):
        build_metric({"type": "iou", **settings}, where="metrics")


@pytest.mark.parametrize(
    ("metric", "annotation", "reply", "told"),
    [
        ("iou", GOLD, "[0.05, 0.05, 0.55, 0.3]", "look like fractions, and are taken for pixels"),
        ("iou", GOLD, "[150, 600, 550, 900]", "look like thousandths, and are taken for pixels"),
        ({"type": "iou", "unit": "fractions"}, GOLD, "[50, 50, 550, 300]", "look like thousandths"),
        ({"type": "iou", "unit": "thousandths"}, GOLD, "[50, 50, 1920, 1080]", "look like pixels"),
        ("iou", {"answer": [0.1, 0.1, 0.2, 0.2]}, "[100, 100, 200, 200]", "and are taken for fractions"),
    ],
)
def test_coordinates_that_look_like_another_unit_are_warned_of(tmp_path, caplog, metric, annotation, reply, told):
    process(tmp_path, metric, {"1": (annotation, reply)})
    [message] = [message for message in caplog.messages if "metric iou" in message]
    assert message.startswith("metric iou: 1 of 1 replies have coordinates that look like ")
    assert told in message


@pytest.mark.parametrize("reply", ["(10,20),(110,120)", "[90, 90, 110, 120]", "nowhere", "[0, 0, 200, 400]"])
def test_coordinates_that_may_be_of_the_unit_are_not_warned_of(tmp_path, caplog, reply):
    process(tmp_path, "iou", {"1": (GOLD, reply)})
    assert not caplog.messages


@pytest.mark.parametrize(
    ("reply", "unit", "score"),
    [
        ("(3.0, 5)", "pixels", 1.0),
        ("(0.25, 0.5)", "fractions", 1.0),
        ("(1, 0)", "fractions", 0.0),
        ("(0, 0)", "fractions", 1.0),
    ],
)
def test_points_may_be_of_one_unit_whatever_their_spelling(tmp_path, mask, reply, unit, score):
    result, _ = process(tmp_path, {"type": "point_in_mask", "unit": unit}, {"1": (mask, reply)})
    assert result["accuracy"] == 100 * score


@pytest.mark.parametrize("unit", ["auto", "pixels", "fractions", "thousandths"])
def test_a_point_on_the_mask_is_the_gold_reply_in_each_unit(tmp_path, mask, unit):
    metric = build_metric({"type": "point_in_mask", "unit": unit}, where="metrics")
    reply = metric.gold_reply({"data_root": str(tmp_path), **mask})
    result, _ = process(tmp_path, {"type": "point_in_mask", "unit": unit}, {"1": (mask, reply)})
    assert result["accuracy"] == 100.0


@pytest.mark.parametrize(
    ("unit", "reply", "told"),
    [("auto", "(250, 500)", "like thousandths"), ("fractions", "(250, 500)", "like thousandths"),
     ("thousandths", "(0.75, 0.5)", "like fractions")],
)  # fmt: skip
def test_points_that_look_like_another_unit_are_warned_of(tmp_path, caplog, mask, unit, reply, told):
    white = Image.new("L", (20, 10))
    white.save(tmp_path / "mask.png")
    process(tmp_path, {"type": "point_in_mask", "unit": unit}, {"1": (mask, reply)})
    assert any("point_in_mask: 1 of 1 replies" in message and told in message for message in caplog.messages)


def test_a_unit_of_points_that_is_none_is_told():
    with pytest.raises(ConfigError, match="unit: expected 'auto' or 'pixels' or 'fractions' or 'thousandths'"):
        build_metric({"type": "point_in_mask", "unit": "percent"}, where="metrics")
