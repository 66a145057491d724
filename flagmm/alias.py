"""`flagevalmm` as a second name of `flagmm`: the same module objects, so both names share one registry."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType

from flagmm.generation import PACKAGES

ALIAS = "flagevalmm"
TARGET = "flagmm"


# FlagEvalMM's modules whose classes are in others of ours.
_MOVED = {
    ".evaluator.aggregation_evaluator": ".evaluator.other_evaluators",
    ".evaluator.multi_inference_evaluator": ".evaluator.other_evaluators",
    ".evaluator.retrieval_evaluator": ".evaluator.other_evaluators",
    ".models.base_api_model": ".models.gpt",
    ".models.claude": ".models.gpt",
    ".models.gemini": ".models.gpt",
    ".models.http_client": ".models.gpt",
    ".models.hunyuan": ".models.gpt",
    ".prompt.prompt_template": ".prompt.template",
}


_MOVED |= {
    f".{package}.{module}": ".generation" for package, classes in PACKAGES.items() for module in classes.values()
}


def _real_name(fullname: str) -> str:
    inner = fullname[len(ALIAS) :]
    return TARGET + _MOVED.get(inner, inner)


class _AliasLoader(importlib.abc.Loader):
    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(_real_name(spec.name))
        self._own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has put the alias's spec on the shared module; the module keeps its own.
        module.__spec__ = self._own_spec

    def get_code(self, fullname: str) -> CodeType | None:
        """What `python -m flagevalmm…` runs."""
        spec = importlib.util.find_spec(_real_name(fullname))
        loader = spec.loader if spec else None
        return loader.get_code(_real_name(fullname)) if isinstance(loader, importlib.abc.InspectLoader) else None


class _AliasFinder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != ALIAS and not fullname.startswith(ALIAS + "."):
            return None
        real = importlib.util.find_spec(_real_name(fullname))
        if real is None:
            return None
        is_package = real.submodule_search_locations is not None
        return importlib.machinery.ModuleSpec(fullname, _AliasLoader(), origin=real.origin, is_package=is_package)


def install() -> None:
    """Make `import flagevalmm…` work in this process. Safe to call twice."""
    if not any(isinstance(finder, _AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AliasFinder())
