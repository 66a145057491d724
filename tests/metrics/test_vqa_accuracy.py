import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.vqa_accuracy import mean_accuracy, mean_percent, normalize_vqa_answer, vqa_accuracy
from flagmm.metrics.vqa_punctuation import process_punctuation, process_vqa_punctuation


def people(**counts):
    return [answer for answer, count in counts.items() for _ in range(count)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yes/no", "yes no"),
        ("yes/ no", "yes no"),
        ("a/b c/ d", "ab c d"),
        ("1,000/yes", "1000yes"),
        ("one,two", "one two"),
        ("end.Start", "endStart"),
        ("no. 5", "no 5"),
        ("it's 50%: *ok*", "it's 50%: *ok*"),
        ("是，不是。", "是，不是。"),
        ("", ""),
    ],
)
def test_a_mark_is_deleted_beside_a_space_or_with_grouped_digits_and_else_blanked(text, expected):
    assert process_punctuation(text) == expected
    assert process_vqa_punctuation(text) == expected


@pytest.mark.parametrize(
    ("text", "vlmevalkit", "vqa"),
    [("10.", "10.", "10"), ("no.5", "no.5", "no.5"), ("3.5", "3.5", "3.5"), ("2. dogs", "2. dogs", "2 dogs")],
)
def test_the_two_rules_differ_in_periods_after_digits_only(text, vlmevalkit, vqa):
    assert process_punctuation(text) == vlmevalkit
    assert process_vqa_punctuation(text) == vqa


def test_only_the_first_32_periods_go():
    assert process_punctuation("." * 40) == process_vqa_punctuation("." * 40) == "." * 8


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Dog.", "dog"),
        ("an\tapple\n", "apple"),
        ("none", "0"),
        ("Ten thousand", "10 thousand"),
        ("eleven", "eleven"),
        ("dont", "don't"),
        ("couldnt've", "couldn't've"),
        ("couldn'tve", "couldn't've"),
        ("couldntve", "couldntve"),
        ("yall'd've", "y'all'd've"),
        ("'ow'sat", "'ow's'at"),
        ("somebody'd", "somebodyd"),
        ("Im", "im"),
        ("u.s.a.", "usa"),
        ("a the an", ""),
    ],
)
def test_an_answer_is_normalised(text, expected):
    assert normalize_vqa_answer(text) == expected


@pytest.mark.parametrize(
    ("text", "vqa", "textvqa"),
    [("men's", "men's", "men 's"), ("red,white", "red white", "redwhite"), ("what?no", "what no", "whatno")],
)
def test_textvqa_takes_commas_question_marks_and_the_genitive_apart_first(text, vqa, textvqa):
    assert normalize_vqa_answer(text) == vqa
    assert normalize_vqa_answer(text, variant="textvqa") == textvqa


@pytest.mark.parametrize(("equal", "score"), [(0, 0.0), (1, 0.3), (2, 0.6), (3, 0.9), (4, 1.0), (9, 1.0)])
def test_the_score_grows_with_the_people_who_agree(equal, score):
    assert vqa_accuracy("dog", people(dog=equal, cat=10 - equal)) == pytest.approx(score)
    assert vqa_accuracy("dog", people(dog=equal, cat=10 - equal), variant="textvqa") == pytest.approx(score)


@pytest.mark.parametrize("prediction", ["Yes", "yes.", "the yes"])
def test_where_all_people_agree_vqa_compares_bare_texts(prediction):
    answers = people(yes=10)

    assert vqa_accuracy(prediction, answers) == 0.0
    assert vqa_accuracy(prediction, answers, rule="careful") == 1.0
    assert vqa_accuracy(prediction, answers, variant="textvqa") == 1.0
    assert vqa_accuracy(prediction, [*answers[:9], "yeah"]) == 1.0


def test_outer_white_space_never_counts():
    assert vqa_accuracy("\n yes\t", people(yes=10)) == 1.0
    assert vqa_accuracy("yes", ["yes", " yes", "yes\n"]) == pytest.approx(2 / 3)


def test_no_answers_and_a_lone_answer_score_nothing():
    assert vqa_accuracy("dog", []) == 0.0
    assert vqa_accuracy("dog", ["dog"]) == 0.0


def test_means_are_a_fraction_and_a_rounded_percentage():
    assert mean_accuracy([1.0, 0.3, 0.0]) == pytest.approx(1.3 / 3)
    assert mean_percent([1.0, 1.0, 0.0]) == 66.67
    assert mean_percent([0.3]) == 30.0
    assert mean_accuracy([]) is None
    assert mean_percent([]) is None


@given(st.text(), st.lists(st.text(max_size=5), max_size=10), st.sampled_from(["vqa", "textvqa"]))
def test_any_texts_give_a_score_from_0_to_1_in_any_order(prediction, answers, variant):
    score = vqa_accuracy(prediction, answers, variant=variant)

    assert 0 <= score <= 1
    assert vqa_accuracy(prediction, answers[::-1], variant=variant) == pytest.approx(score)


@given(st.text(alphabet="ab .,'-1"))
def test_an_answer_that_all_people_gave_scores_1(answer):
    assert vqa_accuracy(answer, [answer] * 10) == 1.0
