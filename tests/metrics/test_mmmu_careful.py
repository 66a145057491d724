import pytest
from flagevalmm_vectors import vectors
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.mmmu import open_correct

# 0088 has "1998-2003" for 2003; a range is no answer to a question for its end.
LINES = [line for line in vectors("mmmu_open") if line.id != "mmmu_open-0088"]
TEXTS = st.lists(
    st.sampled_from(
        ["is ", "answer ", "=", "\n", "1", "1,234", ".5", "e5", "%", " thousand", "\\frac{1}{0}", "not ", "(A)"]
    ),
    max_size=9,
).map("".join) | st.text(max_size=30)


@pytest.mark.parametrize("vector", LINES)
def test_the_careful_rule_says_what_a_careful_reader_says(vector):
    wanted = vector.get("sensible", vector["expected"])["correct"]
    assert open_correct(vector["input"]["response"], vector["input"]["gold"], rule="careful") is wanted


@pytest.mark.parametrize(
    ("response", "gold", "right"),
    [
        pytest.param("x is 3\n\n12", "12", True, id="a short last line is the statement"),
        pytest.param("x is 3\n\n12", "3", False, id="an earlier line is not"),
        pytest.param(
            "The answer is 5.\n\nI hope this helps you a lot", "5", True, id="a last line that states nothing"
        ),
        pytest.param("As x is 3, the answer is 5", "5", True, id="announced before stated"),
        pytest.param("So a = 2 b = 6", "6", True, id="last sign of equality"),
        pytest.param("The mass is 5 \\times 10^{3} kg", "5000", True, id="power of ten"),
        pytest.param("It is -.5", "-0.5", True, id="leading point"),
        pytest.param("It is 12,5", "12", False, id="a decimal comma is no number"),
        pytest.param("It is 7 percent", "0.07", True, id="percentage as a share"),
        pytest.param("It is \\frac{3}{0}", "3", False, id="division by zero"),
        pytest.param("It isn't Paris", "Paris", False, id="negated before"),
        pytest.param("It is neither a city nor Paris", "Paris", False, id="neither nor"),
        pytest.param("No, it is blue.", "no", True, id="opening word"),
        pytest.param("No one is there", "no", False, id="a determiner is no opening word"),
        pytest.param("Paris is the capital", "paris", True, id="opening subject"),
        pytest.param("It is New\nYork", "New York", False, id="a name over two lines"),
        pytest.param("it is new  york", "New York", True, id="white space"),
        pytest.param("The answer is (A).", "A", True, id="one letter alone"),
        pytest.param("It is a cat", "A", False, id="one letter among words"),
        pytest.param("<think>It is 5", "5", False, id="unfinished thinking"),
        pytest.param("It is blue", ["red", "blue"], True, id="alternatives"),
        pytest.param("It is 0.5%", "5%", False, id="digits of a longer number"),
        pytest.param("", "5", False, id="empty"),
        pytest.param("", "", True, id="both empty"),
        pytest.param("5", "", False, id="empty gold"),
    ],
)
def test_the_careful_rule_by_cases(response, gold, right):
    assert open_correct(response, gold, rule="careful") is right


@given(TEXTS, TEXTS)
def test_the_careful_rule_never_raises(response, gold):
    assert open_correct(response, gold, rule="careful") in (True, False)


@given(st.sampled_from(["5", "Paris", "new york", "(3,4)", "1/3", "北京"]), st.text(" \n\t", max_size=5))
def test_the_right_answer_alone_is_right_whatever_space_is_around_it(gold, space):
    assert open_correct(space + gold + space, gold, rule="careful")
