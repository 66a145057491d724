import base64
import io
import os
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from hypothesis import given as forall
from hypothesis import settings
from hypothesis import strategies as st
from PIL import Image, ImageChops, ImageDraw, ImageOps, ImageStat

from flagmm.errors import ConfigError, DataError
from flagmm.media.image import Fit, ImageLimits, base64_length, encode_image, fit
from flagmm.media.pixels import load, open_lazily
from flagmm.types import MediaSource

NO_LIMITS = ImageLimits()
ORIENTATION = 0x0112


def saved(picture, format_, **options):
    file = io.BytesIO()
    picture.save(file, format_, **options)
    return file.getvalue()


def orientation_exif(value):
    exif = Image.Exif()
    exif[ORIENTATION] = value
    return exif


def noise(size=(120, 90)):
    return Image.effect_noise(size, 80).convert("RGB")


def encode(data, **limits):
    return encode_image(MediaSource(data=data), ImageLimits(**limits))


def opened(encoded):
    picture = Image.open(io.BytesIO(encoded.data))
    picture.load()
    assert Image.MIME[picture.format] == encoded.mime
    return picture


def png(*chunks, width=2, height=1, depth=16, colour=0):
    """A PNG from raw chunks (name, data), the header and the end added."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    framed = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in [(b"IHDR", header), *chunks, (b"IEND", b"")]
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(framed)


def built(recipe):
    """The file that a recorded case describes."""
    fill = recipe["fill"]
    picture = Image.new(recipe["mode"], tuple(recipe["size"]), tuple(fill) if isinstance(fill, list) else fill)
    for box, colour in recipe.get("rect", []):
        ImageDraw.Draw(picture).rectangle(box, fill=tuple(colour))
    options = {"exif": orientation_exif(recipe["exif_orientation"])} if "exif_orientation" in recipe else {}
    return saved(picture, recipe.get("save", "PNG"), **options)


@pytest.mark.bug_cases("image_encode")
def test_recorded_faults_do_not_come_back(tmp_path, given, expected):
    path = tmp_path / given["make"].get("name", "picture")
    path.write_bytes(built(given["make"]))
    limits = ImageLimits(min_short_side=given.get("min_short_side"))
    picture = opened(encode_image(MediaSource(path=str(path)), limits))
    assert picture.size == tuple(expected.get("size", picture.size))
    assert picture.mode == expected.get("mode", picture.mode)
    assert min(picture.size) >= expected.get("min_side_at_least", 0)
    assert ORIENTATION not in picture.getexif()
    for place, condition in expected.get("pixel", {}).items():
        value = picture.getpixel(tuple(int(number) for number in place.split(",")))[0]
        assert value > 200 if condition == ">200" else value < 60, place


@pytest.mark.parametrize(
    ("picture", "format_", "options"),
    [
        pytest.param(noise(), "JPEG", {}, id="jpeg"),
        pytest.param(noise(), "JPEG", {"progressive": True}, id="progressive jpeg"),
        pytest.param(noise().convert("L"), "JPEG", {}, id="grey jpeg"),
        pytest.param(noise(), "JPEG", {"exif": orientation_exif(1)}, id="upright jpeg"),
        pytest.param(noise(), "JPEG", {"exif": b"Exif\0\0II*\0\x08\0\0\0\xff\xff"}, id="jpeg with broken exif"),
        pytest.param(noise(), "PNG", {}, id="png"),
        pytest.param(noise().convert("P"), "PNG", {}, id="palette png"),
        pytest.param(noise().convert("L"), "PNG", {}, id="grey png"),
        pytest.param(noise(), "PNG", {"exif": orientation_exif(1)}, id="upright png"),
        pytest.param(noise(), "WEBP", {}, id="webp"),
        pytest.param(noise(), "WEBP", {"lossless": True}, id="lossless webp"),
        pytest.param(noise(), "GIF", {}, id="still gif"),
    ],
)
def test_a_file_that_apis_take_is_sent_as_its_own_bytes_whatever_its_name(tmp_path, picture, format_, options):
    path = tmp_path / "picture.bmp"
    data = saved(picture, format_, **options)
    path.write_bytes(data)
    limits = ImageLimits(max_bytes=base64_length(len(data)), max_long_side=120, min_short_side=90)
    encoded = encode_image(MediaSource(path=str(path)), limits)
    assert encoded.data == data
    assert encoded.mime == f"image/{format_.lower()}"


def test_a_jpeg_with_a_second_picture_behind_it_is_sent_as_it_is():
    data = saved(noise(), "MPO", save_all=True, append_images=[noise()])
    encoded = encode(data)
    assert (encoded.mime, encoded.data) == ("image/jpeg", data)


def test_junk_behind_a_jpeg_does_no_harm():
    data = saved(noise(), "JPEG") + b"\0" * 5000
    assert encode(data).data == data


@pytest.mark.parametrize("format_", ["PNG", "WEBP", "GIF"])
def test_junk_behind_other_formats_is_removed(format_):
    data = saved(Image.new("RGB", (20, 10), "red"), format_)
    encoded = encode(data + b"junk")
    assert b"junk" not in encoded.data
    assert opened(encoded).convert("RGB").getpixel((10, 5)) == pytest.approx((255, 0, 0), abs=6)


@pytest.mark.parametrize(
    ("picture", "format_", "options"),
    [
        pytest.param(noise().convert("RGBA"), "PNG", {}, id="alpha"),
        pytest.param(noise().convert("LA"), "PNG", {}, id="grey with alpha"),
        pytest.param(noise().convert("P"), "PNG", {"transparency": 0}, id="transparent palette entry"),
        pytest.param(noise().convert("P"), "GIF", {"transparency": 0}, id="transparent gif"),
        pytest.param(Image.new("RGBA", (40, 30), (9, 9, 9, 99)), "WEBP", {}, id="webp with alpha"),
        pytest.param(noise().convert("CMYK"), "JPEG", {}, id="cmyk"),
        pytest.param(noise().convert("I;16"), "PNG", {}, id="16 bits"),
        pytest.param(noise(), "JPEG", {"exif": orientation_exif(8)}, id="turned jpeg"),
        pytest.param(noise(), "PNG", {"exif": orientation_exif(3)}, id="turned png"),
        pytest.param(noise(), "WEBP", {"exif": orientation_exif(6)}, id="turned webp"),
        pytest.param(noise(), "GIF", {"save_all": True, "append_images": [noise()]}, id="moving gif"),
        pytest.param(noise(), "PNG", {"save_all": True, "append_images": [noise()]}, id="moving png"),
        pytest.param(noise(), "WEBP", {"save_all": True, "append_images": [noise()]}, id="moving webp"),
        pytest.param(noise(), "BMP", {}, id="bmp"),
        pytest.param(noise(), "TIFF", {"exif": orientation_exif(6)}, id="turned tiff"),
        pytest.param(noise().convert("LAB"), "TIFF", {}, id="lab"),
        pytest.param(noise(), "JPEG2000", {}, id="jpeg 2000"),
        pytest.param(noise(), "ICO", {"sizes": [(48, 48)]}, id="icon"),
        pytest.param(noise(), "PPM", {}, id="ppm"),
    ],
)
def test_any_other_file_becomes_a_plain_picture(picture, format_, options):
    data = saved(picture, format_, **options)
    encoded = encode(data)
    assert encoded.data != data
    result = opened(encoded)
    assert result.mode == "RGB"
    assert not result.has_transparency_data
    assert not getattr(result, "is_animated", False)
    assert ORIENTATION not in result.getexif()


@pytest.mark.parametrize("value", range(1, 9))
@pytest.mark.parametrize("format_", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_the_exif_orientation_is_applied(format_, value):
    picture = Image.new("RGB", (48, 32), "blue")
    ImageDraw.Draw(picture).rectangle((0, 0, 15, 15), fill="red")
    options = {"exif": orientation_exif(value), **({"lossless": True} if format_ == "WEBP" else {})}
    data = saved(picture, format_, **options)
    upright = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")
    result = opened(encode(data)).convert("RGB")
    assert result.size == upright.size
    corners = [(3, 3), (upright.width - 4, 3), (3, upright.height - 4), (upright.width - 4, upright.height - 4)]
    for corner in corners:
        assert result.getpixel(corner) == pytest.approx(upright.getpixel(corner), abs=12)


@pytest.mark.parametrize(
    ("mode", "values", "expected"),
    [
        pytest.param("I;16", [0, 257, 30000, 65535], [0, 1, 117, 255], id="16 bits"),
        pytest.param("I;16", [40, 40, 40, 40], [0, 0, 0, 0], id="dark 16 bits stay dark"),
        pytest.param("I;16", [65535] * 4, [255] * 4, id="white 16 bits"),
        pytest.param("I", [0, 100, 255, 200], [0, 100, 255, 200], id="32 bits holding 8"),
        pytest.param("I", [-5, 0, 30000, 65535], [0, 0, 117, 255], id="32 bits holding 16"),
        pytest.param("I", [0, 1_000_000, 500_000, 1], [0, 255, 128, 0], id="32 bits holding more"),
        pytest.param("I", [0] * 4, [0] * 4, id="32 bits all black"),
        pytest.param("I", [90] * 4, [90] * 4, id="32 bits all grey"),
        pytest.param("F", [0.0, 99.6, 255.0, -3.0], [0, 100, 255, 0], id="float 8 bits"),
        pytest.param("F", [0.0, 0.5, 1.0, 0.25], [0, 128, 255, 64], id="float 0 to 1"),
        pytest.param("F", [0.0, 65535.0, 30000.0, 257.0], [0, 255, 117, 1], id="float 16 bits"),
        pytest.param("F", [0.0] * 4, [0] * 4, id="float all black"),
        pytest.param("F", [float("nan"), 10.0, 20.0, 30.0], [0, 10, 20, 30], id="float with a hole"),
        pytest.param("F", [float("inf"), 10.0, 20.0, 30.0], [255, 10, 20, 30], id="float without end"),
    ],
)
def test_deep_pictures_are_scaled_to_8_bits(mode, values, expected):
    picture = Image.new(mode, (4, 1))
    for column, value in enumerate(values):
        picture.putpixel((column, 0), value)
    result = opened(encode(saved(picture, "TIFF")))
    assert result.mode == "RGB"
    assert [result.getpixel((column, 0))[0] for column in range(4)] == expected


def test_transparency_of_every_kind_shows_white():
    palette = Image.new("P", (2, 1), 1)
    palette.putpalette([0, 0, 0, 90, 0, 0])
    palette.putpixel((1, 0), 0)
    grey16 = png(
        (b"tRNS", struct.pack(">H", 30000)), (b"IDAT", zlib.compress(b"\0" + struct.pack(">2H", 30001, 30000)))
    )
    colour16 = png(
        (b"tRNS", struct.pack(">3H", 300, 0, 65535)),
        (b"IDAT", zlib.compress(b"\0" + struct.pack(">6H", 0, 0, 0, 300, 0, 65535))),
        colour=2,
    )
    files = {
        "palette index": saved(palette, "PNG", transparency=0),
        "palette bytes": saved(palette, "PNG", transparency=b"\0\xff"),
        "16-bit grey": grey16,
        "16-bit colour": colour16,
    }
    for name, data in files.items():
        result = opened(encode(data))
        assert result.getpixel((1, 0)) == (255, 255, 255), name
        assert result.getpixel((0, 0)) != (255, 255, 255), name


def test_exif_behind_the_pixels_of_a_png_is_obeyed():
    turned = (b"eXIf", orientation_exif(3).tobytes().removeprefix(b"Exif\0\0"))
    data = png((b"IDAT", zlib.compress(b"\0\x00\xff")), turned, depth=8)
    assert [opened(encode(data)).getpixel((column, 0))[0] for column in range(2)] == [255, 0]


def test_16_bits_per_channel_are_not_sent_as_they_are():
    data = png((b"IDAT", zlib.compress(b"\0" + struct.pack(">6H", 0, 30000, 65535, 1, 2, 3))), colour=2)
    encoded = encode(data)
    assert encoded.data[24] == 8
    assert opened(encoded).getpixel((0, 0)) == (0, 117, 255)


def test_metadata_is_left_behind():
    options = {"exif": orientation_exif(8), "comment": b"secret", "icc_profile": b"profile", "dpi": (7, 7)}
    result = opened(encode(saved(noise(), "JPEG", **options)))
    assert {"exif", "comment", "icc_profile"}.isdisjoint(result.info)


def test_half_transparent_is_half_white():
    result = opened(encode(saved(Image.new("RGBA", (2, 2), (0, 0, 0, 128)), "PNG")))
    assert result.getpixel((0, 0))[0] == pytest.approx(127, abs=1)


@pytest.mark.parametrize("format_", ["GIF", "PNG", "WEBP"])
def test_of_a_moving_picture_the_first_frame_is_sent(format_):
    frames = [Image.new("RGB", (16, 16), colour) for colour in ("red", "lime", "blue")]
    result = opened(encode(saved(frames[0], format_, save_all=True, append_images=frames[1:], duration=50)))
    assert result.convert("RGB").getpixel((8, 8)) == pytest.approx((255, 0, 0), abs=6)


@pytest.mark.parametrize(
    ("picture", "format_", "mime"),
    [
        pytest.param(noise((40, 40)), "BMP", "image/png", id="small and lossless stays lossless"),
        pytest.param(Image.new("RGB", (1200, 1000)), "BMP", "image/jpeg", id="large and lossless"),
        pytest.param(noise((40, 40)).convert("CMYK"), "JPEG", "image/jpeg", id="was lossy"),
        pytest.param(Image.new("RGBA", (40, 40)), "WEBP", "image/jpeg", id="webp counts as lossy"),
    ],
)
def test_what_was_lossless_and_is_small_becomes_png_the_rest_jpeg(picture, format_, mime):
    assert encode(saved(picture, format_)).mime == mime


@pytest.mark.parametrize(
    ("size", "limits", "content", "canvas"),
    [
        pytest.param((100, 50), {}, (100, 50), (100, 50), id="no limits"),
        pytest.param((100, 50), {"max_long_side": 100}, (100, 50), (100, 50), id="just long enough"),
        pytest.param((100, 50), {"max_long_side": 60}, (60, 30), (60, 30), id="shrunk"),
        pytest.param((50, 100), {"max_long_side": 60}, (30, 60), (30, 60), id="shrunk, upright"),
        pytest.param((1000, 1), {"max_long_side": 100}, (100, 1), (100, 1), id="never below one pixel"),
        pytest.param((332, 27), {"min_short_side": 28}, (345, 28), (345, 28), id="enlarged"),
        pytest.param((27, 332), {"min_short_side": 28}, (28, 345), (28, 345), id="enlarged, upright"),
        pytest.param((332, 27), {"min_short_side": 28, "max_long_side": 345}, (345, 28), (345, 28), id="just fits"),
        pytest.param((332, 27), {"min_short_side": 28, "max_long_side": 333}, (333, 27), (333, 28), id="padded"),
        pytest.param(
            (27, 332), {"min_short_side": 28, "max_long_side": 300}, (24, 300), (28, 300), id="padded, upright"
        ),
        pytest.param((9, 9), {"min_short_side": 30, "max_long_side": 30}, (30, 30), (30, 30), id="one size allowed"),
        pytest.param((90, 9), {"min_short_side": 30, "max_long_side": 30}, (30, 3), (30, 30), id="a square at most"),
        pytest.param((60_000, 1), {"min_short_side": 28}, (65_500, 1), (65_500, 28), id="JPEG ends at 65500"),
    ],
)
def test_sides_are_brought_within_the_limits(size, limits, content, canvas):
    assert fit(size, ImageLimits(**limits)) == Fit(content=content, canvas=canvas)


@forall(
    st.tuples(st.integers(1, 3000), st.integers(1, 3000)),
    st.none() | st.integers(1, 2000),
    st.none() | st.integers(1, 400),
)
def test_no_size_escapes_the_limits_nor_loses_its_proportions(size, longest, shortest):
    if longest is not None and (shortest or 0) > longest:
        with pytest.raises(ConfigError):
            ImageLimits(max_long_side=longest, min_short_side=shortest)
        return
    found = fit(size, ImageLimits(max_long_side=longest, min_short_side=shortest))
    assert max(found.canvas) <= (longest or 10**9)
    assert min(found.canvas) >= (shortest or 1)
    assert found.content[0] <= found.canvas[0]
    assert found.content[1] <= found.canvas[1]
    assert max(found.content) == max(found.canvas) or longest is None
    scale = max(found.content) / max(size)
    assert abs(min(found.content) - min(size) * scale) <= 1


def test_a_border_is_white_and_leaves_coordinates_alone():
    result = opened(encode(saved(Image.new("RGB", (100, 4), "black"), "PNG"), max_long_side=100, min_short_side=20))
    assert result.size == (100, 20)
    assert result.getpixel((50, 2)) == (0, 0, 0)
    assert result.getpixel((50, 10)) == (255, 255, 255)


def test_a_jpeg_is_shrunk_to_the_exact_size_though_decoded_at_a_fraction():
    data = saved(Image.new("RGB", (1600, 900)), "JPEG", exif=orientation_exif(6))
    assert opened(encode(data, max_long_side=100)).size == (56, 100)


def test_a_jpeg_that_shrinks_loses_nothing_by_being_decoded_at_a_fraction():
    data = saved(noise((804, 603)), "JPEG")
    whole = Image.open(io.BytesIO(data)).resize((201, 151), Image.Resampling.LANCZOS)
    difference = ImageChops.difference(opened(encode(data, max_long_side=201)), whole).convert("L")
    assert ImageStat.Stat(difference).mean[0] < 8


@pytest.mark.parametrize("max_bytes", [30_000, 12_000, 4_000, 1_500, 400, 92])
@pytest.mark.parametrize("format_", ["PNG", "JPEG"])
def test_the_base64_text_is_never_longer_than_allowed(format_, max_bytes):
    encoded = encode(saved(noise((200, 150)), format_), max_bytes=max_bytes)
    assert len(base64.b64encode(encoded.data)) <= max_bytes
    assert min(opened(encoded).size) >= 1


def test_quality_goes_before_size():
    data = saved(noise((200, 150)), "JPEG", quality=95)
    result = opened(encode(data, max_bytes=base64_length(len(data)) * 2 // 3))
    assert result.size == (200, 150)


def test_a_limit_on_bytes_does_not_break_the_one_on_the_short_side():
    encoded = encode(saved(noise((400, 100)), "PNG"), max_bytes=3000, min_short_side=28)
    assert base64_length(len(encoded.data)) <= 3000
    assert min(opened(encoded).size) >= 28


@pytest.mark.parametrize("limits", [{"max_bytes": 91}, {"max_bytes": 300, "min_short_side": 200}])
def test_an_impossible_limit_on_bytes_is_an_error_that_says_so(limits):
    with pytest.raises(DataError, match=f"does not fit into {limits['max_bytes']} bytes"):
        encode(saved(noise((300, 300)), "PNG"), **limits)


@pytest.mark.parametrize("limits", [{"max_bytes": 0}, {"max_long_side": -1}, {"min_short_side": 0}])
def test_limits_below_one_are_refused(limits):
    with pytest.raises(ConfigError, match=next(iter(limits))):
        ImageLimits(**limits)


@pytest.mark.parametrize("keep", [0.05, 0.3, 0.7, 0.95])
@pytest.mark.parametrize("format_", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"])
def test_a_file_cut_off_is_an_error_that_names_it(tmp_path, format_, keep):
    data = saved(noise((300, 200)), format_)
    path = tmp_path / "cut.jpg"
    path.write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(DataError, match=r"cut\.jpg: ") as caught:
        encode_image(MediaSource(path=str(path)), NO_LIMITS)
    assert "\n" not in str(caught.value)


def test_the_end_of_an_embedded_thumbnail_is_not_taken_for_the_end_of_the_picture():
    thumbnail = saved(noise((16, 16)), "JPEG")
    data = saved(noise((150, 150)), "JPEG", exif=b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0" + thumbnail)
    assert encode(data).data == data
    with pytest.raises(DataError, match="truncated"):
        encode(data[: len(data) * 3 // 4])


@pytest.mark.parametrize("name", ["missing.jpg", "folder.jpg", "empty.jpg", "text.jpg", "pipe.jpg"])
def test_what_is_no_picture_is_an_error_of_one_line_that_names_it(tmp_path, name):
    (tmp_path / "folder.jpg").mkdir()
    (tmp_path / "empty.jpg").touch()
    (tmp_path / "text.jpg").write_text("just a text\n" * 100)
    os.mkfifo(tmp_path / "pipe.jpg")
    with pytest.raises(DataError) as caught:
        encode_image(MediaSource(path=str(tmp_path / name)), NO_LIMITS)
    assert str(caught.value).startswith(f"{tmp_path / name}: ")
    assert "\n" not in str(caught.value)


def test_a_line_break_in_a_name_does_not_break_the_message(tmp_path):
    with pytest.raises(DataError) as caught:
        encode_image(MediaSource(path=str(tmp_path / "a\nb.jpg")), NO_LIMITS)
    assert "a\\nb.jpg" in str(caught.value)


@pytest.mark.parametrize("source", [MediaSource(url="http://x/a.png"), MediaSource()])
def test_only_files_and_bytes_are_encoded(source):
    with pytest.raises(ValueError, match="only a file or bytes"):
        encode_image(source, NO_LIMITS)


def test_a_picture_that_would_fill_the_memory_is_refused_from_its_header():
    data = png((b"IDAT", zlib.compress(b"")), width=20_000, height=20_000, depth=8)
    with pytest.raises(DataError, match="20000x20000 pixels"):
        encode(data)


def test_a_picture_that_would_be_enlarged_beyond_memory_is_refused():
    with pytest.raises(DataError, match="pixels"):
        encode(saved(Image.new("L", (10, 30)), "PNG"), min_short_side=20_000)


def test_a_very_large_picture_below_that_is_sent_without_a_warning():
    data = saved(Image.new("1", (9500, 9500)), "PNG")
    assert encode(data).data == data


def test_a_very_large_picture_below_that_is_decoded_without_a_warning():
    picture = open_lazily(saved(Image.new("1", (9500, 9500)), "TIFF"))
    load(picture)
    assert picture.getpixel((9499, 9499)) == 0


def test_threads_do_not_disturb_each_other():
    files = [saved(noise((60 + number, 40)), format_) for number in range(6) for format_ in ("JPEG", "BMP", "TIFF")]
    limits = ImageLimits(max_long_side=50)
    alone = [encode_image(MediaSource(data=data), limits) for data in files]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda data: encode_image(MediaSource(data=data), limits), files))
    assert together == alone


MODES_OF = {
    "PNG": ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"],
    "JPEG": ["L", "RGB", "CMYK"],
    "WEBP": ["RGB", "RGBA"],
    "GIF": ["1", "L", "P", "RGB", "RGBA"],
    "BMP": ["1", "L", "P", "RGB", "RGBA"],
    "TIFF": ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "LAB", "I;16", "I", "F"],
}
kinds = st.sampled_from([(format_, mode) for format_, modes in MODES_OF.items() for mode in modes])
limits_of_all_kinds = st.builds(
    ImageLimits,
    max_bytes=st.none() | st.integers(2000, 20_000),
    max_long_side=st.none() | st.integers(40, 120),
    min_short_side=st.none() | st.integers(1, 40),
)


@settings(max_examples=150, deadline=None)
@forall(kinds, st.tuples(st.integers(1, 90), st.integers(1, 90)), st.integers(1, 8), limits_of_all_kinds)
def test_every_picture_keeps_to_the_limits_and_passes_unchanged_a_second_time(kind, size, turn, limits):
    format_, mode = kind
    picture = Image.linear_gradient("L").resize(size)
    picture = picture if mode == "L" else picture.convert("RGB") if mode == "LAB" else picture.convert(mode)
    picture = picture.convert(mode)
    options = {"exif": orientation_exif(turn)} if format_ in ("PNG", "JPEG", "WEBP", "TIFF") else {}
    encoded = encode_image(MediaSource(data=saved(picture, format_, **options)), limits)
    result = opened(encoded)
    assert not result.has_transparency_data
    assert ORIENTATION not in result.getexif() or result.getexif()[ORIENTATION] == 1
    assert limits.hold_bytes(len(encoded.data))
    assert limits.hold_size(result.size)
    assert encode_image(MediaSource(data=encoded.data), limits) == encoded


whole_files = [
    saved(noise((40, 30)), format_) for format_ in ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "ICO", "PPM")
]


@settings(max_examples=300, deadline=None)
@forall(
    st.sampled_from(whole_files), st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=4)), max_size=4), st.data()
)
def test_damaged_files_give_a_picture_or_a_data_error(data, changes, draw):
    damaged = bytearray(data)
    for place, patch in changes:
        start = int(place * len(damaged))
        damaged[start : start + len(patch)] = patch
    end = draw.draw(st.integers(0, len(damaged)))
    with suppress(DataError):
        assert encode_image(MediaSource(data=bytes(damaged[:end])), ImageLimits(max_long_side=64)).data
