"""Files of predictions: xlsx, TSV and JSON, as VLMEvalKit and we write them."""

from __future__ import annotations

import json
import os

import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flagmm.errors import DataError
from flagmm.formats.prediction_file import find_predictions, read_predictions
from flagmm.formats.xlsx_text import LONGEST_CELL
from flagmm.report.prediction_table import PredictionTable
from flagmm.report.vlmevalkit_files import write_predictions

KINDS = ("xlsx", "tsv", "json")
CELL = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=40)


def table(*predictions: str) -> PredictionTable:
    rows = [{"index": number, "question": "Q?", "prediction": text} for number, text in enumerate(predictions, start=1)]
    return PredictionTable(columns=("index", "question", "prediction"), rows=rows)


def texts(path) -> list[str]:
    return [row.prediction for row in read_predictions(path)]


@pytest.mark.parametrize("kind", KINDS)
@given(predictions=st.lists(CELL, min_size=1, max_size=8))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_predictions_are_read_as_they_were_written(tmp_path, kind, predictions):
    [path, *_] = write_predictions(tmp_path / "m_d", table(*predictions), kind)
    assert texts(path) == predictions


@pytest.mark.parametrize("kind", KINDS)
def test_long_predictions_are_whole_again(tmp_path, kind):
    long = "https://example.com/ " + "word\n" * LONGEST_CELL
    written = write_predictions(tmp_path / "m_d", table("A", long), kind)
    assert [path.suffix for path in written] == ([".xlsx", ".tsv"] if kind == "xlsx" else [f".{kind}"])
    assert texts(written[0]) == ["A", long]


def test_a_cut_prediction_whose_whole_is_gone_is_not_scored(tmp_path):
    sheet, whole = write_predictions(tmp_path / "m_d", table("A", "x" * (LONGEST_CELL + 1)), "xlsx")
    whole.unlink()
    with pytest.raises(DataError, match=r"row 2: prediction: cut to fit a cell, and .*m_d\.tsv, which holds it whole"):
        read_predictions(sheet)


def test_a_cut_prediction_must_have_its_row_in_the_whole_file(tmp_path):
    sheet, whole = write_predictions(tmp_path / "m_d", table("A", "x" * (LONGEST_CELL + 1)), "xlsx")
    whole.write_text("index\tprediction\n1\tA\n", encoding="utf-8")
    with pytest.raises(DataError, match="no row with the index of row 2"):
        read_predictions(sheet)


def test_a_nul_is_told_where_a_tsv_cannot_hold_it(tmp_path, caplog):
    [path] = write_predictions(tmp_path / "m_d", table("a\0b"), "tsv")
    assert texts(path) == ["a␀b"]
    assert "PRED_FORMAT=json keeps them" in caplog.text
    assert texts(write_predictions(tmp_path / "m_d", table("a\0b"), "json")[0]) == ["a\0b"]


FRAME = pandas.DataFrame({"index": [1, 2], "prediction": ["A", None], "thinking": ["hm", ""]})


@pytest.mark.parametrize("kind", ["xlsx", "tsv", "json", "columns"])
def test_what_pandas_writes_is_read(tmp_path, kind):
    path = tmp_path / f"a.{'json' if kind == 'columns' else kind}"
    if kind == "xlsx":
        FRAME.to_excel(path, index=False)
    elif kind == "tsv":
        FRAME.to_csv(path, sep="\t", index=False, quoting=1)
    else:
        FRAME.to_json(path, orient="records" if kind == "json" else None)
    first, second = read_predictions(path)
    assert (first.index, first.prediction, first.thinking) == ("1", "A", "hm")
    assert (second.index, second.prediction, second.is_failed) == ("2", "", False)


def test_a_failed_call_is_known_by_its_words(tmp_path):
    [path] = write_predictions(tmp_path / "m_d", table("Failed to obtain answer via API. ", "I failed."), "xlsx")
    assert [row.is_failed for row in read_predictions(path)] == [True, False]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"index": 1, "answer": "A"}], "no column 'prediction', as files of predictions have; the columns are index"),
        ([{"prediction": "A"}], "no column 'index'"),
        ([{"index": 1, "prediction": "A"}, {"index": 1, "prediction": "B"}], "row 2: a second row with the index '1'"),
        ([{"index": None, "prediction": "A"}], "row 1: no index"),
        ([], "no column 'index'"),
        ([1], "expected a list of rows, each an object"),
        ("text", "expected a list of rows"),
    ],
)
def test_a_file_that_is_none_of_predictions_is_told(tmp_path, rows, message):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_predictions(path)


def test_another_ending_is_told(tmp_path):
    with pytest.raises(DataError, match=r"expected a file of predictions named \.xlsx, \.tsv, \.json"):
        read_predictions(tmp_path / "a.csv")


def test_the_file_that_was_written_last_is_found(tmp_path):
    assert find_predictions(tmp_path / "m_d.1") is None
    for age, suffix in enumerate([".xlsx", ".json", ".tsv"]):
        path = tmp_path / f"m_d.1{suffix}"
        path.touch()
        os.utime(path, (1000 - age, 1000 - age))
    assert find_predictions(tmp_path / "m_d.1") == tmp_path / "m_d.1.xlsx"
