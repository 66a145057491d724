"""`predictions.jsonl`: appended to, read again, torn lines survived."""

from __future__ import annotations

import json

import pytest

from flagmm.errors import DataError
from flagmm.inference.records import to_line
from flagmm.inference.store import PredictionStore, count_lines, count_records
from flagmm.jsonio import dump_line, read_json
from flagmm.types import MediaIdentity, Prediction

MEDIUM = MediaIdentity(size=3, mtime_ns=4, digest="d")


def prediction(question_id="1", answer="A", **fields):
    values = {"question": "Q?", "status": "ok", "request": "h", "media": (MEDIUM,), **fields}
    return Prediction(question_id=question_id, answer=answer, **values)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "task" / "predictions.jsonl"


def write(path, *predictions):
    with PredictionStore(path) as store:
        for item in predictions:
            store.append(item)


def line(item):
    return dump_line(to_line(item)).encode() + b"\n"


def answers(path, ids, repeats=1):
    with PredictionStore(path) as store:
        store.write_answers(path.with_name("answers.json"), ids, repeats)
    return read_json(path.with_name("answers.json"))


def test_what_was_appended_is_found_again_by_question_and_repetition(path):
    write(path, prediction("1"), prediction("1", status="failed", inference=1, request="g"), prediction("2", media=()))
    with PredictionStore(path) as store:
        assert len(store) == 3
        assert store.get("1", 0) == ("ok", "h", (MEDIUM,))
        assert store.get("1", 1) == ("failed", "g", (MEDIUM,))
        assert store.get("2", 0).media == ()
        assert store.get("3", 0) is None
        assert store.get("2", 1) is None


def test_a_line_is_on_disk_as_soon_as_it_is_appended(path):
    with PredictionStore(path) as store:
        store.append(prediction())
        assert path.read_bytes() == line(prediction())


def test_the_last_line_for_a_question_wins(path):
    write(path, prediction("1", "old"), prediction("2", "B"), prediction("1", "new"))
    assert [item["answer"] for item in answers(path, ["1", "2"])] == ["new", "B"]
    assert len(path.read_text().splitlines()) == 3, "nothing is ever taken away"


def test_answers_come_in_the_data_set_s_order_and_only_those_there_are(path):
    write(path, prediction("3", "C"), prediction("1", "A"))
    assert [item["answer"] for item in answers(path, ["1", "2", "3"])] == ["A", "C"]
    assert answers(path, []) == []


def test_answers_are_right_for_lines_of_before_and_of_now(path):
    write(path, prediction("1", "图" * 50))
    with PredictionStore(path) as store:
        store.append(prediction("2", "B"))
        store.write_answers(path.with_name("answers.json"), ["2", "1"], 1)
    assert [item["answer"] for item in read_json(path.with_name("answers.json"))] == ["B", "图" * 50]


def test_repeats_that_were_not_asked_yet_are_left_out(path):
    write(path, prediction("1", "A"), prediction("1", "C", inference=2))
    (item,) = answers(path, ["1"], repeats=3)
    assert item["answer"] == {"inference_0": "A", "inference_2": "C"}


WHOLE, NEXT = line(prediction("1", "图")), line(prediction("2"))


@pytest.mark.parametrize("length", [1, len(WHOLE) // 2, len(WHOLE) - 2])
def test_a_torn_last_line_is_left_out_and_its_place_is_used_again(path, caplog, length):
    path.parent.mkdir()
    path.write_bytes(NEXT + WHOLE[:length])
    with PredictionStore(path) as store:
        assert len(store) == 1
        assert store.get("2", 0).status == "ok"
        store.append(prediction("1", "图"))
    assert path.read_bytes() == NEXT + WHOLE
    assert caplog.messages == [f"{path}: the last line is torn and is left out"]


def test_every_way_of_tearing_the_last_line_is_survived(path):
    path.parent.mkdir()
    for length in range(len(WHOLE)):
        path.write_bytes(NEXT + WHOLE[:length])
        with PredictionStore(path) as store:
            store.append(prediction("3"))
        with PredictionStore(path) as store:
            found = [store.get(question_id, 0) is not None for question_id in "123"]
        assert found == [length == len(WHOLE) - 1, True, True], length


def test_zeros_that_a_power_failure_leaves_are_a_torn_line(path):
    path.parent.mkdir()
    path.write_bytes(NEXT + b"\0" * 100)
    write(path, prediction("1", "图"))
    assert path.read_bytes() == NEXT + WHOLE


def test_a_whole_last_line_without_its_line_break_is_kept(path):
    path.parent.mkdir()
    path.write_bytes(WHOLE[:-1])
    write(path, prediction("2"))
    assert path.read_bytes() == WHOLE + NEXT


def test_blank_lines_do_no_harm(path):
    path.parent.mkdir()
    path.write_bytes(WHOLE + b"\n  \n" + NEXT + b"\n")
    assert [item["question_id"] for item in answers(path, ["1", "2"])] == ["1", "2"]


@pytest.mark.parametrize(
    "broken",
    [
        b'{"question_id": "1", "ans\n', b"[1]\n", b"3\n", b'{"question_id": "1"}\n', b"\xff\n",
        json.dumps({**to_line(prediction()), "media": [[1, 2]]}).encode() + b"\n",
        json.dumps({**to_line(prediction()), "question_id": ["1"]}).encode() + b"\n",
    ],
)  # fmt: skip
def test_a_broken_line_in_the_middle_is_told_with_its_number_and_nothing_is_lost(path, broken):
    path.parent.mkdir()
    path.write_bytes(WHOLE + broken + NEXT)
    with pytest.raises(
        DataError, match=r"predictions\.jsonl:2: not a prediction; remove this line, or use --overwrite$"
    ):
        PredictionStore(path).__enter__()
    assert path.read_bytes() == WHOLE + broken + NEXT


def test_a_new_store_is_an_empty_file_in_a_new_folder(path):
    with PredictionStore(path) as store:
        assert len(store) == 0
    assert path.read_bytes() == b""


def test_the_store_knows_how_often_questions_were_asked(path):
    write(path, prediction("1"), prediction("2"), prediction("1", inference=2))
    with PredictionStore(path) as store:
        assert store.repeats == 3
    with PredictionStore(path.with_name("other.jsonl")) as store:
        assert store.repeats == 1


@pytest.mark.parametrize(
    ("reason", "status"),
    [("abort", "failed"), ("Cancelled", "failed"), ("RECITATION", "refused"), ("tired", "ok"), ("length", "ok")],
)
def test_a_saved_reply_is_done_only_if_its_finish_reason_lets_it(path, reason, status):
    write(path, prediction("1", finish_reason=reason))
    with PredictionStore(path) as store:
        assert store.get("1", 0).status == status


def rewrite(path, *items):
    """As another program does it that keeps the file itself."""
    path.write_bytes(b"".join(map(line, items)))


def test_a_file_that_is_removed_is_written_again_with_all_that_was_known(path):
    write(path, prediction("1"))
    with PredictionStore(path) as store:
        store.append(prediction("2"))
        path.unlink()
        store.append(prediction("3"))
        assert store.damage is None
    assert path.read_bytes() == b"".join(line(prediction(name)) for name in "123")


def test_a_removed_file_is_there_again_also_where_no_answer_came_after(path):
    with PredictionStore(path) as store:
        store.append(prediction("1"))
        path.unlink()
        store.write_answers(path.with_name("answers.json"), ["1"], 1)
    assert path.read_bytes() == line(prediction("1"))


def test_what_was_cut_away_is_told_unless_it_is_answered_again(path):
    with PredictionStore(path) as store:
        for name in "123":
            store.append(prediction(name))
        rewrite(path, prediction("1"))
        store.append(prediction("4"))
        assert "2 answers are lost" in store.damage
        store.append(prediction("2"))
        store.append(prediction("3"))
        assert store.damage is None
    assert [item["question_id"] for item in answers(path, list("1234"))] == list("1234")


def test_lines_that_another_program_adds_are_taken_and_harm_nothing(path):
    with PredictionStore(path) as store:
        store.append(prediction("1"))
        with open(path, "ab") as file:
            file.write(line(prediction("2"))[:-1])  # without its line break
        store.append(prediction("3"))
        assert store.damage is None
    assert [item["question_id"] for item in answers(path, list("123"))] == list("123")


def test_answers_go_elsewhere_where_the_file_holds_something_else_now(path):
    with PredictionStore(path) as store:
        store.append(prediction("1"))
        path.write_text("something\nelse\n")
        store.append(prediction("2"))
        assert "something else took its place" in store.damage
    assert path.read_text() == "something\nelse\n"
    [kept] = path.parent.glob("predictions.kept-*.jsonl")
    assert kept.read_bytes() == line(prediction("2"))


def test_another_file_of_the_name_is_left_alone_and_all_answers_are_beside_it(path):
    with PredictionStore(path) as store:
        store.append(prediction("1"))
        path.rename(path.with_name("moved"))
        path.write_bytes(line(prediction("9")))
        store.append(prediction("2"))
        assert "something else took its place" in store.damage
    assert path.read_bytes() == line(prediction("9"))
    [kept] = path.parent.glob("predictions.kept-*.jsonl")
    assert kept.read_bytes() == line(prediction("1")) + line(prediction("2"))


@pytest.mark.parametrize("count", [0, 1, 3])
def test_records_and_lines_are_counted_without_reading_them(path, count):
    items = [prediction(str(number), '\n{"question_id"') for number in range(count)]
    write(path, *items)
    assert len(answers(path, [item.question_id for item in items])) == count
    assert count_lines(path) == count_records(path.with_name("answers.json")) == count
    path.with_name("answers.json").write_text(json.dumps([to_line(item) for item in items], indent=1))
    assert count_records(path.with_name("answers.json")) == 0  # another layout: fewer, never more


@pytest.mark.parametrize(
    ("statuses", "holds"), [([], False), (["failed"] * 3, False), (["failed", "empty"], True), (["refused"], True)]
)
def test_what_failed_holds_no_answer(path, statuses, holds):
    write(path, *(prediction(str(number), status=status) for number, status in enumerate(statuses)))
    with PredictionStore(path) as store:
        assert store.holds_answers() == holds


def test_an_answer_that_was_asked_for_again_and_failed_is_none(path):
    write(path, prediction("1"), prediction("1", status="failed"))
    with PredictionStore(path) as store:
        assert not store.holds_answers()
