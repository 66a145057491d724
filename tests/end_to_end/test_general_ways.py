"""The ways to run: flags, files, dicts and notebooks; going on, scoring again, looking only; and mistakes."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from filelock import FileLock

from tests.dataset.general.tables import write_jsonl, write_media
from tests.end_to_end.folders import read_json
from tests.servers import MockEndpoint, by_question, error_reply

CHOICE = {"question": "<image 1> Which colour?", "options": ["red", "green"], "image_1": "dot.png"}
ANSWERS = by_question({"red": "ANSWER: A", "Cat": "Cat", "Bird": "A bird"}, default="ANSWER: B")


def text_record(text, **fields):
    return {"messages": [{"role": "user", "content": text}], "answer": text, **fields}


@pytest.fixture
def data(tmp_path):
    """A folder `mine` with a table of choices and two of texts."""
    folder = tmp_path / "mine"
    write_media(folder, "dot.png")
    write_jsonl(folder / "colours.jsonl", *[{**CHOICE, "answer": "A"} for _ in range(4)])
    write_jsonl(folder / "cats.jsonl", *[text_record("Cat") for _ in range(4)])
    write_jsonl(folder / "birds.jsonl", *[text_record("Bird") for _ in range(2)])
    return folder


@pytest.fixture
def endpoint():
    with MockEndpoint(ANSWERS) as endpoint:
        yield endpoint


def settings(endpoint, **changes):
    """A configuration for the table of choices."""
    values = {
        "model": "mock",
        "api_url": endpoint.url,
        "datasets": ["general_vmcq"],
        "dataset_args": {"general_vmcq": {"local_path": "mine", "subset_list": ["colours"]}},
        "work_dir": "out",
        "no_timestamp": True,
    }
    return {key: value for key, value in (values | changes).items() if value is not None}


VQA = {
    "datasets": ["general_vqa"],
    "dataset_args": {"general_vqa": {"local_path": "mine", "subset_list": ["cats", "birds"]}},
}


def flags(values):
    """A configuration as flags of the command."""
    arguments = ["eval"]
    for name, value in values.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            arguments.append(flag)
        elif isinstance(value, list):
            arguments += [flag, *map(str, value)]
        else:
            arguments += [flag, json.dumps(value) if isinstance(value, dict) else str(value)]
    return arguments


def cells(stdout):
    lines = [line for line in stdout.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")][2:6] for line in lines][1:]


ACCURACY = [["Accuracy ↑", "colours", "4", "100%"]]


def test_a_file_says_the_same_as_flags(run_command, tmp_path, data, endpoint):
    (tmp_path / "evaluation.json").write_text(json.dumps(settings(endpoint, work_dir="by_file")))
    by_flags = run_command(*flags(settings(endpoint)))
    by_file = run_command("eval", "--config", "evaluation.json")
    assert cells(by_flags.stdout) == cells(by_file.stdout) == ACCURACY
    assert (by_flags.status, by_file.status) == (0, 0)
    assert (tmp_path / "by_file/general_vmcq/general_vmcq_result.json").is_file()


def test_a_flag_goes_before_the_file(run_command, tmp_path, data, endpoint):
    (tmp_path / "evaluation.json").write_text(json.dumps(settings(endpoint)))
    done = run_command("eval", "--config", "evaluation.json", "--limit", "1", "--model", "other")
    assert cells(done.stdout) == [["Accuracy ↑", "colours", "1", "100%"]]
    assert {request.body["model"] for request in endpoint.requests} == {"other"}


def test_every_setting_of_the_model_reaches_the_endpoint(run_command, data, endpoint):
    generation = "temperature=0.5,max_tokens=7,top_k=3"
    changes = {"generation_config": generation, "stream": True, "eval_batch_size": 2, "api_key": "$MY_KEY"}
    done = run_command(*flags(settings(endpoint, **changes)), MY_KEY="sk-of-the-test")
    assert done.status == 0
    [request, *_] = endpoint.requests
    assert {key: request.body[key] for key in ("temperature", "max_tokens", "top_k", "stream")} == {
        "temperature": 0.5,
        "max_tokens": 7,
        "top_k": 3,
        "stream": True,
    }
    assert request.headers["authorization"] == "Bearer sk-of-the-test"
    assert endpoint.max_inflight <= 2


@pytest.mark.parametrize(
    ("limit", "nums"),
    [("1", ["1", "1", "2"]), ("0.5", ["2", "1", "3"]), ("0", ["4", "2", "6"]), ("3", ["3", "2", "5"])],
)
def test_the_limit_is_of_each_subset(run_command, data, endpoint, limit, nums):
    done = run_command(*flags(settings(endpoint, **VQA, limit=limit)))
    assert [row[2] for row in cells(done.stdout) if row[0] == "BLEU ↑ · 1"] == nums
    assert ("partial" in done.stdout) == (limit != "0")


def test_several_data_sets_run_in_one_command(run_command, tmp_path, data, endpoint):
    both = {"dataset_args": VQA["dataset_args"] | settings(endpoint)["dataset_args"]}
    done = run_command(*flags(settings(endpoint, datasets=["general_vqa", "general_vmcq"], **both)))
    assert cells(done.stdout)[-1] == ACCURACY[0]
    assert len(cells(done.stdout)) == 13 * 3 + 1
    assert [task["task"] for task in read_json(tmp_path / "out/summary.json")["tasks"]] == [
        "general_vmcq",
        "general_vqa",
    ]


def test_an_installed_task_is_a_data_set_too(run_command, endpoint):
    done = run_command(*flags(settings(endpoint, datasets=["demo/ocr"], dataset_args=None, limit=2)))
    assert "demo_ocr" in done.stdout
    assert len(endpoint.requests) == 2


def test_going_on_asks_only_what_is_missing(run_command, data, endpoint):
    run_command(*flags(settings(endpoint, limit=1)))
    before = len(endpoint.requests)
    done = run_command(*flags(settings(endpoint, use_cache="out")))
    assert (before, len(endpoint.requests)) == (1, 4)
    assert cells(done.stdout) == ACCURACY


def test_results_of_other_data_are_not_replaced(run_command, tmp_path, data, endpoint):
    (tmp_path / "elsewhere").mkdir()
    write_jsonl(tmp_path / "elsewhere/colours.jsonl", {"question": "Other?", "options": ["x", "y"], "answer": "A"})
    run_command(*flags(settings(endpoint)))
    names = ("general_vmcq/general_vmcq_result.json", "general_vmcq/general_vmcq_config.json", "task_config.json")
    files = [tmp_path / "out" / name for name in names]
    before, asked = [file.read_bytes() for file in files], len(endpoint.requests)
    other = {"general_vmcq": {"local_path": "elsewhere", "subset_list": ["colours"]}}
    going_on = settings(endpoint, dataset_args=other, use_cache="out", work_dir=None, no_timestamp=None)
    again = run_command(*flags(going_on))
    assert (again.status, len(endpoint.requests)) == (2, asked)
    [error] = again.errors
    assert "answers saved here are to questions of other data (data_root was 'mine', is 'elsewhere'); evaluate" in error
    assert [file.read_bytes() for file in files] == before
    [told, *_] = run_command(*flags({**going_on, "rerun_review": True})).warnings
    assert "answers are to questions of other data (data_root was 'mine', is 'elsewhere'); they are scored by" in told


def test_data_that_moved_are_gone_on_with(run_command, tmp_path, data, endpoint):
    run_command(*flags(settings(endpoint)))
    asked = len(endpoint.requests)
    data.rename(tmp_path / "moved")
    moved = {"general_vmcq": {"local_path": "moved", "subset_list": ["colours"]}}
    done = run_command(*flags(settings(endpoint, dataset_args=moved, use_cache="out")))
    assert (done.status, done.warnings, len(endpoint.requests)) == (0, [], asked)


def test_answers_that_do_not_fit_are_not_mixed(run_command, data, endpoint):
    run_command(*flags(settings(endpoint)))
    done = run_command(*flags(settings(endpoint, use_cache="out", generation_config="temperature=0.7")))
    assert done.status == 2
    [error] = done.errors
    assert "temperature was 0, is 0.7" in error
    assert "rerun_review" in error
    assert len(endpoint.requests) == 4


def test_a_folder_that_another_run_writes_is_waited_for(run_command, tmp_path, data, endpoint):
    run_command(*flags(settings(endpoint)))
    with FileLock(tmp_path / "out/general_vmcq/.lock"):
        done = run_command(*flags(settings(endpoint, use_cache="out")))
    assert done.status == 2
    assert done.errors[0].endswith("another run is writing here; wait for its end")


def test_scoring_again_asks_nobody(run_command, tmp_path, data, endpoint):
    run_command(*flags(settings(endpoint)))
    write_jsonl(data / "colours.jsonl", *[{**CHOICE, "answer": letter} for letter in "AABB"])
    done = run_command(*flags(settings(endpoint, use_cache="out", rerun_review=True)))
    assert cells(done.stdout) == [["Accuracy ↑", "colours", "4", "50%"]]
    assert len(endpoint.requests) == 4
    assert read_json(tmp_path / "out/run.json")["model"]["model_name"] == "mock"


def test_the_command_that_scores_again_runs_as_it_is_printed(run_command, data, endpoint):
    first = run_command(*flags(settings(endpoint)))
    [line] = [line for line in first.stdout.splitlines() if line.startswith("Score again: flagevalmm ")]
    again = run_command(*line.removeprefix("Score again: flagevalmm ").split())
    assert cells(again.stdout) == ACCURACY
    assert len(endpoint.requests) == 4


def test_a_dry_run_reads_everything_and_calls_nothing(run_command, tmp_path, data, endpoint):
    with open(data / "colours.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps({**CHOICE, "image_1": "gone.png", "answer": "A"}) + "\n{broken\n")
        file.write(json.dumps({**CHOICE, "answer": None}) + "\n")
    done = run_command(*flags(settings(endpoint, dry_run=True, eval_batch_size=3)))
    lines = done.stdout.splitlines()
    assert lines[0] == "general_vmcq: 7 questions (colours 7)"
    assert lines[1] == "general_vmcq: media: 5 image"
    assert "general_vmcq: 2 bad rows" in lines
    assert any("colours.jsonl:5" in line and "gone.png" in line for line in lines)
    assert any("colours.jsonl:6" in line for line in lines)
    request = json.loads(done.stdout.partition("first request:\n")[2].rpartition("\n\n")[0])
    assert request["model"] == "mock"
    [image] = [part for part in request["messages"][0]["content"] if part["type"] == "image_url"]
    assert image["image_url"]["url"].startswith("data:image/png;base64,… (")
    assert done.status == 1
    assert endpoint.requests == []
    assert not (tmp_path / "out").exists()


def test_a_sound_dry_run_ends_with_0(run_command, data, endpoint):
    done = run_command(*flags(settings(endpoint, **VQA, dry_run=True)))
    assert done.status == 0
    assert done.stdout.splitlines()[0] == "general_vqa: 6 questions (cats 4, birds 2)"
    assert "general_vqa: media: none" in done.stdout


def test_a_failed_item_is_told_and_may_be_let_pass(run_command, data):
    bad = {"messages": 7, "answer": "x"}
    write_jsonl(data / "cats.jsonl", text_record("Cat"), bad)
    args = {"dataset_args": {"general_vqa": {"local_path": "mine", "subset_list": ["cats"]}}}
    with MockEndpoint(ANSWERS) as endpoint:
        given = settings(endpoint, datasets=["general_vqa"], **args)
        told = run_command(*flags(given))
        let_pass = run_command(*flags({**given, "work_dir": "again", "ignore_errors": True}))
        strict = run_command(*flags({**given, "work_dir": "strict", "strict": True}))
    assert (told.status, let_pass.status, strict.status) == (1, 0, 2)
    assert "1 failed (50.0%)" in told.stdout
    assert cells(told.stdout) == cells(let_pass.stdout)
    assert "cats.jsonl:2" in strict.errors[0]


def test_repeats_give_the_mean_and_pass_at_k(run_command, tmp_path, data):
    write_jsonl(tmp_path / "mine/colours.jsonl", *[{**CHOICE, "question": f"{n}?", "answer": "A"} for n in range(4)])
    times = Counter()

    def reply(request):  # whatever the order of questions: first A, then B
        times[request.text] += 1
        return by_question({}, default=f"ANSWER: {' AB'[times[request.text]]}")(request)

    with MockEndpoint(reply) as endpoint:
        done = run_command(*flags(settings(endpoint, repeats=2, eval_batch_size=1)))
    assert cells(done.stdout) == [["Accuracy ↑", "colours", "4", "50%"]]
    repeats = read_json(tmp_path / "out/general_vmcq/general_vmcq_result.json")["repeats"]
    assert repeats["pass_at_k"] == {"1": 50.0, "2": 100.0}


def test_answers_that_mean_one_option_are_scored_and_others_are_told(run_command, tmp_path):
    answers = ["(B)", "b.", "dog", "B) dog", ["b"], 1, "cow"]
    records = [{"question": f"Q{n}?", "options": ["cat", "dog"], "answer": each} for n, each in enumerate(answers)]
    write_jsonl(tmp_path / "mine" / "colours.jsonl", *records)
    with MockEndpoint("ANSWER: B") as endpoint:
        done = run_command(*flags(settings(endpoint)))
    assert done.status == 1
    assert cells(done.stdout) == [["Accuracy ↑", "colours", "5", "100%"]]
    assert "2 questions count as unscored, because no reply can equal their answer; the first is" in done.warnings[0]
    entries = read_json(tmp_path / "out/general_vmcq/general_vmcq_evaluated.json")
    assert [entry["label"] for entry in entries] == ["B", "B", "B", "B", "B", "1", "cow"]
    rules = ["marked_label", "marked_label", "option_text", "marked_label", None, None, None]
    assert [entry.get("label_rule") for entry in entries] == rules


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"datasets": ["general_vqaa"]}, r"general_vqaa: no such task file.*Did you mean 'general_vqa"),
        ({"judge": '{"models": '}, "--judge: not valid JSON"),
        ({"config": "nowhere.yaml"}, "nowhere.yaml: no such file"),
        ({"generation_config": "temprature=1"}, r"generation_config: unknown key 'temprature'\. Did you mean"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(run_command, data, endpoint, changes, message):
    done = run_command(*flags(settings(endpoint, **changes)))
    assert done.status == 2
    assert len(done.errors) == 1, done.stderr
    assert re.search(message, done.errors[0])
    assert endpoint.requests == []


def test_flags_without_a_meaning_are_taken_with_one_warning(run_command, data, endpoint):
    done = run_command(
        *flags(settings(endpoint)), "--dataset-hub", "modelscope", "--analysis-report", "--no-collect-perf"
    )
    assert done.status == 0
    assert done.warnings == ["command line: analysis_report, collect_perf, dataset_hub: no meaning here, left out"]


READABLE = [
    "They agree.\nVERDICT: CORRECT",
    "**Verdict: correct**",
    '{"reasoning": "the same", "verdict": "A"}',
    '```json\n{"verdict": "A"}\n```',
    "VERDICT: CORRECT<|im_end|>",
    "They differ.\nVERDICT: INCORRECT",
]


@pytest.mark.parametrize("strategy", ["llm", "auto"])
def test_whatever_form_its_verdicts_have_a_judge_s_accuracy_is_over_all_rows(run_command, data, strategy):
    for name, first in (("cats", 0), ("birds", 4)):
        rows = [text_record(f"word {number}") for number in range(6)][first : first + (4 if name == "cats" else 2)]
        write_jsonl(data / f"{name}.jsonl", *rows)
    verdicts = by_question({f"word {number}": said for number, said in enumerate(READABLE)})
    with MockEndpoint("a word") as model, MockEndpoint(verdicts) as judge:
        asked = {"strategy": strategy, "models": {"model_id": "j", "api_url": judge.url, "api_key": "EMPTY"}}
        done = run_command(*flags(settings(model, judge=asked, **VQA)))
    assert done.status == 0, done.stderr
    assert cells(done.stdout) == [
        ["Accuracy ↑", "cats", "4", "100%"],
        ["Accuracy ↑", "birds", "2", "50%"],
        ["Accuracy ↑", "OVERALL", "6", "83.3%"],
    ]


def test_no_key_reaches_a_file_or_the_log(run_command, tmp_path, data):
    judge = {"strategy": "llm", "models": {"model_id": "j", "api_key": "sk-judge-1234"}}
    with MockEndpoint(lambda request: error_reply(401, f"bad key {request.headers['authorization']}")) as endpoint:
        judge["models"]["api_url"] = endpoint.url
        done = run_command(*flags(settings(endpoint, api_key="sk-model-1234", judge=judge, debug=True)))
    assert done.status == 2
    written = "".join(path.read_text(errors="replace") for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert "1234" not in done.stderr + done.stdout + written


def test_media_from_elsewhere_need_leave(run_command, tmp_path, data, endpoint):
    write_media(tmp_path / "elsewhere", "dot.png")
    write_jsonl(data / "colours.jsonl", {**CHOICE, "image_1": str(tmp_path / "elsewhere/dot.png"), "answer": "A"})
    (tmp_path / "here").mkdir()
    run_command.folder = tmp_path / "here"
    args = {"general_vmcq": {"local_path": str(data), "subset_list": ["colours"]}}
    refused = run_command(*flags(settings(endpoint, dataset_args=args)))
    allowed = run_command(
        *flags(settings(endpoint, dataset_args=args, work_dir="b")), "--allow-media-root", str(tmp_path / "elsewhere")
    )
    assert (refused.status, allowed.status) == (1, 0)
    assert "--allow-media-root" in refused.stderr
