"""Seven tables from a name to a class: registration happens by import, building in `build`.

mmengine's registries, with two changes: classes registered inside `local()` are forgotten afterwards, so two tasks
may each define a class of the same name; and mistakes name the nearest known name or keyword.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

import flagmm.light_mmengine
from flagmm import formats
from flagmm.errors import ConfigError
from flagmm.hints import hints_of, wrong_values

_PACKAGE = __name__.partition(".")[0]

Entry = TypeVar("Entry", bound=Callable[..., Any])


class Registry(flagmm.light_mmengine.Registry):  # type: ignore[misc]  # mmengine ships no types
    """A table from a name to a class or function; `kind` is what messages call its entries."""

    def __init__(self, kind: str, location: str | None = None) -> None:
        super().__init__(kind, scope="flagmm", locations=[location] if location else ["flagmm.registry"])
        self._imported: bool = False
        self._is_local = False
        self._lazy: dict[str, str] = {}
        self._loaded: dict[str, Any] = {}  # of the lazy ones; kept, as their modules are imported only once

    def import_from_location(self) -> None:
        """Import the built-in entries, once."""
        if not self._imported:
            self._imported = True
            for location in self._locations:
                importlib.import_module(location)

    def register_module(
        self, name: str | list[str] | None = None, force: bool = False, module: Any = None
    ) -> Callable[[Entry], Entry]:
        """As mmengine's: a decorator, or with `module` a plain call."""
        return super().register_module(name=name, force=force, module=module)  # type: ignore[no-any-return]

    def names(self) -> list[str]:
        """All known names, those of the built-in classes included."""
        self.import_from_location()
        return sorted(self._module_dict.keys() | self._lazy.keys())

    def lookup(self, name: str) -> Any:
        """The entry called `name`.

        Raises:
            ConfigError: there is none; the message gives the nearest name.
        """
        self.import_from_location()
        if name not in self._module_dict and name in self._lazy:
            importlib.import_module(self._lazy[name])
        if name not in self._module_dict:
            raise ConfigError(f"unknown {self.name} type {name!r}.{did_you_mean(name, self.names())}")
        return self._module_dict[name]

    def register_lazily(self, modules: Mapping[str, str]) -> None:
        """Make names known whose module registers them when it is imported, which is when they are first asked for."""
        self._lazy |= modules

    @contextmanager
    def local(self) -> Iterator[None]:
        """Forget on leaving whatever is registered inside, and let it take the place of a known name meanwhile."""
        self.import_from_location()
        before, was_local = dict(self._module_dict), self._is_local
        self._is_local = True
        try:
            yield
        finally:
            self._module_dict.clear()
            self._module_dict.update({**self._loaded, **before})
            self._is_local = was_local

    def _register_module(self, module: Any, module_name: Any = None, force: bool = False) -> None:
        super()._register_module(module=module, module_name=module_name, force=force or self._is_local)
        names = [module_name] if isinstance(module_name, str) else module_name or [module.__name__]
        self._loaded |= {name: module for name in names if self._lazy.get(name) == module.__module__}


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A closing sentence that names the known spelling nearest to `name`, or lists what there is.

    >>> did_you_mean("BaseEvaluater", ["BaseEvaluator", "VqaEvaluator"])
    " Did you mean 'BaseEvaluator'?"
    """
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f" Did you mean {close[0]!r}?"
    return f" Known: {', '.join(known)}." if known else ""


def build(registry: Registry, config: Mapping[str, Any], *, where: str) -> Any:
    """Build the class that `config["type"]` names with the other values as keywords.

    Args:
        where: file and key for error messages, as in "tasks/x.py: evaluator".

    Raises:
        ConfigError: no `type`, an unknown one, or a keyword that the class does not take.
    """
    if "type" not in config:
        raise ConfigError(f"{where}: 'type' is missing.{did_you_mean('', registry.names())}")
    keywords = {key: value for key, value in config.items() if key != "type"}
    kind = config["type"]
    try:
        entry = registry.lookup(kind) if isinstance(kind, str) else kind
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    check_keywords(entry, keywords, where=where)
    check_values(entry, keywords, where=where)
    if getattr(entry, "__module__", "").partition(".")[0] != _PACKAGE:  # code of others reads dicts by attribute, too
        keywords = {key: _with_attributes(value) for key, value in keywords.items()}
    return entry(**keywords)


def _with_attributes(value: Any) -> Any:
    """A value of a config with its dicts as mmengine's, as `process(cfg)` gets them."""
    if isinstance(value, dict):
        return flagmm.light_mmengine.ConfigDict({key: _with_attributes(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return type(value)(_with_attributes(item) for item in value)
    return value


def check_values(entry: Any, values: Mapping[str, Any], *, where: str, spelt: Mapping[str, str] | None = None) -> None:
    """Refuse values of another type than the hints of our own classes say.

    Args:
        spelt: how the person wrote a keyword, where that was another word.

    Raises:
        ConfigError: it names the keyword and the value.
    """
    hints = hints_of(entry)
    for keyword, value in values.items():
        hint = hints.get(keyword, Any)
        for place, text in wrong_values((spelt or {}).get(keyword, keyword), value, hint):
            raise ConfigError(f"{where}: {place}: {text}")


def check_keywords(entry: Any, keywords: Iterable[str], *, where: str, given: Iterable[str] = ()) -> None:
    """Refuse keywords that `entry` does not take, and say which it lacks.

    Args:
        given: parameters that the caller fills in itself.
    """
    keywords = set(keywords)
    name = getattr(entry, "__name__", str(entry))
    parameters = inspect.signature(entry).parameters
    takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
    named = {key: parameter for key, parameter in parameters.items() if parameter.kind in _BY_NAME}
    for keyword in sorted(keywords - set(named)):
        if not takes_any:
            raise ConfigError(f"{where}: {name} takes no {keyword!r}.{did_you_mean(keyword, set(named) - set(given))}")
    for keyword, parameter in named.items():
        if parameter.default is inspect.Parameter.empty and keyword not in keywords | set(given):
            raise ConfigError(f"{where}: {name} needs {keyword!r}")


_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def takes_keyword(entry: Any, keyword: str) -> bool:
    """Whether `entry` can be called with `keyword`."""
    parameters = inspect.signature(entry).parameters.values()
    return any(
        (parameter.name == keyword and parameter.kind in _BY_NAME) or parameter.kind is inspect.Parameter.VAR_KEYWORD
        for parameter in parameters
    )


Class = TypeVar("Class", bound=type)


def inherits_keywords(cls: Class) -> Class:
    """Make the keywords of the base class those of a class that hands its `**settings` on to it.

    Without it a class with `**settings` would seem to take any keyword, and mistakes would be found late.
    """
    own, base = inspect.signature(cls).parameters, inspect.signature(cls.__mro__[1]).parameters
    named = {name: parameter for name, parameter in own.items() if parameter.kind in _BY_NAME}
    inherited = [parameter for name, parameter in base.items() if name not in named]
    cls.__signature__ = inspect.Signature([*named.values(), *inherited])  # type: ignore[attr-defined]  # read by inspect
    return cls


DATASETS = Registry("dataset", "flagmm.dataset")
EVALUATORS = Registry("evaluator", "flagmm.evaluator")
PROMPTS = Registry("prompt_template", "flagmm.prompt")
METRICS = Registry("metric", "flagmm.evaluator")
MODELS = Registry("model", "flagmm.models")
REPORTERS = Registry("report", "flagmm.report")
FORMATS = Registry("file format")

for _suffix, _reader in formats.READERS.items():
    FORMATS.register_module(name=_suffix, module=_reader)


@contextmanager
def local_registrations() -> Iterator[None]:
    """Keep whatever a task's own files register to that task."""
    with ExitStack() as stack:
        for registry in (DATASETS, EVALUATORS, PROMPTS, METRICS):
            stack.enter_context(registry.local())
        yield
