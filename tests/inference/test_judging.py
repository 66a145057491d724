"""A judge model: which of its replies are kept, and what becomes of a judge that goes away."""

from __future__ import annotations

import pytest

from flagmm.config.model import parse_model
from flagmm.errors import JudgeError, ModelError
from flagmm.inference.judging import JudgeModel
from tests.servers import MockEndpoint, Reply, by_question, error_reply

KEY = "sk-judge-0123456789"


def judge_at(endpoint, folder, **settings):
    values = {"model_name": "j", "url": endpoint.url, "temperature": 0, "retries": 0, "num_workers": 1, **settings}
    return JudgeModel(parse_model(values, source="test"), folder / "judgements.sqlite")


def anything(output):
    return True


def nothing(output):
    return False


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("FLAGEVALMM_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("use_cache", [False, True])
def test_a_reply_that_cannot_be_read_is_asked_for_again_also_where_it_was_kept_before(tmp_path, use_cache):
    with MockEndpoint("hm") as endpoint:
        judge = judge_at(endpoint, tmp_path, use_cache=use_cache)
        judge.ask({"q": anything})  # as earlier versions kept whatever came
        judge.ask({"q": anything})
        assert len(endpoint.requests) == 1
        judge.ask({"q": nothing})
        assert len(endpoint.requests) == 2


@pytest.mark.parametrize("use_cache", [False, True])
def test_a_reply_that_could_not_be_read_is_kept_nowhere(tmp_path, use_cache):
    with MockEndpoint("hm") as endpoint:
        judge = judge_at(endpoint, tmp_path, use_cache=use_cache)
        judge.ask({"q": nothing})
        judge.ask({"q": anything})
        judge.ask({"q": anything})
        assert len(endpoint.requests) == 2


def test_a_kept_reply_tells_the_attempts_that_it_took(tmp_path):
    replies = iter([error_reply(500, "busy"), Reply(text="yes")])
    with MockEndpoint(lambda request: next(replies)) as endpoint:
        judge = judge_at(endpoint, tmp_path, retries=2)
        attempts = [judge.ask({"q": anything})["q"].attempts for _ in range(2)]
        assert len(endpoint.requests) == 2
    assert attempts == [2, 2]


def test_a_failed_call_is_an_error_with_its_cause_and_not_a_word_of_the_key(tmp_path):
    rule = by_question({"bad": error_reply(400, f"no {KEY} here"), "echo": f"I was given {KEY}."}, default="yes")
    with MockEndpoint(rule) as endpoint:
        judge = judge_at(endpoint, tmp_path, api_key=KEY)
        found = judge.ask({"good": anything, "bad": anything, "echo": anything})
    assert isinstance(found["bad"], ModelError)
    assert str(found["bad"]) == "HTTP 400: no *** here"
    assert (found["good"].text, found["echo"].text) == ("yes", "I was given ***.")
    assert [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("key", ["none", "EMPTY", "wrong"])
def test_a_word_that_stands_in_for_a_key_stays_in_what_a_judge_says(tmp_path, key):
    with MockEndpoint(f"The answer is {key}.") as endpoint:
        judge = judge_at(endpoint, tmp_path, api_key=key)
        assert judge.ask({"q": anything})["q"].text == f"The answer is {key}."


def test_what_a_judge_said_before_it_went_away_is_kept(tmp_path):
    rule = by_question({"kept": "yes"}, default=Reply(reset=True))
    kept = {f"kept {number}": anything for number in range(3)}
    with MockEndpoint(rule) as endpoint:
        judge = judge_at(endpoint, tmp_path)
        with pytest.raises(JudgeError):
            judge.ask({**kept, **{f"q{number}": anything for number in range(40)}})
        before = len(endpoint.requests)
        found = judge.ask(kept)
        assert len(endpoint.requests) - before <= 1  # one may have been under way
    assert {output.text for output in found.values()} == {"yes"}
