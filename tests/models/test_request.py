"""The hash by which resume and the reply cache know a call again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flagmm.config.dump import fingerprint
from flagmm.config.model import ModelSpec
from flagmm.models.request import request_hash
from flagmm.types import AudioPart, ImagePart, MediaIdentity, MediaSource, Message, TextPart, VideoPart
from tests.core_cases import core_cases

IDENTITY = MediaIdentity(size=3, mtime_ns=5, digest="aa")
PICTURE = MediaSource(path="/a.png", identity=IDENTITY)


def user(*parts):
    return Message(role="user", content=tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts))


def hash_of(*parts, settings="f", repeat=0):
    return request_hash(settings, [user(*parts)], repeat)


BASE = ("Q?", ImagePart(source=PICTURE))


def picture(**changes):
    return ImagePart(source=replace(PICTURE, **changes))


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(hash_of("Q!", BASE[1]), id="text"),
        pytest.param(hash_of("Q?", picture(identity=replace(IDENTITY, digest="ab"))), id="picture's content"),
        pytest.param(hash_of(BASE[1], "Q?"), id="order"),
        pytest.param(hash_of("Q", "?", BASE[1]), id="parts"),
        pytest.param(hash_of("Q?"), id="no picture"),
        pytest.param(hash_of(*BASE, BASE[1]), id="picture twice"),
        pytest.param(hash_of("Q?", VideoPart(source=PICTURE)), id="video"),
        pytest.param(hash_of("Q?", AudioPart(source=PICTURE)), id="sound"),
        pytest.param(hash_of("Q?", ImagePart(source=MediaSource(url="http://h/aa"))), id="URL"),
        pytest.param(hash_of(*BASE, settings="g"), id="settings"),
        pytest.param(hash_of(*BASE, repeat=1), id="repetition"),
        pytest.param(request_hash("f", [replace(user(*BASE), role="system")], 0), id="role"),
        pytest.param(request_hash("f", [replace(user(*BASE), extra={"name": "Ann"})], 0), id="another key"),
        pytest.param(request_hash("f", [user(*BASE), user("Q?")], 0), id="messages"),
    ],
)
def test_whatever_decides_an_answer_changes_the_hash(other):
    assert other != hash_of(*BASE)


@pytest.mark.parametrize("change", [{"path": "/b.png"}, {"identity": replace(IDENTITY, mtime_ns=6)}])
def test_a_moved_or_touched_picture_is_the_same(change):
    assert hash_of("Q?", picture(**change)) == hash_of(*BASE)


def test_text_and_its_neighbours_are_not_run_together():
    assert hash_of('a"], ["text", "b') != hash_of("a", "b")


def test_a_hash_is_short_and_takes_any_text():
    found = hash_of("\ud800 图")
    assert len(found) == 32
    assert set(found) <= set("0123456789abcdef")


def test_the_hash_is_the_same_in_every_process():
    # Saved answers carry it: a change here asks every question of every old results folder again.
    assert hash_of(*BASE) == "9e2bac055b82d7ec2cd1c1a5a022fa5f"


EVERY_KIND = (
    *BASE,
    VideoPart(source=PICTURE),
    AudioPart(source=PICTURE),
    ImagePart(source=MediaSource(url="http://h/a")),
)


def test_what_a_medium_does_not_say_leaves_old_hashes_as_they_were():
    assert hash_of(*EVERY_KIND) == "4354bde87b0bbacaf08db6a5f952bff4"
    said = VideoPart(source=PICTURE, format=None, mode="frames", extra={})
    assert hash_of(said) == hash_of(VideoPart(source=PICTURE))


@pytest.mark.parametrize(
    ("plain", "other"),
    [
        pytest.param(BASE[1], replace(BASE[1], detail="low"), id="detail"),
        pytest.param(replace(BASE[1], detail="high"), replace(BASE[1], detail="low"), id="another detail"),
        pytest.param(BASE[1], replace(BASE[1], keeps_bmp=True), id="bitmaps kept"),
        pytest.param(AudioPart(source=PICTURE), AudioPart(source=PICTURE, format="wav"), id="format of a sound"),
        pytest.param(VideoPart(source=PICTURE), VideoPart(source=PICTURE, format="avi"), id="format of a video"),
        pytest.param(VideoPart(source=PICTURE), VideoPart(source=PICTURE, mode="file"), id="mode of a video"),
        pytest.param(VideoPart(source=PICTURE), VideoPart(source=PICTURE, extra={"start": 0}), id="part of a video"),
    ],
)
def test_what_a_medium_says_beside_its_content_changes_the_hash(plain, other):
    assert hash_of(plain) != hash_of(other)


def test_the_order_in_which_a_video_says_it_does_not_matter():
    there, back = {"fps": 2, "start": 1}, {"start": 1, "fps": 2}
    assert hash_of(VideoPart(source=PICTURE, extra=there)) == hash_of(VideoPart(source=PICTURE, extra=back))


def test_media_must_be_identified_first():
    with pytest.raises(ValueError, match=r"^/a\.png: not identified yet$"):
        hash_of(picture(identity=None))


def key_of(request):
    spec = ModelSpec(model_name=request["model"], url=request["url"], **request["params"])
    messages = [Message(role=item["role"], content=(TextPart(text=item["content"]),)) for item in request["messages"]]
    return request_hash(fingerprint(spec), messages, 0)


@pytest.mark.parametrize(("given", "expected"), core_cases("cache_key_equal"))
def test_recorded_requests_share_a_key_or_not(given, expected):
    assert (key_of(given["a"]) == key_of(given["b"])) is expected
