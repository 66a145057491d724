"""VLMEvalKitEvaluator: answers of a `VLMEvalKitDataset`, scored by its own `evaluate`."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from flagmm import __version__
from flagmm.config.env import splits_thinking
from flagmm.config.secrets import secrets_in
from flagmm.dataset.sample import Dataset
from flagmm.errors import ConfigError, DataError
from flagmm.evaluator.aggregate import about_endings, as_dict, counts_of, reject_info, what_is_missing
from flagmm.evaluator.answers import Answer, read_answers, scope_of
from flagmm.evaluator.result_keys import RESERVED
from flagmm.evaluator.tallies import ReplyTally
from flagmm.jsonio import write_json, write_records
from flagmm.paths import TaskPaths, safe_name
from flagmm.registry import EVALUATORS
from flagmm.report.prediction_table import FAILED, prediction_table
from flagmm.vlmeval.bridge.dataset import VLMEvalKitDataset, find_root
from flagmm.vlmeval.bridge.official import check_installed
from flagmm.vlmeval.bridge.scoring import OfficialScore, Scoring, mean_score

logger = logging.getLogger(__name__)

_SHOWN = 5


@EVALUATORS.register_module()
class VLMEvalKitEvaluator:
    """Aligns answers to VLMEvalKit's table by sample id, hands it the sheet, and takes its scores in percent.

    An answer that is empty, refused or failed makes scoring fail with its sample id, as VLMEvalKit wants all of them.
    With several answers to each question every repetition is scored, and the scores are their means.

    Args:
        eval_kwargs: keywords for `evaluate`, handed on as they are: `model` (the judge), `api_base`, `key`, `nproc`,
            `retry`, `timeout`, …
        mark_empty: let answers that are missing stand in the table as VLMEvalKit's own runs leave them, and score it.
        shares: whether VLMEvalKit's numbers are shares between 0 and 1, to be shown in percent; None finds out.
        dataset_name: as the data set has it; may be given here, too, and then must be the same.
        data_root: the same.
        dataset_kwargs: the same.
        sample_limit: the same.

    Raises:
        MissingExtraError: VLMEvalKit is not installed.
    """

    wants_all_answers = True
    """Empty ones end the scoring."""

    def __init__(
        self,
        *,
        eval_kwargs: Mapping[str, Any] | None = None,
        mark_empty: bool = False,
        shares: bool | None = None,
        dataset_name: str | None = None,
        data_root: str | None = None,
        dataset_kwargs: Mapping[str, Any] | None = None,
        sample_limit: int | None = None,
    ) -> None:
        check_installed()
        self.eval_kwargs = dict(eval_kwargs or {})
        self.mark_empty = mark_empty
        self.shares = shares
        self._expected = {
            "dataset_name": dataset_name,
            "data_root": find_root(data_root) if data_root else None,
            "dataset_kwargs": dataset_kwargs,
            "sample_limit": sample_limit,
        }

    def process(self, dataset: Dataset, output_dir: str | Path, **_: Any) -> dict[str, Any]:
        """Score the answers in `output_dir`; write VLMEvalKit's files into a folder there, `_evaluated.json` and
        `_result.json`, and return the latter.

        Raises:
            ConfigError: the data set is another one.
            DataError: there are no answers, or some are missing; it names them.
            UserCodeError: `evaluate` raised, or returned no number.
        """
        known = self._checked(dataset)
        paths = TaskPaths(Path(output_dir), safe_name(dataset.name))
        annotations = known.get_annotation()
        answers = read_answers(paths.answers, annotations)
        partial = _partial(paths.config, len(answers), len(annotations))
        self._check_complete(answers, list(annotations), whole=partial is None)
        scores = [self._score(known, paths, repeat, rows) for repeat, rows in enumerate(_repeats(answers))]
        score, spread = mean_score(scores)
        replies = ReplyTally(answers)
        scores_by_name = {_free_name(name): value for name, value in score.metrics.percent.items()}
        counts = replace(
            counts_of(replies, [], len(annotations)), judge_failed=sum(each.judge_failed for each in scores)
        )
        result: dict[str, Any] = {
            **scores_by_name,
            "headline": next(iter(scores_by_name)),
            "over": "asked",
            "counts": as_dict(counts),
            **reject_info(counts),
            **about_endings(replies),
            **({"num_infers": len(scores), "repeats": spread} if len(scores) > 1 else {}),
            "vlmevalkit": {"scale": score.metrics.scale, "files": score.files},
            "evaluator": type(self).__name__,
            "flagmm": __version__,
        }
        # Where all questions were to be asked, those without an answer are marked: only repetitions can be missing.
        incomplete = what_is_missing(replies, replies.questions, paths.config)
        if found := [text for text in (partial, incomplete) if text is not None]:
            result["partial"] = ", ".join(found)
        write_records(paths.evaluated, _evaluated(answers, scores))
        write_json(paths.result, result)
        return result

    def _checked(self, dataset: Dataset) -> VLMEvalKitDataset:
        if not isinstance(dataset, VLMEvalKitDataset):
            raise ConfigError(
                f"evaluator: VLMEvalKitEvaluator scores a VLMEvalKitDataset, not {type(dataset).__name__}"
            )
        for key, expected in self._expected.items():
            found = getattr(dataset, key)
            if expected is not None and expected != found:
                raise ConfigError(f"evaluator: {key}: is {str(expected)!r}, and the data set's is {str(found)!r}")
        return dataset

    def _check_complete(self, answers: Sequence[Answer], asked: Sequence[str], *, whole: bool) -> None:
        """Refuse to score a table with gaps.

        Args:
            asked: ids of all questions.
            whole: whether all of them should have an answer.
        """
        answered = {answer.question_id for answer in answers}
        missing = [each for each in asked if each not in answered] if whole else []
        missing += [
            answer.question_id
            for answer in answers
            if any(reply.status != "ok" or not reply.text.strip() for reply in answer.replies)
        ]
        if not missing:
            return
        shown = ", ".join(missing[:_SHOWN]) + (", …" if len(missing) > _SHOWN else "")
        if not self.mark_empty:
            raise DataError(
                f"{len(missing)} of {len(asked)} predictions are missing or empty, and VLMEvalKit's scoring wants all: "
                f"{shown}; run again to ask these, or score them as failed calls with mark_empty=True"
            )
        logger.warning("%d predictions are missing and stand as %r: %s", len(missing), FAILED, shown)

    def _score(
        self, dataset: VLMEvalKitDataset, paths: TaskPaths, repeat: int, answers: Sequence[Answer]
    ) -> OfficialScore:
        folder = paths.folder / safe_name(f"{dataset.dataset_name}_{repeat}" if repeat else dataset.dataset_name)
        table = prediction_table(dataset, answers, split_think=splits_thinking())
        for row in table.rows:
            if not row["prediction"].strip():
                row["prediction"] = FAILED
        scoring = Scoring(dataset, folder, self.eval_kwargs, secrets=secrets_in(self.eval_kwargs), shares=self.shares)
        return scoring.run(table)


def _free_name(name: str) -> str:
    """A metric's name in `_result.json`, which has words of its own there."""
    return f"{name} (VLMEvalKit)" if name in RESERVED else name


def _repeats(answers: Sequence[Answer]) -> Iterator[list[Answer]]:
    """The answers of each repetition."""
    for number in range(max((len(answer.replies) for answer in answers), default=0)):
        yield [answer.with_replies(answer.replies[number]) for answer in answers if number < len(answer.replies)]


def _partial(config: Path, answered: int, asked: int) -> str | None:
    """What a run that was told to ask only some of the questions says of itself; None for any other."""
    scope = scope_of(config)
    return f"{answered} of {asked} questions ({scope})" if scope and answered < asked else None


def _evaluated(answers: Sequence[Answer], scores: Sequence[OfficialScore]) -> Iterator[dict[str, Any]]:
    for answer in answers:
        annotation = answer.annotation
        index = str(annotation["index"])
        hits = [score.hits.get(index, {}) for score in scores]
        yield answer.record | {
            "sample_id": annotation["sample_id"],
            "index": annotation["index"],
            "raw_answer": [reply.text for reply in answer.replies] if answer.repeated else answer.replies[0].text,
            "label": annotation["answer"],
            "raw_sample": annotation["raw_sample"],
            **(hits[0] if not answer.repeated else {"correct": [hit.get("correct") for hit in hits]}),
        }
