"""The rules by which the embedded model answers from text; no picture is read here."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.models.ocr_answer import (
    TextBox,
    answer,
    choose_option,
    find_field,
    order_lines,
    picture_numbers,
    question_of,
    quoted,
    support,
)

RECEIPT = "Corner Market\nDate: 05/12/2020\nRye bread 2.10\nSubtotal 6.50\nTOTAL: $7.02\nThank you"


def box(text, x, y, *, width=60, height=20, tilt=0.0):
    """A box whose centre (x, y), on a level page, is turned by `tilt` radians about the origin."""
    corners = [(x - width / 2, y - height / 2), (x + width / 2, y - height / 2)]
    corners += [(x + width / 2, y + height / 2), (x - width / 2, y + height / 2)]
    cos, sin = math.cos(tilt), math.sin(tilt)
    return TextBox(text=text, corners=tuple((a * cos - b * sin, a * sin + b * cos) for a, b in corners))


def letters(*options):
    return dict(zip("ABCDEF", options, strict=False))


def test_no_boxes_are_no_text():
    assert order_lines([]) == ""


@pytest.mark.parametrize("degrees", [-6, -3, 0, 3, 6])
def test_lines_are_read_top_to_bottom_and_left_to_right_on_a_tilted_page(degrees):
    tilt = math.radians(degrees)
    rows = [("Milk", "1.20", 40), ("Bread", "2.10", 68), ("Eggs", "3.30", 96)]
    boxes = [box(name, 60, y, tilt=tilt) for name, _, y in rows] + [box(cost, 400, y, tilt=tilt) for _, cost, y in rows]
    assert order_lines(boxes[::-1]) == "Milk 1.20\nBread 2.10\nEggs 3.30"


def test_one_upright_axis_title_does_not_turn_the_page():
    boxes = [box("Pears", 100, 50), box("12", 200, 50), box("Figs", 100, 90), box("34", 200, 90)]
    boxes.append(box("Tonnes", 10, 70, width=60, tilt=0.0))
    upright = TextBox(text="sold", corners=((20, 100), (20, 40), (40, 40), (40, 100)))
    assert order_lines([*boxes, upright]).startswith("Pears 12\n")


@pytest.mark.parametrize(
    ("question", "value"),
    [
        pytest.param("What is the total on the receipt?", "$7.02", id="named field, not the subtotal"),
        pytest.param("What is the total?", "$7.02", id="bare field"),
        pytest.param("What is the date on the receipt?", "05/12/2020", id="date"),
        pytest.param("What is the price of the rye bread?", "2.10", id="thing before attribute"),
        pytest.param("How much does the rye bread cost?", "2.10", id="verb after"),
        pytest.param('Which amount stands beside "Subtotal"?', "6.50", id="quoted label"),
        pytest.param("What is the price of the honey?", "", id="not on it"),
        pytest.param("Who sold it?", "", id="no field named"),
    ],
)
def test_a_field_is_looked_up_on_its_line(question, value):
    assert find_field(question, RECEIPT) == value


def test_a_slightly_misread_label_is_still_found():
    assert find_field("What is the total?", "Subt0tal 1.00\nT0TAL 7.02") == "7.02"


@pytest.mark.parametrize(
    ("question", "options", "label"),
    [
        pytest.param("What is the total?", ("$6.50", "$7.02", "$2.10"), "B", id="field before mere presence"),
        pytest.param("Which word is there?", ("market", "bazaar"), "A", id="case"),
        pytest.param("Where was it?", ("Market", "Corner Market"), "B", id="longest contained"),
        pytest.param("Where was it?", ("Garden Shop", "Comer Market"), "B", id="fuzzy"),
        pytest.param("Which?", ("A. $9.99", "B. 05/12/2020"), "B", id="labels in the texts"),
        pytest.param("Which?", ("xyz", "xyz"), "A", id="tie"),
        pytest.param("Which?", ("0.10", "2.10"), "B", id="numbers whole"),
    ],
)
def test_the_best_supported_option_is_chosen(question, options, label):
    assert choose_option(question, letters(*options), [RECEIPT]) == label


@pytest.mark.parametrize(
    ("question", "options", "label"),
    [
        ('Which picture shows the shop called "Moss & Fern"?', ("Image 1", "Image 2", "Image 3"), "B"),
        ("Which has a total of $7.02?", ("the second picture", "the third picture", "neither"), "B"),
        ("Where is fern sold?", ("<image 1>", "<image 2>"), "B"),
        ("What is the total in image 3?", ("6.50", "7.02"), "B"),
    ],
)
def test_options_may_be_pictures(question, options, label):
    pages = ["Juniper Books", "Moss & Fern", "Total 7.02"]
    assert choose_option(question, letters(*options), pages) == label


def test_other_labels_than_letters_are_answered_as_given():
    assert choose_option("Which?", {"1": "bus", "2": "tram"}, ["TRAM STOP"]) == "2"


@pytest.mark.parametrize(
    ("question_type", "question", "text"),
    [
        ("yes-no", 'Does it say "corner market"?', "Yes"),
        ("yes-no", 'Does it say "closed"?', "No"),
        ("short-answer", "What is the total?", "$7.02"),
        ("short-answer", "What does it say?", RECEIPT),
        ("", "", RECEIPT),
    ],
)
def test_open_questions_are_answered_with_the_text_or_a_part_of_it(question_type, question, text):
    assert answer(question, [RECEIPT], question_type=question_type, options={}) == text


@pytest.mark.parametrize("options", [{}, letters("1", "2")])
def test_without_any_text_the_answer_is_empty(options):
    assert answer("How many?", ["", ""], question_type="", options=options) == ""


def test_a_question_about_one_picture_leaves_out_the_others():
    pages = ["Total 1.00", "Total 2.00"]
    assert answer("What is the total in the second picture?", pages, question_type="", options={}) == "2.00"


@pytest.mark.parametrize(
    ("prompt", "question"),
    [
        ("<image 1> <image 2> Which one?\nA. a\nAnswer with the letter.", "Which one?"),
        ("Read the sign.", "Read the sign."),
        ("总计是多少？请用一个词回答。", "总计是多少？"),
    ],
)
def test_the_question_ends_with_its_last_question_mark(prompt, question):
    assert question_of(prompt) == question


@pytest.mark.parametrize(
    ("question", "phrases"),
    [
        ('the "Total" line', ["Total"]),
        ("the 'Total' line", ["Total"]),
        ("the “Total” line", ["Total"]),
        ("a baker's dozen and the owner's", []),
        ("「合计」是多少", ["合计"]),
    ],
)
def test_quoted_phrases_are_found_and_apostrophes_are_not(question, phrases):
    assert quoted(question) == phrases


def test_a_picture_is_named_by_number_or_by_rank():
    assert picture_numbers("image 2 or the first photo, not image 0") == [1, 2]


def test_chinese_words_are_found_inside_longer_ones():
    assert support("合计", "本单合计金额") == 1.0


@given(st.text(max_size=12), st.text(max_size=40))
def test_support_is_a_share_and_full_only_for_what_is_there(words, text):
    found = support(words, text)
    assert 0 <= found <= 1
    assert found == 1 or found <= 0.9


@given(
    st.text(max_size=40), st.lists(st.text(max_size=40), max_size=3), st.sampled_from(["", "yes-no", "multiple-choice"])
)
def test_any_prompt_and_text_get_an_answer(prompt, pages, question_type):
    options = {"A": prompt, "B": "Image 1"} if question_type == "multiple-choice" else {}
    found = answer(prompt, pages, question_type=question_type, options=options)
    assert isinstance(found, str)
    assert found == "" or any(pages)
