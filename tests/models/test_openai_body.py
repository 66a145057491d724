"""Messages -> the body of a request, media spliced in."""

from __future__ import annotations

import base64
import json

import pytest
from PIL import Image

from flagmm.config.model import ModelSpec
from flagmm.errors import DataError
from flagmm.models.openai_body import BodyBuilder
from flagmm.types import AudioPart, ImagePart, MediaSource, Message, TextPart


def build(*parts, repeat=0, messages=None, **spec):
    content = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
    messages = messages or [Message(role="user", content=content)]
    return BodyBuilder(ModelSpec(model_name="m", **spec)).build(messages, repeat)


def body(*parts, **settings):
    return json.loads(b"".join(build(*parts, **settings)))


def content(*parts, **settings):
    return body(*parts, **settings)["messages"][-1]["content"]


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "a.png"
    Image.new("RGB", (8, 4), "red").save(path)
    return path


def image(path):
    return ImagePart(source=MediaSource(path=str(path)))


def data_url(item):
    kind, _, encoded = item["image_url"]["url"].partition(";base64,")
    return kind, base64.b64decode(encoded, validate=True)


def test_a_plain_question_is_sent_with_nothing_that_was_not_given():
    assert body("Q?") == {"model": "m", "messages": [{"role": "user", "content": "Q?"}]}


def test_text_parts_are_one_string_of_any_characters():
    assert content("a", "图 \ud800 \u2028") == "a图 \ud800 \u2028"
    assert b"".join(build("图")).isascii()


@pytest.mark.parametrize(
    ("settings", "sent"),
    [
        pytest.param(
            {"temperature": 0, "max_tokens": 5, "top_p": 0.9},
            {"temperature": 0, "max_tokens": 5, "top_p": 0.9},
            id="numbers",
        ),
        pytest.param(
            {"reasoning": {"effort": "low"}, "thinking": {"type": "on"}, "provider": {"order": ["x"]}},
            {"reasoning": {"effort": "low"}, "thinking": {"type": "on"}, "provider": {"order": ["x"]}},
            id="passed through",
        ),
        pytest.param({"stream": True}, {"stream": True, "stream_options": {"include_usage": True}}, id="stream"),
        pytest.param(
            {"extra_body": {"top_k": 1, "model": "other"}},
            {"top_k": 1, "model": "other"},
            id="extra body goes before all",
        ),
        pytest.param({"temperature": 0, "extra_body": {"temperature": None}}, {}, id="null takes a key out"),
        pytest.param(
            {"num_workers": 3, "timeout": 5.0, "retries": 1, "use_cache": True, "headers": {"a": "b"}},
            {},
            id="ours alone",
        ),
    ],
)
def test_settings_are_sent_as_given(settings, sent):
    assert body("Q?", **settings) == {"model": "m", "messages": [{"role": "user", "content": "Q?"}], **sent}


@pytest.mark.parametrize(("seed", "repeat", "sent"), [(7, 0, 7), (7, 2, 9), (0, 0, 0), (None, 3, None)])
def test_each_repetition_has_a_seed_of_its_own(seed, repeat, sent):
    assert body("Q?", seed=seed, repeat=repeat).get("seed") == sent


def test_a_system_prompt_stands_first():
    assert body("Q?", system_prompt="Be brief.")["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Q?"},
    ]


def test_a_picture_is_sent_as_its_own_bytes_in_its_place(picture):
    parts = content("Look: ", image(picture), " Which?")
    assert [part["type"] for part in parts] == ["text", "image_url", "text"]
    assert (parts[0]["text"], parts[2]["text"]) == ("Look: ", " Which?")
    assert data_url(parts[1]) == ("data:image/png", picture.read_bytes())


def test_several_media_keep_their_order(tmp_path):
    for name in "ab":
        Image.new("RGB", (4, 4), "red" if name == "a" else "blue").save(tmp_path / f"{name}.png")
    found = [
        data_url(part)[1]
        for part in content(image(tmp_path / "b.png"), image(tmp_path / "a.png"), image(tmp_path / "b.png"))
    ]
    a, b = ((tmp_path / f"{name}.png").read_bytes() for name in "ab")
    assert found == [b, a, b]


def test_pictures_are_not_copied_into_one_large_body(picture):
    pieces = build("x", image(picture), "y", image(picture))
    assert [len(piece) for piece in pieces[1::2]] == [len(base64.b64encode(picture.read_bytes()))] * 2
    assert len(pieces) == 5


def test_limits_of_the_model_file_reach_the_encoder(tmp_path):
    Image.new("RGB", (400, 200), "red").save(tmp_path / "a.png")
    (part,) = content(image(tmp_path / "a.png"), max_long_side=100)
    (tmp_path / "sent").write_bytes(data_url(part)[1])
    with Image.open(tmp_path / "sent") as sent:
        assert sent.size == (100, 50)


def test_a_url_is_left_to_the_endpoint():
    (part,) = content(ImagePart(source=MediaSource(url="https://h/a.png")))
    assert part == {"type": "image_url", "image_url": {"url": "https://h/a.png"}}


def test_a_sound_is_sent_with_its_format(tmp_path):
    sound = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\0\0\0\0"
    (tmp_path / "s.wav").write_bytes(sound)
    (part,) = content(AudioPart(source=MediaSource(path=str(tmp_path / "s.wav"))))
    assert part == {"type": "input_audio", "input_audio": {"data": base64.b64encode(sound).decode(), "format": "wav"}}


def test_several_messages_keep_their_roles(picture):
    messages = [
        Message(role="user", content=(TextPart(text="1"), image(picture))),
        Message(role="assistant", content=(TextPart(text="2"),)),
    ]
    sent = body(messages=messages)["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant"]
    assert sent[1]["content"] == "2"


def test_a_picture_that_cannot_be_read_is_told(tmp_path):
    with pytest.raises(DataError, match=r"gone\.png"):
        build(image(tmp_path / "gone.png"))
