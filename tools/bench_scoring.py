"""Measure scoring: General-VQA against EvalScope's two metrics, and choices a second.

    python tools/bench_scoring.py --evalscope-python other-venv/bin/python     # both, several minutes
    python tools/bench_scoring.py --answers 500                                # ours alone, a tenth of the answers

EvalScope must be installed in an environment of its own; it scores the same answers, called as its general_vqa does.
The sentence splitter's data, which it wants on disk, are written from the package that ours uses. Times are CPU
seconds of the scoring process. The exit status is 0 when every target is met, 1 when not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tabulate import tabulate

from flagmm.evaluator.base_evaluator import BaseEvaluator
from flagmm.evaluator.rules import TypeRules
from flagmm.metrics.general_vqa import score_general_vqa
from flagmm.metrics.punkt_english import load_punkt_model
from flagmm.types import Annotation

LENGTHS = (20, 200)
VQA_TARGET = 5.0
CHOICE_TARGET = 20_000
_TOLERANCE = 1e-6
_NAME = "choices"

_WORDS = (
    "the a of in on near picture shows man woman red blue car street tree house small large sign window people table "
    "sky water boat dog cat standing holding walking it's don't 12 1995 left right behind front Dr. background "
    "building light dark green yellow several two three bicycle number text"
)
_FILLERS = (
    "The picture shows several objects on a wooden table near the window.",
    "We first look at the left side of the image, where a small shape appears.",
    "Considering the shadows, the light must come from the right.",
    "There are many people in the background walking along the street.",
    "However, the text in the corner is too blurred to be read.",
)
_OPTIONS = (
    ["a red kite", "a blue boat", "a green bus", "a grey dog"],
    ["Paris", "London", "Rome", "Madrid"],
    ["12", "15", "17.5", "20"],
    ["It rains", "It snows", "It is sunny", "It is windy"],
)
# Of twenty saved answers: what models mostly give, and what takes longest to read.
_KINDS = ("letter",) * 8 + ("stated",) * 6 + ("text",) * 4 + ("undecided",) * 2

_EVALSCOPE = """
import json, sys, time
from evalscope.benchmarks.general_qa_vqa_metrics import calculate_metric_score
pairs = json.load(open(sys.argv[1], encoding="utf-8"))
scores = [{} for _ in pairs]
def score():
    for found, (prediction, reference) in zip(scores, pairs):
        for metric in ("BLEU", "Rouge"):
            found.update(calculate_metric_score(metric, prediction, reference))
calculate_metric_score("BLEU", "a b", "a"), calculate_metric_score("Rouge", "a b", "a")
started = time.process_time()
score()
json.dump({"seconds": time.process_time() - started, "scores": scores}, open(sys.argv[2], "w"))
"""


class Row(NamedTuple):
    what: str
    ours: float
    """Answers a second."""
    other: float | None
    target: float
    """The ratio to the other where there is one, else answers a second."""

    @property
    def reached(self) -> float:
        return self.ours if self.other is None else self.ours / self.other

    @property
    def is_met(self) -> bool:
        return self.reached >= self.target


def main() -> int:
    args = parse_arguments()
    rows = list(vqa_rows(args)) + list(choice_rows(args.choices, args.seed))
    headers = ["what", "ours /s", "EvalScope /s", "ratio", "target", "ok"]
    print(tabulate(map(cells, rows), headers=headers, tablefmt="github", disable_numparse=True))
    return int(not all(row.is_met for row in rows))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evalscope-python", type=Path, metavar="PATH", help="the Python that has evalscope installed")
    parser.add_argument("--answers", type=int, default=5000, metavar="N", help="General-VQA answers of each length")
    parser.add_argument("--choices", type=int, default=100_000, metavar="N", help="multiple-choice answers")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    return parser.parse_args()


def cells(row: Row) -> list[str]:
    ratio = "" if row.other is None else f"{row.reached:.1f}"
    other = "" if row.other is None else f"{row.other:,.0f}"
    target = f"{row.target:,.0f}" + ("" if row.other is None else " times")
    return [row.what, f"{row.ours:,.0f}", other, ratio, target, "yes" if row.is_met else "NO"]


def vqa_rows(args: argparse.Namespace) -> Iterator[Row]:
    for length in LENGTHS:
        pairs = make_pairs(args.answers, length, args.seed)
        score_general_vqa("a b", "a")  # loads what is loaded once, as below
        started = time.process_time()
        scores = [score_general_vqa(*pair) for pair in pairs]
        rate = len(pairs) / (time.process_time() - started)
        what = f"General-VQA, {length} words"
        if args.evalscope_python is None:
            yield Row(what, rate, None, 0)
            continue
        seconds, others = score_by_evalscope(args.evalscope_python, pairs)
        check_equal(scores, others, pairs)
        yield Row(what, rate, len(pairs) / seconds, VQA_TARGET)


def rate_of(work: Callable[[], object], items: Sequence[object]) -> float:
    """Items a second of CPU time."""
    started = time.process_time()
    work()
    return len(items) / max(time.process_time() - started, 1e-9)


def make_pairs(count: int, words: int, seed: int) -> list[tuple[str, str]]:
    """(answer, reference) pairs: the answer keeps most of the reference's words."""
    rng, vocabulary = random.Random(seed), _WORDS.split()
    pairs = []
    for _ in range(count):
        reference = [rng.choice(vocabulary) for _ in range(words)]
        answer = [word if rng.random() < 0.7 else rng.choice(vocabulary) for word in reference]
        pairs.append((sentences(answer), sentences(reference)))
    return pairs


def sentences(words: Sequence[str]) -> str:
    """The words as sentences of twelve."""
    parts = [" ".join(words[start : start + 12]) for start in range(0, len(words), 12)]
    return " ".join(f"{part[0].upper()}{part[1:]}." for part in parts)


def score_by_evalscope(python: Path, pairs: Sequence[tuple[str, str]]) -> tuple[float, list[dict[str, float]]]:
    """CPU seconds and scores."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_punkt(folder / "tokenizers" / "punkt_tab" / "english")
        (folder / "pairs.json").write_text(json.dumps(pairs), encoding="utf-8")
        files = [str(folder / "pairs.json"), str(folder / "scores.json")]
        command = [str(python), "-W", "ignore", "-c", _EVALSCOPE, *files]
        subprocess.run(command, check=True, env={**os.environ, "NLTK_DATA": name}, stdout=subprocess.DEVNULL)
        found = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    return found["seconds"], found["scores"]


def write_punkt(folder: Path) -> None:
    """The English sentence splitter's parameters in the files that nltk reads."""
    model = load_punkt_model()
    folder.mkdir(parents=True)
    (folder / "abbrev_types.txt").write_text("\n".join(sorted(model.abbreviations)), encoding="utf-8")
    (folder / "sent_starters.txt").write_text("\n".join(sorted(model.starters)), encoding="utf-8")
    pairs = ["\t".join(pair) for pair in sorted(model.collocations)]
    (folder / "collocations.tab").write_text("\n".join(pairs), encoding="utf-8")
    contexts = [f"{word}\t{bits}" for word, bits in sorted(model.contexts.items())]
    (folder / "ortho_context.tab").write_text("\n".join(contexts), encoding="utf-8")


def check_equal(
    ours: Sequence[dict[str, float]], others: Sequence[dict[str, float]], pairs: Sequence[tuple[str, str]]
) -> None:
    """Leave with a message where the two give different scores."""
    for mine, other, pair in zip(ours, others, pairs, strict=True):
        if mine.keys() != other.keys() or any(abs(mine[key] - other[key]) > _TOLERANCE for key in mine):
            sys.exit(f"different scores for {pair}: {mine}, EvalScope {other}")


def choice_rows(count: int, seed: int) -> Iterator[Row]:
    annotations, answers = make_choices(count, seed)
    rules = TypeRules()
    pairs = [(answer["answer"], annotations[answer["question_id"]]) for answer in answers]
    rate = rate_of(lambda: [rules.score(text, annotation) for text, annotation in pairs], pairs)
    yield Row("choices, reading and comparing", rate, None, CHOICE_TARGET)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"{_NAME}.json").write_text(json.dumps(answers), encoding="utf-8")
        evaluator = BaseEvaluator()
        rate = rate_of(lambda: evaluator.process(SavedChoices(annotations), folder), answers)
    yield Row("choices, from file to file", rate, None, 0)


class SavedChoices:
    """The part of a data set that scoring needs."""

    name = _NAME

    def __init__(self, annotations: dict[str, Annotation]) -> None:
        self._annotations = annotations

    def __len__(self) -> int:
        return len(self._annotations)

    def __getitem__(self, index: int) -> dict[str, Any]:
        raise NotImplementedError  # nothing is asked here

    def get_annotation(self) -> dict[str, Annotation]:
        return self._annotations


def make_choices(count: int, seed: int) -> tuple[dict[str, Annotation], list[dict[str, Any]]]:
    rng = random.Random(seed)
    annotations: dict[str, Annotation] = {}
    answers = []
    for number in range(count):
        question_id, options = str(number), _OPTIONS[number % len(_OPTIONS)]
        question = {"question_id": question_id, "question": "Which?", "question_type": "multiple-choice"}
        annotations[question_id] = {**question, "options": options, "answer": rng.choice("ABCD")}
        text = make_answer(_KINDS[number % len(_KINDS)], options, rng)
        answers.append({"question_id": question_id, "question": "Which?", "answer": text, "status": "ok"})
    return annotations, answers


def make_answer(kind: str, options: Sequence[str], rng: random.Random) -> str:
    if kind == "letter":
        return rng.choice("ABCD")
    if kind == "text":
        return rng.choice(options) + rng.choice(["", "."])
    if kind == "stated":
        return " ".join(rng.sample(_FILLERS, 3)) + f"\nThe answer is ({rng.choice('ABCD')})."
    return " ".join(rng.sample(_FILLERS, 5))


if __name__ == "__main__":
    sys.exit(main())
