"""`--without-infer` scores what lies in a directory, whoever wrote it, without a model."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.end_to_end.folders import (
    add_up,
    choice,
    choices,
    counts_of,
    files_under,
    read_json,
    result_of,
    write_model,
    write_task,
)
from tests.servers import MockEndpoint, by_question, error_reply

ITEMS = [choice(number, f"Question {number}?", answer=answer) for number, answer in enumerate("BBAB", start=1)]


@pytest.fixture(scope="module")
def scored(module_command):
    """A directory with answers of ours to two like tasks: two right, one wrong, one failed in each."""
    folder = module_command.folder
    tasks = [write_task(folder / name, ITEMS, name=name) for name in ("colours", "good")]
    with MockEndpoint(by_question({"Question 4?": error_reply(400, "no")}, default="B")) as endpoint:
        model = write_model(folder / "model.json", endpoint.url)
        done = module_command("--tasks", *tasks, "--cfg", model, "--output-dir", "out")
    assert done.status == 1
    return folder


@pytest.fixture
def copy(scored, run_command):
    """A copy of it, with the task file, for a test to score."""
    shutil.copytree(scored / "out", run_command.folder / "out")
    return write_task(run_command.folder / "task", ITEMS)


def score(command, task, *flags):
    return command("--tasks", task, "--without-infer", "--output-dir", "out", *flags)


def contents(folder):
    names = [name for name in files_under(folder) if name != "run.json"]  # which holds times
    return {name: (folder / name).read_bytes() for name in names}


def test_scoring_again_writes_the_same_bytes_and_keeps_the_model_in_mind(run_command, copy, tmp_path):
    before, model = contents(tmp_path / "out"), read_json(tmp_path / "out/run.json")["model"]
    done = score(run_command, copy)
    assert done.status == 1  # one item failed
    assert contents(tmp_path / "out") == before
    assert "50.00" in done.stdout
    assert read_json(tmp_path / "out/run.json")["model"] == model


def test_a_changed_answer_key_changes_the_score_without_asking(run_command, copy, tmp_path):
    write_task(tmp_path / "task", [{**item, "answer": "B"} for item in ITEMS])
    done = score(run_command, copy)
    assert done.status == 1
    assert result_of(tmp_path / "out")["accuracy"] == 75.0


def test_a_partial_directory_says_so_and_scores_over_what_is_there(run_command, copy, tmp_path):
    path = tmp_path / "out/colours/colours.json"
    path.write_text(json.dumps(read_json(path)[:3]))
    path.with_name("predictions.jsonl").unlink()  # which would tell of the others
    done = score(run_command, copy)
    assert done.status == 0
    result = result_of(tmp_path / "out")
    assert result["partial"] == "3 of 4 questions"
    assert counts_of(tmp_path / "out") == {"total": 4, "asked": 3, "answered": 3}
    assert result["accuracy"] == pytest.approx(66.67)
    assert "* colours: partial, 3 of 4 questions" in done.stdout


def test_answers_of_flagevalmm_are_read_and_its_error_texts_are_failures(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(5))
    answers = ["B", "Error code: 429 - slow down", "Can not answer because of a filter", "", "The answer is A"]
    records = [
        {"question_id": str(number), "question": f"Question {number}?", "answer": answer, "reason": "", "usage": None}
        for number, answer in enumerate(answers, start=1)
    ]
    (tmp_path / "out/colours").mkdir(parents=True)
    (tmp_path / "out/colours/colours.json").write_text(json.dumps(records))
    done = score(run_command, task)
    assert done.status == 1
    result = result_of(tmp_path / "out")
    assert counts_of(tmp_path / "out") == {"total": 5, "asked": 5, "answered": 2, "empty": 1, "failed": 2}
    assert add_up(result["counts"])
    assert (result["accuracy"], result["accuracy_answered"]) == (20.0, 50.0)
    assert result["reject_info"] == {"reject_rate": 60.0, "reject_number": 3, "total_question": 5}
    assert read_json(tmp_path / "out/colours/colours.json") == records  # what another tool wrote stays as it is
    refused = run_command("--tasks", task, "--model-type", "random", "--output-dir", "out")
    assert refused.status == 2
    assert "score them with --without-infer, ask again with --overwrite" in refused.errors[0]


RAISING = """
def get_result(annotations, predictions):
    for prediction in predictions:
        prediction["correct"] = prediction["answers"]
"""
OWN_METRICS = """
def get_result(annotations, predictions):
    predictions.sort(key=lambda prediction: prediction["question_id"], reverse=True)
    for prediction in predictions:
        prediction.update(annotations[prediction["question_id"]], correct=1, note="seen " + prediction["answer"])
    return {"exact": 12.345, "parts": {"red": 1, "blue": 0.5}, "seen": len(predictions)}
"""


def test_an_evaluator_that_raises_is_one_line_and_the_other_tasks_go_on(run_command, copy, tmp_path):
    (tmp_path / "task/evaluate.py").write_text(RAISING)
    bad = write_task(tmp_path / "task", ITEMS, evaluator="dict(type='BaseEvaluator', eval_func='evaluate.py')")
    good = write_task(tmp_path / "good", ITEMS, name="good")
    done = run_command("--tasks", bad, good, "--without-infer", "--output-dir", "out")
    assert done.status == 1
    [error] = done.errors
    assert error.startswith("colours: ")
    assert "evaluate.py: get_result: KeyError: 'answers'" in error
    assert "evaluate.py:4" in error
    assert "Traceback" not in done.stderr
    assert len(read_json(tmp_path / "out/colours/colours.json")) == 4
    assert not (tmp_path / "out/colours/colours_result.json").exists()  # nor an earlier one, to pass for this one
    assert [row["task"] for row in read_json(tmp_path / "out/summary.json")["tasks"]] == ["good", "colours"]
    assert "colours" not in done.stdout.partition("Results:")[0]


def test_a_task_s_own_numbers_are_kept_and_what_it_wrote_reaches_the_right_item(run_command, copy, tmp_path):
    (tmp_path / "task/evaluate.py").write_text(OWN_METRICS)
    task = write_task(tmp_path / "task", ITEMS, evaluator="dict(type='BaseEvaluator', eval_func='evaluate.py')")
    done = score(run_command, task)
    result = result_of(tmp_path / "out")
    assert (result["exact"], result["parts"], result["seen"]) == (12.345, {"red": 1, "blue": 0.5}, 4)
    assert result["over"] == "asked"
    entries = read_json(tmp_path / "out/colours/colours_evaluated.json")
    assert [entry.get("note") for entry in entries] == ["seen B", "seen B", "seen B", "seen "]
    assert [entry["status"] for entry in entries] == ["ok", "ok", "ok", "failed"]
    assert "parts.red" in done.stdout
    assert "12.35" in done.stdout or "12.34" in done.stdout


def test_types_without_a_rule_are_told_and_count_as_unscored(run_command, tmp_path):
    drawing = {"question_id": "d", "question": "Draw?", "question_type": "drawing", "answer": "x"}
    no_answer = {key: value for key, value in choice("n", "What?").items() if key != "answer"}
    task = write_task(tmp_path / "task", [choice("c", "Which?"), drawing, no_answer])
    answers = [{"question_id": item, "answer": "B"} for item in "cdn"]
    (tmp_path / "out/colours").mkdir(parents=True)
    (tmp_path / "out/colours/colours.json").write_text(json.dumps(answers))
    done = score(run_command, task)
    assert done.status == 1
    assert counts_of(tmp_path / "out") == {"total": 3, "asked": 3, "answered": 3, "unscored": 2}
    assert result_of(tmp_path / "out")["accuracy"] == 100.0
    assert any("no rule scores question_type 'drawing'" in warning for warning in done.warnings)


def saved(question, answer, question_id="1"):
    return {"question_id": question_id, "question": question, "answer": answer}


SHOWN = "A. red\nB. green\nC. blue"


def test_answers_beside_each_other_are_found_and_scored_there(run_command, tmp_path):
    tasks = [write_task(tmp_path / name, choices(2), name=name) for name in ("one", "two")]
    (tmp_path / "out").mkdir()
    for name, second in (("one", "A"), ("two", "Error code: 503 - busy")):
        records = [saved(f"Question 1?\n{SHOWN}", "B"), saved(f"Question 2?\n{SHOWN}", second, "2")]
        (tmp_path / f"out/{name}.json").write_text(json.dumps(records))
    done = run_command("--tasks", *tasks, "--without-infer", "--output-dir", "out")
    assert (done.status, done.warnings, done.errors) == (1, [], [])
    assert [row["task"] for row in read_json(tmp_path / "out/summary.json")["tasks"]] == ["one", "two"]
    assert read_json(tmp_path / "out/one_result.json")["accuracy"] == 50.0
    ok, failed = read_json(tmp_path / "out/two_evaluated.json")
    assert (ok["status"], ok["error"], failed["status"], failed["answer"]) == ("ok", None, "failed", "")
    assert failed["error"] == {"kind": "saved", "message": "Error code: 503 - busy", "status": 503}
    assert run_command("compare", "out", "out").status == 0


def test_a_task_s_own_folder_may_be_named_as_the_directory(run_command, copy, tmp_path):
    done = run_command("--tasks", copy, "--without-infer", "--output-dir", "out/colours")
    assert (done.status, done.errors) == (1, [])
    assert read_json(tmp_path / "out/colours/colours_result.json")["accuracy"] == 50.0


@pytest.mark.parametrize(
    ("asked", "warning"),
    [
        pytest.param(f"Question 1?\n{SHOWN}", None, id="the same"),
        pytest.param(f"Question 1?\n{SHOWN}\nOne letter.", "other prompts than the task makes", id="instruction"),
        pytest.param(f"Question 7?\n{SHOWN}", "other questions than the data have", id="question"),
        pytest.param("Question 1?\nA. red\nB. pink\nC. blue", "other questions than the data have", id="option"),
        pytest.param("", None, id="not saved"),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_answers_to_what_is_not_asked_now_are_told(run_command, tmp_path, asked, warning, order):
    task = write_task(tmp_path / "task", choices(2))
    records = [saved(asked, "B"), saved(f"Question 2?\n{SHOWN}", "B", "2")]
    (tmp_path / "out/colours").mkdir(parents=True)
    (tmp_path / "out/colours/colours.json").write_text(json.dumps(records[::order]))
    done = score(run_command, task)
    assert (done.status, len(done.warnings)) == (0, int(warning is not None))
    if warning is not None:
        assert "colours: 1 saved answers were given to" in done.warnings[0]
        assert warning in done.warnings[0]
        assert "question_id '1'" in done.warnings[0]
