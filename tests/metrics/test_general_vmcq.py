"""EvalScope's reading of choices, held to what EvalScope itself answered, its faults included."""

import pytest
from flagevalmm_vectors import vectors
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.general_vmcq import (
    choice_accuracy,
    general_vmcq_labels,
    multi_choice_accuracy,
    read_general_vmcq,
)

REPLIES = st.lists(
    st.sampled_from(
        ["ANSWER:", "答案：", "A", "B", "Z", "and", " ", ",", "、", "(", ")", "$", "\\boxed{", "x", "1", "\n"]
    ),
    max_size=9,
).map("".join) | st.text(max_size=20)


@pytest.mark.parametrize("vector", vectors("general_vmcq"))
def test_choices_are_read_as_evalscope_reads_them(vector):
    line = vector["input"]
    language = "chinese" if line["template"].startswith("CHINESE") else "english"
    labels = general_vmcq_labels(line["num_options"])
    multiple = line.get("multiple_correct", False)
    assert read_general_vmcq(line["prediction"], labels, language=language, multiple=multiple) == vector["expected"]


@pytest.mark.parametrize(
    ("count", "labels"),
    [(0, []), (1, ["A"]), (3, ["A", "B", "C"]), (26, [*"ABCDEFGHIJKLMNOPQRSTUVWXYZ"])],
)
def test_labels_are_letters(count, labels):
    assert general_vmcq_labels(count) == labels


def test_labels_after_z_are_numbers():
    assert general_vmcq_labels(29)[24:] == ["Y", "Z", "1", "2", "3"]


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        pytest.param("Answer : ** D", "D", id="spaces and stars after the marker"),
        pytest.param("ANSWER: A\nANSWER: [LETTER]", "A", id="a marker without a label is passed over"),
        pytest.param("ANSWER: A\nANSWER: AB", "", id="a marker with two labels is not"),
        pytest.param("ANSWER: $\\textbf{ ( C )", "C", id="latex, then a bracket"),
        pytest.param("ANSWER: B and that is why", "B", id="a conjunction before a word ends the labels"),
        pytest.param("ANSWER: B and C", "", id="a conjunction before a label does not"),
        pytest.param("ANSWER: b. No marker counts, But capitals", "B", id="the last capital of the reply"),
        pytest.param("so A it is, OK", "", id="a last capital that is no label"),
        pytest.param("答案：C", "C", id="a Chinese marker is none to English prompts, but C is the last capital"),
        pytest.param("ANSWER： B, then Q", "", id="full-width colon"),
        pytest.param("", "", id="empty"),
    ],
)
def test_single_choices_rule_by_rule(reply, label):
    assert read_general_vmcq(reply, list("ABCD")) == label
    assert read_general_vmcq(reply, "ABCD") == label


@pytest.mark.parametrize(
    ("reply", "labels"),
    [
        ("ANSWER: C,A", "AC"),
        ("ANSWER: CA", "AC"),
        ("ANSWER: (D, B)", "BD"),
        ("ANSWER: A and  C or D", "ACD"),
        ("ANSWER: A and", "A"),
        ("ANSWER: A, E", "A"),
        ("ANSWER: A,and B", ""),
        ("none", ""),
    ],
)
def test_several_choices_rule_by_rule(reply, labels):
    assert read_general_vmcq(reply, list("ABCD"), multiple=True) == labels


@pytest.mark.parametrize(
    ("reply", "labels"),
    [("答案: A、C", "AC"), ("答案：A 和 C", "A"), ("答案：AC", "AC"), ("答案：AB,C", ""), ("ANSWER: A, C", "C")],
)
def test_several_choices_of_chinese_prompts(reply, labels):
    assert read_general_vmcq(reply, list("ABCD"), language="chinese", multiple=True) == labels


@pytest.mark.parametrize(("multiple", "chosen"), [(False, "12"), (True, "12")])
def test_a_number_of_two_digits_is_one_label(multiple, chosen):
    assert read_general_vmcq("ANSWER: 12", general_vmcq_labels(40), multiple=multiple) == chosen


@given(REPLIES, st.integers(0, 40), st.booleans(), st.sampled_from(["english", "chinese"]))
def test_only_labels_of_the_item_are_read(reply, count, multiple, language):
    labels = general_vmcq_labels(count)
    read = read_general_vmcq(reply, labels, language=language, multiple=multiple)
    if multiple:
        assert set(read) <= set("".join(labels))
    else:
        assert read in ("", *labels)


@pytest.mark.parametrize(
    ("extracted", "target", "score"),
    [("A", " a\n", 1.0), ("AC", "CA", 0.0), ("", "", 1.0), ("", "A", 0.0), ("AA", "A", 0.0)],
)
def test_accuracy_is_equality(extracted, target, score):
    assert choice_accuracy(extracted, target) == score


@pytest.mark.parametrize(("extracted", "score"), [("ac", 1.0), ("AA", 0.0), ("A", 0.0), ("ACC", 0.0)])
def test_the_careful_rule_lets_the_letters_come_in_any_order(extracted, score):
    assert choice_accuracy(extracted, "CA", rule="careful") == score


@pytest.mark.parametrize(
    ("extracted", "target", "score"),
    [("AC", "CA", 1.0), ("a", "ABC", 1 / 3), ("AD", "ABC", 0.0), ("", "A", 0.0), ("A", "", 0.0), ("", "", 0.0)],
)
def test_found_letters_count_by_share_unless_one_is_wrong(extracted, target, score):
    assert multi_choice_accuracy(extracted, target) == pytest.approx(score)
