"""What the process is given: few open files, closed standard streams, proxies in the environment."""

from __future__ import annotations

import json
import os
import resource
import subprocess

import pytest

from tests.end_to_end.command import Finished
from tests.end_to_end.folders import choices, counts_of, read_json, write_model, write_task
from tests.servers import MockEndpoint, Reply


@pytest.fixture(scope="module")
def endpoint():
    with MockEndpoint() as running:
        yield running


def run_in_shell(command, text, *arguments, **variables):
    """Run the command as a shell does it whose line ends with `text`, as in ">&-"."""
    line = f'exec "$@" {text}'
    done = subprocess.run(
        ["sh", "-c", line, "sh", *command.argv, *map(str, arguments)],
        cwd=command.folder,
        env=command.environment | variables,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return Finished(status=done.returncode, stdout=done.stdout, stderr=done.stderr, seconds=0.0)


def run_with_files(command, soft, hard, *arguments):
    """Run with limits of open files."""
    done = subprocess.run(
        [*command.argv, *map(str, arguments)],
        cwd=command.folder,
        env=command.environment,
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)),
    )
    return Finished(status=done.returncode, stdout=done.stdout, stderr=done.stderr, seconds=0.0)


@pytest.mark.parametrize(("soft", "hard", "inflight"), [(200, 1000, 250), (200, 200, 100)], ids=["raised", "lowered"])
def test_more_workers_than_files_may_be_open_ask_all_the_same(run_command, tmp_path, soft, hard, inflight):
    task = write_task(tmp_path / "task", choices(300))
    with MockEndpoint(Reply(delay=1.5)) as slow:
        model = write_model(tmp_path / "model.json", slow.url, num_workers=250, timeout=60)
        done = run_with_files(run_command, soft, hard, "--tasks", task, "--cfg", model, "--output-dir", "out")
        assert slow.max_inflight <= inflight
    assert (done.status, counts_of(tmp_path / "out")["answered"]) == (0, 300)
    told = [line for line in done.warnings if "num_workers 250 is more than the limit of open files allows" in line]
    assert len(told) == (hard == 200)
    assert read_json(tmp_path / "out/colours/colours_config.json")["model"]["num_workers"] == (250 if hard > 200 else
        int(told[0].rpartition("; ")[2].split()[0]))  # fmt: skip


CLOSED = ("<&-", ">&-", "2>&-", "<&- >&- 2>&-", "2>/dev/full")


@pytest.mark.parametrize("closed", CLOSED)
def test_a_run_with_closed_streams_ends_well_and_prints_to_those_that_are_open(run_command, tmp_path, endpoint, closed):
    task = write_task(tmp_path / "task", choices(2))
    model = write_model(tmp_path / "model.json", endpoint.url)
    done = run_in_shell(run_command, closed, "--tasks", task, "--cfg", model, "--output-dir", "out")
    assert done.status == 0
    assert counts_of(tmp_path / "out") == {"total": 2, "asked": 2, "answered": 2}
    assert ("100.00" in done.stdout) == (">&-" not in closed.replace("2>&-", ""))
    assert ("still to ask" in done.stderr) == ("2>" not in closed)


@pytest.fixture(scope="module")
def place(module_command, endpoint):
    """A folder with all that the commands want."""
    folder = module_command.folder
    write_task(folder / "task", choices(2))
    write_model(folder / "model.json", endpoint.url)
    (folder / "mine").mkdir()
    (folder / "mine/t.jsonl").write_text(json.dumps({"question": "Q?", "options": ["a", "b"], "answer": "B"}))
    (folder / "home/LMUData").mkdir(parents=True)
    (folder / "home/LMUData/colours.tsv").write_text("index\tquestion\tA\tB\tanswer\n1\tWhich?\tred\tblue\tB\n")
    (folder / "p.tsv").write_text("index\tprediction\n1\tB\n")
    done = module_command("--tasks", "task/colours.py", "--cfg", "model.json", "--output-dir", "out")
    assert done.status == 0
    return module_command


COMMANDS = {
    "check": ("check", "task/colours.py"),
    "compare": ("compare", "out", "out"),
    "score": ("score", "--predictions", "p.tsv", "--data", "colours"),
    "vlmeval": ("vlmeval", "--data", "colours", "--model", "m", "--base-url", "URL"),
    "eval": (
        "eval", "--model", "m", "--api-url", "URL", "--datasets", "general_vmcq",
        "--dataset-args", '{"general_vmcq": {"local_path": "mine"}}',
    ),
    "help": ("--help",),
    "mistake": ("check", "nowhere"),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_ends_as_it_would_where_both_streams_are_closed(place, endpoint, name):
    arguments = [endpoint.url if argument == "URL" else argument for argument in COMMANDS[name]]
    assert run_in_shell(place, ">&- 2>&-", *arguments).status == (2 if name == "mistake" else 0)


def test_a_file_that_is_opened_later_does_not_get_what_others_print(run_command, tmp_path, endpoint):
    # With stdout closed its number would go to the next file that is opened, such as that of the predictions.
    (tmp_path / "printing.py").write_text(
        "import os\nfrom flagmm.models.client import BaseClient\nfrom flagmm.types import ModelOutput\n"
        "class Printing(BaseClient):\n    def __init__(self, spec): pass\n"
        "    async def generate(self, messages, settings):\n"
        "        os.system('echo spoilt; echo spoilt >&2')\n        return ModelOutput(text='B')\n"
    )
    task = write_task(tmp_path / "task", choices(2))
    model = write_model(tmp_path / "model.json", None, model_type="printing.py:Printing")
    done = run_in_shell(run_command, "<&- >&- 2>&-", "--tasks", task, "--cfg", model, "--output-dir", "out")
    assert done.status == 0
    assert not any("spoilt" in path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file())


def test_a_proxy_of_the_environment_is_not_used_for_this_machine(run_command, tmp_path, endpoint):
    task = write_task(tmp_path / "task", choices(1))
    model = write_model(tmp_path / "model.json", endpoint.url)
    arguments = ("--tasks", task, "--cfg", model, "--output-dir", "out")
    assert run_command(*arguments, HTTP_PROXY="http://127.0.0.1:9", HTTPS_PROXY="http://127.0.0.1:9").status == 0


def test_the_error_of_a_call_through_a_proxy_names_it_without_its_password(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(1))
    model = write_model(tmp_path / "model.json", "http://endpoint.invalid/v1", retries=0)
    arguments = ("--tasks", task, "--cfg", model, "--output-dir", "out")
    done = run_command(*arguments, HTTP_PROXY="http://me:geheim@127.0.0.1:9")
    assert done.status == 2
    assert "(through the proxy http://***@127.0.0.1:9 of http_proxy)" in done.errors[0]
    assert not any("geheim" in path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert "geheim" not in done.stdout + done.stderr


def test_a_model_file_may_name_a_proxy_for_this_machine(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(1))
    with MockEndpoint() as proxy:
        url = proxy.url.removesuffix("/v1")
        model = write_model(tmp_path / "model.json", "http://127.0.0.1:9/v1", proxy=url)
        done = run_command("--tasks", task, "--cfg", model, "--output-dir", "out")
        assert (done.status, len(proxy.asked)) == (0, 1)
    assert os.path.exists(tmp_path / "out/colours/colours_result.json")
