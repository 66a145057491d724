"""The metrics `mathvista` and `mathvision`, alone and with a judge that reads what the rules could not."""

from __future__ import annotations

import pytest

from flagmm.evaluator.answers import Answer, Reply
from flagmm.evaluator.judge import Judge
from flagmm.evaluator.judge_settings import JudgeSettings
from flagmm.evaluator.metric import JudgeableMetric
from flagmm.evaluator.metrics_of_maths import MathVision, MathVista
from flagmm.evaluator.verdict import Judged
from flagmm.types import ModelOutput

WHOLE = {"answer": "14", "answer_type": "integer"}
DECIMAL = {"answer": "1.5", "answer_type": "float", "precision": 1.0}
LIST = {"answer": "[1, 2, 3]", "answer_type": "list"}
LETTERS = {"answer": "C", "answer_type": "text", "choices": ["C", "B", "A"]}
TWINS = {"answer": "A", "answer_type": "text", "choices": ["5", "5", "6"]}


@pytest.mark.parametrize(
    ("reply", "annotation", "correct"),
    [
        ("14", WHOLE, 1),
        ("I count 15 of them, so the answer is 14.", WHOLE, 1),
        ('The answer is "14".', WHOLE, 1),
        ("13 or 14", WHOLE, 0),
        ("fourteen", WHOLE, 1),
        ("The length is 1.46 cm.", DECIMAL, 1),
        ("1.50", DECIMAL, 1),
        ("1.44", DECIMAL, 0),
        ("\\[ x = 2 \\] so it is [1,2,3].", LIST, 1),
        ("\\boxed{[1, 2, 3]}", LIST, 1),
        ("First [3, 2, 1], then [1, 2, 3]", LIST, 1),
        ("1, 2, 3", LIST, 1),
        ("[3, 2, 1]", LIST, 0),
        ("no list at all", LIST, 0),
        ("(C)", LETTERS, 1),
        ("(A)", LETTERS, 0),
        ("(B) 5", TWINS, 1),  # the texts are compared, and they are the same
        ("(C)", TWINS, 0),
    ],
)
def test_mathvista_reads_and_compares_by_type(reply, annotation, correct):
    verdict = MathVista().score(reply, annotation)
    assert verdict.correct == correct
    assert verdict.careful is None


def test_the_official_rule_cuts_whole_numbers_and_the_careful_one_does_not():
    official = MathVista().score("14.9", WHOLE)
    assert (official.correct, official.careful) == (1, 0)
    careful = MathVista(rule="careful").score("14.9", WHOLE)
    assert (careful.correct, careful.careful) == (0, None)


def test_a_choice_that_names_no_option_is_no_answer_unless_the_nearest_is_asked_for():
    colours = {"answer": "B", "answer_type": "text", "choices": ["red", "light blue"]}
    assert MathVista().score("lightish blue", colours).extracted is None
    nearest = MathVista(choice="nearest").score("lightish blue", colours)
    assert (nearest.extracted, nearest.correct, nearest.careful) == ("light blue", 1, 0)


@pytest.mark.parametrize(
    ("reply", "annotation", "correct"),
    [
        ("So $x = \\boxed{\\frac{1}{2}}$.", {"answer": "0.5"}, 1),
        ("\\boxed{0.4}", {"answer": "0.5"}, 0),
        ("The answer is C.", {"answer": "C", "options": ["1", "2", "3"]}, 1),
        ("\\boxed{3}", {"answer": "C", "options": ["1", "2", "3"]}, 1),
        ("\\boxed{2}", {"answer": "C", "options": ["1", "2", "3"]}, 0),
    ],
)
def test_mathvision_takes_the_answer_or_its_option(reply, annotation, correct):
    assert MathVision().score(reply, annotation).correct == correct


def test_mathvision_marks_where_a_careful_reading_differs():
    verdict = MathVision().score("**Answer:** 5 cm", {"answer": "5"})
    assert (verdict.correct, verdict.careful) == (0, 1)
    assert MathVision(rule="careful").score("**Answer:** 5 cm", {"answer": "5"}).correct == 1


class ReadingJudge:
    """Gives its replies in order, and remembers what it was asked."""

    name = "judge"

    def __init__(self, *replies: str) -> None:
        self.settings: dict[str, object] = {}
        self.replies = replies
        self.prompts: list[str] = []

    def ask(self, prompts):
        self.prompts = list(prompts)
        return {prompt: ModelOutput(text=text) for prompt, text in zip(prompts, self.replies, strict=True)}


def review(asker: ReadingJudge, *items: tuple[str, dict[str, object]]) -> list[Judged]:
    metric = JudgeableMetric(MathVista())
    judged = []
    for number, (text, annotation) in enumerate(items):
        reply = Reply(text=text, status="ok", finish_reason="stop", usage=None, inference=0)
        answer = Answer(question_id=str(number), annotation=annotation, record={}, replies=(reply,), repeated=False)
        judged.append(Judged(answer=answer, verdicts=(metric.score(text, annotation),), scorable=True))
    return Judge(asker, JudgeSettings(strategy="extract")).review(judged, metric.score)[0]


def test_a_judge_reads_numbers_and_choices_that_the_rules_could_not():
    asker = ReadingJudge("It says so.\nANSWER: 14", "CHOICE: C")
    unread = "Thirteen, or no: one more than that."
    items = review(asker, (unread, WHOLE), ("14", WHOLE), ("The leftmost one.", LETTERS))
    assert [item.score for item in items] == [1, 1, 1]
    assert [item.verdicts[0].rule for item in items] == ["judge_extraction", "mathvista_extract", "judge_extraction"]
    assert [text in prompt for text, prompt in zip((unread, "A. C\nB. B\nC. A"), asker.prompts, strict=True)] == [
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("reply", "rule", "counts"),
    [
        ("ANSWER: 13", "judge_extraction", True),
        ("ANSWER: NONE", "judge_extraction", True),
        ("I would say 14.", "judge_failed", False),
        ("ANSWER: 14\nBut I am not sure.", "judge_failed", False),
        ("ANSWER:", "judge_failed", False),
    ],
)
def test_what_the_judge_reads_may_be_wrong_or_nothing_or_unreadable(reply, rule, counts):
    [item] = review(ReadingJudge(reply), ("Not sure.", WHOLE))
    assert (item.score, item.verdicts[0].rule, item.counts) == (0, rule, counts)


@pytest.mark.parametrize(
    ("answer", "choices", "fits"), [("B", ["1", "2"], True), ("2", ["1", "2"], True), ("C", ["1", "2"], False)]
)
def test_mathvista_scores_no_choice_whose_answer_is_no_option(answer, choices, fits):
    annotation = {"answer": answer, "choices": choices, "answer_type": "text"}
    assert MathVista().can_score(annotation) is fits
