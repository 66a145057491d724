"""A model class in VLMEvalKit's shape as a client."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import pytest

from flagmm.config.model import ModelSpec, parse_model
from flagmm.errors import ConfigError, ModelError, UserCodeError
from flagmm.models.build import build_client, check_keywords_of_class, own_keys
from flagmm.types import AudioPart, CallSettings, ImagePart, MediaSource, Message, TextPart, VideoPart

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
OWN = """
from pathlib import Path

class Mine:
    def __init__(self, reply="A", fails=None):
        self.reply, self.fails, self.seen = reply, fails, []

    def generate_inner(self, message, dataset=None):
        self.seen.append((message, dataset, [Path(m["value"]).read_bytes() for m in message if m["type"] == "image"
                          and "://" not in m["value"]]))
        if self.fails:
            raise ValueError(self.fails)
        return self.reply

class Chatting(Mine):
    VIDEO_LLM = True

    def chat_inner(self, message, dataset=None):
        self.turns = message
        return "chatted"

class Splitting(Mine):
    def split_thinking(self, text):
        thinking, _, prediction = text.partition(" => ")
        return prediction, thinking

class Api(Mine):
    fail_msg = "It failed. "

class Threads:
    def __init__(self, api=False):
        self.is_api, self.now, self.most = api, 0, 0

    def generate_inner(self, message, dataset=None):
        import time
        self.now += 1
        self.most = max(self.most, self.now)
        time.sleep(0.1)
        self.now -= 1
        return "A"

class Eager:
    def __init__(self):
        raise RuntimeError("no GPU")

    def generate_inner(self, message, dataset=None):
        return ""
"""


@pytest.fixture
def client_of(tmp_path):
    (tmp_path / "own.py").write_text(OWN)

    def make(name, workers=4, **keywords):
        values = {"model_type": f"{tmp_path}/own.py:{name}", "num_workers": workers, "kwargs": keywords}
        return build_client(parse_model(values, source="m.json", own_keys=own_keys))

    return make


def ask(client, *parts, messages=None):
    messages = messages or [Message(role="user", content=parts or (TextPart(text="Which?"),))]

    async def run():
        async with client:
            return await client.generate(messages, CallSettings(question_id="1", task="pets"))

    return asyncio.run(run())


def test_it_gets_texts_and_files_in_order_and_the_data_set_s_name(client_of, tmp_path):
    (tmp_path / "a.png").write_bytes(PNG)
    client = client_of("Mine", reply="B")
    output = ask(
        client,
        ImagePart(source=MediaSource(path=str(tmp_path / "a.png"))),
        TextPart(text="Which?"),
        ImagePart(source=MediaSource(url="http://h/b.png")),
        ImagePart(source=MediaSource(data=PNG)),
    )
    [(message, dataset, contents)] = client._model.seen
    assert (output.text, dataset, contents) == ("B", "pets", [PNG, PNG])
    assert message[:3] == [
        {"type": "image", "value": str(tmp_path / "a.png")},
        {"type": "text", "value": "Which?"},
        {"type": "image", "value": "http://h/b.png"},
    ]
    assert message[3]["value"].endswith(".png")
    assert not Path(message[3]["value"]).exists()


def test_a_class_for_videos_gets_the_file(client_of):
    client = client_of("Chatting")
    ask(client, VideoPart(source=MediaSource(path="v.mp4")), TextPart(text="What?"))
    assert client._model.seen[0][0][0] == {"type": "video", "value": "v.mp4"}


@pytest.mark.parametrize(
    ("name", "reply", "text", "reason"),
    [
        ("Mine", "<think>hm</think>A", "A", "hm"),
        ("Splitting", "hm => A", "A", "hm"),
        ("Mine", (0, "A", None), "A", ""),
        ("Mine", {"prediction": "A", "extra_records": {}}, "A", ""),
        ("Mine", "", "", ""),
    ],
)
def test_a_reply_is_its_text_without_the_thinking(client_of, name, reply, text, reason):
    output = ask(client_of(name, reply=reply))
    assert (output.text, output.reason) == (text, reason)


@pytest.mark.parametrize(
    ("name", "reply", "message"),
    [
        ("Mine", None, "expected a text, found NoneType"),
        ("Mine", 5, "expected a text, found int"),
        ("Mine", (-1, "", "quota"), "return code -1: quota"),
        ("Api", "It failed. And again", "It failed"),
    ],
)
def test_what_is_no_answer_is_a_failed_call(client_of, name, reply, message):
    with pytest.raises(ModelError, match=message):
        ask(client_of(name, reply=reply))


def test_a_sound_is_refused(client_of):
    with pytest.raises(ModelError, match="no sounds"):
        ask(client_of("Mine"), AudioPart(source=MediaSource(path="a.wav")))


def test_a_conversation_needs_chat_inner(client_of):
    turns = [Message(role=role, content=(TextPart(text=role),)) for role in ("user", "assistant", "user")]
    with pytest.raises(ModelError, match="a conversation of 3 messages, and Mine has no chat_inner"):
        ask(client_of("Mine"), messages=turns)
    client = client_of("Chatting")
    assert ask(client, messages=turns).text == "chatted"
    assert client._model.turns[1] == {"role": "assistant", "content": [{"type": "text", "value": "assistant"}]}


@pytest.mark.parametrize(("api", "most"), [(False, 1), (True, 3)])
def test_one_thread_asks_unless_the_class_says_that_it_is_an_api(client_of, api, most):
    client = client_of("Threads", workers=3, api=api)

    async def run():
        async with client:
            message = [Message(role="user", content=(TextPart(text="?"),))]
            await asyncio.gather(*(client.generate(message, CallSettings(question_id=str(n))) for n in range(6)))

    asyncio.run(run())
    assert client._model.most == most


def test_its_prompts_are_not_built_while_it_answers(client_of):
    client = client_of("Threads")
    client._model.use_custom_prompt = lambda dataset: client._model.now == 0

    def answer():
        ask(client)

    thread = threading.Thread(target=answer)
    thread.start()
    time.sleep(0.03)
    assert client.words("pets")
    thread.join()


def test_its_keywords_are_checked_before_it_is_made(client_of, tmp_path):
    spec = ModelSpec(model_name="m", model_type=f"{tmp_path}/own.py:Mine", options={"kwargs": {"repl": 1}})
    with pytest.raises(ConfigError, match=r"here: Mine takes no 'repl'\. Did you mean 'reply'\?"):
        check_keywords_of_class(spec, where="here")


def test_a_class_that_cannot_be_made_names_the_line(client_of):
    with pytest.raises(UserCodeError, match=r"RuntimeError: no GPU \(at .*own\.py:\d+\)"):
        client_of("Eager")


def test_a_key_among_its_keywords_is_secret(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    values = {"model_type": f"{tmp_path}/own.py:Mine", "kwargs": {"key": "sk-own-1"}}
    assert "sk-own-1" in parse_model(values, source="m.json", own_keys=own_keys).secrets()
