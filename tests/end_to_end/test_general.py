"""`--tasks general_vqa` and `general_vmcq` on a person's own folder: flags, failed rows, limits, scores, resume."""

from __future__ import annotations

import re

import pytest

from tests.dataset.general.tables import asked, user, write_jsonl, write_media
from tests.end_to_end.folders import answers_by_id, choices, counts_of, result_of, write_model, write_task
from tests.servers import MockEndpoint, by_question

COLOURS = ["red", "green", "blue", "white"]


@pytest.fixture
def folder(tmp_path):
    """Two subsets of General-VQA with a picture for each row."""
    write_media(tmp_path / "data", *(f"{colour}.png" for colour in COLOURS))
    for name in ("a", "b"):
        rows = [asked(f"{name} {colour}? <image 1>", image_1=f"{colour}.png") for colour in COLOURS]
        write_jsonl(tmp_path / "data" / f"{name}.jsonl", *[{**row, "answer": "a colour"} for row in rows])
    return tmp_path


@pytest.fixture
def endpoint():
    with MockEndpoint("a colour") as endpoint:
        yield endpoint


def run(command, endpoint, *arguments, task="general_vqa", output="out"):
    model = write_model(command.folder / "model.json", endpoint.url)
    return command("--tasks", task, "--cfg", model, "--output-dir", output, *arguments)


def asked_texts(endpoint):
    return sorted(request.text.strip() for request in endpoint.requests)


def test_a_folder_with_two_subsets_is_asked_and_scored_by_the_installed_task(run_command, folder, endpoint):
    done = run(run_command, endpoint, "--data-root", "data", "--subset", "a", "b")
    assert done.status == 0, done.stderr
    assert asked_texts(endpoint) == sorted(f"{name} {colour}?" for name in "ab" for colour in COLOURS)
    assert all(url.startswith("data:image/png;base64,") for request in endpoint.requests for url in request.image_urls)
    result = result_of(folder / "out", "general_vqa")
    assert result["counts"]["answered"] == 8
    assert set(result["groups"]["subset"]) == {"a", "b"}
    assert set(answers_by_id(folder / "out", "general_vqa")) == {
        f"{name}/{number}" for name in "ab" for number in range(4)
    }


@pytest.mark.parametrize(
    ("limit", "ids"),
    [("1", ["a/0", "b/0"]), ("0.5", ["a/0", "a/1", "b/0", "b/1"]), ("0.3", ["a/0", "b/0"])],
)
def test_a_limit_is_for_each_subset(run_command, folder, endpoint, limit, ids):
    done = run(run_command, endpoint, "--data-root", "data", "--limit", limit)
    assert done.status == 0, done.stderr
    assert list(answers_by_id(folder / "out", "general_vqa")) == ids
    assert result_of(folder / "out", "general_vqa")["partial"] == f"{len(ids)} of 8 questions (limit {limit})"


def test_a_fraction_of_another_task_is_of_all_its_questions(run_command, tmp_path, endpoint):
    task = write_task(tmp_path / "task", choices(7))
    done = run(run_command, endpoint, "--limit", "0.5", task=task)
    assert done.status == 0, done.stderr
    assert list(answers_by_id(tmp_path / "out")) == ["1", "2", "3"]


def test_a_second_run_asks_nothing_and_a_changed_row_again(run_command, folder, endpoint):
    arguments = ("--data-root", "data", "--subset", "a")
    assert run(run_command, endpoint, *arguments).status == 0
    assert run(run_command, endpoint, *arguments).status == 0
    assert len(endpoint.requests) == 4
    write_media(folder / "data", "other.png")
    (folder / "data" / "other.png").replace(folder / "data" / "red.png")
    assert run(run_command, endpoint, *arguments).status == 0
    assert [request.text.strip() for request in endpoint.requests[4:]] == ["a red?"]


def test_bad_rows_are_failed_items_and_count(run_command, tmp_path, endpoint):
    write_jsonl(
        tmp_path / "t.jsonl", {**asked("good"), "answer": "a colour"}, '{"messages": ', {"messages": 7, "answer": "x"},
        {"messages": [user("not scored")]}, asked("<image 1>", image_1="nowhere.png"),
    )  # fmt: skip
    done = run(run_command, endpoint, "--data-root", "t.jsonl")
    assert done.status == 1
    assert counts_of(tmp_path / "out", "general_vqa") == {
        "total": 5, "asked": 5, "answered": 2, "failed": 3, "unscored": 1,
    }  # fmt: skip
    errors = {key: entry["error"] for key, entry in answers_by_id(tmp_path / "out", "general_vqa").items()}
    assert errors["0"] is errors["3"] is None
    assert {errors[key]["kind"] for key in ("1", "2", "4")} == {"data"}
    for key, line in (("1", 2), ("2", 3), ("4", 5)):
        assert errors[key]["message"].startswith(f"t.jsonl:{line}:")
    result = result_of(tmp_path / "out", "general_vqa")
    assert result["counts"]["asked"] - result["counts"]["unscored"] == 4
    assert result["Rouge-L-R"] == pytest.approx(0.25)


def test_strict_stops_before_anything_is_asked(run_command, tmp_path, endpoint):
    write_jsonl(tmp_path / "t.jsonl", asked("good"), asked("good too"), {"messages": 7})
    done = run(run_command, endpoint, "--data-root", "t.jsonl", "--strict")
    assert done.status == 2
    assert endpoint.requests == []
    [error] = done.errors
    assert "t.jsonl:3: messages: expected a list of messages" in error
    assert run(run_command, endpoint, "--data-root", "t.jsonl", "--strict", "--limit", "2").status == 0


def test_media_elsewhere_need_leave(run_command, tmp_path, tmp_path_factory, endpoint):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    write_media(elsewhere, "a.png")
    write_jsonl(tmp_path / "t.jsonl", asked("<image 1>", image_1=str(elsewhere / "a.png")))
    assert run(run_command, endpoint, "--data-root", "t.jsonl").status == 1
    assert endpoint.requests == []
    done = run(run_command, endpoint, "--data-root", "t.jsonl", "--allow-media-root", elsewhere)
    assert done.status == 0, done.stderr
    assert len(endpoint.requests[0].image_urls) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--subset", "a"], "VqaBaseDataset knows no --subset"),
        (["--strict"], "VqaBaseDataset knows no --strict"),
    ],
)
def test_a_flag_that_a_task_cannot_follow_is_an_error_that_names_the_task(
    run_command, tmp_path, endpoint, arguments, message
):
    task = write_task(tmp_path / "task", choices(1))
    done = run(run_command, endpoint, *arguments, task=task)
    assert done.status == 2
    [error] = done.errors
    assert f"{task}: dataset: {message}" in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "where are the data? give --data-root DIR"),
        (["--data-root", "nowhere"], "nowhere: no such file or folder"),
        (["--data-root", "data", "--subset", "c"], "no file for the subset 'c'"),
        (["--data-root", "data", "--try-run", "--limit", "0.5"], "--try-run asks a fixed number"),
    ],
)
def test_wrong_input_is_one_line(run_command, folder, endpoint, arguments, message):
    done = run(run_command, endpoint, *arguments)
    assert done.status == 2
    [error] = done.errors
    assert message in error


def test_a_system_prompt_of_the_record_goes_before_that_of_the_model_file(run_command, tmp_path, endpoint):
    own = {"messages": [{"role": "system", "content": "Own."}, user("one")], "answer": "x"}
    write_jsonl(tmp_path / "t.jsonl", own, asked("two"))
    model = write_model(tmp_path / "model.json", endpoint.url, system_prompt="Be brief.")
    assert (
        run_command("--tasks", "general_vqa", "--data-root", "t.jsonl", "--cfg", model, "--output-dir", "out").status
        == 0
    )
    systems = {request.text: request.body["messages"][0]["content"] for request in endpoint.requests}
    assert systems == {"one": "Own.", "two": "Be brief."}


def test_tool_turns_arrive_as_they_are(run_command, tmp_path, endpoint):
    calls = [{"id": "c1", "type": "function", "function": {"name": "zoom", "arguments": "{}"}}]
    conversation = [
        user("zoom"),
        {"role": "assistant", "content": "ok", "tool_calls": calls},
        {"role": "tool", "content": "done", "tool_call_id": "c1"},
    ]
    write_jsonl(tmp_path / "t.jsonl", {"messages": conversation, "answer": "x"})
    assert run(run_command, endpoint, "--data-root", "t.jsonl").status == 0
    assert endpoint.requests[0].body["messages"] == conversation


def test_shuffled_choices_are_scored_by_the_same_shuffle(run_command, tmp_path):
    rows = [{"question": f"Q{n}", "options": ["right", "wrong", "bad", "no"], "answer": "A"} for n in range(12)]
    write_jsonl(tmp_path / "t.jsonl", *rows)
    (tmp_path / "task.py").write_text(
        "dataset = dict(type='GeneralVmcqDataset', name='own', data_root='t.jsonl', shuffle_choices=True)\n"
        "evaluator = dict(type='BaseEvaluator')\n"
    )

    def pick(request):
        return by_question({"Q": f"ANSWER: {re.search(r'(?m)^(.)[)] right$', request.text)[1]}"})(request)

    with MockEndpoint(pick) as endpoint:
        done = run(run_command, endpoint, task="task.py")
    assert done.status == 0, done.stderr
    assert result_of(tmp_path / "out", "own")["accuracy"] == 100
    letters = {entry["answer"] for entry in answers_by_id(tmp_path / "out", "own").values()}
    assert len(letters) > 1


def test_the_check_command_knows_these_data_sets(run_command, folder):
    done = run_command("check", "general_vqa", "--data-root", "data")
    assert done.status == 0, done.stderr
    assert "a red? <image 1>" in done.stdout
