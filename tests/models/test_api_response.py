"""Replies as scoring code gets them, under FlagEvalMM's names."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.models import GPT, ApiResponse, ApiUsage, BaseApiModel, ProcessResult
from flagmm.models.api_response import CompletionTokensDetails, DataclassJSONEncoder, PromptTokensDetails
from flagmm.types import Usage

SENT = {
    "prompt_tokens": 10,
    "completion_tokens": 4,
    "total_tokens": 14,
    "prompt_tokens_details": {"cached_tokens": 2, "of_the_future": 1},
    "completion_tokens_details": {"reasoning_tokens": 3},
    "cost": 0.1,
}


def test_token_counts_are_read_as_endpoints_send_them():
    usage = ApiUsage.from_dict(SENT)
    assert isinstance(usage, Usage)
    assert (usage.total_tokens, usage.prompt_tokens_details) == (14, PromptTokensDetails(cached_tokens=2))
    assert usage.completion_tokens_details == CompletionTokensDetails(reasoning_tokens=3)
    assert usage.to_dict()["prompt_tokens_details"] == {"audio_tokens": 0, "cached_tokens": 2}
    assert ApiUsage.from_dict(usage.to_dict()) == usage
    assert "cost" in SENT  # what was given stays as it was


@given(st.text(), st.none() | st.builds(ApiUsage, total_tokens=st.integers(0, 9)))
def test_a_reply_survives_json(text, usage):
    reply = ApiResponse(content=text, usage=usage)
    again = ApiResponse.from_json(reply.to_json())
    assert (again, again.content, again.usage) == (text, text, usage)


@pytest.mark.parametrize("text", ["plain words", "[1]", '{"other": 1}', '{"content": 5}', "1"])
def test_any_other_text_is_the_reply_itself(text):
    assert ApiResponse.from_json(text) == ApiResponse.from_content(text) == text


def test_results_are_written_with_what_is_in_them():
    result = ProcessResult("1", "Q?", {"inference_0": "A"}, usage=[SENT])
    assert result.to_dict() == {
        "question_id": "1", "question": "Q?", "answer": {"inference_0": "A"}, "reason": "", "usage": [SENT],
    }  # fmt: skip
    assert json.loads(json.dumps({"r": result}, cls=DataclassJSONEncoder))["r"]["answer"] == {"inference_0": "A"}
    with pytest.raises(TypeError):
        json.dumps({"r": object()}, cls=DataclassJSONEncoder)


def test_a_client_of_a_task_s_own_gives_the_parts_of_a_reply():
    class Mine(BaseApiModel):
        def _chat(self, chat_messages, **settings):
            yield ApiResponse.from_content(chat_messages[-1]["content"][0]["text"])
            yield f" at {settings['temperature']}"

    client = Mine(model_name="mine", temperature=0.5)
    assert (client.model_name, client.chat_name, client.chat_args) == ("mine", "mine", {"temperature": 0.5})
    assert client.infer(client.build_message("Hm"), temperature=1).content == "Hm at 1"
    assert issubclass(GPT, BaseApiModel)


def test_a_model_of_code_s_own_is_asked_while_answers_are_scored_only():
    from flagmm.errors import ConfigError

    model = GPT("own", base_url="http://h/v1", api_key="k")
    assert (model.model_name, model.chat_name) == ("own", "own")
    with pytest.raises(ConfigError, match="GPT: own can be asked while answers are scored only"):
        model.infer(model.build_message("q"))


def test_keywords_of_a_model_that_have_no_effect_are_told(caplog):
    GPT("own", base_url="http://h/v1", api_key="k", flavour="mint", json_mode=True, max_num_frames=4)
    assert [record.getMessage() for record in caplog.records] == ["GPT('own'): flavour: has no effect"]
