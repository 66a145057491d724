"""The shape of the package: who may import whom, what is never imported at start-up, and how large things get."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import flagmm

PACKAGE = Path(flagmm.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
LAYERS = (
    {"errors", "types", "paths", "jsonio", "thinking", "alias", "lazy_regex", "hints", "constants", "finish_reasons"}
    | {"deferred_imports", "light_mmengine", "memory", "packed", "lazy_sequence", "process", "output_files"}
    | {"chat_tokens", "printable", "generation"},
    {"metrics", "extraction", "media", "formats"},
    {"registry", "plugin", "config"},
    {"prompt", "dataset", "models", "evaluator", "common"},
    {"inference", "report"},
    {"assembly", "vlmeval"},
    {"manifest", "pipeline", "checking", "unscored"},
    {"run"},
    {"cli"},
)
RANK = {unit: rank for rank, units in enumerate(LAYERS) for unit in units}
ENTRANCES = {"__init__", "__main__", "_flagevalmm"}  # the package's own doors: they name what is inside
STRANGERS = {  # within one layer, who must not know whom
    "metrics": {"extraction", "media", "formats"},
    "models": {"dataset", "evaluator", "prompt"},
    "dataset": {"models", "evaluator"},
    "prompt": {"models", "dataset", "evaluator"},
}
HEAVY = {
    "PIL", "aiohttp", "av", "cv2", "datasets", "nltk", "numpy", "onnxruntime", "openpyxl", "pandas", "pyarrow",
    "rapidocr", "tabulate", "torch", "tqdm",
}  # fmt: skip
LONGEST_MODULE = 350
LONGEST_FUNCTION = 40


class Import(NamedTuple):
    module: str
    """Dotted name, as in `flagmm.models.client`."""
    line: int
    when: str
    """"start" where importing the module runs it, "call" inside a function, "types" for type checkers only."""

    @property
    def unit(self) -> str | None:
        """The part of flagmm that it belongs to; None for other packages."""
        parts = self.module.split(".")
        return parts[1] if parts[0] == "flagmm" and len(parts) > 1 else None


def shown(path: Path) -> str:
    return path.relative_to(PACKAGE.parent).as_posix()


def unit_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


@functools.cache
def imports_of(path: Path) -> tuple[Import, ...]:
    return tuple(_imports(parsed(path), "start"))


def _imports(node: ast.AST, when: str) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, child.lineno, when) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"line {child.lineno}: a relative import hides its direction"
            yield from (Import(name, child.lineno, when) for name in _from_names(child))
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            yield from _imports(child, "types")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _imports(child, "call")
        else:
            yield from _imports(child, when)


def _from_names(node: ast.ImportFrom) -> list[str]:
    # "from flagmm import formats" imports a part of ours, "from flagmm.errors import X" a name of one.
    return [f"flagmm.{alias.name}" for alias in node.names] if node.module == "flagmm" else [str(node.module)]


def functions_of(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def own_length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    if ast.get_docstring(function) is not None:
        docstring = function.body[0]
        lines -= (docstring.end_lineno or 0) - docstring.lineno + 1
    return lines


def imports(*units: str) -> Iterator[tuple[Path, Import]]:
    """Every import in the modules of these parts; in all but the entrances where none is named."""
    for path in MODULES:
        if unit_of(path) in (units or set(RANK)):
            yield from ((path, found) for found in imports_of(path))


def told(violations) -> list[str]:
    return [f"{shown(path)}:{found.line} imports {found.module}" for path, found in violations]


def test_every_part_of_the_package_has_a_layer():
    assert {unit_of(path) for path in MODULES} - ENTRANCES == set(RANK)


def test_a_module_imports_nothing_from_above_its_layer():
    upwards = [
        (path, found) for path, found in imports() if found.unit in RANK and RANK[found.unit] > RANK[unit_of(path)]
    ]
    assert told(upwards) == []


def test_strangers_of_one_layer_do_not_meet():
    met = [(path, found) for path, found in imports() if found.unit in STRANGERS.get(unit_of(path), ())]
    assert told(met) == []


def test_evaluators_see_of_models_only_the_client_interface():
    inside = [
        (path, found)
        for path, found in imports("evaluator")
        if found.unit == "models" and found.module != "flagmm.models.client"
    ]
    assert told(inside) == []


def test_metrics_know_nothing_of_ours_but_errors_and_thinking():
    strange = [
        (path, found)
        for path, found in imports("metrics")
        if found.unit not in {None, "errors", "thinking", "lazy_regex", "metrics"}
    ]
    assert told(strange) == []


def test_importing_a_module_loads_no_heavy_package():
    heavy = [
        (path, found)
        for path in MODULES
        for found in imports_of(path)
        if found.when == "start" and found.module.split(".")[0] in HEAVY
    ]
    assert told(heavy) == []


def test_no_module_prints():
    calls = [
        f"{shown(path)}:{node.lineno}"
        for path in MODULES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert calls == []


def test_every_module_says_what_it_is_for():
    assert [shown(path) for path in MODULES if not ast.get_docstring(parsed(path))] == []


def test_every_folder_is_a_package_with_a_front_page():
    assert [folder for folder in {path.parent for path in MODULES} if not (folder / "__init__.py").is_file()] == []


def test_every_module_is_short_enough_to_be_read_at_once():
    lengths = {shown(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {path: length for path, length in lengths.items() if length > LONGEST_MODULE} == {}


def test_every_function_is_short_enough_to_have_one_duty():
    long = [
        f"{shown(path)}:{function.lineno} {function.name}: {own_length(function)} lines"
        for path in MODULES
        for function in functions_of(path)
        if own_length(function) > LONGEST_FUNCTION
    ]
    assert long == []


def test_an_import_at_start_in_a_call_and_for_types_are_told_apart():
    source = """
import a
if TYPE_CHECKING:
    import b
class C:
    import d
    def f(self):
        from flagmm import e
"""
    found = [(item.module, item.when) for item in _imports(ast.parse(source), "start")]
    assert found == [("a", "start"), ("b", "types"), ("d", "start"), ("flagmm.e", "call")]
