"""judge: one model with a strategy and a contract; what is not run here is refused by name."""

from __future__ import annotations

import pytest

from flagmm.config.judge_values import judge_values
from flagmm.config.task_config import TaskConfig
from flagmm.errors import ConfigError

MODEL = {"model_id": "qwen-plus", "api_url": "http://localhost/v1", "api_key": "$JUDGE_KEY"}
READ = {"model_name": "qwen-plus", "url": "http://localhost/v1", "api_key": "$JUDGE_KEY"}
NAMES = (
    "MODELSCOPE_JUDGE_LLM", "MODELSCOPE_API_BASE", "MODELSCOPE_SDK_TOKEN", "JUDGE_SYSTEM_PROMPT",
    "JUDGE_PROMPT_TEMPLATE",
)  # fmt: skip


@pytest.fixture(autouse=True)
def no_defaults(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


def read(**settings):
    return judge_values(TaskConfig(**settings), source="x")


def test_no_judge_was_asked_for():
    assert read() is None


def test_the_judge_of_the_document():
    judge = {
        "strategy": "llm",
        "models": {**MODEL, "generation_config": {"temperature": 0.0, "max_tokens": 4096}},
    }
    assert read(judge=judge, eval_batch_size=5) == {
        "strategy": "llm",
        **READ,
        "temperature": 0.0,
        "max_tokens": 4096,
        "num_workers": 5,
    }


def test_a_list_with_one_model_is_the_same():
    assert read(judge={"strategy": "llm_recall", "models": [MODEL]}) == {"strategy": "llm_recall", **READ}


def test_a_contract_gives_the_prompts():
    contract = {"system_prompt": "Be strict.", "prompt_template": "{question} {gold} {pred}", "score_type": "pattern"}
    values = read(judge={"strategy": "llm", "models": MODEL, "contract": contract})
    assert (values["prompt"], values["system_prompt"]) == ("{question} {gold} {pred}", "Be strict.")


@pytest.mark.parametrize("strategy", ["auto", "rule", None])
def test_without_a_model_the_rules_score(strategy):
    assert read(judge={"strategy": strategy}) is None


def test_the_environment_names_a_judge(monkeypatch):
    for name, value in zip(NAMES, ["env-judge", "http://env/v1", "sk-env", "Be kind.", "{pred}"], strict=True):
        monkeypatch.setenv(name, value)
    assert read(judge={"strategy": "llm"}) == {
        "strategy": "llm",
        "model_name": "env-judge",
        "url": "http://env/v1",
        "api_key": "sk-env",
        "system_prompt": "Be kind.",
        "prompt": "{pred}",
    }


def test_the_old_names_migrate_with_a_warning(caplog):
    values = read(judge_strategy="llm", judge_model_args={**MODEL, "prompt_template": "{pred}?"})
    assert values == {"strategy": "llm", **READ, "prompt": "{pred}?"}
    assert [record.levelname for record in caplog.records] == ["WARNING"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"judge": {"strategy": "llm"}}, "x: judge: models is missing"),
        ({"judge": {"strategy": "vote"}}, "x: judge: strategy: expected one of auto, rule, llm, llm_recall"),
        ({"judge": {"modles": {}}}, "x: judge: unknown key 'modles'. Did you mean 'models'"),
        ({"judge": {"models": {**MODEL, "apikey": "k"}}}, "x: judge: models: unknown key 'apikey'.*'api_key'"),
        ({"judge": {"models": [MODEL, MODEL]}}, "x: judge: models: one judge is asked, found 2"),
        ({"judge": {"models": "qwen"}}, "x: judge: models: expected an object"),
        ({"judge": {"models": MODEL, "repeats": 3}}, "x: judge: repeats: only 1 is run here"),
        ({"judge": {"models": MODEL, "position_swap": "on"}}, "x: judge: position_swap: only 'auto' is run here"),
        ({"judge": {"models": {**MODEL, "eval_type": "anthropic_api"}}}, "eval_type: 'anthropic_api' is not run here"),
        ({"judge": {"models": {**MODEL, "generation_config": {"tmp": 1}}}}, "models: generation_config: unknown key"),
        ({"judge": {"models": MODEL, "contract": {"score_type": "numeric"}}}, "contract: score_type: only 'pattern'"),
        ({"judge": {"models": MODEL, "contract": {"prompt_template": 3}}}, "prompt_template: expected a text"),
        ({"judge": {}, "judge_strategy": "llm"}, "x: judge_strategy: old names of what judge says already"),
        ({"judge_model_args": {"score_pattern": "A"}}, "x: judge_model_args: score_pattern is not taken"),
    ],
)
def test_what_is_not_run_here_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        read(**settings)
