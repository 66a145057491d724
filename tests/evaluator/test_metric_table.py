"""docs/metrics.md says of every metric what settings it takes, and which is the default."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import flagmm.evaluator
from flagmm.errors import ConfigError
from flagmm.evaluator.metric import build_metric
from flagmm.evaluator.verdict import verdict_by
from flagmm.registry import METRICS

DOCS = Path(__file__).parents[2] / "docs/metrics.md"
ROWS = {
    cells[1].strip("`"): cells[4]
    for line in DOCS.read_text(encoding="utf-8").splitlines()
    if (cells := re.split(r"\s*\|\s*", line)) and line.startswith("| `")
}
ONE_RULE = {"by_type", "anls", "point_in_mask", "general_vqa", "coco_caption"}
"""Metrics whose benchmark's own rule has no fault that a careful reading would mend."""


def parameters(name):
    return inspect.signature(METRICS.lookup(name)).parameters


def test_every_metric_is_in_the_table_and_no_other():
    assert set(ROWS) == set(METRICS.names())
    assert flagmm.evaluator.__all__


@pytest.mark.parametrize("name", sorted(ROWS))
def test_the_table_names_every_setting_with_its_default_first(name):
    named = dict(re.findall(r"`(\w+)`(?:, `\w+`)?: `([^`]+)`", ROWS[name]))
    listed = set(re.findall(r"`(\w+)`(?=[,:])", ROWS[name])) - {"None", "False", "True"}
    assert listed == set(parameters(name))
    defaults = {key: value.default for key, value in parameters(name).items()}
    assert {key: repr(defaults[key]) for key in named} == {key: text.replace('"', "'") for key, text in named.items()}


@pytest.mark.parametrize("name", sorted(set(ROWS) - ONE_RULE))
def test_every_metric_with_two_rules_offers_both(name):
    assert parameters(name).keys() & {"rule", "reading"}


@pytest.mark.parametrize("name", sorted(name for name in ROWS if "rule" in parameters(name)))
def test_a_rule_that_is_none_is_told(name):
    with pytest.raises(ConfigError, match=r"^metrics: rule: expected .*, found 'strict'$"):
        build_metric({"type": name, "rule": "strict"}, where="metrics")


@pytest.mark.parametrize(
    ("rule", "correct", "other"),
    [("reference", 1.0, ("careful", 0.0)), ("careful", 0.0, ("reference", 1.0))],
)
def test_a_verdict_holds_the_other_rule_s_score_where_they_disagree(rule, correct, other):
    verdict = verdict_by(rule, reference=1.0, careful=0.0, extracted="A", read_by="x")
    assert verdict.correct == correct
    assert getattr(verdict, other[0]) == other[1]
    assert getattr(verdict, rule) is None
    agreed = verdict_by(rule, reference=1.0, careful=1.0, extracted="A", read_by="x")
    assert (agreed.correct, agreed.careful, agreed.reference) == (1.0, None, None)
