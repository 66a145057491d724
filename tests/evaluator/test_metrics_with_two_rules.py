"""Metrics that read by a benchmark's own rule or with care: choices, several letters, blanks, formulas."""

from __future__ import annotations

import json

import pytest

from flagmm.evaluator.metric import build_metric
from flagmm.evaluator.metric_evaluator import MetricEvaluator
from tests.evaluator.test_base_evaluator import Annotated

FOUR = ["red", "green", "blue", "white"]


def process(folder, metric, items):
    """`_result.json` for {id: (annotation, reply)}."""
    records = [{"question_id": key, "answer": reply, "status": "ok"} for key, (_, reply) in items.items()]
    (folder / "t.json").write_text(json.dumps(records))
    return MetricEvaluator(metrics=metric).process(Annotated({key: item for key, (item, _) in items.items()}), folder)


@pytest.mark.parametrize(
    ("metric", "reply", "annotation", "careful", "reference"),
    [
        pytest.param("multiple_response", "A, C", {"answer": "AC", "options": FOUR}, 1, 1, id="letters"),
        pytest.param(
            "multiple_response", "A, C", {"answer": ["c", "a"], "options": FOUR}, 1, 1, id="letters as a list"
        ),
        pytest.param("multiple_response", "A", {"answer": "AC", "options": FOUR}, 0, 0, id="a letter too few"),
        pytest.param(
            "multiple_response", "red and blue", {"answer": "AC", "options": FOUR}, 1, 0, id="texts of options"
        ),
        pytest.param("fill_blank", "42", {"answer": "42"}, 1, 1, id="blank"),
        pytest.param("fill_blank", "142", {"answer": "42"}, 0, 1, id="blank that is alike"),
        pytest.param("fill_blank", "7", {"answer": ["8", "7"]}, 1, 1, id="one of several blanks"),
        pytest.param("math_equal", "so \\boxed{\\frac{1}{2}}", {"answer": "0.5"}, 1, 1, id="value"),
        pytest.param("math_equal", "The answer is x+1.", {"answer": "1+x"}, 1, 0, id="terms in another order"),
        pytest.param("math_equal", "3", {"answer": "4"}, 0, 0, id="other value"),
        pytest.param("vlmevalkit_choice", "B", {"answer": "b", "options": FOUR}, 1, 1, id="choice"),
        pytest.param("vlmevalkit_choice", "I cannot choose", {"answer": "B", "options": FOUR}, 0, 0, id="no choice"),
        pytest.param(
            "vlmevalkit_choice", "It cannot be B", {"answer": "B", "options": FOUR}, 0, 1, id="choice that is denied"
        ),
    ],
)
def test_both_rules_score_and_the_other_is_told_where_it_differs(metric, reply, annotation, careful, reference):
    chosen = build_metric({"type": metric, "rule": "careful"}, where="t").score(reply, annotation)
    official = build_metric({"type": metric, "rule": "reference"}, where="t").score(reply, annotation)
    assert (chosen.correct, official.correct) == (careful, reference)
    differ = careful != reference
    assert (chosen.reference, official.careful) == ((reference, careful) if differ else (None, None))


@pytest.mark.parametrize("metric", ["multiple_response", "vlmevalkit_choice"])
def test_a_letter_that_no_option_has_leaves_the_question_unscored(metric):
    scorer = build_metric(metric, where="t")
    assert not scorer.can_score({"answer": "E", "options": FOUR})
    assert scorer.is_unfit({"answer": "E", "options": FOUR})
    assert scorer.can_score({"answer": "D", "options": FOUR})


def kit(answer, **fields):
    return {"question_type": "multiple-choice", "options": FOUR, "answer": answer, **fields}


def test_the_report_has_a_row_for_each_split_and_a_share_for_each_category(tmp_path):
    items = {
        "1": (kit("A", category="logic_reasoning", split="dev"), "A"),
        "2": (kit("A", category="ocr", split="dev"), "B"),
        "3": (kit("A", category="ocr", split="test"), "A"),
    }
    result = process(tmp_path, "vlmevalkit_choice", items)
    assert result["accuracy"] == 66.67
    assert result["report"]["rows"] == [
        {"split": "dev", "Overall": 0.5, "LR": 1.0, "ocr": 0.0},
        {"split": "test", "Overall": 1.0, "LR": None, "ocr": 1.0},
    ]


def test_circular_evaluation_wants_every_copy_right(tmp_path):
    items = {
        "1": (kit("A", index=1, g_index=1), "A"),
        "2": (kit("B", index=1_000_001, g_index=1), "A"),
        "3": (kit("C", index=2, g_index=2), "C"),
        "4": (kit("D", index=1_000_002, g_index=2), "D"),
    }
    assert process(tmp_path, "vlmevalkit_choice", items)["accuracy"] == 75.0
    result = process(tmp_path, {"type": "vlmevalkit_choice", "circular": True}, items)
    assert (result["accuracy"], result["report"]["rows"]) == (50.0, [{"split": "none", "Overall": 0.5}])
    assert "accuracy_stderr" not in result
