"""run_task: from scripts and from notebooks, with every form of configuration."""

from __future__ import annotations

import asyncio
import json

import pytest

import flagmm
from flagmm import TaskConfig, run_task
from flagmm.errors import ConfigError, DataError, EndpointError
from tests.dataset.general.tables import write_jsonl
from tests.servers import MockEndpoint, by_question

RECORDS = [{"messages": [{"role": "user", "content": text}], "answer": text} for text in ("Cat", "Dog")]


@pytest.fixture
def endpoint():
    with MockEndpoint(by_question({"Cat": "Cat", "Dog": "no"})) as endpoint:
        yield endpoint


@pytest.fixture
def settings(tmp_path, endpoint):
    write_jsonl(tmp_path / "mine" / "animals.jsonl", *RECORDS)
    args = {"local_path": "mine", "subset_list": ["animals"]}
    return {"model": "m", "api_url": endpoint.url, "datasets": ["general_vqa"], "dataset_args": {"general_vqa": args}}


def check(reports):
    [report] = reports.values()
    assert list(reports) == ["general_vqa"]
    assert (report.num, report.score, report.metrics["Rouge-L-R"], report.metrics["bleu-1"]) == (2, 0.5, 0.5, 0.5)
    assert report.subsets["animals"].num == 2
    assert report.subsets["animals"].metrics["Rouge-L-R"] == 0.5
    assert "general_vqa: score=0.5, num=2" in str(reports)


def test_a_task_config_is_run(settings, capsys):
    check(run_task(task_cfg=TaskConfig(**settings)))
    assert "| m       | general_vqa | ROUGE ↑ · L · Recall    | animals  |     2 |     50% | default |" in (
        capsys.readouterr().out
    )


def test_a_dict_and_a_file_are_run(settings, tmp_path):
    check(run_task(settings))
    (tmp_path / "a.yaml").write_text(json.dumps(settings))  # YAML holds JSON
    check(run_task(str(tmp_path / "a.yaml")))


def test_a_list_is_run_one_after_another(settings):
    for reports in run_task([settings, TaskConfig(**settings)]):
        check(reports)


def test_it_runs_where_an_event_loop_is_running_already(settings):
    async def cell_of_a_notebook():
        return run_task(settings)

    check(asyncio.run(cell_of_a_notebook()))


def test_a_dry_run_returns_no_reports(settings, endpoint, capsys):
    assert run_task({**settings, "dry_run": True}) == {}
    assert endpoint.requests == []
    assert "general_vqa: 2 questions (animals 2)" in capsys.readouterr().out


def test_two_runs_of_one_second_do_not_meet(settings):
    assert run_task(settings).folder != run_task(settings).folder


def test_wrong_settings_and_missing_data_are_raised(settings, tmp_path):
    with pytest.raises(ConfigError, match="model is missing"):
        run_task({**settings, "model": None})
    (tmp_path / "mine" / "animals.jsonl").unlink()
    with pytest.raises(DataError, match="animals"):
        run_task(settings)


def test_an_endpoint_that_is_not_there_is_raised(settings):
    with MockEndpoint() as gone:
        url = gone.url
    with pytest.raises(EndpointError, match="cannot connect"):
        run_task({**settings, "api_url": url, "generation_config": {"retries": 0}})


def test_a_data_set_without_a_result_leaves_the_others_theirs(settings, caplog):
    args = {**settings["dataset_args"], "general_vmcq": {"local_path": "nowhere"}}
    reports = run_task({**settings, "datasets": ["general_vqa", "general_vmcq"], "dataset_args": args})
    check(reports)
    assert "nowhere" in str(reports.errors["general_vmcq"])
    assert "nowhere" in caplog.text


def test_the_names_are_where_evalscope_has_them():
    import flagevalmm.config
    import flagevalmm.run
    from flagevalmm.constants import EvalType, JudgeStrategy

    assert (flagevalmm.config.TaskConfig, flagevalmm.run.run_task) == (flagmm.TaskConfig, flagmm.run_task)
    assert (EvalType.OPENAI_API, JudgeStrategy.LLM_RECALL) == ("openai_api", "llm_recall")
