"""Names of data sets as VLMEvalKit has them, as tasks."""

from __future__ import annotations

import logging

import pytest

from flagmm.config.vlmeval import parse_vlmeval
from flagmm.errors import ConfigError
from flagmm.run.vlmeval.folders import foreign_predictions, link, new_run, newest_run
from flagmm.run.vlmeval.plan import make_plan, make_task


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """`$LMUData`, with empty tables of the names that tests use."""
    monkeypatch.setenv("LMUData", str(tmp_path / "lmu"))
    (tmp_path / "lmu").mkdir()
    for name in ("mine", "Video-MME", "MMBench-Video"):
        (tmp_path / "lmu" / f"{name}.tsv").touch()
    return tmp_path / "lmu"


def settings_of(name, entry=None, given=None):
    task = make_task(name, entry or {}, given, source="here")
    return {key: value for key, value in task.dataset.items() if key != "name"}


@pytest.mark.parametrize(
    ("name", "entry", "expected"),
    [
        ("mine", {}, {"type": "TsvDataset"}),
        ("m2", {"dataset": "mine", "class": "ImageMCQDataset"}, {"type": "TsvMcqDataset", "dataset": "mine"}),
        ("mine", {"class": "ImageYORNDataset"}, {"type": "TsvYesNoDataset"}),
        ("mine", {"class": "CustomVQADataset"}, {"type": "TsvVqaDataset"}),
        ("mine", {"class": "ImageVQADataset"}, {"type": "TsvVqaDataset", "short_answer": True}),
        ("mine", {"nframe": 4}, {"type": "TsvDataset", "nframe": 4}),
        ("a", {"url": "http://h/a.tsv", "md5": "x"}, {"type": "TsvDataset", "url": "http://h/a.tsv", "md5": "x"}),
        (
            "Video-MME_16frame_subs",
            {},
            {"type": "TsvDataset", "dataset": "Video-MME", "nframe": 16, "use_subtitle": True},
        ),
        ("MMBench_Video_8frame_nopack", {}, {"type": "TsvDataset", "dataset": "MMBench-Video", "nframe": 8}),
        ("MMBench_Video_1fps", {}, {"type": "TsvDataset", "dataset": "MMBench-Video", "fps": 1.0}),
        ("mine", {"pack": False}, {"type": "TsvDataset"}),
    ],
)
def test_a_name_is_a_table_with_settings(tables, name, entry, expected):
    assert settings_of(name, entry) == expected


def test_a_table_is_named_by_its_path(tmp_path):
    (tmp_path / "x.tsv").touch()
    task = make_task(str(tmp_path / "x.tsv"), {}, source="here")
    assert task.name == "x"
    assert task.dataset["data_root"] == str(tmp_path / "x.tsv")


def test_settings_of_all_tables_are_taken_where_an_entry_has_none(tables):
    assert settings_of("mine", {"nframe": 2}, {"nframe": 8, "fps": 1.0})["nframe"] == 2


@pytest.mark.parametrize(
    ("name", "entry", "settings", "expected"),
    [
        ("mine", {"nframe": 8, "fps": -1}, {}, {"nframe": 8}),
        ("mine", {"nframe": 0, "fps": -1}, {}, {}),
        ("mine", {"nframe": 0}, {"nframe": 4}, {"nframe": 4}),
        ("mine", {}, {"nframe": 0, "fps": -1.0}, {}),
        ("mine", {"fps": 2}, {"nframe": 8, "fps": -1}, {"fps": 2}),
        ("Video-MME_16frame", {}, {"fps": 1.0}, {"nframe": 16}),
        ("Video-MME_16frame", {"fps": -1, "nframe": 4}, {}, {"nframe": 4}),
        ("Video-MME_0fps", {}, {}, {}),
    ],
)
def test_what_is_not_set_in_vlmevalkits_spelling_asks_for_no_frames(tables, name, entry, settings, expected):
    found = settings_of(name, entry, settings)
    assert {key: found[key] for key in ("nframe", "fps") if key in found} == expected


def test_how_replies_are_read_goes_to_the_evaluator(tables):
    task = make_task("mine", {"circular": True}, {"rule": "reference"}, source="here")
    assert task.evaluator == {"type": "TsvEvaluator", "circular": True, "rule": "reference"}


def test_a_class_that_is_not_here_is_warned_of(tables, caplog):
    assert settings_of("mine", {"class": "MMERealWorld"})["type"] == "TsvDataset"
    assert "class MMERealWorld is not built here" in caplog.text


@pytest.mark.parametrize(
    ("name", "entry", "given", "other"),
    [
        ("MMBench_Video_1fps_pack", {}, {}, "MMBench_Video_1fps_nopack asks one at a time"),
        ("mine", {"pack": True}, {}, "pack false asks one at a time"),
        ("mine", {}, {"pack": True}, "pack false asks one at a time"),
    ],
)
def test_several_questions_in_one_request_are_refused(tables, name, entry, given, other):
    with pytest.raises(ConfigError, match=f"here: data: {name}: pack, .* is not supported, .*; {other}"):
        make_task(name, entry, given, source="here")


@pytest.mark.parametrize(
    ("entry", "question"),
    [
        ({}, "['Who is it?', 'And <ImageHere>?']"),
        ({"class": "MMDUDataset"}, "Who is it?"),
        ({"class": "ImageMTDataset", "dataset": "not-there"}, ""),
    ],
)
def test_a_table_of_conversations_is_refused(tables, entry, question):
    (tables / "mine.tsv").write_text(f"index\tQuestion\tanswer\n1\t{question}\tx\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="here: data: mine: a table of conversations"):
        make_task("mine", entry, source="here")


@pytest.mark.parametrize("question", ["[1, 2] or ['a']?", "['one']", "[1, 2]", "[", ""])
def test_a_question_that_only_begins_like_a_list_is_asked(tables, question):
    (tables / "mine.tsv").write_text(f"index\tquestion\tanswer\n1\t{question}\tx\n", encoding="utf-8")
    assert settings_of("mine") == {"type": "TsvDataset"}


def test_an_installed_task_is_found_by_its_name(tables):
    assert make_task("demo/ocr", {}, source="here").name == "demo_ocr"


def test_a_name_that_is_neither_is_told(tables):
    with pytest.raises(ConfigError, match=r"here: data: nothing: no table .*nothing\.tsv, and no installed task"):
        make_task("nothing", {}, source="here")


@pytest.mark.parametrize("entry", [{"nframes": 3}, {"rule": "mine"}])
def test_an_unknown_setting_is_told_before_anything_is_asked(tables, entry):
    values = {"model": ["GPT4o"], "data": {"mine": entry}}
    with pytest.raises(ConfigError, match=r"nframes|rule"):
        make_plan(parse_vlmeval(values, source="here"), source="here")


@pytest.mark.parametrize(("limit", "taken"), [(None, None), (0, None), (10, 10), (10.0, 10), (0.5, 0.5)])
def test_a_whole_limit_is_a_count(tables, limit, taken):
    plan = make_plan(parse_vlmeval({"model": ["GPT4o"], "data": ["mine"], "limit": limit}, source="h"), source="h")
    assert plan.scope.limit == taken
    assert type(plan.scope.limit) is type(taken)


def test_keys_of_model_and_judge_are_known_to_be_secret(tables):
    values = {"model": ["GPT4o"], "data": ["mine"], "key": "sk-model", "judge": "j", "judge_key": "sk-judge"}
    plan = make_plan(parse_vlmeval(values, source="h"), source="h")
    assert {"sk-model", "sk-judge"} <= set(plan.secrets())


def test_runs_of_one_second_have_folders_of_their_own_and_the_newest_is_found(tmp_path):
    assert newest_run(tmp_path) is None
    first = new_run(tmp_path)
    for run in (first, new_run(tmp_path)):
        run.folder.mkdir(exist_ok=True)
    second = new_run(tmp_path)
    second.folder.mkdir()
    for run in (first, second):
        run.manifest.write_text("{}")
    (tmp_path / "T99990101-000000").mkdir()  # another tool's
    assert newest_run(tmp_path).folder == second.folder


def test_predictions_are_looked_for_above_the_runs_first(tmp_path):
    assert foreign_predictions(tmp_path, "m", "d") is None
    old, new = tmp_path / "T20250101-000000", tmp_path / "T20260101-000000"
    for folder in (old, new):
        folder.mkdir()
        (folder / "m_d.xlsx").touch()
    assert foreign_predictions(tmp_path, "m", "d") == new / "m_d.xlsx"
    (tmp_path / "m_d.tsv").touch()
    assert foreign_predictions(tmp_path, "m", "d") == tmp_path / "m_d.tsv"


def test_links_follow_the_newest_run_and_spare_a_person_s_file(tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    for name in ("T1", "T2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_text(name)
        link([tmp_path / name / "a.csv"], tmp_path)
        assert (tmp_path / "a.csv").read_text() == name
    (tmp_path / "a.csv").unlink()
    (tmp_path / "a.csv").write_text("mine")
    link([tmp_path / "T2" / "a.csv"], tmp_path)
    assert (tmp_path / "a.csv").read_text() == "mine"
    assert "is left as it is" in caplog.text
