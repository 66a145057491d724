"""Whatever an endpoint does wrong, every item gets a status of its own, and the run says what happened."""

from __future__ import annotations

import gzip
from contextlib import ExitStack
from typing import NamedTuple

import pytest

from tests.end_to_end.folders import (
    add_up,
    answers_by_id,
    choice,
    choices,
    counts_of,
    read_lines,
    result_of,
    write_model,
    write_task,
)
from tests.servers import (
    MockEndpoint,
    Reply,
    by_question,
    completion,
    content_filter,
    error_reply,
    html_reply,
    no_choices,
    null_content,
    sequence,
)

RETRY_AFTER = 1.2  # seconds
FAULTS = {
    "fine": "B",
    "server": error_reply(500, "worker died"),
    "hang": Reply(hang=True),
    "reset": Reply(reset=True),
    "html": html_reply(),
    "null": null_content(),
    "no_choices": no_choices(),
    "filtered": content_filter(200),
    "forbidden": content_filter(400),
    "bad_request": error_reply(400, "context too long", code="context_length_exceeded"),
    "cut": completion("B", finish_reason="length"),
    "busy": sequence([error_reply(429, "slow down", retry_after=RETRY_AFTER), completion("B")]),
}
EXPECTED = {  # status, kind of error, attempts
    "fine": ("ok", None, 1),
    "server": ("failed", "server", 2),
    "hang": ("failed", "timeout", 2),
    "reset": ("failed", "connection", 2),
    "html": ("failed", "bad_reply", 2),
    "null": ("empty", None, 1),
    "no_choices": ("failed", "bad_reply", 2),
    "filtered": ("refused", None, 1),
    "forbidden": ("refused", "refused", 1),
    "bad_request": ("failed", "bad_request", 1),
    "cut": ("ok", None, 1),
    "busy": ("ok", None, 2),
}


class Hopeless(NamedTuple):
    reply: Reply
    told: str
    """What of the reply the error shows."""
    advice: str
    path: str = ""
    key: str | None = None


HOPELESS = {
    "wrong_key": Hopeless(error_reply(401, "Incorrect key provided"), "Incorrect key", "check api_key", key="sk-wrong"),
    "no_key": Hopeless(
        error_reply(401, "Who are you?"), "give api_key in the model file, or FLAGEVAL_API_KEY", "check"
    ),
    "unknown_model": Hopeless(error_reply(404, "no such model"), "no such model", "check url and model_name"),
    "wrong_path": Hopeless(completion("B"), "/v1/v2 does not", "check url and model_name", "/v2"),
    "web_page": Hopeless(html_reply(), "Welcome", "check that url is an OpenAI-compatible endpoint"),
}


@pytest.fixture(scope="module")
def faulty_run(module_command):
    """One run in which each item meets another fault."""
    folder = module_command.folder
    task = write_task(folder / "task", [choice(name, f"{name} here?") for name in FAULTS])
    with MockEndpoint(by_question({f"{name} here": fault for name, fault in FAULTS.items()})) as endpoint:
        model = write_model(folder / "model.json", endpoint.url, retries=1, timeout=2, num_workers=12)
        done = module_command("--tasks", task, "--cfg", model, "--output-dir", "out")
    return done, folder / "out", endpoint.requests


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_has_its_status(faulty_run, name):
    _, out, _ = faulty_run
    entry = answers_by_id(out)[name]
    kind = entry["error"]["kind"] if entry["error"] else None
    assert (entry["status"], kind, entry["attempts"]) == EXPECTED[name]


def test_an_error_text_never_stands_in_an_answer(faulty_run):
    _, out, _ = faulty_run
    answers = {name: entry["answer"] for name, entry in answers_by_id(out).items()}
    assert answers == {name: "B" if EXPECTED[name][0] == "ok" else "" for name in FAULTS}
    lines = read_lines(out / "colours" / "predictions.jsonl")
    assert {line["question_id"]: line["answer"] for line in lines} == answers


def test_counts_add_up_and_failures_do_not_raise_the_score(faulty_run):
    _, out, _ = faulty_run
    result = result_of(out)
    counts = {"total": 12, "asked": 12, "answered": 3, "empty": 1, "refused": 2, "failed": 6, "truncated": 1}
    assert counts_of(out) == counts
    assert add_up(result["counts"])
    assert (result["accuracy"], result["accuracy_answered"]) == (25.0, 100.0)
    assert result["reject_info"] == {"reject_rate": 75.0, "reject_number": 9, "total_question": 12}


def test_faults_are_told_and_change_the_exit_status(faulty_run):
    done, _, _ = faulty_run
    assert done.status == 1
    assert "6 failed (50.0%); 1 empty (8.3%); 2 refused (16.7%); 1 truncated (8.3%)" in done.stdout
    assert "score between 25.00 and 100.00 if the missing were all wrong or all right" in done.stdout
    assert "colours: ×1 server: HTTP 500: worker died" in done.warnings
    assert "colours: ×1 timeout: no reply within 2 s" in done.warnings


def test_retry_after_is_waited_for(faulty_run):
    _, _, requests = faulty_run
    first, second = [request.time for request in requests if "busy here" in request.text]
    assert second - first >= RETRY_AFTER


def test_a_4xx_is_not_tried_again_and_a_5xx_is(faulty_run):
    _, _, requests = faulty_run
    tries = {name: sum(f"{name} here" in request.text for request in requests) for name in FAULTS}
    assert tries == {name: expected[2] for name, expected in EXPECTED.items()}


@pytest.fixture(scope="module")
def hopeless_runs(module_command):
    """Runs of two tasks against endpoints that can answer nothing; (finished command, requests) by name."""
    folder = module_command.folder
    tasks = [write_task(folder / task, choices(20), name=task) for task in ("first", "second")]
    with ExitStack() as stack:
        endpoints = {name: stack.enter_context(MockEndpoint(fault.reply)) for name, fault in HOPELESS.items()}
        runs = {}
        for name, endpoint in endpoints.items():
            settings = {"num_workers": 2, "retries": 0, "api_key": HOPELESS[name].key}
            model = write_model(folder / f"{name}.json", endpoint.url + HOPELESS[name].path, **settings)
            runs[name] = ["--tasks", *tasks, "--cfg", model, "--output-dir", name]
        finished = module_command.together(runs)
        requests = {name: len(endpoint.requests) for name, endpoint in endpoints.items()}
    return finished, requests, folder


@pytest.mark.parametrize("name", HOPELESS)
def test_a_hopeless_endpoint_stops_the_run_with_one_line(hopeless_runs, name):
    finished, requests, folder = hopeless_runs
    assert finished[name].status == 2
    [error] = finished[name].errors
    assert "does not answer" in error
    assert HOPELESS[name].told in error
    assert HOPELESS[name].advice in error
    assert "Traceback" not in finished[name].stderr
    assert requests[name] <= 10
    assert not (folder / name / "second").exists()


def test_an_endpoint_that_is_not_there_stops_the_run_in_seconds(run_command, tmp_path):
    with MockEndpoint() as endpoint:
        url = endpoint.url  # closed when the block is left
    tasks = {count: write_task(tmp_path / count, choices(int(count))) for count in ("1", "20")}
    flags = ("--model", "m", "--url", url, "--output-dir")
    finished = run_command.together({count: ["--tasks", task, *flags, f"{count}/out"] for count, task in tasks.items()})
    for done in finished.values():
        assert done.status == 2
        assert done.seconds < 10
        [error] = done.errors
        assert f"{url} does not answer: cannot connect to" in error
        assert "check url, and that the server runs" in error


def test_an_endpoint_that_goes_away_stops_the_run_and_keeps_the_answers(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(60))
    script = sequence(["B"] * 5 + [Reply(reset=True)] * 60)
    with MockEndpoint(script) as endpoint:
        model = write_model(tmp_path / "model.json", endpoint.url, num_workers=2, retries=0)
        done = run_command("--tasks", task, "--cfg", model, "--output-dir", "out")
        asked = len(endpoint.requests)
    assert done.status == 2
    assert "went away" in done.errors[0]
    assert asked < 40
    statuses = [entry["status"] for entry in answers_by_id(tmp_path / "out").values()]
    assert statuses.count("ok") == 5


def test_a_reply_without_end_is_one_failed_item_and_not_asked_for_again(run_command, tmp_path):
    task = write_task(tmp_path / "task", [choice("fine", "fine here?"), choice("bomb", "bomb here?")])
    bomb = Reply(raw_body=gzip.compress(b" " * 2**28, compresslevel=1), headers={"Content-Encoding": "gzip"})
    with MockEndpoint(by_question({"fine here": "B", "bomb here": bomb})) as endpoint:
        model = write_model(tmp_path / "model.json", endpoint.url)
        done = run_command("--tasks", task, "--cfg", model, "--output-dir", "out")
        asked = len(endpoint.requests)
    assert (done.status, asked) == (1, 2)
    entry = answers_by_id(tmp_path / "out")["bomb"]
    assert (entry["status"], entry["error"]["kind"], entry["attempts"]) == ("failed", "bad_reply", 1)
    assert entry["error"]["message"] == "the reply is longer than 64 MB"
