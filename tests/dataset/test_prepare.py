"""process.py is run so that its data set is there whole or not at all."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from flagmm.dataset.prepare import find_or_prepare, is_data_set, prepared_root
from flagmm.errors import ConfigError, DataError, UserCodeError

# Writes one item with a picture, and notes each run in the task folder.
PROCESS = """
import json
import os

def process(cfg):
    with open(os.path.join(os.path.dirname(__file__), "runs"), "a") as file:
        file.write("x")
    output_dir = os.path.join(cfg.processed_dataset_path, cfg.split)
    os.makedirs(os.path.join(output_dir, "img"), exist_ok=True)
    with open(os.path.join(output_dir, "img", "1.png"), "wb") as file:
        file.write(b"png")
    item = {"question_id": "1", "question": "Q?", "question_type": "open", "img_path": "img/1.png"}
    with open(os.path.join(output_dir, "data.json"), "w") as file:
        json.dump([item], file)
"""
ITEM = {"question_id": "1", "question": "Q?", "question_type": "open"}


class Task:
    """A task folder with a process.py, and a cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "task"
        self.cache = folder / "cache"
        self.root = self.cache / "Data" / "test"
        self.folder.mkdir()
        self.write_process(PROCESS)

    def write_process(self, text):
        (self.folder / "process.py").write_text(text)

    def add(self, code):
        """Let process() go on with `code` after it has written its data; `output_dir` and `item` are at hand."""
        self.write_process(PROCESS + "".join(f"    {line}\n" for line in code.splitlines()))

    def prepare(self, force=False, anno_file=None, **config):
        settings = {
            "dataset_path": "org/D",
            "split": "test",
            "processed_dataset_path": "Data",
            "processor": "process.py",
        }
        return find_or_prepare(
            data_root=None,
            config={key: value for key, value in {**settings, **config}.items() if value is not None},
            cache_dir=str(self.cache),
            base_dir=str(self.folder),
            anno_file=anno_file,
            force=force,
        )

    @property
    def runs(self):
        path = self.folder / "runs"
        return len(path.read_text()) if path.exists() else 0

    def left(self):
        """What is in the cache, lock files left out."""
        return sorted(
            path.relative_to(self.cache).as_posix() for path in self.cache.rglob("*") if path.suffix != ".lock"
        )


@pytest.fixture
def task(tmp_path):
    return Task(tmp_path)


WHOLE = ["Data", "Data/test", "Data/test/data.json", "Data/test/img", "Data/test/img/1.png"]


def test_a_data_set_is_prepared_once(task):
    assert task.prepare() == task.root
    assert task.prepare() == task.root
    assert (task.left(), task.runs) == (WHOLE, 1)


def test_two_runs_at_once_prepare_it_once(task):
    with ThreadPoolExecutor(2) as pool:
        roots = list(pool.map(lambda _: task.prepare(), range(2)))
    assert (roots, task.runs, task.left()) == ([task.root] * 2, 1, WHOLE)


def test_a_data_set_that_another_tool_made_is_taken(task):
    task.root.mkdir(parents=True)
    (task.root / "data.json").write_text(json.dumps([ITEM]))
    assert task.prepare(processor="gone.py") == task.root
    assert task.runs == 0


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(None, id="no annotation file"),
        pytest.param('[{"question_id": "1", "que', id="torn"),
        pytest.param("", id="empty"),
        pytest.param("[]", id="empty list"),
    ],
)
def test_a_folder_without_a_whole_annotation_file_is_no_data_set(task, text):
    task.root.mkdir(parents=True)
    (task.root / "leftover.png").write_text("x")
    if text is not None:
        (task.root / "data.json").write_text(text)
    task.prepare()
    assert (task.left(), task.runs) == (WHOLE, 1)


def test_process_is_given_the_config_with_attributes_and_get(task):
    task.write_process(
        "def process(cfg):\n"
        "    seen = [cfg.split, cfg['dataset_path'], cfg.get('none'), cfg.extra, cfg.deep.a, dict(cfg)['split']]\n"
        "    raise ValueError(seen)\n"
    )
    with pytest.raises(UserCodeError, match=r"ValueError: \['test', 'org/D', None, 5, \[1\], 'test'\]"):
        task.prepare(extra=5, deep={"a": [1]})


def test_a_data_set_path_in_the_home_folder_is_written_out(task, monkeypatch):
    monkeypatch.setenv("HOME", "/home/someone")
    task.write_process("def process(cfg):\n    raise ValueError(cfg.dataset_path)\n")
    with pytest.raises(UserCodeError, match="ValueError: /home/someone/D"):
        task.prepare(dataset_path="~/D")


def test_process_writes_elsewhere_first(task):
    task.add(f"assert cfg.processed_dataset_path != {str(task.cache / 'Data')!r}")
    assert task.prepare() == task.root


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        pytest.param(
            "raise ValueError('full disk')",
            UserCodeError,
            r"process\.py: process: ValueError: full disk \(at",
            id="raises",
        ),
        pytest.param("raise SystemExit", UserCodeError, r"process\.py: process: SystemExit", id="ends the program"),
        pytest.param(
            "os.rename(output_dir, output_dir + 'x')",
            DataError,
            r"process wrote no whole test/data\.json under cfg\.processed_dataset_path \(found testx/data\.json\)",
            id="other folder",
        ),
        pytest.param("os.remove(output_dir + '/data.json')", DataError, r"\(found no JSON file\)", id="no annotations"),
        pytest.param(
            "open(output_dir + '/data.json', 'w').write('[\\n]\\n')",
            DataError,
            r"process wrote no question: test/data\.json is an empty list",
            id="empty list",
        ),
        pytest.param(
            "os.remove(output_dir + '/img/1.png')",
            DataError,
            r"question_id '1': img_path: img/1\.png: no such file",
            id="no picture",
        ),
        pytest.param(
            "json.dump([item, item], open(output_dir + '/data.json', 'w'))",
            DataError,
            "make ids unique",
            id="double id",
        ),
        pytest.param(
            "json.dump([{}], open(output_dir + '/data.json', 'w'))", DataError, "'question_id' is missing", id="no id"
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_an_unsound_data_set_is_none_and_what_was_made_waits_for_the_next_start(task, code, error, message):
    task.add(code)
    with pytest.raises(error, match=message) as raised:
        task.prepare()
    assert str(raised.value).endswith(
        f"; the next start goes on with what is in {task.cache / 'Data.partial'}, and --reprocess starts anew"
    )
    assert not (task.cache / "Data").exists()
    task.write_process(PROCESS)
    assert task.prepare() == task.root
    assert set(WHOLE) <= set(task.left())
    assert not (task.cache / "Data.partial").exists()


def test_what_a_killed_run_left_is_cleared_away(task):
    stale = task.cache / ".Data.preparing-999999"
    stale.mkdir(parents=True)
    (stale / "half.png").write_text("x")
    task.prepare()
    assert task.left() == WHOLE


def test_force_prepares_again_and_replaces_the_old(task):
    task.prepare()
    (task.root / "old").write_text("x")
    task.prepare(force=True)
    assert (task.left(), task.runs) == (WHOLE, 2)


def test_a_failed_second_time_leaves_the_first_as_it_was(task):
    task.prepare()
    task.add("raise ValueError")
    with pytest.raises(UserCodeError):
        task.prepare(force=True)
    assert [name for name in task.left() if name.startswith("Data/")] == WHOLE[1:]


def test_absolute_paths_into_the_temporary_folder_point_to_the_final_one(task):
    task.add(
        "item['img_path'] = os.path.join(output_dir, 'img', '1.png')\n"
        "with open(os.path.join(output_dir, 'data.json'), 'w') as file:\n"
        "    json.dump([item], file)"
    )
    task.prepare()
    (item,) = json.loads((task.root / "data.json").read_text())
    assert item["img_path"] == str(task.root / "img" / "1.png")


def test_pictures_of_other_places_need_not_exist(task):
    task.add(
        "item['img_path'] = ['img/1.png', 'https://h/a.png']\n"
        "with open(os.path.join(output_dir, 'data.json'), 'w') as file:\n"
        "    json.dump([item], file)"
    )
    assert task.prepare() == task.root


def test_other_splits_that_process_writes_are_kept_but_never_replace_any(task):
    old = task.cache / "Data" / "train" / "data.json"
    old.parent.mkdir(parents=True)
    old.write_text("old")
    task.add(
        "for split in ('train', 'val'):\n"
        "    os.makedirs(os.path.join(cfg.processed_dataset_path, split))\n"
        "    with open(os.path.join(cfg.processed_dataset_path, split, 'data.json'), 'w') as file:\n"
        "        file.write('new')"
    )
    task.prepare()
    assert task.left() == sorted([*WHOLE, "Data/train", "Data/train/data.json", "Data/val", "Data/val/data.json"])
    assert [(task.cache / "Data" / split / "data.json").read_text() for split in ("train", "val")] == ["old", "new"]


def test_the_annotation_file_may_have_another_name(task):
    task.add("os.rename(output_dir + '/data.json', output_dir + '/x.json')")
    assert task.prepare(anno_file="x.json") == task.root
    assert task.prepare(anno_file=["x.json"]) == task.root
    assert task.runs == 1


@pytest.mark.parametrize(
    ("config", "folder"),
    [
        ({"processed_dataset_path": "D"}, "D"),
        ({"processed_dataset_path": "D", "split": "test"}, "D/test"),
        ({"processed_dataset_path": "D", "split": "test", "dataset_name": "sub"}, "D/sub/test"),
        ({"processed_dataset_path": "D", "dataset_name": "sub", "split": None}, "D/sub"),
        ({"processed_dataset_path": "org/D", "split": "a"}, "org/D/a"),
        ({"processed_dataset_path": "/abs/D", "split": "a"}, "/abs/D/a"),
    ],
)
def test_where_a_prepared_data_set_lives(config, folder):
    assert prepared_root(config, "/cache") == Path("/cache") / folder


def test_a_data_set_without_split_or_name_is_prepared_as_well(task):
    task.write_process(
        PROCESS.replace("os.path.join(cfg.processed_dataset_path, cfg.split)", "cfg.processed_dataset_path")
    )
    assert task.prepare(split=None) == task.cache / "Data"
    assert task.left() == ["Data", "Data/data.json", "Data/img", "Data/img/1.png"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"processed_dataset_path": None}, r"^config: 'processed_dataset_path' is missing$"),
        ({"processor": None}, r"^config: 'processor' is missing, and .*/cache/Data/test holds no data set$"),
        ({"processor": "gone.py"}, r"^config: processor: .*/task/gone\.py: no such file$"),
    ],
)
def test_an_incomplete_config_is_told(task, config, message):
    with pytest.raises(ConfigError, match=message):
        task.prepare(**config)


def test_a_process_file_without_process_is_told(task):
    task.write_process("def prepare(cfg): ...\n")
    with pytest.raises(ConfigError, match=r"process\.py: defines no function 'process'$"):
        task.prepare()
    assert task.left() == []


@pytest.mark.parametrize(
    ("files", "anno_file", "is_one"),
    [
        ({"data.json": "[1]"}, None, True),
        ({"data.json": "[ ]\n"}, None, False),
        ({"sub/x.json": "[]"}, None, False),
        ({"data.json": "[1"}, None, False),
        ({"sub/x.jsonl": '{"a": 1}\n'}, None, True),
        ({"x.png": "]"}, None, False),
        ({"a.json": "[]", "b.json": "[1]"}, ["a.json", "b.json"], True),
        ({"a.json": "[]", "b.json": "[]"}, ["a.json", "b.json"], False),
        ({"a.json": "[1]"}, ["a.json", "b.json"], False),
        ({"data.json": "[1]"}, "a.json", False),
        ({}, None, False),
    ],
)
def test_what_counts_as_a_data_set(tmp_path, files, anno_file, is_one):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert is_data_set(tmp_path, anno_file) is is_one
