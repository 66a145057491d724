"""Boxes in answers and how well they meet."""

from __future__ import annotations

import pytest
from flagevalmm_vectors import vectors
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.boxes import (
    NO_BOX,
    box_iou,
    box_report,
    convert_unit,
    from_corners,
    is_box_hit,
    is_center_hit,
    match_boxes,
    parse_box,
    parse_boxes,
    to_corners,
)

NUMBERS = st.floats(-100, 100)
BOXES = st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS).map(
    lambda box: (min(box[0], box[2]), min(box[1], box[3]), max(box[0], box[2]), max(box[1], box[3]))
)


@pytest.mark.parametrize("vector", vectors("box_parse"))
def test_boxes_are_read_as_flagevalmm_does_its_faults_included(vector):
    assert list(parse_box(vector["input"]["text"])) == vector["expected"]["box"]
    if "sensible" in vector:
        assert list(parse_box(vector["input"]["text"], rule="careful")) == vector["sensible"]["box"]


@pytest.mark.parametrize(
    ("text", "box"),
    [
        ("[.1, .2, .5, .6]", (0.1, 0.2, 0.5, 0.6)), ("<box>(100,200),(500,600)</box>", (100, 200, 500, 600)),
        ("first [1, 2, 3, 4], no: [5 6 7 8]", (5, 6, 7, 8)), ("[-1; 2; 3; 4]", (-1, 2, 3, 4)), ("1 2 3", NO_BOX),
        ("", NO_BOX),
    ],
)  # fmt: skip
def test_boxes_read_with_care(text, box):
    assert parse_box(text, rule="careful") == box


@pytest.mark.parametrize("vector", vectors("box_iou"))
def test_overlaps_are_those_of_the_references(vector):
    gold, predicted = vector["input"]["gt_box"], vector["input"]["pred_box"]
    expected = vector.get("sensible", vector["expected"])
    assert box_iou(gold, predicted) == pytest.approx(expected["iou"])
    for name, hit in expected.items():
        if name.startswith("acc@"):
            assert is_box_hit(gold, predicted, threshold=float(name[4:])) == hit
    if "center_acc" in expected:
        assert is_center_hit(gold, predicted) == expected["center_acc"]


def test_the_report_is_the_mean_over_pairs_and_none_without_any():
    report = box_report([((0, 0, 2, 2), (0, 0, 2, 1)), ((0, 0, 2, 2), (5, 5, 6, 6))])
    assert (report["IoU"], report["ACC@0.5"], report["ACC@0.7"], report["Center_ACC"]) == (0.25, 0.5, 0, 0.5)
    assert set(box_report([]).values()) == {None}


@given(BOXES, BOXES)
def test_overlap_is_symmetric_and_at_most_whole(one, other):
    assert box_iou(one, other) == pytest.approx(box_iou(other, one))
    assert 0 <= box_iou(one, other) <= 1 + 1e-9


@given(st.text(st.sampled_from("0123456789.,;-[]() \n"), max_size=60), st.sampled_from(["reference", "careful"]))
def test_any_text_names_a_box_of_four_numbers(text, rule):
    assert len(parse_box(text, rule=rule)) == 4


@pytest.mark.parametrize(
    ("text", "boxes"),
    [
        ("(10,20),(110,120)", [(10, 20, 110, 120)]),
        ("(10, 20) to (110, 120)", [(10, 20, 110, 120)]),
        ("[[10, 20], [110, 120]]", [(10, 20, 110, 120)]),
        ("x1=10, y1=20, x2=110, y2=120", [(10, 20, 110, 120)]),
        ('{"bbox_2d": [10, 20, 110, 120], "label": "cat 7"}', [(10, 20, 110, 120)]),
        ("top-left (10, 20), bottom-right (110, 120)", [(10, 20, 110, 120)]),
        ("<|box_start|>(1,2),(3,4)<|box_end|><|box_start|>(5,6),(7,8)<|box_end|>", [(1, 2, 3, 4), (5, 6, 7, 8)]),
        ("1. [1, 2, 3, 4]\n2. [5, 6, 7, 8]", [(1, 2, 3, 4), (5, 6, 7, 8)]),
        ("2024", []),
        ("(1, 2)", []),
    ],
)
def test_all_boxes_of_an_answer_are_read(text, boxes):
    assert parse_boxes(text) == boxes


UNITS = st.sampled_from(["pixels", "fractions", "thousandths"])


@given(BOXES, UNITS, UNITS, st.sampled_from(["xyxy", "xywh"]))
def test_there_and_back_is_the_same_box(box, one, other, form):
    size = (640, 480)
    there = convert_unit(box, one, other, size)
    assert convert_unit(there, other, one, size) == pytest.approx(box, abs=1e-6)
    assert to_corners(from_corners(box, form), form) == pytest.approx(box, abs=1e-6)


def test_pixels_are_not_converted_without_a_size():
    with pytest.raises(ValueError, match="size is needed"):
        convert_unit((1, 2, 3, 4), "pixels", "fractions", None)
    assert convert_unit((1, 2, 3, 4), "pixels", "pixels", None) == (1, 2, 3, 4)


@given(st.lists(BOXES, max_size=4), st.lists(BOXES, max_size=4))
def test_each_box_is_in_one_pair_at_most(gold, predicted):
    pairs = match_boxes(gold, predicted)
    assert len(pairs) <= min(len(gold), len(predicted))
    assert pairs == sorted(pairs, reverse=True)
