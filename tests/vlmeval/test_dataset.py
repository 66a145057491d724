"""Classes of VLMEvalKit's that scripts patch."""

from __future__ import annotations

import base64
import io

import pandas
import pytest
from PIL import Image

from flagmm.errors import ConfigError, DataError, UserCodeError
from flagmm.types import ImagePart, TextPart
from flagmm.vlmeval.adapter import VlmevalClassDataset, VlmevalClassEvaluator
from flagmm.vlmeval.dataset import CLASSES, CustomMCQDataset, CustomTextMCQDataset, CustomVQADataset
from flagmm.vlmeval.dataset.patching import DatasetClasses
from flagmm.vlmeval.smp import d2df

BUFFER = io.BytesIO()
Image.new("RGB", (30, 20), "red").save(BUFFER, "PNG")
PICTURE = base64.b64encode(BUFFER.getvalue()).decode()


@pytest.fixture
def lmu(tmp_path, monkeypatch):
    monkeypatch.setenv("LMUData", str(tmp_path / "lmu"))
    (tmp_path / "lmu").mkdir()
    return tmp_path / "lmu"


def write(lmu, text, name="t"):
    (lmu / f"{name}.tsv").write_text(text, encoding="utf-8")


def test_a_choice_is_asked_in_vlmevalkit_s_shape(lmu):
    write(lmu, f"index\timage\thint\tquestion\tA\tB\tanswer\n1\t{PICTURE}\tlook\tWhich?\tNone\t007\tA\n")
    picture, text = CustomMCQDataset("t").build_prompt(0)
    assert text == {
        "type": "text",
        "value": "Hint: look\nQuestion: Which?\nOptions:\nA. None\nB. 007\n"
        "Please select the correct answer from the options above. \n",
    }
    with open(picture["value"], "rb") as file:
        assert file.read() == BUFFER.getvalue()


def test_a_row_shares_the_picture_of_another(lmu):
    write(lmu, f"index\timage\tquestion\n1\t{PICTURE}\tWhich?\n2\t1\tAnd now?\n")
    dataset = CustomVQADataset("t")
    assert dataset.build_prompt(1)[0] == dataset.build_prompt(dataset.data.iloc[0])[0]
    assert dataset.data["index"].tolist() == [1, 2]


def test_a_path_is_relative_to_the_picture_folder(lmu):
    write(lmu, "index\timage_path\tquestion\n1\ta.png\tWhich?\n")
    (lmu / "images" / "t").mkdir(parents=True)
    (lmu / "images" / "t" / "a.png").write_bytes(BUFFER.getvalue())
    assert CustomVQADataset("t").build_prompt(0)[0]["value"] == str(lmu.resolve() / "images" / "t" / "a.png")


def test_a_row_without_a_picture_is_left_out_or_asked(lmu):
    write(lmu, f"index\timage\tquestion\n1\t\tWhich?\n2\t{PICTURE}\tAnd now?\n")
    assert len(CustomVQADataset("t")) == 1
    assert len(CustomVQADataset("t", skip_noimg=False)) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("index\ta\n1\tx\n", "without the column 'question'"),
        ("index\tquestion\n1\tx\n1\ty\n", "two rows with the index"),
    ],
)
def test_a_table_that_cannot_be_asked_is_told(lmu, text, message):
    write(lmu, text)
    with pytest.raises(DataError, match=message):
        CustomVQADataset("t")


def test_a_class_without_scoring_says_so(lmu):
    write(lmu, "index\tquestion\n1\tWhich?\n")
    with pytest.raises(DataError, match="evaluate is not written"):
        CustomVQADataset("t").evaluate("a.xlsx")


def test_nothing_is_patched_at_first(lmu):
    assert CLASSES.patched() == frozenset()
    assert CLASSES.patched_class(None, lmu / "t.tsv") is None


@pytest.mark.parametrize(
    ("kind", "columns", "expected"),
    [
        (None, "index\tquestion", "Vqa"),
        (None, "index\tquestion\tA\tB\timage", None),
        ("Vqa", "index\tquestion\tA\tB\timage", "Vqa"),
        ("CustomMCQDataset", "index\tquestion", None),
    ],
)
def test_a_table_is_of_the_patched_class_that_its_columns_or_its_entry_name(lmu, kind, columns, expected):
    class CustomVQADataset:
        def load_data(self, dataset):
            raise NotImplementedError

    classes = DatasetClasses(CustomVQADataset, CustomMCQDataset, CustomTextMCQDataset)
    CustomVQADataset.evaluate = lambda self, eval_file: {}
    write(lmu, f"{columns}\n")
    names = {"Vqa": "CustomVQADataset"}
    assert classes.patched() == {"CustomVQADataset"}
    assert classes.patched_class(names.get(kind, kind), lmu / "t.tsv") == names.get(expected)


class Scripted(CustomVQADataset):
    """As a script may write it: data of its own, and a list of parts."""

    messages: object = None

    def load_data(self, dataset):
        return pandas.DataFrame({"index": ["a", "b"], "question": ["One?", "Two?"], "answer": ["1", "2"]})

    def build_prompt(self, line):
        return self.messages or [
            {"type": "text", "value": "See "},
            {"type": "image", "value": "https://h/a.png"},
            {"type": "text", "value": line["question"]},
        ]

    def evaluate(self, eval_file, **judge_kwargs):
        frame = pandas.read_excel(eval_file)
        return d2df({"Overall": (frame["answer"].astype(str) == frame["prediction"].astype(str)).mean()})


@pytest.fixture
def scripted(lmu):
    return VlmevalClassDataset(name="task", dataset="t", class_name=Scripted)


def test_parts_keep_their_order(scripted):
    sample = scripted.build_sample(1)
    first, picture, last = sample.messages[0].content
    assert (sample.question_id, sample.question) == ("b", "See Two?")
    assert isinstance(picture, ImagePart)
    assert picture.source.url == "https://h/a.png"
    assert isinstance(first, TextPart)
    assert last.text == "Two?"


@pytest.mark.parametrize("messages", ["text", [{"type": "sound", "value": "a"}], [{"type": "text"}], ["text"]])
def test_something_else_than_messages_is_told(scripted, messages):
    scripted.inner.messages = messages
    with pytest.raises(DataError, match="build_prompt: expected"):
        scripted.build_sample(0)


def test_scores_are_kept_as_they_were_returned(scripted, tmp_path):
    folder = tmp_path / "run" / "task"
    folder.mkdir(parents=True)
    (folder / "task.json").write_text(
        '[{"question_id": "a", "answer": "1"}, {"question_id": "b", "answer": "", "status": "failed"}]'
    )
    result = VlmevalClassEvaluator().process(scripted, folder)
    assert (result["Overall"], result["headline"], result["over"]) == (0.5, "Overall", "asked")
    assert result["counts"]["failed"] == 1
    assert (tmp_path / "run" / "model_task.xlsx").is_file()


@pytest.mark.parametrize("returned", [None, {}, [1], 0.5])
def test_scoring_that_returns_no_scores_is_told(scripted, tmp_path, returned):
    folder = tmp_path / "run" / "task"
    folder.mkdir(parents=True)
    (folder / "task.json").write_text('[{"question_id": "a", "answer": "1"}]')
    scripted.inner.evaluate = lambda eval_file, **_: returned
    with pytest.raises(UserCodeError, match="evaluate: expected a DataFrame or a dict of scores"):
        VlmevalClassEvaluator().process(scripted, folder)


def test_the_evaluator_scores_only_such_a_data_set(tmp_path):
    with pytest.raises(ConfigError, match="scores VlmevalClassDataset"):
        VlmevalClassEvaluator().process(object(), tmp_path)
