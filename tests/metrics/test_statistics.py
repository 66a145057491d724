"""Wilson's interval against published numbers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.metrics.statistics import wilson_interval

OFTEN = settings(max_examples=100, deadline=None)


@pytest.mark.parametrize(
    ("successes", "count", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17, table I, method 3.
        pytest.param(81, 263, 0.2553, 0.3662, id="81 of 263"),
        pytest.param(15, 148, 0.0624, 0.1605, id="15 of 148"),
        pytest.param(0, 20, 0.0000, 0.1611, id="0 of 20"),
        pytest.param(1, 29, 0.0061, 0.1718, id="1 of 29"),
        # By hand: with z = 1.96, 0 of 1 gives z² / (1 + z²) above, and 1 of 1 its mirror.
        pytest.param(0, 1, 0.0000, 0.7935, id="0 of 1"),
        pytest.param(1, 1, 0.2065, 1.0000, id="1 of 1"),
        pytest.param(50, 100, 0.4038, 0.5962, id="half"),
    ],
)
def test_wilson_s_interval_is_the_published_one(successes, count, low, high):
    assert wilson_interval(successes, count) == pytest.approx((low, high), abs=5e-5)


def test_nothing_observed_has_no_interval():
    assert wilson_interval(0, 0) is None


@OFTEN
@given(st.integers(1, 10**6).flatmap(lambda count: st.tuples(st.floats(0, count), st.just(count))))
def test_an_interval_holds_its_share_and_mirrors_that_of_the_failures(observed):
    successes, count = observed
    low, high = wilson_interval(successes, count)
    assert 0 <= low <= successes / count + 1e-12
    assert successes / count - 1e-12 <= high <= 1
    mirrored = wilson_interval(count - successes, count)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((low, high), abs=1e-9)


@OFTEN
@given(st.integers(1, 1000), st.integers(2, 10))
def test_more_observations_make_it_narrower(count, times):
    few, many = wilson_interval(count / 2, count), wilson_interval(count * times / 2, count * times)
    assert many.high - many.low < few.high - few.low
