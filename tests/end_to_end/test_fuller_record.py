"""A run of a part never takes the place of a fuller one; scoring goes by all answers that are saved."""

from __future__ import annotations

import json

import pandas
import pytest

from tests.dataset.general.tables import write_jsonl
from tests.end_to_end.folders import (
    answers_by_id,
    choice,
    choices,
    counts_of,
    read_json,
    read_lines,
    result_of,
    write_data,
    write_model,
    write_task,
)
from tests.servers import MockEndpoint, by_question, error_reply

ALL = {"total": 6, "asked": 6, "answered": 6}


@pytest.fixture
def endpoint():
    with MockEndpoint() as running:
        yield running


@pytest.fixture
def task(tmp_path, endpoint):
    write_model(tmp_path / "model.json", endpoint.url)
    return write_task(tmp_path / "task", choices(6))


@pytest.fixture
def run(run_command, task):
    def run(*flags):
        return run_command("--tasks", task, "--cfg", "model.json", "--output-dir", "out", *flags)

    return run


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if "_config" not in path.name}


def test_a_limited_run_after_a_full_one_asks_nothing_and_leaves_the_full_result(run, run_command, tmp_path, endpoint):
    assert run().status == 0
    before = contents(tmp_path / "out/colours")
    done = run("--limit", 2)
    assert (done.status, len(endpoint.asked)) == (0, 6)
    assert contents(tmp_path / "out/colours") == before
    assert "*" not in done.stdout
    [warning] = done.warnings
    assert "4 answers of earlier runs are kept, and scored with those of this run (limit 2)" in warning
    assert "in another results directory it is scored alone" in warning
    again = run_command("--tasks", tmp_path / "task/colours.py", "--without-infer", "--output-dir", "out")
    assert (again.status, counts_of(tmp_path / "out")) == (0, ALL)
    assert read_json(tmp_path / "out/colours/colours_config.json")["scope"] is None
    skipped = run("--skip")
    assert "finished before, skipped" in skipped.stderr


def test_a_smaller_part_does_not_take_the_place_of_a_larger_and_keeps_its_name(run, tmp_path):
    assert run("--limit", 4).status == 0
    assert run("--limit", 2).status == 0
    assert result_of(tmp_path / "out")["partial"] == "4 of 6 questions (limit 4)"
    assert run("--limit", 5).warnings == []
    assert result_of(tmp_path / "out")["partial"] == "5 of 6 questions (limit 5)"


def test_what_a_limited_run_asks_again_is_in_the_full_result(run_command, tmp_path, task):
    script = {"Question 1?": error_reply(400, "no"), "Question 5?": error_reply(400, "no")}
    with MockEndpoint(by_question(script, default="B")) as bad:
        write_model(tmp_path / "model.json", bad.url)
        arguments = ("--tasks", task, "--cfg", "model.json", "--output-dir", "out")
        assert run_command(*arguments).status == 1
        script.pop("Question 1?")
        bad._script = by_question(script, default="B")
        done = run_command(*arguments, "--limit", 2)
        assert len(bad.asked) == 7
    assert done.status == 1  # the other failure is still one of the result's
    assert counts_of(tmp_path / "out") == {"total": 6, "asked": 6, "answered": 5, "failed": 1}


def test_a_part_asked_with_another_prompt_is_not_mixed_with_the_rest(run, tmp_path, endpoint):
    assert run().status == 0
    write_task(tmp_path / "task", choices(6), prompt="dict(type='PromptTemplate')")
    before = contents(tmp_path / "out/colours")
    done = run("--limit", 2)
    assert (done.status, len(endpoint.asked)) == (2, 6)
    assert "4 saved answers that this run (limit 2) leaves out are to other prompts" in done.errors[0]
    assert "ask all, give another --output-dir, or --overwrite" in done.errors[0]
    assert contents(tmp_path / "out/colours") == before
    assert (run("--limit", 2, "--overwrite").status, len(endpoint.asked)) == (0, 8)
    assert run().status == 0
    assert counts_of(tmp_path / "out") == ALL


def test_fewer_repetitions_do_not_take_the_place_of_more(run, tmp_path, endpoint):
    assert run("--num-infers", 3, "--temperature", 1).status == 0
    done = run("--temperature", 1, "--limit", 3)
    assert (done.status, len(endpoint.asked)) == (0, 18)
    assert result_of(tmp_path / "out")["num_infers"] == 3
    assert counts_of(tmp_path / "out") == {"total": 18, "asked": 18, "answered": 18}


def test_scoring_restores_a_file_of_answers_that_holds_less_than_what_is_saved(run, run_command, tmp_path):
    assert run().status == 0
    path = tmp_path / "out/colours/colours.json"
    path.write_text(json.dumps(read_json(path)[:2], indent=4))  # more lines than there are answers
    again = run_command("--tasks", tmp_path / "task/colours.py", "--without-infer", "--output-dir", "out")
    assert (again.status, counts_of(tmp_path / "out")) == (0, ALL)
    assert len(answers_by_id(tmp_path / "out")) == 6
    edited = [entry | {"answer": "A"} for entry in read_json(path)]
    path.write_text(json.dumps(edited))  # as many: a person's own change is left as it is
    again = run_command("--tasks", tmp_path / "task/colours.py", "--without-infer", "--output-dir", "out")
    assert result_of(tmp_path / "out")["accuracy"] == 0


def test_a_task_without_evaluator_that_was_asked_in_part_is_not_skipped(run_command, tmp_path, endpoint):
    data = write_data(tmp_path / "data", choices(3))
    (tmp_path / "t.py").write_text(f"dataset = dict(type='VqaBaseDataset', data_root={str(data)!r}, name='t')")
    model = write_model(tmp_path / "model.json", endpoint.url)
    arguments = ("--tasks", tmp_path / "t.py", "--cfg", model, "--output-dir", "out")
    assert run_command(*arguments, "--limit", 1).status == 0
    assert result_of(tmp_path / "out", "t")["partial"] == "1 of 3 questions (limit 1)"
    assert run_command(*arguments, "--skip").status == 0
    assert len(endpoint.asked) == 3


def general(endpoint, *flags):
    arguments = json.dumps({"general_vmcq": {"local_path": "mine"}})
    model = ("--model", "mock", "--api-url", endpoint.url, "--datasets", "general_vmcq")
    return ("eval", *model, "--work-dir", "out", "--no-timestamp", "--dataset-args", arguments, *flags)


def test_a_limit_or_a_subset_of_general_data_does_not_take_the_place_of_all(run_command, tmp_path, endpoint):
    (tmp_path / "mine").mkdir()
    record = {"question": "Which?", "options": ["red", "green"], "answer": "B"}
    for name in ("cats", "dogs", "birds"):
        write_jsonl(tmp_path / "mine" / f"{name}.jsonl", *[record | {"question": f"{name} {n}?"} for n in range(3)])
    assert run_command(*general(endpoint)).status == 0
    limited = run_command(*general(endpoint, "--limit", 1))
    assert (limited.status, len(endpoint.asked)) == (0, 9)
    assert counts_of(tmp_path / "out", "general_vmcq")["asked"] == 9
    arguments = json.dumps({"general_vmcq": {"local_path": "mine", "subset_list": ["cats", "dogs"]}})
    part = run_command(*general(endpoint, "--dataset-args", arguments))
    assert part.status == 2
    assert "3 of the questions answered here are left out now (subset_list was None, is ['cats'," in part.errors[0]
    assert counts_of(tmp_path / "out", "general_vmcq")["asked"] == 9


TABLE = "index\tquestion\tA\tB\tanswer\n" + "".join(f"{n}\tWhich {n}?\tred\tblue\tB\n" for n in range(1, 6))


def test_a_limited_run_of_vlmeval_leaves_links_and_answers_of_a_fuller_one(run_command, tmp_path, endpoint):
    folder = tmp_path / "home" / "LMUData"
    folder.mkdir(parents=True)
    (folder / "colours.tsv").write_text(TABLE)
    flags = ("vlmeval", "--data", "colours", "--model", "m", "--base-url", endpoint.url)
    model = tmp_path / "outputs/m"
    assert run_command(*flags).status == 0
    [full] = model.glob("T*")
    reused = run_command(*flags, "--limit", 2, "--reuse")
    assert (reused.status, len(endpoint.asked), list(model.glob("T*"))) == (0, 5, [full])
    assert run_command(*flags, "--limit", 2).status == 0  # into a folder of its own
    assert (len(endpoint.asked), len(list(model.glob("T*")))) == (7, 2)
    assert (model / "m_colours.xlsx").resolve().parent == full
    assert len(pandas.read_excel(model / "m_colours.xlsx")) == 5
    scored = run_command(*flags, "--mode", "eval")
    assert f"Results: outputs/m/{full.name}" in scored.stdout
    assert counts_of(full) == {"total": 5, "asked": 5, "answered": 5}
    assert run_command(*flags, "--reuse").status == 0
    assert len(endpoint.asked) == 7


def test_what_a_killed_vlmeval_run_had_is_scored(run_command, tmp_path, endpoint):
    folder = tmp_path / "home" / "LMUData"
    folder.mkdir(parents=True)
    (folder / "colours.tsv").write_text(TABLE)
    flags = ("vlmeval", "--data", "colours", "--model", "m", "--base-url", endpoint.url)
    assert run_command(*flags).status == 0
    [run] = (tmp_path / "outputs/m").glob("T*")
    (run / "colours/colours.json").unlink()
    lines = (run / "colours/predictions.jsonl").read_text().splitlines(keepends=True)
    (run / "colours/predictions.jsonl").write_text("".join(lines[:3]))
    done = run_command(*flags, "--mode", "eval")
    assert done.status == 0
    assert counts_of(run) == {"total": 5, "asked": 3, "answered": 3}


def test_a_picture_that_is_gone_or_a_grown_data_set_keeps_the_saved_answers(run, tmp_path, endpoint):
    items = [choice(n, f"Question {n}?", img_path=f"{n}.png") for n in range(1, 7)]
    write_task(tmp_path / "task", items)
    assert run().status == 0
    (tmp_path / "task/data/6.png").unlink()
    (tmp_path / "task/data/data.json").write_text(json.dumps([*items, choice(7, "Question 7?")]))
    assert run("--limit", 2).status == 0
    assert len(endpoint.asked) == len(read_lines(tmp_path / "out/colours/predictions.jsonl")) == 6
    assert result_of(tmp_path / "out")["partial"] == "6 of 7 questions"


def test_a_file_with_some_of_the_predictions_does_not_take_the_place_of_all(run_command, tmp_path):
    folder = tmp_path / "home" / "LMUData"
    folder.mkdir(parents=True)
    (folder / "colours.tsv").write_text(TABLE)
    for name, rows in (("all", 5), ("some", 2)):
        text = "index\tprediction\n" + "".join(f"{n}\tB\n" for n in range(1, rows + 1))
        (tmp_path / f"{name}.tsv").write_text(text)
    arguments = ("score", "--data", "colours", "--output-dir", "out", "--predictions")
    assert run_command(*arguments, "all.tsv").status == 0
    done = run_command(*arguments, "some.tsv")
    assert done.status == 2
    assert "some.tsv: holds 2 of the 5 answers in out/colours" in done.errors[0]
    assert counts_of(tmp_path / "out") == {"total": 5, "asked": 5, "answered": 5}
    assert run_command(*arguments, "all.tsv").status == 0
