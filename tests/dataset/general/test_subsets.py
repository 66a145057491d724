"""Subsets, ids, limits, order, and what a data set is built from."""

from __future__ import annotations

import logging
import random

import pytest

from flagmm.errors import ConfigError, DataError
from flagmm.registry import DATASETS, build, check_keywords, takes_keyword
from flagmm.types import ROW_ERROR
from tests.dataset.general.tables import asked, parts, vmcq, vqa, write_jsonl, write_media


def rows(name, count, **columns):
    return [asked(f"{name}{number}", **columns) for number in range(count)]


@pytest.fixture
def folder(tmp_path):
    """Two subsets, of 3 and 10 rows."""
    write_jsonl(tmp_path / "data" / "a.jsonl", *rows("a", 3))
    write_jsonl(tmp_path / "data" / "b.jsonl", *rows("b", 10))
    return tmp_path / "data"


def texts(dataset, indices=None):
    return [parts(dataset.build_sample(index)) for index in (range(len(dataset)) if indices is None else indices)]


def ids(dataset):
    return [dataset.question_id_at(index) for index in range(len(dataset))]


def test_several_subsets_come_in_the_order_asked_for_with_their_names_in_the_ids(folder):
    dataset = vqa(folder, subset_list=["b", "a"])
    assert [(subset.name, len(subset.rows)) for subset in dataset.subsets] == [("b", 10), ("a", 3)]
    assert ids(dataset)[8:] == ["b/8", "b/9", "a/0", "a/1", "a/2"]
    assert texts(dataset)[8:] == ["b8", "b9", "a0", "a1", "a2"]
    assert dataset.get_annotation()["a/2"]["subset"] == "a"
    assert [sample["question_id"] for sample in dataset] == ids(dataset)


def test_one_subset_needs_no_name_in_its_ids(folder):
    assert ids(vqa(folder, subset_list="a")) == ["0", "1", "2"]


def test_without_a_list_all_tables_of_the_folder_are_taken(folder):
    assert [subset.name for subset in vqa(folder).subsets] == ["a", "b"]


def test_a_file_is_a_subset_called_default(folder):
    dataset = vqa(folder / "a.jsonl")
    assert [subset.name for subset in dataset.subsets] == ["default"]
    assert dataset.get_annotation()["0"]["subset"] == "default"


def test_the_split_is_looked_for_first(folder):
    write_jsonl(folder / "a_test.jsonl", asked("the test split"))
    write_jsonl(folder / "a_val.jsonl", asked("the val split"))
    assert texts(vqa(folder, subset_list=["a"])) == ["the test split"]
    assert texts(vqa(folder, subset_list=["a"], split="val")) == ["the val split"]
    assert vmcq(folder, subset_list=["a"]).subsets[0].table.row(0)["messages"][0]["content"] == "the val split"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"subset_list": ["a", "a"]}, "subset_list: 'a' is named twice"),
        ({"limit": -1}, "limit: expected a number from 1"),
        ({"limit": 1.5}, "limit: expected a number from 1"),
        ({"limit": True}, "limit: expected a number from 1"),
        ({"video_mode": "film"}, "video_mode: expected 'file' or 'frames', found 'film'"),
        ({"local_path": "elsewhere"}, "give one of them"),
    ],
)
def test_wrong_settings_are_input_errors(folder, settings, message):
    with pytest.raises(ConfigError, match=message):
        vqa(folder, **settings)


def test_data_must_be_named(tmp_path):
    with pytest.raises(ConfigError, match="where are the data"):
        build(DATASETS, {"type": "GeneralVqaDataset", "name": "n"}, where="t.py: dataset")


def test_several_subsets_of_one_file_are_an_error(folder):
    with pytest.raises(ConfigError, match="is one file"):
        vqa(folder / "a.jsonl", subset_list=["a", "b"])


def test_what_is_not_there_is_an_input_error(folder):
    with pytest.raises(DataError, match="nowhere: no such file or folder"):
        vqa(folder / "nowhere")
    with pytest.raises(DataError, match="nosuch"):
        vqa(folder, subset_list=["nosuch"])
    (folder / "empty").mkdir()
    with pytest.raises(DataError, match="empty: holds no"):
        vqa(folder / "empty")


def test_local_path_is_another_name_of_data_root(folder):
    dataset = build(DATASETS, {"type": "GeneralVqaDataset", "name": "n", "local_path": str(folder)}, where="here")
    assert len(dataset) == 13


@pytest.mark.parametrize("kind", ["GeneralVqaDataset", "GeneralVmcqDataset"])
def test_unknown_keywords_are_found_and_known_ones_are_taken(kind):
    entry = DATASETS.lookup(kind)
    with pytest.raises(ConfigError, match=r"takes no 'subsetlist'\. Did you mean 'subset_list'"):
        check_keywords(entry, ["name", "subsetlist"], where="here")
    for keyword in ("data_root", "limit", "seed", "strict", "allow_media_roots", "base_dir", "video_mode"):
        assert takes_keyword(entry, keyword)
    assert takes_keyword(entry, "shuffle_choices") is (kind == "GeneralVmcqDataset")


@pytest.mark.parametrize("column", ["id", "question_id", "index"])
def test_the_rows_own_ids_are_taken_where_they_are_unique(folder, column):
    path = write_jsonl(folder / "c.jsonl", asked("x", **{column: "seven"}), asked("y", **{column: 8}))
    assert ids(vqa(path)) == ["seven", "8"]
    assert list(vqa(path).get_annotation()) == ["seven", "8"]


@pytest.mark.parametrize("second", [{"id": "1"}, {"id": None}, {"id": ""}, {}, {"id": [1]}])
def test_ids_that_are_not_unique_give_way_to_row_numbers(folder, second):
    path = write_jsonl(folder / "c.jsonl", asked("x", id=1), asked("y", **second))
    assert ids(vqa(path)) == ["0", "1"]


def test_a_row_without_an_id_or_that_cannot_be_read_has_its_number_and_the_others_keep_theirs(folder):
    path = write_jsonl(folder / "c.jsonl", asked("x", id="first"), "{", asked("y"), asked("z", id="last"))
    assert ids(vqa(path)) == ["first", "1", "2", "last"]


def test_the_same_id_in_two_subsets_is_no_clash(folder):
    for name in "cd":
        write_jsonl(folder / f"{name}.jsonl", asked("x", id="same"))
    assert ids(vqa(folder, subset_list=["c", "d"])) == ["c/same", "d/same"]


@pytest.mark.parametrize(
    ("limit", "found"),
    [(None, (3, 10)), (0, (3, 10)), (2, (2, 2)), (5, (3, 5)), (0.5, (1, 5)), (0.19, (0, 1)), (1.0, (3, 10))],
)
def test_a_limit_counts_for_each_subset(folder, limit, found):
    dataset = vqa(folder, limit=limit)
    assert tuple(len(subset.rows) for subset in dataset.subsets) == found
    assert len(dataset) == len(dataset.get_annotation()) == sum(found)
    expected = [f"a/{number}" for number in range(found[0])] + [f"b/{number}" for number in range(found[1])]
    assert ids(dataset) == expected
    whole = vqa(folder)
    if limit != 0:
        assert [whole.question_id_at(index) for index in whole.indices_in(limit)] == expected


def test_rows_are_shuffled_before_the_limit_as_by_the_standard_library_and_keep_their_ids(folder):
    order = list(range(10))
    random.Random(42).shuffle(order)
    dataset = vqa(folder, subset_list=["b"], shuffle=True, limit=4)
    assert texts(dataset) == [f"b{row}" for row in order[:4]]
    assert ids(dataset) == [str(row) for row in order[:4]]
    assert {key: value["question"] for key, value in dataset.get_annotation().items()} == {
        str(row): f"b{row}" for row in order[:4]
    }
    assert texts(vqa(folder, subset_list=["b"], shuffle=True, seed=1)) != texts(
        vqa(folder, subset_list=["b"], shuffle=True)
    )


def test_an_unreadable_row_has_an_annotation_that_counts(folder):
    dataset = vqa(write_jsonl(folder / "c.jsonl", asked("x"), "{", asked("y")))
    annotations = dataset.get_annotation()
    assert len(annotations) == 3
    assert annotations["1"]["answer"] is None
    assert "c.jsonl:2" in annotations["1"][ROW_ERROR]
    assert ROW_ERROR not in annotations["0"]


def test_annotations_are_a_mapping_that_keeps_no_rows(folder):
    annotations = vqa(folder).get_annotation()
    assert "a/0" in annotations
    assert "c/0" not in annotations
    assert annotations["a/0"] == annotations["a/0"]
    assert annotations["a/0"] is not annotations["a/0"]
    with pytest.raises(KeyError):
        annotations["c/0"]


def test_media_are_looked_for_beside_the_table_then_in_the_working_directory(tmp_path):
    write_media(tmp_path / "data", "both.png")
    write_media(tmp_path, "both.png", "here.png")
    path = write_jsonl(
        tmp_path / "data" / "t.jsonl", asked("<image 1><image 2>", image_1="both.png", image_2="here.png")
    )
    both, here = vqa(path).build_sample(0).messages[0].content
    assert both.source.path == str(tmp_path / "data" / "both.png")
    assert here.source.path == str(tmp_path / "here.png")


def test_other_places_must_be_allowed_and_the_error_says_how(tmp_path, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    write_media(elsewhere, "a.png")
    path = write_jsonl(tmp_path / "data" / "t.jsonl", asked("<image 1>", image_1=str(elsewhere / "a.png")))
    with pytest.raises(DataError, match=f"--allow-media-root {elsewhere}"):
        vqa(path).build_sample(0)
    assert parts(vqa(path, allow_media_roots=[str(elsewhere)]).build_sample(0)) == [("image", "a.png")]


def test_a_link_out_of_the_folder_must_be_allowed_too(tmp_path, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    write_media(elsewhere, "a.png")
    path = write_jsonl(tmp_path / "data" / "t.jsonl", asked("<image 1>", image_1="link.png"))
    (tmp_path / "data" / "link.png").symlink_to(elsewhere / "a.png")
    with pytest.raises(DataError, match="--allow-media-root"):
        vqa(path).build_sample(0)


@pytest.mark.parametrize("mode", ["file", "frames"])
def test_how_videos_are_sent_is_said_by_the_task(tmp_path, mode):
    write_media(tmp_path, "v.mp4")
    path = write_jsonl(tmp_path / "t.jsonl", asked("<video 1>", video_1="v.mp4"))
    assert vqa(path, video_mode=mode).build_sample(0).messages[0].content[0].mode == mode


def test_ids_that_do_not_fit_are_told(folder, caplog):
    path = write_jsonl(folder / "c.jsonl", asked("x", id=1), asked("y", id=1))
    with caplog.at_level(logging.INFO):
        vqa(path)
    assert "column 'id' is not unique" in caplog.text
