"""Reading choices and yes/no, MMMU, and VLMEvalKit's and EvalScope's reports on them.

`vlmevalkit_can_infer`, `yes_no_extraction` and `general_vmcq` are read with care, as a run does by default; with the
name of a tool behind an @, as that tool reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from flagmm.evaluator.vlmevalkit_choice import infer_choice
from flagmm.extraction import extract_choice, extract_choices, extract_yes_no
from flagmm.metrics.general_vmcq import choice_accuracy, general_vmcq_labels, multi_choice_accuracy, read_general_vmcq
from flagmm.metrics.mmmu import flagevalmm_mmmu, is_open_correct, mmmu_aggregate, parse_choice, parse_open
from flagmm.metrics.vlmevalkit_infer import (
    can_infer,
    can_infer_option,
    can_infer_text,
    ms_vlmeval_can_infer,
    yes_or_no,
)
from flagmm.metrics.vlmevalkit_report import circular_evaluation, report_acc, yes_no_rating
from flagmm.prompt.general_vmcq import TEMPLATES, build_prompt

Line = Mapping[str, Any]

_INFER: dict[str, Callable[[str, Line], str | None]] = {
    "can_infer": can_infer,
    "can_infer_option": can_infer_option,
    "can_infer_text": can_infer_text,
    "ms_vlmeval_can_infer": ms_vlmeval_can_infer,
}


def _can_infer(line: Line) -> str | bool:
    """Read with care; the two halves of `can_infer` are VLMEvalKit's own and have no careful counterpart."""
    if line["function"] in ("can_infer_option", "can_infer_text"):
        return _can_infer_as_vlmevalkit(line)
    return infer_choice(line["prediction"], line["choices"]) or False


def _can_infer_as_vlmevalkit(line: Line) -> str | bool:
    return _INFER[line["function"]](line["prediction"], line["choices"]) or False


def _yes_no(line: Line) -> str:
    value = extract_yes_no(line["prediction"]).value
    return value.capitalize() if value else "Unknown"


def _general_vmcq(line: Line) -> str:
    labels = general_vmcq_labels(line["num_options"])
    if line.get("multiple_correct"):
        return "".join(extract_choices(line["prediction"], labels=labels).value or ())
    return extract_choice(line["prediction"], labels=labels).value or ""


def _general_vmcq_as_evalscope(line: Line) -> str:
    return read_general_vmcq(
        line["prediction"],
        general_vmcq_labels(line["num_options"]),
        language="chinese" if line["template"].startswith("CHINESE") else "english",
        multiple=line.get("multiple_correct", False),
    )


def _general_vmcq_prompt(line: Line) -> dict[str, Any]:
    prompt = build_prompt(line["record"], template=TEMPLATES[line["template"].removesuffix("(default)")])
    values = [piece.value if piece.type == "text" else piece.value.value for piece in prompt.pieces]
    content = [{"type": piece.type, piece.type: value} for piece, value in zip(prompt.pieces, values, strict=True)]
    return {"content": content, "choices": list(prompt.options), "target": line["record"]["answer"]}


def _mcq_accuracy(line: Line) -> float:
    metric = choice_accuracy if line["metric"] == "acc" else multi_choice_accuracy
    return metric(line["extracted"], line["target"])


def _circular(line: Line) -> dict[str, Any]:
    result = asdict(circular_evaluation(line["rows"]))
    return {
        "circular_hits_by_group": {str(index): hit for index, hit in result["group_hits"].items()},
        "circular_report_acc": result["group_report"],
        "vanilla_hits": {str(index): hit for index, hit in result["row_hits"].items()},
        "vanilla_circ0_report_acc": result["first_report"],
        "vanilla_all_report_acc": result["row_report"],
    }


def _mmmu_choice(line: Line) -> dict[str, Any]:
    parsed = parse_choice(line["response"], line["index2ans"], line["all_choices"])
    return {"parsed": parsed, "random_fallback": parsed is None}


def _mmmu_open(line: Line) -> dict[str, Any]:
    parsed = parse_open(line["response"])
    return {"parsed": parsed, "correct": is_open_correct(line["gold"], parsed)}


SCORERS: dict[str, Callable[[Line], Any]] = {
    "vlmevalkit_can_infer": _can_infer,
    "vlmevalkit_can_infer@vlmevalkit": _can_infer_as_vlmevalkit,
    "yes_no_extraction": _yes_no,
    "yes_no_extraction@vlmevalkit": lambda line: yes_or_no(line["prediction"]),
    "general_vmcq": _general_vmcq,
    "general_vmcq@evalscope": _general_vmcq_as_evalscope,
    "general_vmcq_prompt": _general_vmcq_prompt,
    "mcq_accuracy": _mcq_accuracy,
    "vlmevalkit_report_acc": lambda line: report_acc(line["rows"]),
    "vlmevalkit_circular": _circular,
    "vlmevalkit_yesno_rating": lambda line: yes_no_rating(line["rows"]),
    "mmmu_parse_multi_choice": _mmmu_choice,
    "mmmu_open": _mmmu_open,
    "mmmu_aggregate": lambda line: mmmu_aggregate(line["answers"], line["outputs"]),
    "flagevalmm_mmmu": lambda line: flagevalmm_mmmu(line["annotations"], line["predictions"]),
}
