"""Values of formulas, and that no formula takes long."""

from __future__ import annotations

import math
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.metrics.latex_value import formula_symbols, formula_value, load_parser

HOSTILE = [
    *("9**9**9", "9^{9^{9}}", "9^9^9^9", "e^{9^{9^{9}}}", r"\exp{9^{9^9}}", "1/9^{9^9}", "-9^{9^9}", "2^{-9^{9^9}}"),
    *(r"\sqrt[9^{9^{9}}]{2}", "(9^{9^9})!", "9999999!", "9!!!!", r"\binom{99999999}{5}", r"\log_{9^{9^9}}{2}"),
    *(r"\sin{9^{9^9}}", r"\lfloor 9^{9^9}\rfloor", "9^{9^9}-9^{9^9}", "|9^{9^9}|", "x(9^{9^9})", "(x+1)^{99999}"),
    *("9^{9^9}x|_{x=1}", "9^{9^9}^t", "9^{9^9}'", r"\gamma(9^{9^9})", r"\prod_{n=1}^{9999999} n"),
    *(r"\int_0^{9^9} x dx", r"\operatorname{eye}(99999)", r"\begin{pmatrix}9&9\\9&9\end{pmatrix}^{99999}"),
    *("(" * 40 + "1" + ")" * 40, "{" * 40 + "1" + "}" * 40, "-" * 150 + "1", "2^" * 60 + "2", "1 " * 5000),
]
PIECES = [*"0129.,+-*/^!(){}[]|xe %", "\\frac", "\\sqrt", "\\pi"]
FORMULAS = st.lists(st.sampled_from(PIECES), max_size=20).map("".join)
WITHOUT_LIBRARY = r"""
import sys
sys.modules["latex2sympy2_extended"] = None  # an import of it fails
from flagmm.errors import MissingExtraError
from flagmm.metrics.latex_value import formula_value
assert formula_value("1,000.5") == 1000.5
try:
    formula_value(r"\sqrt{17}")
except MissingExtraError as error:
    print(error)
"""


@pytest.fixture(scope="module", autouse=True)
def _parser_is_loaded():
    load_parser()  # so that no test's time has that of the first import


@pytest.mark.parametrize(
    ("latex", "value"),
    [
        ("2", 2), ("1,000", 1000), ("--3", 3), ("- .5", -0.5), ("5.", 5), ("0.0", 0), ("007", 7),
        (r"\frac{1}{2}", 0.5), (r"\dfrac{\pi}{2}", math.pi / 2), ("3:4", 0.75), (r"3\div 4", 0.75),
        (r"\sqrt{2}", math.sqrt(2)), (r"\sqrt[3]{8}", 2), (r"2\sqrt{3}", 2 * math.sqrt(3)), ("2^3^2", 64), ("-2^2", -4),
        ("5!", 120), (r"\log 10", 1), (r"\log_2 8", 3), ("e^2", math.exp(2)), (r"\sin^{-1} 1", math.pi / 2),
        (r"\sinh 1", math.sinh(1)), (r"\binom{5}{2}", 10), (r"50\%", 0.5), ("{3}", 3), (r"\left(1+2\right)3", 9),
        (r"\lfloor 2.5 \rfloor", 2), (r"2\timese^2", 2 * math.exp(2)),
        pytest.param(r"1\frac{1}{2}", 0.5, id="a product, no mixed number"),
        pytest.param("2(3)", 6, id="brackets multiply"),
        pytest.param("2 3", 6, id="blanks multiply"),
    ],
)  # fmt: skip
def test_formulas_have_the_value_that_math_v_computes(latex, value):
    assert formula_value(latex) == pytest.approx(value)


@pytest.mark.parametrize(
    "latex",
    ["", " ", "e", "x", "1e3", "3x", "50%", r"12^\circ", r"\ln 2", "|3|", "1,2", "(1,2)", r"\infty", "1/0", "0/0",
     r"\sqrt{-1}", "(-8)^{1/3}", r"\text{yes}", "the answer", "π", "1=1", r"\frac12", r"\log 0", "(", ")"],
)  # fmt: skip
def test_what_math_v_cannot_compute_has_no_value(latex):
    assert formula_value(latex) is None


@pytest.mark.parametrize(
    ("latex", "value"),
    [("50%", 0.5), (r"1\frac{1}{2}", 1.5), ("2 1/2", 2.5), ("|-3|", 3), (r"\left|-3\right|", 3), ("3x+1", 7),
     ("x(x+1)", 6), (r"\ln{e^2}", 2), (r"\lceil 2.5 \rceil", 3), ("2xy", None)],
)  # fmt: skip
def test_the_full_notation_has_letters_and_mixed_numbers(latex, value):
    found = formula_value(latex, notation="full", symbols={"x": 2.0})
    assert found == (None if value is None else pytest.approx(value))


def test_the_letters_of_a_formula_are_its_symbols():
    assert formula_symbols(r"\frac{a}{b}+3") == {"a", "b"}
    assert formula_symbols("12") == formula_symbols("the answer") == frozenset()


@pytest.mark.parametrize("notation", ["plain", "full"])
@pytest.mark.parametrize("latex", HOSTILE)
def test_a_hostile_formula_takes_no_time(latex, notation):
    start = time.perf_counter()
    formula_value(latex, notation=notation, symbols={"x": 1.5})
    assert time.perf_counter() - start < 20


@settings(max_examples=60, deadline=None)
@given(FORMULAS)
def test_any_text_has_a_finite_value_or_none(latex):
    value = formula_value(latex, notation="full", symbols={"x": 1.5})
    assert value is None or math.isfinite(value)


def test_without_the_library_numbers_still_have_values_and_formulas_name_the_extra():
    done = subprocess.run([sys.executable, "-c", WITHOUT_LIBRARY], capture_output=True, text=True, check=True)
    assert "flagmm[math]" in done.stdout
