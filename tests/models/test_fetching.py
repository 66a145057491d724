"""Media behind URLs put into messages before a model sees them."""

from __future__ import annotations

import asyncio

import pytest

from flagmm.config.model import ModelSpec
from flagmm.errors import ModelError
from flagmm.models.build import build_client
from flagmm.models.client import BaseClient
from flagmm.models.fetching import with_media
from flagmm.types import (
    AudioPart,
    CallSettings,
    ImagePart,
    MediaSource,
    Message,
    ModelOutput,
    TextPart,
    VideoPart,
)
from tests.servers import MockEndpoint, Reply, html_reply

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
MP4 = b"\0\0\0\x18ftypmp42" + bytes(100)
WAV = b"RIFF\x24\0\0\0WAVEfmt " + bytes(28)
FILES = {
    "/a.png": Reply(raw_body=PNG),
    "/b.mp4": Reply(raw_body=MP4),
    "/c.wav": Reply(raw_body=WAV),
    "/page.png": html_reply(),
    "/slow.png": Reply(delay=60),
}


class Recorder(BaseClient):
    """Remembers what it was asked."""

    def __init__(self, *, needs_sounds_as_data=False):
        self.asked = []
        self.needs_sounds_as_data = needs_sounds_as_data

    async def generate(self, messages, settings):
        self.asked.append(messages)
        return ModelOutput(text="A")


@pytest.fixture
def server():
    with MockEndpoint(files=FILES) as endpoint:
        yield endpoint


def part(kind, server, path, **more):
    return kind(source=MediaSource(url=server.url.removesuffix("/v1") + path), **more)


def ask(*parts, client=None, **settings):
    client = client or Recorder()
    spec = ModelSpec(model_name="m", **{"fetch_media": True, "allow_private_media": True, **settings})

    async def run():
        async with with_media(client, spec) as model:
            await model.generate([Message(role="user", content=parts)], CallSettings(question_id="1"))

    asyncio.run(run())
    return client.asked[0][0].content


def test_every_medium_is_fetched_and_the_rest_of_its_part_is_kept(server):
    sent = ask(
        TextPart(text="Q?"),
        part(ImagePart, server, "/a.png", detail="low"),
        part(VideoPart, server, "/b.mp4", mode="file", extra={"fps": 2}),
        part(AudioPart, server, "/c.wav", format="wav"),
    )
    assert sent[0] == TextPart(text="Q?")
    assert [item.source.data for item in sent[1:]] == [PNG, MP4, WAV]
    assert (sent[1].detail, sent[2].mode, sent[2].extra, sent[3].format) == ("low", "file", {"fps": 2}, "wav")
    assert sent[1].source.label.endswith("/a.png")


def test_one_url_is_fetched_once_for_a_question(server):
    ask(*[part(ImagePart, server, "/a.png")] * 3)
    assert len(server.requests) == 1


def test_without_fetch_media_urls_stay_urls(server):
    parts = [part(ImagePart, server, "/a.png"), part(AudioPart, server, "/c.wav")]
    assert list(ask(*parts, fetch_media=False)) == parts
    assert server.requests == []


def test_a_client_that_takes_no_urls_of_sounds_gets_their_bytes(server):
    picture = part(ImagePart, server, "/a.png")
    client = Recorder(needs_sounds_as_data=True)
    sent = ask(picture, part(AudioPart, server, "/c.wav"), client=client, fetch_media=False)
    assert sent[0] == picture
    assert sent[1].source.data == WAV
    assert build_client(ModelSpec(model_name="m", url="http://h/v1")).needs_sounds_as_data


def test_files_and_bytes_are_left_alone(server):
    parts = (ImagePart(source=MediaSource(path="/a.png")), ImagePart(source=MediaSource(data=PNG)))
    assert ask(*parts) == parts


@pytest.mark.parametrize(
    ("kind", "path", "message"),
    [
        (ImagePart, "/page.png", "is a text or web page, not a picture"),
        (ImagePart, "/b.mp4", "is a video, not a picture"),
        (VideoPart, "/a.png", "is a picture, not a video"),
        (AudioPart, "/page.png", "is a text or web page, not a sound"),
        (ImagePart, "/gone.png", "gives HTTP 404"),
    ],
)
def test_something_else_behind_the_url_fails_the_item_and_names_it(server, kind, path, message):
    with pytest.raises(ModelError) as caught:
        ask(part(kind, server, path))
    assert str(caught.value) == f"{server.url.removesuffix('/v1')}{path}: {message}"
    assert (caught.value.kind, caught.value.retryable) == ("media", False)


def test_one_bad_medium_ends_the_fetching_of_the_others(server):
    with pytest.raises(ModelError, match="404"):
        ask(part(ImagePart, server, "/slow.png"), part(ImagePart, server, "/gone.png"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"allow_private_media": False}, "not on the public network"),
        ({"fetch_media_max_bytes": 50}, "larger than 50 bytes"),
        ({"fetch_timeout": 0.2}, "within 0.2 s"),
    ],
)
def test_the_limits_of_the_model_file_are_kept(server, settings, message):
    with pytest.raises(ModelError, match=message):
        ask(part(ImagePart, server, "/slow.png" if "fetch_timeout" in settings else "/a.png"), **settings)
