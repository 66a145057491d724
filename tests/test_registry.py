"""Names to classes: look-up, building, and mistakes that name what was meant."""

from __future__ import annotations

import inspect
import sys

import pytest

from flagmm.errors import ConfigError
from flagmm.registry import (
    DATASETS,
    EVALUATORS,
    FORMATS,
    MODELS,
    PROMPTS,
    REPORTERS,
    Registry,
    build,
    check_keywords,
    did_you_mean,
    inherits_keywords,
    local_registrations,
    takes_keyword,
)

LAZY = Registry("lazy box", "flagmm.errors")
BUILT_IN = Registry("built-in box", "built_in_boxes")


class Box:
    def __init__(self, *, size, colour="red"):
        self.size, self.colour = size, colour


class Chest:
    def __init__(self, *, size, **settings):
        self.size, self.settings = size, settings


@pytest.fixture
def boxes():
    registry = Registry("box", "flagmm.errors")
    registry.register_module(module=Box)
    registry.register_module(name="chest", module=Chest)
    return registry


@pytest.mark.parametrize(
    ("registry", "names"),
    [
        pytest.param(DATASETS, {"VqaBaseDataset", "VideoDataset"}, id="data sets"),
        pytest.param(EVALUATORS, {"BaseEvaluator"}, id="evaluators"),
        pytest.param(PROMPTS, {"PromptTemplate"}, id="prompts"),
        pytest.param(MODELS, {"http", "ocr", "random", "scripted"}, id="models"),
        pytest.param(REPORTERS, {"json", "csv", "md"}, id="reports"),
        pytest.param(FORMATS, {".json", ".jsonl"}, id="formats"),
    ],
)
def test_the_built_in_classes_are_there_without_importing_them(registry, names):
    assert names <= set(registry.names())


def test_a_class_is_built_with_the_other_keys_as_keywords(boxes):
    box = build(boxes, {"type": "Box", "size": 3}, where="x.py: box")
    assert (type(box), box.size, box.colour) == (Box, 3, "red")
    assert build(boxes, {"type": Chest, "size": 3, "any": 1}, where="x").settings == {"any": 1}


def test_building_leaves_the_config_as_it_is(boxes):
    config = {"type": "Box", "size": 3}
    build(boxes, config, where="x")
    assert config == {"type": "Box", "size": 3}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        pytest.param({"size": 1}, r"^x\.py: box: 'type' is missing\. Known: Box, chest\.$", id="no type"),
        pytest.param(
            {"type": "Boxx"}, r"^x\.py: box: unknown box type 'Boxx'\. Did you mean 'Box'\?$", id="unknown type"
        ),
        pytest.param({"type": "?"}, r"unknown box type '\?'\. Known: Box, chest\.$", id="nothing near"),
        pytest.param(
            {"type": "Box", "sice": 1}, r"^x\.py: box: Box takes no 'sice'\. Did you mean 'size'\?$", id="keyword"
        ),
        pytest.param({"type": "Box"}, r"^x\.py: box: Box needs 'size'$", id="missing keyword"),
        pytest.param(
            {"type": "chest", "any": 1}, r"Chest needs 'size'$", id="missing keyword of a class that takes any"
        ),
    ],
)
def test_a_mistake_names_the_place_and_what_was_meant(boxes, config, message):
    with pytest.raises(ConfigError, match=message):
        build(boxes, config, where="x.py: box")


def test_a_keyword_that_the_caller_fills_in_is_neither_missing_nor_suggested():
    check_keywords(Box, ["colour"], where="x", given=["size"])
    with pytest.raises(ConfigError, match=r"Known: colour\.$"):
        check_keywords(Box, ["zzz"], where="x", given=["size"])


@pytest.mark.parametrize(
    ("entry", "takes"),
    [
        (Box, False),
        (Chest, True),
        (lambda base_dir: 0, True),
        (lambda base_dir, /: 0, False),
        (lambda *base_dir: 0, False),
    ],
)
def test_whether_a_keyword_is_taken(entry, takes):
    assert takes_keyword(entry, "base_dir") is takes


def test_a_class_that_hands_keywords_on_takes_those_of_its_base_and_no_others():
    @inherits_keywords
    class Crate(Box):
        def __init__(self, *, nails=4, **settings):
            super().__init__(**settings)

    assert list(inspect.signature(Crate).parameters) == ["nails", "size", "colour"]
    assert takes_keyword(Crate, "colour")
    check_keywords(Crate, ["size", "nails"], where="here")
    with pytest.raises(ConfigError, match="Crate takes no 'nail'"):
        check_keywords(Crate, ["nail"], where="here")


def test_a_second_class_of_one_name_is_refused_outside_a_task(boxes):
    with pytest.raises(KeyError, match="already registered"):
        boxes.register_module(name="Box", module=Chest)


def test_what_is_registered_locally_may_take_a_known_name_and_is_forgotten(boxes):
    with boxes.local():
        boxes.register_module(name="Box", module=Chest)
        boxes.register_module(name="new", module=Chest)
        assert boxes.lookup("Box") is Chest
    assert boxes.lookup("Box") is Box
    assert boxes.names() == ["Box", "chest"]


def _register_and_fail(registry):
    registry.register_module(name="inner", module=Chest)
    raise KeyError


def test_local_registrations_may_be_nested_and_end_with_an_error(boxes):
    with boxes.local():
        boxes.register_module(name="outer", module=Chest)
        with pytest.raises(KeyError), boxes.local():
            _register_and_fail(boxes)
        assert boxes.names() == ["Box", "chest", "outer"]
        boxes.register_module(name="outer", module=Box)  # still local
    assert boxes.names() == ["Box", "chest"]


def test_two_tasks_may_define_an_evaluator_of_one_name():
    found = []
    for number in (1, 2):
        with local_registrations():

            @EVALUATORS.register_module()
            class SameName:
                which = number

            found.append(EVALUATORS.lookup("SameName").which)
    assert found == [1, 2]
    with pytest.raises(ConfigError, match="SameName"):
        EVALUATORS.lookup("SameName")


def test_a_registry_imports_its_built_in_entries_when_first_asked(tmp_path, monkeypatch):
    (tmp_path / "built_in_boxes.py").write_text(
        "from tests.test_registry import BUILT_IN, Box\nBUILT_IN.register_module('built in', module=Box)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert "built_in_boxes" not in sys.modules
    assert BUILT_IN.names() == ["built in"]
    assert BUILT_IN.lookup("built in") is Box
    del sys.modules["built_in_boxes"]


def test_a_lazy_entry_is_known_by_name_and_imported_when_first_asked_for(tmp_path, monkeypatch):
    (tmp_path / "lazy_box.py").write_text(
        "from tests.test_registry import LAZY, Box\nLAZY.register_module('lazy', module=Box)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    LAZY.register_lazily({"lazy": "lazy_box"})
    assert LAZY.names() == ["lazy"]
    assert "lazy_box" not in sys.modules
    assert LAZY.lookup("lazy") is Box
    del sys.modules["lazy_box"]


def test_a_lazy_entry_that_is_first_asked_for_in_a_task_stays_known_to_the_next(tmp_path, monkeypatch):
    (tmp_path / "kept_box.py").write_text(
        "from tests.test_registry import LAZY\n\n\n@LAZY.register_module('kept')\nclass Kept:\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    LAZY.register_lazily({"kept": "kept_box"})
    with LAZY.local():
        first = LAZY.lookup("kept")
    with LAZY.local():
        LAZY.register_module("kept", module=Box)
        assert LAZY.lookup("kept") is Box
    assert LAZY.lookup("kept") is first
    del sys.modules["kept_box"]


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("BaseEvaluater", ["BaseEvaluator", "Other"], " Did you mean 'BaseEvaluator'?"),
        ("zzz", ["b", "a"], " Known: a, b."),
        ("zzz", [], ""),
    ],
)
def test_the_nearest_name_is_suggested(name, known, hint):
    assert did_you_mean(name, known) == hint
