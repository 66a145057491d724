"""`flagevalmm check`: a sound task passes; what is wrong is named with its id and field."""

from __future__ import annotations

import pytest

from tests.end_to_end.folders import choice, write_picture, write_task


def items():
    return [choice(number, f"Question {number}?", img_path=f"img/{number}.png") for number in (1, 2, 3, 4)]


def test_a_sound_task_shows_prompts_and_passes(run_command, tmp_path):
    task = write_task(tmp_path / "task", items())
    done = run_command("check", str(task))
    assert done.status == 0
    assert done.stdout.count("--- prompt") == 3
    assert "colours: sound; 4 questions, 4 media, gold answers: 4 of 4 right" in done.stdout


def test_a_gold_answer_that_no_reply_can_equal_is_named(run_command, tmp_path):
    maybe = {"question_id": "6", "question": "Is it?", "question_type": "yes-no", "answer": "maybe"}
    task = write_task(tmp_path / "task", [*items(), choice(5, "Five?", answer="E"), maybe])
    done = run_command("check", str(task))
    assert done.status == 1
    assert "WRONG: question_id '5': answer: 'E' cannot be scored, because no reply can equal it" in done.stdout
    assert "WRONG: question_id '6': answer: 'maybe' cannot be scored" in done.stdout
    assert "2 wrong; 6 questions, 4 media, gold answers: 4 of 4 right" in done.stdout
    assert done.warnings == []


def test_a_gold_answer_that_does_not_score_is_named(run_command, tmp_path):
    blank = {"question_id": 5, "question": "Five?", "question_type": "short-answer", "answer": "<think>"}
    task = write_task(tmp_path / "task", [*items(), blank])
    done = run_command("check", str(task))
    assert done.status == 1
    assert "WRONG: question_id '5': answer: gold '<think>' scores 0" in done.stdout


@pytest.mark.parametrize("content", [b"", b"no picture"])
def test_a_picture_that_cannot_be_read_is_named(run_command, tmp_path, content):
    task = write_task(tmp_path / "task", items())
    write_picture(tmp_path / "task/data/img/2.png").write_bytes(content)
    done = run_command("check", str(task))
    assert done.status == 1
    assert "WRONG: question_id '2': image:" in done.stdout
    assert "2.png" in done.stdout


def test_scoring_that_gives_marks_for_nothing_is_found(run_command, tmp_path):
    task = write_task(tmp_path / "task", items(), evaluator='dict(type="BaseEvaluator", eval_func="evaluate.py")')
    (tmp_path / "task/evaluate.py").write_text(
        "def get_result(annotations, predictions):\n    return {'accuracy': 50}\n"
    )
    done = run_command("check", str(task))
    assert done.status == 1
    assert "gold answers give accuracy 50, not 100" in done.stdout


def test_a_task_that_is_not_there_is_one_line(run_command):
    done = run_command("check", "nowhere.py")
    assert done.status == 2
    assert len(done.errors) == 1


def test_tasks_may_be_named_as_those_of_a_run(run_command, tmp_path):
    first, second = (write_task(tmp_path / name, items(), name=name) for name in ("first", "second"))
    done = run_command("check", first, "--tasks", second)
    assert done.status == 0
    assert "first: sound" in done.stdout
    assert "second: sound" in done.stdout


def test_no_task_at_all_is_an_error_with_the_usage(run_command):
    done = run_command("check", "--reprocess")
    assert done.status == 2
    assert "name at least one task" in done.stderr


PREPARED = """\
config = dict(split="test", processed_dataset_path="counted", processor="process.py")
dataset = dict(type="VqaBaseDataset", config=config, name="counted")
evaluator = dict(type="BaseEvaluator")
"""
PROCESS = """\
import json, pathlib


def process(cfg):
    with open("runs.txt", "a") as file:
        file.write("x")
    folder = pathlib.Path(cfg.processed_dataset_path, cfg.split)
    folder.mkdir(parents=True)
    item = {"question_id": 1, "question": "1?", "question_type": "short-answer", "answer": "one"}
    (folder / "data.json").write_text(json.dumps([item]))
"""


def test_reprocess_makes_the_data_again(run_command, tmp_path):
    (tmp_path / "counted.py").write_text(PREPARED)
    (tmp_path / "process.py").write_text(PROCESS)
    for arguments, runs in [((), 1), ((), 1), (("--reprocess",), 2)]:
        assert run_command("check", "counted.py", *arguments).status == 0
        assert len((tmp_path / "runs.txt").read_text()) == runs


def test_the_worst_status_of_several_tasks_stands(run_command, tmp_path):
    gone = write_task(tmp_path / "gone", items(), name="gone")
    (tmp_path / "gone/data/data.json").unlink()
    wrong = write_task(tmp_path / "wrong", [choice(5, "Five?", answer="E")], name="wrong")
    assert run_command("check", gone, wrong).status == run_command("check", wrong, gone).status == 2


def test_code_that_closes_stdout_loses_no_report(run_command, tmp_path):
    task = write_task(tmp_path / "task", items())
    task.write_text("import sys\nprint('a task speaks')\nsys.stdout.close()\n" + task.read_text())
    done = run_command("check", task)
    assert done.status == 0
    assert "colours: sound" in done.stdout
    assert "speaks" not in done.stdout


@pytest.mark.parametrize(
    "evaluator",
    ["dict(type='BaseEvaluator', judge=dict(model_name='j', url='http://h/v1'))", "dict(type='ExtractEvaluator')"],
)
def test_what_only_a_judge_scores_is_no_fault(run_command, tmp_path, evaluator):
    item = {"question_id": 1, "question": "What is it?", "question_type": "open", "answer": "a cat"}
    done = run_command("check", str(write_task(tmp_path / "task", [item], evaluator=evaluator)))
    assert done.status == 0, done.stdout
    assert "sound; 1 questions, 0 media, gold answers: not scored, which takes a judge" in done.stdout


BOX = {"question": "Where?", "question_type": "short-answer", "answer": [10, 20, 110, 120], "img_path": "1.png"}


@pytest.mark.parametrize(
    ("fields", "metric"),
    [
        pytest.param({}, '"iou"', id="four numbers are one answer"),
        pytest.param({"question_type": "bbox"}, '"iou"', id="of that type"),
        pytest.param({}, 'dict(type="iou", unit="thousandths", form="xywh")', id="in the unit of replies"),
        pytest.param({"answer": [[1, 2, 3, 4], [5, 6, 7, 8]]}, 'dict(type="iou", boxes="several")', id="several"),
    ],
)
def test_the_gold_answer_of_a_box_is_the_box(run_command, tmp_path, fields, metric):
    evaluator = f'dict(type="MetricEvaluator", metrics=[{metric}])'
    done = run_command(
        "check", write_task(tmp_path / "task", [{"question_id": 1, **BOX, **fields}], evaluator=evaluator)
    )
    assert "colours: sound; 1 questions, 1 media, gold answers: 1 of 1 right" in done.stdout
    assert (done.status, done.warnings) == (0, [])


def test_the_gold_answer_of_a_box_reaches_a_task_s_own_scoring_whole(run_command, tmp_path):
    items = [{"question_id": 1, **BOX, "question_type": "bbox"}]
    task = write_task(tmp_path / "task", items, evaluator='dict(type="BaseEvaluator", eval_func="evaluate.py")')
    (tmp_path / "task/evaluate.py").write_text(
        "def get_result(annotations, predictions):\n"
        "    right = [p['answer'] == str(annotations[p['question_id']]['answer']) for p in predictions]\n"
        "    return {'accuracy': 100 * sum(right) / len(right)}\n"
    )
    assert "gold answers: accuracy 100" in run_command("check", task).stdout


def test_a_mask_has_a_gold_answer_without_an_answer_in_the_data(run_command, tmp_path):
    item = {"question_id": 1, "question": "Point.", "question_type": "open", "img_path": "1.png", "mask_path": "m.png"}
    task = write_task(tmp_path / "task", [item], evaluator='dict(type="MetricEvaluator", metrics=["point_in_mask"])')
    write_picture(tmp_path / "task/data/m.png", "white")
    assert "gold answers: 1 of 1 right" in run_command("check", task).stdout


def test_a_box_whose_unit_cannot_be_converted_is_named(run_command, tmp_path):
    item = {"question_id": 1, **BOX}
    del item["img_path"]
    evaluator = 'dict(type="MetricEvaluator", metrics=[dict(type="iou", unit="fractions")])'
    done = run_command("check", write_task(tmp_path / "task", [item], evaluator=evaluator))
    assert done.status == 1
    assert "WRONG: answer: question_id 1: no width and height, and no img_path, to convert pixels by" in done.stdout
