"""Scored answers as spreadsheets."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pandas
import pytest

TOOL = Path(__file__).parents[2] / "tools" / "results_to_xlsx.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("results_to_xlsx", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def results(tmp_path):
    """A results directory with one scored task."""
    entries = [
        {"question_id": "1", "answer": "=cmd()", "correct": 1.0, "extracted": ["A", "B"], "request": "h", "extra": "e"},
        {"question_id": "2", "question": "Q?", "answer": "x" * 40_000, "correct": 0.0, "extracted": None},
    ]
    (tmp_path / "r" / "t").mkdir(parents=True)
    (tmp_path / "r" / "t" / "t_evaluated.json").write_text(json.dumps(entries), encoding="utf-8")
    (tmp_path / "r" / "summary.csv").write_text('task,metric,score\nt,"a\nb",50\n', encoding="utf-8")
    return tmp_path / "r"


def test_each_task_is_a_sheet_and_the_scores_another(tool, results, capsys):
    assert tool.main([str(results)]) == 0
    assert capsys.readouterr().out.splitlines() == [str(results / "t.xlsx"), str(results / "summary.xlsx")]
    sheet = pandas.read_excel(results / "t.xlsx")
    assert list(sheet) == ["question_id", "question", "answer", "extracted", "correct", "extra", "cut_cells"]
    assert sheet["answer"][0] == "=cmd()"
    assert sheet["extracted"][0] == '["A", "B"]'
    assert sheet["answer"][1].endswith("40000 characters; whole in t_evaluated.json]")
    assert pandas.read_excel(results / "summary.xlsx").to_dict("records") == [
        {"task": "t", "metric": "a\nb", "score": 50}
    ]


def test_sheets_go_where_they_are_wanted(tool, results, tmp_path):
    assert tool.main([str(results / "t"), "--output-dir", str(tmp_path / "out")]) == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["t.xlsx"]


def test_a_folder_without_scores_is_told(tool, tmp_path, capsys):
    assert tool.main([str(tmp_path)]) == 2
    assert "no <task>_evaluated.json in it; score it first" in capsys.readouterr().err
