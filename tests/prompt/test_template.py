"""PromptTemplate: parts in order, hooks, and the default instructions."""

from __future__ import annotations

import pytest

from flagmm.errors import ConfigError
from flagmm.prompt.instructions import CHINESE, ENGLISH, default_instruction
from flagmm.prompt.template import PromptTemplate
from flagmm.registry import PROMPTS, build

ANNOTATION = {
    "question_id": "1",
    "question": "Which?\nA. red\nB. blue",
    "question_type": "multiple-choice",
    "topic": "colour",
}
PARTS = ("examples", "pre_prompt", "post_prompt")
LETTER = "Answer with the option's letter from the given choices directly."
PHRASE = "Answer the question using a single word or phrase."


def prompt(annotation=None, **settings):
    return PromptTemplate(**settings).build_prompt({**ANNOTATION, **(annotation or {})})


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param({}, f"{ANNOTATION['question']}\n{LETTER}", id="default instruction"),
        pytest.param({"post_prompt": ""}, ANNOTATION["question"], id="none"),
        pytest.param({"post_prompt": "Say it."}, f"{ANNOTATION['question']}\nSay it.", id="text"),
        pytest.param(
            {"examples": "E1 ", "pre_prompt": "Look. ", "post_prompt": "Say it."},
            f"E1 Look. {ANNOTATION['question']}\nSay it.",
            id="all in order",
        ),
        pytest.param(
            {"pre_prompt": "\n Look. ", "post_prompt": " \n"}, f"Look. {ANNOTATION['question']}", id="stripped"
        ),
        pytest.param(
            {name: lambda annotation, name=name: f"[{name} {annotation['topic']}]" for name in PARTS},
            f"[examples colour][pre_prompt colour]{ANNOTATION['question']}\n[post_prompt colour]",
            id="hooks",
        ),
        pytest.param({"prompt_func": lambda annotation: f"<{annotation['topic']}> "}, "<colour> ", id="whole prompt"),
        pytest.param({"prompt_func": lambda annotation: "x", "post_prompt": "y"}, "x", id="whole prompt, alone"),
    ],
)
def test_the_parts_stand_in_order(settings, expected):
    assert prompt(**settings) == expected


@pytest.mark.parametrize(
    "hook",
    [
        pytest.param(lambda annotation: annotation["topic"], id="annotation"),
        pytest.param(lambda annotation, **kwargs: annotation["topic"], id="annotation and any"),
        pytest.param(lambda **kwargs: kwargs["annotation"]["topic"], id="any"),
        pytest.param(
            lambda question, question_type: "colour" if question_type == "multiple-choice" else "", id="fields"
        ),
        pytest.param(lambda: "colour", id="nothing"),
        pytest.param(lambda other="colour": other, id="its own default"),
    ],
)
def test_a_hook_is_called_with_what_it_takes(hook):
    assert prompt(post_prompt=hook).endswith("\ncolour")


def test_a_hook_cannot_change_the_data_set_s_annotation():
    annotation = dict(ANNOTATION)
    PromptTemplate(post_prompt=lambda annotation: str(annotation.clear())).build_prompt(annotation)
    assert annotation == ANNOTATION


def test_the_fields_may_be_given_as_keywords_and_reach_hooks():
    template = PromptTemplate(post_prompt=lambda annotation, style: f"{annotation['question']} {style}")
    assert template.build_prompt(question="Q?", question_type="open", style="short") == "Q?\nQ? short"


@pytest.mark.parametrize("name", ["pre_prompt", "post_prompt", "examples", "prompt_func"])
def test_a_hook_that_gives_no_text_is_an_error_that_names_it(name):
    def hook(annotation):
        return None

    told = rf"^prompt_template: {name}: \S*hook \(.*/test_template\.py:\d+\) returned None, expected a text$"
    with pytest.raises(ConfigError, match=told):
        prompt(**{name: hook})


def test_task_files_build_it_by_name():
    template = build(PROMPTS, {"type": "PromptTemplate", "post_prompt": "x"}, where="t.py: prompt_template")
    assert isinstance(template, PromptTemplate)
    assert template.post_prompt == "x"


@pytest.mark.parametrize(
    ("question", "question_type", "instruction"),
    [
        ("Which?", "multiple-choice", LETTER),
        ("Which?", "short-answer", PHRASE),
        ("Which?", "open", PHRASE),
        ("Which?", "", PHRASE),
        ("Which?", "multiple-response", ENGLISH["multiple-response"]),
        ("Which?", "fill-in-the-blank", ENGLISH["fill-in-the-blank"]),
        ("Which?", "fill-blank", ENGLISH["fill-in-the-blank"]),
        ("Which?", "yes-no", ENGLISH["yes-no"]),
        ("Which?", "cloze", ENGLISH["cloze"]),
        ("哪个？", "multiple-choice", CHINESE["multiple-choice"]),
        ("哪个？", "short-answer", CHINESE["default"]),
        ("哪个？", "fill-blank", CHINESE["fill-in-the-blank"]),
        ("What does 图 mean?", "yes-no", CHINESE["yes-no"]),
        ("これは？", "short-answer", PHRASE),  # kana alone is no Chinese
        ("¿Cuál？", "multiple-choice", LETTER),  # nor is a full-width mark
    ],
)
def test_the_default_instruction_fits_type_and_language(question, question_type, instruction):
    assert default_instruction(question, question_type) == instruction


def test_both_languages_have_an_instruction_for_the_same_types():
    assert ENGLISH.keys() == CHINESE.keys()
    assert len({*ENGLISH.values(), *CHINESE.values()}) == len(ENGLISH) + len(CHINESE)
