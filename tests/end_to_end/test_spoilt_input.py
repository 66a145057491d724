"""Whatever a file or a server holds, it is told in one line that names it, and no traceback."""

from __future__ import annotations

import json
import os

import pytest

from tests.end_to_end.folders import answers_by_id, choices, read_json, write_model, write_task
from tests.servers import MockEndpoint, Reply

EVALUATION = "model: m\napi_url: http://127.0.0.1:9/v1\ndatasets: [general_vqa]\n"
CONFIGS = {
    "no arguments": (EVALUATION + "dataset_args: null\n", "general_vqa"),
    "brackets": ("[" * 5000, "nested too deeply"),
    "self-reference": ("model_args: &a {x: *a}\n", "holds itself"),
    "list in itself": (EVALUATION + "datasets: &a [*a]\n", "holds itself"),
    "bomb": (
        "".join(f"v{n}: &v{n} [{', '.join([f'*v{n - 1}' if n else 'x'] * 9)}]\n" for n in range(9)),
        "references repeated",
    ),
    "date": (EVALUATION + "generation_config: {extra_body: {when: 2024-01-01}}\n", "extra_body: when: expected a text"),
    "no number": (EVALUATION + "generation_config: {extra_body: {x: .nan}}\n", "extra_body: x: found nan"),
    "huge number": (EVALUATION + f"limit: {'9' * 400}\n", "limit"),
    "repeats": (EVALUATION + "repeats: 1000000000\n", "repeats: expected at most 10000"),
    "body": (EVALUATION + "generation_config: {extra_body: abc}\n", "extra_body: expected an object"),
    "judge": (EVALUATION + "judge: {models: {model_id: x, model_args: 5}}\n", "model_args: expected an object"),
    "null character": (EVALUATION + 'use_cache: "q\\0"\n', "use_cache: a text with a NUL"),
}
MODELS = {
    "messages": ({"extra_body": {"messages": None}}, "extra_body: messages"),
    "repetitions": ({"num_infers": 1e9, "temperature": 1}, "num_infers: expected at most 10000, found 1e+09"),
    "workers": ({"num_workers": 10**9}, "num_workers: expected at most 10000"),
    "seconds": ({"timeout": 10**400}, "timeout"),
}


@pytest.fixture(scope="module")
def refusals(module_command):
    folder = module_command.folder
    task, runs = write_task(folder / "task", choices(1)), {}
    for name, (text, _) in CONFIGS.items():
        (folder / f"{name}.yaml").write_text(text)
        runs[name] = ("eval", "--config", folder / f"{name}.yaml", "--no-timestamp", "--dry-run")
    for name, (settings, _) in MODELS.items():
        model = write_model(folder / f"{name}.json", "http://127.0.0.1:9/v1", **settings)
        runs[name] = ("--tasks", task, "--cfg", model)
    return module_command.in_one_process(runs)


@pytest.mark.parametrize("name", [*CONFIGS, *MODELS])
def test_a_wrong_value_is_one_line_that_names_its_key(refusals, name):
    done, message = refusals[name], {**CONFIGS, **MODELS}[name][1]
    assert done.status == 2
    assert [line for line in done.errors if message in line], done.stderr
    assert "Traceback" not in done.stderr
    assert "unexpected" not in done.stderr


@pytest.mark.parametrize(
    ("file", "values", "message"),
    [
        ("colours_config.json", {"model": 5}, "colours_config.json: model: expected an object"),
        ("colours_config.json", [1], "colours_config.json: expected an object"),
        ("colours_result.json", {"counts": {"asked": "many"}}, "colours_result.json: counts: asked: expected a whole"),
        ("colours_result.json", None, "colours_result.json: Is a directory"),
        ("predictions.jsonl", {"question_id": "1", "status": 5, "request": 7}, "predictions.jsonl:1: not a prediction"),
    ],
)
def test_a_spoilt_file_of_a_results_directory_is_named(module_command, file, values, message, tmp_path):
    task, out = write_task(tmp_path / "task", choices(2)), tmp_path / "out"
    run = ("--tasks", task, "--model-type", "random", "--output-dir", out)
    assert module_command.in_one_process({"first": run})["first"].status == 0
    path = out / "colours" / file
    path.unlink()
    if values is None:
        path.mkdir()
    else:
        path.write_text(f"{json.dumps(values)}\n" * (2 if path.suffix == ".jsonl" else 1))
    skip = ("--skip",) if file.endswith("_result.json") else ()
    done = module_command.in_one_process({"again": (*run, *skip)})["again"]
    assert done.status == 2
    assert message in done.errors[-1]
    assert "unexpected" not in done.stderr


@pytest.mark.parametrize(("key", "value"), [("fingerprint", None), ("fingerprint", 5), ("identity", ["a"])])
def test_a_spoilt_word_of_a_saved_model_is_named(module_command, tmp_path, key, value):
    task, out = write_task(tmp_path / "task", choices(1)), tmp_path / "out"
    run = ("--tasks", task, "--model-type", "random", "--output-dir", out)
    assert module_command(*run).status == 0
    path = out / "colours" / "colours_config.json"
    saved = {**read_json(path), "fingerprint": "of an earlier version", key: value}
    path.write_text(json.dumps({name: item for name, item in saved.items() if item is not None}))
    done = module_command(*run)
    assert done.status == 2
    assert f"colours_config.json: {key}: expected a text" in done.errors[-1]
    assert len((out / "colours" / "predictions.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        (json.dumps({"choices": [{"message": {"content": "B"}}]}), "ok", None),
        ("\ufeff \n" + json.dumps({"choices": [{"message": {"content": "B"}}]}), "ok", None),
        (json.dumps({"error": {"message": "worker restarts"}}), "failed", "worker restarts"),
        ("<html>Welcome</html>", "failed", "no JSON: Welcome"),
        ("out of order", "failed", "no JSON: out of order"),
    ],
    ids=["completion", "byte order mark", "error", "page", "text"],
)
def test_what_is_sent_as_a_stream_and_is_none_is_read_as_what_it_is(module_command, tmp_path, body, status, told):
    task = write_task(tmp_path / "task", choices(1))
    with MockEndpoint(Reply(raw_body=body.encode(), headers={"Content-Type": "text/event-stream"})) as endpoint:
        model = write_model(tmp_path / "m.json", endpoint.url, retries=0)
        module_command.in_one_process({"run": ("--tasks", task, "--cfg", model, "--output-dir", tmp_path / "out")})
    answer = answers_by_id(tmp_path / "out")["1"]
    assert answer["status"] == status
    assert told is None or told in answer["error"]["message"]


@pytest.fixture(scope="module")
def pipes(module_command):
    """Commands that are given a named pipe, which nobody writes to, in place of a file."""
    folder = module_command.folder / "pipes"
    task, results = write_task(folder / "task", choices(1)), folder / "results" / "colours"
    of_data = write_task(folder / "of_data", choices(1))
    (folder / "of_data" / "data" / "data.json").unlink()
    results.mkdir(parents=True)
    places = {
        "model file": folder / "m.json",
        "task file": folder / "t.py",
        "judge file": folder / "j.json",
        "annotations": folder / "of_data" / "data" / "data.json",
        "settings of eval": folder / "e.yaml",
        "settings of vlmeval": folder / "v.json",
        "evaluated answers": results / "colours_evaluated.json",
    }
    for path in places.values():
        os.mkfifo(path)
    by_chance = ("--model-type", "random", "--output-dir", folder / "out")
    commands = {
        "model file": ("--tasks", task, "--cfg", places["model file"]),
        "task file": ("--tasks", places["task file"], *by_chance),
        "judge file": ("--tasks", task, "--judge", places["judge file"], *by_chance),
        "annotations": ("--tasks", of_data, *by_chance),
        "settings of eval": ("eval", "--config", places["settings of eval"]),
        "settings of vlmeval": ("vlmeval", "--config", places["settings of vlmeval"]),
        "evaluated answers": ("compare", folder / "results", folder / "results"),
    }
    finished = module_command.in_one_process(commands)
    return {name: (finished[name], path) for name, path in places.items()}


@pytest.mark.parametrize(
    "name",
    ["model file", "task file", "judge file", "annotations", "settings of eval", "settings of vlmeval",
     "evaluated answers"],
)  # fmt: skip
def test_a_named_pipe_is_told_and_not_waited_for(pipes, name):
    done, path = pipes[name]
    assert done.status == 2
    assert f"{path}: no regular file" in done.errors[-1]


def test_a_folder_or_a_pipe_among_task_files_is_no_task(module_command, tmp_path):
    write_task(tmp_path / "task", choices(1))
    os.mkfifo(tmp_path / "task" / "pipe.py")
    (tmp_path / "task" / "folder.py").mkdir()
    run = ("--tasks", tmp_path / "task", "--model-type", "random", "--output-dir", tmp_path / "out")
    assert module_command.in_one_process({"run": run})["run"].status == 0
