"""VideoDataset: questions about a video."""

from __future__ import annotations

import json

import pytest

from flagmm.dataset.sample import build_sample
from flagmm.dataset.video_dataset import VideoDataset
from flagmm.dataset.vqa_base_dataset import VqaBaseDataset
from flagmm.errors import DataError
from flagmm.types import TextPart, VideoPart


def make(folder, **fields):
    item = {"question_id": 1, "question": "What happens?", "question_type": "open", **fields}
    (folder / "data.json").write_text(json.dumps([item]))
    return VideoDataset(name="t", data_root=str(folder), with_label=True)


def test_an_item_names_its_video(tmp_path):
    assert make(tmp_path, video_path="v.mp4", answer="x")[0] == {
        "video_path": str(tmp_path / "v.mp4"),
        "question": "What happens?",
        "question_id": "1",
        "type": "open",
        "label": "x",
    }


def test_several_videos_are_a_list(tmp_path):
    found = make(tmp_path, video_path=["v.mp4", "http://h/w.mp4"])[0]
    assert found["video_path"] == [str(tmp_path / "v.mp4"), "http://h/w.mp4"]
    assert "label" not in found


def test_options_and_templates_work_as_for_pictures(tmp_path):
    assert make(tmp_path, video_path="v.mp4", options=["a"])[0]["question"] == "What happens?\nA. a"


@pytest.mark.parametrize("fields", [{}, {"video_path": None}, {"video_path": ""}, {"img_path": "a.png"}])
def test_a_missing_video_is_told_when_its_item_is_asked(tmp_path, fields):
    dataset = make(tmp_path, **fields)
    with pytest.raises(DataError, match=r"^question_id 1: 'video_path' is missing$"):
        dataset[0]


def test_the_video_is_sent_after_the_text(tmp_path):
    content = build_sample(make(tmp_path, video_path="v.mp4"), 0).messages[0].content
    assert [type(part) for part in content] == [TextPart, VideoPart]
    assert content[1].source.path == str(tmp_path / "v.mp4")


def test_a_part_of_the_video_may_be_asked_about(tmp_path):
    content = build_sample(make(tmp_path, video_path="v.mp4", video_start=1, video_end=2.5), 0).messages[0].content
    assert content[1].extra == {"start": 1, "end": 2.5}


def test_a_part_may_be_asked_about_in_a_data_set_of_any_media(tmp_path):
    make(tmp_path, video_path="v.mp4", img_path="a.png", video_start=1, video_end=2.5)
    content = build_sample(VqaBaseDataset(name="t", data_root=str(tmp_path)), 0).messages[0].content
    assert content[-1].extra == {"start": 1, "end": 2.5}


def test_a_part_that_ends_before_it_starts_is_told(tmp_path):
    with pytest.raises(DataError, match=r"video_end 1 is before video_start 2\.5"):
        build_sample(make(tmp_path, video_path="v.mp4", video_start=2.5, video_end=1), 0)


@pytest.mark.parametrize("value", ["1", True, -1, [1]])
def test_a_part_that_is_no_seconds_is_told(tmp_path, value):
    with pytest.raises(DataError, match=r"^video_end: expected seconds, found "):
        build_sample(make(tmp_path, video_path="v.mp4", video_end=value), 0)


def test_it_says_that_it_is_about_videos(tmp_path):
    assert make(tmp_path, video_path="v.mp4").meta_info() == {"name": "t", "length": 1, "type": "video_qa"}
