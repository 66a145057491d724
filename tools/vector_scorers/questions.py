"""Short answers, yes/no questions and texts in pictures: VQA, DocVQA, ChartQA, OCRBench, HallusionBench, POPE, MME."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from flagmm.metrics.anls import anls
from flagmm.metrics.hallusionbench import (
    HallusionRow,
    Verdict,
    hallusionbench_flagevalmm,
    hallusionbench_official,
    hallusionbench_vlmevalkit,
)
from flagmm.metrics.mme import MmeRow, mme_label, mme_scores
from flagmm.metrics.ocrbench import (
    FORMULA_CATEGORY,
    FORMULA_DATASETS,
    ocrbench_hit,
    ocrbench_report,
    ocrbench_type_counts,
)
from flagmm.metrics.pope import Label, exact_label, pope_by_category, pope_label, pope_scores, yes_ratio
from flagmm.metrics.relaxed_accuracy import relaxed_correct
from flagmm.metrics.vlmevalkit_infer import yes_or_no
from flagmm.metrics.vqa_accuracy import Variant, mean_accuracy, mean_percent, normalize_vqa_answer, vqa_accuracy

Input = Mapping[str, Any]

_VQA_VARIANTS: dict[str, Variant] = {"official_vqa": "vqa", "textvqa_mmf": "textvqa"}
_YES_NO: dict[str, Label] = {"Yes": "yes", "No": "no"}


def _vqa_accuracy(line: Input) -> dict[str, Any]:
    variant = _VQA_VARIANTS[line["variant"]]
    return {
        "score": vqa_accuracy(line["prediction"], line["answers"], variant=variant),
        "normalised_prediction": normalize_vqa_answer(line["prediction"], variant=variant),
    }


def _vqa_accuracy_aggregate(line: Input) -> dict[str, Any]:
    scores = {
        variant: [vqa_accuracy(sample["prediction"], sample["answers"], variant=variant) for sample in line["samples"]]
        for variant in _VQA_VARIANTS.values()
    }
    return {
        "official_overall_percent_2dp": mean_percent(scores["vqa"]),
        "official_per_sample_percent": [mean_percent([score]) for score in scores["vqa"]],
        "textvqa_mmf_fraction": mean_accuracy(scores["textvqa"]),
    }


def _anls(line: Input) -> dict[str, float]:
    return {"score": anls(line["prediction"], line["answers"], threshold=line.get("threshold", 0.5))}


def _chartqa_relaxed(line: Input) -> dict[str, bool]:
    correct = relaxed_correct(
        line["prediction"],
        line["target"],
        max_relative_change=line.get("max_relative_change", 0.05),
        variant=line.get("variant", "vlmevalkit"),
    )
    return {"correct": correct}


def _ocrbench(line: Input) -> dict[str, int]:
    formula = line["dataset"] in FORMULA_DATASETS[:1]
    return {"score": int(ocrbench_hit(line["prediction"], line["answers"], formula=formula))}


def _ocrbench_aggregate(line: Input) -> dict[str, Any]:
    rows = line["rows"]

    def hits(is_formula: Callable[[Input], bool]) -> list[tuple[str, bool]]:
        return [
            (row["category"], ocrbench_hit(row["prediction"], row["answer"], formula=is_formula(row))) for row in rows
        ]

    return {
        "vlmevalkit": ocrbench_report(hits(lambda row: row["category"] == FORMULA_CATEGORY)),
        "flagevalmm": ocrbench_type_counts(hits(lambda row: row["dataset"] in FORMULA_DATASETS)),
    }


def _hallusionbench(line: Input) -> dict[str, Any]:
    rows = [
        HallusionRow(
            category=row["category"],
            subcategory=row["l2-category"],
            set_id=row["set_id"],
            figure_id=row["figure_id"],
            question_id=row["question_id"],
            verdict=_verdict(row),
        )
        for row in line["rows"]
    ]
    return {
        "vlmevalkit": hallusionbench_vlmevalkit(rows),
        "official": hallusionbench_official(rows),
        "flagevalmm": hallusionbench_flagevalmm(rows),
    }


def _verdict(row: Input) -> Verdict:
    read = yes_or_no(row["prediction"])
    if read == "Unknown":
        return "unclear"
    return "right" if read == row["answer"] else "wrong"


def _pope(line: Input) -> dict[str, Any]:
    golds, texts = line["labels"], line["predictions"]
    exact = [exact_label(text) for text in texts]
    return {
        "official": asdict(pope_scores(golds, [pope_label(text) for text in texts])),
        "vlmevalkit": pope_by_category(golds, [_YES_NO.get(yes_or_no(text)) for text in texts], line["categories"]),
        "lmms_eval": asdict(pope_scores(golds, exact, unread_is_miss=False)) | {"yes_ratio": yes_ratio(golds)},
    }


def _pope_label(line: Input) -> dict[str, str]:
    return {"label": pope_label(line["prediction"])}


def _mme(line: Input) -> dict[str, Any]:
    def scores(is_correct: Callable[[Input], bool]) -> dict[str, float]:
        return mme_scores(MmeRow(row["category"], row["image_path"], is_correct(row)) for row in line["rows"])

    by_word = scores(lambda row: yes_or_no(row["prediction"]) == row["answer"])
    by_start = scores(lambda row: mme_label(row["prediction"]) == row["answer"].lower())
    return {"vlmevalkit": {"reasoning": by_word["cognition"], **by_word}, "lmms_eval": by_start}


SCORERS: dict[str, Callable[[Input], Any]] = {
    "vqa_accuracy": _vqa_accuracy,
    "vqa_accuracy_aggregate": _vqa_accuracy_aggregate,
    "anls": _anls,
    "chartqa_relaxed": _chartqa_relaxed,
    "ocrbench": _ocrbench,
    "ocrbench_aggregate": _ocrbench_aggregate,
    "hallusionbench": _hallusionbench,
    "pope": _pope,
    "pope_label": _pope_label,
    "mme": _mme,
}
