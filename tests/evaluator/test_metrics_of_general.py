"""The metrics `general_vqa` and `general_vmcq`, from saved answers to the files that scoring writes."""

from __future__ import annotations

import json
import logging
import math

import pytest

from flagmm.evaluator.metric import build_metric
from flagmm.evaluator.metric_evaluator import MetricEvaluator
from flagmm.jsonio import read_json
from flagmm.metrics.general_vqa import SCORE_NAMES, score_general_vqa
from tests.evaluator.test_base_evaluator import Annotated

FIVE_OPTIONS = ["ox", "cat", "dog", "hen", "fox"]


@pytest.fixture
def run(tmp_path):
    """`_result.json` and the entries of `_evaluated.json` for {id: (annotation, reply)}; a reply of None failed."""

    def run(items, metric, **settings):
        records = [
            {"question_id": key, "answer": reply or "", "status": "failed" if reply is None else "ok"}
            for key, (_, reply) in items.items()
        ]
        (tmp_path / "t.json").write_text(json.dumps(records))
        evaluator = MetricEvaluator(metrics=metric, **settings)
        result = evaluator.process(Annotated({key: item for key, (item, _) in items.items()}), tmp_path)
        return result, {entry["question_id"]: entry for entry in read_json(tmp_path / "t_evaluated.json")}

    return run


def vqa(answer, subset="s"):
    return {"question_type": "vqa", "answer": answer, "subset": subset}


def test_the_thirteen_numbers_are_means_over_all_questions_with_an_answer(run):
    items = {
        "right": (vqa("a red dog"), "a red dog"),
        "half": (vqa("a red dog"), "a red cat sleeps"),
        "blank": (vqa("a red dog"), " \n"),
        "failed": (vqa("a red dog"), None),
        "no reference": (vqa(None), "a red dog"),
    }
    result, evaluated = run(items, "general_vqa")
    assert set(SCORE_NAMES) <= set(result)
    # of the longer reply 2 of 4 words and 1 of 3 pairs are right, and it is not penalised
    assert result["bleu-1"] == round((1 + 2 / 4) / 4, 4)
    assert result["bleu-2"] == round((1 + 1 / 3) / 4, 4)
    assert result["bleu-3"] == round(1 / 4, 4)
    assert result["bleu-4"] == 0
    assert result["Rouge-L-R"] == round((1 + 2 / 3) / 4, 4)
    assert result["Rouge-L-P"] == round((1 + 2 / 4) / 4, 4)
    assert (result["headline"], result["n"], result["counts"]["unscored"]) == ("Rouge-L-R", 4, 1)
    assert evaluated["half"]["scores"] == score_general_vqa("a red cat sleeps", "a red dog")
    assert evaluated["half"]["scores"].keys() == set(SCORE_NAMES)
    assert evaluated["no reference"]["correct"] is None
    assert evaluated["failed"]["correct"] == 0


def test_a_fraction_has_no_interval_in_percent(run):
    for reply in ("dog", "cow"):
        result, _ = run({"1": (vqa("dog"), reply)}, "general_vqa")
        assert not [key for key in result if key.endswith(("_stderr", "_interval", "_answered"))]


def test_every_subset_has_all_thirteen_numbers_and_its_count(run):
    items = {
        "1": (vqa("dog", "a"), "dog"),
        "2": (vqa("dog", "a"), "cow"),
        "3": (vqa("dog", "b"), "dog"),
    }
    result, _ = run(items, "general_vqa", group_by=["subset"])
    groups = result["groups"]["subset"]
    assert {name: groups["a"][name] for name in ("bleu-1", "Rouge-L-R", "n")} == {
        "bleu-1": 0.5,
        "Rouge-L-R": 0.5,
        "n": 2,
    }
    assert {name: groups["b"][name] for name in ("bleu-1", "Rouge-L-R", "n")} == {
        "bleu-1": 1.0,
        "Rouge-L-R": 1.0,
        "n": 1,
    }
    assert all(set(SCORE_NAMES) <= set(numbers) for numbers in groups.values())
    assert result["Rouge-L-R"] == round(2 / 3, 4)


def test_thinking_is_left_out_and_the_first_of_several_answers_compared():
    metric = build_metric("general_vqa", where="t")
    assert metric.score("<think>a cow</think>dog", vqa("dog")).correct == 1
    assert metric.score("dog", vqa(["dog", "cow"])).correct == 1
    assert metric.score("cow", vqa(["dog", "cow"])).correct == 0


def test_without_a_single_answer_there_is_no_number(run):
    result, _ = run({"1": (vqa(None), "dog")}, "general_vqa")
    assert result["Rouge-L-R"] is None
    assert result["n"] == 0


def test_repeats_are_averaged_within_a_question_first(tmp_path):
    record = {"question_id": "1", "answer": {"inference_0": "dog", "inference_1": "cow"}, "statuses": ["ok", "ok"]}
    (tmp_path / "t.json").write_text(json.dumps([record]))
    result = MetricEvaluator(metrics="general_vqa").process(Annotated({"1": vqa("dog")}), tmp_path)
    assert (result["bleu-1"], result["Rouge-L-R"]) == (0.5, 0.5)
    assert result["repeats"]["pass_at_k"] == {"1": 50.0, "2": 100.0}
    [entry] = read_json(tmp_path / "t_evaluated.json")
    assert [scores["bleu-1"] for scores in entry["scores"]] == [1.0, 0.0]


def vmcq(answer, options=FIVE_OPTIONS, *, kind="multiple-choice", language="english"):
    return {"question_type": kind, "options": options, "answer": answer, "language": language}


@pytest.mark.parametrize(
    ("reply", "annotation", "correct"),
    [
        pytest.param("ANSWER: B", vmcq("B"), 1, id="marker"),
        pytest.param("ANSWER: B", vmcq("b"), 1, id="lower-case answer"),
        pytest.param("答案：B", vmcq("B", language="chinese"), 1, id="chinese marker"),
        pytest.param("ANSWER: 2", vmcq("2", [str(n) * 3 for n in range(28)]), 1, id="label beyond Z"),
        pytest.param("ANSWER: A, C", vmcq("AC", kind="multiple-response"), 1, id="several"),
        pytest.param("ANSWER: C and A", vmcq("a,c", kind="multiple-response"), 1, id="several in another order"),
        pytest.param(
            "答案：A、C", vmcq("AC", kind="multiple-response", language="chinese"), 1, id="several in Chinese"
        ),
        pytest.param("ANSWER: A", vmcq("AC", kind="multiple-response"), 0, id="one of several"),
        pytest.param("ANSWER: A, B, C", vmcq("AC", kind="multiple-response"), 0, id="one too many"),
        pytest.param("ANSWER: C", vmcq(["B", "C"]), 1, id="one of the accepted"),
        pytest.param("ANSWER: D", vmcq(["B", "C"]), 0, id="none of the accepted"),
    ],
)
@pytest.mark.parametrize("rule", ["careful", "reference"])
def test_choices_are_read_by_both_rules(rule, reply, annotation, correct):
    verdict = build_metric({"type": "general_vmcq", "rule": rule}, where="t").score(reply, annotation)
    assert verdict.correct == correct
    assert verdict.careful is verdict.reference is None


def test_a_capital_letter_at_the_end_is_an_answer_for_evalscope_only(run):
    items = {"1": (vmcq("D"), "It cannot be seen in this DVD"), "2": (vmcq("B"), "ANSWER: B")}
    result, evaluated = run(items, "general_vmcq")
    assert (result["accuracy"], result["rule_disagreements"], result["counts"]["unparsed"]) == (50.0, 1, 1)
    assert evaluated["1"]["reference_correct"] == 1
    assert "reference_correct" not in evaluated["2"]
    result, evaluated = run(items, {"type": "general_vmcq", "rule": "reference"})
    assert (result["accuracy"], result["rule_disagreements"]) == (100.0, 1)
    assert evaluated["1"]["careful_correct"] == 0


@pytest.mark.parametrize("answer", ["F", "3", "AF", ["F"]])
def test_an_answer_that_is_no_option_leaves_the_question_unscored(run, caplog, answer):
    caplog.set_level(logging.WARNING)
    result, _ = run({"1": (vmcq(answer), "ANSWER: A"), "2": (vmcq("A"), "ANSWER: A")}, "general_vmcq")
    assert (result["accuracy"], result["n"], result["counts"]["unscored"]) == (100.0, 1, 1)
    assert "question_id '1'" in caplog.text


def test_a_question_without_an_answer_is_not_scored_and_not_warned_of(run, caplog):
    result, _ = run({"1": (vmcq(None), "ANSWER: A")}, "general_vmcq")
    assert (result["accuracy"], result["counts"]["unscored"], caplog.text) == (None, 1, "")
    assert math.isclose(result["n"], 0)
