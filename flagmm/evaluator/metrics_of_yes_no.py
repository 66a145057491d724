"""Metrics of yes-no benchmarks: POPE, MME, HallusionBench, and plain yes-no scores."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any, Literal, get_args

from flagmm.errors import ConfigError
from flagmm.evaluator.aggregate import accuracy, percent, rounded
from flagmm.evaluator.metric import Metric, Summary
from flagmm.evaluator.rules import yes_or_no as read_reference
from flagmm.evaluator.verdict import Judged, Verdict
from flagmm.extraction import extract_yes_no
from flagmm.metrics.hallusionbench import HallusionRow, hallusionbench_shares
from flagmm.metrics.mme import MmeRow, mme_label, mme_scores, mme_shares
from flagmm.metrics.pope import Label, exact_label, pope_label, pope_scores
from flagmm.metrics.vlmevalkit_infer import yes_or_no as vlmevalkit_label
from flagmm.registry import METRICS
from flagmm.types import Annotation

logger = logging.getLogger(__name__)

_FIGURE_FIELDS = ("category", "subcategory", "set_id", "figure_id", "question_number")
_SHOWN = 5
Reading = Literal["careful", "pope", "exact", "mme", "vlmevalkit"]


def _careful(text: str) -> Label | None:
    value: Label | None = extract_yes_no(text).value
    return value


def _mme(text: str) -> Label | None:
    label = mme_label(text)
    return None if label == "other" else label


def _vlmevalkit(text: str) -> Label | None:
    return {"Yes": "yes", "No": "no"}.get(vlmevalkit_label(text))  # type: ignore[return-value]  # the dict's values


_READERS: dict[str, Callable[[str], Label | None]] = {
    "careful": _careful,
    "pope": pope_label,
    "exact": exact_label,
    "mme": _mme,
    "vlmevalkit": _vlmevalkit,
}


@METRICS.register_module("yes_no")
class YesNo(Metric):
    """Accuracy, precision, recall and F1 ("yes" is positive) and the share of "yes", in percent.

    Args:
        reading: how a reply is read: "careful", or as a benchmark's own script does.
    """

    def __init__(self, *, reading: Reading = "careful") -> None:
        if reading not in get_args(Reading):
            raise ConfigError(
                f"metric yes_no: reading: expected one of {', '.join(get_args(Reading))}, found {reading!r}"
            )
        self._reading = reading
        self._read = _READERS[reading]

    def can_score(self, annotation: Annotation) -> bool:
        return annotation.get("answer") is not None and read_reference(annotation["answer"]) is not None

    def score(self, text: str, annotation: Annotation) -> Verdict:
        gold = read_reference(annotation["answer"])
        read = self._read(text)
        correct = float(read == gold)
        careful = None if self._reading == "careful" else float(_careful(text) == gold)
        differs = careful is not None and careful != correct
        return Verdict(
            correct=correct, extracted=read, rule=f"{self._reading}_yes_no", careful=careful if differs else None
        )

    def summarize(self, items: Sequence[Judged]) -> Summary:
        pairs = [(gold, label) for item in items if item.scorable for gold, label in _labels(item)]
        scores = pope_scores([gold for gold, _ in pairs], [label for _, label in pairs])
        return {
            "accuracy": accuracy(items),
            "precision": percent(scores.precision) if pairs else None,
            "recall": percent(scores.recall) if pairs else None,
            "f1": percent(scores.f1) if pairs else None,
            "yes_ratio": None if scores.yes_ratio is None else percent(scores.yes_ratio),
        }


def _labels(item: Judged) -> list[tuple[Any, Label | None]]:
    """The (reference, reading) pair of each reply; what is no answer reads as None."""
    gold = read_reference(item.answer.annotation["answer"])
    return [(gold, verdict.extracted if verdict else None) for verdict in item.verdicts]


@METRICS.register_module("pope")
class Pope(YesNo):
    """POPE: as `yes_no`, with F1 as the headline and replies read as the benchmark's own script reads them."""

    name = "f1"

    def __init__(self, *, reading: Reading = "pope") -> None:
        super().__init__(reading=reading)

    def summarize(self, items: Sequence[Judged]) -> Summary:
        summary = super().summarize(items)
        return {self.name: summary.pop(self.name), **summary}


@METRICS.register_module("mme")
class Mme(YesNo):
    """MME: acc + acc+ of each subtask, summed to perception and cognition; beside it acc and acc+ of all questions.

    acc is the share of right questions, acc+ (`acc_plus`) that of pictures whose two questions are both right.

    Args:
        category_key: the annotation's field with the subtask.
        image_key: the field that the two questions of a picture share.
    """

    name = "mme_score"

    def __init__(
        self, *, reading: Reading = "mme", category_key: str = "sub_task", image_key: str = "img_path"
    ) -> None:
        super().__init__(reading=reading)
        self._category_key = category_key
        self._image_key = image_key

    def summarize(self, items: Sequence[Judged]) -> Summary:
        rows = sorted(self._row(item) for item in items if item.counts)  # so that subtasks come in one order
        shares = mme_shares(rows)
        if shares is None:
            return {self.name: None, "acc": None, "acc_plus": None, "accuracy": None}
        scores = mme_scores(rows)
        numbers = {self.name: scores["perception"] + scores["cognition"], **shares._asdict()}
        shown = {name: rounded(value, 2) for name, value in {**numbers, **scores}.items()}
        return {**shown, "accuracy": accuracy(items)}

    def _row(self, item: Judged) -> MmeRow:
        annotation = item.answer.annotation
        category, image = str(annotation.get(self._category_key)), str(annotation.get(self._image_key))
        return MmeRow(category=category, image=image, correct=item.score == 1)


@METRICS.register_module("hallusionbench")
class HallusionBench(YesNo):
    """HallusionBench: aAcc (questions), fAcc (figures), qAcc (questions right on all their figures), their average.

    The annotations need `category`, `subcategory`, `set_id`, `figure_id` and `question_number`; one that lacks some of
    them counts in aAcc alone, with a warning.
    """

    name = "aAcc"
    mean_name = "aAcc"

    def __init__(self, *, reading: Reading = "vlmevalkit") -> None:
        super().__init__(reading=reading)
        self._is_warned = False

    def summarize(self, items: Sequence[Judged]) -> Summary:
        scorable = [item for item in items if item.scorable]
        rows = [_hallusion_row(item) for item in scorable if not _lacks(item)]
        self._warn_of_lacks([item for item in scorable if _lacks(item)])
        shares = hallusionbench_shares(rows)
        right = [item.score == 1 for item in scorable]
        named = {"aAcc": fmean(right) if right else None, "fAcc": shares.figure, "qAcc": shares.pair}
        known = [share for share in named.values() if share is not None]
        named["average"] = fmean(known) if known else None
        return {name: None if share is None else percent(share) for name, share in named.items()}

    def _warn_of_lacks(self, items: Sequence[Judged]) -> None:
        """Say once of a run, not again of each group, what counts in aAcc alone."""
        if not items or self._is_warned:
            return
        self._is_warned = True
        lacking = sorted({key for item in items for key in _lacks(item)})
        logger.warning(
            "hallusionbench: %d questions lack %s and count in aAcc alone, not in fAcc and qAcc: %s%s",
            len(items),
            ", ".join(lacking),
            ", ".join(item.answer.question_id for item in items[:_SHOWN]),
            ", …" if len(items) > _SHOWN else "",
        )


def _lacks(item: Judged) -> list[str]:
    """The fields without which a question has no figure, or no question over figures, to belong to."""
    return [key for key in _FIGURE_FIELDS if item.answer.annotation.get(key) in (None, "")]


def _hallusion_row(item: Judged) -> HallusionRow:
    annotation = item.answer.annotation
    unread = any(verdict is not None and verdict.extracted is None for verdict in item.verdicts)
    return HallusionRow(
        category=str(annotation["category"]),
        subcategory=str(annotation["subcategory"]),
        set_id=str(annotation["set_id"]),
        figure_id=str(annotation["figure_id"]),
        question_id=str(annotation["question_number"]),
        verdict="right" if item.score == 1 else "unclear" if unread else "wrong",
    )
