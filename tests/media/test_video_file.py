import pytest

from flagmm.errors import DataError
from flagmm.media.video_file import open_video_file
from flagmm.types import MediaSource

MP4 = b"\0\0\0\x18ftypmp42" + bytes(12)
AVI = b"RIFF\x24\0\0\0AVI LIST"


def opened(path, said=None):
    found = open_video_file(MediaSource(path=str(path)), said)
    return found.mime, b"".join(found.blocks)


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        (MP4, "video/mp4"),
        (b"\0\0\0\x18ftypqt  " + bytes(12), "video/quicktime"),
        (AVI, "video/x-msvideo"),
        (b"\0\0\1\xba" + bytes(9), "video/mpeg"),
        (b"\x1aE\xdf\xa3\x9fB\x82\x84webm", "video/webm"),
    ],
)
def test_a_video_is_its_own_bytes_and_its_type_is_what_they_say(tmp_path, data, mime):
    (tmp_path / "a.xyz").write_bytes(data)
    assert opened(tmp_path / "a.xyz") == (mime, data)
    found = open_video_file(MediaSource(data=data))
    assert (found.mime, b"".join(found.blocks)) == (mime, data)


def test_the_format_that_the_data_gives_goes_first(tmp_path):
    (tmp_path / "a").write_bytes(MP4)
    assert opened(tmp_path / "a", "mov")[0] == "video/quicktime"


def test_a_large_file_comes_in_blocks_that_base64_can_be_made_of_one_by_one(tmp_path):
    data = MP4 + bytes(range(256)) * 40_000
    (tmp_path / "a.mp4").write_bytes(data)
    blocks = list(open_video_file(MediaSource(path=str(tmp_path / "a.mp4"))).blocks)
    assert len(blocks) > 2
    assert {len(block) % 3 for block in blocks[:-1]} == {0}
    assert b"".join(blocks) == data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"only words", "is a text, not a video"),
        (b"\x89PNG\r\n\x1a\n" + bytes(20), "is a picture, not a video"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "is a sound, not a video"),
        (bytes(100), "is not a video in a known format"),
        (None, "No such file or directory"),
    ],
)
def test_what_is_no_video_is_an_error_that_names_it(tmp_path, data, message):
    if data is not None:
        (tmp_path / "a.mp4").write_bytes(data)
    with pytest.raises(DataError) as caught:
        opened(tmp_path / "a.mp4")
    assert str(caught.value) == f"{tmp_path / 'a.mp4'}: {message}"
