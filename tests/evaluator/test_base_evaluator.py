"""BaseEvaluator: from saved answers to `_evaluated.json` and `_result.json`."""

from __future__ import annotations

import json
import logging

import pytest

from flagmm import __version__
from flagmm.errors import ConfigError, DataError, UserCodeError
from flagmm.evaluator.base_evaluator import BaseEvaluator
from flagmm.evaluator.metric import Metric
from flagmm.evaluator.verdict import Verdict
from flagmm.jsonio import read_json


class Annotated:
    """The part of a data set that an evaluator needs."""

    def __init__(self, annotations, name="t"):
        self.name = name
        self.annotations = annotations

    def __len__(self):
        return len(self.annotations)

    def get_annotation(self):
        return self.annotations


def choice(answer="A", **fields):
    return {"question_type": "multiple-choice", "options": ["red", "green"], "answer": answer, **fields}


FOUR = {"1": choice(), "2": choice(), "3": choice("B"), "4": choice()}
ANSWERS = [
    {"question_id": "1", "answer": "A", "status": "ok", "usage": {"total_tokens": 4}, "own": "kept"},
    {"question_id": "2", "answer": "B", "status": "ok", "usage": None},
    {"question_id": "3", "answer": "I cannot tell.", "status": "ok"},
    {"question_id": "4", "answer": "", "status": "failed", "error": {"kind": "server"}},
]


@pytest.fixture
def score(tmp_path):
    """The result of an evaluator on saved answers, and the entries of `_evaluated.json`."""

    def score(answers=ANSWERS, annotations=FOUR, *, evaluator=None, config=None, **settings):
        (tmp_path / "t.json").write_text(json.dumps(answers), encoding="utf-8")
        if config is not None:
            (tmp_path / "t_config.json").write_text(config)
        evaluator = evaluator or BaseEvaluator(base_dir=str(tmp_path), **settings)
        result = evaluator.process(Annotated(annotations), tmp_path)
        assert read_json(tmp_path / "t_result.json") == json.loads(json.dumps(result))
        return result, read_json(tmp_path / "t_evaluated.json")

    return score


def test_the_result_holds_scores_counts_and_rules(score):
    result, _ = score()
    assert (result["accuracy"], result["accuracy_answered"]) == (25.0, 33.33)
    assert (result["headline"], result["n"], result["accuracy_stderr"]) == ("accuracy", 4, 25.0)
    assert (result["accuracy_interval"], result["over"]) == ([4.56, 69.94], "asked")
    assert result["interval"] == {"level": 95, "method": "wilson"}
    assert (result["evaluator"], result["flagmm"]) == ("BaseEvaluator", __version__)
    assert result["metrics"] == [{"name": "by_type", "version": 1, "normaliser": "text_match", "settings": {}}]
    assert result["counts"] == {
        "total": 4, "asked": 4, "answered": 3, "empty": 0, "refused": 0, "failed": 1, "truncated": 0, "unparsed": 1,
        "judge_failed": 0, "unscored": 0,
    }  # fmt: skip
    assert result["reject_info"] == {"reject_rate": 25.0, "reject_number": 1, "total_question": 4}
    assert result["average_tokens"] == 4
    assert sum(result["rules"].values()) == 3
    assert result.keys() & {"partial", "groups", "num_infers", "repeats", "micro", "macro"} == set()


def test_every_answer_is_kept_with_what_was_found(score):
    _, evaluated = score()
    assert evaluated[0] == ANSWERS[0] | {
        "raw_answer": "A",
        "correct": 1.0,
        "extracted": "A",
        "rule": evaluated[0]["rule"],
        "label": "A",
        "question_type": "multiple-choice",
    }
    assert [entry["correct"] for entry in evaluated] == [1.0, 0.0, 0.0, 0.0]
    assert [entry["extracted"] for entry in evaluated] == ["A", "B", None, None]
    assert evaluated[3]["rule"] == "not_answered"


def test_a_part_of_the_questions_is_a_partial_result(score):
    result, _ = score(ANSWERS[:2])
    assert result["partial"] == "2 of 4 questions"
    assert (result["counts"]["total"], result["counts"]["asked"]) == (4, 2)
    assert result["accuracy"] == 50.0


@pytest.mark.parametrize(
    ("config", "partial"),
    [
        ('{"scope": "try run"}', "2 of 4 questions (try run)"),
        ('{"scope": null}', "2 of 4 questions"),
        ("{}", "2 of 4 questions"),
        ("[]", "2 of 4 questions"),
        ("{torn", "2 of 4 questions"),
    ],
)
def test_a_partial_result_says_what_the_run_was_called(score, config, partial):
    assert score(ANSWERS[:2], config=config)[0]["partial"] == partial


def test_no_answers_at_all_are_a_result_without_a_score(score):
    result, evaluated = score([])
    assert (result["accuracy"], result["accuracy_interval"], result["partial"]) == (None, None, "0 of 4 questions")
    assert evaluated == []


def test_a_data_set_without_questions_has_no_score(score):
    assert score([], {})[0]["accuracy"] is None


def test_missing_answers_are_told(tmp_path):
    with pytest.raises(DataError, match=r"t\.json: no such file; run the inference first"):
        BaseEvaluator().process(Annotated(FOUR), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_questions_without_a_detailed_key_are_in_no_group_of_it_and_are_counted(score):
    annotations = {"1": choice(topic="art"), "2": choice(topic=None), "3": choice("B", topic=[]), "4": choice()}
    result, _ = score(annotations=annotations, detailed_keys=["topic", "question_type"])
    assert list(result["groups"]["topic"]) == ["art"]
    assert result["n_without"] == {"topic": 3}
    assert "None" not in result


def test_values_of_detailed_keys_have_scores_of_their_own(score):
    annotations = {
        "1": choice(topic="sea", level=1), "2": choice(topic="land", level=1), "3": choice("B", topic="sea", level=2),
        "4": choice(topic="accuracy", level=2),
    }  # fmt: skip
    result, _ = score(annotations=annotations, detailed_keys=["topic", "level"])
    assert (result["sea"], result["land"], result["1"], result["2"]) == (50.0, 0.0, 50.0, 0.0)
    one = {"accuracy": 0.0, "n": 1, "accuracy_stderr": None, "accuracy_interval": [0.0, 79.35]}
    two = {"accuracy": 50.0, "n": 2, "accuracy_stderr": 50.0, "accuracy_interval": [9.45, 90.55]}
    groups = {value: dict(numbers) for value, numbers in result["groups"]["topic"].items()}
    counts = {value: numbers.pop("counts") for value, numbers in groups.items()}
    assert groups == {"accuracy": one, "land": one, "sea": two}
    assert {value: each["asked"] for value, each in counts.items()} == {"accuracy": 1, "land": 1, "sea": 2}
    assert result["topic.accuracy"] == 0.0, "a group of that name is there under its field's"
    assert (result["micro"], result["macro"]) == (25.0, {"topic": 16.67, "level": 25.0})
    assert result["accuracy"] == 25.0, "a group of that name must not take the score's place"


def test_questions_without_a_rule_are_unscored_with_one_warning_a_type(score, caplog):
    caplog.set_level(logging.WARNING)
    annotations = {**FOUR, "2": choice() | {"question_type": "bbox"}, "3": choice() | {"question_type": "bbox"}}
    result, evaluated = score(annotations=annotations)
    assert (result["accuracy"], result["counts"]["unscored"]) == (50.0, 2)
    assert evaluated[1]["correct"] is None
    assert [message[:41] for message in caplog.messages] == ["no rule scores question_type 'bbox'; its "]


def test_answers_that_are_no_option_are_unscored_with_one_warning(score, caplog):
    caplog.set_level(logging.WARNING)
    result, entries = score(annotations={**FOUR, "1": choice("E"), "3": choice("yellow")})
    assert (result["counts"]["unscored"], result["accuracy"]) == (2, 0.0)
    assert (entries[0]["correct"], entries[0]["rule"]) == (None, "unscored")
    [message] = caplog.messages
    assert message.startswith("2 questions count as unscored")
    assert message.endswith("the first is question_id '1' with answer 'E'")


def test_questions_without_a_reference_are_unscored_without_a_warning(score, caplog):
    result, _ = score(annotations={**FOUR, "1": choice(None)})
    assert (result["accuracy"], result["counts"]["unscored"]) == (0.0, 1)
    assert caplog.messages == []


REPEATED = [
    {"question_id": "1", "answer": {"inference_0": "A", "inference_1": "B"}, "statuses": ["ok", "ok"]},
    {"question_id": "2", "answer": {"inference_0": "A", "inference_1": ""}, "statuses": ["ok", "failed"]},
]


def test_repeats_are_means(score):
    result, evaluated = score(REPEATED, {"1": choice(), "2": choice()})
    assert (result["accuracy"], result["accuracy_answered"], result["num_infers"]) == (50.0, 66.67, 2)
    assert (result["counts"]["total"], result["counts"]["asked"], result["counts"]["failed"]) == (4, 4, 1)
    assert evaluated[0] == REPEATED[0] | {
        "correct": 0.5,
        "inference_scores": [1.0, 0.0],
        "num_inferences": 2,
        "extracted": ["A", "B"],
        "raw_answer": ["A", "B"],
        "rule": evaluated[0]["rule"],
        "label": "A",
        "question_type": "multiple-choice",
    }
    assert evaluated[1]["rule"][1] == "not_answered"
    assert result["repeats"] == {
        "n": 2, "scores": [100.0, 0.0], "mean": 50.0, "std": 70.71, "pass_at_k": {"1": 50.0, "2": 100.0},
        "majority_vote": 50.0, "majority_ties": 1,
    }  # fmt: skip


def test_questions_on_one_picture_are_a_cluster_when_told_so(score):
    annotations = {key: {**item, "image": "b" if key == "4" else "a"} for key, item in FOUR.items()}
    result, _ = score(annotations=annotations, cluster_by="image", detailed_keys=["image"])
    assert (result["accuracy"], result["n"]) == (25.0, 4)
    # Residuals of the mean 1/4: 3/4 - 1/4 - 1/4 on a, -1/4 on b; root of (1/16 + 1/16) * 2 clusters / (2 - 1), by 4.
    assert (result["accuracy_stderr"], result["accuracy_interval"]) == (12.5, [4.56, 69.94])
    assert result["interval"] == {"level": 95, "method": "clustered", "by": "image", "clusters": 2}
    of_a = result["groups"]["image"]["a"]
    assert [of_a[key] for key in ("accuracy", "n", "accuracy_stderr", "accuracy_interval")] == [33.33, 3, None, None]


def test_a_cluster_field_that_the_questions_lack_is_told(score):
    with pytest.raises(DataError, match=r"^cluster_by: no question has a field 'image'"):
        score(cluster_by="image")


def test_own_scoring_has_no_clusters():
    with pytest.raises(ConfigError, match=r"^evaluator: cluster_by: the task's own scoring"):
        BaseEvaluator(eval_func=lambda annotations, predictions: {}, cluster_by="image")


def test_a_group_cannot_take_the_name_of_what_the_file_holds_elsewhere(score):
    names = ("n", "judge", "micro", "counts")
    annotations = {key: {**item, "topic": name} for (key, item), name in zip(FOUR.items(), names, strict=True)}
    result, _ = score(annotations=annotations, detailed_keys=["topic"])
    assert (result["n"], result["micro"], result["counts"]["asked"]) == (4, 25.0, 4)
    assert "judge" not in result
    assert list(result["groups"]["topic"]) == sorted(names)


@pytest.mark.parametrize("reverse", [False, True])
def test_the_order_of_predictions_does_not_matter(score, reverse, tmp_path):
    annotations = {key: {**item, "topic": "ab"[int(key) % 2]} for key, item in FOUR.items()}
    answers = [*ANSWERS, {"question_id": "5", "answer": {"inference_0": "A", "inference_1": "B"}}]
    annotations["5"] = choice(topic="c")
    score(answers, annotations, detailed_keys=["topic"])
    first = (tmp_path / "t_result.json").read_bytes()
    score(answers[::-1] if reverse else answers[2:] + answers[:2], annotations, detailed_keys=["topic"])
    assert (tmp_path / "t_result.json").read_bytes() == first


@pytest.mark.parametrize(("is_clean", "score_of_sentence"), [(True, 100.0), (False, 0.0)])
def test_choices_may_be_compared_as_they_stand(score, is_clean, score_of_sentence):
    answers = [{"question_id": "1", "answer": "The answer is A."}]
    assert score(answers, {"1": choice()}, is_clean=is_clean)[0]["accuracy"] == score_of_sentence
    assert score([{"question_id": "1", "answer": " a "}], {"1": choice()}, is_clean=is_clean)[0]["accuracy"] == 100.0


def test_answers_of_flagevalmm_are_scored(score):
    result, _ = score(
        [{"question_id": 1, "answer": "A", "question": "Q?"}, {"question_id": 2, "answer": "Error code: 400"}],
        {"1": choice(), "2": choice()},
    )
    assert (result["accuracy"], result["counts"]["failed"]) == (50.0, 1)


EVALUATE = """
def get_result(annotations, predictions):
    for prediction in predictions:
        prediction["correct"] = prediction["answer"] == annotations[prediction["question_id"]]["answer"]
    return {"exact": sum(prediction["correct"] for prediction in predictions), "n": len(predictions)}
"""


def test_a_file_of_the_task_may_score(score, tmp_path):
    (tmp_path / "evaluate.py").write_text(EVALUATE)
    result, evaluated = score(eval_func="evaluate.py")
    assert {key: result[key] for key in ("exact", "n", "over")} == {"exact": 1, "n": 4, "over": "asked"}
    assert result["counts"]["failed"] == 1
    assert result["reject_info"]["reject_number"] == 1
    assert "accuracy" not in result
    assert result["eval_func"]["function"] == "get_result"
    assert len(result["eval_func"]["sha256"]) == 64
    assert [entry.get("correct") for entry in evaluated] == [True, False, False, False]


def accuracy_of(marks, name="correct", scale=100):
    """Scoring code that writes these marks and returns their mean, in percent unless `scale` is another."""

    def get_result(annotations, predictions):
        for prediction, mark in zip(predictions, marks, strict=True):
            if mark is not None:
                prediction[name] = mark
        return {"accuracy": round(sum(mark or 0 for mark in marks) / len(marks) * scale, 4)}

    return get_result


@pytest.mark.parametrize(
    ("marks", "name"),
    [
        pytest.param([True, False, 1, 0], "correct", id="correct"),
        pytest.param([1.0, 0.0, 1.0, 0.0], "score", id="score"),
        pytest.param([1, 0, 1, None], "score", id="nothing written of what has no answer"),
    ],
)
def test_the_accuracy_of_scoring_code_that_marks_each_answer_has_an_error(score, marks, name):
    result, evaluated = score(eval_func=accuracy_of(marks, name))
    assert (result["accuracy"], result["n"], result["over"]) == (50.0, 4, "asked")
    assert (result["accuracy_stderr"], result["accuracy_interval"]) == (28.87, [15.0, 85.0])
    assert [entry["correct"] for entry in evaluated] == [1, 0, 1, 0]  # which comparisons of runs go by


def test_the_marks_of_repeated_questions_are_means(score):
    answers = [
        {"question_id": "1", "answer": {"inference_0": "A", "inference_1": "B"}},
        {"question_id": "2", "answer": {"inference_0": "A", "inference_1": "A"}},
    ]
    code = accuracy_of([1, 0, 1, 1], "score")
    result, evaluated = score(answers, {"1": choice(), "2": choice()}, eval_func=code)
    assert (result["accuracy"], result["n"]) == (75.0, 2)
    assert [entry["correct"] for entry in evaluated] == [0.5, 1]


@pytest.mark.parametrize(
    "get_result",
    [
        pytest.param(lambda annotations, predictions: {"accuracy": 50.0}, id="no marks"),
        pytest.param(accuracy_of([1, 0, 2, 0]), id="points"),
        pytest.param(accuracy_of([None, 1, 1, 0]), id="an answer without a mark"),
        pytest.param(lambda *given: {**accuracy_of([1, 0, 0, 0])(*given), "accuracy": 99.0}, id="another mean"),
    ],
)
def test_the_accuracy_of_other_scoring_code_stands_alone(score, get_result):
    result, _ = score(eval_func=get_result)
    assert result.keys() & {"n", "accuracy_stderr", "accuracy_interval", "interval"} == set()


@pytest.mark.parametrize(
    "get_result",
    [
        pytest.param(accuracy_of([1, 1, 1, 1], scale=1), id="all right"),
        pytest.param(accuracy_of([1, 0, 0, 1], "score", scale=1), id="half right"),
        pytest.param(lambda annotations, predictions: {"accuracy": 0.75}, id="less than one item"),
        pytest.param(lambda annotations, predictions: {"accuracy": 1.0}, id="less than one item, all right"),
    ],
)
def test_an_accuracy_that_is_likely_a_share_is_told(score, caplog, get_result):
    result, _ = score(eval_func=get_result)
    [record] = caplog.records
    assert "is likely a share of 1" in record.getMessage()
    assert "accuracy_interval" not in result


@pytest.mark.parametrize(
    "get_result",
    [
        pytest.param(accuracy_of([0, 0, 0, 0]), id="nothing right"),
        pytest.param(accuracy_of([0.02, 0, 0, 0]), id="half a percent by its marks"),
        pytest.param(accuracy_of([1, 1, 1, 1]), id="percent"),
        pytest.param(lambda annotations, predictions: {"accuracy": 25}, id="percent without marks"),
        pytest.param(lambda annotations, predictions: {"score": 1.0}, id="another number"),
    ],
)
def test_an_accuracy_in_percent_is_not_called_a_share(score, caplog, get_result):
    score(eval_func=get_result)
    assert caplog.records == []


def test_one_right_of_a_hundred_may_be_one_percent(score, caplog):
    annotations = {str(number): choice() for number in range(100)}
    answers = [{"question_id": number, "answer": "A"} for number in annotations]
    score(answers, annotations, eval_func=lambda annotations, predictions: {"accuracy": 1.0})
    assert caplog.records == []


def test_what_scoring_code_says_of_its_own_error_is_kept(score):
    code = accuracy_of([1, 0, 0, 1])
    result, _ = score(eval_func=lambda *given: {**code(*given), "n": "three", "accuracy_stderr": 1})
    assert (result["n"], result["accuracy_stderr"], result["accuracy_interval"]) == ("three", 1, [15.0, 85.0])


@pytest.mark.parametrize("as_keyword", [False, True])
def test_scoring_code_may_want_the_answered_items_only(score, as_keyword):
    class Mine(BaseEvaluator):
        wants_answered_only = not as_keyword

        def cal_accuracy(self, annotations, predictions, *args, **kwargs):
            return {"seen": len(predictions)}

    result, _ = score(evaluator=Mine(wants_answered_only=True) if as_keyword else Mine())
    assert (result["seen"], result["over"], result["counts"]["asked"]) == (3, "answered", 4)


def test_a_function_may_score(score):
    assert score(eval_func=lambda annotations, predictions: {"n": len(predictions)})[0]["n"] == 4


def test_a_subclass_may_score(score):
    class Mine(BaseEvaluator):
        def cal_accuracy(self, annotations, predictions, *args, **kwargs):
            return {"mine": self.settings["weight"] * len(predictions)}

    result, _ = score(evaluator=Mine(weight=2))
    assert (result["mine"], result["evaluator"], result["over"]) == (8, "Mine", "asked")


def test_a_subclass_may_build_on_the_rules(score):
    class Mine(BaseEvaluator):
        def cal_accuracy(self, annotations, predictions, *args, **kwargs):
            return {"doubled": 2 * super().cal_accuracy(annotations, predictions)["accuracy"]}

    result, evaluated = score(evaluator=Mine())
    assert result["doubled"] == 50.0
    assert [entry.get("correct") for entry in evaluated] == [1.0, 0.0, 0.0, 0.0]


def test_scoring_code_is_not_called_where_nothing_was_answered(score):
    def get_result(annotations, predictions):
        return {"share": 1 / len(predictions)}

    result, _ = score(ANSWERS[3:], eval_func=get_result)
    assert "share" not in result
    assert (result["counts"]["answered"], result["partial"]) == (0, "1 of 4 questions")


def test_scoring_code_that_raises_is_told_and_leaves_no_result(score, tmp_path):
    (tmp_path / "evaluate.py").write_text("def get_result(annotations, predictions):\n    return annotations['x']\n")
    with pytest.raises(UserCodeError, match=r"evaluate\.py: get_result: KeyError: 'x' \(at .*evaluate\.py:2\)$"):
        score(eval_func="evaluate.py")
    assert not (tmp_path / "t_result.json").exists()
    assert (tmp_path / "t.json").exists()


def test_scoring_code_cannot_make_counts_up(score):
    result, _ = score(eval_func=lambda annotations, predictions: {"counts": {"failed": 0}, "over": "answered"})
    assert (result["counts"]["failed"], result["over"]) == (1, "asked")


@pytest.mark.parametrize(
    ("eval_func", "message"),
    [
        ("gone.py", r"gone\.py: no such file$"),
        ("empty.py", r"empty\.py: defines no function 'get_result'$"),
        (5, r"^evaluator: eval_func: expected a file or a function, found 5$"),
    ],
)
def test_a_wrong_eval_func_is_told_when_it_is_built(tmp_path, eval_func, message):
    (tmp_path / "empty.py").write_text("")
    with pytest.raises(ConfigError, match=message):
        BaseEvaluator(eval_func=eval_func, base_dir=str(tmp_path))


def test_fields_that_scoring_code_writes_about_repeats_are_lists(score):
    def get_result(annotations, predictions):
        for prediction in predictions:
            prediction["note"] = prediction["question_id"]
        return {}

    _, evaluated = score(REPEATED, {"1": choice(), "2": choice()}, eval_func=get_result, aggregation_fields=["note"])
    assert [entry["note"] for entry in evaluated] == [
        ["1_inference_0", "1_inference_1"],
        ["2_inference_0", "2_inference_1"],
    ]


def test_unknown_keywords_are_kept():
    assert BaseEvaluator(tracker_type="x", use_llm=False).settings == {"tracker_type": "x", "use_llm": False}


def test_files_bear_the_task_s_safe_name(tmp_path):
    dataset = Annotated(FOUR, name="a/b")
    (tmp_path / "a_b-c14cddc0.json").write_text(json.dumps(ANSWERS))
    BaseEvaluator().process(dataset, str(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a_b-c14cddc0.json", "a_b-c14cddc0_evaluated.json", "a_b-c14cddc0_result.json",
    ]  # fmt: skip


def test_a_file_that_a_metric_lacks_is_not_blamed_on_the_results(score, tmp_path):
    class Reading(Metric):
        def score(self, text, annotation):
            return Verdict(correct=1.0, extracted=(tmp_path / "mask.png").read_text(), rule="mask")

    evaluator = BaseEvaluator()
    evaluator.metrics = [Reading()]
    with pytest.raises(FileNotFoundError, match=r"mask\.png"):
        score(evaluator=evaluator)
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]


def test_a_scoring_that_fails_at_its_end_leaves_the_entries_as_they_were(score, tmp_path):
    score()
    before = (tmp_path / "t_evaluated.json").read_bytes()
    with pytest.raises(DataError, match="nowhere"):
        score(ANSWERS[:1], cluster_by="nowhere")
    assert (tmp_path / "t_evaluated.json").read_bytes() == before


TWICE = [
    {"question_id": "1", "answer": {"inference_0": "A", "inference_1": "A"}},
    {"question_id": "2", "answer": {"inference_0": "A"}},
]


@pytest.mark.parametrize(
    ("answers", "config", "partial"),
    [
        (TWICE, "{}", "2 of 4 questions, 3 of 4 repetitions"),
        (
            TWICE[1:],
            '{"model": {"num_infers": 2}, "scope": "limit 1"}',
            "1 of 4 questions (limit 1), 1 of 2 repetitions",
        ),
        (TWICE[:1], '{"model": {"num_infers": 2}}', "1 of 4 questions"),
        (TWICE[:1], '{"model": {"num_infers": "many"}}', "1 of 4 questions"),
    ],
)
def test_repetitions_that_are_missing_make_a_partial_result(score, answers, config, partial):
    assert score(answers, config=config)[0]["partial"] == partial


def test_a_question_s_cluster_stands_with_its_score_for_comparisons(score):
    annotations = {**FOUR, "1": {**FOUR["1"], "image": ["a", "b"]}}
    _, evaluated = score(annotations=annotations, cluster_by="image")
    assert evaluated[0]["cluster"] == "['a', 'b']"
    assert "cluster" not in evaluated[1]
