"""VLMEvalKit's reading of replies, held to what VLMEvalKit itself answered, its faults included."""

import pytest
from flagevalmm_vectors import vectors
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.vlmevalkit_infer import (
    REFUSED,
    can_infer,
    can_infer_option,
    can_infer_text,
    ms_vlmeval_can_infer,
    yes_or_no,
)
from flagmm.metrics.vqa_punctuation import process_punctuation

ANIMALS = {"A": "Dog", "B": "Cat", "C": "Tiger", "D": "Elephant"}
FUNCTIONS = {"can_infer": can_infer, "can_infer_option": can_infer_option, "can_infer_text": can_infer_text}
REPLIES = st.text(st.sampled_from("ABZabcdogt answeri*.,:()\n-/3"), max_size=40) | st.text(max_size=20)


@pytest.mark.parametrize("vector", vectors("vlmevalkit_can_infer"))
def test_choices_are_read_as_vlmevalkit_reads_them(vector):
    line = vector["input"]
    label = FUNCTIONS[line["function"]](line["prediction"], line["choices"])
    assert (label or False) == vector["expected"]


@pytest.mark.parametrize("vector", vectors("yes_no_extraction"))
def test_yes_and_no_are_read_as_vlmevalkit_reads_them(vector):
    assert yes_or_no(vector["input"]["prediction"]) == vector["expected"]


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        pytest.param("B one two three", "B", id="fourth word from the end"),
        pytest.param("B one two three four", None, id="fifth word from the end"),
        pytest.param("B one B two three four", None, id="its first place counts"),
        pytest.param("A B", None, id="two labels"),
        pytest.param("Z", REFUSED, id="Z alone"),
        pytest.param("Z or B", "B", id="a label before Z"),
        pytest.param("Z A B", None, id="Z beside two labels"),
        pytest.param("E", None, id="no label of the item"),
        pytest.param("A or B: the answer is\n**b** indeed", "B", id="stated, over a line break and stars"),
        pytest.param("A or B: the answer is (B)", None, id="a bracket hides the statement"),
        pytest.param("the answer is about animals that I know well", "A", id="first letter of a word"),
        pytest.param("the answer is E, not A or B", None, id="stated is A to D only"),
        pytest.param("I can't process this file. B", REFUSED, id="a refusal comes first"),
        pytest.param("Failed to obtain answer via API. B", None, id="a failed call comes first"),
        pytest.param("", None, id="empty"),
    ],
)
def test_labels_rule_by_rule(reply, label):
    assert can_infer_option(reply, ANIMALS) == label


def test_a_stated_letter_must_be_a_label():
    assert can_infer_option("the answer is D because of A and B", {"A": "x", "B": "y"}) is None


def test_the_release_on_pypi_lacks_the_stated_answer():
    reply = "The answer is C, since neither A nor B has any stripes at all"
    assert can_infer(reply, ANIMALS) == "C"
    assert ms_vlmeval_can_infer(reply, ANIMALS) is None


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        pytest.param("DOGS", "A", id="case and parts of words"),
        pytest.param("dog, cat", None, id="two texts"),
        pytest.param("cat" + "." * 35, "B", id="as long as twice all texts"),
        pytest.param("cat" + "." * 36, None, id="longer"),
        pytest.param("", None, id="empty"),
    ],
)
def test_option_texts_are_sought_in_short_replies(reply, label):
    assert sum(map(len, ANIMALS.values())) * 2 == 38
    assert can_infer_text(reply, ANIMALS) == label


def test_numbers_are_taken_as_texts_and_the_options_stay_as_they_are():
    choices = {"A": 3, "B": "Forty"}
    assert can_infer(40.0, choices) is None
    assert can_infer("three is 3", choices) == "A"
    assert choices == {"A": 3, "B": "Forty"}


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        pytest.param("yes/no", "yes no", id="a mark between words becomes a space"),
        pytest.param("yes/no /", "yesno ", id="one that touches a space anywhere is deleted"),
        pytest.param("1,000 yes!no", "1000 yesno", id="grouped digits delete every mark"),
        pytest.param("3. .5 a.b.", "3. .5 ab", id="periods beside digits stay"),
        pytest.param("." * 33, ".", id="32 periods at most"),
        pytest.param("*:'。", "*:'。", id="marks that are not known"),
        pytest.param("", "", id="empty"),
    ],
)
def test_punctuation_rule_by_rule(text, cleaned):
    assert process_punctuation(text) == cleaned


@pytest.mark.parametrize(
    ("reply", "value"),
    [("yes", "Yes"), ("NO!", "No"), ("yes no", "Unknown"), ("", "Unknown"), ("nope", "Unknown"), (None, "Unknown")],
)
def test_yes_and_no_are_whole_words_of_which_one_may_occur(reply, value):
    assert yes_or_no(reply) == value


@given(REPLIES)
def test_a_label_is_one_of_the_item_or_the_refusal(reply):
    assert can_infer(reply, ANIMALS) in (*ANIMALS, REFUSED, None)
    assert yes_or_no(reply) in ("Yes", "No", "Unknown")


@given(REPLIES, st.permutations(list(ANIMALS)))
def test_the_order_of_the_options_does_not_matter(reply, labels):
    assert can_infer(reply, {label: ANIMALS[label] for label in labels}) == can_infer(reply, ANIMALS)
