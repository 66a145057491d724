"""The table of scores, as text."""

from __future__ import annotations

import pytest

from flagmm.report.table import draw_table, notes, table_rows
from flagmm.types import Counts, TaskResult

WHOLE = TaskResult(
    task="colours",
    metrics={"accuracy": 75.0, "sea": 100.0},
    counts=Counts(total=4, asked=4, answered=4, truncated=1),
    details={"accuracy_interval": [30.06, 95.44]},
)
PARTIAL = TaskResult(
    task="shapes",
    metrics={"score": 3},
    counts=Counts(total=10, asked=2, answered=1, failed=1),
    over="answered",
    partial="2 of 10 questions (try run)",
)
UNSCORED = TaskResult(task="words", metrics={"accuracy": None}, counts=Counts(total=1, asked=1, answered=1, unscored=1))
EMPTY = TaskResult(task="none", metrics={}, counts=Counts())

DRAWN = """\
Task     Metric      Score                Asked    Answered    Failed    Truncated
-------  ----------  -------------------  -------  ----------  --------  -----------
colours  accuracy    75.00 [30.1, 95.4]   4        4           0         1
         sea         100.00
shapes*  score       3                    2        1           1         0
words    accuracy    -                    1        1           0         0
none     (no score)  -                    0        0           0         0

colours: WARNING: 1 truncated (25.0%)
* shapes: partial, 2 of 10 questions (try run)
shapes: WARNING: 1 failed (50.0%), scores over the answered ones
words: 1 not scored
none: WARNING: nothing was asked"""


def squeezed(text):
    return ["  ".join(line.split()) for line in text.splitlines() if set(line) - set("- ")]


def test_the_table_is_as_stored():
    assert squeezed(draw_table([WHOLE, PARTIAL, UNSCORED, EMPTY])) == squeezed(DRAWN)


def test_a_metric_is_a_row_and_the_counts_stand_in_a_task_s_first():
    assert table_rows([WHOLE]) == [
        ["colours", "accuracy", "75.00 [30.1, 95.4]", "4", "4", "0", "1"],
        ["", "sea", "100.00", "", "", "", ""],
    ]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(75.0, "75.00"), (1 / 3, "0.33"), (3, "3"), (0, "0"), (0.0, "0.00"), (None, "-"), (123456.789, "123456.79")],
)
def test_a_score_is_shown_with_two_decimals_and_a_missing_one_as_a_dash(value, shown):
    (row,) = table_rows([TaskResult(task="t", metrics={"x": value}, counts=Counts())])
    assert row[2] == shown


def test_a_partial_run_bears_a_mark_and_says_so():
    assert table_rows([PARTIAL])[0][0] == "shapes*"
    assert notes([PARTIAL])[0] == "* shapes: partial, 2 of 10 questions (try run)"
    assert not any("partial" in line for line in notes([WHOLE]))


def test_an_interval_stands_beside_the_metric_it_belongs_to():
    details = {"headline": "f1", "accuracy_interval": [30.57, 86.32]}
    result = TaskResult(task="pope", metrics={"f1": 66.67, "accuracy": 62.5}, counts=Counts(), details=details)
    assert [row[:3] for row in table_rows([result])] == [
        ["pope", "f1", "66.67"], ["", "accuracy", "62.50 [30.6, 86.3]"],
    ]  # fmt: skip


def test_a_headline_of_any_name_has_its_interval():
    details = {"headline": "anls", "anls_interval": [40.0, 60.0], "accuracy_interval": [40.0, 60.0]}
    (row,) = table_rows([TaskResult(task="t", metrics={"anls": 50.0}, counts=Counts(), details=details)])
    assert row[1:3] == ["anls", "50.00 [40.0, 60.0]"]


def test_no_task_is_an_empty_table():
    assert table_rows([]) == []
    assert draw_table([]).split() == [
        "Task",
        "Metric",
        "Score",
        "Asked",
        "Answered",
        "Failed",
        "Truncated",
        *["-" * n for n in (6, 8, 7, 7, 10, 8, 11)],
    ]


def test_a_task_without_a_score_says_why_in_its_row_and_whole_under_the_table():
    reason = f"not scored: {'x' * 80}"
    missing = TaskResult(task="t", metrics={}, counts=Counts(asked=2, answered=1, failed=1), missing=reason)
    assert table_rows([missing]) == [["t", f"{reason[:59]}…", "-", "2", "1", "1", "0"]]
    assert notes([missing]) == [f"t: {reason}"]
