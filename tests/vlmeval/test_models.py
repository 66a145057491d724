"""Base classes of models, and models by VLMEvalKit's names."""

from __future__ import annotations

import pytest

from flagmm.errors import ConfigError, DataError, ModelError
from flagmm.vlmeval.api import BaseAPI
from flagmm.vlmeval.config import supported_VLM
from flagmm.vlmeval.dataset import DATASET_MODALITY, DATASET_TYPE
from flagmm.vlmeval.messages import message_list
from flagmm.vlmeval.smp import listinstr
from flagmm.vlmeval.vlm import BaseModel
from tests.end_to_end.folders import write_picture
from tests.servers import MockEndpoint, Reply, error_reply


class Echo(BaseModel):
    def generate_inner(self, message, dataset=None):
        self.seen = message
        return "".join(item["type"][0] for item in message)


@pytest.fixture
def apple(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_picture(tmp_path / "apple.jpg")
    return "apple.jpg"


@pytest.mark.parametrize(
    ("message", "types"),
    [
        ("What?", "t"),
        (["apple.jpg", "What?"], "it"),
        (["http://h/a.jpg", "https://h/x?y=1", "What?"], "iit"),
        (["https://h/a.mp4", "See https://h/a.jpg there"], "vt"),
        ({"type": "text", "value": "What?"}, "t"),
        ([{"type": "image", "value": "apple.jpg"}, {"type": "text", "value": "What?"}], "it"),
    ],
)
def test_a_message_may_have_any_of_the_forms(apple, message, types):
    assert Echo().generate(message) == types


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (["aple.jpg", "What?"], "aple.jpg: no such file"),
        (["apple.jpg", 5], "expected a text, texts, or a list"),
        ([{"type": "text"}], "expected a text, texts, or a list"),
        ([], "expected a text, texts, or a list"),
        ([{"type": "audio", "value": "a.wav"}], "Echo: takes text, image, video, not 'audio'"),
    ],
)
def test_a_message_of_another_form_is_refused(apple, message, error):
    with pytest.raises(DataError, match=error):
        Echo().generate(message)


def test_a_list_is_not_changed_by_asking(apple):
    message = [{"type": "text", "value": "What?"}]
    assert message_list(message) == message
    assert message_list(message)[0] is not message[0]


def test_a_model_that_takes_one_picture_gets_the_first_and_all_texts(caplog):
    message = message_list([{"type": kind, "value": value} for kind, value in
                            (("image", "a"), ("text", "x"), ("image", "b"), ("text", "y"))])  # fmt: skip
    assert Echo().message_to_promptimg(message) == ("x\ny", "a")
    assert "Echo: takes the first of 2 images" in caplog.text
    assert Echo().message_to_promptimg([{"type": "text", "value": "x"}], dataset="pets") == ("x", None)


def test_by_default_no_prompt_is_the_model_s_own():
    model = Echo()
    assert model.use_custom_prompt("pets") is False
    with pytest.raises(NotImplementedError, match="write build_prompt"):
        model.build_prompt({}, "pets")
    with pytest.raises(DataError, match="set_dump_image"):
        model.dump_image({}, "pets")
    model.set_dump_image(lambda line: [line["x"]])
    assert model.dump_image({"x": "a.png"}, "pets") == ["a.png"]


def test_a_conversation_ends_with_the_user(apple):
    class Chatting(Echo):
        def chat_inner(self, message, dataset=None):
            return message

    turns = [{"role": "user", "content": ["apple.jpg", "What?"]}]
    assert Chatting().chat(turns)[0]["content"][0] == {"type": "image", "value": "apple.jpg"}
    with pytest.raises(DataError, match="the last one of the user"):
        Chatting().chat([*turns, {"role": "assistant", "content": "x"}])


class Service(BaseAPI):
    def __init__(self, replies, **settings):
        super().__init__(wait=0, **settings)
        self.replies = iter(replies)

    def generate_inner(self, inputs, **kwargs):
        reply = next(self.replies)
        if isinstance(reply, Exception):
            raise reply
        return reply


def test_an_api_is_called_until_it_answers():
    replies = [
        ValueError("x"),
        (-1, "", "busy"),
        (0, "", ""),
        (0, "Failed to obtain answer via API.", ""),
        (0, "A", ""),
    ]
    assert Service(replies).generate("What?", dataset="pets") == "A"


def test_an_api_that_never_answers_raises():
    with pytest.raises(ModelError, match=r"Failed to obtain answer via API\. return code -1: busy"):
        Service([ValueError("x"), (-1, "", "busy")], retry=2).generate("What?")


def test_a_known_name_is_asked_at_its_endpoint(apple, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-demo")
    with MockEndpoint(Reply(text="an apple")) as endpoint:
        monkeypatch.setenv("OPENAI_API_BASE", endpoint.url)
        model = supported_VLM["GPT4o"](temperature=1)
        assert model.generate(["apple.jpg", "What is in this image?"]) == "an apple"
        assert model.generate([{"type": "text", "value": "Hello"}]) == "an apple"
        first, second = endpoint.requests
    assert (first.text, len(first.image_urls), first.body["temperature"]) == ("What is in this image?", 1, 1)
    assert (first.body["model"], second.text) == ("gpt-4o-2024-05-13", "Hello")


def test_a_call_that_failed_raises(monkeypatch, apple):
    with MockEndpoint(error_reply(400, "too long")) as endpoint:
        monkeypatch.setenv("OPENAI_API_BASE", endpoint.url)
        with pytest.raises(ModelError, match="too long"):
            supported_VLM["GPT4o"]().generate("What?")


def test_a_name_of_the_zoo_says_how_to_serve_it(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LMDEPLOY_API_BASE", raising=False)
    with pytest.raises(ConfigError, match=r"vllm serve ORG/idefics_9b_instruct"):
        supported_VLM["idefics_9b_instruct"]
    assert "idefics_9b_instruct" not in supported_VLM
    assert "GPT4o" in supported_VLM
    assert "GPT4o" in list(supported_VLM)
    monkeypatch.setenv("LMDEPLOY_API_BASE", "http://localhost:1/v1")
    assert "idefics_9b_instruct" in supported_VLM


@pytest.mark.parametrize(
    ("text", "kind", "modality"),
    [
        ("index\tquestion\tA\tB\timage\n1\tq\ta\tb\tx\n", "MCQ", "IMAGE"),
        ("index\tquestion\tanswer\timage_path\n1\tq\tYes\tx\n2\tq\tno\tx\n", "Y/N", "IMAGE"),
        ("index\tquestion\tanswer\n1\tq\tYes\n2\tq\tmaybe\n", "VQA", "TEXT"),
        ("index\tquestion\tvideo\n1\tq\tx\n", "VQA", "VIDEO"),
    ],
)
def test_a_table_s_columns_say_what_it_asks(tmp_path, monkeypatch, text, kind, modality):
    monkeypatch.setenv("LMUData", str(tmp_path))
    (tmp_path / "t.tsv").write_text(text)
    assert (DATASET_TYPE("t"), DATASET_MODALITY("t")) == (kind, modality)
    assert (DATASET_TYPE("gone", default=None), DATASET_MODALITY("gone")) == (None, "IMAGE")


def test_listinstr_looks_for_each():
    assert listinstr(["MMVet", "x"], "MMVet_2")
    assert not listinstr(["MMVet"], "MME")
