"""The tools that make tables in VLMEvalKit's format, read back by the data set."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

from flagmm.dataset.tsv import TsvDataset
from flagmm.evaluator import TsvEvaluator
from flagmm.formats.table import open_table
from tests.dataset.tsv.tables import encoded, mcq, picture, shown, write_table

TOOLS = Path(__file__).parents[2] / "tools"


def load(name):
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tsv_circular, tsv_from_folder = load("tsv_circular"), load("tsv_from_folder")


@pytest.fixture(autouse=True)
def lmu(tmp_path, monkeypatch):
    monkeypatch.setenv("LMUData", str(tmp_path / "lmu"))


def rows_of(path):
    table = open_table(path)
    return [table.row(number) for number in range(len(table))]


def rotated(tmp_path, *rows):
    source, target = write_table(tmp_path / "a.tsv", *rows), tmp_path / "b.tsv"
    assert tsv_circular.main([str(source), str(target)]) == 0
    return rows_of(target)


def test_options_and_answer_are_rotated_and_the_picture_is_shared(tmp_path, capsys):
    rows = rotated(tmp_path, {"index": "7", "question": "Q", "A": "x", "B": "y", "C": "z", "D": "", "answer": "B",
                              "image": encoded("red")})  # fmt: skip
    kept = [[row[name] for name in ("index", "g_index", "A", "B", "C", "D", "answer")] for row in rows]
    assert kept == [
        ["7", "7", "x", "y", "z", "", "B"],
        ["1000007", "7", "y", "z", "x", "", "A"],
        ["2000007", "7", "z", "x", "y", "", "C"],
    ]
    assert [row["image"] for row in rows] == [encoded("red"), "7", "7"]
    assert "1 questions, 3 rows" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "copies"),
    [
        (("dog", "cat", "Both A and B"), 0),
        (("A", "cat", "fish"), 0),
        (("B.", "Plan A", "fish"), 2),
        (("A/B", "x", "y"), 0),
        (("None", "NA", "007"), 2),
        (("a and b", "x", "y"), 2),
    ],
)
def test_questions_whose_options_name_each_other_are_asked_once(tmp_path, options, copies):
    rows = rotated(tmp_path, {"index": "1", "question": "Q", **dict(zip("ABC", options, strict=True)), "answer": "A"})
    assert len(rows) == 1 + copies


def test_indexes_of_copies_are_no_others_and_texts_get_a_number(tmp_path):
    rows = rotated(tmp_path, mcq("1"), mcq("1000001"), mcq("r-1"))
    assert [row["index"] for row in rows] == ["1", "10000001", "1000001", "11000001", "r-1", "r-1_1"]


def test_a_rotated_table_is_scored_by_groups(tmp_path):
    rotated(tmp_path, mcq("1"), mcq("2", answer="B"))
    dataset = TsvDataset(name="b", data_root=str(tmp_path / "b.tsv"))
    always_a = [{"question_id": key, "answer": "A", "status": "ok"} for key in dataset.get_annotation()]
    (tmp_path / "b.json").write_text(json.dumps(always_a))
    assert TsvEvaluator().process(dataset, tmp_path)["accuracy"] == 0.0
    assert TsvEvaluator(circular=False).process(dataset, tmp_path)["accuracy"] == 50.0


def test_an_answer_that_is_no_option_is_told(tmp_path, capsys):
    source = write_table(tmp_path / "a.tsv", mcq("1", answer="E"))
    assert tsv_circular.main([str(source), str(tmp_path / "b.tsv")]) == 2
    assert "a.tsv:2: answer: 'E' is no letter of an option (A, B)" in capsys.readouterr().err
    assert not (tmp_path / "b.tsv").exists()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pictures").mkdir()
    for colour in ("red", "blue"):
        (tmp_path / "pictures" / f"{colour}.png").write_bytes(picture(colour))
    return tmp_path / "pictures"


@pytest.mark.parametrize("flags", [[], ["--paths"]])
def test_a_folder_and_questions_become_a_table_that_asks_the_same(tmp_path, folder, flags):
    questions = tmp_path / "questions.csv"
    questions.write_text(
        "question,A,B,answer,image_path\n"
        "First?,None,007,A,red.png\n"
        "Again?,x,y,B,red.png\n"
        "Both?,x,y,B,\"['red.png', 'blue.png']\"\n"
        "None?,x,y,A,\n"
    )
    target = tmp_path / "out.tsv"
    assert tsv_from_folder.main([str(folder), str(questions), str(target), *flags]) == 0
    dataset = TsvDataset(name="out", data_root=str(target), skip_noimg=False)
    sent = [shown(dataset.build_sample(number))[:-1] for number in range(4)]
    red, blue = picture("red"), picture("blue")
    assert sent == [[red], [red], [red, blue], []]
    assert [dataset.question_id_at(number) for number in range(4)] == ["1", "2", "3", "4"]
    assert "A. None\nB. 007\n" in shown(dataset.build_sample(0))[-1]
    if not flags:
        assert rows_of(target)[1]["image"] == "1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"question": "Q", "image_path": "green.png"}\n', "q.jsonl:1: image_path: .*green.png: no such file"),
        (
            '{"question": "Q", "index": 1}\n{"question": "Q", "index": 1}\n',
            "q.jsonl:2: a second row with the index '1'",
        ),
        ('{"text": "Q"}\n', "q.jsonl: no column 'question'; the columns are text"),
        ('{"question": "Q", "image_path": "note.txt"}\n', "note.txt: no picture"),
    ],
)
def test_what_makes_no_table_is_told_and_leaves_none(tmp_path, folder, text, message, capsys):
    (folder / "note.txt").write_text("words\n")
    (tmp_path / "q.jsonl").write_text(text)
    assert tsv_from_folder.main([str(folder), str(tmp_path / "q.jsonl"), str(tmp_path / "out.tsv")]) == 2
    assert re.search(message, capsys.readouterr().err)
    assert not (tmp_path / "out.tsv").exists()


@pytest.mark.parametrize("flags", [[], ["--paths"]])
@pytest.mark.parametrize("way", ["../far/a.png", "link.png", "{far}/a.png"])
def test_no_picture_from_elsewhere_gets_into_a_table_without_leave(tmp_path, folder, way, flags, capsys):
    far = tmp_path / "far"
    far.mkdir()
    (far / "a.png").write_bytes(picture("red"))
    (folder / "link.png").symlink_to(far / "a.png")
    (tmp_path / "q.jsonl").write_text(json.dumps({"question": "Q", "image_path": way.format(far=far)}) + "\n")
    arguments = [str(folder), str(tmp_path / "q.jsonl"), str(tmp_path / "out.tsv"), *flags]
    assert tsv_from_folder.main(arguments) == 2
    assert f"--allow-media-root {far}" in capsys.readouterr().err
    assert not (tmp_path / "out.tsv").exists()
    assert tsv_from_folder.main([*arguments, "--allow-media-root", str(far)]) == 0
