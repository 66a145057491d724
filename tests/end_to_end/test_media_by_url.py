"""Media behind URLs: left to the endpoint, or fetched where the model file asks for it."""

from __future__ import annotations

import base64
import io
import json

from PIL import Image

from tests.end_to_end.folders import choice, write_model, write_task
from tests.servers import MockEndpoint, Reply, html_reply

WAV = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\0\0\0\0"


def picture():
    file = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(file, "PNG")
    return file.getvalue()


PNG = picture()
FILES = {"/a.png": Reply(raw_body=PNG), "/a.wav": Reply(raw_body=WAV), "/page.png": html_reply()}


def run(command, endpoint, **settings):
    """Ask about a picture, a sound, and a page that is said to be a picture; answers by id, and what arrived."""
    task = write_task(command.folder / "task", [])
    root = endpoint.url.removesuffix("/v1")
    items = [
        choice("picture", "Picture?", img_path=f"{root}/a.png"),
        choice("sound", "Sound?", audio_path=f"{root}/a.wav"),
        choice("page", "Page?", img_path=f"{root}/page.png"),
    ]
    (command.folder / "task" / "data" / "data.json").write_text(json.dumps(items))
    model = write_model(command.folder / "model.json", endpoint.url, **settings)
    done = command("--tasks", task, "--cfg", model, "--output-dir", "out")
    answers = json.loads((command.folder / "out" / "colours" / "colours.json").read_text())
    asked = {
        request.text.split("?")[0].split()[-1]: request for request in endpoint.requests if request.method == "POST"
    }
    return done, {answer["question_id"]: answer for answer in answers}, asked


def test_media_are_fetched_and_sent_as_data(run_command):
    with MockEndpoint(files=FILES) as endpoint:
        done, answers, asked = run(run_command, endpoint, fetch_media=True, allow_private_media=True)
    assert done.status == 1, done.stderr
    assert {name: answer["status"] for name, answer in answers.items()} == {
        "picture": "ok", "sound": "ok", "page": "failed",
    }  # fmt: skip
    assert asked["Picture"].image_urls == [f"data:image/png;base64,{base64.b64encode(PNG).decode()}"]
    sound = next(part for part in asked["Sound"].user_parts if part["type"] == "input_audio")
    assert sound["input_audio"] == {"data": base64.b64encode(WAV).decode(), "format": "wav"}
    error = answers["page"]["error"]
    assert error["kind"] == "media"
    assert error["message"].endswith("/page.png: is a text or web page, not a picture")


def test_without_being_asked_only_sounds_are_fetched_and_not_from_this_machine(run_command):
    with MockEndpoint(files=FILES) as endpoint:
        done, answers, asked = run(run_command, endpoint)
        fetched = [request.path for request in endpoint.requests if request.method == "GET"]
    assert done.status == 1, done.stderr
    assert asked["Picture"].image_urls[0].endswith("/a.png")
    assert asked["Page"].image_urls[0].endswith("/page.png")
    assert answers["sound"]["status"] == "failed"
    assert "not on the public network; allow_private_media" in answers["sound"]["error"]["message"]
    assert fetched == []
