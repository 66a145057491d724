"""TsvEvaluator on real tables: the recorded vectors through data set and evaluator, circular scores, the judge."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from flagmm.dataset.tsv import TsvDataset
from flagmm.errors import ConfigError
from flagmm.evaluator import TsvEvaluator
from flagmm.evaluator.judge import Judge
from flagmm.evaluator.judge_settings import JudgeSettings
from tests.dataset.tsv.tables import write_table
from tests.evaluator.test_judge import ScriptedAsker

VECTORS = Path(__file__).parents[1] / "data" / "vectors"


@pytest.fixture(autouse=True)
def lmu(tmp_path, monkeypatch):
    monkeypatch.setenv("LMUData", str(tmp_path / "lmu"))


def lines(name):
    return [json.loads(line) for line in (VECTORS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def whole_hits():
    """The report vectors whose rows are right or wrong, as one reply is, and not by half."""
    return [
        line for line in lines("vlmevalkit_report_acc") if all(row["hit"] in (0, 1) for row in line["input"]["rows"])
    ]


def score(folder, rows, *, kind=None, judge=None, **settings):
    """`_result.json` of rows with a `prediction`, and what became of each reply, by index."""
    table = [
        {key: str(cell) for key, cell in row.items() if cell is not None and key not in ("prediction", "hit")}
        for row in rows
    ]
    columns = list(dict.fromkeys(["index", "question", "answer", *(key for row in table for key in row)]))
    path = write_table(folder / "t.tsv", dict.fromkeys(columns, "") | table[0], *table[1:])
    dataset = TsvDataset(name="t", data_root=str(path), kind=kind)
    records = [
        {
            "question_id": str(row["index"]),
            "answer": row["prediction"],
            "status": "ok" if row["prediction"] else "empty",
        }
        for row in rows
    ]
    (folder / "t.json").write_text(json.dumps(records))
    evaluator = TsvEvaluator(**settings)
    if judge is not None:
        evaluator.use_judge(Judge(judge, JudgeSettings(strategy=evaluator.judge_strategy)))
    result = evaluator.process(dataset, folder)
    evaluated = json.loads((folder / "t_evaluated.json").read_text())
    return result, {entry["question_id"]: entry for entry in evaluated}


def by_split(records):
    return {record["split"]: {key: value for key, value in record.items() if value is not None} for record in records}


@pytest.mark.parametrize("vector", lines("vlmevalkit_circular"), ids=lambda vector: vector["id"])
def test_circular_vectors(tmp_path, vector):
    rows, expected = vector["input"]["rows"], vector["expected"]
    result, evaluated = score(tmp_path, rows, circular=True, rule="reference")
    assert {index: entry["correct"] for index, entry in evaluated.items()} == {
        index: float(hit) for index, hit in expected["vanilla_hits"].items()
    }
    assert by_split(result["report"]["rows"]) == by_split(expected["circular_report_acc"])
    plain, _ = score(tmp_path, rows, circular=False, rule="reference")
    assert by_split(plain["report"]["rows"]) == by_split(expected["vanilla_all_report_acc"])


@pytest.mark.parametrize("vector", whole_hits(), ids=lambda vector: vector["id"])
def test_report_vectors(tmp_path, vector):
    rows = [
        {**row, "question": "Q", "A": "yes", "B": "no", "answer": "A", "prediction": "A" if row["hit"] else "B"}
        for row in vector["input"]["rows"]
    ]
    result, _ = score(tmp_path, rows)
    assert by_split(result["report"]["rows"]) == by_split(vector["expected"])


@pytest.mark.parametrize("vector", lines("vlmevalkit_yesno_rating"), ids=lambda vector: vector["id"])
def test_yes_no_rating_vectors(tmp_path, vector):
    rows = [{"question": "Q", **row} for row in vector["input"]["rows"]]
    result, _ = score(tmp_path, rows, kind="yes-no", rule="reference")
    [rating] = result["report"]["rows"]
    assert (result["report"]["kind"], rating) == ("yes-no", pytest.approx(vector["expected"]))


def can_infer_rows():
    """The vectors that a table can hold, by the set of letters that they have options for."""
    groups = defaultdict(list)
    for vector in lines("vlmevalkit_can_infer"):
        given = vector["input"]
        choices = given.get("choices") or {}
        is_table = all(
            len(label) == 1 and label.isupper() and text not in ("", None) for label, text in choices.items()
        )
        is_thought = "think>" in str(given["prediction"])  # which is taken away before anything is read
        if given["function"] == "can_infer" and {"A", "B"} <= set(choices) and is_table and not is_thought:
            groups["".join(choices)].append(vector)
    return groups


@pytest.mark.parametrize("letters", can_infer_rows())
def test_can_infer_vectors(tmp_path, letters):
    vectors = can_infer_rows()[letters]
    rows = [
        {
            "index": vector["id"],
            "question": "Q",
            **{label: str(text) for label, text in vector["input"]["choices"].items()},
            "answer": vector["expected"] if vector["expected"] not in (False, "Z") else "A",
            "prediction": str(vector["input"]["prediction"]),
        }
        for vector in vectors
    ]
    _, evaluated = score(tmp_path, rows, rule="reference")
    for vector, row in zip(vectors, rows, strict=True):
        entry, answered = evaluated[vector["id"]], bool(row["prediction"].strip())
        assert entry["correct"] == float(vector["expected"] == row["answer"]), vector["id"]
        assert not answered or entry["extracted"] == (vector["expected"] or None), vector["id"]


def rolled(index, answer, prediction, **cells):
    return {"index": index, "question": "Q", "A": "x", "B": "y", "answer": answer, "prediction": prediction, **cells}


ROLLED = [
    rolled("1", "A", "A", g_index="1.0", category="c"),
    rolled("1000001", "B", "A", g_index="1", category="c"),
    rolled("2", "A", "A", g_index="2", category="c"),
    rolled("1000002", "B", "B", g_index="2", category="c"),
]


@pytest.mark.parametrize(
    ("settings", "without_group", "accuracy"),
    [({}, False, 50.0), ({"circular": False}, False, 75.0), ({}, True, 75.0), ({"circular": True}, True, 50.0)],
)
def test_copies_are_scored_together_where_the_table_has_groups_or_when_asked(
    tmp_path, settings, without_group, accuracy
):
    rows = [{key: cell for key, cell in row.items() if key != "g_index" or not without_group} for row in ROLLED]
    result, _ = score(tmp_path, rows, **settings)
    assert result["accuracy"] == accuracy
    if accuracy == 50.0:
        assert (result["n"], result["vanilla_accuracy"]) == (2, 100.0)
        assert result["report"]["rows"] == [{"split": "none", "Overall": 0.5, "c": 0.5}]
        assert "accuracy_interval" not in result
    described = result["metrics"][0]["settings"]
    assert described["circular"] == (accuracy == 50.0)


@pytest.mark.parametrize(
    ("match", "rule", "reply", "correct"),
    [
        ("exact", "careful", " cat. ", 1.0),
        ("exact", "reference", " CAT ", 1.0),
        ("exact", "reference", "cat.", 0.0),
        ("exact", "careful", "It is a cat", 0.0),
        ("inclusion", "careful", "It is a cat", 1.0),
        ("inclusion", "careful", "catalogue", 0.0),
        ("inclusion", "reference", "catalogue", 1.0),
        ("inclusion", "careful", "a kitten!", 1.0),
        ("exact", "careful", "<think>cat</think>dog", 0.0),
    ],
)
def test_free_answers(tmp_path, match, rule, reply, correct):
    row = {"index": "1", "question": "Q", "answer": "['cat', 'kitten']", "prediction": reply, "category": "c"}
    result, evaluated = score(tmp_path, [row], match=match, rule=rule)
    assert evaluated["1"]["correct"] == correct
    assert result["report"] == {"kind": "vqa", "rows": [{"Overall": correct * 100, "c": correct * 100}]}


def test_a_match_or_rule_that_is_unknown_is_refused():
    with pytest.raises(ConfigError, match="match: expected one of exact, inclusion, found 'fuzzy'"):
        TsvEvaluator(match="fuzzy")
    with pytest.raises(ConfigError, match="rule"):
        TsvEvaluator(rule="lax")


def test_a_judge_reads_only_the_choices_that_no_rule_could_and_knows_their_letters(tmp_path):
    asker = ScriptedAsker("CHOICE: D", "CHOICE: NONE")
    rows = [
        {"index": "1", "question": "Q", "A": "x", "B": "y", "D": "z", "answer": "D", "prediction": "the last one"},
        {"index": "2", "question": "Q", "A": "x", "B": "y", "D": "z", "answer": "A", "prediction": "A"},
        {"index": "3", "question": "Q", "A": "x", "B": "y", "D": "z", "answer": "A", "prediction": "no idea"},
    ]
    result, evaluated = score(tmp_path, rows, judge=asker)
    assert [entry["correct"] for entry in evaluated.values()] == [1.0, 1.0, 0.0]
    assert (len(asker.prompts), result["judge"]["strategy"]) == (2, "auto")
    assert "D. z" in asker.prompts[0]
    assert evaluated["1"]["extracted"] == "D"


def test_a_judge_weighs_every_free_answer(tmp_path):
    rows = [{"index": "1", "question": "Q", "answer": "cat", "prediction": "a small feline"}]
    _, evaluated = score(tmp_path, rows, judge=ScriptedAsker("Same.\nVERDICT: CORRECT"))
    assert evaluated["1"]["correct"] == 1.0


def test_rows_that_could_not_be_read_or_asked_count_as_wrong(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("index\tquestion\tA\tB\tanswer\n1\tQ\tx\ty\tA\n2\tQ\tx\ty\tA\tmore\n")
    records = [
        {"question_id": "1", "answer": "A", "status": "ok"},
        {"question_id": "row 2", "answer": "", "status": "failed"},
    ]
    (tmp_path / "t.json").write_text(json.dumps(records))
    result = TsvEvaluator().process(TsvDataset(name="t", data_root=str(path)), tmp_path)
    assert (result["accuracy"], result["report"]["rows"]) == (50.0, [{"split": "none", "Overall": 0.5}])


def test_rows_without_an_answer_are_asked_and_not_scored(tmp_path):
    rows = [rolled("1", "", "A"), rolled("2", "A", "A")]
    result, _ = score(tmp_path, rows)
    assert (result["accuracy"], result["counts"]["unscored"]) == (100.0, 1)
