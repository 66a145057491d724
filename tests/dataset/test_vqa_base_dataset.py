"""VqaBaseDataset: what one item asks."""

from __future__ import annotations

import base64
import json

import pytest

from flagmm.dataset.sample import build_sample
from flagmm.dataset.video_dataset import VideoDataset
from flagmm.dataset.vqa_base_dataset import DEBUG_ITEMS, VqaBaseDataset
from flagmm.errors import ConfigError, DataError
from flagmm.registry import FORMATS

LABELS = [*"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "AA", "AB"]


def item(question_id=1, **fields):
    return {"question_id": question_id, "question": "Which?", "question_type": "multiple-choice", **fields}


@pytest.fixture
def make(tmp_path):
    """A data set of the given items in `tmp_path`."""

    def make(*items, dataset=VqaBaseDataset, **settings):
        (tmp_path / "data.json").write_text(json.dumps(items), encoding="utf-8")
        return dataset(name="t", data_root=str(tmp_path), anno_file="data.json", **settings)

    return make


@pytest.mark.parametrize(
    ("fields", "prompt"),
    [
        pytest.param({}, "Which?", id="bare"),
        pytest.param({"options": ["red", "blue"]}, "Which?\nA. red\nB. blue", id="options"),
        pytest.param({"options": '["red"]'}, "Which?\nA. red", id="options in a text"),
        pytest.param(
            {"options": list(range(28))},
            "Which?\n" + "\n".join(f"{label}. {n}" for n, label in enumerate(LABELS)),
            id="28 options",
        ),
        pytest.param({"img_path": "a.png"}, "<image 1> Which?", id="picture"),
        pytest.param({"img_path": ["a.png", "b.png"]}, "<image 1> Which?", id="two pictures"),
        pytest.param({"img_path": "a.png", "question": "In <image 1>?"}, "In <image 1>?", id="token"),
        pytest.param({"img_path": "a.png", "question": "In <image_1>?"}, "In <image_1>?", id="other token"),
        pytest.param({"img_path": "a.png", "options": ["<image 1>"]}, "Which?\nA. <image 1>", id="token in an option"),
        pytest.param(
            {"img_path": ["a.png", "b.png"], "question": "In <image 2>?"}, "<image 1> In <image 2>?", id="second only"
        ),
    ],
)
def test_the_default_prompt(make, fields, prompt):
    assert make(item(**fields))[0]["question"] == prompt


def test_an_item_says_what_is_asked(make, tmp_path):
    found = make(item(7, img_path=["a.png", "/abs/b.png", "https://h/c.png"], answer="A"))[0]
    assert found == {
        "img_path": [str(tmp_path / "a.png"), "/abs/b.png", "https://h/c.png"],
        "question": "<image 1> Which?",
        "question_id": "7",
        "type": "multiple-choice",
    }


@pytest.mark.parametrize("head", ["data:image/png;base64,", "DATA:;base64,", " data:image/png;base64,"])
def test_a_picture_may_be_a_data_uri(make, head):
    uri = head + base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"//").decode()
    dataset = make(item(1, img_path=[uri, "a.png"]))
    first, second = (part.source for part in build_sample(dataset, 0).messages[0].content if part.type == "image")
    assert (first.path, first.data[:4]) == (None, b"\x89PNG")
    assert second.path.endswith("/a.png")


def test_an_item_without_pictures_has_an_empty_list_and_other_media_only_if_any(make, tmp_path):
    plain, media = make(item(1), item(2, video_path="v.mp4", audio_path=["s.wav"]))
    assert plain["img_path"] == []
    assert plain.keys() & {"video_path", "audio_path"} == set()
    assert (media["video_path"], media["audio_path"]) == ([str(tmp_path / "v.mp4")], [str(tmp_path / "s.wav")])


@pytest.mark.parametrize("settings", [{"with_label": True}, {"debug": True}])
def test_the_label_is_given_on_request(make, settings):
    labelled = make(item(1, answer=["A"]), item(2), item(3, answer=""), **settings)
    assert [found.get("label", "none") for found in labelled] == [["A"], "none", ""]
    assert "label" not in make(item(1, answer="A"))[0]


def test_a_prompt_template_is_built_and_sees_the_whole_annotation(make):
    def hook(annotation):
        return f"({annotation['topic']}, {annotation['question']!r})"

    dataset = make(item(topic="t", options=["x"]), prompt_template={"type": "PromptTemplate", "post_prompt": hook})
    assert dataset[0]["question"] == "Which?\nA. x\n(t, 'Which?\\nA. x')"


def test_a_template_s_mistake_names_the_key(make):
    with pytest.raises(
        ConfigError, match=r"^prompt_template: PromptTemplate takes no 'post_promt'\. Did you mean 'post_prompt'"
    ):
        make(item(), prompt_template={"type": "PromptTemplate", "post_promt": ""})


def test_building_a_prompt_leaves_the_annotation_as_it_is(make):
    dataset = make(item(options=["x"], img_path="a.png"), prompt_template={"type": "PromptTemplate"})
    dataset[0]
    assert dataset.get_annotation()["1"]["question"] == "Which?"


def test_annotations_are_found_by_id_as_a_string(make, tmp_path):
    dataset = make(item(1, note="kept"), item("x"))
    assert list(dataset.get_annotation()) == ["1", "x"]
    assert dataset.get_annotation()["1"] == {**item(1), "note": "kept", "data_root": str(tmp_path)}


def test_it_has_a_length_a_description_and_can_be_walked(make):
    dataset = make(item(1), item(2))
    assert len(dataset) == 2
    assert dataset.meta_info() == {"name": "t", "length": 2, "type": "vqa"}
    assert [found["question_id"] for found in dataset] == ["1", "2"]
    with pytest.raises(IndexError):
        dataset[2]


def test_debug_keeps_the_first_items_only(make):
    assert len(make(*(item(n) for n in range(40)), debug=True)) == DEBUG_ITEMS == 32


def test_several_annotation_files_are_one_data_set(tmp_path):
    for number in (1, 2):
        (tmp_path / f"{number}.json").write_text(json.dumps([item(number)]))
    dataset = VqaBaseDataset(name="t", data_root=str(tmp_path), anno_file=["1.json", "2.json"])
    assert list(dataset.get_annotation()) == ["1", "2"]


def test_a_data_root_is_relative_to_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "data.json").write_text(json.dumps([item(img_path="a.png")]))
    monkeypatch.chdir(tmp_path)
    assert VqaBaseDataset(name="t", data_root="data")[0]["img_path"] == [str(tmp_path / "data" / "a.png")]


def test_a_subclass_may_override_only_the_prompt(make):
    class Shouting(VqaBaseDataset):
        def build_prompt(self, annotation, img_path):
            return annotation["question"].upper()

    assert make(item(), dataset=Shouting)[0]["question"] == "WHICH?"


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        pytest.param({}, ConfigError, r"^dataset: needs data_root .*, or config", id="no data"),
        pytest.param(
            {"data_root": "gone"}, DataError, r"data_root: .*gone: no such folder; it is relative to", id="no folder"
        ),
        pytest.param({"data_root": "."}, DataError, r"data\.json: no such file", id="no annotations"),
    ],
)
def test_missing_data_are_told(tmp_path, monkeypatch, settings, error, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        VqaBaseDataset(name="t", **settings)


def test_a_folder_beside_the_task_file_is_pointed_out(tmp_path, monkeypatch):
    (tmp_path / "task" / "data").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with pytest.raises(DataError, match=r"there is one beside the task file: .*task/data\)"):
        VqaBaseDataset(name="t", data_root="data", base_dir=str(tmp_path / "task"))


def test_annotations_can_be_found_one_by_one_where_nothing_else_is_told_of_them(make):
    class Renamed(VqaBaseDataset):
        def get_annotation(self):
            return {f"x/{key}": value for key, value in super().get_annotation().items()}

    assert dict(make(item(1), item("x")).find_annotations()) == make(item(1), item("x")).get_annotation()
    assert list(make(item(1), dataset=Renamed).find_annotations()) == ["x/1"]


def test_what_a_task_s_own_reader_makes_stays_what_it_is(tmp_path):
    odd = memoryview(b"numpy's numbers are like this")
    (tmp_path / "data.odd").write_text("")
    with FORMATS.local():
        FORMATS.register_module(name=".odd", module=lambda path: [item(1, note=odd)])
        dataset = VqaBaseDataset(name="t", data_root=str(tmp_path), anno_file="data.odd")
    assert dataset.find_annotations()["1"]["note"] is odd


@pytest.fixture
def elsewhere(tmp_path_factory):
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "a.png").write_bytes(b"x")
    return folder


@pytest.mark.parametrize("key", ["img_path", "video_path", "audio_path"])
@pytest.mark.parametrize("kind", [VqaBaseDataset, VideoDataset])
@pytest.mark.parametrize("way", ["dots", "dots below a folder", "a link", "a linked folder", "absolute", "no file"])
def test_media_outside_of_the_data_are_refused_unless_allowed(make, tmp_path, elsewhere, kind, key, way):
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.png").symlink_to(elsewhere / "a.png")
    (tmp_path / "linked").symlink_to(elsewhere)
    (tmp_path / "v.mp4").write_bytes(b"x")
    path = {
        "dots": f"../{elsewhere.name}/a.png",
        "dots below a folder": f"sub/../../{elsewhere.name}/a.png",
        "a link": "link.png",
        "a linked folder": "linked/a.png",
        "absolute": str(elsewhere / "a.png"),
        "no file": f"../{elsewhere.name}/gone.png",
    }[way]
    if kind is VideoDataset and key != "video_path":
        pytest.skip("only videos are sent")
    fields = {"video_path": "v.mp4", key: ["v.mp4", path]}
    with pytest.raises(DataError) as caught:
        build_sample(make(item(1, **fields), dataset=kind), 0)
    assert str(caught.value).startswith(f"{key}: '{path}': ") or len(path) > 60
    assert str(caught.value).endswith(f"--allow-media-root {elsewhere}")
    assert build_sample(make(item(1, **fields), dataset=kind, allow_media_roots=[str(elsewhere)]), 0)


@pytest.mark.parametrize("path", ["a.png", "sub/../a.png", "inner.png", "../alias/a.png", "{root}/a.png"])
def test_media_that_stay_inside_are_taken_also_where_the_data_folder_is_a_link(tmp_path, path):
    (tmp_path / "data" / "sub").mkdir(parents=True)
    (tmp_path / "data" / "a.png").write_bytes(b"x")
    (tmp_path / "data" / "inner.png").symlink_to("a.png")
    (tmp_path / "alias").symlink_to(tmp_path / "data")
    given = path.format(root=tmp_path / "alias")
    (tmp_path / "data" / "data.json").write_text(json.dumps([item(1, img_path=given)]))
    dataset = VqaBaseDataset(name="t", data_root=str(tmp_path / "alias"))
    source = build_sample(dataset, 0).messages[0].content[0].source
    assert (tmp_path / "data" / "a.png").samefile(source.path)


def test_what_begins_like_a_url_and_is_none_is_a_path_below_the_data(make, tmp_path):
    (tmp_path / "x:").mkdir()
    with pytest.raises(DataError, match="--allow-media-root"):
        build_sample(make(item(1, img_path="x://../../../../../../etc/hostname")), 0)


def test_a_data_set_class_of_a_tasks_own_names_what_it_likes(make, elsewhere):
    class Own(VqaBaseDataset):
        def __getitem__(self, index):
            return {**super().__getitem__(index), "img_path": str(elsewhere / "a.png")}

    assert build_sample(make(item(1), dataset=Own), 0).messages[0].content[-1].source.path == str(elsewhere / "a.png")
