"""When to give up on an endpoint, and when not."""

from __future__ import annotations

import pytest

from flagmm.errors import EndpointError
from flagmm.inference.hopeless import HopelessGuard
from flagmm.types import ItemError, Prediction


def outcome(what):
    """A prediction from a short text: a status, or an error's kind with perhaps its message, as in "server: oops"."""
    kind, _, message = what.partition(": ")
    if kind in ("ok", "empty"):
        return Prediction(question_id="1", question="", answer="", status=kind)
    status = "refused" if kind == "refused" else "failed"
    error = ItemError(kind=kind, message=message or kind)
    return Prediction(question_id="1", question="", answer="", status=status, error=error)


def observed_until_given_up(outcomes, workers=8):
    """How many outcomes were looked at before it gave up; None where it did not."""
    guard = HopelessGuard(endpoint="http://h/v1", workers=workers)
    for number, what in enumerate(outcomes, start=1):
        try:
            guard.observe(outcome(what))
        except EndpointError:
            return number
    return None


@pytest.mark.parametrize(
    ("outcomes", "given_up_after"),
    [
        pytest.param(["auth"] * 9, 3, id="wrong key"),
        pytest.param(["not_found"] * 9, 3, id="wrong URL"),
        pytest.param(["connection"] * 9, 3, id="nobody there"),
        pytest.param(["bad_reply: <p>1", "bad_reply: <p>2", "bad_reply: <p>3"], 3, id="no API, whatever the page says"),
        pytest.param(["server: oops"] * 30, 10, id="the same fault each time"),
        pytest.param([f"server: oops {n}" for n in range(30)], None, id="different faults"),
        pytest.param(["server: a"] * 9 + ["server: b"] * 9 + ["server: a"] * 9, None, id="changing faults"),
        pytest.param(["auth", "auth", "server: x", "auth", "auth"], None, id="not one after another"),
        pytest.param(["auth", "auth", "ok", *["auth"] * 30], None, id="answered once: the key is right"),
        pytest.param(["auth", "auth", "empty", *["auth"] * 30], None, id="empty is an answer too"),
        pytest.param(["auth", "auth", "refused", *["auth"] * 30], None, id="so is a refusal"),
        pytest.param(["media"] * 50, None, id="broken pictures are no fault of the endpoint"),
        pytest.param(["data"] * 50, None, id="nor are broken records"),
        pytest.param(["auth", "media", "auth", "media", "auth"], 3 + 2, id="which do not count in between"),
        pytest.param(["ok", *["connection"] * 30], 1 + 20, id="went away"),
        pytest.param(["ok", *["connection"] * 19, "ok", *["connection"] * 19], None, id="came back"),
        pytest.param(["ok", *["server: oops"] * 50], None, id="once answered, a fault is the items'"),
        pytest.param([], None, id="nothing"),
    ],
)
def test_it_gives_up_when_the_first_calls_all_fail_the_same_way(outcomes, given_up_after):
    assert observed_until_given_up(outcomes) == given_up_after


def test_many_workers_that_lose_the_endpoint_at_once_are_waited_for():
    outcomes = ["ok", *["connection"] * 100]
    assert observed_until_given_up(outcomes, workers=32) == 1 + 64


@pytest.mark.parametrize(
    ("outcomes", "message"),
    [
        (["auth: HTTP 401"] * 3, "http://h/v1 does not answer: HTTP 401; check api_key"),
        (["not_found: HTTP 404"] * 3, "http://h/v1 does not answer: HTTP 404; check url and model_name"),
        (["connection: refused"] * 3, "http://h/v1 does not answer: refused; check url, and that the server runs"),
        (["bad_reply: page"] * 3, "http://h/v1 does not answer: page; check that url is an OpenAI-compatible endpoint"),
        (["server: oops"] * 10, "http://h/v1 does not answer: oops; see the message"),
        (
            ["ok", *["connection: reset"] * 20],
            "http://h/v1 went away: reset; check url, and that the server runs, "
            "then run the same command again to go on",
        ),
    ],
)
def test_it_says_why_and_what_to_do(outcomes, message):
    guard = HopelessGuard(endpoint="http://h/v1", workers=1)
    for what in outcomes[:-1]:
        guard.observe(outcome(what))
    with pytest.raises(EndpointError) as caught:
        guard.observe(outcome(outcomes[-1]))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("outcomes", "is_hopeless"),
    [
        pytest.param(["auth"], True, id="one item, wrong key"),
        pytest.param(["connection", "connection"], True, id="two items, nobody there"),
        pytest.param(["ok", "connection"], False, id="one was answered"),
        pytest.param(["server: oops"], False, id="may pass"),
        pytest.param(["media"], False, id="broken picture"),
        pytest.param([], False, id="nothing asked"),
    ],
)
def test_a_task_too_short_to_tell_is_judged_at_its_end(outcomes, is_hopeless):
    guard = HopelessGuard(endpoint="http://h/v1", workers=1)
    for what in outcomes:
        guard.observe(outcome(what))
    if is_hopeless:
        with pytest.raises(EndpointError, match=r"^http://h/v1 does not answer: "):
            guard.close()
    else:
        guard.close()
