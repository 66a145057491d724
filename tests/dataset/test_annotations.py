"""Annotation files -> checked annotations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flagmm.dataset.annotations import annotation_paths, load_annotations, media_paths, option_texts
from flagmm.errors import DataError
from flagmm.registry import FORMATS
from tests.core_cases import core_cases


def item(question_id, **fields):
    return {"question_id": question_id, "question": "Q?", "question_type": "open", **fields}


def write(path, items):
    path.write_text(json.dumps(items), encoding="utf-8")
    return path


def load(folder, *items):
    return load_annotations([write(folder / "data.json", items)])


@pytest.mark.parametrize(
    ("names", "paths"),
    [
        (None, ["/d/data.json"]),
        ("", ["/d/data.json"]),
        ("x.json", ["/d/x.json"]),
        ("/abs/x.json", ["/abs/x.json"]),
        (["a.json", "sub/b.jsonl"], ["/d/a.json", "/d/sub/b.jsonl"]),
        (("a.json",), ["/d/a.json"]),
    ],
)
def test_annotation_files_are_relative_to_the_data(names, paths):
    assert annotation_paths(Path("/d"), names) == [Path(path) for path in paths]


def test_the_items_of_several_files_follow_one_another_with_all_their_fields(tmp_path):
    first = write(tmp_path / "a.json", [item(1, note={"any": ["thing"]}), item("2")])
    second = tmp_path / "b.jsonl"
    second.write_text(json.dumps(item("3")) + "\n")
    third = write(tmp_path / "c.unknown", [item(4.5)])  # read as a list
    loaded = load_annotations([first, second, third])
    assert [annotation["question_id"] for annotation in loaded] == [1, "2", "3", 4.5]
    assert loaded[0] == item(1, note={"any": ["thing"]})


def test_a_registered_format_is_used(tmp_path):
    with FORMATS.local():
        FORMATS.register_module(name=".csv", module=lambda path: [item(path.read_text())])
        (tmp_path / "x.csv").write_text("7")
        assert load_annotations([tmp_path / "x.csv"])[0]["question_id"] == "7"


@pytest.mark.parametrize(("given", "expected"), core_cases("id_check"))
def test_recorded_ids_are_checked(tmp_path, given, expected):
    items = [item(question_id) for question_id in given["ids"]]
    if expected["error"]:
        with pytest.raises(DataError, match="make ids unique"):
            load(tmp_path, *items)
    else:
        assert len(load(tmp_path, *items)) == len(items)


def test_a_double_id_is_told_with_both_places(tmp_path):
    first, second = write(tmp_path / "a.json", [item("1"), item("2")]), write(tmp_path / "b.json", [item("3"), item(2)])
    with pytest.raises(DataError) as caught:
        load_annotations([first, second])
    assert str(caught.value) == f"{second}: item 1 has the question_id '2' of {first}: item 1; make ids unique"


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        pytest.param({"question": "Q?", "question_type": "open"}, "'question_id' is missing", id="no id"),
        pytest.param(item(None), "'question_id' is missing", id="null id"),
        pytest.param(item(""), "'question_id' is missing", id="empty id"),
        pytest.param(item([1]), "'question_id' is missing, or neither a text nor a number", id="list id"),
        pytest.param(
            {"question_id": 5, "question_type": "open"}, "(question_id 5): 'question' is missing", id="no question"
        ),
        pytest.param(
            item(5, question=3), "(question_id 5): 'question' is missing, or no text", id="number as question"
        ),
        pytest.param(item("5", question_type=None), "(question_id '5'): 'question_type' is missing", id="no type"),
        pytest.param(item(5, options=3), "'options' is no list", id="options"),
        pytest.param(
            item(5, img_path=7), "(question_id 5): 'img_path': expected a path or a list of paths, found 7", id="number"
        ),
        pytest.param(item(5, img_path={"path": "a"}), "'img_path': expected a path or a list of paths", id="object"),
        pytest.param(item(5, img_path=["a", 7]), "'img_path': expected a path or a list of paths", id="in a list"),
        pytest.param(item(5, img_path=False), "'img_path': expected a path or a list of paths", id="flag"),
        pytest.param(item(5, video_path=7), "'video_path': expected a path or a list of paths", id="video"),
        pytest.param(item(5, audio_path=[["a"]]), "'audio_path': expected a path or a list of paths", id="sound"),
    ],
)
def test_an_unsound_item_is_told_with_its_place(tmp_path, annotation, message):
    with pytest.raises(DataError) as caught:
        load(tmp_path, item("fine"), annotation)
    assert str(caught.value).startswith(f"{tmp_path / 'data.json'}: item 1")
    assert message in str(caught.value)


def test_a_data_set_may_be_empty_and_a_question_too(tmp_path):
    assert load(tmp_path) == []
    assert load(tmp_path, item(0, question="")) == [item(0, question="")]


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        pytest.param(["a", "b"], ["a", "b"], id="list"),
        pytest.param([1, 2.5, None], ["1", "2.5", "None"], id="of values"),
        pytest.param('["a", "b"]', ["a", "b"], id="text that holds JSON"),
        pytest.param("['it\\'s', \"b\"]", ["it's", "b"], id="text that holds Python's spelling"),
        pytest.param("('a', 'b')", ["a", "b"], id="text that holds a tuple"),
        pytest.param({"A": "red", "B": "blue"}, ["red", "blue"], id="by letter"),
        pytest.param('{"A": "red"}', ["red"], id="text that holds them by letter"),
        pytest.param(None, [], id="null"),
        pytest.param("", [], id="empty text"),
        pytest.param([], [], id="none"),
    ],
)
def test_options_become_a_list_of_texts(tmp_path, options, texts):
    assert option_texts(options, "x") == texts
    assert load(tmp_path, item(1, options=options))[0]["options"] == texts


@pytest.mark.parametrize("options", ["A, B", "[a, b]", "['a'", "3", "(" * 5000, "__import__('os')"])
def test_a_text_that_holds_no_options_is_an_error(options):
    with pytest.raises(DataError, match=r"^x\.json: item 3: 'options' is"):
        option_texts(options, "x.json: item 3")


def test_an_item_without_options_gets_none(tmp_path):
    assert "options" not in load(tmp_path, item(1))[0]


@pytest.mark.parametrize(
    ("annotation", "paths"),
    [
        ({"img_path": "a.png"}, ["a.png"]),
        ({"img_path": ["a.png", "b.png"]}, ["a.png", "b.png"]),
        ({"img_path": ("a.png", None, "")}, ["a.png"]),
        ({"img_path": None}, []),
        ({"img_path": ""}, []),
        ({"img_path": []}, []),
        ({}, []),
        ({"video_path": "v.mp4"}, []),
    ],
)
def test_media_paths_are_a_list(annotation, paths):
    assert media_paths(annotation, "img_path") == paths
