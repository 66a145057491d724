"""The demo benchmark: what it draws, asks and writes, and that the embedded model can take it."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image

from flagmm.models.ocr import Reader
from flagmm.models.ocr_answer import answer
from flagmm.plugin import imports_from, load_file
from flagmm.types import MediaSource

pytest.importorskip("sklearn")
FOLDER = Path(__file__).parents[2] / "tasks" / "demo"


@pytest.fixture(scope="module")
def process():
    with imports_from(FOLDER):
        yield load_file(FOLDER / "process.py")


@pytest.fixture(scope="module")
def drawn(process):
    return process.make_items()


@pytest.fixture(scope="module")
def items(drawn):
    return {item.question_id: item for item in drawn}


@pytest.fixture(scope="module")
def preparation(tmp_path_factory):
    """One run of process.py in a process of its own, with an empty home and no network."""
    folder, home = tmp_path_factory.mktemp("prepared") / "demo", tmp_path_factory.mktemp("home")
    script = (
        "import sys; from pathlib import Path; from types import SimpleNamespace;"
        "from flagmm.plugin import imports_from, load_file; folder = Path(sys.argv[1]);"
        "config = SimpleNamespace(dataset_path='demo_source', split='test', processed_dataset_path=sys.argv[2])\n"
        "with imports_from(folder): load_file(folder / 'process.py').process(config)"
    )
    keep = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "XDG_"))}
    nowhere = {"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(FOLDER), str(folder)],
        env={**keep, **nowhere, "HOME": str(home)},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()
    return SimpleNamespace(folder=folder, home=home, output=done.stdout + done.stderr)


@pytest.fixture(scope="module")
def content(preparation):
    return json.loads((preparation.folder / "test" / "data.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def reader():
    pytest.importorskip("rapidocr")
    return Reader()


def pixel_digest(image):
    return hashlib.sha256(Image.open(io.BytesIO(image)).tobytes()).hexdigest()


def test_no_two_pictures_are_the_same(items):
    digests = Counter(pixel_digest(image) for item in items.values() for image in item.images)
    assert max(digests.values()) == 1


def test_there_are_enough_items_of_every_kind(items):
    assert len(items) >= 60
    kinds = Counter(item.question_type for item in items.values())
    assert set(kinds) == {"multiple-choice", "short-answer", "yes-no"}
    assert min(kinds.values()) >= 4
    assert sum(len(item.images) > 1 for item in items.values()) >= 10
    assert {item.sub_task for item in items.values()} == {
        "receipt", "table", "sign", "chart", "handwriting", "multi-image",
    }  # fmt: skip


def test_ids_are_unique(drawn, items):
    assert len(items) == len(drawn)


def test_every_answer_is_one_that_can_be_given(items):
    for item in items.values():
        assert all(spelling.strip() for spelling in item.answers or [""]), item.question_id
        if item.question_type == "multiple-choice":
            assert item.answers[0] in "ABCDEF"[: len(item.options)], item.question_id
            assert len(set(item.options)) == len(item.options) > 1, item.question_id
        else:
            assert item.options == [], item.question_id


def test_right_letters_are_spread(items):
    right = Counter(item.answers[0] for item in items.values() if item.options)
    assert set("ABCD") <= set(right)
    assert max(right.values()) <= sum(right.values()) / 2


def test_pictures_are_modest(items):
    for item in items.values():
        for image in item.images:
            assert 280 <= Image.open(io.BytesIO(image)).width <= 640, item.question_id
            assert len(image) < 100_000, item.question_id


def test_preparing_says_nothing_and_leaves_nothing_but_the_data_set(preparation):
    assert preparation.output == b""
    assert list(preparation.home.iterdir()) == []
    assert [path.name for path in preparation.folder.iterdir()] == ["test"]
    assert sorted(path.name for path in (preparation.folder / "test").iterdir()) == ["data.json", "img"]


def test_another_process_draws_the_same_pixels_and_stores_them_all(preparation, content, items):
    assert [entry["question_id"] for entry in content] == list(items)
    named = []
    for entry in content:
        paths = entry["img_path"] if isinstance(entry["img_path"], list) else [entry["img_path"]]
        images = [(preparation.folder / "test" / path).read_bytes() for path in paths]
        assert [pixel_digest(image) for image in images] == [
            pixel_digest(image) for image in items[entry["question_id"]].images
        ]
        named += paths
    assert sorted(named) == sorted(f"img/{path.name}" for path in (preparation.folder / "test" / "img").iterdir())


def test_entries_have_the_fields_of_their_type(content):
    by_id = {entry["question_id"]: entry for entry in content}
    total, street, shops = by_id["receipt-00"], by_id["sign-choice-00"], by_id["multi-shop-00"]
    assert "options" not in total
    assert total["answer"][1] == f"${total['answer'][0]}"
    assert street["options"]["ABC".index(street["answer"])] == "Ashgrove Road"
    assert shops["question"].startswith("<image 1> <image 2> <image 3> Which picture")
    assert shops["img_path"] == [f"img/multi-shop-00_{number}.jpg" for number in (1, 2, 3)]


def test_progress_bars_are_left_as_they_were(process):
    import datasets

    assert not datasets.are_progress_bars_disabled()
    with process.quiet_datasets():
        assert datasets.are_progress_bars_disabled()
    assert not datasets.are_progress_bars_disabled()


def test_the_task_file_names_files_that_are_there():
    task = load_file(FOLDER / "ocr.py")
    assert (FOLDER / task.config["processor"]).is_file()
    assert task.dataset["config"] == task.config
    assert task.evaluator["detailed_keys"] == ["sub_task"]


@pytest.mark.parametrize(
    ("question_id", "is_right"),
    [
        pytest.param("receipt-00", True, id="a clean receipt"),
        pytest.param("sign-choice-00", True, id="a street among look-alikes"),
        pytest.param("sign-yes-00", True, id="a yes"),
        pytest.param("chart-00", True, id="a bar's value"),
        pytest.param("multi-shop-00", True, id="one shop of three"),
        pytest.param("timetable-00", False, id="a cell by row and column"),
        pytest.param("multi-sum-00", False, id="a sum over two pictures"),
        pytest.param("sign-yes-03", False, id="a question that takes understanding"),
    ],
)
def test_the_embedded_model_reads_but_does_not_understand(items, reader, question_id, is_right):
    item = items[question_id]
    pages = [reader.read(MediaSource(data=image)) for image in item.images]
    options = dict(zip("ABCDEF", item.options, strict=False))
    given = answer(item.question, pages, question_type=item.question_type, options=options)
    assert (given in item.answers) == is_right
