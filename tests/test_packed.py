"""A list kept as bytes, of which the most part is on disk."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.packed import IN_MEMORY, PackedValues, is_plain

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
LONG = "x" * (IN_MEMORY // 10)


def packed(values):
    found = PackedValues()
    found.extend(values)
    return found


@given(st.lists(PLAIN, max_size=5))
def test_what_goes_in_comes_out(values):
    found = packed(values)
    assert list(found) == values
    assert [found[number] for number in range(len(values))] == values
    assert found[1:] == values[1:]
    assert len(found) == len(values)


@pytest.fixture(scope="module")
def large():
    """Values of which most are on disk and some are not."""
    return [(number, LONG) for number in range(35)]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-35, 34), max_size=80))
def test_values_on_disk_are_found_in_any_order(large, numbers):
    found = packed(large)
    assert [found[number][0] for number in numbers] == [large[number][0] for number in numbers]


def test_values_on_disk_are_walked_and_more_may_follow(large):
    found = packed(large)
    found.append("last")
    assert list(found) == [*large, "last"]
    walk = iter(found)
    assert next(walk) == large[0]
    found.extend(large)
    assert list(walk) == [*large[1:], "last", *large]
    assert found[-1] == large[-1]


@pytest.mark.parametrize("number", [35, -36])
def test_there_is_nothing_beyond_the_ends(large, number):
    with pytest.raises(IndexError):
        packed(large)[number]


def test_each_look_makes_a_new_value():
    found = packed([["a"], ["b"]])
    found[0].append("changed")
    found[1].append("changed")
    assert (found[0], found[1], *found) == (["a"], ["b"], ["a"], ["b"])


def test_what_has_no_built_in_type_is_refused():
    found = packed(["a"])
    with pytest.raises(ValueError, match="unmarshallable"):
        found.append(object())
    assert list(found) == ["a"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, True), ("a", True), (1.5, True), ([1, ("a", [True])], True), ({"a": {"b": [None]}}, True), ({}, True),
        (b"a", False), ({1: "a"}, False), ([{"a": {1}}], False), ((1, object()), False), (memoryview(b"a"), False),
    ],
)  # fmt: skip
def test_plain_is_what_json_knows(value, expected):
    assert is_plain(value) is expected


def test_without_space_on_disk_the_values_stay_in_memory():
    code = (
        "import logging, resource\n"
        "from flagmm.packed import IN_MEMORY, PackedValues\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (IN_MEMORY // 2, IN_MEMORY // 2))\n"
        "logging.basicConfig(format='%(message)s')\n"
        "values = ['x' * (IN_MEMORY // 10)] * 35\n"
        "found = PackedValues()\n"
        "found.extend(values)\n"
        "print(list(found) == values == [found[number] for number in range(35)])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "True\n")
    [told] = done.stderr.splitlines()
    assert told.endswith(": cannot be written: File too large; the data stay in memory")
