import struct

import pytest

from flagmm.errors import DataError
from flagmm.media.audio import EncodedAudio, encode_audio
from flagmm.types import MediaSource

WAV = b"RIFF" + struct.pack("<I", 36) + b"WAVEfmt " + bytes(24)
MP3_FRAME = b"\xff\xfb\x90\x00" + bytes(413)


@pytest.mark.bug_cases("audio_part")
def test_recorded_faults_do_not_come_back(given, expected):
    data = given["bytes"].encode()
    assert encode_audio(MediaSource(data=data)) == EncodedAudio(format=expected["format"], data=data)


@pytest.mark.parametrize(
    ("data", "format_"),
    [
        pytest.param(WAV, "wav", id="wav"),
        pytest.param(b"ID3\x04\0\0\0\0\0\0" + MP3_FRAME, "mp3", id="mp3 with a tag"),
        pytest.param(MP3_FRAME, "mp3", id="mpeg 1 layer III"),
        pytest.param(b"\xff\xf3\x40\xc4", "mp3", id="mpeg 2 layer III"),
        pytest.param(b"\xff\xe3\x40\xc4", "mp3", id="mpeg 2.5 layer III"),
    ],
)
def test_the_format_is_told_by_the_bytes_and_they_are_sent_as_they_are(tmp_path, data, format_):
    path = tmp_path / "sound.ogg"
    path.write_bytes(data)
    assert encode_audio(MediaSource(path=str(path))) == EncodedAudio(format=format_, data=data)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"OggS" + bytes(60), id="ogg"),
        pytest.param(b"fLaC" + bytes(60), id="flac"),
        pytest.param(b"\xff\xf1\x50\x80" + bytes(60), id="aac has the same sync bits"),
        pytest.param(b"\xff\xfd\x90\x00" + bytes(60), id="mpeg layer II"),
        pytest.param(b"\xff\xfb\xf0\x00", id="no such bitrate"),
        pytest.param(b"\xff\xfb\x9c\x00", id="no such sample rate"),
        pytest.param(b"RIFF\x24\0\0\0WEBP", id="a picture"),
        pytest.param(b"RIFF", id="cut off"),
        pytest.param(b"\xff\xfb", id="cut off mp3"),
        pytest.param(b"just text", id="text"),
    ],
)
def test_another_format_is_refused_and_both_known_ones_are_named(tmp_path, data):
    path = tmp_path / "sound.wav"
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"sound\.wav: .*WAV.*MP3"):
        encode_audio(MediaSource(path=str(path)))


@pytest.mark.parametrize("name", ["missing.wav", "folder", "empty.wav"])
def test_nothing_to_read_is_an_error_that_names_the_file(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.wav").touch()
    with pytest.raises(DataError, match=name):
        encode_audio(MediaSource(path=str(tmp_path / name)))


def test_a_url_is_not_read():
    with pytest.raises(ValueError, match=r"http://x/a\.wav"):
        encode_audio(MediaSource(url="http://x/a.wav"))


FORMAT = b"fmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)


def riff(*chunks):
    body = b"WAVE" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(riff(FORMAT, b"data" + bytes(4)), id="a data chunk of no bytes"),
        pytest.param(riff(FORMAT, b"data" + bytes(4), b"LIST" + struct.pack("<I", 4) + b"abcd"), id="and a note"),
        pytest.param(riff(FORMAT), id="no data chunk"),
        pytest.param(riff(FORMAT, b"data" + struct.pack("<I", 800)), id="cut off before the first sample"),
        pytest.param(b"ID3\x04\0\0\0\0\0\x05" + bytes(5), id="an mp3 of a tag alone"),
        pytest.param(b"ID3\x04\0\0\0\0\0\x05" + bytes(500), id="an mp3 of a tag and padding"),
    ],
)
def test_a_sound_without_samples_is_known(tmp_path, data):
    (tmp_path / "a.wav").write_bytes(data)
    assert encode_audio(MediaSource(path=str(tmp_path / "a.wav"))).is_empty


@pytest.mark.parametrize("size", [4, 0xFFFFFFFF, 0])
def test_a_sound_whose_header_does_not_know_its_length_is_not_empty(size):
    data = riff(FORMAT, b"data" + struct.pack("<I", size) + b"\x80\x81\x82\x83")
    if size == 0:
        data += b"\x80" * 16
    assert not encode_audio(MediaSource(data=data)).is_empty
