"""Tables of scores in VLMEvalKit's layout."""

from __future__ import annotations

import pytest

from flagmm.errors import DataError
from flagmm.jsonio import write_json
from flagmm.report.results import read_result
from flagmm.report.vlmevalkit import score_records, score_suffix, write_acc_csv


def test_every_cell_is_in_quotes_and_no_score_is_an_empty_one(tmp_path):
    rows = [{"split": "dev", "Overall": 5 / 6, 'a "b", c': None}, {"split": "test", "Overall": 1.0, "d": 0.5}]
    write_acc_csv(tmp_path / "deep" / "m_t_acc.csv", rows)
    assert (tmp_path / "deep" / "m_t_acc.csv").read_text(encoding="utf-8") == (
        '"split","Overall","a ""b"", c","d"\n"dev","0.8333333333333334","",""\n"test","1.0","","0.5"\n'
    )


@pytest.mark.parametrize(("kind", "suffix"), [("mcq", "acc.csv"), ("vqa", "acc.csv"), ("yes-no", "score.csv")])
def test_the_rows_and_the_name_come_from_the_result(tmp_path, kind, suffix):
    rows = [{"Overall": 50.0}]
    report = {"kind": kind, "rows": rows}
    write_json(tmp_path / "t_result.json", {"accuracy": 50.0, "headline": "accuracy", "report": report})
    result = read_result(tmp_path / "t_result.json")
    assert (score_records(result), score_suffix(result)) == (rows, suffix)
    assert "report" not in result.metrics


@pytest.mark.parametrize("values", [{"accuracy": 50.0}, {"report": [{"Overall": 50.0}]}])
def test_the_result_of_another_evaluator_has_no_rows(tmp_path, values):
    write_json(tmp_path / "t_result.json", values)
    with pytest.raises(DataError, match="t: its result holds no table of VLMEvalKit's; score it with TsvEvaluator"):
        score_records(read_result(tmp_path / "t_result.json"))
