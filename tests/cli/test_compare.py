"""`flagevalmm compare`, the real command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.folders import choices, read_json, write_task

DOCUMENT = Path(__file__).parents[2] / "docs" / "compare.md"


def write_scores(folder, task, right, *, count, unscored=()):
    """`<folder>/<task>/<task>_evaluated.json` of the ids 1 to `count`."""
    entries = [
        {"question_id": str(number), "correct": None if number in unscored else float(number in right), "label": "A"}
        for number in range(1, count + 1)
    ]
    path = folder / task / f"{task}_evaluated.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(entries), encoding="utf-8")


@pytest.fixture
def results(tmp_path):
    """The two runs of the document."""
    folder = tmp_path / "results"
    solved = set(range(1, 121))
    write_scores(folder / "base", "charts", solved, count=200)
    write_scores(folder / "tuned", "charts", solved - set(range(1, 71, 10)) | set(range(121, 139)), count=200)
    write_scores(folder / "base", "menus", set(range(1, 51)), count=80, unscored={79})
    write_scores(folder / "tuned", "menus", set(range(3, 52)), count=79)
    write_scores(folder / "tuned", "signs", {1}, count=1)
    return folder


def test_the_output_is_that_of_the_document(run_command, results):
    done = run_command("compare", "results/base", "results/tuned")
    documented = DOCUMENT.read_text(encoding="utf-8").split("```\n")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout in documented


def test_all_ids_are_shown_on_request(run_command, results):
    done = run_command("compare", "results/base", "results/tuned", "--ids", 0)
    better = ", ".join(map(str, range(121, 139)))
    assert f"charts, better in B (18): {better}\n" in done.stdout


def test_few_ids_are_shown_on_request(run_command, results):
    done = run_command("compare", "results/base/charts", "results/tuned/charts", "--ids", 2)
    assert done.stdout.splitlines()[-2:] == [
        "charts, better in B (18): 121, 122, and 16 more (--ids 0 shows all)",
        "charts, worse in B (7): 1, 11, and 5 more (--ids 0 shows all)",
    ]


def test_everything_goes_to_a_file_on_request(run_command, results):
    done = run_command("compare", "results/base", "results/tuned", "--json", "out/compared.json")
    values = read_json(run_command.folder / "out" / "compared.json")
    assert done.status == 0
    assert [task["task"] for task in values["tasks"]] == ["charts", "menus"]
    charts = values["tasks"][0]
    assert (charts["difference"], charts["worse_ids"]) == (5.5, ["1", "11", "21", "31", "41", "51", "61"])
    assert charts["p"] == pytest.approx(0.043285250663757324)  # scipy's binomtest(7, 25)


def test_two_runs_of_a_scripted_model_are_compared(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(6))
    for name, letters in (("first", "BBBAAA"), ("second", "BBABBA")):
        answers = {str(number): letter for number, letter in enumerate(letters, start=1)}
        model = {"model_name": name, "model_type": "scripted", "answers": answers}
        (tmp_path / f"{name}.json").write_text(json.dumps(model))
    runs = {name: ("--tasks", task, "--cfg", f"{name}.json", "--output-dir", name) for name in ("first", "second")}
    assert [done.status for done in run_command.together(runs).values()] == [0, 0]
    done = run_command("compare", "first", "second")
    assert done.stdout.splitlines()[2].split() == [
        "colours", "6", "50.00", "66.67", "+16.67", "[-33.33,", "+66.67]", "2", "1", "3", "1.0000",
    ]  # fmt: skip
    assert done.stdout.splitlines()[-2:] == ["colours, better in B (2): 4, 5", "colours, worse in B (1): 3"]


def test_two_runs_of_clustered_questions_are_compared_by_clusters_with_their_failures(run_command, tmp_path):
    items = [{**item, "scene": (number - 1) // 3} for number, item in enumerate(choices(6), start=1)]
    task = write_task(tmp_path / "task", items, evaluator='dict(type="BaseEvaluator", cluster_by="scene")')
    for name, letters in (("first", "AAABBB"), ("second", "BBBBB")):  # the second has no answer to the last
        answers = {str(number): letter for number, letter in enumerate(letters, start=1)}
        model = {"model_name": name, "model_type": "scripted", "answers": answers, "retries": 0}
        (tmp_path / f"{name}.json").write_text(json.dumps(model))
    runs = {name: ("--tasks", task, "--cfg", f"{name}.json", "--output-dir", name) for name in ("first", "second")}
    assert [done.status for done in run_command.together(runs).values()] == [0, 1]
    done = run_command("compare", "first", "second", "--json", "c.json")
    assert "colours: 6 items in 2 clusters by scene; p: sign-flip test of cluster sums" in done.stdout
    assert "colours: WARNING: not answered, which counts as wrong: A none of 6; B 1 failed of 6" in done.stdout
    (values,) = read_json(tmp_path / "c.json")["tasks"]
    # One scene is better by 3, the other worse by 1: of the totals 4, 2, -2 and -4 all are at least 2 from 0.
    assert (values["clusters"], values["p"]) == (2, 1.0)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["results/base", "results/gone"], "results/gone: no such directory"),
        (["results", "results/base"], "results: no <task>_evaluated.json in it"),
        (["results/base/charts", "broken"], "broken/t_evaluated.json:1:2: not valid JSON"),
        (["results/base/charts", "other"], "no question_id in common"),
    ],
)
def test_wrong_input_is_one_line_and_status_2(run_command, results, tmp_path, arguments, error):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "t_evaluated.json").write_text("{")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "t_evaluated.json").write_text('[{"question_id": "x", "correct": 1}]')
    done = run_command("compare", *arguments)
    assert (done.status, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert error in done.errors[0]


def test_a_file_that_cannot_be_written_is_an_error_after_the_table(run_command, results):
    done = run_command("compare", "results/base", "results/tuned", "--json", "results/base/charts")
    assert (done.status, len(done.errors)) == (2, 1)
    assert "directory" in done.errors[0]
    assert done.stdout.startswith("Task ")


@pytest.mark.parametrize(
    "arguments", [[], ["a"], ["a", "b", "--ids", "-1"], ["a", "b", "--ids", "few"], ["a", "b", "--id", "3"]]
)
def test_wrong_flags_show_the_usage_and_status_2(run_command, arguments):
    done = run_command("compare", *arguments)
    assert done.status == 2
    assert done.stderr.startswith("usage: flagevalmm compare")


def test_a_traceback_is_shown_only_with_debug(run_command):
    plain, debug = run_command("compare", "a", "b"), run_command("compare", "a", "b", "--debug")
    assert "Traceback" not in plain.stderr
    assert "Traceback" in debug.stderr
    assert plain.status == debug.status == 2


def test_ids_that_the_terminal_cannot_show_are_escaped(run_command, tmp_path):
    for run, correct in (("a", 0), ("b", 1)):
        (tmp_path / run).mkdir()
        (tmp_path / run / "t_evaluated.json").write_text(json.dumps([{"question_id": "图\ud800", "correct": correct}]))
    done = run_command("compare", "a", "b", PYTHONIOENCODING="ascii")
    assert done.status == 0
    assert done.stdout.endswith("t, better in B (1): \\u56fe\\ud800\n")


def test_a_reader_that_leaves_early_is_no_error(run_command, results):
    process = subprocess.Popen(
        [*run_command.argv, "compare", "results/base", "results/tuned"],
        cwd=run_command.folder, env=run_command.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=30) == 0


def test_help_lists_the_other_commands_and_needs_no_package_but_the_standard_library(run_command):
    done = run_command("--help")
    assert "flagevalmm compare RUN_A RUN_B: compare two scored runs" in done.stdout
    bare = subprocess.run(
        [sys.executable, "-S", "-c", "from flagmm.cli import main; main(['--help'])"],
        cwd=DOCUMENT.parents[1], env=run_command.environment, capture_output=True, text=True,
    )  # fmt: skip
    assert (bare.stdout, bare.stderr) == (done.stdout, "")
    own = run_command("compare", "--help")
    assert (own.status, "results/base results/tuned" in own.stdout) == (0, True)


def test_every_flag_is_documented(run_command):
    text = DOCUMENT.read_text(encoding="utf-8")
    flags = {word.strip("[]") for word in run_command("compare", "--help").stdout.split() if word.startswith("[--")}
    assert flags == {"--ids", "--json", "--debug"}
    assert all(f"`{flag}" in text for flag in flags)
