"""Models of a person's own, and of scripts, in VLMEvalKit's shape: the document's blocks, and the command with them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas
import pytest

from tests.end_to_end.folders import read_json, write_picture
from tests.end_to_end.test_vlmeval_documents import block
from tests.media.test_video import make_video
from tests.servers import MockEndpoint, Reply, by_question

TABLE = "index\tquestion\tA\tB\tanswer\timage_path\n"
ROWS = "".join(f"{number}\tQuestion {number}?\tred\tblue\tA\t{number}.png\n" for number in range(1, 7))
OWN = """
import threading
from pathlib import Path

from flagmm.vlmeval.vlm.base import BaseModel


class Mine(BaseModel):
    INTERLEAVE = False

    def __init__(self, reply="A", log="log.txt"):
        super().__init__()
        self.reply, self.log = reply, Path(log)

    def generate_inner(self, message, dataset=None):
        prompt, image = self.message_to_promptimg(message, dataset=dataset)
        size = Path(image).stat().st_size
        with self.log.open("a") as log:
            log.write(f"{threading.get_ident()} {dataset} {size > 0} {prompt.splitlines()[0]}\\n")
        if "Question 3" in prompt:
            raise ValueError("out of memory")
        return f"<think>{prompt}</think>{self.reply}"
"""
PROMPTS = """
from flagmm.vlmeval.smp import listinstr
from flagmm.vlmeval.vlm.base import BaseModel


class Prompting(BaseModel):
    _use_custom_prompt = True
    INTERLEAVE = True

BLOCK

    def build_prompt(self, line, dataset=None):
        pictures = self.dump_image(line, dataset)
        if line["index"] == 2:
            return line["no_such_column"]
        options = " ".join(f"({letter}) {line[letter]}" for letter in "ABC" if letter in line)
        texts = [dict(type="text", value=f"My own words: {line['question']} {options}")]
        return [dict(type="image", value=path) for path in pictures] + texts

    def generate_inner(self, message, dataset=None):
        types = [item["type"] for item in message]
        return "A" if types == ["image", "text"] and "(A) red" in message[1]["value"] else "B"
"""
IDLE = """
class Echo:
    def generate_inner(self, message, dataset=None):
        return message[-1]["value"].split()[-1]
"""


@pytest.fixture
def place(run_command):
    folder = run_command.folder / "home" / "LMUData"
    folder.mkdir(parents=True)
    for name in ("pets", "plain"):
        (folder / f"{name}.tsv").write_text(TABLE + ROWS, encoding="utf-8")
        for number in range(1, 7):
            write_picture(folder / "images" / name / f"{number}.png")
    (run_command.folder / "own.py").write_text(OWN, encoding="utf-8")
    return run_command


def predictions(place, model: str, table: str = "pets") -> dict[int, str]:
    frame = pandas.read_excel(place.folder / "outputs" / model / f"{model}_{table}.xlsx")
    return dict(zip(frame["index"], frame["prediction"], strict=True))


def log_lines(place, name: str = "log.txt") -> list[list[str]]:
    return [line.split(maxsplit=3) for line in (place.folder / name).read_text().splitlines()]


def test_a_class_in_a_file_is_a_model(place):
    done = place("vlmeval", "--data", "pets", "--model", "own.py:Mine", "--api-nproc", "4")
    assert done.status == 1, done.stderr
    failed = "Failed to obtain answer via API."
    assert predictions(place, "Mine") == {1: "A", 2: "A", 3: failed, 4: "A", 5: "A", 6: "A"}
    assert "16.67% (1/6)" in done.stdout
    [warning] = [line for line in done.warnings if "out of memory" in line]
    assert "own.py:" in warning
    lines = log_lines(place)
    assert len({thread for thread, *_ in lines}) == 1
    assert {(dataset, has_picture) for _, dataset, has_picture, _ in lines} == {("pets", "True")}
    assert not (place.folder / "outputs" / "Mine" / "Mine_pets.xlsx").resolve().parent.joinpath("own.py").exists()


def test_with_reuse_only_what_its_code_failed_at_is_asked_again(place):
    flags = ("vlmeval", "--data", "pets", "--model", "own.py:Mine")
    place(*flags)
    place(*flags, "--reuse")
    assert [question for *_, question in log_lines(place)].count("Question: Question 3?") == 2
    assert len(log_lines(place)) == 7


def test_a_config_gives_the_class_its_keywords(place):
    models = {
        "right": {"class": "own.py:Mine"},
        "wrong": {"class": "own.py:Mine", "reply": "B", "log": "other.txt"},
    }
    (place.folder / "c.json").write_text(json.dumps({"model": models, "data": {"pets": {}}}), encoding="utf-8")
    done = place("vlmeval", "--config", "c.json", "--temperature", "0.5")
    assert done.status == 1, done.stderr
    assert (predictions(place, "right")[1], predictions(place, "wrong")[1]) == ("A", "B")
    assert len(log_lines(place, "other.txt")) == 6
    assert "c.json: model: wrong: temperature: not handed to a class of one's own" in done.warnings


def test_a_wrong_keyword_is_told_before_any_model_is_asked(place):
    models = {"right": {"class": "own.py:Mine"}, "wrong": {"class": "own.py:Mine", "repl": "B"}}
    (place.folder / "c.json").write_text(json.dumps({"model": models, "data": {"pets": {}}}), encoding="utf-8")
    done = place("vlmeval", "--config", "c.json")
    assert done.status == 2
    assert done.errors == ["c.json: model: wrong: Mine takes no 'repl'. Did you mean 'reply'?"]
    assert not (place.folder / "log.txt").exists()


@pytest.mark.parametrize(
    ("model", "message"),
    [("gone.py:Mine", "gone.py: no such file"), ("own.py:Other", "own.py defines no class 'Other'")],
)
def test_a_class_that_is_not_there_is_told(place, model, message):
    done = place("vlmeval", "--data", "pets", "--model", model)
    assert done.status == 2
    assert message in done.errors[0]


def test_a_class_that_cannot_be_made_leaves_no_table_done(place):
    (place.folder / "own.py").write_text(OWN.replace("super().__init__()", "raise OSError('no weights')"))
    done = place("vlmeval", "--data", "pets", "--model", "own.py:Mine")
    assert done.status == 1
    assert "OSError: no weights" in done.errors[0]
    [status] = (place.folder / "outputs" / "Mine").glob("T*/status.json")
    entry = read_json(status)["datasets"]["pets"]
    assert entry["status"] == "pending"
    assert "no weights" in entry["error_message"]


def prompting(place) -> None:
    """The document's `use_custom_prompt` in a class."""
    method = block("use_custom_prompt.py").replace("from vlmeval.", "from flagmm.vlmeval.")
    indented = "".join(f"    {line}\n" for line in method.splitlines())
    (place.folder / "prompting.py").write_text(PROMPTS.replace("BLOCK", indented), encoding="utf-8")


def test_its_own_prompts_are_asked_where_it_says_so(place):
    prompting(place)
    done = place("vlmeval", "--data", "pets", "--model", "prompting.py:Prompting")
    assert done.status == 1, done.stderr
    given = predictions(place, "Prompting")
    assert given[2] == "Failed to obtain answer via API."
    assert {given[number] for number in (1, 3, 4, 5, 6)} == {"A"}
    assert any("KeyError: 'no_such_column'" in line and "prompting.py:" in line for line in done.warnings)
    [answers] = (place.folder / "outputs" / "Prompting").glob("T*/pets/pets.json")
    questions = [item["question"] for item in read_json(answers)]
    assert questions[0] == "My own words: Question 1? (A) red (B) blue"


def test_where_it_has_no_prompts_of_its_own_the_table_s_are_asked(place):
    prompting(place)
    table = place.folder / "home" / "LMUData" / "plain.tsv"
    table.write_text("index\tquestion\tanswer\timage_path\n1\tWhat?\tB\t1.png\n", encoding="utf-8")
    done = place("vlmeval", "--data", "plain", "--model", "prompting.py:Prompting")
    assert done.status == 0, done.stderr
    [answers] = (place.folder / "outputs" / "Prompting").glob("T*/plain/plain.json")
    assert read_json(answers)[0]["question"] == "What?"


def test_a_class_without_the_base_is_checked_and_is_a_model_type(place):
    (place.folder / "echo.py").write_text(IDLE, encoding="utf-8")
    done = place("vlmeval", "check", "echo.py:Echo")
    assert done.status == 0, done.stderr
    assert done.stdout.splitlines()[0] == "Model: Echo"
    assert done.stdout.splitlines()[2].endswith("-> number.")
    table = place.folder / "home" / "LMUData" / "pets.tsv"
    run = place("--tasks", "tsv", "--data-root", table, "--model-type", "echo.py:Echo", "--output-dir", "r")
    assert run.status == 0, run.stderr
    assert {item["answer"] for item in read_json(place.folder / "r" / "tsv" / "tsv.json")} == {"above."}


def run_script(place, text: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script as it is printed, with our name in place of the other."""
    return subprocess.run(
        [sys.executable, "-c", text.replace("from vlmeval.", "from flagmm.vlmeval.")],
        cwd=place.folder, env=place.environment | variables, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


@pytest.fixture
def endpoint():
    with MockEndpoint(by_question({"What": "A red apple.", "How many": "Two."}, default="?")) as endpoint:
        yield endpoint


@pytest.fixture
def apple(place) -> Path:
    return write_picture(place.folder / "assets" / "apple.jpg")


def test_the_document_s_demo_asks_a_served_model(place, endpoint, apple):
    done = run_script(place, block("demo.py"), LMDEPLOY_API_BASE=endpoint.url)
    assert (done.returncode, done.stdout) == (0, "A red apple.\nTwo.\n"), done.stderr
    assert [len(request.image_urls) for request in endpoint.requests] == [1, 2]
    assert {request.body["model"] for request in endpoint.requests} == {"idefics_9b_instruct"}


def test_the_document_s_demo_with_nothing_served_says_how_to_serve_it(place, apple):
    done = run_script(place, block("demo.py"))
    assert done.returncode != 0
    assert "vllm serve ORG/idefics_9b_instruct" in done.stderr


@pytest.mark.parametrize("name", ["messages.py", "text_messages.py"])
def test_the_document_s_messages_are_asked(place, endpoint, apple, name):
    start = "from vlmeval.config import supported_VLM\nmodel = supported_VLM['GPT4o']()\n"
    end = "print(response, model.generate(msg2))"
    done = run_script(place, start + block(name) + end, OPENAI_API_BASE=endpoint.url, OPENAI_API_KEY="sk-1")
    assert (done.returncode, done.stdout) == (0, "A red apple. Two.\n"), done.stderr
    first, second = endpoint.requests
    assert first.image_urls[0].startswith("data:image/jpeg;base64,")
    url = "https://raw.githubusercontent.com/open-compass/VLMEvalKit/main/assets/apple.jpg"
    assert second.image_urls == [url, url]


def test_the_document_s_conversation_is_asked(place, endpoint, apple):
    start = "from vlmeval.config import supported_VLM\nmodel = supported_VLM['GPT4o']()\n"
    turns = "msg1 = ['assets/apple.jpg', 'Look.']\nmsg2 = 'Yes.'\nmsg3 = 'And?'\nmsg4 = 'Well.'\nmsgn = 'What is it?'\n"
    script = start + turns + block("chat.py").replace("......", "") + "print(response)"
    done = run_script(place, script.replace("\t\n", "\n"), OPENAI_API_BASE=endpoint.url, OPENAI_API_KEY="sk-1")
    assert (done.returncode, done.stdout) == (0, "A red apple.\n"), done.stderr
    [request] = endpoint.requests
    roles = [message["role"] for message in request.body["messages"]]
    assert roles == ["user", "assistant", "user", "assistant", "user"]


def test_of_the_processes_that_torchrun_starts_the_first_one_runs(place):
    with MockEndpoint(Reply(text="A")) as endpoint:
        flags = ("vlmeval", "--data", "pets", "--model", "m", "--base-url", endpoint.url)
        started = [place.start(*flags, RANK=str(rank), WORLD_SIZE="3", LOCAL_RANK=str(rank)) for rank in range(3)]
        finished = [place.wait(process) for process in started]
        asked = len(endpoint.requests)
    assert [done.status for done in finished] == [0, 0, 0]
    assert asked == 6
    assert len(list((place.folder / "outputs" / "m").glob("T*"))) == 1
    [line] = finished[2].stderr.splitlines()
    assert "rank 2 of 3: rank 0 asks and scores everything" in line
    assert finished[2].stdout == ""


COUNT = """
class Count:
    def generate_inner(self, message, dataset=None):
        return str([item["type"] for item in message].count("image"))
"""


def test_the_frames_of_a_preset_reach_an_endpoint_and_a_class(place):
    pytest.importorskip("av")
    folder = place.folder / "home" / "LMUData"
    table = "index\tquestion\tvideo\tanswer\n1\tWhat?\tv\tA cat.\n"
    (folder / "MMBench-Video.tsv").write_text(table, encoding="utf-8")
    (folder / "images" / "MMBench-Video").mkdir(parents=True)
    make_video(folder / "images" / "MMBench-Video" / "v.mp4", frames=40)
    (place.folder / "count.py").write_text(COUNT, encoding="utf-8")
    with MockEndpoint(Reply(text="A cat.")) as endpoint:
        done = place("vlmeval", "--data", "MMBench_Video_8frame_nopack", "--model", "GPT4o", "count.py:Count",
                     OPENAI_API_BASE=endpoint.url)  # fmt: skip
        [request] = endpoint.requests
    assert done.status == 0, done.stderr
    assert len(request.image_urls) == 8
    assert predictions(place, "Count", "MMBench_Video_8frame_nopack") == {1: 8}


def test_several_questions_in_one_request_are_refused_and_one_at_a_time_is_named(place):
    table = place.folder / "home" / "LMUData" / "MMBench-Video.tsv"
    table.write_text("index\tquestion\tvideo\n1\tWhat?\tv\n", encoding="utf-8")
    done = place("vlmeval", "--data", "MMBench_Video_1fps_pack", "--model", "GPT4o")
    assert done.status == 2
    assert "is not supported" in done.errors[0]
    assert "MMBench_Video_1fps_nopack asks one at a time" in done.errors[0]


def test_a_table_of_conversations_is_refused_and_nothing_is_asked(place, endpoint):
    table = place.folder / "home" / "LMUData" / "MMDU.tsv"
    table.write_text("index\tquestion\tanswer\n1\t['Who?', 'Why?']\t['a', 'b']\n", encoding="utf-8")
    done = place("vlmeval", "--data", "MMDU", "--model", "m", "--base-url", endpoint.url)
    assert done.status == 2
    assert "a table of conversations" in done.errors[0]
    assert endpoint.requests == []
