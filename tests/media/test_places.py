import os

import pytest
from hypothesis import given as forall
from hypothesis import strategies as st

from flagmm.errors import DataError
from flagmm.media.places import MediaPlaces, MediaRoots


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """`data` beside a table, `work` to work in, `shared` allowed or not, and `secret`; `a.png` in all of them."""
    for folder in ("data", "work", "shared", "secret", "data/sub"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.png").write_bytes(b"x")
    (tmp_path / "work" / "here.png").write_bytes(b"x")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def places(tree, *allowed):
    return MediaPlaces(tree / "data", tuple(tree / name for name in allowed))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a.png", "data/a.png", id="beside the data first"),
        pytest.param("sub/a.png", "data/sub/a.png", id="below the data"),
        pytest.param("sub/../a.png", "data/a.png", id="dots that stay inside"),
        pytest.param("here.png", "work/here.png", id="then in the working directory"),
        pytest.param("../work/here.png", "work/here.png", id="dots from one allowed folder to another"),
    ],
)
def test_a_relative_path_is_looked_up_in_order(tree, text, expected):
    assert os.path.realpath(places(tree).resolve(text)) == str(tree / expected)


@pytest.mark.parametrize("name", ["data", "work"])
def test_an_absolute_path_inside_is_taken(tree, name):
    assert places(tree).resolve(str(tree / name / "a.png")) == str(tree / name / "a.png")


@pytest.mark.parametrize(
    "text", ["../secret/a.png", "sub/../../secret/a.png", "{tree}/secret/a.png", "../secret/no.png"]
)
def test_a_path_that_leads_outside_is_refused_and_the_flag_named(tree, text):
    with pytest.raises(DataError) as caught:
        places(tree).resolve(text.format(tree=tree))
    assert "outside" in str(caught.value)
    assert f"--allow-media-root {tree / 'secret'}" in str(caught.value)


@pytest.mark.parametrize("text", ["/etc/passwd", "../../../../../../etc/passwd", "~/a.png"])
def test_files_of_the_system_and_of_the_home_are_outside(tree, text):
    with pytest.raises(DataError, match="--allow-media-root"):
        places(tree).resolve(text)


def test_links_are_followed_before_the_path_is_judged(tree):
    (tree / "data" / "file.png").symlink_to(tree / "secret" / "a.png")
    (tree / "data" / "folder").symlink_to(tree / "secret")
    (tree / "data" / "inner.png").symlink_to(tree / "data" / "sub" / "a.png")
    for text in ("file.png", "folder/a.png"):
        with pytest.raises(DataError, match=r"secret/a\.png lies outside"):
            places(tree).resolve(text)
    assert places(tree, "secret").resolve("file.png") == str(tree / "data" / "file.png")
    assert places(tree).resolve("inner.png") == str(tree / "data" / "inner.png")


def test_data_behind_a_link_is_still_beside_itself(tree):
    (tree / "alias").symlink_to(tree / "data")
    assert MediaPlaces(tree / "alias").resolve("sub/a.png") == str(tree / "alias" / "sub" / "a.png")


def test_an_allowed_folder_is_taken_but_not_one_whose_name_begins_so(tree):
    (tree / "shared2").mkdir()
    (tree / "shared2" / "a.png").write_bytes(b"x")
    assert places(tree, "shared").resolve(str(tree / "shared" / "a.png")) == str(tree / "shared" / "a.png")
    with pytest.raises(DataError, match="outside"):
        places(tree, "shared").resolve(str(tree / "shared2" / "a.png"))


def test_everything_may_be_allowed(tree):
    assert MediaPlaces(tree / "data", (tree.__class__("/"),)).resolve(str(tree / "secret" / "a.png"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("gone.png", "no such file, neither in", id="missing"),
        pytest.param("{tree}/data/gone.png", "no such file", id="missing, absolute"),
        pytest.param("sub", "is a directory", id="folder"),
        pytest.param(".", "is a directory", id="the folder itself"),
        pytest.param("pipe", "is not a regular file", id="pipe"),
        pytest.param("a.png\0.txt", "is no path", id="null byte"),
        pytest.param("", "is no path", id="empty"),
        pytest.param("  ", "is no path", id="blank"),
        pytest.param("x" * 300, "no such file", id="a name too long"),
        pytest.param("x/" * 3000, "no such file", id="a path too long"),
        pytest.param("\ud800.png", "surrogates not allowed", id="a lone surrogate"),
        pytest.param("a.png/b.png", "no such file", id="a file as folder"),
        pytest.param("loop", "no such file", id="a link to itself"),
    ],
)
def test_what_cannot_be_read_is_an_error_of_one_short_line(tree, text, message):
    os.mkfifo(tree / "data" / "pipe")
    (tree / "data" / "loop").symlink_to("loop")
    with pytest.raises(DataError, match=message) as caught:
        places(tree).resolve(text.format(tree=tree))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


@forall(st.text(max_size=50))
def test_no_text_makes_anything_but_a_path_inside_or_an_error(tmp_path_factory, text):
    folder = tmp_path_factory.getbasetemp()
    try:
        found = MediaPlaces(folder).resolve(text)
    except DataError:
        return
    assert os.path.realpath(found).startswith((os.path.realpath(folder), os.path.realpath(os.curdir)))


@pytest.fixture
def snapshot(tmp_path, monkeypatch):
    """A data set as HuggingFace's cache holds it: links into a folder of blobs."""
    repository = tmp_path / "hub" / "datasets--a--b"
    (repository / "blobs").mkdir(parents=True)
    (repository / "blobs" / "1f2e").write_bytes(b"x")
    (repository / "snapshots" / "main" / "img").mkdir(parents=True)
    (repository / "snapshots" / "main" / "img" / "a.png").symlink_to("../../../blobs/1f2e")
    (tmp_path / "hub" / "other").write_bytes(b"x")
    monkeypatch.chdir(repository)
    return repository / "snapshots" / "main"


def test_a_snapshot_in_huggingfaces_cache_is_read_through_its_links(snapshot):
    assert MediaPlaces(snapshot).resolve("img/a.png") == str(snapshot / "img" / "a.png")
    assert MediaPlaces(snapshot / "img").resolve("a.png")
    with pytest.raises(DataError, match="--allow-media-root"):
        MediaPlaces(snapshot).resolve("../../../other")


def test_a_folder_called_snapshots_opens_nothing_beside_it(tmp_path):
    (tmp_path / "snapshots" / "main").mkdir(parents=True)
    (tmp_path / "a.png").write_bytes(b"x")
    assert not MediaRoots([tmp_path / "snapshots" / "main"]).hold(str(tmp_path / "a.png"))
    assert MediaRoots([tmp_path / "snapshots" / "main"]).folders == (str(tmp_path / "snapshots" / "main"),)


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        pytest.param("pictures/sub/a.png", "shared", id="the folder that a link stands for"),
        pytest.param("../secret/a.png", "secret", id="the file's own by dots"),
        pytest.param("one.png", "secret", id="the file's own where it is the link itself"),
    ],
)
def test_the_folder_to_allow_is_the_one_that_lets_all_of_it_in(tree, text, folder):
    (tree / "shared" / "sub").mkdir()
    (tree / "shared" / "sub" / "a.png").write_bytes(b"x")
    (tree / "data" / "pictures").symlink_to(tree / "shared")
    (tree / "data" / "one.png").symlink_to(tree / "secret" / "a.png")
    with pytest.raises(DataError) as caught:
        places(tree).resolve(text)
    assert str(caught.value).endswith(f"give --allow-media-root {tree / folder}")
    assert places(tree, folder).resolve(text)
