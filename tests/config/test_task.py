"""A task file -> TaskSpec, and its mistakes."""

from __future__ import annotations

import gc
import warnings

import pytest

from flagmm.config import task as task_module
from flagmm.config.task import is_task_file, load_task
from flagmm.errors import ConfigError, FlagMMError
from tests.core_cases import core_cases

DATASET = "dataset = dict(type='VqaBaseDataset', name='t', data_root='.', anno_file='data.json')\n"


# mmengine leaves its copy of a file open where the file raises.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")


@pytest.fixture(scope="module", autouse=True)
def no_open_files_left():
    """Let those files be noticed here, not in a test of another module."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def write_all(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / list(files)[-1]


def load(folder, **files):
    """Load the last of the files; `main_py` stands for `main.py`."""
    return load_task(write_all(folder, {name.replace("_py", ".py"): text for name, text in files.items()}))


def test_a_task_file_gives_its_dataset_and_evaluator_as_plain_dicts(tmp_path):
    spec = load(
        tmp_path,
        main_py=DATASET + "evaluator = dict(type='BaseEvaluator', detailed_keys=['a'])\n"
        "register_dataset = {'d.py': 'D'}\nregister_evaluator = {'e.py': 'E'}\n",
    )
    assert (spec.name, spec.path, spec.folder) == ("t", tmp_path / "main.py", tmp_path)
    assert spec.dataset == {"type": "VqaBaseDataset", "name": "t", "data_root": ".", "anno_file": "data.json"}
    assert spec.evaluator == {"type": "BaseEvaluator", "detailed_keys": ["a"]}
    assert (spec.register_dataset, spec.register_evaluator) == ({"d.py": "D"}, {"e.py": "E"})
    assert {type(spec.dataset), type(spec.evaluator)} == {dict}
    assert spec.where("dataset") == f"{tmp_path / 'main.py'}: dataset"


def test_a_task_may_go_without_an_evaluator(tmp_path):
    assert load(tmp_path, main_py=DATASET).evaluator is None


def test_dicts_inside_dicts_and_lists_are_plain_too(tmp_path):
    spec = load(
        tmp_path,
        main_py="config = dict(split='test')\n"
        "dataset = dict(type='T', name='t', config=config, parts=[dict(a=1)], pair=(dict(b=2), 3))\n",
    )
    inner = [spec.dataset["config"], spec.dataset["parts"][0], spec.dataset["pair"][0]]
    assert [type(value) for value in inner] == [dict, dict, dict]
    assert type(spec.dataset["pair"]) is tuple


def test_a_hook_in_a_base_file_keeps_its_own_module_s_globals(tmp_path):
    spec = load(
        tmp_path,
        base_py="import re\nWORD = 'letter'\n"
        "def hook(annotation, **kwargs):\n    return re.sub('X', WORD, 'Answer with the X.')\n"
        "dataset = dict(type='VqaBaseDataset', prompt_template=dict(type='PromptTemplate', post_prompt=hook))\n",
        main_py="_base_ = 'base.py'\nWORD = 'number'\ndataset = dict(name='t')\n",
    )
    assert spec.dataset["prompt_template"]["post_prompt"](annotation={}) == "Answer with the letter."
    assert (spec.name, spec.dataset["type"]) == ("t", "VqaBaseDataset")


def test_imports_and_helpers_of_a_task_file_do_no_harm(tmp_path):
    spec = load(
        tmp_path,
        names_py="NAME = 'from a neighbour'\n",
        main_py="import os\nfrom os.path import join\nimport numpy as np\nfrom names import NAME\n"
        "helper = lambda x: x\n"
        "class Strange:\n    pass\nthing = Strange()\ndataset = dict(type='T', name=NAME, n=helper(2))\n",
    )
    assert (spec.name, spec.dataset["n"]) == ("from a neighbour", 2)


@pytest.mark.parametrize(("given", "expected"), core_cases("config_load"))
def test_recorded_cases_of_bases(tmp_path, given, expected):
    write_all(tmp_path, given["files"])
    path = tmp_path / given["main"]
    if expected.get("error"):
        with pytest.raises(ConfigError) as caught:
            task_module._read(path)  # the cases are no whole tasks
        assert all(f"'{word}'" in str(caught.value) for word in expected["mentions"])
    else:
        values = task_module._read(path)
        assert {key: values[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("files", "message"),
    [
        pytest.param({"main.py": "x = 1\ndataset = dict(\n"}, r"main\.py:2: syntax error: ", id="syntax error"),
        pytest.param(
            {"base.py": "x = (\n", "main.py": "_base_ = 'base.py'\n"}, r"base\.py:1: syntax error", id="of a base"
        ),
        pytest.param({"main.py": "x = 1\0\n"}, r"main\.py: no text, and so no Python; a task file is", id="null bytes"),
        pytest.param(
            {"main.py": "x = 1\n"}, r"main\.py: defines no 'dataset'; a task file is a \.py file that", id="no dataset"
        ),
        pytest.param({"main.py": "dataset = 'x'\n"}, r"main\.py: dataset: expected a dict, found str$", id="no dict"),
        pytest.param({"main.py": "dataset = dict(type='T')\n"}, r"dataset: 'name' is missing, or empty$", id="no name"),
        pytest.param(
            {"main.py": "dataset = dict(name='')\n"}, r"dataset: 'name' is missing, or empty$", id="empty name"
        ),
        pytest.param({"main.py": "dataset = dict(name=3)\n"}, r"dataset: name: expected a text, found 3$", id="number"),
        pytest.param(
            {"main.py": DATASET + "evaluator = 'B'\n"}, r"evaluator: expected a dict, found str$", id="evaluator"
        ),
        pytest.param(
            {"main.py": DATASET + "register_dataset = 'x.py'\n"}, r"register_dataset: expected a dict", id="files"
        ),
        pytest.param({"main.py": "x = 1\ny = x / 0\n"}, r"ZeroDivisionError: .*main\.py:2\)$", id="raises"),
        pytest.param(
            {"main.py": "import nothing_of_it\n"}, r"needs the package 'nothing_of_it': pip install", id="package"
        ),
        pytest.param({"main.py": "_base_ = 'b.py'\n"}, r"main\.py: _base_: 'b\.py': no such file$", id="no base"),
        pytest.param(
            {"main.py": "_base_ = ['main.py']\n"}, r"main\.py: _base_: the file is its own base$", id="its own base"
        ),
        pytest.param(
            {"a.py": "_base_ = 'main.py'\n", "main.py": "_base_ = 'a.py'\n"},
            r"_base_: the file is its own base$",
            id="bases in a circle",
        ),
        pytest.param(
            {"main.py": "_base_ = 3\n"}, r"main\.py: _base_: expected a text or a list of texts, found 3$", id="base"
        ),
    ],
)
def test_a_mistake_is_told_in_one_line_with_its_file(tmp_path, files, message):
    path = write_all(tmp_path, files)
    with pytest.raises(ConfigError, match=message) as caught:
        load_task(path)
    assert "\n" not in str(caught.value)


def test_a_missing_task_file_is_told(tmp_path):
    with pytest.raises(ConfigError, match=r"gone\.py: no such task file$"):
        load_task(tmp_path / "gone.py")


@pytest.mark.parametrize(
    ("files", "is_task"),
    [
        pytest.param({"t.py": DATASET}, True, id="whole"),
        pytest.param({"b.py": DATASET, "t.py": "_base_ = 'b.py'\n"}, True, id="through its base"),
        pytest.param({"t.py": "dataset = dict(type='T')\n"}, False, id="a base to build on: no name"),
        pytest.param({"t.py": "def process(cfg):\n    dataset = 1\n"}, False, id="process.py"),
        pytest.param({"t.py": "raise ValueError\n"}, False, id="code that is no task is not run"),
        pytest.param({"t.py": "dataset: dict = dict(type='T', name='t')\n"}, True, id="annotated"),
        pytest.param({"t.py": "dataset, x = dict(type='T', name='t'), 1\n"}, True, id="in a tuple"),
        pytest.param({"t.py": "if True:\n    dataset = dict(type='T', name='t')\n"}, True, id="in a condition"),
        pytest.param({"b.py": DATASET, "t.py": "from b import dataset\n"}, True, id="imported"),
        pytest.param({"t.py": "import os\nif __name__ == '__main__':\n    dataset = 5\n"}, False, id="script"),
        pytest.param({"t.py": "evaluator = dict(type='E')\n"}, False, id="no dataset at all"),
    ],
)
def test_task_files_are_told_from_their_neighbours(tmp_path, files, is_task):
    assert is_task_file(write_all(tmp_path, files)) is is_task


@pytest.mark.parametrize("value", ["5", "None", "[1]", "'VqaBaseDataset'", "open"])
def test_a_neighbour_whose_dataset_is_no_dict_is_told_and_not_passed_over(tmp_path, value):
    (tmp_path / "t.py").write_text(f"dataset = {value}\n")
    with pytest.raises(ConfigError, match=r"t\.py: dataset: expected a dict, found "):
        is_task_file(tmp_path / "t.py")


def test_a_base_that_is_passed_over_is_told(tmp_path, caplog):
    caplog.set_level("INFO")
    (tmp_path / "t.py").write_text("dataset = dict(name='t')\n")
    assert not is_task_file(tmp_path / "t.py")
    assert caplog.messages == [f"{tmp_path / 't.py'}: passed over, as a base of others: its dataset has no type"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        *(
            (name, b"{}\n", rf"/{name}: a table of questions, .*: --tasks general_vqa \(.* --data-root \S+/{name}$")
            for name in ("t.jsonl", "t.csv", "t.tsv", "t.parquet")
        ),
        ("t.tsv", b"index\tquestion\n", r"general_vmcq; tsv for a table of VLMEvalKit's\)"),
        ("data.json", b'[{"question_id": 1}]', r"data\.json: a list, and no task file; .*anno_file=…\)$"),
        ("model.json", b'{"model_name": "m"}', r"model\.json: no task file; a model file goes to --cfg, settings"),
        ("broken.json", b"{", r"broken\.json:1:2: not valid JSON"),
        ("a.yaml", b"model: m\n", r"a\.yaml: no task file; settings of an evaluation go to flagevalmm eval --config$"),
        ("m.xlsx", b"PK\x03\x04", r"m\.xlsx: a sheet, .* flagevalmm score --predictions$"),
        ("p.png", b"\x89PNG\r\n\x1a\n\0", r"p\.png: no task file; a task file is a \.py file that defines dataset="),
        ("bare", b"dataset = dict(type='T', name='t')", r"bare: no task file; a task file is a \.py file"),
        ("b.py", bytes(range(256)), r"b\.py: no text, and so no Python; a task file is a \.py file"),
    ],
)
def test_a_file_of_another_kind_is_told_with_where_it_goes(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FlagMMError, match=message) as caught:
        load_task(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_task_file_may_be_json(tmp_path):
    (tmp_path / "t.json").write_text('{"dataset": {"type": "T", "name": "t"}}')
    assert load_task(tmp_path / "t.json").name == "t"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dataset = dict(type='T', name='t', data_root='a\\0b')\n", "dataset: data_root: a text with a NUL"),
        ("dataset = dict(type='T', name='a\\0')\n", "dataset: name: a text with a NUL"),
        ("dataset = dict(type='T', name='t', config=dict(processor='a\\0'))\n", "dataset: config: processor: a text"),
        ("_base_ = 'a\\0.py'\n", "_base_: .* no such file"),
    ],
)
def test_a_name_with_a_nul_is_told_with_its_key(tmp_path, text, message):
    (tmp_path / "t.py").write_text(text)
    with pytest.raises(ConfigError, match=rf"t\.py: {message}"):
        load_task(tmp_path / "t.py")
