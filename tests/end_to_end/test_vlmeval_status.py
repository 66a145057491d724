"""`status.json` of a run by VLMEvalKit's names: what a script that watches it reads."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from tests.end_to_end.folders import read_json
from tests.servers import MockEndpoint, Reply, by_question, error_reply

TABLE = (
    "index\tquestion\tA\tB\tanswer\tcategory\n1\tWhich is first?\tred\tblue\tA\tc1\n2\tWhich is second?\tx\ty\tB\tc2\n"
)
ORDER = ("pending", "infer", "eval", "done")


@pytest.fixture
def place(run_command):
    data = run_command.folder / "home" / "LMUData"
    data.mkdir(parents=True)
    for name in ("one", "two"):
        (data / f"{name}.tsv").write_text(TABLE, encoding="utf-8")
    return run_command


@pytest.fixture
def endpoint():
    with MockEndpoint(by_question({"first": "A", "second": "A"})) as endpoint:
        yield endpoint


def status_of(place, model: str = "m"):
    return read_json(max((place.folder / "outputs" / model).glob("T*")) / "status.json")


def test_a_finished_run_says_what_each_table_came_to(place, endpoint):
    done = place("vlmeval", "--data", "one", "two", "--model", "m", "--base-url", endpoint.url)
    assert done.status == 0, done.stderr
    status = status_of(place)
    [run] = (place.folder / "outputs" / "m").glob("T*")
    assert (status["schema_version"], status["eval_id"], status["model_name"]) == ("1.0", run.name, "m")
    assert (status["mode"], status["reuse"], status["pred_format"], status["eval_format"]) == (
        "all", False, "xlsx", "csv",
    )  # fmt: skip
    assert status["argv"][:2] == ["flagevalmm", "vlmeval"]
    assert status["commit"].startswith("flagmm ")
    assert status["created_at"] <= status["updated_at"]
    assert status["datasets"]["one"] == {
        "status": "done",
        "prediction_file": "m_one.xlsx",
        "judge_model": "exact_matching",
        "primary_metric": "split=none|Overall",
        "metrics": {"split=none|Overall": 0.5, "split=none|c1": 1.0, "split=none|c2": 0.0},
    }
    assert status["datasets"]["two"]["prediction_file"] == "m_two.xlsx"


def test_a_table_that_was_only_asked_says_so(place, endpoint):
    place("vlmeval", "--data", "one", "--model", "m", "--base-url", endpoint.url, "--mode", "infer")
    entry = {"status": "done", "prediction_file": "m_one.xlsx", "skip_reason": "mode_infer"}
    assert status_of(place)["datasets"]["one"] == entry
    place("vlmeval", "--data", "one", "--model", "m", "--base-url", endpoint.url, "--mode", "eval")
    assert status_of(place)["datasets"]["one"]["metrics"]["split=none|Overall"] == 0.5


def test_a_table_that_crashed_is_not_done_and_says_why(place):
    (place.folder / "home" / "LMUData" / "one.tsv").write_text("index\tanswer\n1\tA\n", encoding="utf-8")
    with MockEndpoint(error_reply(401, "wrong key sk-crash-1111")) as endpoint:
        done = place("vlmeval", "--data", "one", "two", "--model", "m", "--base-url", endpoint.url, "--key",
                     "sk-crash-1111")  # fmt: skip
    assert done.status == 2
    datasets = status_of(place)["datasets"]
    assert (datasets["one"]["status"], datasets["two"]["status"]) == ("pending", "infer")
    assert "question" in datasets["one"]["error_message"]
    assert "401" in datasets["two"]["error_message"]
    assert "sk-crash-1111" not in json.dumps(status_of(place))


def test_scoring_that_cannot_be_done_leaves_the_table_at_that_stage(place):
    script = """
from flagmm import run_task
from flagmm.vlmeval.dataset.image_mcq import CustomMCQDataset
from flagmm.vlmeval.dataset.text_mcq import CustomTextMCQDataset


def evaluate(self, eval_file, **judge_kwargs):
    raise ValueError("no such column")


CustomTextMCQDataset.evaluate = evaluate
run_task({"eval_backend": "VLMEvalKit", "work_dir": "outputs", "eval_config": {
    "model": [{"type": "m", "name": "CustomAPIModel", "api_base": "URL"}], "data": ["one"]}})
"""
    with MockEndpoint(Reply(text="A")) as endpoint:
        done = subprocess.run(
            [sys.executable, "-c", script.replace("URL", endpoint.url)],
            cwd=place.folder, env=place.environment, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    assert done.returncode != 0
    status = status_of(place)
    assert status["datasets"]["one"]["status"] == "eval"
    assert "no such column" in status["datasets"]["one"]["error_message"]
    assert status["argv"] == []


def test_the_status_only_moves_forward_while_a_run_goes_on(place):
    with MockEndpoint(lambda request: Reply(text="A", delay=0.3)) as endpoint:
        process = place.start("vlmeval", "--data", "one", "two", "--model", "m", "--base-url", endpoint.url,
                              "--api-nproc", "1")  # fmt: skip
        seen = {"one": ["pending"], "two": ["pending"]}
        while process.poll() is None:
            watch(place, seen)
            time.sleep(0.02)
        process.communicate()
        watch(place, seen)
    for stages in seen.values():
        assert stages == sorted(stages, key=ORDER.index)
        assert stages[-1] == "done"
        assert "infer" in stages


def watch(place, seen) -> None:
    """Add the stages that are other than those seen last; a file is whole whenever it is read."""
    for file in (place.folder / "outputs" / "m").glob("T*/status.json"):
        for name, entry in json.loads(file.read_text(encoding="utf-8"))["datasets"].items():
            if seen[name][-1] != entry["status"]:
                seen[name].append(entry["status"])


def test_a_run_that_goes_on_keeps_what_is_known_of_other_tables(place, endpoint):
    place("vlmeval", "--data", "one", "--model", "m", "--base-url", endpoint.url)
    before = status_of(place)
    place("vlmeval", "--data", "two", "--model", "m", "--base-url", endpoint.url, "--reuse")
    after = status_of(place)
    assert after["created_at"] == before["created_at"]
    assert after["datasets"]["one"] == before["datasets"]["one"]
    assert after["datasets"]["two"]["status"] == "done"
    assert after["reuse"] is True


def test_predictions_of_another_run_name_it(place):
    folder = place.folder / "outputs" / "m" / "T20250101-000000"
    folder.mkdir(parents=True)
    (folder / "m_one.json").write_text(json.dumps([{"index": 1, "prediction": "A"}]), encoding="utf-8")
    (folder / "status.json").write_text("not of ours", encoding="utf-8")
    done = place("vlmeval", "--data", "one", "--model", "m", "--base-url", "http://h.invalid/v1", "--mode", "eval")
    assert done.status in (0, 1), done.stderr
    assert status_of(place)["datasets"]["one"]["source_run"] == "T20250101-000000"
    assert (folder / "status.json").read_text() == "not of ours"


def test_no_secret_of_a_flag_is_in_the_file(place, endpoint):
    secrets = ["sk-model-1111", "sk-judge-2222", "sk-args-3333", "Bearer-4444", "sk-body-5555", "pw-6666"]
    url = f"{endpoint.url}/chat/completions?signature={secrets[5]}"
    done = place(
        "vlmeval", "--data", "one", "--model", "m", "--base-url", endpoint.url, "--key", secrets[0], "--judge", "j",
        "--judge-base-url", url, "--judge-key", secrets[1],
        "--judge-args", json.dumps({"key": secrets[2], "headers": {"X-Mine": secrets[3]}}),
        "--extra-body", json.dumps({"api_key": secrets[4]}),
    )  # fmt: skip
    assert done.status == 0, done.stderr
    text = json.dumps(status_of(place))
    assert [secret for secret in secrets if secret in text] == []
    assert "--judge-args" in text
