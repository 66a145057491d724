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


def test_a_gold_answer_that_does_not_score_is_named(run_command, tmp_path):
    task = write_task(tmp_path / "task", [*items(), choice(5, "Five?", answer="E")])
    done = run_command("check", str(task))
    assert done.status == 1
    assert "WRONG: question_id '5': answer: gold 'E' scores 0" in done.stdout


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
