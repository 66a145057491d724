"""Free text and captions: General-VQA's BLEU and ROUGE, COCO's captions and their tokens, retrieval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flagmm.metrics.chinese_words import has_chinese
from flagmm.metrics.coco_caption import score_captions
from flagmm.metrics.general_vqa import METRIC_SCORES, aggregate_general_vqa, score_general_vqa
from flagmm.metrics.general_vqa_tokens import tokenize_vqa
from flagmm.metrics.ptb_tokenizer import tokenize_caption
from flagmm.metrics.retrieval import score_retrieval


def score_vqa(given: Mapping[str, Any]) -> dict[str, float]:
    return score_general_vqa(given["prediction"], given["answer"])


def aggregate_vqa(given: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    samples = given["samples"]
    means = aggregate_general_vqa(map(score_vqa, samples))
    return {metric: {"mean": means[key], "num": len(samples)} for metric, key in METRIC_SCORES.items() if key in means}


def show_vqa_tokens(given: Mapping[str, Any]) -> dict[str, Any]:
    tokens = tokenize_vqa(given["text"])
    return {
        "has_chinese": has_chinese(given["text"]),
        "bleu_tokens": list(tokens.bleu),
        "rouge_tokens": list(tokens.rouge),
    }


def score_coco(given: Mapping[str, Any]) -> dict[str, Any]:
    scores = score_captions([(sample["prediction"], sample["references"]) for sample in given["samples"]])
    return {**scores.corpus, "per_sample": scores.images}


def show_caption_tokens(given: Mapping[str, Any]) -> dict[str, str]:
    return {"tokens": " ".join(tokenize_caption(given["text"]))}


def rank(given: Mapping[str, Any]) -> dict[str, float]:
    return score_retrieval(given["similarity"], captions_per_image=given["captions_per_image"])


SCORERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "general_vqa": score_vqa,
    "general_vqa_aggregate": aggregate_vqa,
    "general_vqa_tokens": show_vqa_tokens,
    "coco_caption": score_coco,
    "ptb_tokenizer": show_caption_tokens,
    "retrieval": rank,
}
