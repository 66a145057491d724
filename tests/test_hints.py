"""Values against type hints, and what is said where they do not fit."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

import pytest

from flagmm.hints import describe, fits, hints_of, mismatch, wrong_values
from flagmm.registry import DATASETS, EVALUATORS, METRICS, PROMPTS


class Table(TypedDict, total=False):
    path: str
    files: list[str]


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("a", str),
        (5, int),
        (5, float),
        (True, bool),
        (None, str | None),
        (["a"], str | list[str]),
        (("a",), list[str]),
        (["a"], Sequence[str]),
        ([], Sequence[str]),
        ({"a": 1}, Mapping[str, Any]),
        ({"a": "b"}, dict[str, str]),
        (print, Callable[..., str]),
        ("x", Literal["x", "y"]),
        (Path("a"), str | os.PathLike[str]),
        ({"path": "a", "other": 5}, Table),
        (5, Any),
        (5, "a hint of no known kind"),
        ([1, "a"], list),
    ],
)
def test_a_value_of_the_right_type_fits(value, hint):
    assert fits(value, hint)
    assert mismatch(value, hint) is None


@pytest.mark.parametrize(
    ("value", "hint", "text"),
    [
        (5, str, "expected a text, found 5"),
        (None, str, "expected a text, found None"),
        (5, str | None, "expected a text, found 5"),
        (5, str | list[str] | None, "expected a text or a list of texts, found 5"),
        ("x", int | float | None, "expected a number, found 'x'"),
        ("ab", Sequence[str], "expected a list of texts, found 'ab'"),
        ([5], list[str], "expected a list of texts, found [5]"),
        (True, int, "expected a whole number, found True"),
        (1.5, int, "expected a whole number, found 1.5"),
        ("1", float, "expected a number, found '1'"),
        (1, bool, "expected true or false, found 1"),
        (5, Mapping[str, Any], "expected a dict, found 5"),
        ({"a": 5}, dict[str, str], "expected a dict of texts, found {'a': 5}"),
        ({5: "a"}, dict[str, str], "expected a dict of texts, found {5: 'a'}"),
        ([5], Sequence[Mapping[str, Any]], "expected a list of dicts, found [5]"),
        ("x", Callable[..., str], "expected a function, found 'x'"),
        ("z", Literal["x", "y"], "expected 'x' or 'y', found 'z'"),
        (1, Literal[True], "expected True, found 1"),
        (5, Table, "expected a dict, found 5"),
        (print, str, "expected a text, found print"),
        ("x" * 500, int, f"expected a whole number, found '{'x' * 37}...{'x' * 38}'"),
    ],
)
def test_a_value_of_another_type_is_told_with_what_was_expected(value, hint, text):
    assert mismatch(value, hint) == text


def test_a_dict_with_known_keys_is_told_key_by_key():
    found = wrong_values("config", {"path": 5, "files": "a", "other": 5}, Table | None)
    assert list(found) == [
        ("config: path", "expected a text, found 5"),
        ("config: files", "expected a list of texts, found 'a'"),
    ]
    assert list(wrong_values("config", None, Table | None)) == []


def test_hints_of_a_class_reach_up_to_its_parents():
    hints = hints_of(EVALUATORS.lookup("VqaEvaluator"))
    assert (describe(hints["variant"]), describe(hints["detailed_keys"])) == ("a text", "a list of texts")


def test_hints_of_others_are_not_held_against_values():
    base = EVALUATORS.lookup("BaseEvaluator")

    class Other(base):
        def __init__(self, *, eval_func: int = 0, **settings: int) -> None:
            super().__init__(**settings)

    hints = hints_of(Other)
    assert hints["eval_func"] is Any
    assert describe(hints["detailed_keys"]) == "a list of texts"


@pytest.mark.parametrize("registry", [DATASETS, EVALUATORS, METRICS, PROMPTS], ids=lambda registry: registry.name)
def test_every_keyword_of_what_tasks_name_has_a_hint_that_can_be_told(registry):
    for name in registry.names():
        for keyword, hint in hints_of(registry.lookup(name)).items():
            assert "another value" not in describe(hint) or hint is Any, f"{name}: {keyword}: {hint}"
