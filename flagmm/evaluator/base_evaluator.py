"""BaseEvaluator: the flow from saved answers to scores that every evaluator shares."""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from flagmm import __version__
from flagmm.config.dump import to_plain
from flagmm.dataset.sample import Dataset
from flagmm.errors import ConfigError
from flagmm.evaluator import aggregate
from flagmm.evaluator.answers import Answer, read_answers
from flagmm.evaluator.entries import evaluated_entry, scored_fields
from flagmm.evaluator.judge import Judge
from flagmm.evaluator.metric import BuiltAs, JudgeableMetric, Metric, describe
from flagmm.evaluator.rules import KNOWN_TYPES, TypeRules, has_reference
from flagmm.evaluator.scores import errors_of_own_scores, score_run
from flagmm.evaluator.user_code import UserScoring, needs_judge
from flagmm.evaluator.verdict import Judged, Verdict
from flagmm.jsonio import write_json, write_records
from flagmm.paths import TaskPaths, safe_name
from flagmm.plugin import load_function
from flagmm.registry import EVALUATORS
from flagmm.types import Annotation

logger = logging.getLogger(__name__)

EvalFunc = str | Callable[..., dict[str, Any]] | None


@EVALUATORS.register_module()
class BaseEvaluator:
    """Scores multiple-choice, multiple-response, yes-no, fill-in-the-blank, cloze and short-answer questions.

    A task may bring its own scoring: `eval_func`, or a subclass that overrides `cal_accuracy`. Evaluators of other
    built-in rules differ in `metrics` only; the first of them is the headline.

    Args:
        eval_func: a file beside the task file with `get_result(annotations, predictions)`, or such a function.
        detailed_keys: annotation fields; each of their values gets scores of its own.
        aggregation_fields: fields that scoring code writes, kept as lists for repeated questions.
        is_clean: False compares choices as they stand, without reading them out of a sentence.
        cluster_by: an annotation field, such as "img_path", whose value questions share that depend on each other;
            standard errors and intervals then allow for it.
        base_dir: folder of the task file.
        settings: further keywords, kept in `self.settings` for subclasses.
    """

    def __init__(
        self,
        *,
        eval_func: EvalFunc = None,
        detailed_keys: Sequence[str] | None = None,
        aggregation_fields: Sequence[str] | None = None,
        is_clean: bool = True,
        cluster_by: str | None = None,
        base_dir: str = "",
        **settings: Any,
    ) -> None:
        self.base_dir = base_dir
        self.detailed_keys = list(detailed_keys or [])
        self.aggregation_fields = list(aggregation_fields or ["raw_answer"])
        self.is_clean = is_clean
        self.cluster_by = cluster_by
        self.settings = settings
        self.eval_func = self._load_eval_func(eval_func)
        if cluster_by is not None and self._has_own_scoring():
            raise ConfigError("evaluator: cluster_by: the task's own scoring has no errors to cluster; leave it out")
        self.metrics: list[Metric] = [TypeRules() if is_clean else _AsItStands()]
        self.judge: Judge | None = None
        self.awaits_judge = False  # whether questions that no rule scores will have a judge, which is not here now
        self.llm_evaluator: Any = None  # the judge, while a task's own scoring runs

    @property
    def needs_judge(self) -> bool:
        """Whether nothing can be scored without a judge."""
        return self._has_own_scoring() and needs_judge(self.eval_func or self.cal_accuracy)

    def _load_eval_func(self, eval_func: EvalFunc) -> Callable[..., dict[str, Any]] | None:
        if isinstance(eval_func, str):
            return load_function(Path(self.base_dir) / eval_func, "get_result")
        if eval_func is not None and not callable(eval_func):
            raise ConfigError(f"evaluator: eval_func: expected a file or a function, found {eval_func!r}")
        return eval_func

    def use_judge(self, judge: Judge) -> None:
        """Let a judge have its say over the rules' verdicts; it can judge questions of any type with a reference."""
        self.judge = judge
        if judge.scores_alone:
            self.metrics[0] = JudgeableMetric(self.metrics[0])

    def process(self, dataset: Dataset, output_dir: str | Path, **kwargs: Any) -> dict[str, Any]:
        """Score the answers in `output_dir`, write `_evaluated.json` and `_result.json` there, return the latter.

        Raises:
            DataError: there are no answers.
            UserCodeError: the task's own scoring raised.
        """
        paths = TaskPaths(Path(output_dir), safe_name(dataset.name))
        annotations = dataset.get_annotation()
        answers = read_answers(paths.answers, annotations)
        if self._has_own_scoring():
            result, evaluated = self._score_by_user_code(answers, len(annotations))
        else:
            result, evaluated = self._score_by_metrics(answers, len(annotations))
        result |= self._about_run(paths, answers, annotations)
        write_records(paths.evaluated, evaluated)
        write_json(paths.result, result)
        return result

    def cal_accuracy(
        self, annotations: dict[str, Annotation], predictions: list[dict[str, Any]], *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        """The metrics of answered predictions; subclasses override this and may write into the predictions."""
        metric, scores = self.metrics[0], []
        for prediction in predictions:
            annotation = annotations[str(prediction["question_id"])]
            verdict = metric.score(prediction["answer"], annotation) if metric.can_score(annotation) else None
            prediction |= scored_fields(verdict, annotation, prediction["answer"])
            if verdict is not None and verdict.correct is not None:
                scores.append(verdict.correct)
        return {"accuracy": aggregate.percent(sum(scores) / len(scores)) if scores else None}

    def _has_own_scoring(self) -> bool:
        return self.eval_func is not None or type(self).cal_accuracy is not BaseEvaluator.cal_accuracy

    def _score_by_metrics(
        self, answers: Sequence[Answer], questions: int
    ) -> tuple[dict[str, Any], Iterable[dict[str, Any]]]:
        judged = [[_judge(metric, answer) for answer in answers] for metric in self.metrics]
        about_judge: dict[str, Any] = {}
        if self.judge is not None:
            judged[0], report = self.judge.review(judged[0], self.metrics[0].score)
            about_judge = {"judge": asdict(report)}
        headline = judged[0]
        self._warn_of_unknown_types(headline)
        unscored = [item.answer for item in headline if not item.scorable]
        self._warn_of_unfit_references({answer.question_id: answer.annotation for answer in unscored})
        counts = aggregate.count(answers, headline, questions)
        result = score_run(self.metrics, judged, keys=self.detailed_keys, cluster_by=self.cluster_by)
        result |= {"over": "asked", "counts": aggregate.as_dict(counts), **aggregate.reject_info(counts)}
        result |= {"rules": aggregate.rule_counts(headline), **aggregate.disagreements(headline), **about_judge}
        result["metrics"] = [describe(metric) for metric in self.metrics]
        return result, map(evaluated_entry, headline)

    def _score_by_user_code(
        self, answers: Sequence[Answer], questions: int
    ) -> tuple[dict[str, Any], Iterable[dict[str, Any]]]:
        scoring = UserScoring(answers)
        function = self.eval_func or self.cal_accuracy
        counts = aggregate.count(answers, [], questions)
        metrics: dict[str, Any] = {"accuracy": None}
        if counts.answered:
            metrics = scoring.run(function, name=_name_of(function, self), judge=self.judge)
            metrics.pop("partial", None)  # the run's word, not the scoring's
            metrics |= errors_of_own_scores(metrics, scoring.scores()) | scoring.about_judge
            counts = replace(counts, judge_failed=scoring.judge_failed)
        result = {**metrics, "over": "answered", "counts": aggregate.as_dict(counts), **aggregate.reject_info(counts)}
        result["eval_func"] = to_plain(self.eval_func or type(self))
        return result, scoring.evaluated(self.aggregation_fields)

    def _about_run(
        self, paths: TaskPaths, answers: Sequence[Answer], annotations: Mapping[str, Annotation]
    ) -> dict[str, Any]:
        about: dict[str, Any] = dict(aggregate.token_means(answers))
        about |= {"evaluator": type(self).__name__, "flagmm": __version__}
        repeats = max((len(answer.replies) for answer in answers), default=1)
        if repeats > 1:
            about["num_infers"] = repeats
        if len(answers) < len(annotations):
            about["partial"] = f"{len(answers)} of {len(annotations)} questions{_scope_label(paths.config)}"
        return about

    def unfit_references(self, annotations: Mapping[str, Annotation]) -> dict[str, Any]:
        """The reference answers, by question id, that no reply can equal, such as "E" among four options."""
        if self._has_own_scoring():
            return {}
        return {key: item["answer"] for key, item in annotations.items() if self.metrics[0].is_unfit(item)}

    def _warn_of_unfit_references(self, annotations: Mapping[str, Annotation]) -> None:
        unfit = self.unfit_references(annotations)
        for first in list(unfit)[:1]:
            logger.warning(
                "%d questions count as unscored, because no reply can equal their answer; the first is question_id %r "
                "with answer %r",
                len(unfit),
                first,
                unfit[first],
            )

    def _warn_of_unknown_types(self, judged: Sequence[Judged]) -> None:
        if self.awaits_judge or not isinstance(self.metrics[0], TypeRules):  # the others say themselves what they score
            return
        types = {str(item.answer.annotation.get("question_type")) for item in judged if not item.scorable}
        for kind in sorted(types - set(KNOWN_TYPES)):
            logger.warning(
                "no rule scores question_type %r; its questions count as unscored (known: %s; or give eval_func)",
                kind,
                ", ".join(KNOWN_TYPES),
            )


class _AsItStands(TypeRules):
    """`is_clean=False`: a choice is right only if the whole reply is its letter."""

    built_as = BuiltAs("by_type", {"is_clean": False})

    def score(self, text: str, annotation: Annotation) -> Verdict:
        if annotation.get("question_type") == "multiple-choice" and has_reference(annotation):
            correct = text.strip().upper() == str(annotation["answer"]).strip().upper()
            return Verdict(correct=float(correct), extracted=text, rule="as_it_stands")
        return super().score(text, annotation)


def _judge(metric: Metric, answer: Answer) -> Judged:
    scorable = metric.can_score(answer.annotation)
    verdicts = tuple(
        metric.score(reply.text, answer.annotation) if scorable and reply.status == "ok" else None
        for reply in answer.replies
    )
    return Judged(answer=answer, verdicts=verdicts, scorable=scorable)


def _name_of(function: Callable[..., Any], evaluator: BaseEvaluator) -> str:
    code = inspect.unwrap(function).__code__ if hasattr(function, "__code__") else None
    name = getattr(function, "__name__", type(function).__name__)
    return f"{code.co_filename}: {name}" if code else f"{type(evaluator).__name__}.{name}"


def _scope_label(config: Path) -> str:
    """What the inference called its part, as in " (try run)"; nothing for folders of other tools."""
    if not config.is_file():
        return ""
    try:
        label = json.loads(config.read_text(encoding="utf-8")).get("scope")
    except (ValueError, AttributeError):
        return ""
    return f" ({label})" if label else ""
