"""What a task's own scoring code asks of models: the judge lent to a `process` of its own, and models that it makes.

Both are asked as a judge is: calls are retried, masked, kept and counted.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

from flagmm.config.dump import fingerprint
from flagmm.config.model import ModelSpec
from flagmm.evaluator.base_evaluator import BaseEvaluator
from flagmm.evaluator.judge import Judge, report_of_code
from flagmm.inference.interruptible import ended_by_interrupts
from flagmm.inference.judging import JudgeModel
from flagmm.inference.lent_judge import LentJudge
from flagmm.models.gpt import lending


@contextmanager
def lent_to(evaluator: Any) -> Iterator[dict[str, Any]]:
    """Let an evaluator whose class brings a `process` of its own ask its judge, as `llm_evaluator`, meanwhile.

    Gives what the judge was asked, as results show it: filled in on leaving, and empty where it was not asked.
    """
    report: dict[str, Any] = {}
    judge: Judge | None = getattr(evaluator, "judge", None)
    is_own = isinstance(evaluator, BaseEvaluator) and type(evaluator).process is not BaseEvaluator.process
    if judge is None or not is_own:
        yield report
        return
    with judge.lend() as lent:
        before, evaluator.llm_evaluator = evaluator.llm_evaluator, lent
        try:
            yield report
        finally:
            evaluator.llm_evaluator = before
            report |= asdict(judge.report_of_code(lent)) if lent.asked else {}


class OwnModels:
    """Use it in a `with` around the code, from the thread that runs it; the code may ask from others.

    Leaving raises `JudgeError` where a model could not be used at all.

    Args:
        cache: where replies are kept, so that scoring again asks nothing twice.
    """

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._models: dict[str, tuple[JudgeModel, LentJudge]] = {}
        self._secrets: list[str] = []
        self._one_at_a_time = threading.Lock()  # two threads must not begin to ask the same model twice
        self._entered = ExitStack()

    def __enter__(self) -> OwnModels:
        self._entered.enter_context(ended_by_interrupts(self._end))
        self._entered.enter_context(lending(self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered.__exit__(kind, error, trace)

    def lent(self, spec: ModelSpec) -> LentJudge:
        """The model of these settings."""
        key = fingerprint(spec)
        with self._one_at_a_time:
            if key not in self._models:
                self._secrets += spec.secrets()
                model = JudgeModel(spec, self._cache)
                self._models[key] = model, self._entered.enter_context(model.lend(hears_interrupts=False))
            return self._models[key][1]

    @property
    def secrets(self) -> list[str]:
        """The keys of all that were asked."""
        return self._secrets

    def reports(self) -> list[dict[str, Any]]:
        """What each was asked, as results show it."""
        return [
            asdict(report_of_code(lent, name=model.name, settings=model.settings))
            for model, lent in self._models.values()
            if lent.asked
        ]

    def _end(self) -> None:
        for _, lent in list(self._models.values()):
            lent.end()
