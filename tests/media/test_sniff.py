import io

import pytest
from hypothesis import given as forall
from hypothesis import strategies as st
from PIL import Image

from flagmm.media.sniff import sniff_family, sniff_mime, sniff_video


def ftyp(brand):
    return b"\0\0\0\x18ftyp" + brand + bytes(12)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(ftyp(b"isom"), "mp4", id="mp4"),
        pytest.param(ftyp(b"M4V "), "mp4", id="m4v"),
        pytest.param(ftyp(b"qt  "), "mov", id="mov"),
        pytest.param(b"\0\0\1\0moov" + bytes(20), "mov", id="mov without a brand"),
        pytest.param(b"RIFF\x24\0\0\0AVI LIST", "avi", id="avi"),
        pytest.param(b"\0\0\1\xba" + bytes(20), "mpeg", id="mpeg program stream"),
        pytest.param(b"\0\0\1\xb3" + bytes(20), "mpeg", id="mpeg elementary stream"),
        pytest.param(
            b"\x1aE\xdf\xa3\x9fB\x86\x81\1B\xf7\x81\1B\xf2\x81\4B\xf3\x81\x08B\x82\x84webm", "webm", id="webm"
        ),
        pytest.param(b"\x1aE\xdf\xa3\xa3B\x86\x81\1B\x82\x88matroska", "mkv", id="mkv"),
        pytest.param(b"G" + bytes(187) + b"G" + bytes(187), "ts", id="transport stream"),
        pytest.param(b"FLV\1\5" + bytes(8), "flv", id="flv"),
        pytest.param(ftyp(b"avif"), None, id="avif"),
        pytest.param(ftyp(b"heic"), None, id="heic"),
        pytest.param(ftyp(b"M4A "), None, id="m4a"),
        pytest.param(b"RIFF\x24\0\0\0WAVEfmt ", None, id="wav"),
        pytest.param(b"Get free stuff", None, id="words"),
        pytest.param(b"G" * 400, None, id="a text of the letter G"),
        pytest.param(b"", None, id="nothing"),
    ],
)
def test_containers_of_video_are_told_by_their_first_bytes(data, expected):
    assert sniff_video(data) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(ftyp(b"avif"), "image", id="avif"),
        pytest.param(b"P6 4 4 255\n", "image", id="ppm"),
        pytest.param(ftyp(b"isom"), "video", id="mp4"),
        pytest.param(b"RIFF\x24\0\0\0WAVEfmt ", "audio", id="wav"),
        pytest.param(b"ID3\3\0\0\0\0\0\0", "audio", id="mp3"),
        pytest.param(b"fLaC\0\0\0\x22", "audio", id="flac"),
        pytest.param(b"OggS\0\2" + bytes(22) + b"OpusHead", "audio", id="opus"),
        pytest.param(b"this is not a picture\n", "text", id="text"),
        pytest.param("图片".encode() * 200, "text", id="a text cut inside a character"),
        pytest.param(b"<!DOCTYPE html><html>", "text", id="html"),
        pytest.param(b"ID3 is a tag", "text", id="a text about tags"),
        pytest.param(b"BMW is a brand", "text", id="a text about cars"),
        pytest.param(b"\0\1\2\3", None, id="noise"),
        pytest.param(b"", None, id="nothing"),
    ],
)
def test_the_kind_of_a_medium_is_told_by_its_first_bytes(data, expected):
    assert sniff_family(data) == expected


@pytest.mark.parametrize("name", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "PPM"])
def test_pictures_are_pictures(name):
    file = io.BytesIO()
    Image.new("RGB", (4, 4)).save(file, name)
    assert sniff_family(file.getvalue()) == "image"


@forall(st.binary(max_size=600))
def test_whatever_the_bytes_are_there_is_one_answer(data):
    assert sniff_family(data) in {"image", "video", "audio", "text", None}
    mime = sniff_mime(data)
    assert mime is None or mime.partition("/")[0] == sniff_family(data)
