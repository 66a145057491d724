"""What arrives at the endpoint: the prompt, the pictures' own bytes in their places, and the settings."""

from __future__ import annotations

import base64

import pytest

from tests.end_to_end.folders import answers_by_id, choice, result_of, write_model, write_task
from tests.servers import MockEndpoint, Wire, by_question, sse

SETTINGS = {
    "system_prompt": "Be brief.",
    "max_tokens": 7,
    "temperature": 0.5,
    "top_p": 0.9,
    "seed": 3,
    "reasoning": {"effort": "low"},
    "thinking": {"type": "disabled"},
    "provider": {"order": ["a"]},
    "extra_body": {"top_k": 5},
    "headers": {"X-Team": "eyes"},
    "api_key": "sk-open-sesame",
}
ITEMS = [
    choice("token", "See <image 1>, then <image 2>?", img_path=["a.jpg", "b.png"]),
    choice("untold", "Which one?", img_path=["a.jpg", "b.png"]),
    choice("plain", "No picture?"),
]


@pytest.fixture(scope="module")
def run(module_command):
    """One run with every setting given; the requests by question."""
    folder = module_command.folder
    task = write_task(folder / "task", ITEMS, prompt="dict(type='PromptTemplate')")
    with MockEndpoint() as endpoint:
        model = write_model(folder / "model.json", endpoint.url, **SETTINGS)
        done = module_command("--tasks", task, "--cfg", model, "--output-dir", "out")
        requests = {question: _find(endpoint.requests, question) for question in ("See", "Which one?", "No picture?")}
    assert done.status == 0, done.stderr
    return requests, folder / "task" / "data"


def _find(requests, question):
    [request] = [request for request in requests if question in request.text]
    return request


def _bytes(data_url):
    return base64.b64decode(data_url.partition(";base64,")[2])


def test_pictures_stand_where_their_tokens_are_and_are_the_files_bytes(run):
    requests, data = run
    parts = requests["See"].user_parts
    assert [part["type"] for part in parts] == ["text", "image_url", "text", "image_url", "text"]
    assert [part["text"] for part in parts if part["type"] == "text"][:2] == ["See ", ", then "]
    first, second = requests["See"].image_urls
    assert first.startswith("data:image/jpeg;base64,")
    assert second.startswith("data:image/png;base64,")
    assert (_bytes(first), _bytes(second)) == ((data / "a.jpg").read_bytes(), (data / "b.png").read_bytes())


def test_a_picture_that_no_token_mentions_is_sent_after_the_text(run):
    requests, data = run
    parts = requests["Which one?"].user_parts
    assert [part["type"] for part in parts] == ["image_url", "text", "image_url"]
    assert _bytes(parts[2]["image_url"]["url"]) == (data / "b.png").read_bytes()


def test_the_default_prompt_lists_options_and_asks_for_a_letter(run):
    requests, _ = run
    assert requests["No picture?"].text == (
        "No picture?\nA. red\nB. green\nC. blue\nAnswer with the option's letter from the given choices directly."
    )
    assert requests["No picture?"].body["messages"][1] == {"role": "user", "content": requests["No picture?"].text}


def test_settings_are_passed_through_as_given(run):
    requests, _ = run
    request = requests["No picture?"]
    body = {key: value for key, value in request.body.items() if key != "messages"}
    kept = ("max_tokens", "temperature", "top_p", "seed", "reasoning", "thinking", "provider")
    assert body == {"model": "mock-model", "top_k": 5, **{key: SETTINGS[key] for key in kept}}
    assert request.body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert request.headers["x-team"] == "eyes"
    assert request.headers["authorization"] == "Bearer sk-open-sesame"


STREAMS = {
    "unix": sse(["The ans", "wer is B"], reasons=["hm, ", "green"]),
    "windows": sse(["B"], wire=Wire(newline="\r\n", before=["id: 7"])),
    "comments": sse(["B"], keep_alive=True, wire=Wire(before=[": still here"])),
    "ragged": sse(["蓝色", " B"], wire=Wire(ending="nothing", cut=5)),
    "characters": sse(["蓝色 is B"], wire=Wire(cut="character", done=False)),
}


def test_streamed_replies_are_put_together(run_command, tmp_path):
    task = write_task(tmp_path / "task", [choice(name, f"{name}?") for name in STREAMS])
    with MockEndpoint(by_question({f"{name}?": stream for name, stream in STREAMS.items()})) as endpoint:
        model = write_model(tmp_path / "model.json", endpoint.url, stream=True)
        done = run_command("--tasks", task, "--cfg", model, "--output-dir", "out")
        assert all(request.body["stream"] is True for request in endpoint.requests)
    answers = answers_by_id(tmp_path / "out")
    assert {name: entry["answer"] for name, entry in answers.items()} == {
        "unix": "The answer is B",
        "windows": "B",
        "comments": "B",
        "ragged": "蓝色 B",
        "characters": "蓝色 is B",
    }
    assert answers["unix"]["reason"] == "hm, green"
    assert answers["unix"]["usage"] == {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
    assert done.status == 0
    assert result_of(tmp_path / "out")["counts"]["answered"] == len(STREAMS)
