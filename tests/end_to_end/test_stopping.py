"""What ends a run, what ends one task only, and that every task asked for has a row that says so."""

from __future__ import annotations

import csv
import json

import pytest

from flagmm.printable import markdown
from tests.end_to_end.folders import (
    choice,
    choices,
    counts_of,
    read_json,
    read_lines,
    write_model,
    write_task,
)
from tests.servers import MockEndpoint, Reply, by_question, error_reply

NO_LIMIT = error_reply(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
REVOKED = error_reply(401, "The key was revoked")
ROW = 20
"""Failures in a row that end a run of few workers."""
ENDLESS = {
    "revoked": (REVOKED, "HTTP 401: The key was revoked (no API key is set: give"),
    "server": (
        error_reply(503, "overloaded"),
        "HTTP 503: overloaded; see the message, then run the same command again to go on",
    ),
    "timeout": (Reply(hang=True), "no reply within 2 s; check that the server is not overloaded"),
    "gone": (error_reply(404, "no such model"), "HTTP 404: no such model; check url and model_name, then run"),
}


def row_of(done, task):
    """The cells of the first line of a task in the printed table."""
    [line, *_] = [line for line in done.stdout.splitlines() if line.startswith(f"{task} ")]
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def summary_of(out):
    """The entries of the three summaries, by task."""
    told = {entry["task"]: entry for entry in read_json(out / "summary.json")["tasks"]}
    with open(out / "summary.csv", encoding="utf-8", newline="") as file:
        lines = {line["task"]: line for line in csv.DictReader(file)}
    return told, lines, (out / "summary.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def turned_down(module_command):
    """Three tasks, of which the first two are turned down: one at its 10th question, one too short for that."""
    folder = module_command.folder
    sizes = {"first": 30, "second": 3, "third": 2}
    tasks = [
        write_task(folder / name, [choice(number, f"{name} {number}?") for number in range(size)], name=name)
        for name, size in sizes.items()
    ]
    script = by_question({"first": NO_LIMIT, "second": error_reply(422, "no pictures")}, default="B")
    with MockEndpoint(script) as endpoint:
        model = write_model(folder / "model.json", endpoint.url, num_workers=1, max_tokens=5)
        flags = ("--tasks", *tasks, "--cfg", model, "--output-dir", "out")
        done = module_command(*flags)
        asked, first_had_result = len(endpoint.requests), (folder / "out/first/first_result.json").exists()
        patient = module_command(*flags, "--keep-failed")
        asked_patiently = len(endpoint.requests) - asked
    return done, asked, patient, asked_patiently, folder / "out", first_had_result


def test_what_one_task_asks_is_turned_down_and_the_others_are_asked(turned_down):
    done, asked, _, _, out, _ = turned_down
    assert done.status == 1
    error, short = done.errors
    assert "second: all 3 calls failed, so there is no score: HTTP 422: no pictures (×3)" in short
    assert "turns down one question after the other: HTTP 400: Unsupported parameter: 'max_tokens'." in error
    assert '(give the model "max_tokens_key": "max_completion_tokens")' in error
    assert "--keep-failed" in error
    assert asked <= 10 + 4 + 3 + 2
    assert counts_of(out, "third") == {"total": 2, "asked": 2, "answered": 2}


def test_each_has_a_row_and_the_reason_stands_in_it(turned_down):
    done, first_had_result = turned_down[0], turned_down[-1]
    assert row_of(done, "first")[1].startswith("not scored: http://")
    assert row_of(done, "second")[1].startswith("not scored: all 3 calls failed, so there is no")
    assert row_of(done, "second")[2:] == ["-", "3", "0", "3", "0"]
    assert row_of(done, "third")[1:3] == ["accuracy", "100.00 [34.2, 100.0]"]
    assert not first_had_result


def test_where_failures_are_accepted_all_are_asked_and_what_failed_is_not_asked_again(turned_down):
    _, _, patient, asked, out, _ = turned_down
    assert (patient.status, patient.errors) == (1, [])
    assert asked in (19, 20)  # a call that was under way when the first run gave up was waited for
    assert counts_of(out, "first") == {"total": 30, "asked": 30, "failed": 30}


def test_calls_under_way_when_a_key_is_revoked_are_waited_for_and_kept(run_command, tmp_path):
    """The endpoint takes 12 calls, answers them slowly, and turns down all that come after them at once."""
    task = write_task(tmp_path / "task", choices(40))
    taken = iter(range(12))

    def rule(request):
        return Reply(text="B", delay=1.0) if next(taken, None) is not None else REVOKED

    with MockEndpoint(rule) as endpoint:
        model = write_model(tmp_path / "model.json", endpoint.url, num_workers=16, api_key="k" * 20)
        flags = ("--tasks", task, "--cfg", model, "--output-dir", "out")
        stopped = run_command(*flags)
        kept = sum(line["status"] == "ok" for line in read_lines(tmp_path / "out/colours/predictions.jsonl"))
        asked = len(endpoint.requests)
    assert (stopped.status, kept) == (2, 12)
    assert asked <= 12 + 16  # nothing new was asked meanwhile
    with MockEndpoint() as endpoint:
        write_model(tmp_path / "model.json", endpoint.url, num_workers=16, api_key="k" * 20)
        done = run_command(*flags, "--same-model")
        assert (done.status, len(endpoint.requests)) == (0, 28)


class Failing:
    """Answers some questions, and then none until it is mended."""

    def __init__(self, reply, *, after):
        self.reply, self.left = reply, after

    def __call__(self, request):
        self.left -= 1
        return Reply() if self.left >= 0 else self.reply

    def mend(self):
        self.left = 10**6


@pytest.mark.parametrize("name", ENDLESS)
def test_an_endpoint_that_answers_no_more_ends_the_run_and_the_same_command_goes_on(run_command, tmp_path, name):
    reply, told = ENDLESS[name]
    tasks = [write_task(tmp_path / task, choices(count), name=task) for task, count in (("a", 60), ("b", 1))]
    failing = Failing(reply, after=5)
    with MockEndpoint(failing) as endpoint:
        model = write_model(tmp_path / "model.json", endpoint.url, num_workers=4, retries=0, timeout=2)
        flags = ("--tasks", *tasks, "--cfg", model, "--output-dir", "out")
        done = run_command(*flags)
        asked = len(endpoint.requests)
        failing.mend()
        again = run_command(*flags)
        assert len(endpoint.requests) - asked == 60 - 5 + 1
    assert done.status == 2
    [error] = done.errors
    assert f"answers no more: {told}" in error
    assert asked <= 5 + ROW + 4 + 4
    assert row_of(again, "a")[3:] == ["60", "60", "0", "0"]
    assert row_of(done, "a")[1].startswith("not scored: http://")
    assert row_of(done, "a")[3:5][-1] == "5"
    assert row_of(done, "b")[1].startswith("not run: the run ended at a: http://")
    assert (again.status, counts_of(tmp_path / "out", "a")["answered"]) == (0, 60)


def test_sporadic_failures_that_no_retry_cures_stop_nothing(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(40))
    bad = {f"Question {number}?": error_reply(503, "busy") for number in range(2, 40, 2)}
    with MockEndpoint(by_question(bad, default="B")) as endpoint:
        model = write_model(tmp_path / "model.json", endpoint.url, num_workers=1, retries=0)
        done = run_command("--tasks", task, "--cfg", model, "--output-dir", "out")
    assert (done.status, done.errors) == (1, [])
    assert counts_of(tmp_path / "out") == {"total": 40, "asked": 40, "answered": 21, "failed": 19}


RAISES = "def get_result(annotations, predictions):\n    raise ValueError('no sk-secret-1 here')\n"


@pytest.fixture(scope="module")
def unfit(module_command):
    """One run of tasks each of which fails in another way, then one that is sound."""
    folder = module_command.folder
    tasks = {
        name: write_task(folder / name, choices(2), name=name) for name in ("gone", "raises", "prepared", "judged")
    }
    (folder / "gone" / "data" / "data.json").unlink()
    (folder / "raises" / "evaluate.py").write_text(RAISES)
    tasks["raises"].write_text(
        tasks["raises"].read_text().replace('BaseEvaluator"', 'BaseEvaluator", eval_func="evaluate.py"')
    )
    config = "dict(dataset_path='x', split='val', processed_dataset_path='p', processor='process.py')"
    tasks["prepared"].write_text(
        f"config = {config}\ndataset = dict(type='VqaBaseDataset', config=config, name='prepared')\n"
    )
    (folder / "prepared" / "process.py").write_text("def process(cfg):\n    raise OSError('no network')\n")
    with MockEndpoint() as closed:
        url = closed.url
    judge = f"dict(model_name='j', url={url!r})"
    tasks["judged"].write_text(tasks["judged"].read_text().replace('BaseEvaluator"', f'BaseEvaluator", judge={judge}'))
    tasks["sound"] = write_task(folder / "sound", choices(2), name="sound")
    with MockEndpoint() as endpoint:
        model = write_model(folder / "model.json", endpoint.url, api_key="sk-secret-1")
        done = module_command("--tasks", *tasks.values(), "--cfg", model, "--output-dir", "unfit")
    return done, folder / "unfit"


WHY = {
    "gone": "not run: ",
    "raises": "not scored: ",
    "prepared": "not run: ",
    "judged": "not run: ",
}


@pytest.mark.parametrize("name", WHY)
def test_a_task_that_could_not_be_run_has_a_row_in_the_table_and_in_all_summaries(unfit, name):
    done, out = unfit
    told, lines, text = summary_of(out)
    assert done.status == 2
    assert row_of(done, name)[1].startswith(WHY[name])
    assert told[name]["missing"].startswith(WHY[name])
    assert lines[name]["partial"] == told[name]["missing"]
    assert f"- {name}: {markdown(told[name]['missing'])}" in text
    assert told[name]["counts"]["answered"] == (2 if name == "raises" else 0)
    assert "sk-secret-1" not in done.stdout + text + json.dumps(told)


def test_a_task_with_a_score_has_no_reason(unfit):
    done, out = unfit
    told, lines, _ = summary_of(out)
    assert (told["sound"]["missing"], lines["sound"]["partial"], lines["sound"]["score"]) == (None, "", "100.0")
    assert list(told) == ["sound", "gone", "raises", "prepared", "judged"]
    assert [line.split()[0] for line in done.stdout.splitlines()[2:6]] == ["gone", "raises", "prepared", "judged"]


def test_a_stopped_scoring_and_what_follows_have_rows(run_command, tmp_path):
    tasks = [write_task(tmp_path / name, choices(2), name=name) for name in ("a", "b")]
    (tmp_path / "a" / "evaluate.py").write_text("def get_result(a, p):\n    raise KeyboardInterrupt\n")
    tasks[0].write_text(tasks[0].read_text().replace('BaseEvaluator"', 'BaseEvaluator", eval_func="evaluate.py"'))
    with MockEndpoint() as endpoint:
        done = run_command("--tasks", *tasks, "--model", "m", "--url", endpoint.url, "--output-dir", "out")
    assert done.status == 130
    assert row_of(done, "a")[1:] == ["not scored: interrupted", "-", "2", "2", "0", "0"]
    assert row_of(done, "b")[1:] == ["not run: interrupted", "-", "0", "0", "0", "0"]
    assert "the same command goes on" in done.warnings[-1]


def test_a_judge_whose_key_is_revoked_ends_the_scoring_without_a_score(run_command, tmp_path):
    judged = Failing(REVOKED, after=4)
    with MockEndpoint(judged) as judge, MockEndpoint("an answer") as endpoint:
        evaluator = f"dict(type='BaseEvaluator', judge=dict(model_name='j', url={judge.url!r}, num_workers=1))"
        items = [
            {"question_id": number, "question": f"Q{number}?", "question_type": "open", "answer": f"a{number}"}
            for number in range(30)
        ]
        task = write_task(tmp_path / "task", items, name="open", evaluator=evaluator)
        done = run_command("--tasks", task, "--model", "m", "--url", endpoint.url, "--output-dir", "out")
        asked = len(judge.asked)
    assert done.status == 2
    assert "answers no more: HTTP 401: The key was revoked" in done.errors[0]
    assert asked <= 4 + 3 + 4
    assert row_of(done, "open")[1].startswith("not scored: judge http://")
    assert not (tmp_path / "out" / "open" / "open_result.json").exists()


VQA = {"messages": [{"role": "user", "content": "which?"}], "answer": "x"}


def test_the_other_commands_have_the_same_rows(run_command, tmp_path):
    (tmp_path / "v").mkdir()
    for name in ("t1", "t2"):
        (tmp_path / f"{name}.tsv").write_text("index\tquestion\tA\tB\tanswer\n1\twhich?\tx\ty\tB\n")
        (tmp_path / "v" / f"{name}.jsonl").write_text(json.dumps(VQA) + "\n")
    with MockEndpoint(REVOKED) as endpoint:
        arguments = {"general_vqa": {"local_path": "v"}, "general_vmcq": {"local_path": "v"}}
        general = run_command(
            "eval", "--model", "m", "--api-url", endpoint.url, "--datasets", "general_vqa", "general_vmcq",
            "--dataset-args", json.dumps(arguments), "--work-dir", "o",
        )  # fmt: skip
        tables = run_command(
            "vlmeval", "--model", "m", "--base-url", endpoint.url, "--data", "t1", "t2", "--judge", "exact_matching",
            LMUData=str(tmp_path),
        )  # fmt: skip
        assert len(endpoint.asked) == 3
    assert (general.status, tables.status) == (2, 2)
    assert row_of(general, "general_vqa")[1].startswith("not scored: http://")
    assert row_of(general, "general_vmcq")[1].startswith("not run: the run ended at general_vqa: ")
    assert row_of(tables, "t2")[5].startswith("not run: the run ended at t1: ")
    [status] = tmp_path.glob("outputs/m/T*/status.json")
    assert read_json(status)["datasets"]["t2"]["skip_reason"].startswith("not run: the run ended at t1: ")
