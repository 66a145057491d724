"""Every example of the formats' document, as it is printed there; the blocks are in `tests/data/documents/general`.

Its base64 ends in "…", for which small real files stand here.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from tests.dataset.general.tables import WAV, parts, shown, vmcq, vqa, write_jsonl, write_media

BLOCKS = Path(__file__).parents[2] / "data" / "documents" / "general"
MEDIA = "custom_eval/multimodal"
PICTURES = ("dog", "AMNH", "tokyo", "tesla", "running", "beach")


@pytest.fixture(autouse=True)
def media(tmp_path):
    """The media beside the working directory, which the document's paths start from."""
    write_media(tmp_path, *(f"{MEDIA}/images/{name}.jpg" for name in PICTURES))
    write_media(tmp_path, "image1.jpg", "image2.jpg", "xray.jpg")
    write_media(tmp_path, f"{MEDIA}/audio/sample.wav", f"{MEDIA}/videos/sample.mp4", f"{MEDIA}/videos/wave.mp4")


def block(name):
    return (BLOCKS / f"{name}.txt").read_text(encoding="utf-8")


def table(folder, name):
    path = folder / "data" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(block(name), encoding="utf-8")
    return path


def record(folder, name, *replaced):
    """A record that the document prints over several lines, on one."""
    text = block(name)
    for old, new in replaced:
        assert old in text
        text = text.replace(old, new)
    text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("//"))
    return write_jsonl(folder / "data" / "example.jsonl", json.loads(text))


@pytest.mark.parametrize("name", ["vqa_openai.jsonl", "vqa_openai.tsv"])
def test_openai_messages_as_jsonl_and_tsv(tmp_path, name):
    dataset = vqa(table(tmp_path, name))
    assert [parts(dataset.build_sample(index)) for index in range(2)] == [
        ["What animal is this?", ("image", "dog.jpg")],
        ["What building is this?", ("image", "AMNH.jpg")],
    ]
    assert [annotation["answer"] for annotation in dataset.get_annotation().values()] == ["Dog", "Museum"]


def test_several_images_stand_between_their_texts(tmp_path):
    [sample] = [vqa(record(tmp_path, "several_images.json")).build_sample(0)]
    assert parts(sample) == [
        "Compare these two images:", ("image", "image1.jpg"), "and", ("image", "image2.jpg"),
        "What are the differences?",
    ]  # fmt: skip


def test_a_system_prompt_and_how_closely_to_look(tmp_path):
    sample = vqa(record(tmp_path, "system_prompt.json")).build_sample(0)
    assert shown(sample) == [
        ("system", "You are a medical AI assistant."),
        ("user", ["Analyze this X-ray:", ("image", "xray.jpg")]),
    ]
    assert sample.messages[1].content[1].detail == "high"


def test_a_picture_in_base64(tmp_path):
    picture = (tmp_path / "xray.jpg").read_bytes()
    path = record(tmp_path, "base64_image.json", ("/9j/4AAQSkZJRgABAQAAAQABAAD...", base64.b64encode(picture).decode()))
    assert parts(vqa(path).build_sample(0)) == ["What's in this image?", ("image", picture)]


def test_a_sound_by_path(tmp_path):
    sample = vqa(record(tmp_path, "audio_path.json")).build_sample(0)
    assert parts(sample) == ["Describe the content of this audio clip.", ("audio", "sample.wav")]
    assert sample.messages[0].content[1].format == "wav"


def test_a_sound_in_base64_without_anything_before_it(tmp_path):
    raw = base64.b64encode(WAV).decode()
    path = record(tmp_path, "audio_base64.json", ("UklGRiQAAABXQVZFZm10IBAAAA...", raw))
    assert parts(vqa(path).build_sample(0)) == ["What is being said in this audio?", ("audio", WAV)]


def test_a_video_by_path(tmp_path):
    sample = vqa(record(tmp_path, "video.json")).build_sample(0)
    assert parts(sample) == ["Describe the content of this video clip.", ("video", "sample.mp4")]


def test_placeholders_with_indexed_columns(tmp_path):
    dataset = vqa(table(tmp_path, "vqa_placeholder.jsonl"))
    found = [parts(dataset.build_sample(index)) for index in range(len(dataset))]
    assert found[0] == ["What animal is this?", ("image", "dog.jpg")]
    assert [content[1][1] for content in found] == ["dog.jpg", "AMNH.jpg", "tokyo.jpg", "tesla.jpg", "running.jpg"]


def test_media_of_two_kinds_in_one_text(tmp_path):
    sample = vqa(record(tmp_path, "mixed_media.jsonl")).build_sample(0)
    assert parts(sample) == [("image", "beach.jpg"), " Watch ", ("video", "wave.mp4"), " and describe both."]


def test_a_placeholder_in_structured_content_is_left_alone(tmp_path):
    sample = vqa(record(tmp_path, "left_alone.json")).build_sample(0)
    assert parts(sample) == ["<image 1> What animal is this?"]


def test_choices_as_jsonl(tmp_path):
    dataset = vmcq(table(tmp_path, "vmcq.jsonl"))
    which, building, kind = (parts(dataset.build_sample(index)) for index in range(3))
    assert which[0].endswith("\n\nWhich image shows a dog?\n\nA) ")
    assert which[1:] == [
        ("image", "dog.jpg"), "\nB) ", ("image", "AMNH.jpg"), "\nC) ", ("image", "tesla.jpg"), "\nD) ",
        ("image", "tokyo.jpg"),
    ]  # fmt: skip
    assert building[1:] == [
        ("image", "AMNH.jpg"), " What building is this?\n\nA) School\nB) Hospital\nC) Park\nD) Museum"
    ]  # fmt: skip
    assert kind[1] == ("video", "sample.mp4")
    assert [annotation["answer"] for annotation in dataset.get_annotation().values()] == ["A", "D", "C"]


def test_choices_as_tsv(tmp_path):
    from_tsv, from_jsonl = vmcq(table(tmp_path, "vmcq.tsv")), vmcq(table(tmp_path, "vmcq.jsonl"))
    assert len(from_tsv) == 2
    for index in range(2):
        assert from_tsv.build_sample(index).messages == from_jsonl.build_sample(index).messages
