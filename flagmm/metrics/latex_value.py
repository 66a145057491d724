"""The value of a formula written in LaTeX.

latex2sympy2-extended (1.11) reads the formula; what it reads is evaluated here, not by SymPy. So a hostile formula such
as `9^{9^{9}}` costs no time: its text is screened first, the library evaluates nothing of what passes, and numbers that
grow too large end the evaluation. Nothing is ever run as Python.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal

from flagmm.errors import MissingExtraError

Notation = Literal["plain", "full"]

_MAX_LENGTH = 160
_MAX_DEPTH = 8
_MAX_BITS = 4096
_MAX_FACTORIAL = 170  # the largest whose value is a float

_FUNCTIONS = ("log", "exp", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh")
_PLAIN = frozenset(
    (*_FUNCTIONS, "frac", "dfrac", "tfrac", "sqrt", "pi", "cdot", "times", "div", "lfloor", "rfloor")
) | {"left", "right", "displaystyle", "quad", "qquad"}
_GREEK = frozenset(
    ("alpha", "beta", "delta", "epsilon", "theta", "lambda", "mu", "rho", "sigma", "phi", "varphi", "omega")
)
_COMMANDS: dict[Notation, frozenset[str]] = {"plain": _PLAIN, "full": _PLAIN | _GREEK | {"ln", "lceil", "rceil"}}

_COMMAND = re.compile(r"\\([a-z]+)")
_TOKEN = re.compile(r"\\(?P<command>[a-z]+)|\\[%,;:! ]|(?P<letters>[a-z]+)|[\d\s.,+*/:!^_(){}\[\]|%-]")
_FORBIDDEN = re.compile(
    r",|\|\s*[_^]|(?:[-+]\s*){5}"  # lists; "evaluated at", for which the library substitutes; long chains of signs
    r"|\\sqrt\s*\[(?!\s*\d{1,3}\s*\])"  # roots other than small whole ones, which the library evaluates
)
_SIGNED_NUMBER = re.compile(r"\s*(?P<signs>[-+\s]*)(?P<digits>\d+(?:,\d{3})*(?:\.\d*)?|\.\d+)\s*")
_THOUSANDS = re.compile(r"(?<![\d.])\d+(?:,\d{3})+(?!\d)")
_SPACE = re.compile(r"\\(?:left(?![a-z])|right(?![a-z])|displaystyle|q?quad|[,;:! ])|\$|~")
_BINOMIAL = re.compile(r"\\binom\s*\{\s*(\d{1,3})\s*\}\s*\{\s*(\d{1,3})\s*\}")
_BRACED = re.compile(r"\A\s*\{([^{}]*)\}\s*\Z")
_WHOLE = re.compile(r"(?<![\d._])(?<!_\{)(\d+)\.?(?![\d.])")
_ROOT_INDEX = re.compile(r"\[\s*(\d+)\.0\s*\]")
_EULER = re.compile(r"(?<![a-z\\])e(?=\s*\^)")
_FACTOR_BRACKET = re.compile(r"(?<![a-z\\])([a-z])\s*(?=\()")
_MIXED = re.compile(r"(?<![\d.])(\d+)\s*(\\[dt]?frac\s*\{\s*\d+\s*\}\s*\{\s*\d+\s*\})")
_MIXED_SLASH = re.compile(r"(?<![\d.])(\d+)\s+(\d+/\d+)(?![\d.])")
_INVERSE = re.compile(r"\\(sin|cos|tan)\s*\^\s*(?:-1|\{\s*-1\s*\})")
_ABSOLUTE = re.compile(r"\\(?:left|right)\s*\|")


def formula_value(
    latex: str, *, notation: Notation = "plain", symbols: Mapping[str, float] | None = None
) -> int | float | None:
    """Return the value of a formula, or None where it has none: no number, no formula, too large, too long.

    Args:
        latex: in lower case.
        notation: "plain" is arithmetic as the scorer of MATH-V takes it: no letters but in `e^`, no absolute values, no
            `ln`, no bare `%`, and `1\\frac{1}{2}` is a product. "full" has letters, percentages, and mixed numbers.
        symbols: what letters stand for; a formula with other letters has no value.

    Raises:
        MissingExtraError: latex2sympy2-extended is not installed, and the formula is more than a number.
    """
    number = _plain_number(latex)
    if number is not None:
        return number
    tree = _parse(latex, notation)
    if tree is None:
        return None
    try:
        value = _evaluate(tree, symbols or {})
        return value if math.isfinite(value) else None
    except (ArithmeticError, ValueError, TypeError, KeyError, RecursionError):
        return None


def formula_symbols(latex: str) -> frozenset[str]:
    """Return the letters that stand for numbers in a formula of the full notation, none where it is no formula."""
    tree = None if _plain_number(latex) is not None else _parse(latex, "full")
    return frozenset(symbol.name for symbol in tree.free_symbols) if tree is not None else frozenset()


def load_parser() -> Callable[..., Any]:
    """Return the library's `latex2sympy`; a scorer calls it early to know that it is there.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        from latex2sympy2_extended import latex2sympy
    except ImportError as error:
        raise MissingExtraError("latex2sympy2-extended", "math", "comparing formulas") from error
    return latex2sympy  # type: ignore[no-any-return]


def _plain_number(text: str) -> int | float | None:
    found = _SIGNED_NUMBER.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    if found is None:
        return None
    sign = -1 if found["signs"].count("-") % 2 else 1
    whole, _, decimals = found["digits"].replace(",", "").partition(".")
    if not decimals.strip("0"):
        return sign * int(whole or 0)
    return sign * float(f"{whole}.{decimals}")


@lru_cache(maxsize=1024)
def _parse(latex: str, notation: Notation) -> Any:
    """The SymPy tree of a formula, nothing in it evaluated; None where there is none."""
    if len(latex) > _MAX_LENGTH:
        return None
    text = _prepared(latex, notation)
    if not _is_harmless(text, notation):
        return None
    parse = load_parser()
    try:
        tree = parse(text, normalization_config=None)
    except Exception:  # noqa: BLE001  the library raises bare Exception for what is no formula
        return None
    return tree if hasattr(tree, "free_symbols") else None


def _prepared(latex: str, notation: Notation) -> str:
    """The formula in the form in which the library reads it as wanted.

    Whole numbers get a decimal point: the library takes `2(3)` and `2 3` for mixed numbers otherwise.
    """
    text = _ABSOLUTE.sub("|", latex) if notation == "full" else latex
    text = _SPACE.sub(" ", _COMMAND.sub(_unglued, text)).strip()
    text = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), text)
    text = _BINOMIAL.sub(lambda found: f"({math.comb(int(found[1]), int(found[2]))})", text)
    text = _BRACED.sub(r"\1", _INVERSE.sub(r"\\arc\1 ", text))
    if notation == "full":
        text = _MIXED_SLASH.sub(r"(\1+\2)", _MIXED.sub(r"(\1+\2)", text))
        text = _FACTOR_BRACKET.sub(r"\1\\cdot ", text)
    text = _ROOT_INDEX.sub(r"[\1]", _WHOLE.sub(r"\1.0", text))
    return _EULER.sub(repr(math.e), text)


def _unglued(command: re.Match[str]) -> str:
    """A command that the removal of blanks has joined with what followed it, apart again: `\\timese`, `\\pir`."""
    name = command[1]
    lengths = range(len(name), 1, -1)
    known = next((length for length in lengths if name[:length] in _COMMANDS["full"]), len(name))
    return command[0] if known == len(name) else f"\\{name[:known]} {name[known:]}"


def _is_harmless(text: str, notation: Notation) -> bool:
    """Say whether `text` looks like a formula and holds nothing that makes the library evaluate or recur deeply."""
    if not text or _FORBIDDEN.search(text) or _depth(text) > _MAX_DEPTH:
        return False
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None or not _is_allowed(token, notation):
            return False
        place = token.end()
    return True


def _is_allowed(token: re.Match[str], notation: Notation) -> bool:
    if token["command"]:
        return token["command"] in _COMMANDS[notation]
    if token["letters"]:
        return notation == "full" and len(token["letters"]) <= 3
    return notation == "full" or token[0] not in "|%"


def _depth(text: str) -> int:
    depth = deepest = 0
    for character in text:
        depth += (character in "({[") - (character in ")}]")
        deepest = max(deepest, depth)
    return deepest


def _evaluate(node: Any, symbols: Mapping[str, float]) -> int | float:
    if node.is_Symbol:
        return symbols[node.name]
    if node.is_number and not node.args:
        return _leaf(node)
    handler = _HANDLERS[type(node).__name__]
    return handler(*[_evaluate(argument, symbols) for argument in node.args])


def _leaf(node: Any) -> int | float:
    """A constant; one without decimals is whole, however it is written."""
    whole, value = int(node), float(node)
    return whole if whole == value else value


def _power(base: int | float, exponent: int | float) -> int | float:
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * exponent > _MAX_BITS:
        raise OverflowError
    value: int | float | complex = base**exponent
    if isinstance(value, complex):
        raise ValueError
    return value


def _product(*factors: int | float) -> int | float:
    return math.prod(factors)


def _sum(*terms: int | float) -> int | float:
    return sum(terms)


def _factorial(number: int | float) -> int:
    if not isinstance(number, int) or number > _MAX_FACTORIAL:
        raise OverflowError
    return math.factorial(number)


def _same(value: int | float) -> int | float:
    return value


_HANDLERS: dict[str, Callable[..., int | float]] = {
    "Add": _sum,
    "Mul": _product,
    "Pow": _power,
    "UnevaluatedExpr": _same,
    "FiniteSet": _same,
    "factorial": _factorial,
    "floor": math.floor,
    "ceiling": math.ceil,
    "Abs": abs,
    "log": math.log,
    "exp": math.exp,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
}
