"""When to give up on an endpoint, and when not."""

from __future__ import annotations

import pytest

from flagmm.errors import EndpointError, JudgeError, ModelError
from flagmm.inference.hopeless import HopelessGuard
from flagmm.types import ItemError, Prediction


def outcome(what):
    """A prediction from a short text: a status, or an error's kind with perhaps its message, as in "server: oops".

    A message that is a number is the HTTP status.
    """
    kind, _, message = what.partition(": ")
    if kind in ("ok", "empty"):
        return Prediction(question_id="1", question="", answer="", status=kind)
    status = "refused" if kind == "refused" else "failed"
    error = ItemError(kind=kind, message=message or kind, status=int(message) if message.isdecimal() else None)
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
        pytest.param([f"server: oops {n}" for n in range(30)], 20, id="different faults without end"),
        pytest.param(["server: a"] * 9 + ["server: b"] * 9, None, id="changing faults"),
        pytest.param(["server: a", "timeout", "connection"] * 10, 20, id="changing faults without end"),
        pytest.param(["bad_request: no"] * 30, 10, id="turned down, one after the other"),
        pytest.param([f"bad_request: {n} tokens" for n in range(30)], None, id="turned down for what each of them is"),
        pytest.param(["model: oops"] * 30, 10, id="a model class that always raises"),
        pytest.param(["auth", "auth", "server: x", "auth", "auth"], None, id="not one after another"),
        pytest.param(["auth", "auth", "ok", "auth", "auth", "ok"], None, id="answered in between"),
        pytest.param(["auth", "auth", "empty", "auth", "auth"], None, id="empty is an answer too"),
        pytest.param(["auth", "auth", "refused", "auth", "auth"], None, id="so is a refusal"),
        pytest.param(["ok", *["auth: 401"] * 30], 1 + 3, id="a key that is revoked"),
        pytest.param(["ok", *["auth: 402"] * 30], 1 + 3, id="no money left"),
        pytest.param(["ok", *["auth: 403"] * 30], 1 + 10, id="forbidden, which may be about single questions"),
        pytest.param(["ok", *["auth: 403"] * 9, "ok", *["auth: 403"] * 9], None, id="some are forbidden"),
        pytest.param(["ok", *["not_found"] * 30], 1 + 10, id="a model that is taken down"),
        pytest.param(["media"] * 50, None, id="broken pictures are no fault of the endpoint"),
        pytest.param(["data"] * 50, None, id="nor are broken records"),
        pytest.param(["auth", "media", "auth", "media", "auth"], 3 + 2, id="which do not count in between"),
        pytest.param(["ok", *["connection"] * 30], 1 + 20, id="went away"),
        pytest.param(["ok", *["connection"] * 19, "ok", *["connection"] * 19], None, id="came back"),
        pytest.param(["ok", *["server: oops"] * 50], 1 + 20, id="errors of the server without end"),
        pytest.param(["ok", *["timeout"] * 50], 1 + 20, id="timeouts without end"),
        pytest.param(["ok", *["rate_limit"] * 50], 1 + 20, id="no quota left"),
        pytest.param(["ok", *["bad_reply: <p>"] * 50], 1 + 20, id="a gateway's page instead of replies"),
        pytest.param(["ok", *["server", "timeout", "connection"] * 10], 1 + 20, id="a server that breaks down"),
        pytest.param(["ok", *["timeout"] * 19, "ok", *["server: oops"] * 19], None, id="overloaded for a while"),
        pytest.param(["ok", *["timeout", "media"] * 30], 1 + 39, id="broken pictures are no sign of life"),
        pytest.param(["ok", *["timeout"] * 19, "bad_request: no", *["timeout"] * 19], None, id="HTTP 400 is one"),
        pytest.param(
            ["ok", *["bad_request: no"] * 50], None, id="once answered, what is turned down is the items' fault"
        ),
        pytest.param(["ok", *["model: oops"] * 50], None, id="as is what a model class raises"),
        pytest.param([], None, id="nothing"),
    ],
)
def test_it_gives_up_when_the_first_calls_all_fail_the_same_way(outcomes, given_up_after):
    assert observed_until_given_up(outcomes) == given_up_after


@pytest.mark.parametrize("kind", ["bad_request", "model"])
def test_what_is_turned_down_ends_the_task_at_most_and_not_even_that_where_failures_are_accepted(kind):
    guard = HopelessGuard(endpoint="http://h/v1", workers=1)
    for _ in range(9):
        guard.observe(outcome(f"{kind}: no"))
    with pytest.raises(EndpointError) as caught:
        guard.observe(outcome(f"{kind}: no"))
    assert (caught.value.of_task, caught.value.exit_status) == (True, 1)
    guard.start_task(patient=True)
    for _ in range(50):
        guard.observe(outcome(f"{kind}: no"))
    guard.close()


def test_a_row_of_failures_goes_on_over_the_ends_of_tasks_and_their_first_calls_count_anew():
    guard = HopelessGuard(endpoint="http://h/v1", workers=1)
    guard.observe(outcome("ok"))
    for _ in range(4):
        guard.start_task()
        for number in range(4):
            guard.observe(outcome(f"timeout: {number}"))
        guard.close()
    guard.start_task()
    for number in range(3):
        guard.observe(outcome(f"timeout: {number}"))
    with pytest.raises(EndpointError, match=r"^http://h/v1 answers no more: ") as caught:
        guard.observe(outcome("timeout: 3"))
    assert (caught.value.of_task, caught.value.exit_status) == (False, 2)


def test_the_next_task_of_an_endpoint_that_answered_is_given_up_as_soon_as_the_first():
    guard = HopelessGuard(endpoint="http://h/v1", workers=1)
    guard.observe(outcome("ok"))
    guard.start_task()
    guard.observe(outcome("auth: 401"))
    with pytest.raises(EndpointError, match=r"^http://h/v1 answers no more: 401; check api_key, then run the same"):
        guard.close()


@pytest.mark.parametrize("raises", [EndpointError, JudgeError])
def test_what_is_raised_for_a_judge_is_an_error_of_the_judge(raises):
    guard = HopelessGuard(endpoint="e", workers=1, raises=raises)
    error = ModelError("no", kind="bad_request", status=400)
    for _ in range(9):
        guard.observe_call(error)
    with pytest.raises(raises) as caught:
        guard.observe_call(error)
    assert type(caught.value) is raises
    assert caught.value.of_task
    assert ("--keep-failed" in str(caught.value)) == (raises is EndpointError)


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
            ["ok", *["auth: revoked"] * 3],
            "http://h/v1 answers no more: revoked; check api_key, then run the same command again to go on",
        ),
        (
            ["ok", *["auth: 402"] * 3],
            "http://h/v1 answers no more: 402; check the account that api_key belongs to, "
            "then run the same command again to go on",
        ),
        (
            ["bad_request: no max_tokens"] * 10,
            "http://h/v1 turns down one question after the other: no max_tokens; see the message, or ask the other "
            "questions all the same by --keep-failed (of eval: --ignore-errors)",
        ),
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
