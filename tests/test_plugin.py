"""Loading a person's own Python files, and telling what they raise."""

from __future__ import annotations

import re
import sys

import pytest

from flagmm.errors import ConfigError, DataError, UserCodeError
from flagmm.plugin import describe, imports_from, load_file, load_function, user_code


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_function_of_a_file_is_loaded(tmp_path):
    path = write(
        tmp_path / "evaluate.py", "def get_result(annotations, predictions):\n    return {'n': len(predictions)}\n"
    )
    assert load_function(path, "get_result")({}, [1, 2]) == {"n": 2}


def test_files_of_one_name_are_modules_of_their_own(tmp_path):
    first = load_file(write(tmp_path / "a" / "process.py", "VALUE = 1\n"))
    second = load_file(write(tmp_path / "b" / "process.py", "VALUE = 2\n"))
    assert (first.VALUE, second.VALUE) == (1, 2)
    assert "process" not in sys.modules


def test_a_file_s_dataclasses_and_pickles_find_their_module(tmp_path):
    import pickle

    module = load_file(
        write(
            tmp_path / "my-evaluator 2.py",
            "from __future__ import annotations\nimport dataclasses\n@dataclasses.dataclass\nclass Box:\n    x: int\n",
        )
    )
    assert pickle.loads(pickle.dumps(module.Box(3))) == module.Box(3)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        pytest.param(None, ConfigError, r"process\.py: no such file", id="missing"),
        pytest.param("x = 1\ndef (:\n", ConfigError, r"process\.py:2: syntax error: ", id="syntax error"),
        pytest.param("x = 1\0\n", UserCodeError, r"loading .*process\.py: .*null bytes", id="null bytes"),
        pytest.param("x = 1\n", ConfigError, r"process\.py: defines no function 'process'", id="no function"),
        pytest.param("process = 3\n", ConfigError, r"process\.py: defines no function 'process'", id="no callable"),
        pytest.param("x = 1\ny = x / 0\n", UserCodeError, r"ZeroDivisionError: .*\(at .*process\.py:2\)", id="raises"),
        pytest.param(
            "import nothing_of_this_name\n", UserCodeError, r"needs the package 'nothing_of_this_name'", id="package"
        ),
        pytest.param(
            "raise SystemExit(3)\n", UserCodeError, r"SystemExit: 3 \(at .*process\.py:1\)", id="ends the program"
        ),
    ],
)
def test_a_file_that_cannot_be_used_says_so_in_one_line(tmp_path, text, error, message):
    path = tmp_path / "process.py"
    if text is not None:
        path.write_text(text)
    before = set(sys.modules)
    with pytest.raises(error, match=message) as caught:
        load_function(path, "process")
    assert "\n" not in str(caught.value)
    if error is UserCodeError:
        assert set(sys.modules) == before, "a module that failed to load stays behind"


def test_neighbour_files_can_be_imported_meanwhile_and_are_forgotten_afterwards(tmp_path):
    values = []
    for name in ("a", "b"):
        write(tmp_path / name / "helpers.py", f"VALUE = {name!r}\n")
        path = write(tmp_path / name / "process.py", "from helpers import VALUE\n")
        with imports_from(path.parent):
            values.append(load_file(path).VALUE)
    assert values == ["a", "b"]
    assert "helpers" not in sys.modules
    assert not [entry for entry in sys.path if entry.startswith(str(tmp_path))]


def test_modules_from_elsewhere_stay_imported(tmp_path):
    sys.modules.pop("colorsys", None)
    with imports_from(tmp_path):
        import colorsys  # noqa: F401  # the import itself is tested
    assert "colorsys" in sys.modules


def test_the_search_path_is_mended_after_an_error(tmp_path):
    with pytest.raises(ValueError, match="x"), imports_from(tmp_path):
        raise ValueError("x")
    assert str(tmp_path) not in sys.path


def test_what_user_code_prints_keeps_out_of_the_results(capsys):
    with user_code("process"):
        print("progress")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "progress\n")


def test_our_own_errors_pass_as_they_are():
    with pytest.raises(DataError, match=r"^the file is gone$"), user_code("process"):
        raise DataError("the file is gone")


def test_a_text_that_the_code_cannot_parse_is_an_error_of_the_code_s_line(tmp_path):
    # literal_eval on a model's answer is common in scoring code; its SyntaxError names no file.
    path = write(tmp_path / "evaluate.py", "import ast\n\ndef f():\n    return ast.literal_eval('[1,')\n")
    message = rf"^scoring: SyntaxError: .* \(at {re.escape(str(path))}:4\)$"
    with pytest.raises(UserCodeError, match=message), user_code("scoring"):
        load_function(path, "f")()


def test_an_interrupt_is_not_taken_for_an_error_of_the_code():
    with pytest.raises(KeyboardInterrupt), user_code("process"):
        raise KeyboardInterrupt


def test_the_original_error_is_kept_for_debugging():
    with (
        pytest.raises(UserCodeError, match=r"^tasks/x: KeyError: 'answer' \(at .*test_plugin\.py:\d+\)$") as caught,
        user_code("tasks/x"),
    ):
        {}["answer"]
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        pytest.param(ValueError("a\n  b"), "ValueError: a b", id="several lines"),
        pytest.param(ValueError(), "ValueError", id="no text"),
        pytest.param(KeyError("k"), "KeyError: 'k'", id="key"),
    ],
)
def test_an_error_is_described_in_one_line(error, text):
    assert describe(error) == text


def test_the_line_named_is_the_person_s_own_not_one_of_a_library(tmp_path):
    function = load_function(
        write(tmp_path / "evaluate.py", "import json\n\ndef f():\n    return json.loads('{')\n"), "f"
    )
    with pytest.raises(ValueError, match="Expecting") as caught:
        function()
    assert describe(caught.value).endswith(f"(at {tmp_path / 'evaluate.py'}:4)")
