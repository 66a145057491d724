"""BaseEvaluator: the flow from saved answers to scores that every evaluator shares."""

from __future__ import annotations

import inspect
import itertools
import logging
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from flagmm import __version__
from flagmm.config.dump import to_plain
from flagmm.dataset.sample import Dataset, annotations_of
from flagmm.errors import ConfigError
from flagmm.evaluator import aggregate
from flagmm.evaluator.answers import Answer, SavedAnswers, answer_of, stream_answers
from flagmm.evaluator.entries import evaluated_entry
from flagmm.evaluator.judge import Judge
from flagmm.evaluator.judged_questions import JudgedQuestions
from flagmm.evaluator.metric import BuiltAs, JudgeableMetric, Metric, describe, verdict_of
from flagmm.evaluator.rules import KNOWN_TYPES, TypeRules, has_reference
from flagmm.evaluator.scores import errors_of_own_scores, score_metric, score_run, warn_of_share
from flagmm.evaluator.tallies import GroupTallies, ReplyTally
from flagmm.evaluator.task_methods import PROMPT_TEMPLATE, QuestionMapping, TaskMethods
from flagmm.evaluator.user_code import UserScoring, needs_judge
from flagmm.evaluator.verdict import Judged, Verdict
from flagmm.jsonio import write_json, writing_records
from flagmm.paths import TaskPaths, safe_name
from flagmm.plugin import load_function
from flagmm.registry import EVALUATORS
from flagmm.types import Annotation

__all__ = ["PROMPT_TEMPLATE", "BaseEvaluator", "QuestionMapping"]

logger = logging.getLogger(__name__)

EvalFunc = str | Callable[..., dict[str, Any]] | None
Write = Callable[[dict[str, Any]], None]
"""Writes an entry of `_evaluated.json`."""
_AT_ONCE = 32
_SHOWN_FAILURES = 5


@EVALUATORS.register_module()
class BaseEvaluator(TaskMethods):
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
        use_llm_evaluator: whether the task's own scoring asks its judge, which the other keywords then name.
        wants_answered_only: the task's own scoring gets no items without an answer, and its numbers are over the
            answered ones; a class may say so itself.
        settings: further keywords, kept in `self.settings` for subclasses.
    """

    # What a subclass that does not call `__init__` has nevertheless.
    base_dir = ""
    detailed_keys: Sequence[str] = ()
    cluster_by: str | None = None
    settings: Mapping[str, Any] = MappingProxyType({})
    eval_func: Callable[..., dict[str, Any]] | None = None
    metrics: Sequence[Metric] = (TypeRules(),)
    judge: Judge | None = None
    awaits_judge = False
    """Whether questions that no rule scores will have a judge, which is not here now."""
    use_llm_evaluator = False
    wants_answered_only = False

    def __init__(
        self,
        *,
        eval_func: EvalFunc = None,
        detailed_keys: Sequence[str] | None = None,
        aggregation_fields: Sequence[str] | None = None,
        is_clean: bool = True,
        cluster_by: str | None = None,
        base_dir: str = "",
        use_llm_evaluator: bool = False,
        wants_answered_only: bool | None = None,
        **settings: Any,
    ) -> None:
        self.base_dir = base_dir
        self.detailed_keys = list(detailed_keys or [])
        self.aggregation_fields = list(aggregation_fields or ["raw_answer"])
        self.is_clean = is_clean
        self.cluster_by = cluster_by
        self.settings = settings
        self.use_llm_evaluator = use_llm_evaluator
        if wants_answered_only is not None:
            self.wants_answered_only = wants_answered_only
        self.eval_func = self.get_eval_func(eval_func)
        if cluster_by is not None and self._has_own_scoring():
            raise ConfigError("evaluator: cluster_by: the task's own scoring has no errors to cluster; leave it out")
        self.metrics = [TypeRules() if is_clean else _AsItStands()]

    @property
    def needs_judge(self) -> bool:
        """Whether nothing can be scored without a judge."""
        return self._has_own_scoring() and (self.use_llm_evaluator or needs_judge(self._scoring()))

    def for_the_judge(self, annotations: Mapping[str, Annotation]) -> list[str]:
        """The ids of the questions that nothing but a judge scores."""
        if self._has_own_scoring():
            return []
        return [key for key, annotation in annotations.items() if self.metrics[0].is_for_judge(annotation)]

    def get_eval_func(self, eval_func: EvalFunc) -> Callable[..., dict[str, Any]]:
        """The function that scores: that of a file beside the task file, the one given, or else `cal_accuracy`.

        Raises:
            ConfigError: there is no such file, it has no `get_result`, or it is another value.
        """
        if isinstance(eval_func, str):
            return load_function(Path(self.base_dir) / eval_func, "get_result")
        if eval_func is not None and not callable(eval_func):
            raise ConfigError(f"evaluator: eval_func: expected a file or a function, found {eval_func!r}")
        return eval_func or self.cal_accuracy

    def use_judge(self, judge: Judge) -> None:
        """Let a judge have its say over the rules' verdicts; it can judge questions of any type with a reference."""
        self.judge = judge
        self.use_llm_evaluator = True
        if judge.scores_alone:
            self.metrics = [JudgeableMetric(self.metrics[0]), *self.metrics[1:]]

    def process(self, dataset: Dataset, output_dir: str | Path, **kwargs: Any) -> dict[str, Any]:
        """Score the answers in `output_dir`, write `_evaluated.json` and `_result.json` there, return the latter.

        Raises:
            DataError: there are no answers.
            UserCodeError: the task's own scoring raised.
        """
        paths = TaskPaths(Path(output_dir), safe_name(dataset.name))
        run = _Run(paths, annotations_of(dataset))
        with writing_records(paths.evaluated) as write:
            result = (self._score_by_user_code if self._has_own_scoring() else self._score_by_metrics)(run, write)
        result |= self._about_run(run)
        write_json(paths.result, result)
        return result

    def cal_accuracy(
        self, annotations: dict[str, Annotation], predictions: list[dict[str, Any]], *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        """The numbers of the first metric, and those of `detailed_keys`; what is no answer counts as wrong.

        Subclasses override this and may write into the predictions.
        """
        judged = []
        for prediction in predictions:
            question_id = str(prediction["question_id"])
            item = _judge(self.metrics[0], answer_of(question_id, prediction, annotations[question_id]))
            judged.append(item)
            prediction |= evaluated_entry(item)
        scores = score_metric(self.metrics[0], judged)
        result = dict(self.metrics[0].summarize(judged))
        for key in self.detailed_keys:
            for value, members in aggregate.groups(judged, key).items():
                result.setdefault(value, score_metric(self.metrics[0], members).numbers.get(scores.headline or ""))
        return result

    def _scoring(self) -> Callable[..., dict[str, Any]]:
        """The function that scores; also where `__init__` was not called."""
        return self.eval_func or self.cal_accuracy

    def _has_own_scoring(self) -> bool:
        return getattr(self._scoring(), "__func__", None) is not BaseEvaluator.cal_accuracy

    def _score_by_metrics(self, run: _Run, write: Write) -> dict[str, Any]:
        judged: list[Sequence[Judged]] = list(self._judge_each(run, write))
        about_judge: dict[str, Any] = {}
        if self.judge is not None:
            judged[0], report = self.judge.review(judged[0], self.metrics[0].score)
            about_judge = {"judge": asdict(report)}
            for item in judged[0]:
                write(evaluated_entry(item, cluster_by=self.cluster_by))
        headline = judged[0]
        unfit = self._warn_of_unscored(headline)
        for metric, items in zip(self.metrics, judged, strict=True):
            _warn_of_failures(metric, items)
        counts = aggregate.counts_of(run.replies, headline, run.questions)
        result = score_run(
            self.metrics, judged, keys=self.detailed_keys, cluster_by=self.cluster_by, replies=run.groups
        )
        result |= {"over": "asked", "counts": aggregate.as_dict(counts), **aggregate.reject_info(counts)}
        result |= {"unfit_references": unfit} if unfit else {}
        result |= {"rules": aggregate.rule_counts(headline), **aggregate.disagreements(headline), **about_judge}
        result["metrics"] = [describe(metric) for metric in self.metrics]
        return result

    def _judge_each(self, run: _Run, write: Write) -> Sequence[JudgedQuestions]:
        """The verdicts of each metric, made while the answers are read, and written if no judge is to see them."""
        fields = dict.fromkeys([*self.detailed_keys, *([self.cluster_by] if self.cluster_by else [])])
        judged = [JudgedQuestions(run.answers, fields) for _ in self.metrics]
        run.groups = GroupTallies(self.detailed_keys)
        for answers in run.read():
            for answer in answers:
                run.groups.add(answer)
            for number, metric in enumerate(self.metrics):
                items = [_judge(metric, answer) for answer in answers]
                judged[number].extend(items)
                if number == 0 and self.judge is None:
                    for item in items:
                        write(evaluated_entry(item, cluster_by=self.cluster_by))
        return judged

    def _score_by_user_code(self, run: _Run, write: Write) -> dict[str, Any]:
        deque(run.read(), maxlen=0)
        answered_only = self.wants_answered_only
        scoring, name = UserScoring(run.answers, answered_only=answered_only), _name_of(self._scoring(), self)
        counts = aggregate.counts_of(run.replies, [], run.questions)
        metrics: dict[str, Any] = {"accuracy": None}
        if counts.answered:
            metrics = scoring.run(self._scoring(), name=name, judge=self.judge)
            metrics.pop("partial", None)  # the run's word, not the scoring's
            marks = scoring.take_marks(metrics)
            warn_of_share(metrics, marks, items=counts.answered if answered_only else counts.asked, name=name)
            metrics |= errors_of_own_scores(metrics, marks) | scoring.about_judge
            counts = replace(counts, judge_failed=scoring.judge_failed)
        for entry in scoring.evaluated(self.aggregation_fields):
            write(entry)
        over = "answered" if answered_only else "asked"
        result = {**metrics, "over": over, "counts": aggregate.as_dict(counts), **aggregate.reject_info(counts)}
        result["eval_func"] = to_plain(type(self) if _is_own_method(self._scoring(), self) else self._scoring())
        return result

    def _about_run(self, run: _Run) -> dict[str, Any]:
        replies = run.replies
        about: dict[str, Any] = aggregate.about_endings(replies) | aggregate.token_means(replies)
        about |= {"evaluator": type(self).__name__, "flagmm": __version__}
        if replies.most > 1:
            about["num_infers"] = replies.most
        if partial := aggregate.what_is_missing(replies, run.questions, run.paths.config):
            about["partial"] = partial
        return about

    def unfit_references(self, annotations: Mapping[str, Annotation]) -> dict[str, Any]:
        """The reference answers, by question id, that no reply can equal, such as "E" among four options."""
        if self._has_own_scoring():
            return {}
        return {key: item["answer"] for key, item in annotations.items() if self.metrics[0].is_unfit(item)}

    def gold_reply(self, annotation: Annotation) -> str | None:
        """A reply that is right, where the metric has a say of its own in that; else None."""
        metric = self.metrics[0]
        return metric.gold_reply(annotation) if not self._has_own_scoring() and metric.can_score(annotation) else None

    def _warn_of_unscored(self, judged: Sequence[Judged]) -> int:
        """Say why questions have no score, where that is a mistake of their data; how many no reply can equal."""
        kinds: set[str] = set()
        unfit, first = 0, None
        for answer in (item.answer for item in aggregate.unscorable(judged)):
            kinds.add(str(answer.annotation.get("question_type")))
            for found in self.unfit_references({answer.question_id: answer.annotation}).items():
                unfit, first = unfit + 1, first or found
        self._warn_of_unknown_types(kinds - set(KNOWN_TYPES))
        if first is not None:
            logger.warning(
                "%d questions count as unscored, because no reply can equal their answer; the first is question_id %r "
                "with answer %r",
                unfit,
                *first,
            )
        return unfit

    def _warn_of_unknown_types(self, kinds: Collection[str]) -> None:
        if self.awaits_judge or not isinstance(self.metrics[0], TypeRules):  # the others say themselves what they score
            return
        for kind in sorted(kinds):
            text = "no rule scores question_type %r; its questions count as unscored (known: %s; see eval_func, "
            logger.warning(f"{text}--judge)", kind, ", ".join(KNOWN_TYPES))


class _Run:
    """The answers to be scored, and what is known of them once they were read."""

    def __init__(self, paths: TaskPaths, annotations: Mapping[str, Annotation]) -> None:
        self.paths = paths
        self.questions = len(annotations)
        self.answers = SavedAnswers(annotations)
        self.replies = ReplyTally()
        self.groups = GroupTallies(())
        """Of the fields to group by."""
        self._stream = stream_answers(paths.answers, annotations)

    def read(self) -> Iterator[list[Answer]]:
        """The answers, some at once, as each step is done faster for several; then they are in `answers`, too."""
        while block := list(itertools.islice(self._stream, _AT_ONCE)):
            self.answers.extend(block)
            for answer in block:
                self.replies.add(answer)
            yield block


class _AsItStands(TypeRules):
    """`is_clean=False`: a choice is right only if the whole reply is its letter."""

    built_as = BuiltAs("by_type", {"is_clean": False})

    def score(self, text: str, annotation: Annotation) -> Verdict:
        if annotation.get("question_type") == "multiple-choice" and has_reference(annotation):
            correct = text.strip().upper() == str(annotation["answer"]).strip().upper()
            return Verdict(correct=float(correct), extracted=text, rule="as_it_stands")
        return super().score(text, annotation)


def _warn_of_failures(metric: Metric, items: Sequence[Judged]) -> None:
    """Say on which answers a rule itself failed."""
    failed = aggregate.rule_failures(items)
    if failed:
        logger.warning(
            "%s: the rule failed on %d answers, which count as wrong: %s%s",
            metric.built_as.name or type(metric).__name__,
            len(failed),
            "; ".join(f"{question_id} ({error})" for question_id, error in failed[:_SHOWN_FAILURES]),
            "; …" if len(failed) > _SHOWN_FAILURES else "",
        )


def _judge(metric: Metric, answer: Answer) -> Judged:
    scorable = metric.can_score(answer.annotation)
    verdicts = tuple(
        verdict_of(metric.score, reply.answer, answer.annotation) if scorable and reply.status == "ok" else None
        for reply in answer.replies
    )
    return Judged(answer=answer, verdicts=verdicts, scorable=scorable)


def _is_own_method(function: Callable[..., Any], evaluator: BaseEvaluator) -> bool:
    return getattr(function, "__self__", None) is evaluator


def _name_of(function: Callable[..., Any], evaluator: BaseEvaluator) -> str:
    code = inspect.unwrap(function).__code__ if hasattr(function, "__code__") else None
    name = getattr(function, "__name__", type(function).__name__)
    return f"{code.co_filename}: {name}" if code else f"{type(evaluator).__name__}.{name}"
