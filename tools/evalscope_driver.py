"""Runs inside EvalScope's environment: evaluations as a JSON object on stdin, their scores as JSON into a file.

    python evalscope_driver.py scores.json < task_configs.json

Both objects are by name of the run. A run that raises has its error in the place of scores.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from evalscope.config import TaskConfig
from evalscope.run import run_task


def main() -> None:
    configs = json.load(sys.stdin)
    found = {name: run(values) for name, values in configs.items()}
    Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")


def run(values: dict[str, Any]) -> list[list[Any]] | str:
    """(metric, subset, number of questions, score from 0 to 1) of each number that the report has by subset."""
    try:
        reports = run_task(task_cfg=TaskConfig(**values))
    except Exception as error:  # noqa: BLE001  # told in the comparison
        return f"{type(error).__name__}: {error}"
    return [
        [metric_name(metric.identity), subset.name, subset.num, subset.score]
        for report in reports.values()
        for metric in report.metrics
        for category in metric.categories
        for subset in category.subsets
    ]


def metric_name(identity: Any) -> str:
    """The metric's name as flagmm's results have it."""
    dimensions = identity.dimensions or {}
    if identity.name == "bleu":
        return f"bleu-{dimensions['ngram']}"
    if identity.name == "rouge":
        order = dimensions.get("ngram") or dimensions["variant"].upper()
        return f"Rouge-{order}-{dimensions['statistic'][0].upper()}"
    return str(identity.name)


if __name__ == "__main__":
    main()
