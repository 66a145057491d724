"""An API key stays out of every file, log and process argument, however it is given and whatever the endpoint says."""

from __future__ import annotations

import base64
import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.command import Command, Finished
from tests.end_to_end.folders import answers_by_id, choice, choices, read_json, write_model, write_task
from tests.end_to_end.waiting import wait_until
from tests.servers import MockEndpoint, RecordedRequest, Reply, by_question, error_reply

KEY = "sk-0pen-Sesame-7c1f"


def echo(status: int, **headers: str) -> Reply:
    """A failure that repeats the key, in its body and its headers."""
    reply = error_reply(status, f"Incorrect API key provided: {KEY}")
    return Reply(status=status, raw_body=reply.raw_body, headers=headers)


ECHOES = {
    "bad request": echo(400),
    "server fault": echo(500),
    "error in a 200": Reply(raw_body=json.dumps({"error": {"message": f"key {KEY} is over its quota"}}).encode()),
    "page": Reply(raw_body=f"<html>{KEY}</html>".encode()),
    "redirect": echo(302, Location=f"https://elsewhere.example/?key={KEY}"),
    "no scope": echo(403),
}


@dataclass(frozen=True, kw_only=True)
class Route:
    """A way to give the key."""

    settings: dict[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    dotenv: str = ""
    query: str = ""
    header: str = "authorization"
    sent: str | None = f"Bearer {KEY}"


ROUTES = {
    "model file": Route(settings={"api_key": KEY}),
    "named variable": Route(settings={"api_key": "$MY_KEY"}, variables={"MY_KEY": KEY}),
    "default variable": Route(variables={"FLAGEVAL_API_KEY": KEY}, flags=("--debug",)),
    "dotenv": Route(dotenv=f"OPENAI_API_KEY={KEY}\n"),
    "flag": Route(flags=("--api-key", KEY, "--debug")),
    "header": Route(settings={"headers": {"X-Api-Key": KEY}}, header="x-api-key", sent=KEY, flags=("--debug",)),
    "url": Route(query=f"/chat/completions?api-key={KEY}", sent=None, flags=("--debug",)),
}


@pytest.fixture(scope="module")
def route_runs(tmp_path_factory):
    """A run for each way to give the key: the finished command, its first request and its folder by name."""
    folders = {name: tmp_path_factory.mktemp("route") for name in ROUTES}
    with ThreadPoolExecutor(max_workers=2) as pool:
        runs = {name: pool.submit(run_route, ROUTES[name], folder) for name, folder in folders.items()}
        return {name: (*run.result(), folders[name]) for name, run in runs.items()}


def run_route(route: Route, folder: Path) -> tuple[Finished, RecordedRequest]:
    task = write_task(folder / "task", [choice(echoed, f"{echoed}?") for echoed in (*ECHOES, "fine")])
    if route.dotenv:
        (folder / ".env").write_text(route.dotenv)
    with MockEndpoint(by_question({f"{echoed}?": reply for echoed, reply in ECHOES.items()}, default="B")) as endpoint:
        url = endpoint.url + route.query
        model = write_model(folder / "model.json", url, retries=0, use_cache=True, **route.settings)
        arguments = ("--tasks", task, "--cfg", model, "--output-dir", "out", *route.flags)
        done = Command(folder)(*arguments, **route.variables)
        return done, endpoint.requests[0]


@pytest.mark.parametrize("name", ROUTES)
def test_the_key_is_sent_and_shown_nowhere(route_runs, name):
    done, request, folder = route_runs[name]
    assert request.headers.get(ROUTES[name].header) == ROUTES[name].sent
    assert done.status == 1
    assert {entry["status"] for entry in answers_by_id(folder / "out").values()} == {"ok", "failed"}
    assert KEY not in done.stdout + done.stderr
    assert "***" in json.dumps(answers_by_id(folder / "out")["bad request"])
    assert files_with(KEY, folder) <= {"model.json", ".env"}  # where the person put it


def files_with(text: str, folder: Path) -> set[str]:
    """The files under a folder that hold the text, however they are encoded."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix() for path in files if text.encode() in path.read_bytes()}


def test_what_a_sound_reply_repeats_is_kept_nowhere(run_command, tmp_path):
    task = write_task(tmp_path / "task", [choice(name, f"{name}?") for name in ("plain", "base64", "stream", "cut")])
    encoded = base64.b64encode(f"x:{KEY}".encode()).decode()
    replies = {
        "plain?": Reply(text=f"B, by the key {KEY}", reason=f"thinking of {KEY}"),
        "base64?": Reply(text=f"B, Basic {encoded}"),
        "stream?": Reply(raw_body=json.dumps({"choices": [{"message": {"content": f"B {KEY}"}}]}).encode(),
                         headers={"Content-Type": "text/event-stream"}),
        "cut?": error_reply(400, "x" * 290 + KEY),
    }  # fmt: skip
    body = {"auth": "hidden-auth-1", "pwd": "hidden-pwd-1", "my_key": "hidden-key-1", "tokens": ["hidden-token-1"]}
    with MockEndpoint(by_question(replies)) as endpoint:
        settings = {"api_key": KEY, "extra_body": body, "use_cache": True, "retries": 0}
        model = write_model(tmp_path / "model.json", endpoint.url, **settings)
        arguments = ("--tasks", task, "--cfg", model, "--output-dir", "out", "--debug", "--export", "vlmevalkit")
        done = run_command(*arguments, PRED_FORMAT="tsv")
        assert endpoint.asked[0].body["auth"] == "hidden-auth-1"
    answers = answers_by_id(tmp_path / "out")
    assert answers["plain"]["answer"] == "B, by the key ***"
    assert answers["stream"]["answer"] == "B ***"
    assert answers["cut"]["status"] == "failed"
    assert KEY[:5] not in json.dumps(answers["cut"])
    for text in (KEY, encoded, encoded[8:20], "hidden-"):
        assert text not in done.stdout + done.stderr
        assert files_with(text, tmp_path) <= {"model.json"}


def test_a_proxy_without_a_scheme_does_not_make_its_password_known(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(1))
    settings = {"proxy": "user:PASSWORD@127.0.0.1:1", "retries": 0}
    model = write_model(tmp_path / "model.json", "http://127.0.0.1:1/v1", **settings)
    done = run_command("--tasks", task, "--cfg", model, "--output-dir", "out", "--debug")
    assert done.status == 2
    assert "PASSWORD" not in done.stdout + done.stderr
    assert read_json(tmp_path / "out" / "run.json")["model"]["proxy"] == "***@127.0.0.1:1"
    assert files_with("PASSWORD", tmp_path) == {"model.json"}


def test_passwords_of_media_and_what_an_endpoint_says_of_them_are_shown_and_kept_nowhere(run_command, tmp_path):
    """The model file's own words in the body that `--dry-run` shows are such as well."""
    picture = "http://user:MEDIA-PASSWORD@127.0.0.1:1/a.png?sig=MEDIA-SIGNATURE"
    rows = [
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}], "answer": "B"}
        for url in (picture, "ftp://user:MEDIA-PASSWORD@h/a.png")
    ]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "example.jsonl").write_text("\n".join(map(json.dumps, rows)))
    local = {"general_vqa": {"local_path": "data", "subset_list": ["example"]}}
    body = {"extra_body": {"auth": "hidden-auth-1"}}
    models = Reply(raw_body=json.dumps({"data": [{"id": "m", "root": f"/weights/{KEY}"}]}).encode())
    with MockEndpoint(error_reply(400, f"cannot fetch {picture}"), files={"/v1/models": models}) as endpoint:
        run = (
            "eval", "--model", "m", "--api-url", endpoint.url, "--api-key", KEY, "--datasets", "general_vqa",
            "--dataset-args", json.dumps(local), "--generation-config", json.dumps(body), "--no-timestamp",
            "--work-dir", "out",
        )  # fmt: skip
        look, done = run_command(*run, "--dry-run"), run_command(*run, "--debug")
        assert endpoint.asked
    assert '"auth": "***"' in look.stdout
    assert "http://***@127.0.0.1:1/a.png" in look.stdout
    assert "ftp://***@h" in look.stdout
    assert read_json(tmp_path / "out/general_vqa/general_vqa_config.json")["identity"] == "/weights/***"
    for text in (KEY, "MEDIA-", "hidden-"):
        assert text not in look.stdout + look.stderr + done.stdout + done.stderr
        assert files_with(text, tmp_path) <= {"data/example.jsonl"}


def test_what_a_task_s_code_says_of_the_environment_is_kept_without_keys(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(1), evaluator="dict(type='BaseEvaluator', eval_func='own.py')")
    code = (
        "import os\n\n\ndef get_result(annotations, predictions):\n    raise ValueError(os.environ['SERVICE_TOKEN'])\n"
    )
    (tmp_path / "task" / "own.py").write_text(code)
    done = run_command("--tasks", task, "--model-type", "random", "--output-dir", "out", "--debug", SERVICE_TOKEN=KEY)
    assert "ValueError: ***" in (tmp_path / "out" / "summary.json").read_text()
    assert KEY not in done.stdout + done.stderr
    assert files_with(KEY, tmp_path) == set()


def test_names_and_error_bodies_of_others_do_no_harm_where_they_are_shown(run_command, tmp_path):
    harmful = "=1\x1b[2J\n# a [x](http://e) <b>|\u202e"
    items = [choice(1, "Question 1?", sub_task=harmful), choice(2, "Question 2?", sub_task=harmful)]
    evaluator = "dict(type='BaseEvaluator', detailed_keys=['sub_task'])"
    task = write_task(tmp_path / "task", items, evaluator=evaluator)
    replies = {"Question 1?": "B", "Question 2?": error_reply(400, "\x1b]0;owned\x07 \x9b2J\n12:00:00 ERROR forged")}
    with MockEndpoint(by_question(replies)) as endpoint:
        model = write_model(tmp_path / "m.json", endpoint.url)
        done = run_command("--tasks", task, "--cfg", model, "--output-dir", "out")
    for shown in (run_command("compare", "out", "out"), run_command("check", task)):
        assert not set(shown.stdout + shown.stderr) & set("\x1b\x07\x9b\u202e\r")
    report = (tmp_path / "out" / "summary.md").read_text(encoding="utf-8")
    sheet = (tmp_path / "out" / "summary.csv").read_text(encoding="utf-8")
    for text in (done.stdout, done.stderr, report, sheet):
        assert not set(text) & set("\x1b\x07\x9b\u202e\r")
    assert "\\x1b" in done.stdout
    assert not [line for line in done.stderr.splitlines() if line.startswith("12:00:00 ERROR")]
    assert "<b>" not in report
    assert "[x](" not in report.replace("\\[x", "")


def test_an_endpoint_that_refuses_the_key_does_not_make_it_known(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(5))
    with MockEndpoint(echo(401)) as endpoint:
        model = write_model(tmp_path / "model.json", endpoint.url + f"/chat/completions?api-key={KEY}", api_key=KEY)
        done = run_command("--tasks", task, "--cfg", model, "--output-dir", "out", "--debug")
    assert done.status == 2
    assert "check api_key" in done.errors[0]
    assert "Traceback" in done.stderr
    assert KEY not in done.stdout + done.stderr
    assert files_with(KEY, tmp_path) == {"model.json"}


def test_a_task_file_s_own_key_is_masked_in_its_copy(run_command, tmp_path):
    evaluator = f"dict(type='BaseEvaluator', service=dict(api_key={KEY!r}, url='https://u:{KEY}@host/v1'))"
    task = write_task(tmp_path / "task", choices(1), evaluator=evaluator)
    done = run_command("--tasks", task, "--model-type", "random", "--output-dir", "out")
    assert done.status == 0
    copy = read_json(tmp_path / "out" / "colours" / "colours_config.json")
    assert copy["task"]["evaluator"]["service"]["api_key"] == "***"
    assert files_with(KEY, tmp_path / "out") == set()


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc to see other processes' arguments")
def test_the_key_is_in_no_process_s_arguments(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(2))
    with MockEndpoint(Reply(delay=1.0)) as endpoint:
        model = write_model(tmp_path / "model.json", endpoint.url, api_key=KEY)
        process = run_command.start("--tasks", task, "--cfg", model)
        wait_until(lambda: len(endpoint.requests) == 2, "calls under way")
        shown = [pid for pid in os.listdir("/proc") if pid.isdecimal() and KEY.encode() in arguments_of(pid)]
        done = run_command.wait(process)
    assert done.status == 0
    assert shown == []


def arguments_of(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has ended
        return b""
