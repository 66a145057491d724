"""Judged questions in little memory tell the same as a list of them."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.evaluator import aggregate
from flagmm.evaluator.answers import Answer
from flagmm.evaluator.judged_questions import JudgedQuestions, with_verdicts
from flagmm.evaluator.mean_score import mean_score
from flagmm.evaluator.repeats import repeats
from flagmm.evaluator.rules import TypeRules
from flagmm.evaluator.tallies import VerdictTally
from flagmm.evaluator.verdict import JUDGE_FAILED, Judged, Verdict
from tests.evaluator.judged_items import RIGHT, WRONG, judged

VALUES = st.none() | st.sampled_from(["A", "", 1, 1.0, True, 0, False]) | st.lists(st.text(max_size=2), max_size=2)
SCORES = st.none() | st.sampled_from([0.0, 0.5, 1.0])
VERDICTS = st.none() | st.builds(
    Verdict,
    correct=SCORES,
    extracted=VALUES,
    rule=st.sampled_from(["a", "b", JUDGE_FAILED]),
    careful=SCORES,
    reference=SCORES,
    scores=st.none() | st.dictionaries(st.text(max_size=2), st.floats(0, 1), max_size=2),
)


def item(verdicts, scorable, topic):
    replies = judged(*["failed" if verdict is None else RIGHT for verdict in verdicts], topic=topic).answer.replies
    answer = Answer(
        question_id="1", annotation={"topic": topic}, record={}, replies=replies, repeated=len(verdicts) > 1
    )
    return Judged(answer=answer, verdicts=tuple(verdicts), scorable=scorable)


ITEMS = st.lists(
    st.builds(
        item, st.lists(VERDICTS, min_size=1, max_size=3), st.booleans(), st.sampled_from(["x", "y", ["x", "z"], None])
    ),
    max_size=12,
)
OFTEN = settings(max_examples=150, deadline=None)


def kept(items, fields=("topic",)):
    found = JudgedQuestions([each.answer for each in items], fields)
    found.extend(items)
    return found


def exact(verdicts):
    """With types, as 1 and True are not the same in a file."""
    return repr(verdicts)


@OFTEN
@given(ITEMS, st.sampled_from([(), ("topic",)]))
def test_they_are_the_same_one_by_one(items, fields):
    found = kept(items, fields)
    assert [exact(each.verdicts) for each in found] == [exact(each.verdicts) for each in items]
    for mine, given_item in zip(found, items, strict=True):
        assert (mine.score, mine.counts, mine.scorable) == (given_item.score, given_item.counts, given_item.scorable)
        assert mine.answer is given_item.answer
    assert [exact(each.verdicts) for each in found[1:3]] == [exact(each.verdicts) for each in items[1:3]]


@OFTEN
@given(ITEMS)
def test_they_give_the_same_numbers(items):
    found = kept(items)
    mine, others = vars(aggregate.verdict_tally(found)), vars(VerdictTally(items))
    assert sorted(mine.pop("answered")) == sorted(others.pop("answered"))
    assert mine == others
    assert aggregate.accuracy_answered(found) == aggregate.accuracy_answered(items)
    assert aggregate.without(found, ["topic", "other"]) == aggregate.without(items, ["topic", "other"])
    assert len(list(aggregate.unscorable(found))) == len(list(aggregate.unscorable(items)))
    for cluster_by in (None, "topic"):
        assert mean_score(found, cluster_by=cluster_by) == mean_score(items, cluster_by=cluster_by)
    assert repeats(TypeRules(), found, is_mean=True) == repeats(TypeRules(), items, is_mean=True)


@OFTEN
@given(ITEMS)
def test_groups_hold_the_same_and_can_be_grouped_again(items):
    mine, others = aggregate.groups(kept(items), "topic"), aggregate.groups(items, "topic")
    assert list(mine) == list(others)
    for value, members in mine.items():
        assert [exact(each.verdicts) for each in members] == [exact(each.verdicts) for each in others[value]]
        assert asdict(mean_score(members)) == asdict(mean_score(others[value]))
        assert aggregate.accuracy_answered(members) == aggregate.accuracy_answered(others[value])
        again, expected = aggregate.groups(members, "topic"), aggregate.groups(others[value], "topic")
        assert {key: len(group) for key, group in again.items()} == {key: len(group) for key, group in expected.items()}


def test_more_kinds_of_verdicts_than_are_shared_are_told_apart():
    items = [
        item([Verdict(correct=float(number % 2), extracted=f"text {number}", rule="a")], True, "x")
        for number in range(5000)
    ]
    items += items[:3]
    found = kept(items)
    assert [each.verdicts[0].extracted for each in found] == [each.verdicts[0].extracted for each in items]
    assert found[4999].verdicts == items[4999].verdicts
    assert aggregate.rule_counts(found) == {"a": 5003}
    assert aggregate.accuracy_answered(found) == aggregate.accuracy_answered(items)


def test_what_json_does_not_know_is_kept_as_it_is():
    odd = memoryview(b"a number of numpy's is such a thing")
    found = kept([item([Verdict(correct=1.0, extracted=odd, rule="a")], True, "x")])
    assert found[0].verdicts[0].extracted is odd


@pytest.mark.parametrize("make", [list, kept])
def test_some_may_get_other_verdicts(make):
    items = make([judged(RIGHT, topic="x"), judged(WRONG, topic="y"), judged("failed", topic="x")])
    now = with_verdicts(items, {1: (Verdict(correct=1.0, extracted="B", rule="judge"),)})
    assert [each.score for each in now] == [1.0, 1.0, 0.0]
    assert [each.score for each in items] == [1.0, 0.0, 0.0]
    assert aggregate.rule_counts(now) == {"judge": 1, "rule A": 1}
    assert {value: len(members) for value, members in aggregate.groups(now, "topic").items()} == {"x": 2, "y": 1}
