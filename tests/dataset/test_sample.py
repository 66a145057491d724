"""One item of a data set -> Sample."""

from __future__ import annotations

from typing import Any

import pytest

from flagmm.dataset.sample import build_sample, count_within, indices_in, question_id_at
from flagmm.errors import ConfigError, DataError
from flagmm.types import AudioPart, ImagePart, Sample, TextPart, VideoPart


class ListDataset:
    """Gives its items as they are; an exception in place of an item is raised."""

    def __init__(self, *items: Any, annotations: Any = None) -> None:
        self.name = "t"
        self.items = items
        if annotations is not None:
            self.annotations = annotations

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Any:
        if isinstance(self.items[index], Exception):
            raise self.items[index]
        return self.items[index]

    def get_annotation(self) -> dict[str, Any]:
        return {f"id{number}": {} for number in range(len(self.items))}


def sample(item, **settings):
    return build_sample(ListDataset({"question_id": "1", "question": "Q?", **item}, **settings), 0)


def shown(part):
    return part.text if isinstance(part, TextPart) else f"{part.type}:{part.source.label}"


@pytest.mark.parametrize(
    ("item", "parts"),
    [
        pytest.param({}, ["Q?"], id="text only"),
        pytest.param({"img_path": "/a.png"}, ["Q?", "image:/a.png"], id="picture without a token comes last"),
        pytest.param({"question": "<image 1> Q?", "img_path": ["/a.png"]}, ["image:/a.png", " Q?"], id="token"),
        pytest.param(
            {"question": "x <image 2> y <image 1> z", "img_path": ["/a.png", "/b.png", "/c.png"]},
            ["x ", "image:/b.png", " y ", "image:/a.png", " z", "image:/c.png"],
            id="each in its place, the one not named after the text",
        ),
        pytest.param({"img_path": ["/a.png", None]}, ["Q?", "image:/a.png"], id="null is none"),
        pytest.param({"img_path": None}, ["Q?"], id="null"),
        pytest.param({"img_path": b"12345"}, ["Q?", "image:<5 bytes>"], id="bytes"),
        pytest.param({"img_path": "https://h/a.png"}, ["Q?", "image:https://h/a.png"], id="URL"),
        pytest.param(
            {"video_path": "/v.mp4", "audio_path": ["/s.wav", "/t.wav"]},
            ["Q?", "video:/v.mp4", "audio:/s.wav", "audio:/t.wav"],
            id="video and sound",
        ),
        pytest.param(
            {"img_path": "/a.png", "video_path": ["/v.mp4"]}, ["Q?", "image:/a.png", "video:/v.mp4"], id="both"
        ),
        pytest.param({"question": "", "img_path": "/a.png"}, ["image:/a.png"], id="picture only"),
    ],
)
def test_media_stand_in_their_places(item, parts):
    (message,) = sample(item).messages
    assert message.role == "user"
    assert [shown(part) for part in message.content] == parts
    assert {type(part) for part in message.content} <= {TextPart, ImagePart, VideoPart, AudioPart}


def test_a_sample_keeps_the_prompt_as_text_and_its_ids_as_strings():
    made = sample({"question_id": 7, "question": "<image 1> Q?", "img_path": "/a.png", "type": "open"})
    assert (made.question_id, made.question, made.question_type, made.options) == ("7", "<image 1> Q?", "open", ())
    assert sample({}).question_type == ""


def test_options_come_from_the_annotation():
    assert sample({}, annotations=[{"options": ["red", 2]}]).options == ("red", "2")
    assert sample({}, annotations=[{"options": "no list"}]).options == ()
    assert sample({}, annotations=["no dict"]).options == ()
    assert sample({}, annotations={"1": {"options": ["red"]}}).options == ()


@pytest.mark.parametrize(
    ("item", "message"),
    [
        pytest.param("text", r"^item 0 of t: expected a dict with 'question_id' and 'question'$", id="no dict"),
        pytest.param({"question": "Q?"}, r"^item 0 of t: expected a dict", id="no id"),
        pytest.param({"question_id": "1"}, r"^item 0 of t: expected a dict", id="no question"),
        pytest.param(
            KeyError("topic"), r"^KeyError: 'topic' \(at .*test_sample\.py:\d+\)$", id="code of the task raised"
        ),
        pytest.param(
            {"question_id": "1", "question": "<image 2>", "img_path": "/a.png"},
            r"says <image 2>, but it has 1 image$",
            id="no such picture",
        ),
        pytest.param({"question_id": "1", "question": "Q?", "img_path": 3}, r"a value of type int", id="no picture"),
    ],
)
def test_an_item_that_is_no_question_is_a_data_error(item, message):
    with pytest.raises(DataError, match=message):
        build_sample(ListDataset(item), 0)


def test_a_mistake_in_the_task_file_stays_one():
    with pytest.raises(ConfigError, match="returned int"):
        build_sample(ListDataset(ConfigError("returned int")), 0)


def test_a_data_set_may_build_its_samples_itself():
    dataset = ListDataset({"question_id": "item", "question": "Q?"})
    made = Sample(question_id="made", question="Q", question_type="", messages=())
    dataset.build_sample = lambda index: made
    dataset.question_id_at = lambda index: f"number {index}"
    assert build_sample(dataset, 0) is made
    assert question_id_at(dataset, 0) == "number 0"


def test_what_a_data_set_raises_while_it_builds_a_sample_is_a_data_error():
    dataset = ListDataset({"question_id": "item", "question": "Q?"})
    dataset.build_sample = lambda index: 1 // 0
    with pytest.raises(DataError, match="ZeroDivisionError"):
        build_sample(dataset, 0)


@pytest.mark.parametrize(("limit", "count"), [(None, 7), (3, 3), (9, 7), (0.5, 3), (0.1, 0), (1.0, 7), (1, 1)])
def test_a_limit_is_a_number_or_a_share_rounded_down(limit, count):
    assert count_within(limit, 7) == count
    assert list(indices_in(ListDataset(*({} for _ in range(7))), limit)) == list(range(count))


def test_an_item_that_cannot_be_built_still_has_an_id():
    broken = ListDataset(KeyError("x"), KeyError("x"), annotations=[{"question_id": 5}, {}])
    assert [question_id_at(broken, index) for index in (0, 1)] == ["5", "1"]
    assert question_id_at(ListDataset(KeyError("x"), KeyError("x")), 1) == "id1"
