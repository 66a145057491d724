"""How a generation ended decides what its text is worth: by the real command, its cache and its resume."""

from __future__ import annotations

import json

import pytest

from tests.end_to_end.folders import answers_by_id, choice, counts_of, read_lines, result_of, write_model, write_task
from tests.servers import MockEndpoint, Reply, by_question, completion, sequence

NO_MESSAGE = Reply(raw_body=json.dumps({"choices": [{"index": 0, "finish_reason": "length"}]}).encode())
ENDINGS = {
    "fine": "B",
    "aborted once": sequence([completion("B", finish_reason="abort"), completion("B")]),
    "timed out": completion("B", finish_reason="timeout"),
    "no resources": completion("B", finish_reason="insufficient_system_resource"),
    "window": completion("B", finish_reason="model_context_window_exceeded"),
    "unsafe": completion("B", finish_reason="SAFETY"),
    "recited": completion("B", finish_reason="RECITATION"),
    "tired": completion("B", finish_reason="tired"),
    "thought": completion("", finish_reason="length"),
    "no message": NO_MESSAGE,
}
FAILED = {"timed out", "no resources"}


@pytest.fixture(scope="module", params=[False, True], ids=["whole", "streamed"])
def two_runs(request, module_command):
    """A run and the same command again, both with the cache; (first, second, what the second asked, folder)."""
    command = module_command
    out = f"out{request.param}"
    endings = {**ENDINGS, "aborted once": sequence([completion("B", finish_reason="abort"), completion("B")])}
    if request.param:  # a raw body is no stream
        endings["no message"] = completion("", finish_reason="length")
    with MockEndpoint(by_question(endings)) as endpoint:
        task = write_task(command.folder / out, [choice(name, f"{name}?") for name in endings])
        model = write_model(
            command.folder / f"{out}.json", endpoint.url, retries=1, use_cache=True, stream=request.param
        )
        flags = ["--tasks", task, "--cfg", model, "--output-dir", out]
        first = command(*flags)
        asked = len(endpoint.asked)
        result, answers = result_of(command.folder / out), answers_by_id(command.folder / out)
        counts = counts_of(command.folder / out)
        second = command(*flags)
        again = {request.text.splitlines()[0] for request in endpoint.asked[asked:]}
    return first, result, counts, answers, second, again, command.folder / out


def test_what_the_server_broke_off_has_failed_and_other_endings_have_their_status(two_runs):
    first, _, _, answers, *_ = two_runs
    statuses = {name: entry["status"] for name, entry in answers.items()}
    assert statuses == {
        "fine": "ok", "aborted once": "ok", "timed out": "failed", "no resources": "failed", "window": "ok",
        "unsafe": "refused", "recited": "refused", "tired": "ok", "thought": "empty", "no message": "empty",
    }  # fmt: skip
    assert answers["aborted once"]["attempts"] == 2
    assert answers["timed out"]["error"]["kind"] == "server"
    assert "the server broke the generation off (finish_reason 'timeout')" in first.stderr
    assert first.status == 1


def test_counts_and_the_line_tell_of_the_token_limit_and_of_unknown_reasons(two_runs):
    first, result, counts, *_ = two_runs
    expected = {"total": 10, "asked": 10, "answered": 4, "empty": 2, "refused": 2, "failed": 2, "truncated": 3}
    assert counts == expected
    assert (result["cut_while_thinking"], result["unknown_finish_reasons"]) == (2, {"tired": 1})
    assert "2 cut at the token limit while thinking: raise max_tokens" in first.stdout
    assert "1 with an unknown finish_reason: 'tired' (×1)" in first.stdout


def test_a_second_run_asks_again_what_is_no_whole_answer(two_runs):
    *_, again, _ = two_runs
    assert again == {f"{name}?" for name in ("timed out", "no resources", "unsafe", "recited", "thought", "no message")}


def test_an_answer_that_an_older_version_took_for_finished_is_asked_again(run_command):
    with MockEndpoint() as endpoint:
        task = write_task(run_command.folder, [choice("1", "One?"), choice("2", "Two?")])
        model = write_model(run_command.folder / "model.json", endpoint.url)
        flags = ["--tasks", task, "--cfg", model, "--output-dir", "out"]
        run_command(*flags)
        saved = run_command.folder / "out" / "colours" / "predictions.jsonl"
        lines = read_lines(saved)
        lines[0]["finish_reason"] = "abort"
        saved.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        before = len(endpoint.asked)
        run_command(*flags)
        assert [request.text.splitlines()[0] for request in endpoint.asked[before:]] == [
            lines[0]["question"].splitlines()[0]
        ]
