"""A TaskConfig becomes tasks, model, judge and folder, or one error that names the key."""

from __future__ import annotations

import re

import pytest

from flagmm.config.task_config import make_task_config
from flagmm.errors import ConfigError
from flagmm.run.plan import make_plan

GIVEN = {
    "model": "mock",
    "api_url": "http://localhost:8000/v1",
    "datasets": ["general_vmcq"],
    "dataset_args": {"general_vmcq": {"local_path": "mine", "subset_list": ["colours"]}},
}
JUDGE = {"model_id": "j", "api_url": "http://localhost:8001/v1"}


def plan(**changes):
    values = {key: value for key, value in (GIVEN | changes).items() if value is not None}
    return make_plan(make_task_config(values, source="command line"), source="command line")


def dataset_args(**values):
    return {"dataset_args": {"general_vmcq": values}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": None}, "command line: model is missing"),
        ({"api_url": None}, "command line: api_url is missing"),
        ({"datasets": ["general_vqaa"]}, r"general_vqaa: no such task file.*Did you mean 'general_vqa"),
        ({"datasets": ["nothing-like-it"]}, r"nothing-like-it: no such task file.*Known: .*general_vqa"),
        ({"datasets": None}, "command line: datasets is missing"),
        ({"eval_type": "llm_ckpt"}, "eval_type: 'llm_ckpt' is not run here"),
        ({"dataset_args": {"general_vcmq": {}}}, r"dataset_args: 'general_vcmq' is not in datasets\. Did you mean"),
        (dataset_args(subset_lst=["a"]), r"dataset_args: general_vmcq: .*no 'subset_lst'\. Did you mean 'subset_list'"),
        (dataset_args(local_path=5), r"^command line: dataset_args: general_vmcq: local_path: .*, found 5$"),
        (dataset_args(eval_split=["a"]), r"dataset_args: general_vmcq: eval_split: .*, found \['a'\]$"),
        (dataset_args(limit="x"), r"dataset_args: general_vmcq: limit: expected a number, found 'x'$"),
        (dataset_args(subset_list=[5]), r"general_vmcq: subset_list: expected a list of texts or a text, found \[5\]$"),
        ({"judge": {"models": {**JUDGE, "model_id": 5}}}, r"^--judge: model_name: expected a text, found 5$"),
        ({"judge": {"models": {**JUDGE, "api_url": "h/v1"}}}, r"^--judge: model: url: 'h/v1' is no http"),
        (dataset_args(few_shot_num=2), "dataset_args: general_vmcq: few_shot_num"),
        (dataset_args(local_path="a", dataset_id="b"), "dataset_args: general_vmcq: dataset_id: said twice"),
        ({"generation_config": {"temprature": 1}}, r"generation_config: unknown key 'temprature'\. Did you mean"),
        ({"generation_config": {"temperature": -1}}, "command line: temperature: expected a number, 0 or more"),
        ({"model_args": {"max_imagesize": 1}}, r"unknown key 'max_imagesize'\. Did you mean 'max_image_size'"),
        ({"repeats": 2, "generation_config": {"temperature": 0}}, "num_infers 2 with temperature 0"),
        ({"judge": {"strategy": "llm"}}, "command line: judge: models is missing"),
        ({"api_key": "$UNSET_KEY"}, "command line: api_key: the environment variable UNSET_KEY is not set"),
        ({"judge": {"models": {**JUDGE, "api_key": "$UNSET_KEY"}}}, "command line: judge: models: .*UNSET_KEY is not"),
        ({"use_cache": "nowhere"}, "command line: use_cache: nowhere is no results folder"),
        ({"rerun_review": True}, "command line: rerun_review: say with use_cache"),
    ],
)
def test_a_mistake_is_told_before_anything_is_read(changes, message):
    with pytest.raises(ConfigError) as caught:
        plan(**changes)
    assert re.search(message, str(caught.value))
    assert "\n" not in str(caught.value)


def test_a_folder_of_runs_is_no_run_but_names_them(tmp_path):
    (tmp_path / "outputs/20260102_030405").mkdir(parents=True)
    (tmp_path / "outputs/20260102_030405/run.json").write_text("{}")
    with pytest.raises(ConfigError, match="it holds 20260102_030405"):
        plan(use_cache="outputs")


@pytest.mark.parametrize(
    ("changes", "folder"),
    [
        ({}, r"outputs/\d{8}_\d{6}"),
        ({"work_dir": "mine/out"}, r"mine/out/\d{8}_\d{6}"),
        ({"work_dir": "out", "no_timestamp": True}, "out"),
        ({"work_dir": "out", "no_timestamp": True, "rerun_review": True}, "out"),
    ],
)
def test_results_have_a_folder(changes, folder):
    assert re.fullmatch(folder, str(plan(**changes).output.folder))


def test_settings_of_the_data_set_are_put_over_the_task_file_s():
    [task] = plan(seed=7, allow_media_roots=["/pictures"], strict=True).tasks
    assert task.dataset == {
        "type": "GeneralVmcqDataset",
        "name": "general_vmcq",
        "data_root": "mine",
        "subset_list": ["colours"],
        "seed": 7,
        "allow_media_roots": ["/pictures"],
        "strict": True,
    }


def test_what_one_data_set_cannot_take_from_the_run_is_left_out():
    [task] = plan(datasets=["demo/ocr"], dataset_args=None, seed=7).tasks
    assert "seed" not in task.dataset


def test_an_old_name_of_the_data_s_folder_is_known():
    [task] = plan(**dataset_args(dataset_id="mine", eval_split="dev")).tasks
    assert (task.dataset["data_root"], task.dataset["split"]) == ("mine", "dev")


def test_arguments_without_a_meaning_are_warned_of_in_one_line(caplog):
    plan(**dataset_args(local_path="mine", few_shot_num=0, metric_list=["acc"], filters={"remove_until": "x"}))
    assert [record.message for record in caplog.records] == [
        "command line: dataset_args: general_vmcq: metric_list, filters: no meaning here, left out"
    ]


@pytest.mark.parametrize(
    ("limit", "taken", "label"),
    [
        (None, None, ""),
        (0, None, ""),
        (5, 5, "limit 5"),
        (5.0, 5, "limit 5"),
        (0.5, 0.5, "limit 0.5"),
        (1.0, 1, "limit 1"),
    ],
)
def test_a_whole_number_is_a_count_however_it_is_written(limit, taken, label):
    scope = plan(limit=limit).scope
    assert (scope.limit, type(scope.limit), scope.label) == (taken, type(taken), label)


def test_every_key_is_known_to_be_secret(monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "sk-judge")
    made = plan(api_key="sk-model", judge={"models": {**JUDGE, "api_key": "$JUDGE_KEY"}})
    assert {"sk-model", "sk-judge"} <= set(made.secrets())


def test_scoring_again_needs_no_model():
    made = plan(model=None, api_url=None, work_dir="out", no_timestamp=True, rerun_review=True)
    assert made.spec is None
