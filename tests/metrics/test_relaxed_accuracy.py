import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.relaxed_accuracy import relaxed_accuracy, relaxed_correct

RULES = st.sampled_from(["reference", "careful"])
VARIANTS = st.sampled_from(["vlmevalkit", "evalscope"])


@pytest.mark.parametrize(
    ("prediction", "target", "correct"),
    [
        ("105", "100", True),
        ("105.01", "100", False),
        ("95", "100", True),
        ("-105", "-100", True),
        ("-100", "100", False),
        ("1e2", "100", True),
        ("50%", "0.5", True),
        ("50 %", "50%", True),
        ("5%%", "0.05", True),
        ("%", "%", True),
        (" 50\n", "50", True),
        ("50.", "50", True),
        ("yes", "YES", True),
        ("dark red", "red", False),
        ("$50", "50", False),
        ("inf", "inf", False),
        ("nan", "nan", False),
        ("0", "0", True),
        ("", "", True),
        ("", "0", False),
        ("0", "", False),
    ],
)
@pytest.mark.parametrize("variant", ["vlmevalkit", "evalscope"])
def test_numbers_may_be_off_by_a_twentieth_and_texts_must_be_equal(prediction, target, correct, variant):
    assert relaxed_correct(prediction, target, variant=variant) is correct


@pytest.mark.parametrize(("prediction", "target"), [("0.0", "0"), ("0", "0.0"), ("-0", "0"), ("0%", "0")])
def test_a_zero_target_is_compared_as_text_or_by_value(prediction, target):
    assert not relaxed_correct(prediction, target)
    assert relaxed_correct(prediction, target, variant="evalscope")
    assert relaxed_correct(prediction, target, rule="careful")


def test_only_vlmevalkit_strips_text():
    assert relaxed_correct(" yes ", "yes")
    assert not relaxed_correct(" yes ", "yes", variant="evalscope")


@pytest.mark.parametrize(
    ("prediction", "target"),
    [
        ("1,000", "1000"), ("50%", "50"), ("50", "50%"), ("52", "50%"), ("2%", "2"), ("Yes.", "yes"),
        ("Answer: 42", "42"), ("It grows.\nANSWER: 42.", "42"), ("The answer is 42", "42"), ("答案：42", "42"),
        (r"So it is \boxed{42}.", "42"), (r"\boxed{\$42}", "42"), (r"-\boxed{42}", "-42"), ("**Answer:** Red", "red"),
        ("$42", "42"), ("42", "$42"), ("-$42", "-42"), ("$-42", "-42"), ("$42$", "42"), ("€1,000.50", "1000.5"),
        ("42 €", "42"), ("￥42", "42"), ("$44", "42"), ("<think>41?</think>Answer: 42", "42"),
    ],
)  # fmt: skip
def test_the_careful_rule_reads_what_the_reference_does_not(prediction, target):
    assert not relaxed_correct(prediction, target)
    assert relaxed_correct(prediction, target, rule="careful")


@pytest.mark.parametrize(
    ("prediction", "target"),
    [("53%", "50"), ("0.5", "50"), ("1e-9", "0"), ("50 million", "50"), ("No.", "yes"), ("5%", "0"), ("", "0")],
)
def test_the_careful_rule_still_says_no(prediction, target):
    assert not relaxed_correct(prediction, target, rule="careful")


def test_the_allowed_change_can_be_chosen():
    assert relaxed_correct("110", "100", max_relative_change=0.1)
    assert not relaxed_correct("100.5", "100", max_relative_change=0)
    assert relaxed_correct("1,100", "1000", max_relative_change=0.1, rule="careful")


def test_the_best_of_several_targets_counts():
    assert relaxed_accuracy("red", ["blue", "Red"]) == 1.0
    assert relaxed_accuracy("red", "blue") == 0.0
    assert relaxed_accuracy("red", []) == 0.0


@given(st.text(), st.text(), VARIANTS, RULES)
def test_any_texts_can_be_compared(prediction, target, variant, rule):
    assert relaxed_correct(prediction, target, variant=variant, rule=rule) in (True, False)


@given(st.text(alphabet="0123456789.%-+e, _"), st.text(alphabet="0123456789.%-+e, _"), VARIANTS)
def test_careful_reading_takes_nothing_away_from_number_like_texts(prediction, target, variant):
    if relaxed_correct(prediction, target, variant=variant):
        assert relaxed_correct(prediction, target, variant=variant, rule="careful")


@pytest.mark.parametrize(
    ("prediction", "target"),
    [
        ("Answer: not 42", "42"), ("Answer: 42 or 43", "42"), (r"\boxed{41} \boxed{50}", "41"), ("Answer: 50", "42"),
        ("€42", "$42"), ("$", "42"), ("$$", ""), ("42 dogs", "42"), ("The answer is no", "yes"),
    ],
)  # fmt: skip
def test_the_careful_rule_takes_what_is_stated_for_what_it_is(prediction, target):
    assert not relaxed_correct(prediction, target, rule="careful")
