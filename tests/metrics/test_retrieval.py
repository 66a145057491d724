import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.errors import DataError
from flagmm.metrics.retrieval import score_retrieval


@st.composite
def matrices(draw):
    images, captions = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    values = st.integers(0, 3)  # few values, so that there are ties
    rows = st.lists(values, min_size=images * captions, max_size=images * captions)
    return draw(st.lists(rows, min_size=images, max_size=images)), captions


def test_each_direction_has_its_own_ranks():
    scores = score_retrieval([[1, 2, 0], [0, 3, 1], [0, 5, 4]])
    # rows: 2nd, 1st, 2nd; columns: 1st, 2nd, 1st
    assert (scores["i2t_R@1"], scores["i2t_R@5"]) == (pytest.approx(100 / 3), 100)
    assert (scores["t2i_R@1"], scores["t2i_R@5"]) == (pytest.approx(200 / 3), 100)
    assert (scores["i2t_median_rank"], scores["i2t_mean_rank"]) == (2, pytest.approx(5 / 3))
    assert (scores["t2i_median_rank"], scores["t2i_mean_rank"]) == (1, pytest.approx(4 / 3))
    assert scores["mean_recall"] == pytest.approx((100 / 3 + 200 / 3 + 400) / 6)


def test_the_best_of_an_images_captions_counts():
    scores = score_retrieval([[9, 0, 5, 5], [1, 2, 0, 8]], captions_per_image=2)
    assert scores["i2t_R@1"] == 100
    assert scores["t2i_mean_rank"] == (1 + 2 + 2 + 1) / 4


def test_a_median_between_two_ranks_is_rounded_down():
    assert score_retrieval([[1, 0], [1, 0]])["i2t_median_rank"] == 1


def test_of_equal_similarities_the_later_comes_first():
    scores = score_retrieval(np.zeros((3, 3)))
    assert scores["i2t_mean_rank"] == scores["t2i_mean_rank"] == 2
    assert score_retrieval([[0, 0], [0, 1]])["i2t_R@1"] == 50


@pytest.mark.parametrize("empty", [[], [[]], np.zeros((0, 5))])
def test_no_images_have_no_scores(empty):
    assert score_retrieval(empty) == {}


def test_one_image_finds_its_caption():
    scores = score_retrieval([[0.5]])
    assert scores["mean_recall"] == 100
    assert scores["i2t_mean_rank"] == 1


@pytest.mark.parametrize(
    ("similarity", "captions"), [([[1, 2]], 1), ([1, 2], 1), ([[1], [2]], 2), ([[1, 2], [3, 4]], 0), ([[[1]]], 1)]
)
def test_a_matrix_of_another_shape_is_refused(similarity, captions):
    with pytest.raises(DataError, match="shape"):
        score_retrieval(similarity, captions_per_image=captions)


def test_nan_is_refused():
    with pytest.raises(DataError, match="NaN"):
        score_retrieval([[1, float("nan")], [0, 1]])


@given(matrices())
def test_the_ranks_are_those_of_a_sort_that_is_reversed(given_matrix):
    matrix, captions = given_matrix
    scores = score_retrieval(matrix, captions_per_image=captions)
    columns = np.array(matrix).T
    orders = [list(np.argsort(row, kind="stable")[::-1]) for row in matrix]
    i2t = [min(order.index(image * captions + own) for own in range(captions)) for image, order in enumerate(orders)]
    orders = [list(np.argsort(column, kind="stable")[::-1]) for column in columns]
    t2i = [order.index(caption // captions) for caption, order in enumerate(orders)]
    assert scores["i2t_mean_rank"] == pytest.approx(np.mean(i2t) + 1)
    assert scores["t2i_mean_rank"] == pytest.approx(np.mean(t2i) + 1)
