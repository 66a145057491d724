"""A preparation that breaks off is gone on with, and the splits of a data set share what process.py downloads."""

from __future__ import annotations

import json
import os

import pytest

from flagmm.dataset.prepare import find_or_prepare
from flagmm.errors import DataError, UserCodeError

# Downloads an archive where it is not there, unpacks a picture of the split out of it, and writes one item.
PROCESS = """
import json
import os
from pathlib import Path

HERE = Path(__file__).parent


def process(cfg):
    home, split = Path(cfg.processed_dataset_path), Path(cfg.processed_dataset_path, cfg.split)
    archive = home / "downloads" / "archive.zip"
    if not archive.exists():
        with open(HERE / "downloaded", "a") as log:
            log.write(f"{cfg.dataset_path} ")
        archive.parent.mkdir(parents=True, exist_ok=True)
        archive.write_text(f"archive of {cfg.dataset_path}")
    (split / "img").mkdir(parents=True, exist_ok=True)
    if (HERE / "crash").exists():
        (split / "data.json").write_text('[{"question_id"')
        raise ConnectionError("the line went dead")
    (split / "img" / "1.png").write_text(archive.read_text())
    pictures = ["img/1.png", "../downloads/archive.zip"]
    item = {"question_id": "1", "question": "Q?", "question_type": "open", "img_path": pictures}
    (split / "data.json").write_text(json.dumps([item]))
"""


class Task:
    """A task folder and a cache."""

    def __init__(self, folder):
        self.folder, self.cache = folder, folder / "cache"
        self.home, self.partial = self.cache / "Data", self.cache / "Data.partial"
        self.write(PROCESS)

    def write(self, text):
        (self.folder / "process.py").write_text(text)

    def prepare(self, split="test", *, force=False, **config):
        config = {
            "dataset_path": "org/D", "split": split, "processed_dataset_path": "Data", "processor": "process.py",
            **config,
        }  # fmt: skip
        return find_or_prepare(
            data_root=None, config=config, cache_dir=str(self.cache), base_dir=str(self.folder), force=force
        )

    def break_off(self, error=UserCodeError, **config):
        (self.folder / "crash").touch()
        with pytest.raises(error):
            self.prepare(**config)
        (self.folder / "crash").unlink()

    @property
    def downloaded(self):
        """The `dataset_path` of each download."""
        path = self.folder / "downloaded"
        return path.read_text().split() if path.exists() else []


@pytest.fixture
def task(tmp_path):
    return Task(tmp_path)


def test_the_next_start_goes_on_with_the_downloads_of_one_that_broke_off(task):
    task.break_off()
    assert not task.home.exists()
    assert (task.partial / "downloads/archive.zip").is_file()
    assert task.prepare() == task.home / "test"
    assert task.downloaded == ["org/D"]
    assert not task.partial.exists()
    assert (task.home / "test/img/1.png").read_text() == "archive of org/D"


def test_a_mended_process_goes_on_with_the_downloads(task):
    task.break_off()
    task.write(PROCESS.replace("Q?", "Q, mended?"))
    root = task.prepare()
    assert task.downloaded == ["org/D"]
    assert json.loads((root / "data.json").read_text())[0]["question"] == "Q, mended?"


def test_what_was_made_of_other_data_is_not_gone_on_with(task):
    task.break_off(dataset_path="org/Wrong")
    task.prepare()
    assert task.downloaded == ["org/Wrong", "org/D"]
    assert (task.home / "test/img/1.png").read_text() == "archive of org/D"


def test_reprocess_starts_anew(task):
    task.break_off()
    task.prepare(force=True)
    assert task.downloaded == ["org/D"] * 2
    task.prepare(force=True)
    assert task.downloaded == ["org/D"] * 3


def test_reprocess_puts_new_downloads_in_the_place_of_the_old(task):
    task.prepare()
    task.prepare("val")
    task.prepare(force=True, dataset_path="org/D2")
    assert (task.home / "downloads/archive.zip").read_text() == "archive of org/D2"
    assert (task.home / "val/img/1.png").read_text() == "archive of org/D"


def test_the_splits_of_a_data_set_share_the_downloads(task):
    for split in ("test", "val", "train"):
        task.prepare(split)
    task.prepare("dev", processed_dataset_path="Other")
    assert task.downloaded == ["org/D"] * 2  # one for each data set
    assert sorted(path.name for path in task.home.iterdir()) == ["downloads", "test", "train", "val"]
    assert not task.partial.exists()


def test_downloads_are_lent_without_a_second_copy_and_survive_a_split_that_breaks_off(task):
    task.prepare()
    before = (task.home / "downloads/archive.zip").stat()
    task.break_off(split="val")
    after = (task.home / "downloads/archive.zip").stat()
    assert (task.partial / "downloads/archive.zip").stat().st_ino == before.st_ino == after.st_ino
    assert not (task.partial / "test").exists()  # a data set is nobody else's to write into
    task.prepare("val")
    assert task.downloaded == ["org/D"]


def test_downloads_are_copied_where_files_cannot_be_linked(task, monkeypatch):
    def refuse(*_):
        raise OSError("no links here")

    task.prepare()
    monkeypatch.setattr(os, "link", refuse)
    task.prepare("val")
    assert task.downloaded == ["org/D"]
    assert (task.home / "val/img/1.png").read_text() == "archive of org/D"


def test_downloads_of_other_data_are_not_shared(task):
    task.prepare()
    task.prepare("val", dataset_path="org/Other")
    assert task.downloaded == ["org/D", "org/Other"]
    assert (task.home / "downloads/archive.zip").read_text() == "archive of org/D"  # as the split that is there has it


def test_files_that_a_person_put_there_are_found(task):
    by_hand = task.home / "downloads" / "archive.zip"
    by_hand.parent.mkdir(parents=True)
    by_hand.write_text("by hand")
    task.prepare()
    assert task.downloaded == []
    assert (task.home / "test/img/1.png").read_text() == "by hand"


def test_a_process_that_makes_its_folders_itself_can_go_on(task):
    task.write(
        PROCESS.replace('(split / "img").mkdir(parents=True, exist_ok=True)', '(split / "img").mkdir(parents=True)')
    )
    task.break_off()
    assert task.prepare() == task.home / "test"
    assert task.downloaded == ["org/D"]


def test_a_process_that_makes_a_folder_twice_is_told_so(task):
    task.break_off()
    task.write("import os\ndef process(cfg):\n" + "    os.mkdir(cfg.processed_dataset_path + '/a')\n" * 2)
    with pytest.raises(UserCodeError, match=r"FileExistsError.*Data\.partial, and --reprocess starts anew"):
        task.prepare()


def test_a_torn_annotation_file_is_not_taken_for_the_sign_that_all_is_done(task):
    skipping = PROCESS.replace(
        "    archive = home", "    if (split / 'data.json').exists():\n        return\n    archive = home"
    )
    task.write(skipping)
    task.break_off()
    assert (task.partial / "test/data.json").exists()
    assert task.prepare() == task.home / "test"


def test_an_empty_list_is_a_failed_preparation_also_where_it_is_there_already(task):
    task.write(PROCESS.replace("json.dumps([item])", "'[]'"))
    (task.home / "test").mkdir(parents=True)
    (task.home / "test/data.json").write_text("[]")
    with pytest.raises(DataError, match=r"process\.py: process wrote no question: test/data\.json is an empty list; "):
        task.prepare()
    task.write(PROCESS)
    task.prepare()
    assert len(json.loads((task.home / "test/data.json").read_text())) == 1


def test_a_note_that_cannot_be_read_starts_anew(task, caplog):
    task.break_off()
    (task.cache / ".Data.sources.json").write_text("{")
    task.prepare()
    assert task.downloaded == ["org/D"] * 2
    assert "the preparation starts anew" in caplog.text


def test_a_start_that_made_nothing_leaves_nothing(task):
    task.write("def process(cfg):\n    raise ValueError\n")
    with pytest.raises(UserCodeError, match="ValueError"):
        task.prepare()
    assert [path.name for path in task.cache.iterdir()] == [".Data.lock"]


def test_absolute_paths_point_to_where_the_data_are_however_json_spells_them(task):
    picture = 'str(split / "img/1.png")'
    task.write(PROCESS.replace('["img/1.png", "../downloads/archive.zip"]', f"[{picture}]"))
    root = task.prepare(processed_dataset_path="数据")
    [item] = json.loads((root / "data.json").read_text())
    assert item["img_path"] == [str(root / "img/1.png")]
