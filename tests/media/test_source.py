import base64
import io
from pathlib import Path

import pytest
from hypothesis import given as forall
from hypothesis import strategies as st
from PIL import Image

from flagmm.errors import DataError
from flagmm.media.image import ImageLimits, encode_image
from flagmm.media.source import DataUri, parse_data_uri, to_source
from flagmm.types import MediaSource


def picture_bytes(format_="PNG", size=(4, 4)):
    file = io.BytesIO()
    Image.new("RGB", size, (200, 10, 10)).save(file, format_)
    return file.getvalue()


def as_base64(data):
    return base64.b64encode(data).decode()


@pytest.mark.bug_cases("data_uri_parse")
def test_recorded_data_uris_are_read(given, expected):
    found = parse_data_uri(given["uri"])
    assert found == DataUri(mime=expected["mime"], data=base64.b64decode(expected["base64"]))
    assert to_source(given["uri"], root="/data") == MediaSource(data=found.data)


@pytest.mark.bug_cases("hf_image")
def test_recorded_huggingface_values_are_read(tmp_path, given, expected):
    (tmp_path / "four.png").write_bytes(picture_bytes())
    stand_ins = {
        "<png 4x4>": picture_bytes(),
        "<file png 4x4>": "four.png",
        "<PIL RGB 4x4>": Image.new("RGB", (4, 4)),
    }
    value = given["value"]
    value = {k: stand_ins.get(v, v) for k, v in value.items()} if isinstance(value, dict) else stand_ins.get(value)
    if expected.get("no_image"):
        with pytest.raises(DataError):
            to_source(value, root=str(tmp_path))
        return
    encoded = encode_image(to_source(value, root=str(tmp_path)), ImageLimits())
    assert list(Image.open(io.BytesIO(encoded.data)).size) == expected["saved_size"]


@pytest.mark.parametrize(
    ("value", "root", "expected"),
    [
        pytest.param("images/a b.png", "/data", "/data/images/a b.png", id="relative to the root"),
        pytest.param("a.png", None, "a.png", id="without a root"),
        pytest.param("/abs/a.png", "/data", "/abs/a.png", id="absolute"),
        pytest.param("~/a.png", "/data", str(Path.home() / "a.png"), id="home"),
        pytest.param("~draft.png", "/data", "/data/~draft.png", id="a tilde that is no home"),
        pytest.param(Path("a.png"), "/data", "/data/a.png", id="a Path"),
        pytest.param({"path": "a.png", "bytes": None}, "/data", "/data/a.png", id="HuggingFace, path only"),
        pytest.param("/9j/4AAQ.jpg", "/data", "/9j/4AAQ.jpg", id="a path that begins like a JPEG in base64"),
        pytest.param("/9j/4AAQ", "/data", "/9j/4AAQ", id="the same without a suffix"),
        pytest.param("图片/猫.png", "/data", "/data/图片/猫.png", id="other scripts"),
        pytest.param("database:x.png", "/data", "/data/database:x.png", id="no data URI"),
    ],
)
def test_paths_start_at_the_root(value, root, expected):
    assert to_source(value, root=root) == MediaSource(path=expected)


@pytest.mark.parametrize("url", ["http://x.org/a.png", "https://x.org/a.png?b=c", "HTTPS://x.org/a.png"])
def test_urls_stay_urls(url):
    assert to_source(url, root="/data") == MediaSource(url=url)


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview], ids=["bytes", "bytearray", "memoryview"])
def test_bytes_are_taken_as_they_are(wrap):
    assert to_source(wrap(b"abc"), root=None) == MediaSource(data=b"abc")


def test_bytes_win_over_the_path_in_a_huggingface_value():
    assert to_source({"bytes": b"abc", "path": "a.png"}, root=None) == MediaSource(data=b"abc")


@pytest.mark.parametrize("format_", ["PNG", "JPEG", "GIF", "WEBP"])
def test_the_bare_base64_of_a_picture_is_read(format_):
    data = picture_bytes(format_, size=(16, 16))
    assert to_source(as_base64(data), root="/data") == MediaSource(data=data)
    assert parse_data_uri(as_base64(data)).mime == f"image/{format_.lower()}"


@pytest.mark.parametrize(
    ("uri", "mime", "data"),
    [
        pytest.param("data:image/png;base64,QUJD", "image/png", b"ABC", id="plain"),
        pytest.param("DATA:Image/PNG;BASE64,QUJD", "image/png", b"ABC", id="capitals"),
        pytest.param("data:audio/wav;codecs=1;base64,QUJD", "audio/wav", b"ABC", id="parameters"),
        pytest.param("data:image/png;base64,QU\nJD\n", "image/png", b"ABC", id="line breaks"),
        pytest.param("data:image/png;base64,QUI", "image/png", b"AB", id="padding left out"),
        pytest.param("data:image/png;base64,QUI%3D", "image/png", b"AB", id="percent encoding"),
        pytest.param("data:image/png;base64,-_8=", "image/png", b"\xfb\xff", id="URL-safe alphabet"),
        pytest.param("data:image/svg+xml,%3Csvg/%3E", "image/svg+xml", b"<svg/>", id="no base64"),
        pytest.param("data:;base64,iVBORw0KGgo=", "image/png", b"\x89PNG\r\n\x1a\n", id="type told by the bytes"),
        pytest.param("data:,abc", "text/plain", b"abc", id="no type at all"),
    ],
)
def test_data_uris_are_read(uri, mime, data):
    assert parse_data_uri(uri) == DataUri(mime=mime, data=data)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(None, id="null"),
        pytest.param("", id="empty text"),
        pytest.param("  \n", id="blank text"),
        pytest.param(b"", id="empty bytes"),
        pytest.param({}, id="empty mapping"),
        pytest.param({"bytes": None, "path": None}, id="mapping of nulls"),
        pytest.param({"bytes": 7}, id="mapping with a number"),
        pytest.param(7, id="number"),
        pytest.param(["a.png"], id="list"),
        pytest.param("data:image/png;base64,@@@", id="no base64"),
        pytest.param("data:image/png;base64,QUJDR", id="base64 cut off"),
        pytest.param("data:image/png;base64,", id="no data"),
        pytest.param("data:image/png", id="no comma"),
        pytest.param("iVBORw0KGgo!!!!", id="broken bare base64"),
        pytest.param("x" * 100_000, id="an endless name"),
        pytest.param("a\0.png", id="a name that no file can have"),
    ],
)
def test_what_stands_for_no_medium_is_an_error_of_one_short_line(value):
    with pytest.raises(DataError) as caught:
        to_source(value, root="/data")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("text", ["hello", "aGVsbG8gd29ybGQ=", "data;image/png;base64,QUJD"])
def test_text_that_is_neither_uri_nor_picture_is_refused(text):
    with pytest.raises(DataError):
        parse_data_uri(text)


@forall(st.binary(min_size=1), st.booleans(), st.booleans(), st.integers(1, 80))
def test_base64_survives_every_usual_way_of_writing_it(data, url_safe, padded, width):
    text = (base64.urlsafe_b64encode if url_safe else base64.b64encode)(data).decode()
    text = text if padded else text.rstrip("=")
    lines = "\n".join(text[start : start + width] for start in range(0, len(text), width))
    assert parse_data_uri(f"data:image/png;base64,{lines}").data == data


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "CMYK", "HSV", "YCbCr", "I;16", "I", "F"])
def test_a_pil_picture_of_any_mode_becomes_a_png_and_is_left_as_it_was(mode):
    picture = Image.new(mode, (5, 3))
    picture.info["note"] = "mine"
    found = to_source(picture, root=None)
    with Image.open(io.BytesIO(found.data)) as saved:
        assert (saved.format, saved.size) == ("PNG", (5, 3))
    assert (picture.mode, picture.size, picture.info) == (mode, (5, 3), {"note": "mine"})


def test_a_pil_picture_is_stored_upright():
    file = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (24, 16)).save(file, "JPEG", exif=exif)
    found = to_source(Image.open(file), root=None)
    with Image.open(io.BytesIO(found.data)) as saved:
        assert saved.size == (16, 24)
        assert 0x0112 not in saved.getexif()


def test_a_pil_picture_that_cannot_be_decoded_is_an_error():
    with pytest.raises(DataError, match="PIL image"):
        to_source(Image.open(io.BytesIO(picture_bytes("JPEG", (64, 64))[:-40])), root=None)
