"""Pictures of cells as files: named as VLMEvalKit names them, written once, never mistaken for another's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flagmm.dataset.tsv import TsvDataset
from flagmm.errors import DataError
from tests.dataset.tsv.tables import encoded, mcq, picture, pictures, write_table


def sources(path, **settings):
    dataset = TsvDataset(name="t", data_root=str(path), **settings)
    return [source for number in range(len(dataset)) for source in pictures(dataset.build_sample(number))]


def content(source):
    return source.data if source.path is None else Path(source.path).read_bytes()


@pytest.mark.parametrize(
    ("index", "cell", "names"),
    [
        ("7", encoded("red"), ["7.png"]),
        ("7", encoded("red", "JPEG"), ["7.jpg"]),
        ("7", encoded("red", "WEBP"), ["7.webp"]),
        ("7", encoded("red", "GIF"), ["7.gif"]),
        ("7", encoded("red", "BMP"), ["7.bmp"]),
        ("7", str([encoded("red"), encoded("blue", "JPEG")]), ["7_0.png", "7_1.jpg"]),
        ("a/b", encoded("red"), ["a_b-c14cddc0.png"]),
    ],
)
def test_a_file_is_named_by_index_and_content(lmu, index, cell, names):
    path = write_table(lmu / "t.tsv", mcq(index, image=cell))
    assert [os.path.relpath(source.path, lmu / "images" / "t") for source in sources(path)] == names


def test_image_path_names_the_file_unless_it_leads_out_of_the_folder(lmu):
    rows = [
        mcq("1", image=encoded("red"), image_path="sub/a.png"),
        mcq("2", image=encoded("red"), image_path="../b.png"),
    ]
    path = write_table(lmu / "t.tsv", *rows, mcq("3", image=encoded("red"), image_path="/b.png"))
    folder = lmu / "images" / "t"
    assert [source.path for source in sources(path)] == [str(folder / name) for name in ("sub/a.png", "2.png", "3.png")]


def test_a_picture_is_written_once(lmu):
    path = write_table(lmu / "t.tsv", mcq(image=encoded("red")))
    [first] = sources(path)
    written = os.stat(first.path).st_mtime_ns
    assert sources(path) == [first]
    assert os.stat(first.path).st_mtime_ns == written
    assert sorted(os.listdir(lmu / "images" / "t")) == [".table", "1.png"]


def test_a_changed_table_never_shows_an_old_picture(lmu):
    same_size = [picture("#102030", "BMP"), picture("#302010", "BMP")]
    assert len(same_size[0]) == len(same_size[1])
    path = write_table(lmu / "t.tsv", mcq(image=encoded("#102030", "BMP")))
    [old] = sources(path)
    write_table(path, mcq(image=encoded("#302010", "BMP")))
    os.utime(path, ns=(0, 0))  # as a copy that keeps the time of its last change
    [new] = sources(path)
    assert content(new) == same_size[1]
    assert content(old) == same_size[0]


def test_two_tables_of_one_name_do_not_share_pictures(lmu, tmp_path):
    for folder, colour in (("a", "#102030"), ("b", "#302010")):
        write_table(tmp_path / folder / "t.tsv", mcq(image=encoded(colour, "BMP")))
    for folder, colour in (("a", "#102030"), ("b", "#302010"), ("a", "#102030"), ("b", "#302010")):
        [source] = sources(tmp_path / folder / "t.tsv")
        assert content(source) == picture(colour, "BMP")


def test_a_file_of_another_tool_stays_and_the_table_s_picture_is_sent(lmu, caplog):
    path = write_table(lmu / "t.tsv", mcq(image=encoded("red")), mcq("2", image=encoded("blue")))
    folder = lmu / "images" / "t"
    folder.mkdir(parents=True)
    (folder / "1.png").write_bytes(picture("red") + b"\0")
    (folder / "2.png").write_bytes(b"half")
    assert [content(source) for source in sources(path)] == [picture("red"), picture("blue")]
    assert (folder / "2.png").read_bytes() == b"half"
    assert caplog.text.count("they are sent from the table") == 1


def test_a_folder_that_cannot_be_written_is_told_once_and_the_run_goes_on(lmu, caplog):
    path = write_table(lmu / "t.tsv", mcq(image=encoded("red")), mcq("2", image=encoded("blue")))
    (lmu / "images").write_text("a file in the way")
    assert [content(source) for source in sources(path)] == [picture("red"), picture("blue")]
    assert caplog.text.count("pictures cannot be kept as files") == 1


@pytest.mark.parametrize("cell", [f"['{encoded('red')}'", "[1, 2]", "QUJD" * 20, f"[['{encoded('red')}']]"])
def test_a_cell_that_holds_no_picture_names_its_column(lmu, cell):
    path = write_table(lmu / "t.tsv", mcq(image=cell))
    with pytest.raises(DataError, match=r"t\.tsv:2: (column 'image'|image): "):
        sources(path)


def test_what_may_be_a_picture_of_a_rare_kind_makes_no_file(lmu):
    path = write_table(lmu / "t.tsv", mcq(image="plain words" * 9))  # base64 of no known kind, as it happens
    [source] = sources(path)
    assert source.data is not None
    assert not (lmu / "images" / "t" / "1.bmp").exists()


def test_what_a_killed_process_left_among_the_pictures_is_removed(lmu):
    path = write_table(lmu / "t.tsv", mcq(image=encoded("red")))
    folder = lmu / "images" / "t"
    folder.mkdir(parents=True)
    (folder / ".1.png.99.140.tmp").write_bytes(b"half")
    [source] = sources(path)
    assert content(source) == picture("red")
    assert not list(folder.glob("*.tmp"))
