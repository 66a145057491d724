"""Items of every kind and number: none, one, broken pictures, odd names, repeats."""

from __future__ import annotations

import pytest

from tests.end_to_end.folders import (
    answers_by_id,
    choice,
    choices,
    counts_of,
    files_under,
    read_json,
    read_lines,
    result_of,
    write_model,
    write_picture,
    write_task,
)
from tests.servers import MockEndpoint, by_question, error_reply, sequence


@pytest.fixture(scope="module")
def broken_run(module_command):
    """Three sound items among four whose pictures cannot be sent."""
    folder = module_command.folder
    pictures = {"sound": "sound.jpg", "text": "page.jpg", "cut": "cut.png", "gone": "gone.jpg", "empty": "empty.png"}
    items = [choice(name, f"{name}?", img_path=f"img/{file}") for name, file in pictures.items()]
    task = write_task(folder / "task", [*items, choice("two", "two?", img_path=["img/a.png", "img/b.jpg"])])
    data = folder / "task" / "data" / "img"
    (data / "page.jpg").write_text("<html>404</html>")
    sound = write_picture(data / "cut.png", size=(300, 200)).read_bytes()
    (data / "cut.png").write_bytes(sound[: len(sound) // 2])
    (data / "gone.jpg").unlink()
    (data / "empty.png").write_bytes(b"")
    with MockEndpoint() as endpoint:
        model = write_model(folder / "model.json", endpoint.url, num_workers=2)
        done = module_command("--tasks", task, "--cfg", model, "--output-dir", "out")
        asked = sorted(request.text.split("?")[0].removeprefix("<image 1> ").strip() for request in endpoint.requests)
    return done, asked, answers_by_id(folder / "out"), data


@pytest.mark.parametrize(("name", "file"), [("text", "page.jpg"), ("cut", "cut.png"), ("gone", "gone.jpg")])
def test_a_broken_picture_is_one_failed_item_that_names_the_file(broken_run, name, file):
    _, _, answers, data = broken_run
    entry = answers[name]
    assert (entry["status"], entry["answer"], entry["error"]["kind"]) == ("failed", "", "media")
    assert str(data / file) in entry["error"]["message"]


def test_the_sound_items_beside_them_are_asked(broken_run):
    done, asked, answers, _ = broken_run
    assert done.status == 1
    assert done.errors == []
    assert asked == ["sound", "two"]
    assert [name for name, entry in answers.items() if entry["status"] == "ok"] == ["sound", "two"]


ODD_NAME = "../odd/名 字 " + "x" * 300


@pytest.fixture(scope="module")
def run_of_sizes(module_command):
    """Three tasks in one command: no items, one item, and odd names; (finished command, questions asked, results)."""
    folder = module_command.folder / "sizes"
    tasks = [write_task(folder / name, choices(count), name=name) for name, count in (("none", 0), ("one", 1))]
    odd = [choice("a/../b", "Which?"), choice("名" * 300, "What?")]
    tasks.append(write_task(folder / "odd", odd, name="odd"))
    tasks[-1].write_text(tasks[-1].read_text().replace("name='odd'", f"name={ODD_NAME!r}"))
    with MockEndpoint() as endpoint:
        done = module_command("--tasks", *tasks, "--model", "m", "--url", endpoint.url, "--output-dir", "sizes/out")
        return done, len(endpoint.requests), folder / "out"


def test_tasks_of_all_sizes_are_run(run_of_sizes):
    done, asked, _ = run_of_sizes
    assert asked == 3
    assert done.warnings == []


def test_no_items_are_a_result_without_a_score_and_no_success(run_of_sizes):
    done, _, out = run_of_sizes
    assert done.status == 2
    [error] = done.errors
    assert "none: " in error
    assert "none.py: dataset: no question is in it, so there is no score; look at its data" in error
    assert result_of(out, "none")["accuracy"] is None
    assert counts_of(out, "none") == {}
    assert "none: WARNING: nothing was asked" in done.stdout
    assert read_json(out / "none/none.json") == []


def test_one_item_is_a_whole_run(run_of_sizes):
    done, _, out = run_of_sizes
    assert counts_of(out, "one") == {"total": 1, "asked": 1, "answered": 1}
    assert "one: all 1 answered" in done.stdout


def test_tasks_and_items_may_have_any_name(run_of_sizes):
    _, _, out = run_of_sizes
    [folder] = [path for path in out.iterdir() if path.is_dir() and path.name not in ("none", "one")]
    assert len([name for name in files_under(folder) if name != ".lock"]) == 5
    ids = [line["question_id"] for line in read_lines(folder / "predictions.jsonl")]
    assert sorted(ids) == ["a/../b", "名" * 300]
    assert files_under(out.parent)[0].startswith("none/")  # nothing beside the three folders and `out`


def test_repeats_are_kept_as_inferences_and_scored_as_means(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(2))
    script = {"Question 1?": sequence(["B", "A", "B"]), "Question 2?": sequence(["B", error_reply(400, "no"), "B"])}
    with MockEndpoint(by_question(script)) as endpoint:
        model = write_model(tmp_path / "model.json", endpoint.url, num_infers=3, num_workers=1, seed=7)
        done = run_command("--tasks", task, "--cfg", model, "--output-dir", "out")
        seeds = [request.body["seed"] for request in endpoint.requests]
        temperatures = {request.body["temperature"] for request in endpoint.requests}
    assert done.status == 1
    assert (sorted(seeds), temperatures) == ([7, 7, 8, 8, 9, 9], {1})
    first, second = answers_by_id(tmp_path / "out").values()
    assert first["answer"] == {"inference_0": "B", "inference_1": "A", "inference_2": "B"}
    assert second["answer"] == {"inference_0": "B", "inference_1": "", "inference_2": "B"}
    assert (first["status"], second["status"]) == ("ok", "failed")
    assert second["statuses"] == ["ok", "failed", "ok"]
    result = result_of(tmp_path / "out")
    assert result["num_infers"] == 3
    assert result["accuracy"] == pytest.approx(66.67)
    assert result["accuracy_answered"] == 80.0
    assert counts_of(tmp_path / "out") == {"total": 6, "asked": 6, "answered": 5, "failed": 1}
    entries = read_json(tmp_path / "out/colours/colours_evaluated.json")
    assert [entry["inference_scores"] for entry in entries] == [[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]]


def test_use_cache_gives_known_replies_to_other_directories_and_failures_none(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(3, img_path="one.png"))
    script = by_question({"Question 2?": sequence([error_reply(400, "no"), "B"])}, default="B")
    with MockEndpoint(script) as endpoint:
        flags = ("--tasks", task, "--model", "m", "--url", endpoint.url, "--use-cache")
        first = run_command(*flags, "--output-dir", "one")
        second = run_command(*flags, "--output-dir", "two")
        assert (first.status, second.status) == (1, 0)
        assert len(endpoint.requests) == 4
    one, two = answers_by_id(tmp_path / "one"), answers_by_id(tmp_path / "two")
    assert one["1"]["request"] == two["1"]["request"]
    assert {entry["answer"] for entry in two.values()} == {"B"}


def test_the_random_model_guesses_by_the_question_s_id_alone(run_command, tmp_path):
    yes_no = {"question_id": "y", "question": "Is it?", "question_type": "yes-no", "answer": "yes"}
    tasks = [write_task(tmp_path / name, [*choices(30), yes_no], name=name) for name in ("first", "second")]
    done = run_command("--tasks", *tasks, "--model-type", "random", "--output-dir", "out")
    assert done.status == 0
    first, second = (
        {question: entry["answer"] for question, entry in answers_by_id(tmp_path / "out", name).items()}
        for name in ("first", "second")
    )
    assert first == second
    assert {answer for question, answer in first.items() if question != "y"} == {"A", "B", "C"}
    assert first["y"] in ("yes", "no")


def test_the_scripted_model_answers_from_a_file_and_writes_down_what_it_was_asked(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(3, img_path="one.png"))
    (tmp_path / "answers.jsonl").write_text(
        '{"question_id": 1, "answer": "B"}\n{"question_id": "2", "answer": "<think>C?</think>B"}\n'
    )
    settings = {"model_type": "scripted", "answers": "answers.jsonl", "record": "asked.jsonl"}
    model = write_model(tmp_path / "model.json", None, **settings)
    done = run_command("--tasks", task, "--cfg", model, "--output-dir", "out")
    assert done.status == 1
    answers = answers_by_id(tmp_path / "out")
    assert [entry["answer"] for entry in answers.values()] == ["B", "B", ""]
    assert answers["2"]["reason"] == "C?"
    assert "no scripted answer for question_id '3'" in answers["3"]["error"]["message"]
    asked = read_lines(tmp_path / "asked.jsonl")
    assert sorted(line["question_id"] for line in asked) == ["1", "2", "3"]
    kinds = [part["type"] for part in asked[0]["messages"][0]["content"]]
    assert kinds == ["image", "text"]


UNFIT = [
    choice("label", "Which?", answer="E"),
    choice("text", "Which?", answer="purple"),
    choice("list", "Which?", answer=["E", "F"]),
    choice("several", "Which?", answer="AE", question_type="multiple-response"),
    {"question_id": "yes", "question": "Is it?", "question_type": "yes-no", "answer": "perhaps"},
]


@pytest.mark.parametrize("evaluator", ["dict(type='BaseEvaluator')", "dict(type='BaseEvaluator', is_clean=False)"])
def test_references_that_no_reply_can_equal_are_told_and_counted(run_command, tmp_path, evaluator):
    items = [*UNFIT, choice("sound", "Which?"), choice("none", "Which?", answer="")]
    task = write_task(tmp_path / "task", items, evaluator=evaluator)
    with MockEndpoint() as endpoint:
        done = run_command("--tasks", task, "--model", "m", "--url", endpoint.url, "--output-dir", "out")
    result = result_of(tmp_path / "out")
    assert (done.status, result["accuracy"], result["n"]) == (1, 100, 1)
    assert (result["unfit_references"], result["counts"]["unscored"]) == (5, 6)
    [told] = done.warnings
    assert told.startswith("5 questions count as unscored, because no reply can equal their answer; the first is ")
    assert told.endswith("question_id 'label' with answer 'E'")
    assert "unfit" not in done.stdout


def test_a_result_tells_of_no_unfit_references_where_there_are_none(run_of_sizes):
    _, _, out = run_of_sizes
    assert "unfit_references" not in result_of(out, "one")
