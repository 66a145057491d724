"""The bridge to an installed VLMEvalKit, by the real command, with a stand-in that has its manners."""

from __future__ import annotations

import base64
import csv
import json
import re
import signal
import sys
import time
from pathlib import Path

import openpyxl
import pytest

from tests.end_to_end.folders import files_under, read_json, write_model, write_picture
from tests.end_to_end.waiting import wait_until
from tests.servers import MockEndpoint, Reply

STAND_IN = Path(__file__).with_name("stand_in")
KEY = "sk-verysecret-0123456789"
ROWS = [
    {"index": 101, "question": "What barks?", "A": "Dog", "B": "Cat", "answer": "A", "category": "pets"},
    {"index": 202, "question": "What purrs?", "A": "Dog", "B": "Cat", "answer": "B", "category": "pets"},
    {"index": 303, "question": "What is round?", "A": "Ball", "B": "Box", "answer": "A", "category": "things"},
]
REPLIES = {"barks": "A", "purrs": "The answer is B", "round": "B"}


class Bench:
    """A table, a task file, and the command that can import the stand-in."""

    def __init__(self, command):
        self.command = command
        self.folder = command.folder
        self.out = self.folder / "out"

    def table(self, rows=ROWS, name="Pets", **columns):
        path = self.folder / "lmu" / f"{name}.tsv"
        path.parent.mkdir(exist_ok=True)
        rows = [{**row, **columns} for row in rows]
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)), delimiter="\t")
            writer.writeheader()
            writer.writerows(rows)
        return self

    def task(self, evaluator="", dataset="", name="Pets"):
        text = f"dataset = dict(type='VLMEvalKitDataset', dataset_name={name!r}, data_root='lmu', {dataset})\n"
        text += f"evaluator = dict(type='VLMEvalKitEvaluator', {evaluator})\n"
        (self.folder / "task.py").write_text(text)
        return self

    def run(self, *arguments, endpoint=None, **variables):
        if endpoint is not None:
            arguments = ("--cfg", write_model(self.folder / "model.json", endpoint.url), *arguments)
        return self.command(
            "--tasks", "task.py", "--output-dir", "out", *arguments, PYTHONPATH=str(STAND_IN), **variables
        )

    def asked(self, *arguments, replies=REPLIES, **variables):
        def answer(request):
            return Reply(text=next((text for word, text in replies.items() if word in request.text), "?"))

        with MockEndpoint(answer) as endpoint:
            done = self.run(*arguments, endpoint=endpoint, **variables)
            return done, endpoint.requests

    def result(self, name="Pets"):
        return read_json(self.out / name / f"{name}_result.json")

    def evaluated(self, name="Pets"):
        return {entry["question_id"]: entry for entry in read_json(self.out / name / f"{name}_evaluated.json")}


@pytest.fixture
def bench(run_command):
    return Bench(run_command)


def test_a_benchmark_is_asked_by_us_and_scored_by_it(bench):
    done, requests = bench.table().task("eval_kwargs=dict(model='exact_matching', nproc=2)").asked()
    assert done.status == 0, done.stderr
    texts = sorted(request.text for request in requests)
    assert texts[0] == "Question: What barks?\nA. Dog\nB. Cat"
    result = bench.result()
    assert result["headline"] == "Overall Acc"
    assert result["Overall Acc"] == result["split=none|Overall"] == pytest.approx(200 / 3)
    assert (result["split=none|pets"], result["split=none|things"]) == (100.0, 0.0)
    assert result["counts"]["answered"] == 3
    assert "Overall Acc" in done.stdout
    assert "66.67" in done.stdout


def test_it_leaves_the_sheet_what_it_was_told_and_the_scores(bench):
    bench.table().task("eval_kwargs=dict(model='exact_matching')").asked()
    folder = bench.out / "Pets" / "Pets"
    assert {"Pets.xlsx", "vlmevalkit_evaluation.json", "vlmevalkit_metrics.json", "Pets_acc.csv"} <= {
        path.name for path in folder.iterdir()
    }
    sheet = list(openpyxl.load_workbook(folder / "Pets.xlsx").active.values)
    assert sheet[0] == ("index", "question", "A", "B", "answer", "category", "prediction")
    assert [row[0] for row in sheet[1:]] == [101, 202, 303]
    assert [row[-1] for row in sheet[1:]] == ["A", "The answer is B", "B"]
    told = read_json(folder / "vlmevalkit_evaluation.json")
    assert told["dataset_name"] == "Pets"
    assert told["data_root"] == str(bench.folder / "lmu")
    assert told["eval_kwargs"] == {"model": "exact_matching"}
    assert told["result_file"] == str(folder / "Pets.xlsx")
    scores = read_json(folder / "vlmevalkit_metrics.json")
    assert scores["flattened"]["split=none|Overall"] == pytest.approx(2 / 3)
    assert scores["primary"] == {"Overall Acc": pytest.approx(200 / 3)}
    assert scores["scale"] == "shares, by the primary metric"
    assert "Overall Acc" in (bench.out / "summary.csv").read_text()


def test_every_answer_carries_its_row_its_reference_and_its_hit(bench):
    bench.table().task().asked()
    entry = bench.evaluated()["Pets:202"]
    assert (entry["sample_id"], entry["index"], entry["label"], entry["raw_answer"]) == (
        "Pets:202", 202, "B", "The answer is B",
    )  # fmt: skip
    assert entry["raw_sample"] == ROWS[1]
    assert (entry["correct"], entry["log"]) == (1.0, "by its last letter")
    assert bench.evaluated()["Pets:303"]["correct"] == 0.0


def test_what_it_prints_goes_to_the_log_and_results_alone_to_stdout(bench):
    done, _ = bench.table().task("eval_kwargs=dict(model='x')").asked()
    assert "stand-in" not in done.stdout
    assert "from a child" not in done.stdout
    assert f"INFO VLMEvalKit: scoring in {bench.folder / 'lmu'} with None" in done.stderr
    assert f"building 101 {bench.folder / 'lmu'}" in done.stderr
    assert "from a child" in done.stderr
    assert done.warnings == ["API Key: None", "VLMEvalKit warns: OPENAI API is not working properly"]


@pytest.mark.parametrize("behaviour", ["well", "raise"])
@pytest.mark.parametrize("flags", [[], ["--debug"]])
def test_no_key_is_shown_or_kept(bench, behaviour, flags):
    bench.table().task(f"eval_kwargs=dict(model='m', key={KEY!r}, behave={behaviour!r})")
    done, _ = bench.asked(*flags)
    assert done.status == (1 if behaviour == "raise" else 0)
    assert KEY not in done.stdout + done.stderr
    assert "sk-of-its-dotenv" not in done.stdout + done.stderr
    for file in files_under(bench.out):
        assert KEY.encode() not in (bench.out / file).read_bytes(), file
    told = read_json(bench.out / "Pets" / "Pets" / "vlmevalkit_evaluation.json")
    assert told["eval_kwargs"]["key"] == "***"


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        ("raise", "VLMEvalKit: evaluate of Pets: ValueError: cannot reach the judge with ***"),
        ("exit", "VLMEvalKit: evaluate of Pets: SystemExit: 3"),
        ("nothing", "VLMEvalKit: evaluate of Pets: returned no number, but NoneType"),
        ("not implemented", "VLMEvalKit cannot score Pets: Stand has no evaluate"),
    ],
)
def test_scoring_that_fails_is_one_line_and_the_answers_stay(bench, behaviour, message):
    bench.table().task(f"eval_kwargs=dict(key={KEY!r}, behave={behaviour!r})")
    done, _ = bench.asked()
    assert done.status == 1
    [error] = done.errors
    assert message in error
    assert "Traceback" not in done.stderr
    assert not (bench.out / "Pets" / "Pets_result.json").exists()
    bench.task()
    again = bench.run("--without-infer")
    assert again.status == 0, again.stderr
    assert bench.result()["split=none|pets"] == 100.0


def test_empty_answers_make_scoring_fail_naming_them_and_only_they_are_asked_again(bench):
    bench.table().task()
    texts = iter([" ", "B"])
    with MockEndpoint(lambda request: Reply(text=next(texts) if "purrs" in request.text else "A")) as endpoint:
        done = bench.run(endpoint=endpoint)
        assert done.status == 2
        assert (
            "1 of 3 predictions are missing or empty, and VLMEvalKit's scoring wants all: Pets:202;" in done.errors[0]
        )
        again = bench.run(endpoint=endpoint)
    assert again.status == 0, again.stderr
    assert "purrs" in endpoint.requests[-1].text
    assert len(endpoint.requests) == 4


def test_missing_answers_can_be_scored_as_calls_that_failed(bench):
    bench.table().task("mark_empty=True")
    done, _ = bench.asked(replies={**REPLIES, "purrs": ""})
    assert done.status == 1  # one was not answered
    sheet = list(openpyxl.load_workbook(bench.out / "Pets" / "Pets" / "Pets.xlsx").active.values)
    assert sheet[2][-1] == "Failed to obtain answer via API."
    assert bench.result()["Overall Acc"] == pytest.approx(100 / 3)
    assert bench.result()["counts"]["empty"] == 1


def test_pictures_arrive_from_the_folder_it_decodes_them_into(bench):
    picture = base64.b64encode(write_picture(bench.folder / "x.png").read_bytes()).decode()
    _, requests = bench.table(image=picture).task().asked()
    assert len(requests) == 3
    for request in requests:
        kinds = [part["type"] for part in request.body["messages"][0]["content"]]
        assert kinds == ["image_url", "text"]
        assert request.body["messages"][0]["content"][0]["image_url"]["url"].endswith(picture)
    assert "image" not in bench.evaluated()["Pets:101"]["raw_sample"]


def test_a_picture_of_a_relative_path_is_found_where_it_keeps_pictures(bench):
    write_picture(bench.folder / "lmu" / "images" / "Pets" / "dog.png")
    done, requests = bench.table(image_path="dog.png").task().asked()
    assert done.status == 0, done.stderr
    assert len(requests) == 3


def test_roles_of_a_prompt_become_messages(bench):
    prompt = [
        {"role": "system", "type": "text", "value": "Be short."},
        {"type": "text", "value": "Who barks?"},
        {"role": "assistant", "content": "What?"},
        {"role": "user", "content": [{"type": "text", "value": "It barks."}]},
    ]
    _, requests = bench.table(ROWS[:1], prompt=json.dumps(prompt)).task().asked()
    [request] = requests
    assert [message["role"] for message in request.body["messages"]] == ["system", "user", "assistant", "user"]


def test_a_prompt_that_cannot_be_built_is_a_failed_item_and_scoring_names_it(bench):
    rows = [{**ROWS[0], "prompt": "{"}, {**ROWS[1], "prompt": '[{"type": "audio", "value": "x"}]'}, ROWS[2]]
    done, requests = bench.table(rows).task().asked()
    assert len(requests) == 1
    assert "Pets:101, Pets:202" in done.errors[-1]
    errors = {entry["question_id"]: entry["error"] for entry in read_json(bench.out / "Pets" / "Pets.json")}
    assert "JSONDecodeError" in errors["Pets:101"]["message"]
    assert "'audio'" in errors["Pets:202"]["message"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"MODALITY": "VIDEO"}, "'Pets' is one of videos, which the bridge does not ask"),
        ({"MODALITY": "AUDIO"}, "'Pets' is of modality AUDIO"),
        ({"TYPE": "MT"}, "'Pets' asks in several turns (TYPE MT)"),
        ({"index": ""}, "Pets: column 'index': row 1 has none"),
        ({"index": 7}, "Pets: column 'index': '7' is in rows 1 and 2"),
    ],
)
def test_what_it_cannot_ask_is_told_before_anything_is_asked(bench, columns, message):
    done, requests = bench.table(**columns).task().asked()
    assert (done.status, requests) == (2, [])
    [error] = done.errors
    assert message in error


def test_a_table_without_an_index_is_told(bench):
    rows = [{key: value for key, value in row.items() if key != "index"} for row in ROWS]
    done, _ = bench.table(rows).task().asked()
    assert "Pets: the table has no column 'index'" in done.errors[0]


def test_an_unknown_data_set_is_told_with_the_table_it_could_be(bench):
    done, _ = bench.task(name="Nowhere").asked()
    assert done.status == 2
    assert f"no data set 'Nowhere', and no table {bench.folder / 'lmu' / 'Nowhere'}.tsv" in done.errors[0]


def test_a_sample_limit_asks_and_scores_the_first(bench):
    done, requests = bench.table().task("sample_limit=2", "sample_limit=2").asked()
    assert done.status == 0, done.stderr
    assert len(requests) == 2
    assert bench.result()["Overall Acc"] == 100.0
    assert "partial" not in bench.result()
    assert read_json(bench.out / "Pets" / "Pets" / "vlmevalkit_evaluation.json")["sample_limit"] == 2


def test_a_limited_run_is_scored_and_says_that_it_is_partial(bench):
    done, _ = bench.table().task().asked("--limit", "1")
    assert done.status == 0, done.stderr
    assert bench.result()["Overall Acc"] == 100.0
    assert bench.result()["partial"].startswith("1 of 3 questions")


@pytest.mark.parametrize(
    ("evaluator", "dataset", "message"),
    [
        ("dataset_name='Other'", "", "evaluator: dataset_name: is 'Other', and the data set's is 'Pets'"),
        ("sample_limit=2", "sample_limit=1", "evaluator: sample_limit: is '2', and the data set's is '1'"),
        ("", "sample_limit=0", "sample_limit: expected a number from 1, found 0"),
    ],
)
def test_settings_that_do_not_fit_are_told(bench, evaluator, dataset, message):
    done, _ = bench.table().task(evaluator, dataset).asked()
    assert done.status == 2
    assert message in done.errors[0]


def test_an_interrupt_while_it_scores_keeps_the_answers(bench):
    bench.table().task("eval_kwargs=dict(behave='take long')")
    with MockEndpoint() as endpoint:
        model = write_model(bench.folder / "model.json", endpoint.url)
        process = bench.command.start(
            "--tasks", "task.py", "--cfg", model, "--output-dir", "out", PYTHONPATH=str(STAND_IN)
        )
        wait_until((bench.out / "Pets" / "Pets" / "vlmevalkit_evaluation.json").exists, "the scoring")
        time.sleep(0.5)  # until its own code runs; sooner is as well
        process.send_signal(signal.SIGINT)
        done = bench.command.wait(process)
    assert done.status == 130
    assert "Traceback" not in done.stderr
    assert len(read_json(bench.out / "Pets" / "Pets.json")) == 3


def test_what_an_earlier_scoring_kept_is_used_for_the_same_answers_only(bench):
    bench.table().task().asked()
    assert "took the hits of before" in bench.run("--without-infer").stderr
    answers = bench.out / "Pets" / "Pets.json"
    answers.write_text(answers.read_text().replace('"The answer is B"', '"The answer is A"'))
    again = bench.run("--without-infer")
    assert "took the hits of before" not in again.stderr
    assert bench.result()["Overall Acc"] == pytest.approx(100 / 3)


def test_repeats_are_scored_each_and_averaged(bench):
    replies = iter("AABBAB" * 3)
    bench.table(ROWS[:1]).task()
    with MockEndpoint(lambda _: Reply(text=next(replies))) as endpoint:
        done = bench.run("--num-infers", "3", endpoint=endpoint)
    assert done.status == 0, done.stderr
    result = bench.result()
    assert result["num_infers"] == 3
    assert sorted(result["repeats"]["scores"]) == [0.0, 100.0, 100.0]
    assert result["Overall Acc"] == result["repeats"]["mean"] == pytest.approx(200 / 3)
    assert bench.evaluated()["Pets:101"]["correct"] == [1.0 if score else 0.0 for score in result["repeats"]["scores"]]


def test_an_answer_too_long_for_a_sheet_is_scored_whole(bench):
    done, _ = bench.table(ROWS[:1]).task().asked(replies={"barks": "B" * 40_000 + "A"})
    assert done.status == 0, done.stderr
    assert bench.result()["Overall Acc"] == 100.0
    assert read_json(bench.out / "Pets" / "Pets" / "vlmevalkit_evaluation.json")["result_file"].endswith("Pets.tsv")


def test_failures_that_it_reports_of_its_judge_are_counted(bench):
    done, _ = bench.table().task("eval_kwargs=dict(model='flaky')").asked()
    assert bench.result()["counts"]["judge_failed"] == 1
    assert done.status == 1


def test_the_root_is_lmudata_else_a_folder_of_the_working_directory(bench):
    task = bench.table().task().folder / "task.py"
    task.write_text(task.read_text().replace("data_root='lmu', ", ""))
    done, _ = bench.asked(LMUData="lmu")
    assert done.status == 0, done.stderr
    again, _ = bench.asked("--overwrite")
    assert f"no table {bench.folder / 'data' / 'vlmevalkit' / 'Pets'}.tsv" in again.errors[0]


def test_the_process_is_afterwards_what_it_was(bench):
    bench.table()
    script = """
import logging, os, ssl, sys, warnings
sys.path.insert(0, sys.argv[1])
os.environ["OPENAI_API_KEY"] = "mine"
before = dict(os.environ), ssl._create_default_https_context, list(warnings.filters), logging.getLogger().handlers[:]
from flagmm.registry import DATASETS
from flagmm.dataset.sample import build_sample
dataset = DATASETS.lookup("VLMEvalKitDataset")(dataset_name="Pets", data_root="lmu")
first, second = build_sample(dataset, 0), dataset[1]
assert (first.question_id, second["sample_id"], second["answer"]) == ("Pets:101", "Pets:202", "B"), second
assert second["raw_sample"]["A"] == "Dog"
after = dict(os.environ), ssl._create_default_https_context, list(warnings.filters), logging.getLogger().handlers[:]
assert before == after
from flagmm.vlmeval.bridge.official import official_code
from pathlib import Path
with official_code(Path("lmu"), doing="x"):
    assert os.environ["FROM_ITS_DOTENV"] == "theirs" and os.environ["OPENAI_API_KEY"] == "sk-of-its-dotenv"
    del os.environ["PATH"]
    assert ssl._create_default_https_context is ssl._create_unverified_context
assert before[0] == dict(os.environ)
"""
    path = bench.folder / "script.py"
    path.write_text(script)
    done = type(bench.command)(bench.folder, [sys.executable])(path, STAND_IN)
    assert done.status == 0, done.stderr
    assert done.stdout == ""


def test_a_run_that_has_no_vlmevalkit_is_told_what_to_install(bench):
    broken = bench.folder / "broken" / "vlmeval"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("import something_that_is_not_there")
    bench.table().task()
    with MockEndpoint() as endpoint:
        model = write_model(bench.folder / "model.json", endpoint.url)
        done = bench.command("--tasks", "task.py", "--cfg", model, PYTHONPATH=str(broken.parent))
    assert done.status == 2
    assert re.search(
        r"cannot be imported: .*something_that_is_not_there.*pip install 'flagmm\[vlmeval\]'", done.errors[0]
    )


def test_the_export_of_its_files_works_for_its_data_sets_too(bench):
    done, _ = bench.table().task().asked("--export", "vlmevalkit")
    assert done.status == 0, done.stderr
    [sheet] = [file for file in files_under(bench.out) if file.endswith("mock-model_Pets.xlsx")]
    rows = list(openpyxl.load_workbook(bench.out / sheet).active.values)
    assert rows[1][0] == 101


def test_the_evaluator_refuses_other_data_sets(bench):
    (bench.folder / "data").mkdir()
    (bench.folder / "data" / "data.json").write_text(
        json.dumps([{"question_id": 1, "question": "x", "question_type": "open"}])
    )
    (bench.folder / "task.py").write_text(
        "dataset = dict(type='VqaBaseDataset', name='t', data_root='data')\n"
        "evaluator = dict(type='VLMEvalKitEvaluator')\n"
    )
    done, _ = bench.asked()
    assert "scores a VLMEvalKitDataset, not VqaBaseDataset" in done.errors[0]


def test_the_gold_check_takes_its_scoring_as_it_is(bench):
    bench.table().task()
    done = bench.command("check", "task.py", PYTHONPATH=str(STAND_IN))
    assert done.status == 0, done.stdout + done.stderr
    assert "3 of 3 right" in done.stdout


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import os; os.chdir('/')", id="it goes elsewhere"),
        pytest.param(
            "import sys; sys.stdout.buffer.write(b'bytes'); sys.stdout.reconfigure(encoding='utf-8')", id="bytes"
        ),
        pytest.param("import sys; print('a'.encode(sys.stdout.encoding))", id="encoding"),
        pytest.param("import subprocess, sys; subprocess.run(['echo', 'x'], stdout=sys.stdout)", id="given to a child"),
        pytest.param("import logging; logging.disable()", id="no log"),
        pytest.param(
            "import logging, sys; logging.basicConfig(stream=sys.stdout, force=True); print('to itself')", id="own log"
        ),
        pytest.param("import os; os.environ.clear()", id="no environment"),
        pytest.param("import sys; print(key, file=sys.stderr)", id="keys on stderr"),
        pytest.param("import sys; sys.stdout.close()", id="closed"),
    ],
)
def test_what_its_code_does_to_the_process_changes_no_result(bench, code):
    bench.table().task(f"eval_kwargs=dict(key={KEY!r}, code={code!r})")
    done, _ = bench.asked()
    assert done.status == 0, done.stderr
    assert bench.result()["Overall Acc"] == pytest.approx(200 / 3)
    assert bench.evaluated()["Pets:101"]["correct"] == 1.0
    assert KEY not in done.stdout + done.stderr
    assert "VLMEvalKit's files of scoring" in done.stderr
    assert done.stdout.startswith("\nTask ") or done.stdout.startswith("Task ")


def test_no_key_of_the_data_set_is_kept(bench):
    bench.table().task(dataset=f"dataset_kwargs=dict(key={KEY!r}, is_refused=True)")
    done, _ = bench.asked("--debug")
    assert done.status == 1
    assert "refused ***" in done.errors[0]
    assert KEY not in done.stdout + done.stderr


def test_a_spoilt_record_of_an_earlier_scoring_is_none(bench):
    bench.table().task().asked()
    (bench.out / "Pets" / "Pets" / "vlmevalkit_evaluation.json").write_text("{")
    again = bench.run("--without-infer")
    assert again.status == 0, again.stderr
    assert "took the hits of before" not in again.stderr


def test_hits_that_cannot_be_read_are_left_out_with_a_warning(bench):
    bench.table().task()
    code = "import os; os.mkdir('out/Pets/Pets/Pets_x_result.json')"
    done, _ = bench.task(f"eval_kwargs=dict(code={code!r})").asked()
    assert done.status == 0, done.stderr
    assert bench.result()["Overall Acc"] == pytest.approx(200 / 3)


def test_a_name_with_brackets_has_its_hits(bench):
    bench.table(name="Pe[t]s").task(name="Pe[t]s").asked()
    assert bench.evaluated("Pe[t]s")["Pe[t]s:101"]["correct"] == 1.0


def test_a_category_called_as_a_field_of_the_result_keeps_its_name_apart(bench):
    rows = [{**row, "category": "headline"} for row in ROWS]
    done, _ = bench.table(rows).task().asked()
    assert done.status == 0, done.stderr
    assert bench.result()["headline"] == "Overall Acc"
    assert bench.result()["split=none|headline"] == pytest.approx(200 / 3)
