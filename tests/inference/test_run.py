"""Asking the questions of one task and keeping what comes of them."""

from __future__ import annotations

import asyncio
import logging

import pytest

from flagmm.config.model import ModelSpec
from flagmm.errors import ConfigError, EndpointError, MissingExtraError, ModelError
from flagmm.inference.interrupt import Gate
from flagmm.inference.plan import Plan, Scope
from flagmm.inference.run import ALIVE_PER_WORKER, Inference
from flagmm.inference.session import ModelSession
from flagmm.inference.store import PredictionStore
from flagmm.jsonio import read_jsonl
from flagmm.models.client import BaseClient
from flagmm.models.stack import build_stack
from flagmm.types import ModelOutput, Usage


class Questions:
    """A data set of plain questions, or of the given items."""

    name = "t"

    def __init__(self, count=0, *items):
        self.items = [{"question_id": str(number), "question": f"Q{number}?"} for number in range(count)] + list(items)
        self.built = 0

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        self.built += 1
        if isinstance(self.items[index], Exception):
            raise self.items[index]
        return self.items[index]

    def get_annotation(self):
        return {f"broken{number}": {} for number in range(len(self.items))}


class Model(BaseClient):
    """Answers by a function of the question's id; what it returns is raised where it is an exception."""

    def __init__(self, rule, seconds=0.0):
        self.rule, self.seconds = rule, seconds
        self.asked = []
        self.now = self.most = 0

    async def generate(self, messages, settings):
        self.asked.append((settings.question_id, settings.repeat))
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(self.seconds)
        self.now -= 1
        reply = self.rule(settings.question_id)
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, ModelOutput) else ModelOutput(text=reply, finish_reason="stop")


class Counting:
    """A progress display that notes what it is told."""

    def __init__(self):
        self.events = []

    def start(self, task, total, done):
        self.events.append((task, total, done))

    def advance(self, prediction):
        self.events.append(prediction.question_id)

    def finish(self):
        self.events.append("finished")


@pytest.fixture
def infer(tmp_path):
    """Runs an inference of a model over a data set; returns the lines written, by question."""

    def infer(dataset, model, *, stop_after=None, progress=None, **spec):
        spec = ModelSpec(model_name="m", model_type="random", retries=0, **spec)
        with PredictionStore(tmp_path / "predictions.jsonl") as store, ModelSession(spec) as session:
            session.client = build_stack(Gate(model, session.stop), spec)
            if stop_after is not None:
                model.rule = stopping(model, stop_after, session.stop)
            plan = Plan(dataset, store, fingerprint=session.fingerprint, repeats=spec.num_infers, scope=Scope())
            inference = Inference(plan, store, session, progress=progress or Counting())
            session.run(lambda: inference.run("my_task"))
        return [line for _, line in read_jsonl(tmp_path / "predictions.jsonl")]

    return infer


def stopping(model, count, stop):
    """The model's rule, which asks the run to stop with the answer number `count`."""
    rule = model.rule

    def stopping(question_id):
        if len(model.asked) >= count and not stop.requested:
            stop.request()
        return rule(question_id)

    return stopping


def by_id(lines):
    return {line["question_id"]: line for line in lines}


@pytest.mark.parametrize("count", [0, 1, 50])
def test_every_question_is_asked_once_and_its_answer_kept(infer, count):
    model = Model(lambda question_id: f"A{question_id}")
    lines = by_id(infer(Questions(count), model))
    assert {key: line["answer"] for key, line in lines.items()} == {str(n): f"A{n}" for n in range(count)}
    assert {line["status"] for line in lines.values()} <= {"ok"}
    assert len(model.asked) == count


def test_a_line_tells_all_that_the_reply_told(infer):
    output = ModelOutput(text="A", reason="r", usage=Usage(total_tokens=3), finish_reason="length")
    (line,) = infer(Questions(1), Model(lambda _: output))
    assert (line["question"], line["answer"], line["reason"], line["usage"]) == ("Q0?", "A", "r", {"total_tokens": 3})
    assert (line["finish_reason"], line["attempts"], line["error"], line["inference"]) == ("length", 1, None, 0)
    assert line["latency"] >= 0
    assert len(line["request"]) == 32


@pytest.mark.parametrize(
    ("reply", "status", "error"),
    [
        pytest.param(" \n", "empty", None, id="blank"),
        pytest.param("<|im_end|>", "empty", None, id="nothing but tokens of a chat template"),
        pytest.param(
            ModelOutput(text="", finish_reason="content_filter", refused=True), "refused", None, id="filtered"
        ),
        pytest.param(ModelOutput(text="I won't", refused=True), "refused", None, id="refused with words"),
        pytest.param(
            ModelError("filter", kind="refused", status=400),
            "refused",
            {"kind": "refused", "message": "filter", "status": 400},
            id="turned down",
        ),
        pytest.param(
            ModelError("HTTP 500: x", kind="server", status=500),
            "failed",
            {"kind": "server", "message": "HTTP 500: x", "status": 500},
            id="failed",
        ),
    ],
)
def test_each_outcome_has_its_status_and_an_error_text_is_no_answer(infer, reply, status, error):
    line = by_id(infer(Questions(2), Model(lambda question_id: reply if question_id == "1" else "A")))["1"]
    assert (line["status"], line["error"]) == (status, error)
    assert line["answer"] == (reply if isinstance(reply, str) else getattr(reply, "text", ""))


def test_what_a_model_class_of_ones_own_raises_is_one_failed_item(infer):
    lines = by_id(
        infer(Questions(3), Model(lambda question_id: RuntimeError("out of memory") if question_id == "1" else "A"))
    )
    assert [line["status"] for _, line in sorted(lines.items())] == ["ok", "failed", "ok"]
    assert lines["1"]["error"]["kind"] == "model"
    assert lines["1"]["error"]["message"].startswith("RuntimeError: out of memory (at ")


@pytest.mark.parametrize("error", [MissingExtraError("av", "video", "video"), ConfigError("x")])
def test_a_mistake_that_concerns_all_items_ends_the_run(infer, error):
    with pytest.raises(type(error)):
        infer(Questions(3), Model(lambda _: error))


def test_items_that_cannot_be_asked_fail_without_a_call(infer, tmp_path):
    gone = {"question_id": "gone", "question": "<image 1>", "img_path": str(tmp_path / "gone.png")}
    model = Model(lambda _: "A")
    lines = by_id(infer(Questions(1, KeyError("topic"), gone), model))
    assert model.asked == [("0", 0)]
    assert [lines[key]["status"] for key in ("0", "broken1", "gone")] == ["ok", "failed", "failed"]
    assert (lines["broken1"]["error"]["kind"], lines["gone"]["error"]["kind"]) == ("data", "media")
    assert "gone.png" in lines["gone"]["error"]["message"]
    assert lines["gone"]["attempts"] == 0


def test_a_second_run_asks_only_what_has_no_answer(infer):
    infer(Questions(4), Model(lambda question_id: "" if question_id == "2" else "A"))
    model = Model(lambda _: "B")
    infer(Questions(5), model)
    assert sorted(model.asked) == [("2", 0), ("4", 0)]


def test_repetitions_are_asked_and_kept_apart(infer):
    model = Model(lambda _: "A")
    lines = infer(Questions(2), model, num_infers=3, temperature=1)
    assert sorted((line["question_id"], line["inference"]) for line in lines) == sorted(model.asked)
    assert len({line["request"] for line in lines}) == 6
    assert len(model.asked) == 6


def test_calls_at_once_and_questions_alive_follow_the_number_of_workers(infer):
    dataset = Questions(200)
    model = Model(lambda _: "A", seconds=0.001)
    alive = []
    rule = model.rule
    model.rule = lambda question_id: alive.append(dataset.built - len(alive)) or rule(question_id)
    infer(dataset, model, num_workers=3)
    assert model.most == 3
    assert max(alive) <= 3 * ALIVE_PER_WORKER + 1


def test_progress_is_told_of_every_call(infer):
    progress = Counting()
    infer(Questions(2), Model(lambda _: "A"), progress=progress)
    later = Counting()
    infer(Questions(3), Model(lambda _: "A"), progress=later)
    assert (progress.events[0], set(progress.events[1:-1]), progress.events[-1]) == (
        ("my_task", 2, 0),
        {"0", "1"},
        "finished",
    )
    assert later.events == [("my_task", 3, 2), "2", "finished"]


def test_a_stop_lets_nothing_new_start_and_keeps_what_is_finished(infer):
    model = Model(lambda _: "A", seconds=0.01)
    lines = infer(Questions(100), model, stop_after=5, num_workers=2)
    assert 5 <= len(model.asked) <= 7
    assert sorted(line["question_id"] for line in lines) == sorted(question_id for question_id, _ in model.asked)
    assert {line["status"] for line in lines} == {"ok"}


def test_a_hopeless_endpoint_ends_the_run_and_what_was_asked_is_kept(infer):
    model = Model(lambda _: ModelError("HTTP 401: no such key", kind="auth", status=401))
    progress = Counting()
    with pytest.raises(EndpointError, match=r"^m does not answer: HTTP 401: no such key; check api_key$"):
        infer(Questions(1000), model, progress=progress, num_workers=2)
    assert 3 <= len(model.asked) < 20
    assert progress.events[-1] == "finished"


def test_a_single_question_that_fails_as_all_would_is_hopeless_too(infer):
    with pytest.raises(EndpointError):
        infer(Questions(1), Model(lambda _: ModelError("HTTP 404: no such model", kind="not_found")))


def test_equal_errors_are_told_once_with_their_number(infer, caplog):
    caplog.set_level(logging.WARNING)
    infer(
        Questions(5),
        Model(lambda question_id: "A" if question_id in "04" else ModelError("HTTP 500: oops", kind="server")),
    )
    assert caplog.messages == ["my_task: ×3 server: HTTP 500: oops"]
