"""Imports that wait for the first use of what they bring.

For packages that import, for names which a program hardly ever uses, modules that take long to load.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any


@contextmanager
def deferred(*names: str) -> Iterator[None]:
    """Let modules imported inside get stand-ins for the modules `names`.

    A stand-in loads the real module when one of its attributes is used after the block; inside, its attributes are
    stand-ins too, good for annotations and `from … import`, and loading when called or looked into. They cannot be
    inherited from. Outside the block imports bring the real modules. Modules loaded already are left alone.
    """
    stand_ins = {name: _DeferredModule(name) for name in names if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, module in stand_ins.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
            module.__dict__["is_importable"] = True


class _DeferredModule(ModuleType):
    is_importable = False
    """Whether the block is over, so that the real module can be loaded."""

    def __getattr__(self, name: str) -> Any:
        if self.is_importable:
            return getattr(importlib.import_module(self.__name__), name)
        if name.startswith("__"):  # what the import system asks a module for
            raise AttributeError(name)
        return _DeferredName(self.__name__, name)


class _DeferredName:
    """An attribute of a module that is not loaded yet."""

    def __init__(self, module: str, name: str) -> None:
        self._place = module, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._real()(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._real(), name)

    def _real(self) -> Any:
        module, name = self._place
        return getattr(importlib.import_module(module), name)
