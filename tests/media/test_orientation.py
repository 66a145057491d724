import struct

import pytest
from hypothesis import given as forall
from hypothesis import strategies as st
from PIL import Image

from flagmm.media.orientation import read_orientation


def exif(order="<", tag=0x0112, kind=3, value=6):
    """An EXIF block whose second entry is the given one."""
    mark = b"II" if order == "<" else b"MM"
    number = struct.pack(order + ("H" if kind == 3 else "I"), value).ljust(4, b"\0")
    entries = struct.pack(f"{order}HHI4s", 0x010F, 2, 4, b"abc\0") + struct.pack(f"{order}HHI4s", tag, kind, 1, number)
    return mark + struct.pack(f"{order}HIH", 42, 8, 2) + entries + bytes(4)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", [3, 4])
@pytest.mark.parametrize("value", range(1, 9))
def test_every_value_is_read_in_both_byte_orders(order, kind, value):
    block = exif(order, kind=kind, value=value)
    assert read_orientation({"exif": block}) == value
    assert read_orientation({"exif": b"Exif\0\0" + block}) == value
    profile = f"\nexif\n {len(block)}\n{block.hex()[:40]}\n{block.hex()[40:]}"
    assert read_orientation({"Raw profile type exif": profile}) == value


def test_what_pillow_writes_is_read():
    written = Image.Exif()
    written[0x0112] = 8
    assert read_orientation({"exif": written.tobytes()}) == 8


@pytest.mark.parametrize(
    "info",
    [
        pytest.param({"XML:com.adobe.xmp": '<x tiff:Orientation="8"/>'}, id="attribute in a PNG"),
        pytest.param({"xmp": b"<tiff:Orientation>8</tiff:Orientation>"}, id="element in a JPEG"),
        pytest.param({"xmp": b'<x tiff:Orientation="8"/>', "exif": exif(tag=1)}, id="EXIF without the tag"),
    ],
)
def test_xmp_is_asked_where_exif_says_nothing(info):
    assert read_orientation(info) == 8


@pytest.mark.parametrize(
    "info",
    [
        {},
        {"exif": b""},
        {"exif": "no bytes"},
        {"exif": b"II*\0\xff\xff\xff\xff"},
        {"exif": exif()[:20]},
        {"exif": exif(value=0)},
        {"exif": exif(value=9)},
        {"exif": exif(kind=2)},
        {"Raw profile type exif": "\nexif\n4\nnot hex"},
        {"xmp": b'tiff:Orientation="0"'},
        {"xmp": 7},
    ],
)
def test_broken_metadata_means_upright(info):
    assert read_orientation(info) == 1


@forall(st.binary(max_size=80))
def test_no_bytes_are_too_broken(data):
    assert read_orientation({"exif": data}) in range(1, 9)
    assert read_orientation({"exif": b"II" + data, "xmp": data}) in range(1, 9)
