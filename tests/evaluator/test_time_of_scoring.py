"""Scoring takes time linear in a reply, whatever the reply is."""

from __future__ import annotations

import inspect
import time

import pytest

from flagmm.evaluator.metric import build_metric
from flagmm.metrics.coco_caption import score_captions
from flagmm.metrics.edit_distance import edit_distance
from flagmm.metrics.ngrams import lcs_length
from flagmm.registry import METRICS
from tests.evaluator.test_hostile_replies import RIGHT

SHORT, LONG = 750, 12_000
SHAPES = ["%", "1 ", "(", "A, ", "answer is ", "\\boxed{", "½", "one "]
PER_SHAPE = {"by_type", "vqa_accuracy", "fill_blank", "mmmu", "mathvista", "mathvision", "typed_open", "ocrbench"}

BY_MASK = {"point_in_mask"}  # its `score` opens a picture; it reads the last line by one search


def seconds(work, unit, length):
    text = (unit * length)[:length]
    start = time.process_time()
    work(text)
    return time.process_time() - start


def assert_linear(work, unit):
    """A quadratic step takes 256 times as long for 16 times the text; the small time is rounded up to what is noise."""
    work("warm")
    short = max(seconds(work, unit, SHORT), 0.01)
    assert seconds(work, unit, LONG) < 64 * short


@pytest.mark.parametrize("name", sorted(PER_SHAPE))
@pytest.mark.parametrize("unit", SHAPES)
def test_a_metric_takes_linear_time(name, unit):
    metric, annotation = build_metric(name, where="t"), RIGHT[name][1]
    assert_linear(lambda text: metric.score(text, annotation), unit)


@pytest.mark.parametrize("name", sorted(set(METRICS.names()) - PER_SHAPE - BY_MASK))
def test_every_other_metric_does_too(name):
    has_rule = "rule" in inspect.signature(METRICS.lookup(name)).parameters
    metric = build_metric({"type": name, **({"rule": "careful"} if has_rule else {})}, where="t")
    annotation = RIGHT[name][1] if name in RIGHT else {"answer": ["a red kite"]}
    for unit in ("%", "1 ", "[", "A, ", "½"):
        assert_linear(lambda text: metric.score(text, annotation), unit)


@pytest.mark.parametrize("unit", [*SHAPES, "a-", "a.", "1-1", "'", "a@b."])
def test_captions_take_linear_time(unit):
    assert_linear(lambda text: score_captions([(text, ["a red kite"])]), unit)


def test_a_long_text_is_compared_with_a_short_one_in_linear_time():
    assert_linear(lambda text: lcs_length(list(text), ["r", "e", "d"]), "red kite ")
    assert_linear(lambda text: edit_distance(text, "a red kite"), "red kite ")
    assert lcs_length(list("xabyc"), list("abc")) == lcs_length(list("abc"), list("xabyc")) == 3
