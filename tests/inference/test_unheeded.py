"""Words of a task file that have no effect: told with the nearest that has, before anything is asked."""

from __future__ import annotations

import logging

import pytest

from flagmm.assembly import check_tasks, find_evaluator, task_code
from flagmm.config.task import load_task
from flagmm.errors import ConfigError
from tests.end_to_end.folders import choice

DATASET = "dataset = dict(type='VqaBaseDataset', data_root='d', name='t')\n"


def told(caplog):
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


@pytest.fixture
def check(tmp_path, caplog):
    """What is told of a task file, without the file's name in front."""

    def check(text, **files):
        for name, content in files.items():
            (tmp_path / f"{name}.py").write_text(content)
        path = tmp_path / "t.py"
        path.write_text(text)
        check_tasks([load_task(path)])
        return [line.removeprefix(f"{path}: ") for line in told(caplog)]

    return check


@pytest.mark.parametrize(
    ("evaluator", "message"),
    [
        ("type='BaseEvaluator', judg=dict()", "no 'judg', which has no effect. Did you mean 'judge'?"),
        ("type='BaseEvaluator', detailed_key=['x']", "Did you mean 'detailed_keys'?"),
        ("type='MetricEvaluator', metrics='anls', grup_by=['x']", "Did you mean 'group_by'?"),
        ("type='MmmuEvaluator', rul='careful'", "MmmuEvaluator knows no 'rul', "),
        ("type='ExtractEvaluator', evl_method='simpleqa'", "Did you mean 'eval_method'?"),
        ("type='AggregationEvaluator', evaluators=[dict(type='BaseEvaluator', is_clen=1)]", "evaluators: BaseEval"),
        ("type='BaseEvaluator', eval_modle_name='x'", "Did you mean 'eval_model_name'?"),
    ],
)  # fmt: skip
def test_a_keyword_that_no_evaluator_knows_is_told_with_the_nearest(check, evaluator, message):
    [line] = check(f"{DATASET}evaluator = dict({evaluator})")
    assert line.startswith("evaluator: ")
    assert message in line


OWN = """
from flagevalmm.evaluator import BaseEvaluator
from flagevalmm.registry import EVALUATORS


@EVALUATORS.register_module()
class Mine(BaseEvaluator):
    def __init__(self, tracker, **kwargs):
        self.weight = kwargs.pop("wieght", 1)
        super().__init__(**kwargs)
"""


@pytest.mark.parametrize(
    "task",
    [
        pytest.param(
            "evaluator = dict(type='BaseEvaluator', start_method='spawn', use_llm_evaluator=False, tracker_type='x',"
            " chat_name='c', threshold=0.5, skip=True, shift_check=True, filter_types=['a'], use_cache=True)",
            id="keywords of FlagEvalMM's evaluators",
        ),
        pytest.param(
            "register_evaluator = {'mine.py': 'Mine'}\n"
            "evaluator = dict(type='Mine', tracker='x', wieght=2, something_else=3)",
            id="keywords that a task's own class takes",
        ),
        pytest.param(
            "prompt_template = dict(type='PromptTemplate')\nmetrics = ['anls']\n"
            "dataset['prompt_template'] = prompt_template\n"
            "clip_evaluator = dict(type='X')\nbase_url, api_key, task_name = 'u', 'k', 'vqa'\nfilter_types = ['a']\n"
            "shift_check = True\npre_prompt = 'p'\n"
            "evaluator = dict(type='MetricEvaluator', metrics=metrics)",
            id="helpers of its dicts",
        ),
    ],
)
def test_what_has_an_effect_or_only_flagevalmm_knows_is_not_told(check, task):
    assert check(DATASET + task, mine=OWN) == []


def test_a_keyword_misspelt_for_a_task_s_own_class_is_told(check):
    task = "register_evaluator = {'mine.py': 'Mine'}\nevaluator = dict(type='Mine', tracker='x', detailed_key=['x'])"
    [line] = check(DATASET + task, mine=OWN)
    assert line == "evaluator: Mine knows no 'detailed_key', which has no effect. Did you mean 'detailed_keys'?"


@pytest.mark.parametrize(
    ("line", "section"),
    [
        ("prompt_template = dict(type='PromptTemplate')", "dataset"),
        ("anno_file = 'test.json'", "dataset"),
        ("eval_func = 'evaluate.py'", "evaluator"),
        ("detailed_keys = ['sub_task']", "evaluator"),
        ("cluster_by = 'img_path'", "evaluator"),
    ],
)
def test_a_keyword_at_the_top_level_is_told_with_its_place(check, line, section):
    name = line.partition(" ")[0]
    text = f"{name}: has no effect at the top level of a task file; put it into {section}=dict(…)"
    assert check(f"{DATASET}evaluator = dict(type='BaseEvaluator')\n{line}") == [text]


def test_an_evaluator_under_another_name_is_told(check):
    [line] = check(f"{DATASET}evalutor = dict(type='BaseEvaluator')")
    assert line == "evalutor: is no key of a task file, and has no effect. Did you mean 'evaluator'?"


class Data:
    name = "t"

    def __init__(self, *items):
        self.items = {str(item["question_id"]): item for item in items}

    def __len__(self):
        return len(self.items)

    def get_annotation(self):
        return self.items


@pytest.fixture
def find(tmp_path):
    def find(text, *items):
        path = tmp_path / "t.py"
        path.write_text(DATASET + text)
        task = load_task(path)
        with task_code(task):
            return find_evaluator(task, Data(*items))

    return find


TWO = (choice(1, "Which?", sub_task="a"), choice(2, "What?", kind="b"))


@pytest.mark.parametrize(
    ("evaluator", "keyword", "field", "near"),
    [
        ("type='BaseEvaluator', detailed_keys=['sub_tsk', 'kind']", "detailed_keys", "sub_tsk", "sub_task"),
        ("type='MetricEvaluator', metrics='anls', group_by=['knd']", "group_by", "knd", "kind"),
        ("type='OpenEvaluator', tracker_type='kindd'", "tracker_type", "kindd", "kind"),
    ],
)  # fmt: skip
def test_a_field_to_group_by_that_no_question_has_is_told(find, caplog, evaluator, keyword, field, near):
    find(f"evaluator = dict({evaluator})", *TWO)
    [line] = told(caplog)
    assert line.endswith(f"evaluator: {keyword}: no question has a field {field!r}. Did you mean {near!r}?")


def test_a_field_to_cluster_by_that_no_question_has_is_refused(find):
    with pytest.raises(ConfigError, match=r"cluster_by: no question has a field 'img'\. "):
        find("evaluator = dict(type='BaseEvaluator', cluster_by='img')", *TWO)


def test_a_field_that_some_question_has_is_not_told(find, caplog):
    find("evaluator = dict(type='BaseEvaluator', detailed_keys=['kind'], cluster_by='sub_task')", *TWO)
    assert told(caplog) == []


def test_a_task_without_an_evaluator_is_scored_by_type_where_its_types_are_known(find, caplog):
    assert type(find("", *TWO)).__name__ == "BaseEvaluator"
    assert told(caplog) == []


@pytest.mark.parametrize(
    "items",
    [
        pytest.param((*TWO, {"question_id": 3, "question_type": "drawing", "answer": "x"}), id="unknown type"),
        pytest.param([{**item, "answer": None} for item in TWO], id="answers withheld"),
        pytest.param((), id="no question"),
    ],
)
def test_a_task_without_an_evaluator_that_no_rule_can_score_is_told(find, caplog, items):
    assert find("", *items) is None
    [line] = told(caplog)
    assert "answers are counted, not scored" in line
