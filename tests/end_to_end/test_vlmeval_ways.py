"""Ways to use VLMEvalKit's names, flags and files: reuse, modes, files that it wrote itself, check, export."""

from __future__ import annotations

import json

import pandas
import pytest

from tests.end_to_end.folders import choices, read_json, write_model, write_picture, write_task
from tests.servers import MockEndpoint, Reply, by_question, error_reply

TABLE = """index\thint\tquestion\tA\tB\tanswer\tcategory
1\t\tWhich is first?\tred\tblue\tA\tc1
2\tlook\tWhich is second?\tNone\t007\tB\tc1
3\t\tWhich is third?\tx\ty\tA\tc2
"""
FLAGS = ("vlmeval", "--data", "colours", "--model", "m")


@pytest.fixture
def place(run_command):
    data = run_command.folder / "home" / "LMUData"
    data.mkdir(parents=True)
    (data / "colours.tsv").write_text(TABLE, encoding="utf-8")
    return run_command


@pytest.fixture
def endpoint():
    with MockEndpoint(by_question({"first": "A", "second": "B", "third": "B"})) as endpoint:
        yield endpoint


def runs(place, model: str = "m") -> list[str]:
    return sorted(path.name for path in (place.folder / "outputs" / model).glob("T*"))


def test_a_second_run_asks_all_again_into_a_folder_of_its_own(place, endpoint):
    for _ in range(2):
        assert place(*FLAGS, "--base-url", endpoint.url).status == 0
    assert len(endpoint.requests) == 6
    assert len(runs(place)) == 2
    link = place.folder / "outputs" / "m" / "m_colours.xlsx"
    assert link.resolve().parent.name == runs(place)[-1]


def test_with_reuse_only_what_failed_is_asked_again(place):
    with MockEndpoint(by_question({"first": "A", "second": "B", "third": error_reply(400, "no")})) as endpoint:
        failed = place(*FLAGS, "--base-url", endpoint.url)
        assert failed.status == 1
        assert "33.33% (1/3)" in failed.stdout
        kept = place(*FLAGS, "--base-url", endpoint.url, "--reuse", "--keep-failed")
        assert (kept.status, len(endpoint.requests)) == (1, 3)
        again = place(*FLAGS, "--base-url", endpoint.url, "--reuse")
        assert (again.status, len(endpoint.requests)) == (1, 4)
    assert len(runs(place)) == 1
    frame = pandas.read_excel(place.folder / "outputs" / "m" / "m_colours.xlsx")
    assert frame["prediction"].tolist() == ["A", "B", "Failed to obtain answer via API."]


def test_reuse_with_other_settings_says_what_differs_and_what_to_leave_out(place, endpoint):
    place(*FLAGS, "--base-url", endpoint.url)
    done = place(*FLAGS, "--base-url", endpoint.url, "--reuse", "--temperature", "0.5")
    assert done.status == 2
    [error] = done.errors
    assert "temperature was 0, is 0.5" in error or "temperature was None, is 0.5" in error
    assert "leave --reuse out" in error


def test_mode_infer_asks_and_mode_eval_scores_without_asking(place, endpoint):
    asked = place(*FLAGS, "--base-url", endpoint.url, "--mode", "infer")
    assert asked.status == 0
    assert "not scored" in asked.stdout
    assert not (place.folder / "outputs" / "m" / "m_colours_acc.csv").exists()
    scored = place(*FLAGS, "--base-url", endpoint.url, "--mode", "eval")
    assert (scored.status, len(endpoint.requests)) == (0, 3)
    text = (place.folder / "outputs" / "m" / "m_colours_acc.csv").read_text()
    assert text.splitlines() == ['"split","Overall","c1","c2"', '"none","0.6666666666666666","1.0","0.0"']


def test_mode_eval_scores_the_sheet_that_vlmevalkit_left(place):
    folder = place.folder / "outputs" / "GPT4o" / "T20260101-000000"
    folder.mkdir(parents=True)
    frame = pandas.DataFrame(
        {"index": [1, 2, 3], "prediction": ["A", "Failed to obtain answer via API. ", "A"], "question": ["?"] * 3}
    )
    frame.to_excel(folder / "GPT4o_colours.xlsx", index=False)
    done = place("vlmeval", "--data", "colours", "--model", "GPT4o", "--mode", "eval")
    assert done.status == 1
    assert "33.33% (1/3)" in done.stdout
    assert "Overall  0.6666666666666666" in done.stdout
    [warning] = [each for each in done.warnings if "another question" in each]
    assert "3 of 3 rows" in warning


def test_mode_eval_without_predictions_says_to_infer_first(place):
    done = place("vlmeval", "--data", "colours", "--model", "GPT4o", "--mode", "eval")
    assert done.status == 2
    assert "run --mode infer first" in done.errors[0]
    assert "run --mode infer first" in done.stdout


@pytest.mark.parametrize("kind", ["tsv", "json"])
def test_other_formats_and_the_thinking_are_written_where_the_variables_say(place, kind):
    with MockEndpoint(lambda request: Reply(text="<think>red?\tblue?</think>A")) as endpoint:
        done = place(*FLAGS, "--base-url", endpoint.url, PRED_FORMAT=kind, SPLIT_THINK="True")
    assert done.status == 0, done.stderr
    path = place.folder / "outputs" / "m" / f"m_colours.{kind}"
    frame = pandas.read_csv(path, sep="\t") if kind == "tsv" else pandas.DataFrame(json.loads(path.read_text()))
    assert list(frame)[-2:] == ["prediction", "thinking"]
    assert set(frame["prediction"]) == {"A"}
    assert set(frame["thinking"]) == {"red?\tblue?"}


def test_an_unknown_format_is_told_with_those_that_are_known(place, endpoint):
    done = place(*FLAGS, "--base-url", endpoint.url, PRED_FORMAT="csv")
    assert done.status == 2
    assert done.errors == ["PRED_FORMAT: expected one of xlsx, tsv, json, found 'csv'"]
    assert endpoint.requests == []


def test_no_key_of_a_flag_is_written_anywhere(place, endpoint):
    keys = ["sk-model-1111", "sk-judge-2222", "sk-args-3333"]
    done = place(
        *FLAGS, "--base-url", endpoint.url, "--key", keys[0], "--judge", "j", "--judge-base-url", endpoint.url,
        f"--judge-key={keys[1]}", "--judge-args", json.dumps({"key": keys[2]}), "--debug",
    )  # fmt: skip
    assert done.status == 0, done.stderr
    written = [path.read_bytes() for path in (place.folder / "outputs").rglob("*") if path.is_file()]
    shown = [done.stdout.encode(), done.stderr.encode()]
    assert [key for key in keys for text in (*written, *shown) if key.encode() in text] == []


def test_a_person_s_own_file_of_that_name_is_left_alone(place, endpoint):
    own = place.folder / "outputs" / "m" / "m_colours.xlsx"
    own.parent.mkdir(parents=True)
    own.write_text("mine", encoding="utf-8")
    done = place(*FLAGS, "--base-url", endpoint.url)
    assert done.status == 0
    assert own.read_text() == "mine"
    assert any("is left as it is" in each for each in done.warnings)


def test_check_asks_about_a_picture_and_without_one(place, endpoint):
    with MockEndpoint(by_question({"circle": "Red", "2 + 3": "5"})) as local:
        done = place("vlmeval", "check", "GPT4o", OPENAI_API_BASE=local.url, OPENAI_API_KEY="sk-checked")
        pictures = [len(request.image_urls) for request in local.requests]
    assert done.status == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "Model: GPT4o"
    assert lines[1].endswith("-> Red")
    assert lines[2].endswith("-> 5")
    assert pictures == [1, 0]


def test_check_tells_of_a_model_that_does_not_answer(place):
    with MockEndpoint(error_reply(401, "wrong key sk-checked")) as local:
        done = place("vlmeval", "check", "GPT4o", OPENAI_API_BASE=local.url, OPENAI_API_KEY="sk-checked")
    assert done.status == 1
    assert "401" in done.stdout
    assert "sk-checked" not in done.stdout + done.stderr


def test_flags_without_a_meaning_are_told_in_one_line(place, endpoint):
    done = place(*FLAGS, "--base-url", endpoint.url, "--use-vllm", "--reuse-aux", "infer", "--api-mode", "--ignore")
    assert done.status == 0
    [warning] = done.warnings
    assert warning == "command line: reuse_aux, use_vllm, ignore, api_mode: no meaning here, left out"


def test_a_table_is_named_by_its_path_and_a_task_by_its_name(place, endpoint):
    table = place.folder / "home" / "LMUData" / "colours.tsv"
    other = table.rename(place.folder / "other.tsv")
    done = place("vlmeval", "--data", other, "demo/ocr", "--model", "m", "--base-url", endpoint.url, "--limit", 1)
    assert done.status in (0, 1), done.stderr
    assert (place.folder / "outputs" / "m" / "m_other.xlsx").is_file()
    assert (place.folder / "outputs" / "m" / "m_demo_ocr.xlsx").is_file()


def test_an_unknown_table_says_where_it_was_looked_for(place):
    done = place("vlmeval", "--data", "nothing", "--model", "GPT4o")
    assert done.status == 2
    assert "no table" in done.errors[0]
    assert "LMUData/nothing.tsv" in done.errors[0]


def test_a_model_file_works_by_its_path_and_flags_go_before_it(place, endpoint):
    write_model(place.folder / "mine.json", endpoint.url, max_tokens=7)
    done = place("vlmeval", "--data", "colours", "--model", "mine.json", "--temperature", "0.5", "--work-dir", "w")
    assert done.status == 0, done.stderr
    assert {(request.body["max_tokens"], request.body["temperature"]) for request in endpoint.requests} == {(7, 0.5)}
    assert len(list((place.folder / "w" / "mine").glob("mine_colours.xlsx"))) == 1


def test_two_models_have_folders_of_their_own(place, endpoint):
    done = place("vlmeval", "--data", "colours", "--model", "m1", "m2", "--base-url", endpoint.url)
    assert done.status == 0
    assert {request.body["model"] for request in endpoint.requests} == {"m1", "m2"}
    for name in ("m1", "m2"):
        assert (place.folder / "outputs" / name / f"{name}_colours_acc.csv").is_file()


def test_export_writes_the_files_beside_a_run_s_own(run_command):
    items = choices(3, img_path="img/1.png")
    write_picture(run_command.folder / "t" / "data" / "img" / "1.png")
    task = write_task(run_command.folder / "t", items)
    with MockEndpoint(Reply(text="B")) as endpoint:
        model = write_model(run_command.folder / "model.json", endpoint.url)
        done = run_command("--tasks", task, "--cfg", model, "--output-dir", "out", "--export", "vlmevalkit")
    assert done.status == 0, done.stderr
    frame = pandas.read_excel(run_command.folder / "out" / "mock-model_colours.xlsx")
    assert list(frame) == ["index", "question", "A", "B", "C", "answer", "prediction"]
    assert frame["prediction"].tolist() == ["B"] * 3
    again = run_command("--tasks", task, "-wi", "--output-dir", "out", "--export", "vlmevalkit", PRED_FORMAT="json")
    assert again.status == 0, again.stderr
    assert read_json(run_command.folder / "out" / "mock-model_colours.json")[2]["index"] == 3


def test_score_takes_a_file_whose_rows_are_in_another_order_and_fewer(place):
    frame = pandas.DataFrame({"index": [3, 1], "prediction": ["A", "B"]})
    frame.to_csv(place.folder / "p.tsv", sep="\t", index=False)
    done = place("score", "--predictions", "p.tsv", "--data", "colours")
    assert done.status == 0, done.stderr
    assert "2 of 3 questions" in done.stdout
    assert (place.folder / "results" / "p" / "p_acc.csv").read_text().splitlines()[1] == '"none","0.5","0.0","1.0"'


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"index": 7, "prediction": "A"}], "none of its 1 indices is one of colours's, such as '1'; the first is '7'"),
        ([{"prediction": "A"}], "no column 'index'"),
    ],
)
def test_score_refuses_a_file_of_another_table(place, rows, message):
    (place.folder / "p.json").write_text(json.dumps(rows), encoding="utf-8")
    done = place("score", "--predictions", "p.json", "--data", "colours")
    assert done.status == 2
    assert message in done.errors[0]


def test_score_leaves_out_rows_that_are_of_no_question_and_tells(place):
    rows = [{"index": 1, "prediction": "A"}, {"index": 9, "prediction": "A"}]
    (place.folder / "p.json").write_text(json.dumps(rows), encoding="utf-8")
    done = place("score", "--predictions", "p.json", "--data", "colours")
    assert done.status == 0
    assert any("1 rows are of no question of colours" in each and "'9'" in each for each in done.warnings)


def test_score_does_not_write_over_the_answers_of_a_run(place, endpoint):
    place(*FLAGS, "--base-url", endpoint.url)
    [folder] = (place.folder / "outputs" / "m").glob("T*")
    done = place("score", "--predictions", folder / "m_colours.xlsx", "--data", "colours", "--output-dir", folder)
    assert done.status == 2
    assert "give another --output-dir" in done.errors[0]


def test_the_judge_goes_through_the_proxy_of_evaluation(place, endpoint):
    with MockEndpoint(Reply(text="CHOICE: A")) as proxy, MockEndpoint(Reply(text="Anything could be.")) as local:
        done = place(
            *FLAGS, "--base-url", local.url, "--judge", "j", "--judge-base-url", "http://judge.invalid/v1",
            "--judge-key", "sk-judge", EVAL_PROXY=proxy.url.removesuffix("/v1"),
        )  # fmt: skip
        judged = len(proxy.asked)
    assert done.status == 0, done.stderr
    assert judged == 3
    assert "Overall  0.6666666666666666" in done.stdout
