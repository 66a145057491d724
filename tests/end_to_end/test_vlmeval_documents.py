"""Every block of VLMEvalKit's and EvalScope's documents on VLMEvalKit runs when `evalscope`, `vlmeval` and `run.py` are
replaced by ours.

The blocks are in `tests/data/documents/vlmevalkit`. Only the endpoint's address is another, `/root` is a home, and the
tables and media are small.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import openpyxl
import pytest

from tests.end_to_end.folders import write_picture
from tests.servers import MockEndpoint, Reply, by_question

BLOCKS = Path(__file__).parents[1] / "data" / "documents" / "vlmevalkit"
ADDRESS = "http://localhost:8000/v1/chat/completions"
CHOICES = {"animal": "A", "building": "D", "skyline": "B", "brand": "C", "doing": "A"}
WORDS = {"animal": "Dog", "building": "Museum", "skyline": "Tokyo", "brand": "Tesla", "doing": "Running"}
PICTURES = ("dog", "AMNH", "tokyo", "tesla", "running")
MINUTE = 60


def block(name: str) -> str:
    return (BLOCKS / f"{name}.txt").read_text(encoding="utf-8")


def answer(request) -> Reply:
    """What is right: a letter where options are listed, else the word."""
    return by_question(CHOICES if "Options:" in request.text else WORDS, default="B")(request)


@pytest.fixture
def endpoint():
    with MockEndpoint(answer) as endpoint:
        yield endpoint


@pytest.fixture
def place(run_command):
    """A working directory whose home holds the documents' tables."""
    home = run_command.folder / "home"
    for name in PICTURES:
        write_picture(home / "LMUData" / "images" / "custom_mcq" / f"{name}.jpg")
    for name in ("custom_mcq", "custom_vqa"):
        text = block(f"{name}.tsv").replace("/root", str(home))
        (home / "LMUData" / f"{name}.tsv").write_text(text, encoding="utf-8")
    return run_command


def run_script(place, text: str) -> subprocess.CompletedProcess[str]:
    """Run a script as it is printed, with our names in place of the others'."""
    for theirs, ours in (("evalscope.", "flagevalmm."), ("from vlmeval.", "from flagmm.vlmeval.")):
        text = text.replace(theirs, ours)
    return subprocess.run(
        [sys.executable, "-c", text],
        cwd=place.folder,
        env=place.environment,
        capture_output=True,
        text=True,
        timeout=MINUTE,
    )


def write_config(place, name: str, endpoint) -> None:
    url = f"{endpoint.url}/chat/completions"
    (place.folder / "config.yaml").write_text(block(name).replace(ADDRESS, url), encoding="utf-8")


def test_the_table_of_choices_is_run_by_its_yaml_and_prints_the_document_s_scores(place, endpoint):
    write_config(place, "mcq_config.yaml", endpoint)
    done = run_script(place, block("run_mcq.py"))
    assert done.returncode == 0, done.stderr
    assert block("mcq_result") in done.stdout
    assert {request.headers["authorization"] for request in endpoint.requests} == {"Bearer EMPTY"}
    folder = place.folder / "outputs" / "qwen-vl-chat"
    assert (folder / "qwen-vl-chat_custom_mcq.xlsx").is_file()
    assert (folder / "qwen-vl-chat_custom_mcq_acc.csv").read_text().splitlines()[1].startswith('"none","1.0"')


def test_the_custom_class_asks_with_its_prompt_and_scores_with_its_rule(place, endpoint):
    write_config(place, "vqa_config.yaml", endpoint)
    script = block("custom_dataset.py").replace("from vlmeval.", "from flagmm.vlmeval.")
    (place.folder / "custom_dataset.py").write_text(script, encoding="utf-8")
    done = run_script(place, block("run_vqa.py"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == block("vqa_result").strip()
    assert all(
        request.text.endswith("?\nAnswer the question with one word or phrase.") for request in endpoint.requests
    )
    assert all(len(request.image_urls) == 1 for request in endpoint.requests)
    written = (place.folder / "outputs" / "qwen-vl-chat" / "qwen-vl-chat_custom_vqa_acc.csv").read_text()
    assert written.splitlines() == ['"Overall"', '"1.0"']


def test_a_custom_class_sees_a_failed_call_as_a_wrong_row(place):
    def fail_one(request) -> Reply:
        return Reply(status=400, raw_body=b"{}") if "brand" in request.text else answer(request)

    with MockEndpoint(fail_one) as endpoint:
        write_config(place, "vqa_config.yaml", endpoint)
        script = block("custom_dataset.py").replace("from vlmeval.", "from flagmm.vlmeval.")
        (place.folder / "custom_dataset.py").write_text(script, encoding="utf-8")
        done = run_script(place, block("run_vqa.py"))
    assert ast.literal_eval(done.stdout.splitlines()[-1]) == {"qwen-vl-chat_custom_vqa_acc": {"Overall": "0.8"}}


def test_the_old_backend_runs_a_dict_and_its_limit(place, endpoint):
    config = {
        "model": [{"type": "org/my.model:1", "name": "CustomAPIModel", "api_base": endpoint.url, "key": "EMPTY"}],
        "data": ["custom_mcq"],
        "limit": 2,
        "work_dir": "out",
    }
    call = f"print(run_task({{'eval_backend': 'VLMEvalKit', 'eval_config': {config}}}))"
    done = run_script(place, f"from evalscope.run import run_task\n{call}")
    assert done.returncode == 0, done.stderr
    assert "'my_model-1_custom_mcq_acc': {'split': 'none', 'Overall': '1.0'" in done.stdout
    assert [request.body["model"] for request in endpoint.requests] == ["org/my.model:1"] * 2


COMMANDS = block("commands").splitlines()


def as_ours(command: str) -> list[str]:
    """The arguments of our command for one that runs `run.py`."""
    return re.sub(r"^.*run\.py\s+", "vlmeval ", command).split()


@pytest.mark.parametrize("command", [each for each in COMMANDS if "config.json" not in each and "GPT4o" not in each])
def test_a_command_with_a_model_of_the_zoo_says_how_to_serve_it(place, command):
    done = place(*as_ours(command))
    assert done.status == 2
    [error] = done.errors
    name = as_ours(command)[as_ours(command).index("--model") + 1]
    assert f"vllm serve ORG/{name}" in error
    assert "lmdeploy serve api_server" in error
    assert "--base-url" in error


def test_every_command_runs_where_its_models_are_served(place, endpoint):
    tables = {name for command in COMMANDS for name in names_after(as_ours(command), "--data")}
    text = "index\tquestion\tA\tB\tanswer\n1\tWhich animal?\tdog\tcat\tA\n"
    for name in tables:
        (place.folder / "home" / "LMUData" / f"{name}.tsv").write_text(text, encoding="utf-8")
    runs = {command: [*as_ours(command), "--work-dir", f"out{number}"] for number, command in enumerate(COMMANDS)}
    del runs["python run.py --config config.json"]
    variables = {"LMDEPLOY_API_BASE": endpoint.url, "OPENAI_API_BASE": endpoint.url}
    for command, done in place.together(runs, **variables).items():
        assert done.status == 0, (command, done.stderr)
        for model in names_after(as_ours(command), "--model"):
            for table in names_after(as_ours(command), "--data"):
                assert f"{model}_{table}.xlsx" in done.stdout


def names_after(argv: list[str], flag: str) -> list[str]:
    if flag not in argv:
        return []
    rest = argv[argv.index(flag) + 1 :]
    return rest[: next((number for number, word in enumerate(rest) if word.startswith("--")), len(rest))]


def test_the_config_file_runs_each_model_on_each_table(place, endpoint):
    config = json.loads(block("config.json"))
    (place.folder / "config.json").write_text(block("config.json"), encoding="utf-8")
    choices = "index\tquestion\tA\tB\tanswer\n1\tWhich animal?\tdog\tcat\tA\n2\tWhich?\tx\ty\tB\n"
    for name in ("MME-RealWorld-Lite", "MMBench_DEV_EN_V11", "Video-MME", "MMBench-Video"):
        (place.folder / "home" / "LMUData" / f"{name}.tsv").write_text(choices, encoding="utf-8")
    done = place("vlmeval", "--config", "config.json", OPENAI_API_BASE=endpoint.url, OPENAI_API_KEY="sk-document",
                 LOCAL_LLM="the-judge")  # fmt: skip
    assert done.status == 0, done.stderr
    for model in config["model"]:
        for table in config["data"]:
            assert (place.folder / "outputs" / model / f"{model}_{table}.xlsx").is_file()
            assert (place.folder / "outputs" / model / f"{model}_{table}_acc.csv").is_file()
    temperatures = {(request.body["model"], request.body["temperature"]) for request in endpoint.asked}
    assert temperatures == {("gpt-4o-2024-08-06", 0), ("gpt-4o-2024-08-06", 1.0), ("gpt-4o-2024-11-20", 0)}
    assert {warning.partition(" class ")[2].partition(" ")[0] for warning in done.warnings if " class " in warning} == {
        "MMERealWorld", "VideoMME",
    }  # fmt: skip
    assert "sk-document" not in done.stdout + done.stderr


def test_the_document_s_env_file_names_keys_and_the_environment_goes_before_it(place, endpoint):
    text = block("dotenv").replace("OPENAI_API_BASE=", f"OPENAI_API_BASE={endpoint.url}")
    (place.folder / ".env").write_text(text.replace("OPENAI_API_KEY=", "OPENAI_API_KEY=sk-file"), encoding="utf-8")
    flags = ("--data", "custom_mcq", "--model", "GPT4o", "--judge", "exact_matching")
    place("vlmeval", *flags)
    place("vlmeval", *flags, OPENAI_API_KEY="sk-environment")
    keys = {request.headers["authorization"] for request in endpoint.requests}
    assert keys == {"Bearer sk-file", "Bearer sk-environment"}


def test_a_local_judge_reads_what_rules_cannot(place, endpoint):
    def hesitate(request) -> Reply:
        return Reply(text="CHOICE: B" if request.body["model"] == "judge-1" else "It could be anything at all.")

    with MockEndpoint(hesitate) as local:
        text = block("dotenv_judge").replace("http://0.0.0.0:23333/v1/chat/completions", local.url)
        (place.folder / ".env").write_text(text.replace("<model_name you get>", "judge-1"), encoding="utf-8")
        place("vlmeval", "--data", "custom_mcq", "--model", "GPT4o", "--mode", "infer")
        asked = {request.body["model"] for request in local.requests}
        done = place("vlmeval", "--data", "custom_mcq", "--model", "GPT4o", "--mode", "eval")
        judged = [request for request in local.requests if request.body["model"] == "judge-1"]
    assert asked == {"gpt-4o-2024-05-13"}
    assert done.status == 0, done.stderr
    assert len(judged) == 5
    assert {request.headers["authorization"] for request in judged} == {"Bearer sk-123456"}
    assert "Overall     0.2" in done.stdout


def test_predictions_are_a_sheet_with_the_columns_of_the_table(place, endpoint):
    place("vlmeval", "--data", "custom_mcq", "--model", "m", "--base-url", endpoint.url)
    sheet = openpyxl.load_workbook(place.folder / "outputs" / "m" / "m_custom_mcq.xlsx").active
    lines = list(sheet.iter_rows(values_only=True))
    columns = ("index", "category", "answer", "question", "A", "B", "C", "D", "image_path", "prediction")
    assert lines[0] == columns
    assert lines[1][0] == 1
    assert lines[1][-1] == "A"
