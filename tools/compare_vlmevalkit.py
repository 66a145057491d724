"""Score the same predictions with an installed VLMEvalKit and with flagmm, and print both.

    pip install 'flagmm[vlmeval]'
    python tools/compare_vlmevalkit.py --data custom_mcq --predictions outputs/my-model/my-model_custom_mcq.xlsx

The table is one of `$LMUData`, and the file of predictions one that VLMEvalKit or flagmm wrote. Choices are read by
VLMEvalKit without a judge, and by flagmm with both of its rules. Rows on which VLMEvalKit and flagmm's `reference` rule
differ are listed. The exit status is 1 where scores differ by 0.0001 percent or more.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pandas as pd
from tabulate import tabulate

from flagmm.cli import main as flagevalmm
from flagmm.config.env import lmu_data_dir
from flagmm.formats.prediction_file import read_predictions
from flagmm.jsonio import read_json, write_json, write_text
from flagmm.vlmeval.bridge.metrics import flatten

TOLERANCE = 1e-4
RULES = ("reference", "careful")
TASK = """\
dataset = dict(type="VLMEvalKitDataset", dataset_name={name!r}, data_root={root!r})
evaluator = dict(type="VLMEvalKitEvaluator", eval_kwargs=dict(model="exact_matching", nproc=1), mark_empty=True)
"""

Rows = dict[str, dict[str, Any]]
"""Entries of `_evaluated.json` by index."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compare scores with VLMEvalKit's.")
    parser.add_argument("--data", required=True, help="name of a table in $LMUData")
    parser.add_argument("--predictions", required=True, type=Path, help="xlsx, TSV or JSON file with index, prediction")
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(sys.stderr):
        theirs, their_rows = score_with_vlmevalkit(args.data, args.predictions, Path(folder))
        ours = {rule: score_with_flagmm(args.data, args.predictions, Path(folder), rule) for rule in RULES}
    reference = ours["reference"][0]
    rows = [[name, value, *(scores.get(name) for scores, _ in ours.values())] for name, value in theirs.items()]
    print(tabulate(rows, headers=["metric", "VLMEvalKit", *RULES], floatfmt=".4f"))
    differing = [name for name, value in theirs.items() if abs(value - reference.get(name, -1)) >= TOLERANCE]
    print(f"\n{len(theirs)} scores, {len(differing)} differ")
    for index, reply, hit, own in differing_rows(their_rows, ours["reference"][1]):
        print(f"index {index}: VLMEvalKit {hit:g}, flagmm {own:g}: {reply!r:.100}")
    return int(bool(differing))


def score_with_vlmevalkit(name: str, predictions: Path, folder: Path) -> tuple[dict[str, float], Rows]:
    """Its scores in percent by flat name, without the primary one, which is there twice; and its rows."""
    task, output = folder / "official.py", folder / "official"
    write_text(task, TASK.format(name=name, root=str(lmu_data_dir())))
    saved = read_predictions(predictions)
    records = [
        {"question_id": f"{name}:{row.index}", "answer": "" if row.is_failed else row.prediction} for row in saved
    ]
    write_json(output / name / f"{name}.json", records)
    run("--tasks", task, "--without-infer", "--output-dir", output)
    metrics = read_json(output / name / name / "vlmevalkit_metrics.json")
    return {key: metrics["percent"][key] for key in metrics["flattened"]}, rows_of(output / name, "index")


def score_with_flagmm(name: str, predictions: Path, folder: Path, rule: str) -> tuple[dict[str, float], Rows]:
    """The same of ours."""
    output = folder / rule
    run("score", "--predictions", predictions, "--data", name, "--rule", rule, "--output-dir", output)
    [result] = output.glob("*/*_result.json")
    report = pd.DataFrame(read_json(result)["report"]["rows"])
    factor = 100 if read_json(result)["report"]["kind"] == "mcq" else 1
    scores = {key: value * factor for key, value in flatten(report).items()}
    return scores, rows_of(result.parent, "question_id")


def run(*arguments: object) -> None:
    """Run a command; what it says is in the log.

    Raises:
        SystemExit: it had no result.
    """
    status = flagevalmm([str(argument) for argument in arguments])
    if status not in (0, 1):
        raise SystemExit(status)


def rows_of(folder: Path, key: str) -> Rows:
    [path] = folder.glob("*_evaluated.json")
    return {str(row[key]): row for row in read_json(path)}


def differing_rows(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> list[tuple[str, str, float, float]]:
    """(index, reply, their hit, ours); rows without a hit of VLMEvalKit, as in circular groups, are left out."""
    pairs = [(index, row, ours[index]) for index, row in theirs.items() if index in ours]
    return [
        (index, str(own["raw_answer"]), row["correct"], own["correct"])
        for index, row, own in pairs
        if isinstance(row.get("correct"), float) and own["correct"] is not None and row["correct"] != own["correct"]
    ]


if __name__ == "__main__":
    sys.exit(main())
