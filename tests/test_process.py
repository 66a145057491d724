"""Room for calls under the limit of open files."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

CODE = """
import json, resource, sys
from flagmm.process import room_for_calls
soft, hard, wanted = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
print(json.dumps([room_for_calls(wanted), resource.getrlimit(resource.RLIMIT_NOFILE)[0]]))
"""


def room(soft, hard, wanted):
    arguments = map(str, (soft, hard, wanted))
    done = subprocess.run([sys.executable, "-c", CODE, *arguments], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_a_limit_that_is_high_enough_is_left_alone():
    assert room(1000, 2000, 8) == [8, 1000]


def test_a_limit_is_raised_as_far_as_the_calls_need():
    calls, soft = room(256, 2000, 1200)
    assert calls == 1200
    assert 1360 <= soft < 1400


@pytest.mark.parametrize(("limit", "least", "most"), [(1024, 800, 864), (64, 8, 32), (20, 1, 10)])
def test_where_it_cannot_be_raised_there_are_fewer_calls_but_at_least_one(limit, least, most):
    calls, soft = room(limit, limit, 1200)
    assert soft == limit
    assert least <= calls <= most
