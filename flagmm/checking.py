"""The gold check of a task: its data load, its media open, right answers score full marks and empty ones none."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flagmm.assembly import build_dataset, find_evaluator, task_code
from flagmm.config.task import TaskSpec
from flagmm.dataset.sample import Dataset, build_sample, question_id_at
from flagmm.errors import DataError, FlagMMError, MissingExtraError
from flagmm.jsonio import read_json, write_records
from flagmm.media.audio import encode_audio
from flagmm.media.image import ImageLimits, encode_image
from flagmm.media.sniff import contradict
from flagmm.media.video import Span, check_video
from flagmm.media.video_file import open_video_file
from flagmm.models.openai_body import refuse_part_of_file, span_of
from flagmm.paths import TaskPaths, safe_name
from flagmm.plugin import user_code
from flagmm.types import Annotation, AudioPart, ImagePart, Part, TextPart, VideoPart

SHOWN_PROMPTS = 3
_SHOWN_ANSWERS = 10
_FULL = 100.0
_TAKES_A_JUDGE = "not scored, which takes a judge"


@dataclass
class CheckReport:
    """What a check found; `problems` are lines that name file, id and field."""

    task: str
    questions: int = 0
    media: int = 0
    prompts: list[str] = field(default_factory=list)
    """The first finished prompts."""
    problems: list[str] = field(default_factory=list)
    gold: str = "not scored"
    """What the gold answers scored, in words."""
    is_judged: bool = False
    """Whether the task has a judge, which scores what no rule can and is not asked here."""


def check_task(
    task: TaskSpec,
    *,
    data_root: str | None = None,
    settings: Mapping[str, Any] | None = None,
    reprocess: bool = False,
) -> CheckReport:
    """Check one task from its data to its scores; no model is asked.

    Args:
        data_root: taken instead of the task's own data.
        settings: keywords of the data set from the command line.
        reprocess: run process.py even where the data are there.

    Raises:
        FlagMMError: the task cannot be loaded at all.
    """
    report = CheckReport(task=task.name)
    with task_code(task), user_code(str(task.path)):
        dataset = build_dataset(task, data_root=data_root, settings=settings, reprocess=reprocess)
        evaluator = find_evaluator(task, dataset)
        report.questions = len(dataset)
        if not report.questions:
            report.problems.append("no question is in the data set")
        _check_samples(dataset, report)
        report.is_judged = any((task.evaluator or {}).get(key) for key in ("judge", "use_llm_evaluator"))
        if getattr(evaluator, "needs_judge", False):
            report.gold = _TAKES_A_JUDGE
        elif evaluator is not None and len(dataset):
            evaluator.awaits_judge = report.is_judged
            _check_scores(evaluator, dataset, report)
    return report


def _check_samples(dataset: Dataset, report: CheckReport) -> None:
    seen: set[str] = set()
    media = _MediaCheck()
    for index in range(len(dataset)):
        try:
            sample = build_sample(dataset, index)
        except DataError as error:
            report.problems.append(f"question_id {question_id_at(dataset, index)!r}: {error}")
            continue
        if sample.question_id in seen:
            report.problems.append(f"question_id {sample.question_id!r}: occurs twice")
        seen.add(sample.question_id)
        if len(report.prompts) < SHOWN_PROMPTS:
            report.prompts.append(sample.question)
        for part in (part for message in sample.messages for part in message.content):
            report.media += not isinstance(part, TextPart)
            if problem := media.problem(part):
                report.problems.append(f"question_id {sample.question_id!r}: {part.type}: {problem}")
    report.problems += media.general_problems


class _MediaCheck:
    """Opens the media of a task, each video once."""

    def __init__(self) -> None:
        self.general_problems: list[str] = []
        """What is wrong with the check itself, not with one medium."""
        self._videos: dict[tuple[str, Span], str | None] = {}

    def problem(self, part: Part) -> str | None:
        """What is wrong with a medium; None for a URL, which is not fetched."""
        if isinstance(part, TextPart):
            return None
        try:
            if isinstance(part, VideoPart):
                return self._video_problem(part)
            if part.source.url is not None:
                return None
            if isinstance(part, ImagePart):
                encode_image(part.source, ImageLimits())
                return None
            sound = encode_audio(part.source)
            empty = f"{part.source.label}: an empty sound, without samples" if sound.is_empty else None
            return empty or _contradiction(part, sound.format)
        except DataError as error:
            return str(error)

    def _video_problem(self, part: VideoPart) -> str | None:
        if part.mode == "file":
            refuse_part_of_file(part)
        if part.source.url is not None:
            return None
        key = (part.source.label, span_of(part))
        if part.source.path is None or key not in self._videos:
            self._videos[key] = self._open_video(part)
        return self._videos[key]

    def _open_video(self, part: VideoPart) -> str | None:
        try:
            found = open_video_file(part.source).found if part.mode == "file" else None
            if not self.general_problems:
                check_video(part.source, span=span_of(part))
        except DataError as error:
            return str(error)
        except MissingExtraError as error:
            self.general_problems.append(f"video: no video could be opened: {error}")
        return _contradiction(part, found) if found else None


def _contradiction(part: AudioPart | VideoPart, found: str) -> str | None:
    is_wrong = contradict(part.format, found)
    return f"{part.source.label}: format says {part.format}, and the bytes are {found}" if is_wrong else None


def _check_scores(evaluator: Any, dataset: Dataset, report: CheckReport) -> None:
    annotations = dataset.get_annotation()
    try:
        gold = {key: _right_reply(evaluator, annotation) for key, annotation in annotations.items()}
    except DataError as error:
        report.problems.append(f"answer: {error}")
        return
    missing = [key for key, answer in gold.items() if answer is None]
    if missing:
        report.problems.append(f"{len(missing)} questions have no answer, the first is question_id {missing[0]!r}")
    unfit = evaluator.unfit_references(annotations) if hasattr(evaluator, "unfit_references") else {}
    for key, answer in list(unfit.items())[:_SHOWN_ANSWERS]:
        problem = f"answer: {answer!r} cannot be scored, because no reply can equal it"
        report.problems.append(f"question_id {key!r}: {problem}")
    if len(unfit) > _SHOWN_ANSWERS:
        report.problems.append(f"… and {len(unfit) - _SHOWN_ANSWERS} more answers that no reply can equal")
    answered = {key: answer for key, answer in gold.items() if answer is not None and key not in unfit}
    if not answered:
        return
    try:
        _check_gold(evaluator, dataset, answered, report)
        if not getattr(evaluator, "wants_all_answers", False):
            _check_empty(evaluator, dataset, answered, report)
    except FlagMMError as error:
        report.problems.append(f"scoring: {error}")


def _check_gold(evaluator: Any, dataset: Dataset, gold: Mapping[str, str], report: CheckReport) -> None:
    result, entries = _score(evaluator, dataset, gold)
    wrong = [entry for entry in entries if _is_number(entry.get("correct")) and entry["correct"] < 1]
    for entry in wrong[:_SHOWN_ANSWERS]:
        read = f", read as {entry['extracted']!r}" if "extracted" in entry else ""
        answer = gold[str(entry["question_id"])]
        report.problems.append(f"question_id {entry['question_id']!r}: answer: gold {answer!r} scores 0{read}")
    if len(wrong) > _SHOWN_ANSWERS:
        report.problems.append(f"… and {len(wrong) - _SHOWN_ANSWERS} more gold answers that do not score")
    accuracy = result.get("accuracy")
    scored = sum(_is_number(entry.get("correct")) for entry in entries)
    if scored:
        report.gold = f"{scored - len(wrong)} of {scored} right"
    elif isinstance(accuracy, int | float):
        report.gold = f"accuracy {accuracy:g}"
        if accuracy < _FULL:
            report.problems.append(f"scoring: gold answers give accuracy {accuracy:g}, not 100")
    elif report.is_judged:
        report.gold = _TAKES_A_JUDGE
    else:
        report.problems.append(
            "scoring: neither an accuracy nor a mark for each item; nothing to check gold answers by"
        )


def _check_empty(evaluator: Any, dataset: Dataset, gold: Mapping[str, str], report: CheckReport) -> None:
    result, entries = _score(evaluator, dataset, dict.fromkeys(gold, ""))
    right = [entry for entry in entries if _is_number(entry.get("correct")) and entry["correct"] > 0]
    accuracy = result.get("accuracy")
    if right:
        report.problems.append(f"question_id {right[0]['question_id']!r}: an empty answer scores ({len(right)} do)")
    elif isinstance(accuracy, int | float) and accuracy > 0:
        report.problems.append(f"scoring: empty answers give accuracy {accuracy:g}, not 0")


def _score(evaluator: Any, dataset: Dataset, answers: Mapping[str, str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    with tempfile.TemporaryDirectory() as folder:
        name = safe_name(dataset.name)
        paths = TaskPaths(Path(folder), name)
        write_records(paths.answers, _records(answers))
        with user_code(f"{type(evaluator).__name__}"):
            result = evaluator.process(dataset, folder)
        entries = read_json(paths.evaluated) if paths.evaluated.exists() else []
    return result or {}, entries


def _records(answers: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for question_id, answer in answers.items():
        status = "ok" if answer else "empty"
        yield {
            "question_id": question_id,
            "question": "",
            "answer": answer,
            "reason": "",
            "usage": None,
            "status": status,
        }


def _right_reply(evaluator: Any, annotation: Annotation) -> str | None:
    """A right reply by the evaluator's word, where it has one; else by the annotation's `answer`."""
    reply = evaluator.gold_reply(annotation) if hasattr(evaluator, "gold_reply") else None
    return gold_answer(annotation) if reply is None else str(reply)


def gold_answer(annotation: Annotation) -> str | None:
    """A reply that is right; of several accepted answers the commonest. None where there is no reference."""
    answer = annotation.get("answer")
    if isinstance(answer, Mapping):
        answer = list(answer.values())
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if annotation.get("question_type") == "multiple-response" and isinstance(answer, list | tuple):
        return "".join(str(item) for item in answer) or None
    if annotation.get("question_type") == "bbox" and isinstance(answer, list | tuple):
        return str(list(answer)) if answer else None
    if isinstance(answer, list | tuple):
        texts = Counter("; ".join(map(str, item)) if isinstance(item, list | tuple) else str(item) for item in answer)
        return texts.most_common(1)[0][0] if texts else None
    return None if answer is None or answer == "" else str(answer)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)
