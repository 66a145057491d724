"""A night's run over ten tasks ends with a table of ten rows, whatever one of them does."""

from __future__ import annotations

import pytest

from tests.end_to_end.folders import (
    choices,
    read_json,
    result_of,
    write_model,
    write_task,
)
from tests.servers import MockEndpoint, Reply, error_reply

SOUND = [f"sound{number}" for number in range(1, 7)]
TASKS = ["sound1", "refused", "sound2", "unprepared", "sound3", "raising", "sound4", "judged", "sound5", "sound6"]
PER_TASK = 4


@pytest.fixture(scope="module")
def night(module_command):
    """The run, and what stands in its folder; `judged` has a judge that dies after two verdicts."""
    folder = module_command.folder
    paths = []
    verdicts = 0

    def judge_rule(request):
        nonlocal verdicts
        verdicts += 1
        return Reply(text="Judgement: Correct") if verdicts <= 3 else Reply(reset=True)

    def model_rule(request):
        return error_reply(400, "this model takes no such pictures") if "refused" in request.text else Reply(text="B")

    with MockEndpoint(judge_rule) as judge, MockEndpoint(model_rule) as model:
        for name in TASKS:
            items = choices(PER_TASK)
            for item in items:
                item["question"] = f"{name}: {item['question']}"
            evaluator = "dict(type='BaseEvaluator')"
            if name == "judged":
                items = [
                    {"question_id": number, "question": f"{name} {number}", "question_type": "open", "answer": "B"}
                    for number in range(PER_TASK)
                ]
                settings = f"model_name='j', url={judge.url!r}, retries=1, timeout=5, num_workers=1"
                evaluator = f"dict(type='BaseEvaluator', judge=dict({settings}))"
            elif name == "raising":
                evaluator = "dict(type='BaseEvaluator', eval_func='evaluate.py')"
            path = write_task(folder / name, items, name=name, evaluator=evaluator)
            if name == "raising":
                (folder / name / "evaluate.py").write_text("def get_result(annotations, predictions):\n    1 / 0\n")
            elif name == "unprepared":
                config = "dict(dataset_path='x', split='val', processed_dataset_path='x', processor='process.py')"
                path.write_text(
                    f"dataset = dict(type='VqaBaseDataset', name={name!r}, config={config})\n"
                    "evaluator = dict(type='BaseEvaluator')\n"
                )
                (folder / name / "process.py").write_text("def process(cfg):\n    raise OSError('hub not reached')\n")
            paths.append(path)
        write_model(folder / "model.json", model.url, num_workers=2)
        done = module_command("--tasks", *paths, "--cfg", "model.json", "--output-dir", "out")
    return done, folder / "out", model


def rows_of(text):
    """The first cell of each row of the table that names a task -> the row."""
    return {line.split()[0]: line for line in text.splitlines() if line.split() and line.split()[0] in TASKS}


def test_each_of_the_ten_tasks_has_a_row(night):
    done, _, _ = night
    assert list(rows_of(done.stdout)) == TASKS
    assert done.status == 1


def test_the_rest_is_scored_as_if_nothing_had_happened(night):
    done, out, _ = night
    for name in SOUND:
        assert result_of(out, name)["accuracy"] == 100, done.stderr
        assert "100.00" in rows_of(done.stdout)[name]


def test_a_task_whose_calls_all_failed_has_no_score(night):
    done, out, _ = night
    assert "not scored: all 4 calls failed" in rows_of(done.stdout)["refused"]
    assert not (out / "refused/refused_result.json").exists()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("unprepared", "hub not reached"),
        ("refused", "no such pictures"),
        ("raising", "ZeroDivisionError"),
    ],
)
def test_a_row_without_a_score_says_why(night, name, why):
    done, _, _ = night
    assert "100.00" not in rows_of(done.stdout)[name]
    assert why in done.stderr


def test_questions_that_the_dead_judge_did_not_see_are_no_verdicts(night):
    done, out, _ = night
    assert result_of(out, "judged")["counts"]["judge_failed"] == 1
    assert "judged: WARNING: 1 judge-failed (25.0%)" in done.stdout


def test_a_refused_task_is_not_asked_to_its_end_as_if_it_could_be(night):
    _, _, model = night
    assert {name for name in TASKS if any(name in request.text for request in model.requests)} == set(TASKS) - {
        "unprepared"
    }


def test_the_summaries_have_the_same_rows(night):
    _, out, _ = night
    for file in ("summary.csv", "summary.md"):
        text = (out / file).read_text(encoding="utf-8")
        assert [name for name in TASKS if name in text] == TASKS, file
    text = (out / "summary.json").read_text(encoding="utf-8")
    assert read_json(out / "summary.json")
    assert [name for name in TASKS if f'"{name}"' in text] == TASKS


def test_a_later_run_of_one_task_keeps_the_rows_of_the_others(night, module_command):
    _, out, _ = night
    done = module_command("--tasks", "sound1/sound1.py", "--without-infer", "--output-dir", "out")
    assert done.status == 0, done.stderr
    rows = {row["task"]: row["missing"] for row in read_json(out / "summary.json")["tasks"]}
    assert rows["raising"].startswith("not scored: ")
    assert set(TASKS) - set(rows) == {"unprepared"}  # of which nothing is there


def test_scores_of_another_model_in_the_same_directory_are_told(run_command, tmp_path):
    first, second = (write_task(tmp_path / name, choices(2), name=name) for name in ("first", "second"))
    with MockEndpoint() as endpoint:
        write_model(tmp_path / "a.json", endpoint.url)
        write_model(tmp_path / "b.json", endpoint.url, model_name="another")
        alone = run_command("--tasks", first, "--cfg", "a.json", "--output-dir", "out")
        beside = run_command("--tasks", second, "--cfg", "b.json", "--output-dir", "out")
    assert (alone.warnings, beside.status) == ([], 0)
    [warning] = beside.warnings
    assert warning.startswith("out: holds results of another model, too (first)")
