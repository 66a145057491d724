"""Messages -> the body of a request, media spliced in."""

from __future__ import annotations

import base64
import json

import pytest
from PIL import Image

from flagmm.config.model import ModelSpec
from flagmm.errors import DataError
from flagmm.models.openai_body import BodyBuilder
from flagmm.types import AudioPart, ImagePart, MediaSource, Message, TextPart, VideoPart
from tests.media.test_video import make_video

EMPTY_WAV = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\0\0\0\0"


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
    sound = EMPTY_WAV
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


MP4 = b"\0\0\0\x18ftypmp42" + bytes(12)
WAV = b"RIFF\x24\0\0\0WAVEfmt " + bytes(28)


def bytes_of(url):
    head, _, encoded = url.partition(";base64,")
    return head, base64.b64decode(encoded, validate=True)


@pytest.mark.parametrize("detail", ["low", "high", "auto"])
def test_the_detail_of_a_picture_is_sent_where_it_is_given(picture, detail):
    file = ImagePart(source=MediaSource(path=str(picture)), detail=detail)
    url = ImagePart(source=MediaSource(url="https://h/a.png"), detail=detail)
    assert [part["image_url"]["detail"] for part in content(file, url)] == [detail, detail]
    assert "detail" not in content(image(picture))[0]["image_url"]


def test_the_model_s_detail_is_sent_where_a_picture_has_none_of_its_own(picture):
    file = ImagePart(source=MediaSource(path=str(picture)))
    url = ImagePart(source=MediaSource(url="https://h/a.png"), detail="high")
    assert [part["image_url"]["detail"] for part in content(file, url, image_detail="low")] == ["low", "high"]


def test_a_bitmap_is_sent_as_it_is_only_where_the_data_says_so(tmp_path):
    Image.new("RGB", (8, 4), "red").save(tmp_path / "a.bmp")
    own = MediaSource(path=str(tmp_path / "a.bmp"))
    kept, drawn = content(ImagePart(source=own, keeps_bmp=True), ImagePart(source=own))
    assert data_url(kept) == ("data:image/bmp", (tmp_path / "a.bmp").read_bytes())
    assert data_url(drawn)[0] == "data:image/png"


@pytest.mark.parametrize("cut", [1, 20])
def test_a_broken_bitmap_is_told_though_it_would_be_kept(tmp_path, cut):
    Image.new("RGB", (8, 4), "red").save(tmp_path / "a.bmp")
    (tmp_path / "a.bmp").write_bytes((tmp_path / "a.bmp").read_bytes()[:-cut])
    with pytest.raises(DataError, match=r"a\.bmp"):
        content(ImagePart(source=MediaSource(path=str(tmp_path / "a.bmp")), keeps_bmp=True))


def test_the_format_that_the_data_gives_a_sound_is_sent():
    (part,) = content(AudioPart(source=MediaSource(data=WAV), format="mp3"))
    assert part["input_audio"] == {"data": base64.b64encode(WAV).decode(), "format": "mp3"}


def test_dashscope_gets_a_sound_as_a_data_uri():
    url = "https://dashscope.aliyuncs.com/compatible-mode/v1"
    (part,) = content(AudioPart(source=MediaSource(data=WAV)), url=url)
    assert bytes_of(part["input_audio"]["data"]) == ("data:audio/wav", WAV)


def test_a_sound_that_nobody_fetched_is_told_without_its_password():
    with pytest.raises(DataError, match=r"^https://\*\*\*@h/a\.wav: a sound cannot be sent as a URL"):
        build(AudioPart(source=MediaSource(url="https://u:pw@h/a.wav")))


def test_a_video_file_is_sent_as_its_own_bytes(tmp_path):
    data = MP4 + bytes(range(256)) * 30_000
    (tmp_path / "a.mp4").write_bytes(data)
    file = VideoPart(source=MediaSource(path=str(tmp_path / "a.mp4")), mode="file")
    text, part, last = content("a", file, "b")
    assert (text["text"], last["text"]) == ("a", "b")
    assert part.keys() == {"type", "video_url"}
    assert part["type"] == "video_url"
    assert bytes_of(part["video_url"]["url"]) == ("data:video/mp4", data)


def test_a_long_video_is_several_pieces_of_the_body(tmp_path):
    (tmp_path / "a.mp4").write_bytes(MP4 + bytes(10_000_000))
    pieces = build(VideoPart(source=MediaSource(path=str(tmp_path / "a.mp4")), mode="file"))
    assert max(map(len, pieces)) < 5_000_000


def test_the_rate_of_a_video_travels_beside_it():
    extra = {"fps": 2, "start": 0.0}
    (part,) = content(VideoPart(source=MediaSource(url="https://h/v.mp4"), mode="file", extra=extra))
    assert part == {"type": "video_url", "video_url": {"url": "https://h/v.mp4"}, "fps": 2}


@pytest.mark.parametrize(
    ("mode", "setting", "sent"),
    [("file", None, "video_url"), ("frames", "file", "video_url"), ("frames", None, None), ("file", "frames", None)],
)
def test_the_model_file_decides_before_the_data_set_how_a_video_is_sent(mode, setting, sent):
    part = VideoPart(source=MediaSource(url="https://u:pw@h/v.mp4"), mode=mode)
    if sent is None:
        with pytest.raises(DataError, match=r"^https://\*\*\*@h/v\.mp4: frames cannot be taken from a URL"):
            build(part, video_mode=setting)
    else:
        assert content(part, video_mode=setting)[0]["type"] == sent


def test_a_format_that_the_bytes_contradict_and_an_empty_sound_are_told_once(caplog, tmp_path):
    path = make_video(tmp_path / "a.mp4")
    content(
        AudioPart(source=MediaSource(data=WAV), format="mp3"),
        AudioPart(source=MediaSource(data=WAV), format="mp3"),
        AudioPart(source=MediaSource(data=WAV), format="wav"),
        AudioPart(source=MediaSource(data=EMPTY_WAV, name="one")),
        AudioPart(source=MediaSource(data=EMPTY_WAV, name="two")),
        VideoPart(source=MediaSource(path=str(path)), format="avi", mode="file"),
        VideoPart(source=MediaSource(path=str(path)), format="mov", mode="file"),
    )
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 3
    assert "format says mp3, and the bytes are wav; it is sent as said (told once" in told[0]
    assert told[1].startswith("one: an empty sound, without samples, is sent")
    assert told[2].startswith(f"{path}: format says avi, and the bytes are mp4")


@pytest.mark.parametrize(
    ("extra", "frames"), [({"nframe": 3}, 3), ({"frame_rate": 0.5}, 2), ({"fps": 0.5}, 2), ({}, 3)]
)
def test_the_data_set_may_say_how_many_frames_a_video_is_sent_as(tmp_path, extra, frames):
    path = make_video(tmp_path / "a.mp4")  # of 100 frames and 4 seconds
    part = VideoPart(source=MediaSource(path=str(path)), extra=extra)
    assert len(content(part, max_num_frames=3)) == frames


@pytest.mark.parametrize(
    ("extra", "settings", "frames"),
    [
        ({"frame_rate": 10}, {"max_num_frames": 5}, 5),
        ({"frame_rate": 10}, {"max_num_frames": 16}, 16),
        ({"frame_rate": 10}, {}, 40),
        ({"fps": 10}, {"max_num_frames": 5}, 5),
        ({"fps": 10}, {}, 16),
        ({"fps": 0}, {}, 16),
        ({"fps": 10, "start": 1, "end": 1.3}, {}, 3),
    ],
)
def test_the_most_frames_that_a_model_is_given_bound_a_rate(tmp_path, extra, settings, frames):
    path = make_video(tmp_path / "a.mp4")
    assert len(content(VideoPart(source=MediaSource(path=str(path)), extra=extra), **settings)) == frames


@pytest.mark.parametrize("source", [{"url": "https://u:pw@h/v.mp4"}, {"path": "v.mp4"}, {"data": b"x"}])
@pytest.mark.parametrize("extra", [{"start": 1}, {"end": 2.5}, {"start": 0, "end": 2}])
def test_a_part_of_a_video_is_not_sent_as_the_whole_file(source, extra):
    with pytest.raises(DataError, match=r"only the part from .* a file is sent whole.*video_mode") as caught:
        content(VideoPart(source=MediaSource(**source), mode="file", extra=extra))
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(("key", "sent"), [(None, "max_tokens"), ("max_completion_tokens", "max_completion_tokens")])
def test_the_token_limit_goes_under_the_name_that_the_model_wants(key, sent):
    limits = {name: value for name, value in body("Q?", max_tokens=5, max_tokens_key=key).items() if "max" in name}
    assert limits == {sent: 5}
    assert "max_completion_tokens" not in body("Q?", max_tokens_key=key)
