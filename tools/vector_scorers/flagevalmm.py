"""FlagEvalMM's own rules: letters, texts, numbers, typed open answers, points, boxes, VSI-Bench, and its whole pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from string import ascii_uppercase
from typing import Any, Literal

import numpy as np

from flagmm.extraction import extract_choices
from flagmm.metrics.boxes import THRESHOLDS, box_iou, is_box_hit, is_center_hit, parse_box
from flagmm.metrics.fill_blank import fill_blank_correct
from flagmm.metrics.flagevalmm_aggregate import flagevalmm_result, is_rejected, reject_info
from flagmm.metrics.flagevalmm_judgement import read_judgement
from flagmm.metrics.flagevalmm_numbers import extract_numbers, mean_relative_accuracy, read_quantity, to_float
from flagmm.metrics.flagevalmm_open import (
    OpenRow,
    extract_open_answer,
    normalize_open_answer,
    open_report,
    open_score,
)
from flagmm.metrics.flagevalmm_text import clean_choice, fill_blank_match, normalize_string, response_letters
from flagmm.metrics.points import calculate_mask_score, text2pts, text2pts_norm1k
from flagmm.metrics.vsi import VsiRow, vsi_report, vsi_report_lmms_eval

Input = Mapping[str, Any]
Rule = Literal["reference", "careful"]

_POINT_READERS = {"flagevalmm": text2pts, "flagevalmm_norm1k": text2pts_norm1k}


def _multiple_choice(line: Input) -> dict[str, str]:
    letters = clean_choice(line["prediction"])
    return {"cleaned": letters, "letter": letters[:1]}


def _multiple_response(line: Input, rule: Rule = "careful") -> dict[str, Any]:
    """`cleaned` is FlagEvalMM's; only whether the reply is right depends on the rule."""
    letters = response_letters(line["prediction"])
    read = letters
    if rule == "careful":
        read = "".join(extract_choices(line["prediction"], labels=list(ascii_uppercase)).value or ())
    return {"cleaned": letters, "correct": read == line["answer"].upper()}


def _fill_blank(line: Input, rule: Rule = "careful") -> dict[str, Any]:
    prediction, answer, threshold = line["prediction"], line["answer"], line["threshold"]
    match = fill_blank_match(prediction, answer, threshold=threshold)
    return {
        "correct": fill_blank_correct(prediction, answer, rule=rule, threshold=threshold),
        "matched_or_cleaned": match.matched,
        "normalised_answer": match.reference,
    }


def _judgement(line: Input, rule: Rule = "careful") -> dict[str, Any]:
    """`extracted` is FlagEvalMM's; only the verdict depends on the rule."""
    response = line["response"]
    is_read = read_judgement(response, rule="reference") is not None
    return {
        "correct": read_judgement(response, rule=rule) == "yes",
        "extracted": response.strip() if is_read else "[FAILED]",
    }


def _reject(line: Input) -> dict[str, Any]:
    rejected = is_rejected(line["answer"])
    return {"rejected": rejected, "results": reject_info(int(rejected), 1)}


def _base_process(line: Input) -> dict[str, Any]:
    run = flagevalmm_result(line["annotations"], line["predictions"], detailed_keys=line["detailed_keys"] or ())
    return {"result": run.result, "evaluated": sorted(run.evaluated, key=lambda record: str(record["question_id"]))}


def _open(line: Input, rule: Rule = "careful") -> dict[str, Any]:
    """`extracted` is FlagEvalMM's; only the score depends on the rule."""
    return {
        "score": open_score(line["prediction"], line["answer"], line["answer_type"], rule=rule),
        "extracted": normalize_open_answer(extract_open_answer(line["prediction"])),
    }


def _open_aggregate(line: Input) -> dict[str, Any]:
    rows = []
    for prediction in line["predictions"]:
        annotation = line["annotations"][str(prediction["question_id"])]
        subgroup = None if line["tracker_subtype"] is None else annotation[line["tracker_subtype"]]
        score = open_score(prediction["answer"], annotation["answer"], annotation["answer_type"])
        rows.append(OpenRow(score, annotation[line["tracker_type"]], subgroup))
    return open_report(rows)


def _extract_answer(line: Input) -> dict[str, str]:
    extracted = extract_open_answer(line["prediction"])
    return {"extracted": extracted, "normalised": normalize_open_answer(extracted)}


def _box_iou(line: Input) -> dict[str, Any]:
    gold, predicted = line["gt_box"], line["pred_box"]
    hits = {f"acc@{threshold}": is_box_hit(gold, predicted, threshold=threshold) for threshold in THRESHOLDS}
    return {"iou": box_iou(gold, predicted), **hits, "center_acc": is_center_hit(gold, predicted)}


def _point_in_mask(line: Input) -> dict[str, Any]:
    shape, on = line["mask"], line["mask"]["rect_on_255"]
    mask = np.zeros((shape["height"], shape["width"]), dtype=np.uint8)
    mask[slice(*on["y"]), slice(*on["x"])] = 255
    points = _POINT_READERS[line["variant"]](line["text"], shape["width"], shape["height"])
    return {
        "num_points": len(points),
        "score": calculate_mask_score(points, mask),
        "points": [list(point) for point in points],
    }


def _vsi_mra(line: Input) -> dict[str, float]:
    levels = line["start"], line["end"], line["interval"]
    return {"mra": mean_relative_accuracy(line["prediction"], line["target"], *levels)}


def _vsi_response(line: Input) -> dict[str, Any]:
    extracted = read_quantity(line["response"])
    return {
        "extracted": extracted,
        "mra": mean_relative_accuracy(to_float(extracted), to_float(line["target"])),
    }


def _vsi_aggregate(line: Input) -> dict[str, Any]:
    rows = [VsiRow(row["question_type"], row["answer"], row["prediction"]) for row in line["rows"]]
    return {"flagevalmm": vsi_report(rows), "lmms_eval": vsi_report_lmms_eval(rows)}


SCORERS: dict[str, Callable[[Input], Any]] = {
    "flagevalmm_multiple_choice": _multiple_choice,
    "flagevalmm_multiple_response": _multiple_response,
    "flagevalmm_multiple_response@flagevalmm": lambda line: _multiple_response(line, "reference"),
    "flagevalmm_fill_blank": _fill_blank,
    "flagevalmm_fill_blank@flagevalmm": lambda line: _fill_blank(line, "reference"),
    "flagevalmm_judgement": _judgement,
    "flagevalmm_judgement@flagevalmm": lambda line: _judgement(line, "reference"),
    "flagevalmm_normalize_string": lambda line: {"normalised": normalize_string(line["text"])},
    "flagevalmm_extract_numbers": lambda line: {"numbers": extract_numbers(line["text"])},
    "flagevalmm_extract_answer": _extract_answer,
    "flagevalmm_open": _open,
    "flagevalmm_open@flagevalmm": lambda line: _open(line, "reference"),
    "flagevalmm_open_aggregate": _open_aggregate,
    "flagevalmm_reject": _reject,
    "flagevalmm_base_process": _base_process,
    "box_parse": lambda line: {"box": list(parse_box(line["text"]))},
    "box_parse@careful": lambda line: {"box": list(parse_box(line["text"], rule="careful"))},
    "box_iou": _box_iou,
    "point_in_mask": _point_in_mask,
    "vsi_mra": _vsi_mra,
    "vsi_response": _vsi_response,
    "vsi_aggregate": _vsi_aggregate,
}
