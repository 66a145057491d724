"""Two runs joined by question_id."""

from __future__ import annotations

import json
import math

import pytest

from flagmm.errors import DataError
from flagmm.report.comparison import (
    Comparison,
    ScoredItem,
    TaskComparison,
    compare_items,
    compare_runs,
    read_scored_items,
)
from flagmm.report.comparison_table import comparison_values, draw_comparison


def scored(**scores):
    return {question_id: ScoredItem(score) for question_id, score in scores.items()}


def write_run(folder, task, entries):
    """`<folder>/<task>/<task>_evaluated.json`; returns the task's folder."""
    path = folder / task / f"{task}_evaluated.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path.parent


def entries(*scores, first=1):
    return [{"question_id": str(number), "correct": score} for number, score in enumerate(scores, start=first)]


def test_each_item_is_better_worse_or_the_same():
    a, b = scored(q1=1, q2=0, q3=0, q4=1, q5=0), scored(q5=1, q4=0, q3=0, q2=1, q1=1)
    found = compare_items("t", a, b)
    assert (found.better, found.worse, found.same) == (("q2", "q5"), ("q4",), 2)
    assert (found.items, found.score_a, found.score_b) == (5, 0.4, 0.6)
    assert found.bootstrap.difference == pytest.approx(0.2)
    assert found.p == 1.0  # 2 against 1


def test_the_p_is_that_of_mcnemar():
    a, b = (
        {f"q{n}": ScoredItem(float(n < 2)) for n in range(20)},
        {f"q{n}": ScoredItem(float(n > 10)) for n in range(20)},
    )
    assert compare_items("t", a, b).p == pytest.approx(0.0654296875)  # 9 better, 2 worse


def test_shares_count_by_their_size_in_the_mean_and_by_their_direction_in_the_test():
    found = compare_items("t", scored(q1=0.25, q2=0.5, q3=1.0), scored(q1=0.75, q2=0.25, q3=1.0))
    assert (found.better, found.worse, found.same) == (("q1",), ("q2",), 1)
    assert found.bootstrap.difference == pytest.approx(0.25 / 3)


def test_items_of_one_run_and_items_without_a_score_are_left_out_and_counted():
    a, b = scored(q1=1, q2=None, q3=1, q4=0, q5=1), scored(q1=0, q2=1, q3=None, q6=1)
    found = compare_items("t", a, b)
    assert (found.items, found.worse) == (1, ("q1",))
    assert (found.only_a, found.only_b, found.not_scored) == (2, 1, 2)


def test_without_a_common_item_there_are_no_numbers():
    found = compare_items("t", scored(q1=1), scored(q2=1))
    assert (found.items, found.same, found.score_a, found.score_b, found.bootstrap) == (0, 0, None, None, None)


def test_other_reference_answers_are_noticed():
    a = {"q1": ScoredItem(1, "A"), "q2": ScoredItem(1, ["x"]), "q3": ScoredItem(1, None), "q4": ScoredItem(None, "A")}
    b = {"q1": ScoredItem(1, "B"), "q2": ScoredItem(1, ["x"]), "q3": ScoredItem(1, "C"), "q4": ScoredItem(1, "B")}
    assert compare_items("t", a, b).other_label == 1


@pytest.mark.parametrize(
    ("correct", "score"),
    [(True, 1.0), (False, 0.0), (1, 1.0), (0.5, 0.5), (None, None), ("1", None), ([1], None), (math.nan, None)],
    ids=repr,
)
def test_only_numbers_and_truth_values_are_scores(tmp_path, correct, score):
    folder = write_run(tmp_path, "t", [{"question_id": 7, "correct": correct, "label": "A"}])
    assert read_scored_items(folder / "t_evaluated.json") == {"7": ScoredItem(score, "A")}


def test_an_entry_without_correct_has_no_score(tmp_path):
    folder = write_run(tmp_path, "t", [{"question_id": "1", "answer": "A"}])
    assert read_scored_items(folder / "t_evaluated.json") == {"1": ScoredItem(None, None)}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"1": 1}, "expected a list of scored items"),
        ([{"correct": 1}], "item 0: expected an object with 'question_id'"),
        (["1"], "item 0: expected an object with 'question_id'"),
        ([{"question_id": 1}, {"question_id": "1"}], "item 1: a second entry for question_id '1'"),
    ],
)
def test_a_file_of_another_shape_is_named_with_the_place(tmp_path, content, message):
    folder = write_run(tmp_path, "t", content)
    with pytest.raises(DataError, match=f"t_evaluated.json: {message}"):
        read_scored_items(folder / "t_evaluated.json")


def test_two_results_directories_are_compared_task_by_task(tmp_path):
    for task in ("menus", "charts", "old"):
        write_run(tmp_path / "a", task, entries(1, 0))
    for task in ("menus", "charts", "new"):
        write_run(tmp_path / "b", task, entries(1, 1))
    found = compare_runs(tmp_path / "a", tmp_path / "b")
    assert [(task.task, task.better) for task in found.tasks] == [("charts", ("2",)), ("menus", ("2",))]
    assert (found.only_a, found.only_b) == (("old",), ("new",))


def test_a_file_that_does_not_belong_to_its_folder_is_no_task(tmp_path):
    write_run(tmp_path / "a", "t", entries(1))
    write_run(tmp_path / "b", "t", entries(1))
    (tmp_path / "a" / "t").joinpath("kept_evaluated.json").write_text("not JSON")
    assert [task.task for task in compare_runs(tmp_path / "a", tmp_path / "b").tasks] == ["t"]


def test_two_task_folders_are_compared_whatever_their_names(tmp_path):
    plain, careful = write_run(tmp_path, "t", entries(1, 0)), write_run(tmp_path, "t_cot", entries(1, 1))
    found = compare_runs(plain, careful)
    assert [(task.task, task.better) for task in found.tasks] == [("t -> t_cot", ("2",))]
    assert (found.only_a, found.only_b) == ((), ())


def test_a_renamed_task_folder_keeps_the_name_of_its_task(tmp_path):
    before = write_run(tmp_path / "a", "t", entries(1)).rename(tmp_path / "before")
    after = write_run(tmp_path / "b", "t", entries(0))
    assert [(task.task, task.worse) for task in compare_runs(before, after).tasks] == [("t", ("1",))]


def test_a_task_folder_is_compared_with_the_task_of_its_name_in_a_directory(tmp_path):
    folder = write_run(tmp_path / "a", "t", entries(1))
    write_run(tmp_path / "b", "s", entries(1))
    write_run(tmp_path / "b", "t", entries(0))
    found = compare_runs(folder, tmp_path / "b")
    assert ([task.task for task in found.tasks], found.only_b) == (["t"], ("s",))


def test_one_task_without_common_items_does_not_stop_the_others(tmp_path):
    for run, first in (("a", 1), ("b", 5)):
        write_run(tmp_path / run, "s", entries(1, first=first))
        write_run(tmp_path / run, "t", entries(1))
    found = compare_runs(tmp_path / "a", tmp_path / "b")
    assert [(task.task, task.items) for task in found.tasks] == [("s", 0), ("t", 1)]


@pytest.mark.parametrize(
    ("entries_a", "task_b", "entries_b", "message"),
    [
        (entries(1), "s", entries(1), "no task in common: .* has t; .* has s; to compare two tasks give their folders"),
        (entries(1), "t", entries(1, first=2), "no question_id in common"),
        (entries(1), "t", entries(None), "no item has a number in 'correct' in both"),
        (entries(1), "t", [], "no question_id in common"),
    ],
)
def test_nothing_in_common_is_an_error(tmp_path, entries_a, task_b, entries_b, message):
    write_run(tmp_path / "a", "t", entries_a)
    write_run(tmp_path / "b", task_b, entries_b)
    with pytest.raises(DataError, match=message):
        compare_runs(tmp_path / "a", tmp_path / "b")


def test_a_run_without_scores_is_an_error_that_says_how_to_score(tmp_path):
    write_run(tmp_path / "a", "t", entries(1))
    (tmp_path / "b" / "t").mkdir(parents=True)
    with pytest.raises(DataError, match=r"b: no <task>_evaluated.json .* flagevalmm --tasks TASK --without-infer"):
        compare_runs(tmp_path / "a", tmp_path / "b")


def test_a_directory_that_is_not_there_is_an_error(tmp_path):
    write_run(tmp_path / "a", "t", entries(1))
    with pytest.raises(DataError, match="gone: no such directory"):
        compare_runs(tmp_path / "a", tmp_path / "gone")


def comparison(tmp_path, *, items=0, other_label=0):
    """Of one task, no numbers in it."""
    task = TaskComparison(
        task="t", items=items, score_a=None, score_b=None, bootstrap=None, better=(), worse=(), p=1.0,
        only_a=0, only_b=0, not_scored=0, other_label=other_label,
    )  # fmt: skip
    return Comparison(run_a=tmp_path / "a", run_b=tmp_path / "b", tasks=(task,), only_a=(), only_b=())


def cells(text):
    """The first row of the table, by the first words of the headers."""
    return text.splitlines()[2].split()


def test_a_task_without_items_has_dashes_for_numbers(tmp_path):
    assert cells(draw_comparison(comparison(tmp_path))) == ["t", "0", "-", "-", "-", "-", "0", "0", "0", "-"]


def test_a_difference_of_nothing_has_no_minus_sign(tmp_path):
    write_run(tmp_path / "a", "t", entries(1, 0))
    found = compare_runs(tmp_path / "a", tmp_path / "a")
    row = cells(draw_comparison(found))
    assert row == ["t", "2", "50.00", "50.00", "+0.00", "[+0.00,", "+0.00]", "0", "0", "2", "1.0000"]
    assert "better in B" not in draw_comparison(found)


def test_a_tiny_p_is_not_shown_as_0(tmp_path):
    many = entries(*[0] * 40), entries(*[1] * 40)
    for run, each in zip("ab", many, strict=True):
        write_run(tmp_path / run, "t", each)
    assert cells(draw_comparison(compare_runs(tmp_path / "a", tmp_path / "b")))[-1] == "<0.0001"


@pytest.mark.parametrize(
    ("ids", "shown"), [(2, "1, 2, and 1 more (--ids 0 shows all)"), (3, "1, 2, 3"), (9, "1, 2, 3"), (None, "1, 2, 3")]
)
def test_as_many_ids_are_shown_as_asked_for(tmp_path, ids, shown):
    write_run(tmp_path / "a", "t", entries(0, 0, 0, 1))
    write_run(tmp_path / "b", "t", entries(1, 1, 1, 0))
    lines = draw_comparison(compare_runs(tmp_path / "a", tmp_path / "b"), ids=ids).splitlines()
    assert lines[-2:] == [f"t, better in B (3): {shown}", "t, worse in B (1): 4"]


def test_other_reference_answers_are_warned_of(tmp_path):
    text = draw_comparison(comparison(tmp_path, items=9, other_label=2))
    assert "t: WARNING: 2 of 9 items have another reference answer in B" in text


def test_the_json_holds_everything_in_percent(tmp_path):
    write_run(tmp_path / "a", "t", entries(1, 0, 0, 1, None))
    write_run(tmp_path / "b", "t", entries(1, 1, 1, 0, 1, 1))
    write_run(tmp_path / "b", "s", entries(1))
    values = comparison_values(compare_runs(tmp_path / "a", tmp_path / "b"))
    (task,) = values["tasks"]
    low, high = task.pop("interval")
    assert -50 <= low < 25 < high <= 100
    assert 0.3 < task.pop("p_bootstrap") <= 1
    assert task == {
        "task": "t", "n": 4, "score_a": 50.0, "score_b": 75.0, "difference": 25.0, "p": 1.0, "better": 2, "worse": 1,
        "same": 1, "better_ids": ["2", "3"], "worse_ids": ["4"], "other_label": 0,
        "left_out": {"only_a": 0, "only_b": 1, "not_scored": 1}, "clusters": None, "cluster_by": None,
        "not_answered": {"a": {"replies": 5}, "b": {"replies": 6}},
    }  # fmt: skip
    assert (values["run_a"], values["only_a"], values["only_b"]) == (str(tmp_path / "a"), [], ["s"])


def test_a_task_without_items_has_null_for_numbers_in_json(tmp_path):
    (task,) = comparison_values(comparison(tmp_path))["tasks"]
    numbers = [task[key] for key in ("score_a", "score_b", "difference", "interval", "p", "p_bootstrap")]
    assert numbers == [None] * 6


def write_clustered(folder, scores, *, size, cluster=True):
    listed = entries(*scores)
    if cluster:
        listed = [{**entry, "cluster": str(place // size)} for place, entry in enumerate(listed)]
    path = write_run(folder, "t", listed)
    interval = {"level": 95, "method": "clustered", "by": "img_path", "clusters": len(scores) // size}
    (path / "t_result.json").write_text(json.dumps({"accuracy": 1.0, "interval": interval}))


def test_what_depends_on_each_other_is_compared_by_clusters_and_said_so(tmp_path):
    # Three pictures of ten questions each got better, one worse: 30 against 10 items, but 3 against 1 pictures.
    write_clustered(tmp_path / "a", [0] * 30 + [1] * 10 + [1] * 160, size=10)
    write_clustered(tmp_path / "b", [1] * 30 + [0] * 10 + [1] * 160, size=10)
    found = compare_runs(tmp_path / "a", tmp_path / "b")
    (task,) = found.tasks
    assert (task.clusters, task.cluster_by, task.p) == (20, "img_path", 0.625)
    assert task.bootstrap.interval.low < 0 < task.bootstrap.interval.high
    assert "t: 200 items in 20 clusters by img_path; p: sign-flip test" in draw_comparison(found)
    (values,) = comparison_values(found)["tasks"]
    assert (values["clusters"], values["cluster_by"], values["p"]) == (20, "img_path", 0.625)


def test_clusters_that_older_files_do_not_tell_are_asked_for(tmp_path):
    for run in "ab":
        write_clustered(tmp_path / run, [1, 0, 1, 1], size=2, cluster=False)
    found = compare_runs(tmp_path / "a", tmp_path / "b")
    assert found.tasks[0].clusters is None
    assert "t: WARNING: questions are clustered by img_path, but neither run's items say how" in draw_comparison(found)


def test_a_single_cluster_has_a_difference_and_no_interval(tmp_path):
    write_clustered(tmp_path / "a", [1, 0, 0], size=3)
    write_clustered(tmp_path / "b", [1, 1, 0], size=3)
    row = cells(draw_comparison(compare_runs(tmp_path / "a", tmp_path / "b")))
    assert row == ["t", "3", "33.33", "66.67", "+33.33", "-", "1", "0", "2", "1.0000"]


def test_failures_of_both_runs_are_told(tmp_path):
    kinds = ["ok", "failed", "failed", "refused", "empty"]
    listed = [{**entry, "status": kind} for entry, kind in zip(entries(1, 0, 0, 0, 0), kinds, strict=True)]
    write_run(tmp_path / "a", "t", listed)
    write_run(tmp_path / "b", "t", [{**entry, "status": "ok"} for entry in entries(1, 1, 1, 0, 0)])
    found = compare_runs(tmp_path / "a", tmp_path / "b")
    line = "t: WARNING: not answered, which counts as wrong: A 1 empty, 1 refused, 2 failed of 5; B none of 5"
    assert line in draw_comparison(found).splitlines()
    (values,) = comparison_values(found)["tasks"]
    expected = {"a": {"empty": 1, "refused": 1, "failed": 2, "replies": 5}, "b": {"replies": 5}}
    assert values["not_answered"] == expected


def test_of_repeated_questions_every_failure_counts(tmp_path):
    repeated = {"question_id": "1", "correct": 0.5, "status": "failed", "statuses": ["ok", "failed"]}
    folder = write_run(tmp_path, "t", [repeated])
    (item,) = read_scored_items(folder / "t_evaluated.json").values()
    assert (item.missing, item.replies) == (("failed",), 2)
