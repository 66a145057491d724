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
        [*names, "stderr", "interval_low", "interval_high"],
        ["colours", "accuracy", "66.66666", *counts, "asked", '3 of 4 questions, "try"', "33.3", "20.8", "93.9"],
        ["colours", "by.sea, land", "", *counts, "asked", '3 of 4 questions, "try"', "", "", ""],
        ["图", "n", "3", "1", "1", "0", "0", "answered", "", "", "", ""],
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


def test_a_task_without_a_score_has_an_entry_in_each_file(tmp_path):
    results = [RESULTS[0], TaskResult(task="gone", metrics={}, counts=Counts(), missing="not run: no data")]
    with REPORTERS.local():
        write_summaries(results, RunPaths(tmp_path))
    told = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["tasks"]
    assert [entry["missing"] for entry in told] == [None, "not run: no data"]
    assert told[1]["metrics"] == {}
    assert (tmp_path / "summary.csv").read_text().splitlines()[-1] == "gone,,,0,0,0,0,asked,not run: no data,,,"
    assert "| gone     | not run: no data |" in (tmp_path / "summary.md").read_text()
    assert "- gone: not run: no data" in (tmp_path / "summary.md").read_text()
