import re
import time

import pytest
from hypothesis import given as forall
from hypothesis import strategies as st

from flagmm.errors import DataError
from flagmm.media.placeholders import split_placeholders
from flagmm.types import ImagePart, MediaSource, TextPart


def images(count):
    return [MediaSource(path=f"{number}.png") for number in range(1, count + 1)]


def shown(parts):
    """Parts as a list of texts, an image as IMGk."""
    return [
        part.text if isinstance(part, TextPart) else f"IMG{part.source.path.removesuffix('.png')}" for part in parts
    ]


@pytest.mark.bug_cases("placeholder_parse")
def test_recorded_faults_do_not_come_back(given, expected):
    if "error" in expected:
        with pytest.raises(DataError):
            split_placeholders(given["text"], images(given["num_images"]))
    else:
        assert shown(split_placeholders(given["text"], images(given["num_images"]))) == expected["parts"]


@pytest.mark.parametrize(
    ("text", "count", "expected"),
    [
        pytest.param("", 0, [], id="nothing at all"),
        pytest.param("  keep me \n", 0, ["  keep me \n"], id="text alone is unchanged"),
        pytest.param("<image_2> or <image 1>?", 2, ["IMG2", " or ", "IMG1", "?"], id="both spellings, any order"),
        pytest.param("<image 1>\n <image 2>", 2, ["IMG1", "IMG2"], id="blank pieces are dropped"),
        pytest.param("<image 1><image 1>", 1, ["IMG1", "IMG1"], id="a token twice sends the image twice"),
        pytest.param("See <image 2>", 3, ["See ", "IMG2", "IMG1", "IMG3"], id="unmentioned images come last"),
        pytest.param("", 2, ["IMG1", "IMG2"], id="images without text"),
        pytest.param("<image 01>", 1, ["IMG1"], id="leading zero"),
        pytest.param("<Image 1> <image1> <image  1>", 1, ["<Image 1> <image1> <image  1>", "IMG1"], id="not tokens"),
        pytest.param("<image ١>", 1, ["<image ١>", "IMG1"], id="digits of other scripts are text"),
        pytest.param("<image 12>", 12, ["IMG12", *(f"IMG{n}" for n in range(1, 12))], id="two digits"),
    ],
)
def test_images_stand_where_their_tokens_stood(text, count, expected):
    assert shown(split_placeholders(text, images(count))) == expected


@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize("token", ["<image 0>", "<image_3>", "<image 999999999>", f"<image {'9' * 5000}>"])
def test_a_token_without_its_image_is_an_error_that_names_both(token, count):
    with pytest.raises(DataError) as caught:
        split_placeholders(f"Look at {token}!", images(count))
    assert token[:40] in str(caught.value)
    assert f"{count} image" in str(caught.value)
    assert len(str(caught.value)) < 120


def test_ten_thousand_tokens_take_linear_time():
    text = "".join(f"word <image {number}>" for number in range(1, 10_001))
    sources = images(10_000)
    start = time.perf_counter()
    parts = split_placeholders(text, sources)
    assert time.perf_counter() - start < 20
    assert len(parts) == 20_000


pieces = st.lists(st.one_of(st.integers(1, 5), st.text("ab <>image_1\n", max_size=12)), max_size=12)


@forall(pieces, st.integers(5, 7))
def test_text_is_kept_and_every_image_is_sent(pieces, count):
    text = "".join(f"<image {piece}>" if isinstance(piece, int) else piece for piece in pieces)
    between = re.split(r"<image[ _][0-9]+>", text)
    if any(int(number) not in range(1, count + 1) for number in re.findall(r"<image[ _]([0-9]+)>", text)):
        with pytest.raises(DataError):
            split_placeholders(text, images(count))
        return
    sources = images(count)
    parts = split_placeholders(text, sources)
    assert [part.text for part in parts if isinstance(part, TextPart)] == [piece for piece in between if piece.strip()]
    sent = [part.source for part in parts if isinstance(part, ImagePart)]
    asked = [sources[int(number) - 1] for number in re.findall(r"<image[ _]([0-9]+)>", text)]
    assert sent == asked + [source for source in sources if source not in asked]
