"""What process.py files share: pictures written as they are, texts that hold lists, picture tokens put in order."""

from __future__ import annotations

import io
import json

import datasets
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mmengine.config import ConfigDict
from PIL import Image

from flagmm.dataset.conversion import (
    Conversion,
    accepted_answers,
    literal_list,
    option_letter,
    option_list,
    place_images,
)
from flagmm.errors import DataError
from flagmm.media.placeholders import split_placeholders
from flagmm.types import ImagePart, MediaSource


def encoded(colour: str, suffix: str = "PNG", mode: str = "RGB") -> bytes:
    file = io.BytesIO()
    Image.new(mode, (4, 4), colour).save(file, suffix)
    return file.getvalue()


@pytest.fixture
def conversion(tmp_path):
    return Conversion(ConfigDict(dataset_path="none", split="test", processed_dataset_path=str(tmp_path / "made")))


def read(conversion, path="data.json"):
    return (conversion.folder / path).read_bytes()


def test_items_have_text_ids_and_no_empty_fields(conversion):
    with conversion as out:
        out.add(question_id=7, question="Why?", answer=None, options=[], level=0)
    assert json.loads(read(conversion)) == [{"question_id": "7", "question": "Why?", "options": [], "level": 0}]


def test_nothing_is_written_when_the_block_raises(conversion):
    with pytest.raises(ZeroDivisionError), conversion as out:
        out.add(question_id=1 // 0)
    assert not (conversion.folder / "data.json").exists()


@pytest.mark.parametrize(
    ("data", "suffix"),
    [
        pytest.param(encoded("red"), "png", id="PNG"),
        pytest.param(encoded("red", "PNG", "RGBA"), "png", id="PNG with alpha"),
        pytest.param(encoded("red", "JPEG"), "jpg", id="JPEG"),
        pytest.param(encoded("red", "WEBP"), "webp", id="WebP"),
        pytest.param(encoded("red", "GIF", "P"), "gif", id="GIF"),
        pytest.param(encoded("red", "BMP"), "bmp", id="BMP"),
        pytest.param(encoded("red", "TIFF"), "tiff", id="TIFF"),
    ],
)
def test_pictures_are_stored_byte_for_byte_whatever_their_name_says(conversion, data, suffix):
    with conversion as out:
        path = out.image({"bytes": data, "path": "picture.jpeg"}, "a")
    assert path == f"img/a.{suffix}"
    assert read(conversion, path) == data


def test_a_picture_that_cannot_be_opened_is_named(conversion):
    with pytest.raises(DataError, match="picture 'a': cannot be opened"), conversion as out:
        out.image(b"no picture at all", "a")


def test_the_same_picture_is_stored_once_and_another_of_its_name_beside_it(conversion):
    red, green = encoded("red"), encoded("green")
    with conversion as out:
        paths = [out.image(data, "a") for data in (red, green, red, green)]
    assert paths == ["img/a.png", "img/a_2.png"] * 2
    assert (read(conversion, paths[0]), read(conversion, paths[1])) == (red, green)


def test_pictures_without_a_name_are_named_by_their_content(conversion):
    with conversion as out:
        paths = [out.image(encoded(colour)) for colour in ("red", "green", "red")]
    assert paths[0] == paths[2] != paths[1]


def test_names_with_slashes_stay_apart(conversion):
    with conversion as out:
        paths = {out.image(encoded("red"), name) for name in ("a/b", "a_b")}
    assert len(paths) == 2


def test_numbered_pictures_are_found_by_their_columns(conversion):
    row = {"image_10": encoded("red"), "image_2": encoded("green"), "image_3": None, "image": encoded("blue")}
    with conversion as out:
        assert out.numbered_images(row, "q") == {2: "img/q_2.png", 10: "img/q_10.png"}


def write_parquet(folder, number):
    folder.mkdir(parents=True)
    datasets.Dataset.from_list([{"number": number}]).to_parquet(str(folder / "test-00000-of-00001.parquet"))


@pytest.fixture
def two_configs(tmp_path, monkeypatch):
    """A data set with the configs "b (1)" and "a", listed in its card as the hub's are."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf")
    source = tmp_path / "source"
    write_parquet(source / "one", 1)
    write_parquet(source / "two", 2)
    files = "\n".join(
        f"- config_name: {name}\n  data_files:\n  - split: test\n    path: {folder}/test-*"
        for name, folder in (("b (1)", "one"), ("a", "two"))
    )
    (source / "README.md").write_text(f"---\nconfigs:\n{files}\n---\n")
    return ConfigDict(dataset_path=str(source), split="test", processed_dataset_path=str(tmp_path / "made"))


def test_all_configs_are_read_one_after_the_other(two_configs):
    out = Conversion(two_configs)
    assert out.configs() == ["b (1)", "a"]
    assert [row for config in out.configs() for row in out.rows(config)] == [{"number": 1}, {"number": 2}]


def test_the_config_of_the_task_is_read_alone(two_configs):
    out = Conversion(ConfigDict(two_configs, dataset_name="a"))
    assert out.configs() == ["a"]
    assert list(out.rows()) == [{"number": 2}]
    assert out.folder.parts[-2:] == ("a", "test")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("['a', 'b']", ["a", "b"], id="Python"),
        pytest.param('["a", "b"]', ["a", "b"], id="JSON"),
        pytest.param("('a', 2)", ["a", 2], id="tuple"),
        pytest.param("[]", [], id="none"),
        pytest.param(["a"], ["a"], id="a list already"),
        pytest.param(r"['\d', '\\pi']", [r"\d", r"\pi"], id="LaTeX, of which Python would warn"),
    ],
)
def test_a_list_is_read_out_of_a_text(text, expected):
    assert literal_list(text) == expected


@pytest.mark.parametrize("text", ["", "a, b", "{'a': 1}", "__import__('os')", "[a]", "[" * 5000, None])
def test_a_text_without_a_list_is_an_error(text):
    with pytest.raises(DataError, match="expected a list"):
        literal_list(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("['a', 'b']", ["a", "b"], id="plain"),
        pytest.param("[['a', 'b']]", ["a", "b"], id="a list in the list"),
        pytest.param("[['a'], ['b', 'c']]", ["a", "b", "c"], id="several"),
        pytest.param("['a', ['b']]", ["a", "['b']"], id="the first is a text"),
        pytest.param("[1, 2.5]", ["1", "2.5"], id="numbers"),
        pytest.param("[]", [], id="none"),
    ],
)
def test_options_are_texts(text, expected):
    assert option_list(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("B", "B", id="a letter"),
        pytest.param("['4', 'four']", ["4", "four"], id="several"),
        pytest.param("[1, 2]", "[1, 2]", id="an interval is one answer"),
        pytest.param("[Yes, No]", "[Yes, No]", id="words in brackets"),
        pytest.param("[]", "[]", id="brackets"),
    ],
)
def test_several_answers_are_told_from_one(text, expected):
    assert accepted_answers(text) == expected


@pytest.mark.parametrize(
    ("answer", "letter"),
    [("B", "B"), ("(B)", "B"), (" B ", "B"), (1, "B"), ("1", "B"), ("green", "B"), ("blue", "C")],
)
def test_the_letter_of_an_answer_is_found(answer, letter):
    assert option_letter(answer, ["red", "green", "blue"]) == letter


@pytest.mark.parametrize("answer", ["D", 3, "pink", "red"])
def test_an_answer_that_is_no_option_or_two_is_an_error(answer):
    with pytest.raises(DataError, match="of the options"):
        option_letter(answer, ["red", "red", "blue"])


@pytest.mark.parametrize(
    ("question", "options", "expected"),
    [
        pytest.param("<image 1>: what?", [], ("<image 1>: what?", [], [1]), id="one"),
        pytest.param(
            "Which?", ["<image 2>", "<image 1>"], ("Which?", ["<image 2>", "<image 1>"], [1, 2]), id="options"
        ),
        pytest.param("<image 3> and <image 1>", [], ("<image 2> and <image 1>", [], [1, 3]), id="a gap"),
        pytest.param("<image1> and <image_2>", [], ("<image 1> and <image 2>", [], [1, 2]), id="other spellings"),
        pytest.param(
            "<image 1> is above. Where is <image 1>?",
            ["in <image 2>", "in <image 1>"],
            ("[image 1] <image 1> is above. Where is [image 1]?", ["in <image 2>", "in [image 1]"], [1, 2]),
            id="named again",
        ),
        pytest.param("Why?", ["a"], ("<image 1> <image 2> <image 3> Why?", ["a"], [1, 2, 3]), id="no token"),
    ],
)
def test_tokens_name_the_pictures_in_order(question, options, expected):
    placed = place_images(question, options, {1: "p1", 2: "p2", 3: "p3"})
    assert (placed.question, placed.options, placed.img_path) == (*expected[:2], [f"p{n}" for n in expected[2]])


def test_a_question_without_pictures_stays_as_it_is():
    placed = place_images("Why?", ["a"], {})
    assert (placed.question, placed.options, placed.img_path) == ("Why?", ["a"], [])


def test_a_token_without_its_picture_is_an_error():
    with pytest.raises(DataError, match="says <image 2>, but there is no such picture"):
        place_images("<image 1>", ["<image 2>"], {1: "p1"})


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.integers(1, 7), st.text("ab <>", max_size=4)), max_size=12))
def test_each_picture_that_is_named_is_sent_once_at_its_first_token(pieces):
    text = "".join(f"<image {piece}>" if isinstance(piece, int) else piece for piece in pieces)
    numbers = [piece for piece in pieces if isinstance(piece, int)]
    placed = place_images(text, [], {number: f"p{number}" for number in range(1, 8)} if numbers else {})
    sources = [MediaSource(path=path) for path in placed.img_path]
    parts = split_placeholders(placed.question, sources)
    sent = [part.source.path for part in parts if isinstance(part, ImagePart)]
    assert sent == [f"p{number}" for number in dict.fromkeys(numbers)]
