"""Models that need no endpoint: chance, and answers written down beforehand."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flagmm.config.model import ModelSpec
from flagmm.errors import ConfigError, DataError, ModelError
from flagmm.jsonio import dump_line, read_json, read_jsonl
from flagmm.models.client import BaseClient
from flagmm.models.openai_reply import make_output
from flagmm.models.prompt_options import offered_options
from flagmm.registry import MODELS
from flagmm.types import CallSettings, Message, ModelOutput, TextPart


@MODELS.register_module("random")
class RandomClient(BaseClient):
    """The chance baseline: picks among the options, or yes and no, by a seed made of the question's id.

    A question without either gets a fixed text, which no reference answer equals.
    """

    def __init__(self, spec: ModelSpec) -> None:
        self._seed = spec.seed or 0

    async def generate(self, messages: Sequence[Message], settings: CallSettings) -> ModelOutput:
        rng = random.Random(f"{self._seed}/{settings.repeat}/{settings.question_id}")
        labels = list(offered_options(messages, settings))
        if labels and settings.question_type == "multiple-response":
            count = rng.randint(1, len(labels))
            text = "".join(sorted(rng.sample(labels, count)))
        elif labels:
            text = rng.choice(labels)
        elif settings.question_type == "yes-no":
            text = rng.choice(["yes", "no"])
        else:
            text = "(no guess)"
        return ModelOutput(text=text, finish_reason="stop")


@MODELS.register_module("scripted")
class ScriptedClient(BaseClient):
    """Answers from a file or list, and remembers what it was asked: for tests, and for trying a task without a model.

    Args:
        answers: a list (taken in the order of asking), a dict by question id, or the path of a JSON or JSON Lines file
            with either. An entry is a text, or an object with `text` and perhaps `reason`, `finish_reason`, `refused`,
            or with `error`. JSON Lines hold objects with `question_id` and `answer`.
        record: a JSON Lines file that each request is added to.

    Attributes:
        requests: the (question id, messages) pairs asked so far.
    """

    def __init__(self, spec: ModelSpec, *, answers: Any = None, record: str | None = None) -> None:
        self._answers = _load_answers(answers)
        self._record = _writable(Path(record).expanduser()) if record else None
        self.requests: list[tuple[str, Sequence[Message]]] = []

    async def generate(self, messages: Sequence[Message], settings: CallSettings) -> ModelOutput:
        number = len(self.requests)
        self.requests.append((settings.question_id, messages))
        if self._record is not None:
            self._write_record(messages, settings)
        entry = self._entry(number, settings.question_id)
        if isinstance(entry, Mapping) and "error" in entry:
            raise ModelError(str(entry["error"]), kind="model")
        fields = entry if isinstance(entry, Mapping) else {"text": entry}
        return make_output(
            text=str(fields.get("text", "")),
            reason=str(fields.get("reason", "")),
            finish_reason=fields.get("finish_reason", "stop"),
            usage=None,
            refused=bool(fields.get("refused")),
        )

    def _entry(self, number: int, question_id: str) -> Any:
        if isinstance(self._answers, Mapping):
            if question_id not in self._answers:
                raise ModelError(f"no scripted answer for question_id {question_id!r}", kind="model")
            return self._answers[question_id]
        if number >= len(self._answers):
            raise ModelError(f"only {len(self._answers)} scripted answers", kind="model")
        return self._answers[number]

    def _write_record(self, messages: Sequence[Message], settings: CallSettings) -> None:
        shown = [{"role": message.role, "content": [_show(part) for part in message.content]} for message in messages]
        with open(str(self._record), "a", encoding="utf-8") as file:
            line = {"task": settings.task, "question_id": settings.question_id, "messages": shown}
            file.write(dump_line(line) + "\n")


def _writable(path: Path) -> Path:
    """The path, when lines can be added to its file; better told now than at every question."""
    try:
        path.open("a", encoding="utf-8").close()
    except OSError as error:
        raise ConfigError(f"scripted model: record: {path}: {error.strerror or error}") from None
    return path


def _show(part: Any) -> dict[str, str]:
    if isinstance(part, TextPart):
        return {"type": part.type, "text": part.text}
    return {"type": part.type, part.type: part.source.label}


def _load_answers(answers: Any) -> Sequence[Any] | Mapping[str, Any]:
    if isinstance(answers, str) and answers.endswith(".jsonl"):
        path = Path(answers).expanduser()
        return dict(_by_id(line, f"{path}:{number}") for number, line in read_jsonl(path))
    if isinstance(answers, str):
        answers = read_json(Path(answers).expanduser())
    if isinstance(answers, Mapping):
        return {str(key): value for key, value in answers.items()}
    if isinstance(answers, list):
        if answers and all(isinstance(item, Mapping) and "question_id" in item for item in answers):
            return {str(item["question_id"]): item.get("answer", item) for item in answers}
        return answers
    raise ConfigError(f"scripted model: answers: expected a list, an object or a file, found {json.dumps(answers)}")


def _by_id(line: Any, place: str) -> tuple[str, Any]:
    if not isinstance(line, Mapping) or "question_id" not in line:
        raise DataError(f"{place}: expected an object with 'question_id' and 'answer'")
    return str(line["question_id"]), line.get("answer", line)
