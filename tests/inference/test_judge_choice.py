"""Which judge an evaluator gets, from which keys, and what is told of wrong ones."""

from __future__ import annotations

import pytest

from flagmm.errors import ConfigError
from flagmm.evaluator import AggregationEvaluator, BaseEvaluator, ExtractEvaluator, TsvEvaluator
from flagmm.inference.judge_choice import choose_judges

URL = "http://h/v1"
NEW = {"model_name": "j", "url": URL}
OLD = {"use_llm_evaluator": True, "eval_model_name": "gpt-4o", "base_url": URL}


def choose(config, *, given=None, evaluator=None):
    evaluator = evaluator or BaseEvaluator()
    return list(choose_judges(evaluator, config, given=given, where="tasks/x.py: evaluator"))


def only(config, **more):
    [choice] = choose(config, **more)
    return choice


@pytest.mark.parametrize("config", [{}, {"use_llm_evaluator": False, "eval_model_name": "j"}, {"judge": None}])
def test_without_a_judge_there_is_none(config):
    assert choose(config) == []


def test_a_block_has_the_keys_of_a_model_file_and_temperature_0_by_default():
    choice = only({"judge": {**NEW, "num_workers": 3, "prompt": "{answer} VERDICT:"}})
    assert (choice.spec.model_name, choice.spec.url, choice.spec.num_workers) == ("j", URL, 3)
    assert (choice.spec.temperature, choice.spec.use_cache) == (0, False)
    assert (choice.settings.strategy, choice.settings.method) == ("llm", "compare")
    assert choice.settings.prompt == "{answer} VERDICT:"
    assert choice.fixed == {"model_name", "url", "num_workers", "model"}


def test_an_evaluator_may_have_a_usual_strategy_that_the_task_and_the_command_line_replace():
    assert only({"judge": NEW}, evaluator=TsvEvaluator()).settings.strategy == "auto"
    assert only({}, given=NEW, evaluator=TsvEvaluator()).settings.strategy == "auto"
    assert only({"judge": {**NEW, "strategy": "extract"}}, evaluator=TsvEvaluator()).settings.strategy == "extract"
    assert only({}, given={**NEW, "strategy": "llm"}, evaluator=TsvEvaluator()).settings.strategy == "llm"


def test_a_temperature_that_is_null_is_not_sent():
    assert only({"judge": {**NEW, "temperature": None}}).spec.temperature is None


def test_the_old_keys_make_a_judge_too(monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "secret")
    more = {"api_key": "$JUDGE_KEY", "chat_name": "shown", "max_tokens": 9, "num_threads": 5, "use_cache": False}
    choice = only({**OLD, **more, "tracker_type": "unrelated"})
    spec = choice.spec
    assert (spec.model_name, spec.url, spec.shown_name, spec.max_tokens) == ("gpt-4o", URL, "shown", 9)
    assert (spec.num_workers, spec.use_cache, spec.api_key.reveal()) == (5, False, "secret")
    assert choice.settings.strategy == "auto"
    assert only(OLD).spec.use_cache


def test_a_key_that_is_not_set_falls_back_to_the_default_variable(monkeypatch):
    monkeypatch.setenv("FLAGEVAL_API_KEY", "default")
    assert only({**OLD, "api_key": None}).spec.api_key.reveal() == "default"


@pytest.mark.parametrize(
    ("config", "url"),
    [
        ({"eval_model_name": "j", "base_url": "http://h/v1/chat/completions"}, "http://h/v1/chat/completions"),
        ({"model": "j"}, "http://localhost:8001/v1"),
        ({"eval_model_name": "j", "port": 9000}, "http://localhost:9000/v1"),
    ],
)
def test_an_extract_evaluator_needs_no_word_that_it_wants_a_judge(config, url):
    choice = only(config, evaluator=ExtractEvaluator())
    assert (choice.spec.model_name, choice.spec.url) == ("j", url)
    assert choice.settings.method == "extract_compare"


def test_the_given_judge_goes_first_and_keeps_the_task_s_prompt_and_strategy():
    own = {"model_name": "own", "max_tokens": 5, "strategy": "llm_recall", "prompt": "{pred} VERDICT:"}
    choice = only({"judge": own}, given=NEW)
    assert (choice.spec.model_name, choice.spec.max_tokens) == ("j", None)
    assert (choice.settings.strategy, choice.settings.prompt) == ("llm_recall", "{pred} VERDICT:")
    assert only({"judge": own}, given={**NEW, "strategy": "llm"}).settings.strategy == "llm"
    assert only(OLD, given=NEW).settings.strategy == "auto"


def test_each_of_several_evaluators_has_its_own_judge_or_shares_the_outer_one():
    parts = [
        {"type": "BaseEvaluator"},
        {"type": "ExtractEvaluator", "judge": {**NEW, "model_name": "inner"}},
        {"type": "BaseEvaluator", "judge": {"strategy": "rule"}},
    ]
    config = {"judge": NEW, "evaluators": parts}
    evaluator = AggregationEvaluator(evaluators=parts)
    assert [choice.spec.model_name for choice in choose(config, evaluator=evaluator)] == ["j", "inner"]


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (
            {"judge": {**NEW, "strategy": "vote"}},
            "judge: strategy: expected one of auto, llm, llm_recall, extract, rule",
        ),
        ({"judge": {**NEW, "temprature": 0}}, "judge: unknown key 'temprature'. Did you mean 'temperature'?"),
        ({"judge": {**NEW, "prompt": "same as {gold}?"}}, "judge: prompt: expected a text with {answer} or {pred}"),
        ({"judge": {**NEW, "api_key": "$NO_SUCH"}}, "judge: api_key: the environment variable NO_SUCH is not set"),
        ({"judge": {**NEW, "num_infers": 2, "temperature": 1}}, "judge: num_infers: a judge is asked once"),
        ({"judge": {"model_name": "j"}}, "judge: url: missing"),
        ({"judge": {"url": URL}}, "judge: model_name is missing"),
        ({"judge": "gpt-4o"}, "judge: expected a dict with the keys of a model file, found str"),
        ({"use_llm_evaluator": True, "base_url": URL}, "evaluator: model_name is missing"),
        ({**OLD, "base_url": None}, "evaluator: url: missing"),
    ],
)
def test_a_wrong_setting_is_told_with_its_place(config, told):
    with pytest.raises(ConfigError) as caught:
        choose(config)
    assert str(caught.value).startswith("tasks/x.py: evaluator")
    assert told in str(caught.value)


def test_the_given_judge_s_faults_are_its_own():
    with pytest.raises(ConfigError, match=r"^--judge: unknown key 'modle_name'"):
        choose({"judge": NEW}, given={"modle_name": "j"})


@pytest.mark.parametrize("given", [None, {"strategy": "rule"}])
def test_an_evaluator_that_cannot_do_without_is_told(given):
    with pytest.raises(ConfigError, match=r"^tasks/x\.py: evaluator: ExtractEvaluator needs a judge: give judge=dict"):
        choose({}, given=given, evaluator=ExtractEvaluator())
