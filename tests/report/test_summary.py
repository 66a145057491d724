"""summary.json, summary.csv and summary.md."""

from __future__ import annotations

import csv
import json

import pytest

from flagmm.paths import RunPaths
from flagmm.registry import REPORTERS
from flagmm.report.summary import write_csv, write_json_summary, write_markdown, write_summaries
from flagmm.types import Counts, TaskResult

RESULTS = [
    TaskResult(
        task="colours",
        metrics={"accuracy": 66.66666, "by": {"sea, land": None}},
        counts=Counts(total=4, asked=3, answered=2, failed=1, truncated=1),
        partial='3 of 4 questions, "try"',
        details={"accuracy_interval": [20.8, 93.9], "accuracy_stderr": 33.3, "n": 3},
    ),
    TaskResult(task="图", metrics={"n": 3}, counts=Counts(total=1, asked=1, answered=1), over="answered"),
]


def test_the_json_holds_all_that_is_known(tmp_path):
    write_json_summary(RESULTS, tmp_path / "summary.json")
    first, second = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["tasks"]
    assert first["task"] == "colours"
    assert (first["headline"], first["n"], first["stderr"], first["interval"]) == ("accuracy", 3, 33.3, [20.8, 93.9])
    assert first["metrics"] == {"accuracy": 66.66666, "by.sea, land": None}
    assert (first["counts"]["failed"], first["over"], first["partial"]) == (1, "asked", '3 of 4 questions, "try"')
    assert first["validity"].startswith("1 failed (33.3%); 1 truncated (33.3%); score between 66.67 and 100.00")
    assert (second["task"], second["over"], second["partial"], second["validity"]) == (
        "图",
        "answered",
        None,
        "all 1 answered",
    )


def test_the_csv_has_a_line_a_metric_at_full_precision(tmp_path):
    write_csv(RESULTS, tmp_path / "summary.csv")
    with open(tmp_path / "summary.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    names, counts = rows[0][:9], ["3", "2", "1", "1"]
    assert names == ["task", "metric", "score", "asked", "answered", "failed", "truncated", "over", "partial"]
    assert rows == [
        [*names, "stderr", "interval_low", "interval_high", "field"],
        ["colours", "accuracy", "66.66666", *counts, "asked", '3 of 4 questions, "try"', "33.3", "20.8", "93.9", ""],
        ["colours", "by.sea, land", "", *counts, "asked", '3 of 4 questions, "try"', "", "", "", ""],
        ["图", "n", "3", "1", "1", "0", "0", "answered", "", "", "", "", ""],
    ]


def test_the_markdown_is_the_terminal_s_table(tmp_path):
    write_markdown(RESULTS, tmp_path / "summary.md")
    lines = (tmp_path / "summary.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    assert cells[0] == ["Task", "Metric", "Score", "Asked", "Answered", "Failed", "Truncated"]
    assert cells[2] == ["colours*", "accuracy", "66.67 [20.8, 93.9]", "3", "2", "1", "1"]
    assert cells[4][:3] == ["图", "n", "3"]
    assert next(line for line in lines if line.startswith("- ")) == '- * colours: partial, 3 of 4 questions, "try"'


def test_every_registered_report_is_written_into_the_folder(tmp_path):
    with REPORTERS.local():
        REPORTERS.register_module(name="txt", module=lambda results, path: path.write_text(str(len(results))))
        paths = write_summaries(RESULTS, RunPaths(tmp_path))
    assert sorted(path.name for path in paths) == ["summary.csv", "summary.json", "summary.md", "summary.txt"]
    assert (tmp_path / "summary.txt").read_text() == "2"


@pytest.mark.parametrize("write", [write_json_summary, write_csv, write_markdown])
def test_a_report_of_nothing_can_be_written(tmp_path, write):
    write([], tmp_path / "summary")
    assert (tmp_path / "summary").read_text().strip()


def group(score, n, **counts):
    interval = [score - 1, score + 1]
    return {"accuracy": score, "n": n, "accuracy_stderr": 0.5, "accuracy_interval": interval, "counts": counts}


GROUPED = TaskResult(
    task="t",
    metrics={"accuracy": 40.0, "cat": 60.0, "topic.n": 20.0, "topic.both": 10.0, "kind.both": 30.0},
    counts=Counts(total=9, asked=9, answered=8, failed=1),
    details={
        "headline": "accuracy",
        "groups": {
            "topic": {
                "cat": group(60.0, 3, asked=3, answered=3, failed=0, truncated=1),
                "n": group(20.0, 2, asked=2, answered=1, failed=1, truncated=0),
                "both": group(10.0, 4, asked=4, answered=4, failed=0, truncated=0),
                "accuracy": group(0.0, 1, asked=1, answered=1, failed=0, truncated=0),
            },
            "kind": {"both": {"accuracy": 30.0, "n": 9}},
        },
    },
)


def csv_rows(folder, *results):
    write_csv(results, folder / "summary.csv")
    with open(folder / "summary.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_each_group_has_a_line_with_its_field_and_its_own_counts_and_interval(tmp_path):
    rows = csv_rows(tmp_path, GROUPED)
    found = [[row[key] for key in ("field", "metric", "score", "asked", "failed", "interval_low")] for row in rows]
    assert found == [
        ["", "accuracy", "40.0", "9", "1", ""],
        ["topic", "cat", "60.0", "3", "0", "59.0"],
        ["topic", "n", "20.0", "2", "1", "19.0"],
        ["topic", "both", "10.0", "4", "0", "9.0"],
        ["topic", "accuracy", "0.0", "1", "0", "-1.0"],
        ["kind", "both", "30.0", "", "", ""],
    ], "a file of an older version tells no counts of a group"


def test_the_json_has_groups_apart_from_metrics(tmp_path):
    write_json_summary([GROUPED], tmp_path / "summary.json")
    (task,) = json.loads((tmp_path / "summary.json").read_text())["tasks"]
    assert task["metrics"] == {"accuracy": 40.0}
    assert [(each["field"], each["group"], each["n"]) for each in task["groups"]][-1] == ("kind", "both", 9)


def test_the_table_names_each_group_so_that_it_is_known(tmp_path):
    write_markdown([GROUPED], tmp_path / "summary.md")
    lines = (tmp_path / "summary.md").read_text(encoding="utf-8").splitlines()
    names = [line.split("|")[2].strip() for line in lines if line.startswith("|")][2:]
    assert names == ["accuracy", "cat", "topic.n", "topic.both", "topic.accuracy", "kind.both"]


@pytest.mark.parametrize("groups", [{"a": 3}, {"a": {"b": 3}}, [1], "x", {"a": {"b": {}}}])
def test_groups_of_another_shape_stop_no_report(tmp_path, groups):
    odd = TaskResult(
        task="t", metrics={"accuracy": 1.0}, counts=Counts(asked=1, answered=1), details={"groups": groups}
    )
    assert csv_rows(tmp_path, odd)[0]["metric"] == "accuracy"


def test_a_task_without_a_score_has_an_entry_in_each_file(tmp_path):
    results = [RESULTS[0], TaskResult(task="gone", metrics={}, counts=Counts(), missing="not run: no data")]
    with REPORTERS.local():
        write_summaries(results, RunPaths(tmp_path))
    told = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["tasks"]
    assert [entry["missing"] for entry in told] == [None, "not run: no data"]
    assert told[1]["metrics"] == {}
    assert (tmp_path / "summary.csv").read_text().splitlines()[-1] == "gone,,,0,0,0,0,asked,not run: no data,,,,"
    assert "| gone     | not run: no data |" in (tmp_path / "summary.md").read_text()
    assert "- gone: not run: no data" in (tmp_path / "summary.md").read_text()
