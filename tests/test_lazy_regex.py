"""Expressions that are looked for only where they can be found give what they give when looked for everywhere."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import flagmm.extraction
from flagmm.extraction import cues, mentions, options
from flagmm.extraction.cues import lower_same_length
from flagmm.lazy_regex import KeyedPattern, finditer_at, has_any, lazy_compile

VECTORS = Path(__file__).parent / "data/vectors"
KEYED = [
    pytest.param(value, id=f"{module.name}.{name}")
    for module in pkgutil.iter_modules(flagmm.extraction.__path__)
    for name, value in vars(importlib.import_module(f"flagmm.extraction.{module.name}")).items()
    if isinstance(value, KeyedPattern)
]
WITH_STARTS = [
    pytest.param(cues._ANSWER, (*cues._ANSWER_KEYS, *cues._ANSWER_KEYS_BEYOND_ASCII), id="answer"),
    pytest.param(cues._CHOICE, cues._CHOICE_STARTS, id="choice"),
    pytest.param(cues._VERB, cues._VERB_KEYS, id="verb"),
    pytest.param(mentions._VERDICT, mentions._VERDICT_STARTS, id="verdict"),
    pytest.param(options._UNCOMMITTED, options._UNCOMMITTED_STARTS, id="uncommitted"),
]


def replies():
    """The replies of some files of vectors, in lower case."""
    found = []
    for name in ("general_vmcq", "vlmevalkit_can_infer", "mmmu_parse_multi_choice", "yes_no_extraction", "bug_cases"):
        for line in (VECTORS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            values = json.loads(line)["input"]
            found.append(values.get("prediction") or values.get("response"))
    return [lower_same_length(text) for text in found if text]


REPLIES = replies()
TAILS = [text[at.start() : at.start() + 40] for text in REPLIES for at in re.finditer(r" (?=is|was|does)", text)]


@pytest.mark.parametrize("keyed", KEYED)
def test_every_match_holds_a_key(keyed):
    found = 0
    for text in REPLIES + TAILS:
        plain = keyed.pattern.search(text)
        keyed_match = keyed.search(text)
        assert (plain and plain.span()) == (keyed_match and keyed_match.span())
        found += plain is not None
    assert found


@pytest.mark.parametrize(("pattern", "starts"), WITH_STARTS)
def test_every_match_begins_with_a_start(pattern, starts):
    spans = [[at.span() for at in pattern.finditer(text)] for text in REPLIES]
    assert [[at.span() for at in finditer_at(pattern, text, starts)] for text in REPLIES] == spans
    assert any(spans)


@given(st.text("ab- ", max_size=30), st.integers(0, 8))
def test_matches_found_from_their_starts_are_those_of_finditer(text, begin):
    pattern = lazy_compile(r"(?<!-)(?:ab|ba+)b?")
    found = [at.span() for at in finditer_at(pattern, text, ("ab", "ba"), begin)]
    assert found == [at.span() for at in re.compile(r"(?<!-)(?:ab|ba+)b?").finditer(text, begin)]


def test_a_keyed_search_keeps_to_its_part_of_the_text():
    keyed = KeyedPattern(r"\bno\b", ["no"])
    assert keyed.search("no, yes", 3) is None
    assert keyed.search("yes, no", 3).start() == 5
    assert keyed.search("yes, no", 0, 5) is None
    assert has_any("yes", ("n", "y"))
    assert not has_any("yes", ())
