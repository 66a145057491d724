"""Answers as rows of VLMEvalKit's table of predictions."""

from __future__ import annotations

import pytest

from flagmm.evaluator.answers import Answer, Reply
from flagmm.report.prediction_table import prediction_table


class Dataset:
    """Annotations by id; with `columns` also a table."""

    name = "d"

    def __init__(self, annotations, columns=None, rows=None):
        self._annotations = annotations
        if columns is not None:
            self.columns = columns
            self.table_row = rows.__getitem__

    def __len__(self):
        return len(self._annotations)

    def __getitem__(self, index):
        raise NotImplementedError

    def get_annotation(self):
        return self._annotations


def answer(question_id, *texts, status="ok", annotation=None, reason=None) -> Answer:
    replies = tuple(
        Reply(text=text, status=status, finish_reason=None, usage=None, inference=number)
        for number, text in enumerate(texts)
    )
    return Answer(
        question_id=question_id,
        annotation=annotation or {},
        record={"reason": reason},
        replies=replies,
        repeated=len(texts) > 1,
    )


def test_a_table_s_columns_keep_their_order_and_lose_the_picture():
    rows = {"1": {"index": "1", "answer": "007", "question": "Q?"}}
    dataset = Dataset({"1": {}}, ("index", "image", "question", "answer", "hint"), rows)
    table = prediction_table(dataset, [answer("1", "A")], split_think=False)
    assert table.columns == ("index", "question", "answer", "hint", "prediction")
    assert table.rows == [{"index": 1, "answer": "007", "question": "Q?", "prediction": "A"}]


def test_a_column_of_old_predictions_is_replaced():
    rows = {"1": {"index": "1", "question": "Q?", "prediction": "old", "thinking": "old"}}
    dataset = Dataset({"1": {}}, ("index", "prediction", "thinking", "question"), rows)
    table = prediction_table(dataset, [answer("1", "new")], split_think=False)
    assert (table.columns, table.rows[0]["prediction"]) == (("index", "question", "prediction"), "new")


def test_other_data_sets_give_their_plain_fields():
    annotation = {
        "question_id": "a", "question": "Q?", "question_type": "multiple-choice", "options": ["x", "y"],
        "option_labels": ["A", "C"], "answer": ["A", "C"], "sub_task": "s", "img_path": "1.png", "boxes": [1],
        "data_root": "/r",
    }  # fmt: skip
    table = prediction_table(Dataset({"a": annotation}), [answer("a", "A", annotation=annotation)], split_think=False)
    assert table.rows == [
        {
            "index": "a", "question": "Q?", "A": "x", "C": "y", "answer": "['A', 'C']", "sub_task": "s",
            "prediction": "A",
        }
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("ids", "indices"),
    [(["1", "20"], [1, 20]), (["1", "b"], ["1", "b"]), (["01", "2"], ["01", "2"]), (["-3"], [-3]), (["1.0"], ["1.0"])],
)
def test_the_index_is_a_number_only_where_every_one_is(ids, indices):
    dataset = Dataset({question_id: {} for question_id in ids})
    table = prediction_table(dataset, [answer(question_id, "A") for question_id in ids], split_think=False)
    assert [row["index"] for row in table.rows] == indices


def test_only_what_was_asked_is_there_in_the_data_set_s_order():
    table = prediction_table(
        Dataset({"1": {}, "2": {}, "3": {}}), [answer("3", "C"), answer("1", "A")], split_think=False
    )
    assert [row["prediction"] for row in table.rows] == ["A", "C"]


def test_a_failed_call_is_written_as_vlmevalkit_writes_it():
    table = prediction_table(Dataset({"1": {}}), [answer("1", "", status="failed")], split_think=False)
    assert table.rows[0]["prediction"] == "Failed to obtain answer via API."


def test_thinking_has_a_column_of_its_own_where_it_is_asked_for():
    dataset, answers = Dataset({"1": {}}), [answer("1", "A", reason="hm")]
    assert "thinking" not in prediction_table(dataset, answers, split_think=False).columns
    assert prediction_table(dataset, answers, split_think=True).rows[0]["thinking"] == "hm"


def test_further_repetitions_have_columns_of_their_own():
    table = prediction_table(Dataset({"1": {}}), [answer("1", "A", "B", reason=["x", "y"])], split_think=True)
    assert table.columns[-4:] == ("prediction", "thinking", "prediction_1", "thinking_1")
    assert [table.rows[0][name] for name in table.columns[-4:]] == ["A", "x", "B", "y"]


def test_no_answer_leaves_the_header():
    assert prediction_table(Dataset({}), [], split_think=False).columns == ("index", "prediction")
