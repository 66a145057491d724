from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.hallusionbench import (
    HallusionRow,
    hallusionbench_flagevalmm,
    hallusionbench_official,
    hallusionbench_shares,
    hallusionbench_vlmevalkit,
)

VERDICTS = ("right", "wrong", "unclear")


def row(key, verdict):
    """`key` is category_subcategory_set_figure_question."""
    category, subcategory, set_id, figure_id, question_id = key.split("_")
    return HallusionRow(
        category=category,
        subcategory=subcategory,
        set_id=set_id,
        figure_id=figure_id,
        question_id=question_id,
        verdict=verdict,
    )


# One set of two figures with two questions each; one of the four replies is wrong.
ONE_WRONG = [
    row("VD_chart_0_0_0", "right"),
    row("VD_chart_0_0_1", "right"),
    row("VD_chart_0_1_0", "right"),
    row("VD_chart_0_1_1", "wrong"),
]


def test_a_wrong_reply_spoils_its_figure_and_its_question():
    shares = hallusionbench_shares(ONE_WRONG)

    assert (shares.question, shares.figure, shares.pair) == (0.75, 0.5, 0.5)


def test_an_unclear_reply_is_wrong_where_there_is_a_figure():
    unclear = [*ONE_WRONG[:3], row("VD_chart_0_1_1", "unclear")]

    assert hallusionbench_shares(unclear) == hallusionbench_shares(ONE_WRONG)
    assert hallusionbench_official(unclear) == hallusionbench_official(ONE_WRONG)


def test_keys_without_the_category_mix_up_equal_subcategories():
    rows = [row("VD_ocr_0_0_0", "right"), row("VS_ocr_0_0_0", "wrong")]

    assert hallusionbench_shares(rows).figure == 0.5
    assert hallusionbench_shares(rows, keys_with_category=False).figure == 0
    assert hallusionbench_flagevalmm(rows)["figure_acc"] == 0
    assert [line["fAcc"] for line in hallusionbench_vlmevalkit(rows)] == [0, 100, 0, 0]


def test_the_table_of_vlmevalkit_has_all_then_categories_then_subcategories():
    rows = [row("VS_map_0_0_0", "right"), row("VD_video_0_0_0", "wrong"), row("VD_figure_0_0_0", "right")]

    table = hallusionbench_vlmevalkit(rows)

    assert [line["split"] for line in table] == ["Overall", "VD", "VS", "figure", "map", "video"]
    assert table[0] == {
        "split": "Overall",
        "aAcc": pytest.approx(200 / 3),
        "fAcc": pytest.approx(200 / 3),
        "qAcc": pytest.approx(200 / 3),
    }
    assert table[1] == {"split": "VD", "aAcc": 50, "fAcc": 50, "qAcc": 50}


def test_flagevalmm_rounds_to_two_decimals_and_shows_figures_first():
    rows = [row("VD_map_0_0_0", "right"), row("VD_map_0_1_0", "right"), row("VD_map_0_2_1", "wrong")]

    assert hallusionbench_flagevalmm(rows) == {
        "question_acc": 66.67,
        "question_pair_acc": 50.0,
        "figure_acc": 66.67,
        "accuracy": 66.67,
    }


def test_officially_unclear_is_right_where_there_is_no_figure_to_see():
    rows = [
        row("VS_map_0_0_0", "unclear"),
        row("VS_map_0_1_0", "right"),
        row("VS_map_0_1_1", "wrong"),
        row("VS_map_0_0_1", "right"),
    ]

    official = hallusionbench_official(rows)

    assert official["aAcc"] == 75.0
    assert official["qAcc"] == 50.0
    assert official["fAcc"] == 0.0  # of the one figure that there is
    assert official["figure_stats"] == {"total": 1, "correct": 0, "wrong": 0, "inconsistent": 1, "score": 0.5}


def test_officially_there_is_no_pair_accuracy_where_a_question_lacks_its_original():
    assert hallusionbench_official([row("VD_map_0_1_0", "right")])["qAcc"] is None
    assert hallusionbench_official([row("VD_map_0_0_0", "right"), row("VD_map_0_1_0", "wrong")])["qAcc"] == 0.0


def test_official_figures_are_right_wrong_or_inconsistent():
    rows = [*ONE_WRONG, row("VS_math_0_1_0", "wrong"), row("VS_math_0_0_0", "right")]

    official = hallusionbench_official(rows)

    assert official["aAcc"] == 66.6667
    assert official["fAcc"] == 33.3333
    assert official["figure_stats"] == {
        "total": 3,
        "correct": 1,
        "wrong": 1,
        "inconsistent": 1,
        "score": pytest.approx(0.5),
    }


def test_questions_without_figures_give_no_figure_accuracy():
    official = hallusionbench_official([row("VS_map_0_0_0", "right")])

    assert official == {"aAcc": 100.0, "fAcc": None, "qAcc": 100.0, "figure_stats": {}}


def test_no_rows_give_none_everywhere():
    assert hallusionbench_official([]) == {"aAcc": None, "fAcc": None, "qAcc": None, "figure_stats": {}}
    assert hallusionbench_vlmevalkit([]) == [{"split": "Overall", "aAcc": None, "fAcc": None, "qAcc": None}]
    assert set(hallusionbench_flagevalmm([]).values()) == {None}


KEYS = ["_".join(parts) for parts in product(("VD", "VS"), ("ocr", "map"), "0", "012", "01")]


@given(st.lists(st.sampled_from(KEYS), unique=True, min_size=1), st.data())
def test_the_order_of_rows_does_not_matter_and_groups_are_harder_than_questions(keys, data):
    rows = [row(key, data.draw(st.sampled_from(VERDICTS))) for key in keys]
    shares = hallusionbench_shares(rows)

    for report in (hallusionbench_official, hallusionbench_vlmevalkit, hallusionbench_flagevalmm):
        assert report(rows) == report(rows[::-1])
    assert all(0 <= share <= 1 for share in (shares.question, shares.figure, shares.pair))
    if shares.question == 1:
        assert shares.figure == shares.pair == 1
