"""Numbers out of verdicts."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.evaluator import aggregate
from flagmm.evaluator.answers import Answer, Reply
from flagmm.evaluator.rules import TypeRules
from flagmm.evaluator.verdict import Judged
from flagmm.types import STATUSES, Counts
from tests.core_cases import core_cases
from tests.evaluator.judged_items import NOT_SCORED, RIGHT, UNREAD, WRONG, judged

OFTEN = settings(max_examples=40, deadline=None)


def count(items, questions=None):
    return aggregate.count([item.answer for item in items], items, len(items) if questions is None else questions)


@pytest.mark.parametrize(
    ("items", "asked", "answered"),
    [
        pytest.param([], None, None, id="nothing"),
        pytest.param([judged(RIGHT)], 100.0, 100.0, id="one right"),
        pytest.param([judged(WRONG)], 0.0, 0.0, id="one wrong"),
        pytest.param([judged(RIGHT), judged(WRONG), judged(UNREAD)], 33.33, 33.33, id="unread is wrong"),
        pytest.param([judged(RIGHT), judged("failed")], 50.0, 100.0, id="failing cannot raise the score"),
        pytest.param([judged("failed"), judged("empty"), judged("refused")], 0.0, None, id="nothing answered"),
        pytest.param([judged(RIGHT), judged(NOT_SCORED, scorable=False)], 100.0, 100.0, id="not scored is not wrong"),
        pytest.param([judged(NOT_SCORED, scorable=False)], None, None, id="unavailable is no quiet 0"),
        pytest.param([judged(RIGHT, WRONG), judged(RIGHT, RIGHT)], 75.0, 75.0, id="repeats are means"),
        pytest.param([judged(RIGHT, "failed")], 50.0, 100.0, id="a failed repeat"),
        pytest.param([judged()], 0.0, None, id="a record without any reply"),
    ],
)
def test_accuracy_is_over_all_that_was_asked_and_beside_it_over_the_answered(items, asked, answered):
    assert aggregate.accuracy(items) == asked
    assert aggregate.accuracy_answered(items) == answered


def test_accuracy_takes_any_iterable():
    assert aggregate.accuracy(iter([judged(RIGHT)])) == 100.0


def grouped_accuracy(items, key):
    return {value: aggregate.accuracy(members) for value, members in aggregate.groups(items, key).items()}


def test_questions_are_grouped_by_a_field_with_its_values_in_order():
    items = [
        judged(RIGHT, topic="b"), judged(WRONG, topic="b"), judged("failed", topic="a"), judged(RIGHT, topic=3),
        judged(NOT_SCORED, scorable=False, topic="c"), judged(RIGHT),
    ]  # fmt: skip
    found = aggregate.groups(items, "topic")
    assert {value: len(members) for value, members in found.items()} == {"3": 1, "a": 1, "b": 2, "c": 1}
    assert list(found) == ["3", "a", "b", "c"]
    assert grouped_accuracy(items, "topic") == {"3": 100.0, "a": 0.0, "b": 50.0, "c": None}
    assert aggregate.groups([], "topic") == {}


@pytest.mark.parametrize(("given", "expected"), core_cases("breakdown"))
def test_recorded_groups(given, expected):
    items = [judged(RIGHT if item["correct"] else WRONG, cat=item["cat"]) for item in given["items"]]
    empty = set(given["cats"]) - {item["cat"] for item in given["items"]}
    items += [judged(NOT_SCORED, scorable=False, cat=cat) for cat in empty]  # there, but with nothing to score
    assert grouped_accuracy(items, "cat") == expected


@pytest.mark.parametrize(("given", "expected"), core_cases("average"))
def test_recorded_averages(given, expected):
    items = [judged(RIGHT if item["correct"] else WRONG, cat=item["cat"]) for item in given["items"]]
    groups = {value: {"accuracy": score} for value, score in grouped_accuracy(items, "cat").items()}
    assert {
        "micro": aggregate.accuracy(items),
        "macro": aggregate.macro({"cat": groups}, "accuracy")["cat"],
    } == expected


@pytest.mark.parametrize(
    ("groups", "mean"),
    [
        ({"a": {"accuracy": 100.0, "n": 9}, "b": {"accuracy": 0.0, "n": 1}}, 50.0),
        ({"a": {"accuracy": 100.0}, "b": {"accuracy": None}}, 100.0),
        ({"a": {"accuracy": 10.0}, "b": {"accuracy": 10.0}, "c": {"accuracy": 11.0}}, 10.33),
        ({"a": {"accuracy": None}}, None),
        ({}, None),
    ],
)
def test_in_the_macro_mean_every_group_weighs_the_same(groups, mean):
    assert aggregate.macro({"topic": groups}, "accuracy") == {"topic": mean}


@pytest.mark.parametrize(("given", "expected"), core_cases("summary"))
def test_recorded_items_without_a_reference(given, expected):
    items, rules = [], TypeRules()
    for item in given["items"]:
        annotation = {"question_type": "multiple-choice", "answer": item["gold"]}
        verdict = rules.score(item["prediction"], annotation)
        items.append(judged((verdict.correct, verdict.extracted), scorable=rules.can_score(annotation), **annotation))
    assert {"accuracy": aggregate.accuracy(items), "no_gold": count(items).unscored} == expected


def test_each_kind_of_reply_is_counted():
    items = [
        judged(RIGHT),
        judged(WRONG),
        judged(UNREAD),
        judged("empty"),
        judged("refused"),
        judged("failed"),
        judged("failed"),
    ]
    items += [judged(NOT_SCORED, scorable=False), judged("failed", scorable=False)]
    assert count(items, questions=12) == Counts(
        total=12, asked=9, answered=4, empty=1, refused=1, failed=3, truncated=0, unparsed=1, judge_failed=0, unscored=2
    )


def test_truncated_is_what_was_cut_with_or_without_a_text():
    def cut(status):
        item = judged(RIGHT if status == "ok" else status)
        reply = Reply(text="", status=status, finish_reason="length", usage=None, inference=0)
        return Judged(answer=item.answer.with_replies(reply), verdicts=item.verdicts, scorable=True)

    assert count([cut("ok"), cut("empty"), cut("failed")]).truncated == 2


def test_repeats_count_each_and_the_total_is_questions_times_repeats():
    found = count([judged(RIGHT, WRONG, "failed"), judged(RIGHT)], questions=5)
    assert (found.total, found.asked, found.answered, found.failed) == (15, 4, 3, 1)


def test_without_verdicts_only_the_replies_are_counted():
    found = aggregate.count([judged(UNREAD).answer, judged("empty").answer], [], 2)
    assert (found.total, found.asked, found.answered, found.empty, found.unparsed, found.unscored) == (2, 2, 1, 1, 0, 0)


OUTCOMES = st.sampled_from([RIGHT, WRONG, UNREAD, *STATUSES[1:]])
ITEMS = st.lists(
    st.lists(OUTCOMES, min_size=1, max_size=3).flatmap(
        lambda each: st.booleans().map(lambda ok: judged(*each, scorable=ok))
    ),
    max_size=8,
)


@OFTEN
@given(ITEMS)
def test_counts_add_up(items):
    found = count(items)
    assert found.asked == found.answered + found.empty + found.refused + found.failed
    assert found.asked <= found.total
    assert found.unparsed <= found.answered
    assert found.unscored <= found.asked


@OFTEN
@given(ITEMS)
def test_no_reply_that_is_missing_raises_the_score(items):
    one_more = [*items, judged("failed")]
    before, after = aggregate.accuracy(items), aggregate.accuracy(one_more)
    assert after <= (before or 0.0)
    assert aggregate.accuracy_answered(one_more) == aggregate.accuracy_answered(items)


@pytest.mark.parametrize(
    ("counts", "info"),
    [
        (Counts(asked=4, answered=4), {}),
        (Counts(), {}),
        (Counts(asked=3, answered=2), {"reject_info": {"reject_rate": 33.33, "reject_number": 1, "total_question": 3}}),
        (Counts(asked=2, answered=0), {"reject_info": {"reject_rate": 100.0, "reject_number": 2, "total_question": 2}}),
    ],
)
def test_what_was_not_answered_is_told_under_flagevalmm_s_names(counts, info):
    assert aggregate.reject_info(counts) == info


def test_rules_are_counted():
    assert aggregate.rule_counts([judged(RIGHT, WRONG), judged(RIGHT), judged("failed")]) == {"rule A": 2, "rule B": 1}


def usage(*values):
    replies = tuple(Reply(text="", status="ok", finish_reason=None, usage=value, inference=0) for value in values)
    return [Answer(question_id="1", annotation={}, record={}, replies=replies, repeated=True)]


@pytest.mark.parametrize(
    ("usages", "means"),
    [
        ([None, "x", {}], {}),
        ([{"total_tokens": 3}, {"total_tokens": 4}, None], {"average_tokens": 3.5}),
        (
            [{"total_tokens": None, "prompt_tokens": 1, "completion_tokens": 2.5}],
            {"average_prompt_tokens": 1.0, "average_completion_tokens": 2.5},
        ),
        ([{"total_tokens": 1}, {"total_tokens": 1}, {"total_tokens": 2}], {"average_tokens": 1.33}),
    ],
)
def test_token_means_are_over_the_replies_that_tell_theirs(usages, means):
    assert aggregate.token_means(aggregate.ReplyTally(usage(*usages))) == means


def test_counts_are_written_with_all_their_names():
    assert aggregate.as_dict(Counts(asked=1)) == asdict(Counts(asked=1))
    assert aggregate.percent(1 / 3) == 33.33
