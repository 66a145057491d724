"""Joining pictures side by side."""

from __future__ import annotations

import pytest
from PIL import Image

from flagmm.common.image_utils import concat_images


def test_pictures_stand_side_by_side_in_their_order():
    joined = concat_images(
        [Image.new("RGB", (3, 2), "red"), Image.new("L", (1, 2), 0), Image.new("RGB", (2, 2), "blue")]
    )
    assert (joined.mode, joined.size) == ("RGB", (6, 2))
    assert [joined.getpixel((x, 1)) for x in (2, 3, 4)] == [(255, 0, 0), (0, 0, 0), (0, 0, 255)]


def test_all_get_the_height_of_the_tallest_and_keep_their_proportions():
    joined = concat_images([Image.new("RGB", (10, 5), "red"), Image.new("RGB", (4, 20), "blue")])
    assert joined.size == (40 + 4, 20)
    assert joined.getpixel((39, 19)) == (255, 0, 0)


def test_transparent_pixels_become_white():
    assert concat_images([Image.new("RGBA", (1, 1), (255, 0, 0, 0))]).getpixel((0, 0)) == (255, 255, 255)


def test_the_given_pictures_stay_as_they_are():
    given = Image.new("RGB", (2, 2), "red")
    given.info["dpi"] = (72, 72)
    concat_images([given, Image.new("RGB", (2, 8))])
    assert (given.size, given.info) == ((2, 2), {"dpi": (72, 72)})


def test_no_pictures_are_refused():
    with pytest.raises(ValueError, match="no pictures"):
        concat_images([])
