"""Points in answers and on masks, held to what FlagEvalMM itself answered."""

from __future__ import annotations

import numpy as np
import pytest
from flagevalmm_vectors import vectors
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from flagmm.metrics.points import calculate_mask_score, text2pts, text2pts_norm1k

READERS = {"flagevalmm": text2pts, "flagevalmm_norm1k": text2pts_norm1k}


def rectangle(width, height, columns, rows, value=255):
    mask = np.zeros((height, width), dtype=np.uint8)
    mask[slice(*rows), slice(*columns)] = value
    return mask


@pytest.mark.parametrize("vector", vectors("point_in_mask"))
def test_points_are_read_and_scored_as_flagevalmm_does_its_faults_included(vector):
    shape, expected = vector["input"]["mask"], vector["expected"]
    points = READERS[vector["input"]["variant"]](vector["input"]["text"], shape["width"], shape["height"])
    on = shape["rect_on_255"]
    mask = rectangle(shape["width"], shape["height"], on["x"], on["y"])
    assert len(points) == expected["num_points"]
    assert [list(point) for point in points] == expected.get("points", [list(point) for point in points])
    assert calculate_mask_score(points, Image.fromarray(mask)) == pytest.approx(expected["score"])


@pytest.mark.parametrize(
    ("text", "points"),
    [
        pytest.param("(3, 4)\n(5, 6)\n ", [(5, 6)], id="last line that is not blank"),
        pytest.param("(-3, +4)", [(-3, 4)], id="signs"),
        pytest.param("(1, 0.5)", [(10, 4)], id="one fraction makes both fractions"),
        pytest.param("(0, 0.5, 0.2, 1.0)", [(0, 4), (1, 4), (0, 5), (1, 5), (0, 6), (1, 6), (0, 7), (1, 7)], id="box"),
        pytest.param("(-5, -5, 2, 1)", [(0, 0), (1, 0)], id="box cut at the border"),
        pytest.param("(-5, -5, -1, -1)", [], id="box beside the picture"),
        pytest.param("(1) (1, 2, 3) (1, 2, 3, 4, 5) [1, 2]", [], id="neither points nor boxes"),
        pytest.param("(1,\t2)", [(1, 2)], id="any blank after the comma"),
        pytest.param("(1 , 2)", [], id="no blank before the comma"),
    ],
)
def test_forms_of_points(text, points):
    assert text2pts(text, 10, 8) == points


@pytest.mark.parametrize(
    ("text", "points"),
    [
        pytest.param("(500, 250)", [(5, 2)], id="thousandths"),
        pytest.param("(1000, 2000)", [(9, 7)], id="moved into the picture"),
        pytest.param("(-1000, 0)", [(0, 0)], id="below zero"),
        pytest.param("(200, 250, 0, 0)", [(0, 0), (1, 0), (0, 1), (1, 1)], id="swapped corners"),
        pytest.param("(900, 0, 3000, 125)", [(9, 0)], id="box cut at the border"),
    ],
)
def test_points_in_thousandths(text, points):
    assert text2pts_norm1k(text, 10, 8) == points


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("text", [None, "", " \n "])
def test_no_text_names_no_points(read, text):
    assert read(text) == []


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_an_endless_row_of_digits_is_a_point_far_outside(read):
    mask = rectangle(640, 480, (0, 640), (0, 480))
    assert calculate_mask_score(text2pts(f"({'9' * 5000}, 5) (5, 5)"), mask) == 0.5
    assert len(read(f"({'9' * 5000}, -{'9' * 5000}.0)")) == 1


@pytest.mark.parametrize(
    "mask",
    [
        pytest.param(rectangle(4, 4, (0, 2), (0, 4)), id="array"),
        pytest.param(rectangle(4, 4, (0, 2), (0, 4)) > 0, id="truth values"),
        pytest.param(Image.fromarray(rectangle(4, 4, (0, 2), (0, 4))).convert("1"), id="mode 1"),
        pytest.param(Image.fromarray(rectangle(4, 4, (0, 2), (0, 4))).convert("RGB"), id="mode RGB"),
        pytest.param(Image.fromarray(rectangle(4, 4, (0, 2), (0, 4))).convert("RGBA"), id="mode RGBA"),
        pytest.param(Image.fromarray(rectangle(4, 4, (0, 2), (0, 4))).convert("RGB").quantize(2), id="palette"),
    ],
)
def test_masks_of_all_kinds_give_the_same_score(mask):
    assert calculate_mask_score([(0, 0), (1, 3), (2, 0), (3, 3)], mask) == 0.5


def test_a_point_is_x_then_y_and_outside_counts_as_a_miss():
    mask = rectangle(6, 2, (4, 6), (0, 1))
    assert calculate_mask_score([(5, 0), (5, 2), (-1, 0), (6, 0)], mask) == 0.25


def test_a_grey_mask_counts_by_its_value_and_no_points_score_zero():
    mask = rectangle(2, 2, (0, 2), (0, 2), value=51)
    assert calculate_mask_score([(0, 0)], mask) == pytest.approx(0.2)
    assert calculate_mask_score([], mask) == 0


@given(st.text(st.sampled_from("()0123456789.,-+ \n"), max_size=60))
def test_any_answer_gives_points_that_can_be_scored(text):
    mask = rectangle(16, 12, (0, 16), (0, 12))
    assert 0 <= calculate_mask_score(text2pts(text, 16, 12), mask) <= 1
    moved = text2pts_norm1k(text, 16, 12)
    assert calculate_mask_score(moved, mask) == (1 if moved else 0)
