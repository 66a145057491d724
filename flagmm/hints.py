"""Values of a config against the type hints of what they are for, so that each kind of mistake is told in one place."""

from __future__ import annotations

import inspect
import os
import reprlib
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, Union, get_args, get_origin

_NAMES: dict[Any, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    dict: "a dict",
    type(None): "None",
}
_PACKAGE = __name__.partition(".")[0]
_SHOWN = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = 80


def mismatch(value: Any, hint: Any) -> str | None:
    """What was expected and found, where the value is not what the hint says; None where it is.

    Lists and tuples stand for each other, and a whole number for any number; a text is no list of texts.

    >>> mismatch(5, str | None)
    'expected a text, found 5'
    """
    if fits(value, hint):
        return None
    return f"expected {describe(hint)}, found {shown(value)}"


def shown(value: Any) -> str:
    """A value as messages show it: shortened, and a function by its name."""
    return getattr(value, "__qualname__", None) or _SHOWN.repr(value)


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is what the hint says; hints that say nothing about values, such as Any, take all."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:  # a class since Python 3.11, but one that `isinstance` refuses
        return True
    if hint is None:
        return value is None
    if origin in (Union, types.UnionType):
        return any(fits(value, each) for each in inner)
    if origin is Literal:
        return any(value == each and type(value) is type(each) for each in inner)
    if typing.is_typeddict(hint):
        return isinstance(value, Mapping) and not any(wrong_values("", value, hint))
    kind = origin or hint
    if kind is Callable or not isinstance(kind, type):
        return callable(value) if kind is Callable else True
    if kind in (bool, str) or not issubclass(kind, Iterable):
        return _is_plain(value, kind)
    return _holds(value, kind, inner)


def _is_plain(value: Any, kind: type) -> bool:
    if kind in (int, float):
        return isinstance(value, (int, kind)) and not isinstance(value, bool)
    return isinstance(value, kind)


def _holds(value: Any, kind: type, inner: tuple[Any, ...]) -> bool:
    """Whether a container holds what it should."""
    if issubclass(kind, Mapping):
        of_key, of_value = inner or (Any, Any)
        return isinstance(value, Mapping) and all(fits(k, of_key) and fits(v, of_value) for k, v in value.items())
    if issubclass(kind, (list, tuple)) or kind.__module__ == "collections.abc":
        element = inner[0] if inner else Any
        return isinstance(value, (list, tuple, set, frozenset)) and all(fits(each, element) for each in value)
    return isinstance(value, kind)


def wrong_values(key: str, value: Any, hint: Any) -> Iterator[tuple[str, str]]:
    """The (key, what was expected and found) of what is not as the hint says; of a dict with known keys, key by key."""
    table = next((each for each in (hint, *get_args(hint)) if typing.is_typeddict(each)), None)
    if table is not None and isinstance(value, Mapping):
        for inner, inner_hint in typing.get_type_hints(table).items():
            if inner in value:
                yield from wrong_values(f"{key}: {inner}", value[inner], inner_hint)
        return
    text = mismatch(value, hint)
    if text is not None:
        yield key, text


def describe(hint: Any) -> str:
    """A hint in words, None left out.

    >>> describe(str | list[str] | None)
    'a text or a list of texts'
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        kinds = [each for each in inner if each is not type(None) and not (each is int and float in inner)]
        return " or ".join(dict.fromkeys(map(describe, kinds)))
    if origin is Literal:
        return " or ".join(repr(each) for each in inner)
    if typing.is_typeddict(hint):
        return "a dict"
    kind = origin or hint
    if kind is Callable:
        return "a function"
    if hint in _NAMES or not isinstance(kind, type):
        return _NAMES.get(hint, "another value")
    if issubclass(kind, os.PathLike):
        return "a path"
    if issubclass(kind, Mapping):
        return _several("a dict", inner[-1:])
    return _several("a list", inner[:1]) if issubclass(kind, Iterable) else f"a {kind.__name__}"


def _several(container: str, inner: tuple[Any, ...]) -> str:
    """A container with what is in it, where that is of one simple kind."""
    element = "" if not inner or inner[0] is Any else describe(inner[0])
    is_simple = element.startswith("a ") and " or " not in element
    return f"{container} of {element.removeprefix('a ')}s" if is_simple else container


def hints_of(entry: Any) -> dict[str, Any]:
    """The type hints of the keywords that a class or function takes, those included that reach a parent's `__init__`.

    Only our own classes are asked: the hints of others were not written to be held against values.
    """
    if not inspect.isclass(entry):
        return _own_hints(entry)
    hints: dict[str, Any] = {}
    for cls in entry.__mro__:
        init = vars(cls).get("__init__")
        if not inspect.isfunction(init):
            continue
        parameters = inspect.signature(init).parameters.values()
        own = _own_hints(init)
        for parameter in parameters:
            hints.setdefault(parameter.name, own.get(parameter.name, Any))
        if all(parameter.kind is not inspect.Parameter.VAR_KEYWORD for parameter in parameters):
            break
    return hints


def _own_hints(function: Any) -> dict[str, Any]:
    if getattr(function, "__module__", "").partition(".")[0] != _PACKAGE:
        return {}
    try:
        return typing.get_type_hints(function)
    except NameError:  # a type that is imported for type checkers only
        return {}
