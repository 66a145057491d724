"""A run goes on where another stopped: each answer is asked for once, and what changed is asked again."""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter

import pytest
from filelock import FileLock

from tests.end_to_end.folders import (
    MODEL,
    answers_by_id,
    choice,
    choices,
    counts_of,
    read_json,
    read_lines,
    result_of,
    write_data,
    write_model,
    write_picture,
    write_task,
)
from tests.end_to_end.waiting import wait_for_lines
from tests.servers import MockEndpoint, Reply, by_question, error_reply, null_content, sequence


class Workbench:
    """A folder, an endpoint and the real command; `run` says what each run asked."""

    def __init__(self, command, endpoint):
        self.command, self.endpoint = command, endpoint
        self.folder, self.out = command.folder, command.folder / "out"
        self.model = write_model(self.folder / "model.json", endpoint.url)

    def run(self, task, *flags):
        """Run, and return the finished command with the questions it asked, in order of their names."""
        before = len(self.endpoint.requests)
        done = self.command("--tasks", task, "--cfg", self.model, "--output-dir", "out", *flags)
        texts = [request.text.strip().splitlines()[0] for request in self.endpoint.requests[before:]]
        return done, sorted(texts)


@pytest.fixture(scope="module")
def endpoint():
    with MockEndpoint() as running:
        yield running


@pytest.fixture
def bench(run_command, endpoint):
    return Workbench(run_command, endpoint)


NAMES = ("picture", "question", "same", "touched")
ITEMS = [choice(name, f"{name}?", img_path=f"{name}.png") for name in NAMES]
QUESTIONS = [f"{name}?" for name in NAMES]


@pytest.fixture(scope="module")
def finished_run(module_command, endpoint):
    """A run that answered everything, made once."""
    bench = Workbench(module_command, endpoint)
    done, asked = bench.run(write_task(bench.folder / "task", ITEMS))
    assert (done.status, asked) == (0, QUESTIONS)
    return bench.folder


@pytest.fixture
def finished(finished_run, bench):
    """A copy of the finished run, its task file and its data, for a test to go on from."""
    shutil.copytree(finished_run / "out", bench.out)
    return write_task(bench.folder / "task", ITEMS)


def test_after_kill_9_every_finished_item_is_asked_exactly_once(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(24))
    path = tmp_path / "out" / "colours" / "predictions.jsonl"
    with MockEndpoint(Reply(delay=0.3)) as endpoint:
        model = write_model(tmp_path / "model.json", endpoint.url, num_workers=4)
        arguments = ("--tasks", task, "--cfg", model, "--output-dir", "out")
        process = run_command.start(*arguments)
        wait_for_lines(path, 4)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        finished = {line["question_id"] for line in read_lines(path)}
        with open(path, "ab") as file:
            file.write(b'{"question_id": "24", "answer": "to')  # what a kill in mid-write leaves
        done = run_command(*arguments)
        assert endpoint.max_inflight == 4
        times = Counter(request.text.splitlines()[0] for request in endpoint.requests)
    assert done.status == 0
    assert 4 <= len(finished) <= 14  # each line is there as soon as its item is finished
    assert {name: times[f"Question {name}?"] for name in finished} == dict.fromkeys(finished, 1)
    assert all(1 <= count <= 2 for count in times.values())  # those in flight when it was killed are asked twice
    assert sum(times.values()) <= 24 + 8  # and replies that were on their way to the file
    assert any("the last line is torn" in warning for warning in done.warnings)
    assert [line["question_id"] for line in read_lines(path)].count("24") == 1
    assert list(answers_by_id(tmp_path / "out")) == [str(number) for number in range(1, 25)]
    assert counts_of(tmp_path / "out") == {"total": 24, "asked": 24, "answered": 24}


def test_what_a_killed_run_had_can_be_scored_without_the_model(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(24))
    path = tmp_path / "out" / "colours" / "predictions.jsonl"
    with MockEndpoint(Reply(delay=0.3)) as endpoint:
        model = write_model(tmp_path / "model.json", endpoint.url, num_workers=4)
        process = run_command.start("--tasks", task, "--cfg", model, "--output-dir", "out")
        wait_for_lines(path, 4)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        asked = len(endpoint.requests)
        done = run_command("--tasks", task, "--without-infer", "--output-dir", "out")
        assert len(endpoint.requests) == asked
    finished = [line["question_id"] for line in read_lines(path)]
    assert done.status == 0
    assert set(answers_by_id(tmp_path / "out")) == set(finished)
    assert counts_of(tmp_path / "out") == {"total": 24, "asked": len(finished), "answered": len(finished)}


def test_a_torn_line_in_the_middle_is_told_with_its_number(bench, finished):
    path = bench.out / "colours" / "predictions.jsonl"
    first, *others = path.read_text().splitlines()
    path.write_text("\n".join([first, "{torn", *others, ""]))
    done, asked = bench.run(finished)
    assert (done.status, asked) == (2, [])
    assert "predictions.jsonl:2: not a prediction" in done.errors[0]


def test_a_finished_run_asks_nothing_even_where_workers_time_limit_or_key_change(bench, finished):
    before = (bench.out / "colours" / "colours.json").read_bytes()
    done, asked = bench.run(finished, "--num-workers", 1, "--timeout", 3, "--retries", 0, "--api-key", "sk-other")
    assert (done.status, asked) == (0, [])
    assert (bench.out / "colours" / "colours.json").read_bytes() == before


def test_only_what_changed_is_asked_again(bench, finished):
    data = bench.folder / "task" / "data"
    write_picture(data / "picture.png", "red")
    os.utime(data / "touched.png", (1, 1))  # another time, the same content
    items = [item | {"question": "other?"} if item["question"] == "question?" else item for item in ITEMS]
    write_data(data, [*items, choice("added", "added?")])
    done, asked = bench.run(finished)
    assert (done.status, asked) == (0, ["added?", "other?", "picture?"])
    assert list(answers_by_id(bench.out)) == [*NAMES, "added"]
    assert counts_of(bench.out) == {"total": 5, "asked": 5, "answered": 5}


def test_a_changed_prompt_asks_everything_again(bench, finished):
    task = write_task(bench.folder / "task", ITEMS, prompt="dict(type='PromptTemplate')")
    done, asked = bench.run(task)
    assert (done.status, asked) == (0, QUESTIONS)
    assert "none of the 4 answers saved in" in done.warnings[0]
    assert "all are asked, and their results take the place of the earlier ones" in done.warnings[0]


def test_other_data_of_the_same_task_do_not_take_the_place_of_its_results(bench, finished):
    files = {path: path.read_bytes() for path in (bench.out / "colours").iterdir()}
    other = write_data(bench.folder / "other", [item | {"question": "another?"} for item in ITEMS])
    done, asked = bench.run(finished, "--data-root", other)
    assert (done.status, asked) == (2, [])
    assert f"is {str(other)!r}); evaluate these data in another results directory" in done.errors[0]
    assert {path: path.read_bytes() for path in (bench.out / "colours").iterdir()} == files
    done, asked = bench.run(finished, "--data-root", other, "--overwrite")
    assert (done.status, asked) == (0, ["another?"] * 4)


def test_a_changed_temperature_or_model_refuses_to_go_on_until_told_to_overwrite(bench, finished):
    change = ("--temperature", 0.7, "--model", "other")
    done, asked = bench.run(finished, *change)
    assert (done.status, asked) == (2, [])
    [error] = done.errors
    assert "temperature was 0, is 0.7" in error
    assert f"model_name was {MODEL!r}, is 'other'" in error
    assert "give another --output-dir, or --overwrite" in error
    done, asked = bench.run(finished, *change, "--overwrite")
    assert (done.status, asked) == (0, QUESTIONS)
    assert len(read_lines(bench.out / "colours" / "predictions.jsonl")) == len(ITEMS)


def test_a_changed_number_of_repetitions_is_told_as_that(bench, finished):
    done, asked = bench.run(finished, "--num-infers", 3)
    assert (done.status, asked) == (2, [])
    assert "other settings (num_infers was 1, is 3; temperature was 0, is 1)" in done.errors[0]


def test_a_folder_that_another_run_writes_is_left_alone(bench, finished):
    with FileLock(bench.out / "colours" / ".lock"):
        done, asked = bench.run(finished, "--overwrite")
    assert (done.status, asked) == (2, [])
    assert "another run is writing here" in done.errors[0]
    assert len(answers_by_id(bench.out)) == len(ITEMS)


def test_a_full_run_reuses_the_answers_of_a_try_run(bench):
    task = write_task(bench.folder / "task", choices(40))
    tried, asked = bench.run(task, "--try-run")
    assert (tried.status, len(asked)) == (0, 32)
    assert result_of(bench.out)["partial"] == "32 of 40 questions (try run)"
    assert "colours* " in tried.stdout
    assert "* colours: partial, 32 of 40 questions (try run)" in tried.stdout
    full, asked = bench.run(task)
    assert (full.status, asked) == (0, sorted(f"Question {number}?" for number in range(33, 41)))
    assert "partial" not in result_of(bench.out)
    assert "*" not in full.stdout


def test_limit_asks_the_first_questions_and_skip_leaves_out_finished_tasks_only(bench):
    task = write_task(bench.folder / "task", choices(5))
    done, asked = bench.run(task, "--limit", 2)
    assert (done.status, asked) == (0, ["Question 1?", "Question 2?"])
    assert counts_of(bench.out) == {"total": 5, "asked": 2, "answered": 2}
    assert result_of(bench.out)["partial"] == "2 of 5 questions (limit 2)"
    done, asked = bench.run(task, "--skip")
    assert (done.status, asked) == (0, ["Question 3?", "Question 4?", "Question 5?"])
    (bench.folder / "task" / "data" / "data.json").unlink()  # a skipped task needs no data
    done, asked = bench.run(task, "--skip")
    assert (done.status, asked) == (0, [])
    assert "finished before, skipped" in done.stderr
    assert "100.00" in done.stdout


def test_what_was_not_answered_is_asked_again_unless_told_otherwise(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(3))
    bad = {"Question 2?": sequence([error_reply(400, "no"), "B"]), "Question 3?": sequence([null_content(), "B"])}
    with MockEndpoint(by_question(bad, default="B")) as endpoint:
        bench = Workbench(run_command, endpoint)
        assert bench.run(task)[0].status == 1
        done, asked = bench.run(task, "--keep-failed")
        assert (done.status, asked) == (1, [])
        done, asked = bench.run(task)
    assert (done.status, asked) == (0, ["Question 2?", "Question 3?"])
    assert counts_of(tmp_path / "out") == {"total": 3, "asked": 3, "answered": 3}


SESSION_MODEL = '''
from flagmm.models.client import BaseClient
from flagmm.types import ModelOutput


class Counting(BaseClient):
    """Writes down when it is opened, used and closed."""

    def __init__(self, spec, *, log):
        self.log = log

    def note(self, text):
        with open(self.log, "a") as file:
            file.write(text + "\\n")

    async def __aenter__(self):
        self.note("open")
        return self

    async def __aexit__(self, *error):
        self.note("close")

    async def generate(self, messages, settings):
        self.note(settings.question_id)
        return ModelOutput(text="B")
'''


def test_two_tasks_share_one_session_of_a_model_of_ones_own(run_command, tmp_path):
    tasks = [write_task(tmp_path / name, [choice(name, "?")], name=name) for name in ("first", "second")]
    (tmp_path / "counting.py").write_text(SESSION_MODEL)
    settings = {"model_type": "counting.py:Counting", "log": "log.txt"}
    done = run_command("--tasks", *tasks, "--cfg", write_model(tmp_path / "model.json", None, **settings))
    assert done.status == 0
    assert (tmp_path / "log.txt").read_text().split() == ["open", "first", "second", "close"]
    summary = read_json(tmp_path / "results" / MODEL / "summary.json")
    assert [row["task"] for row in summary["tasks"]] == ["first", "second"]
