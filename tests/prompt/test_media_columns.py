"""Media columns and placeholders, as General-VQA and General-VMCQ share them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.errors import DataError
from flagmm.prompt.media_columns import (
    MEDIA,
    MediaCell,
    Piece,
    Reference,
    collect_media,
    has_placeholder,
    is_media_column,
    read_list,
    referenced,
    split_at_media,
)


def values(record, medium, **settings):
    return {number: cell.value for number, cell in collect_media(record, medium, **settings).items()}


@pytest.mark.parametrize("medium", MEDIA)
@pytest.mark.parametrize("number", [1, 2, 99, 100])
def test_indexed_columns_reach_from_1_to_100(medium, number):
    column = f"{medium}_{number}"
    assert collect_media({column: "x"}, medium) == {number: MediaCell(column, "x")}


@pytest.mark.parametrize("column", ["image_0", "image_101", "image_01", "image_-1", "image_", "image1", "Image_1"])
def test_other_columns_are_no_media(column):
    assert collect_media({column: "x"}, "image") == {}


@pytest.mark.parametrize(("medium", "form"), [("video", "mov"), ("audio", "mp3")])
def test_a_format_column_is_the_hint_of_its_medium(medium, form):
    record = {f"{medium}_2": "x", f"{medium}_2_format": form, f"{medium}_1_format": "other"}
    assert collect_media(record, medium) == {2: MediaCell(f"{medium}_2", "x", form)}


@pytest.mark.parametrize("medium", MEDIA)
def test_a_list_column_counts_from_1_and_is_not_capped(medium):
    found = values({f"{medium}s": [f"v{number}" for number in range(1, 304)]}, medium)
    assert (len(found), found[1], found[303]) == (303, "v1", "v303")


def test_the_list_column_leaves_holes_where_cells_are_empty():
    found = collect_media({"image_1": "", "images": ["x.png", "", None, {"path": "z"}]}, "image")
    assert found == {1: MediaCell("images[1]", "x.png"), 4: MediaCell("images[4]", {"path": "z"})}


@pytest.mark.parametrize("cell", ['["a", "b"]', "['a', 'b']", ["a", "b"], ("a", "b")])
def test_a_list_column_may_be_text_that_holds_a_list(cell):
    assert values({"images": cell}, "image") == {1: "a", 2: "b"}


def test_a_dict_may_stand_in_a_text_table_as_json():
    record = {"image_1": '{"path": "a.png"}', "image_2": "{odd name}.png"}
    assert values(record, "image") == {1: {"path": "a.png"}, 2: "{odd name}.png"}


@pytest.mark.parametrize("empty", [None, "", {"bytes": None, "path": None}])
def test_an_empty_cell_is_no_medium(empty):
    assert values({"image_1": empty, "images": ["x"]}, "image") == {1: "x"}


def test_all_numbers_any_filled_indexed_column_makes_the_list_count_for_nothing():
    assert values({"image_7": "seven", "images": ["one", "two"]}, "image") == {7: "seven"}


def test_chosen_numbers_only_their_own_indexed_columns_do():
    record = {"image_1": "indexed", "images": ["one", "two"]}
    assert values(record, "image", numbers={1}) == {1: "indexed"}
    assert values(record, "image", numbers={1, 2}) == {1: "indexed"}
    assert values(record, "image", numbers={2}) == {2: "two"}
    assert values(record, "image", numbers=set()) == {}


def test_what_is_not_asked_for_is_not_looked_at():
    assert values({"images": 7}, "image", numbers=set()) == {}
    assert values({"image_1": "x", "images": 7}, "image") == {1: "x"}


@pytest.mark.parametrize("cell", ["x.png", 7, {"a": 1}, "[1, 2", "[" * 5000])
def test_a_list_column_that_is_no_list_is_an_error(cell):
    with pytest.raises(DataError, match="images: expected a list, found"):
        collect_media({"images": cell}, "image")


def test_media_go_where_their_placeholders_stand():
    media = {"image": {1: "i"}, "video": {2: "v"}, "audio": {1: "a"}}
    split = split_at_media("See <image 1>\n<video_2> and <audio 1>, <image 1>", media)
    assert split.pieces == (
        Piece("text", "See "),
        Piece("image", "i"),
        Piece("video", "v"),
        Piece("text", " and "),
        Piece("audio", "a"),
        Piece("text", ", "),
        Piece("image", "i"),
    )
    assert split.missing == ()


@pytest.mark.parametrize(
    ("placeholder", "reference"),
    [
        ("<image 2>", Reference("image", 2)),
        ("<video 1>", Reference("video", 1)),
        ("<image 0>", Reference("image", 0)),
        ("<image 999999999>", Reference("image", 999999999)),
        (f"<image {'9' * 5000}>", Reference("image", 0)),
    ],
)
def test_a_placeholder_without_a_medium_is_left_out_and_told(placeholder, reference):
    split = split_at_media(f"a {placeholder} b", {"image": {1: "i"}})
    assert split.pieces == (Piece("text", "a "), Piece("text", " b"))
    assert split.missing == (reference,)


@pytest.mark.parametrize(
    "text", ["<image1>", "<Image 1>", "<image  1>", "< image 1>", "<image-1>", "image 1", "<img 1>"]
)
def test_what_only_looks_like_a_placeholder_is_text(text):
    assert not has_placeholder(text)
    assert split_at_media(text, {"image": {1: "i"}}) == ((Piece("text", text),), ())


def test_references_are_gathered_over_all_texts():
    assert referenced(["<image 1><image_3>", "<audio 2> <image 1>"]) == {"image": {1, 3}, "audio": {2}, "video": set()}


@pytest.mark.parametrize(
    ("column", "is_media"),
    [
        ("image_1", True), ("images", True), ("audio_100", True), ("video_3_format", True), ("image_101", True),
        ("image", False), ("image_path", False), ("answer", False), ("video_title", False),
    ],
)  # fmt: skip
def test_media_columns_are_known_by_name(column, is_media):
    assert is_media_column(column) is is_media


@pytest.mark.parametrize("cell", [None, 3, "", "a, b", '{"a": 1}', "'abc'", "[1, 2", "[" * 5000])
def test_what_holds_no_list_is_none(cell):
    assert read_list(cell) is None


TOKENS = ["<image 1>", "<image_2>", "<video 1>", "<audio 3>", "a", " ", "\n", "<", "image 1>", "<image 0>", "é"]


@given(st.lists(st.sampled_from(TOKENS), max_size=12).map("".join))
def test_cutting_loses_nothing_but_white_space_and_what_is_missing(text):
    media = {"image": {1: "<image 1>", 2: "<image_2>"}, "video": {1: "<video 1>"}}
    split = split_at_media(text, media)
    kept = "".join(piece.value for piece in split.pieces)
    without_missing = text.replace("<audio 3>", "").replace("<image 0>", "")
    assert "".join(kept.split()) == "".join(without_missing.split())
    assert len(split.missing) == text.count("<audio 3>") + text.count("<image 0>")


@given(st.text(max_size=60))
def test_any_text_can_be_cut(text):
    split = split_at_media(text, {})
    assert has_placeholder(text) == bool(split.missing)
    if not split.missing:
        assert [piece.value for piece in split.pieces] == ([text] if text.strip() else [])


@given(st.lists(st.none() | st.text(max_size=5) | st.integers(), max_size=8))
def test_a_list_is_the_same_as_json_text(cells):
    assert read_list(json.dumps(cells)) == cells
