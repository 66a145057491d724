"""CocoEvaluator: VQA accuracy of short answers, or the measures of captions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from flagmm.dataset.sample import Dataset, annotations_of
from flagmm.errors import ConfigError
from flagmm.evaluator.aggregate import PERCENT_DIGITS
from flagmm.evaluator.metric import build_metric
from flagmm.evaluator.metric_evaluator import MetricEvaluator
from flagmm.metrics.vqa_accuracy import ARTICLES, MENDED, NUMBERS, normalize_words, one_line, short_answer
from flagmm.metrics.vqa_punctuation import DIGIT_GROUPS, MARKS, PERIOD_OF_VQA, process_vqa_punctuation
from flagmm.registry import EVALUATORS
from flagmm.types import Annotation


@EVALUATORS.register_module()
class CocoEvaluator(MetricEvaluator):
    """VQA accuracy of short answers, called `accuracy` as FlagEvalMM does; BLEU, ROUGE-L and CIDEr of captions.

    The methods that subclasses may call on texts are FlagEvalMM's, with its rules; answers are scored by the metric
    `vqa_accuracy`, which takes no first word for the whole.

    Args:
        keep_digital: decimals of the VQA accuracy in percent.
        captions: whether the references are captions; None goes by the questions' types, all of which then say
            "caption".
    """

    contractions: ClassVar[Mapping[str, str]] = MENDED
    number_map: ClassVar[Mapping[str, str]] = NUMBERS
    articles: ClassVar[list[str]] = list(ARTICLES)
    punct: ClassVar[list[str]] = list(MARKS)
    period_strip: ClassVar[re.Pattern[str]] = PERIOD_OF_VQA
    comma_strip: ClassVar[re.Pattern[str]] = DIGIT_GROUPS

    def __init__(self, *, keep_digital: int = PERCENT_DIGITS, captions: bool | None = None, **settings: Any) -> None:
        if keep_digital < 0:
            raise ConfigError(f"keep_digital: expected a number of decimals, 0 or more, found {keep_digital}")
        super().__init__(metrics=["vqa_accuracy"], **settings)
        self.keep_digital = keep_digital
        self._captions = captions
        self._measure(captions=bool(captions))

    def process(self, dataset: Dataset, output_dir: str | Path, **kwargs: Any) -> dict[str, Any]:
        """As that of every evaluator."""
        if self._captions is None:
            self._measure(captions=_are_captions(annotations_of(dataset)))
        return super().process(dataset, output_dir, **kwargs)

    def preporcess_data(self, data: str) -> str:
        """An answer as FlagEvalMM compares it; the name is its own, too."""
        return self.process_digit_article(self.process_punctuation(one_line(data).lower()))

    def process_punctuation(self, in_text: str) -> str:
        """The text without punctuation: a mark beside a space anywhere goes, any other becomes a space."""
        return process_vqa_punctuation(in_text)

    def process_digit_article(self, in_text: str) -> str:
        """The words that `preprocess_string` leaves, numbers in digits, without articles, contractions mended."""
        return normalize_words(self.preprocess_string(in_text.lower()))

    def preprocess_string(self, in_text: str) -> str:
        """What a longer answer comes to: yes, no, a number, "unknown", or the text; see `short_answer`."""
        return short_answer(in_text)

    def _measure(self, *, captions: bool) -> None:
        kind = "coco_caption" if captions else {"type": "vqa_accuracy", "rule": "careful"}
        metric = build_metric(kind, where="evaluator")
        if not captions:
            metric.name, metric.digits = "accuracy", self.keep_digital  # as FlagEvalMM calls and rounds it
        self.metrics = [metric]
        if self.judge is not None:
            self.use_judge(self.judge)


def _are_captions(annotations: Mapping[str, Annotation]) -> bool:
    kinds = {str(annotation.get("question_type")) for annotation in annotations.values()}
    return bool(kinds) and all("caption" in kind for kind in kinds)
