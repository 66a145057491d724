"""The dry run: every row is read and made into a request, and none is sent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from flagmm.assembly import build_dataset, build_evaluator, task_code
from flagmm.config.model import ModelSpec
from flagmm.config.secrets import mask, mask_url
from flagmm.config.task import TaskSpec
from flagmm.dataset.sample import build_sample, indices_in, question_id_at
from flagmm.errors import DataError
from flagmm.inference.plan import Scope
from flagmm.models.openai_body import BodyBuilder
from flagmm.plugin import user_code
from flagmm.printable import printable
from flagmm.run.plan import RunPlan
from flagmm.types import Sample, TextPart

SHOWN_ROWS = 20
_DEFAULT_SUBSET = "default"


@dataclass
class TaskLook:
    """What one data set holds."""

    task: str
    subsets: Counter[str] = field(default_factory=Counter)
    """Questions in scope by subset."""
    media: Counter[str] = field(default_factory=Counter)
    """Media by kind."""
    unanswered: int = 0
    """Questions without a reference answer, which will not be scored."""
    bad: list[str] = field(default_factory=list)
    """A line for each row that will fail."""
    first_request: dict[str, Any] | None = None

    def lines(self) -> Iterator[str]:
        """The look as text."""
        name = printable(self.task)
        counts = ", ".join(f"{printable(subset)} {count}" for subset, count in self.subsets.items())
        media = ", ".join(f"{count} {kind}" for kind, count in sorted(self.media.items())) or "none"
        yield f"{name}: {sum(self.subsets.values())} questions ({counts or 'none'})"
        yield f"{name}: media: {media}"
        if self.unanswered:
            yield f"{name}: {self.unanswered} without an answer, asked and not scored"
        yield f"{name}: {len(self.bad)} bad rows"
        yield from (f"  {printable(line)}" for line in self.bad[:SHOWN_ROWS])
        if len(self.bad) > SHOWN_ROWS:
            yield f"  … and {len(self.bad) - SHOWN_ROWS} more"
        if self.first_request is not None:
            yield f"{name}: first request:"
            yield json.dumps(self.first_request, ensure_ascii=False, indent=2)


@dataclass(frozen=True)
class Look:
    """What all data sets of a run hold."""

    tasks: list[TaskLook]

    @property
    def is_sound(self) -> bool:
        return all(task.subsets and not task.bad for task in self.tasks)

    def text(self) -> str:
        """What a person reads."""
        lines = [line for task in self.tasks for line in task.lines()]
        return "\n".join([*lines, "", "Dry run: nothing was asked."])


def look(plan: RunPlan) -> Look:
    """Read everything that a run would read.

    Raises:
        FlagMMError: a data set cannot be opened at all.
    """
    return Look([_look_at(task, plan.spec, plan.scope) for task in plan.tasks])


def _look_at(task: TaskSpec, spec: ModelSpec | None, scope: Scope) -> TaskLook:
    found = TaskLook(task=task.name)
    with task_code(task), user_code(str(task.path)):
        dataset = build_dataset(task)
        build_evaluator(task)  # which a run would need, too
        annotations = dataset.get_annotation()
        builder = BodyBuilder(spec) if spec is not None else None
        for index in indices_in(dataset, scope.limit):
            annotation = annotations[question_id_at(dataset, index)]
            found.subsets[str(annotation.get("subset", _DEFAULT_SUBSET))] += 1
            found.unanswered += annotation.get("answer") in (None, "", [])
            try:
                _take(found, build_sample(dataset, index), builder)
            except DataError as error:
                found.bad.append(f"{question_id_at(dataset, index)}: {error}")
    return found


def _take(found: TaskLook, sample: Sample, builder: BodyBuilder | None) -> None:
    """Count the sample's media and make its request."""
    if builder is not None:
        body = builder.build(sample.messages, 0)
        if found.first_request is None:
            found.first_request = shorten_media(_without_secrets(json.loads(b"".join(body))))
    found.media.update(_kinds([sample]))


def _without_secrets(body: dict[str, Any]) -> dict[str, Any]:
    """A request's body with the keys masked that the model file puts into it."""
    return {key: mask(value, key=key, of_request=True) if key != "messages" else value for key, value in body.items()}


def _kinds(samples: Iterable[Sample]) -> Iterator[str]:
    for sample in samples:
        for message in sample.messages:
            yield from (part.type for part in message.content if not isinstance(part, TextPart))


def shorten_media(value: Any, *, key: str = "") -> Any:
    """A request's body with its media cut to their beginning, and their URLs without passwords.

    >>> shorten_media({"url": "data:image/png;base64,iVBORw0KGgo="})
    {'url': 'data:image/png;base64,… (12 characters)'}
    """
    if isinstance(value, dict):
        return {name: shorten_media(item, key=name) for name, item in value.items()}
    if isinstance(value, list):
        return [shorten_media(item, key=key) for item in value]
    if isinstance(value, str) and value.startswith("data:"):
        head, comma, payload = value.partition(",")
        return f"{head}{comma}… ({len(payload)} characters)"
    if isinstance(value, str) and key == "data":  # the raw base64 of a sound
        return f"… ({len(value)} characters)"
    if isinstance(value, str) and key.endswith("url"):
        return mask_url(value)
    return value
