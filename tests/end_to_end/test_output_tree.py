"""What a run leaves behind, file by file, against a stored copy in `tests/data/output_tree`.

After an intended change, `python -m tests.end_to_end.test_output_tree` writes the copy anew; read its diff.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

import pytest

from tests.end_to_end.command import Command, Finished
from tests.end_to_end.folders import choice, files_under, read_json, read_lines, write_model, write_task
from tests.servers import MockEndpoint, by_question, completion, error_reply

EXPECTED = Path(__file__).parents[1] / "data" / "output_tree"
ITEMS = [
    choice("c1", "Which colour?", answer="B", img_path="img/green.jpg", sub_task="one"),
    choice(2, "Is <image 1> or <image 2> red?", answer="A", img_path=["img/1.png", "img/2.png"], sub_task="many"),
    {"question_id": "s/3", "question": "天空是什么颜色？", "question_type": "short-answer", "answer": ["蓝", "蓝色"]},
    {"question_id": "f4", "question": "How many legs?", "question_type": "short-answer", "answer": "8"},
]
SCRIPT = {
    "Which colour?": completion("B", reasoning_content="It is green."),
    "red?": "<think>The first one.</think>A",
    "天空": "蓝色",
    "legs": error_reply(400, "no legs today"),
}
VOLATILE = {  # key -> what stands for its value
    "python": "<version>", "packages": "<versions>", "host": "<host>", "platform": "<platform>", "flagmm": "<version>",
    "started": "<time>", "ended": "<time>", "latency": "<seconds>", "request": "<hash>", "fingerprint": "<hash>",
    "media": "<identities>", "rule": "<rule>", "rules": "<rules>", "process": "<number>",
}  # fmt: skip


def make_tree(command: Command) -> Finished:
    """One run of one task whose files are in `<folder>/out` afterwards."""
    items = [{"sub_task": "words", **item} for item in ITEMS]
    evaluator = "dict(type='BaseEvaluator', detailed_keys=['sub_task'])"
    prompt = "dict(type='PromptTemplate', pre_prompt='Look. ')"
    task = write_task(command.folder / "task", items, evaluator=evaluator, prompt=prompt)
    with MockEndpoint(by_question(SCRIPT)) as endpoint:
        model = write_model(command.folder / "model.json", endpoint.url, num_workers=1, api_key="sk-secret-1234")
        return command("--tasks", task, "--cfg", model, "--output-dir", "out")


@pytest.fixture(scope="module")
def run(module_command):
    return make_tree(module_command), module_command.folder


def normalised(path: Path, folder: Path) -> str:
    """The text of a file with values that change from run to run replaced, lines of predictions in order."""
    if path.suffix == ".jsonl":
        lines = sorted(read_lines(path), key=lambda line: line["question_id"])
        text = "".join(json.dumps(_stable(line), ensure_ascii=False) + "\n" for line in lines)
    elif path.suffix == ".json":
        text = json.dumps(_stable(read_json(path)), ensure_ascii=False, indent=2) + "\n"
    else:
        text = path.read_text(encoding="utf-8")
    return re.sub(r"127\.0\.0\.1:\d+", "<endpoint>", text.replace(str(folder), "<folder>"))


def _stable(value):
    if isinstance(value, dict):
        return {key: VOLATILE.get(key) if item and key in VOLATILE else _stable(item) for key, item in value.items()}
    return [_stable(item) for item in value] if isinstance(value, list) else value


def test_the_tree_has_exactly_the_documented_files(run):
    _, folder = run
    assert [name for name in files_under(folder / "out") if not name.endswith(".lock")] == [
        "colours/colours.json",
        "colours/colours_config.json",
        "colours/colours_evaluated.json",
        "colours/colours_result.json",
        "colours/predictions.jsonl",
        "run.json",
        "summary.csv",
        "summary.json",
        "summary.md",
    ]


@pytest.mark.parametrize("name", files_under(EXPECTED))
def test_each_file_holds_what_the_stored_copy_holds(run, name):
    _, folder = run
    assert normalised(folder / "out" / name, folder) == (EXPECTED / name).read_text(encoding="utf-8")


def test_the_first_line_says_what_runs_and_the_last_ones_what_came_of_it(run):
    done, _ = run
    first = done.stderr.splitlines()[0]
    assert first.endswith("INFO colours: 4 questions with 3 media files, 4 still to ask, results in out/colours")
    last = done.stdout.splitlines()
    assert last[0].split() == ["Task", "Metric", "Score", "Asked", "Answered", "Failed", "Truncated"]
    assert last[2].split() == ["colours", "accuracy", "75.00", "[30.1,", "95.4]", "4", "3", "1", "0"]
    assert "score between 75.00 and 100.00" in done.stdout
    assert last[-2] == "Results: out"


def test_the_last_line_is_the_command_that_scores_again(run):
    done, folder = run
    again = f"flagevalmm --tasks {folder}/task/colours.py --without-infer --output-dir out"
    assert done.stdout.splitlines()[-1] == f"Score again: {again}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        make_tree(Command(Path(place)))
        for written in files_under(Path(place) / "out"):
            (EXPECTED / written).parent.mkdir(parents=True, exist_ok=True)
            (EXPECTED / written).write_text(normalised(Path(place) / "out" / written, Path(place)), encoding="utf-8")
