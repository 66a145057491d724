import base64
import io
import struct
import wave

import numpy
import pytest
from hypothesis import given as forall
from hypothesis import strategies as st
from PIL import Image

from flagmm.errors import DataError
from flagmm.media.audio import encode_audio
from flagmm.media.image import ImageLimits, encode_image
from flagmm.media.places import MediaPlaces
from flagmm.media.values import check_value, media_part
from flagmm.types import AudioPart, ImagePart, MediaSource, VideoPart


def picture(name="PNG"):
    file = io.BytesIO()
    Image.new("RGB", (12, 12), (200, 10, 10)).save(file, name)
    return file.getvalue()


def sound(frames=100):
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(8000)
        out.writeframes(bytes(2 * frames))
    return file.getvalue()


def box(kind, data):
    return struct.pack(">I", 8 + len(data)) + kind + data


PNG, JPEG, WAV = picture(), picture("JPEG"), sound()
MP3 = b"ID3\3\0\0\0\0\0\0\xff\xfb\x10\xc4" + bytes(96)
BARE_MP3 = b"\xff\xfb\x10\xc4" + bytes(96)
MP4 = box(b"ftyp", b"mp42\0\0\0\0mp42isom") + box(b"mdat", bytes(64))
MOV = box(b"ftyp", b"qt  \0\0\0\0qt  ") + box(b"mdat", bytes(64))
AVI = b"RIFF" + struct.pack("<I", 80) + b"AVI LIST" + bytes(72)
MPEG = b"\0\0\1\xba" + bytes(100)
FILES = {"a.png": PNG, "a.jpg": JPEG, "a.wav": WAV, "a.mp3": MP3, "a.mp4": MP4, "a.avi": AVI}


def as_base64(data):
    return base64.b64encode(data).decode()


def as_uri(mime, data):
    return f"data:{mime};base64,{as_base64(data)}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def part_of(value, medium, folder, **more):
    return media_part(value, medium, places=MediaPlaces(folder), **more)


IN_MEMORY = [
    pytest.param("image", as_uri("image/png", PNG), PNG, id="data URI of a picture"),
    pytest.param("image", as_uri("image/jpeg", PNG), PNG, id="data URI with another picture's type"),
    pytest.param("image", as_uri("application/octet-stream", PNG), PNG, id="data URI that leaves it open"),
    pytest.param("image", as_base64(PNG), PNG, id="bare base64 of a PNG"),
    pytest.param("image", as_base64(JPEG), JPEG, id="bare base64 of a JPEG"),
    pytest.param("image", {"bytes": PNG, "path": "gone.png"}, PNG, id="bytes before a path"),
    pytest.param("image", {"bytes": as_base64(PNG)}, PNG, id="bytes as base64"),
    pytest.param("image", {"url": as_uri("image/png", PNG)}, PNG, id="object with url"),
    pytest.param("image", {"image": as_uri("image/png", PNG)}, PNG, id="object with image"),
    pytest.param("image", PNG, PNG, id="bytes"),
    pytest.param("image", bytearray(PNG), PNG, id="bytearray"),
    pytest.param("audio", as_uri("audio/wav", WAV), WAV, id="data URI of a sound"),
    pytest.param("audio", as_uri("audio/x-wav", WAV), WAV, id="another name of the type"),
    pytest.param("audio", as_uri("", WAV), WAV, id="data URI without a type"),
    pytest.param("audio", as_base64(WAV), WAV, id="bare base64 of a WAV"),
    pytest.param("audio", as_base64(MP3), MP3, id="bare base64 of an MP3"),
    pytest.param("audio", as_base64(BARE_MP3), BARE_MP3, id="bare base64 of an MP3 without a tag"),
    pytest.param("audio", {"data": as_base64(WAV), "format": "wav"}, WAV, id="object with data"),
    pytest.param("audio", {"bytes": MP3, "path": None}, MP3, id="HuggingFace, not decoded"),
    pytest.param("video", as_uri("video/mp4", MP4), MP4, id="data URI of a video"),
    pytest.param("video", as_base64(MP4), MP4, id="bare base64 of an MP4"),
    pytest.param("video", as_base64(MOV), MOV, id="bare base64 of a MOV"),
    pytest.param("video", as_base64(AVI), AVI, id="bare base64 of an AVI"),
    pytest.param("video", as_base64(MPEG), MPEG, id="bare base64 of an MPEG"),
    pytest.param("video", {"bytes": MP4}, MP4, id="bytes of a video"),
    pytest.param("video", {"video": as_uri("video/mp4", MP4)}, MP4, id="object with video"),
]


@pytest.mark.parametrize(("medium", "value", "data"), IN_MEMORY)
def test_media_in_the_record_itself_are_read(folder, medium, value, data):
    assert part_of(value, medium, folder).source == MediaSource(data=data)
    check_value(value, medium)


@pytest.mark.parametrize(
    ("medium", "value"),
    [
        ("image", "a.png"),
        ("image", {"path": "a.png", "bytes": None}),
        ("image", {"url": "a.png"}),
        ("video", "a.mp4"),
        ("audio", {"data": "a.wav", "format": "wav"}),
    ],
)
def test_paths_are_found_and_not_opened(folder, medium, value):
    name = value if isinstance(value, str) else next(text for text in value.values() if text)
    (folder / name).chmod(0)
    assert part_of(value, medium, folder).source == MediaSource(path=str(folder / name))


@pytest.mark.parametrize("medium", ["image", "video", "audio"])
@pytest.mark.parametrize("url", ["https://example.com/a?b=c", "HTTP://example.com/a.mp4", "https://u:p@h:8/x"])
def test_urls_stay_urls(folder, medium, url):
    assert part_of(url, medium, folder).source == MediaSource(url=url)
    assert part_of({"url": url}, medium, folder).source == MediaSource(url=url)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P"])
def test_a_pil_image_is_a_picture(folder, mode):
    part = part_of(Image.new(mode, (4, 3)), "image", folder)
    assert encode_image(part.source, ImageLimits()).mime == "image/png"


class KeepsItsFile:
    """As HuggingFace's decoders of videos and sounds are: the file as it was is kept beside."""

    def __init__(self, **encoded):
        self._hf_encoded = encoded


class Decoder:
    """As HuggingFace's decoder of sounds is."""

    class Samples:
        data = numpy.array([[0.0, 0.5, -0.5]])
        sample_rate = 16000

    def get_all_samples(self):
        return self.Samples


def test_decoders_of_huggingface_give_their_file_back(folder):
    assert part_of(KeepsItsFile(bytes=MP4, path=None), "video", folder).source.data == MP4
    assert part_of(KeepsItsFile(bytes=None, path="a.mp4"), "video", folder).source.path == str(folder / "a.mp4")
    assert part_of(KeepsItsFile(bytes=WAV, path=None), "audio", folder).source.data == WAV


def samples_of(part):
    encoded = encode_audio(part.source)
    assert encoded.format == "wav"
    with wave.open(io.BytesIO(encoded.data)) as found:
        values = struct.unpack(f"<{found.getnframes() * found.getnchannels()}h", found.readframes(1 << 20))
        return found.getframerate(), found.getnchannels(), list(values)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(
            {"array": numpy.array([0.0, 1.0, -1.0, 0.5]), "sampling_rate": 8000, "path": "gone.wav"},
            (8000, 1, [0, 32767, -32767, 16384]),
            id="floats",
        ),
        pytest.param({"array": [0.0, 2.0, -2.0], "sampling_rate": 8000}, (8000, 1, [0, 32767, -32767]), id="too loud"),
        pytest.param({"array": [float("nan"), 0.0], "sampling_rate": 8000}, (8000, 1, [0, 0]), id="not a number"),
        pytest.param(
            {"array": numpy.array([1, -2, 3], dtype="int16"), "sampling_rate": 44100},
            (44100, 1, [1, -2, 3]),
            id="int16",
        ),
        pytest.param(
            {"array": numpy.array([[1, 2, 3], [4, 5, 6]], dtype="int16"), "sampling_rate": 8000},
            (8000, 2, [1, 4, 2, 5, 3, 6]),
            id="a row for each channel",
        ),
        pytest.param(
            {"array": numpy.array([[1, 4], [2, 5], [3, 6]], dtype="int16"), "sampling_rate": 8000},
            (8000, 2, [1, 4, 2, 5, 3, 6]),
            id="a column for each channel",
        ),
        pytest.param(Decoder(), (16000, 1, [0, 16384, -16384]), id="decoder"),
    ],
)
def test_a_decoded_sound_becomes_a_wav_file(folder, value, expected):
    assert samples_of(part_of(value, "audio", folder)) == expected


@pytest.mark.parametrize(
    "value",
    [
        {"array": [], "sampling_rate": 8000},
        {"array": [[1.0], [2.0, 3.0]], "sampling_rate": 8000},
        {"array": ["a"], "sampling_rate": 8000},
        {"array": [1.0], "sampling_rate": 0},
        {"array": [1.0], "sampling_rate": "fast"},
        {"array": [1, 2], "sampling_rate": 8000},
        {"array": numpy.zeros((40, 50)), "sampling_rate": 8000},
        {"array": numpy.zeros((2, 2, 2)), "sampling_rate": 8000},
    ],
)
def test_samples_that_are_none_are_refused(folder, value):
    with pytest.raises(DataError, match="decoded sound"):
        part_of(value, "audio", folder)


BAD = [
    pytest.param("image", None, "null", id="null"),
    pytest.param("image", "", "empty", id="empty text"),
    pytest.param("image", " \n", "empty", id="blank text"),
    pytest.param("image", 7, "type int", id="number"),
    pytest.param("image", True, "type bool", id="truth value"),
    pytest.param("image", [1], "type list", id="list"),
    pytest.param("image", {}, "neither 'bytes'", id="empty object"),
    pytest.param("image", {"bytes": None, "path": None}, "neither 'bytes'", id="object of nulls"),
    pytest.param("image", {"bytes": 7}, "neither 'bytes'", id="object with a number"),
    pytest.param("image", {"url": {"url": {"url": "a.png"}}}, "neither 'bytes'", id="nested objects"),
    pytest.param("image", b"", "empty", id="no bytes"),
    pytest.param("image", MP4, "a video, not a picture", id="bytes of a video"),
    pytest.param("image", b"this is not a picture", "a text, not a picture", id="bytes of a text"),
    pytest.param("image", as_base64(WAV), "a sound, not a picture", id="bare base64 of a sound"),
    pytest.param("image", as_uri("video/mp4", MP4), "'video/mp4', not of a picture", id="data URI of a video"),
    pytest.param("image", as_uri("image/png", MP4), "a video, not a picture", id="data URI that lies"),
    pytest.param("image", as_uri("text/html", b"<p>"), "'text/html', not of a picture", id="data URI of a page"),
    pytest.param("image", "data:image/png;base64,@@@", "broken base64", id="broken base64"),
    pytest.param("image", "data:image/png;base64,", "without data", id="no data"),
    pytest.param("image", "data:image/png,%ud800\ud800", "broken characters", id="lone surrogate"),
    pytest.param("image", as_base64(PNG)[:-2] + "...", "broken base64", id="bare base64 cut as in a document"),
    pytest.param("image", "ftp://h/a.png", "no http or https URL", id="another scheme"),
    pytest.param("image", "file:///etc/passwd", "no http or https URL", id="file URL"),
    pytest.param("image", "http:///a.png", "no http or https URL", id="no host"),
    pytest.param("image", "http://[::1", "no http or https URL", id="broken host"),
    pytest.param("video", PNG, "a picture, not a video", id="picture as video"),
    pytest.param("video", bytes(50), "not a video in a known format", id="zeros as video"),
    pytest.param("video", {"path": "a.mp4", "fps": "fast"}, "fps is 'fast'", id="no number of frames"),
    pytest.param("video", {"path": "a.mp4", "start": -1}, "start is '-1'", id="negative time"),
    pytest.param("video", {"path": "a.mp4", "start": 3, "end": 3}, "end 3 is not after start 3", id="empty span"),
    pytest.param("audio", JPEG, "a picture, not a sound", id="picture as sound"),
    pytest.param("audio", bytes(50), "not a sound in a known format", id="zeros as sound"),
    pytest.param("audio", "UklGRiQAAABXQVZFZm10IBAAAA...", "broken base64", id="base64 with dots"),
    pytest.param("video", object(), "type object", id="any object"),
]


@pytest.mark.parametrize(("medium", "value", "message"), BAD)
def test_what_is_no_medium_is_an_error_of_one_short_line(folder, medium, value, message):
    for check in (lambda: part_of(value, medium, folder), lambda: check_value(value, medium)):
        with pytest.raises(DataError) as caught:
            check()
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 400


def test_a_path_is_looked_for_only_where_there_are_places(folder):
    check_value("gone.png", "image")
    check_value("a.png", "image", places=MediaPlaces(folder))
    with pytest.raises(DataError, match="no such file"):
        check_value("gone.png", "image", places=MediaPlaces(folder))
    with pytest.raises(DataError, match="no such file"):
        part_of("gone.png", "image", folder)
    with pytest.raises(DataError, match="--allow-media-root"):
        part_of({"path": "/etc/passwd"}, "image", folder)


@pytest.mark.parametrize(
    ("medium", "hint", "expected"),
    [
        ("video", "avi", "avi"), ("video", "MP4", "mp4"), ("video", " mov ", "mov"), ("video", "mpeg", "mpeg"),
        ("video", None, None), ("video", "", None), ("audio", "mp3", "mp3"), ("audio", "wav", "wav"),
    ],
)  # fmt: skip
def test_a_format_hint_is_kept(folder, medium, hint, expected):
    assert part_of(MP4 if medium == "video" else WAV, medium, folder, hint=hint).format == expected


@pytest.mark.parametrize(("medium", "hint"), [("video", "webm"), ("video", "wav"), ("audio", "flac"), ("audio", 3)])
def test_a_format_that_is_not_known_is_refused(folder, medium, hint):
    for check in (media_part, check_value):
        with pytest.raises(DataError, match=f"format '{hint}' is not known"):
            check(MP4 if medium == "video" else WAV, medium, places=MediaPlaces(folder), hint=hint)


def test_the_format_of_an_object_goes_before_the_hint(folder):
    assert part_of({"bytes": WAV, "format": "wav"}, "audio", folder, hint="mp3").format == "wav"


def test_what_stands_beside_a_medium_is_kept(folder):
    value = {"path": "a.mp4", "start": 0, "end": 2.5, "fps": 2, "note": "x"}
    found = part_of(value, "video", folder, video_mode="frames")
    assert found == VideoPart(
        source=MediaSource(path=str(folder / "a.mp4")), mode="frames", extra={"start": 0, "end": 2.5, "fps": 2}
    )
    assert part_of("a.mp4", "video", folder).mode == "file"
    assert part_of("a.wav", "audio", folder) == AudioPart(source=MediaSource(path=str(folder / "a.wav")))


@pytest.mark.parametrize(
    ("value", "detail", "expected"),
    [
        ("a.png", None, None),
        ("a.png", "high", "high"),
        ({"url": "a.png", "detail": "low"}, "auto", "low"),
        ({"url": "a.png"}, "auto", "auto"),
    ],
)
def test_the_detail_of_a_picture_is_kept(folder, value, detail, expected):
    found = part_of(value, "image", folder, detail=detail)
    assert found == ImagePart(source=MediaSource(path=str(folder / "a.png")), detail=expected, keeps_bmp=True)


@pytest.mark.parametrize("detail", ["ultra", 3])
def test_a_detail_that_is_not_known_is_refused(folder, detail):
    with pytest.raises(DataError, match="low, high, auto"):
        part_of({"url": "a.png", "detail": detail}, "image", folder)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40) | st.binary(max_size=40)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["bytes", "path", "url", "data", "image", "fps", "format"]), inner, max_size=4
        )
    ),
    max_leaves=6,
)


@forall(VALUES, st.sampled_from(["image", "video", "audio"]))
def test_any_value_is_a_part_or_an_error_of_one_line(tmp_path_factory, value, medium):
    places = MediaPlaces(tmp_path_factory.getbasetemp())
    message = ""
    try:
        found = media_part(value, medium, places=places).type
    except DataError as error:
        found, message = medium, str(error)
    assert found == medium
    assert "\n" not in message
