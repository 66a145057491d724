"""The instruction that ends a prompt, by question type and language."""

from __future__ import annotations

# The first and the last English text are those of public benchmarks (LLaVA-1.5's evaluation); scores depend on them.
ENGLISH = {
    "multiple-choice": "Answer with the option's letter from the given choices directly.",
    "multiple-response": (
        "More than one choice may be right. Answer with the letters of all right choices, written together, as in AC."
    ),
    "fill-in-the-blank": (
        "Give only what belongs in the blank, as a single word or phrase. "
        "Where there are several blanks, give their contents in order, separated by a semicolon (;)."
    ),
    "yes-no": "Answer with yes or no only.",
    "cloze": "Give only the words that fill the blanks of the text, in order, separated by a semicolon (;).",
    "default": "Answer the question using a single word or phrase.",
}
CHINESE = {
    "multiple-choice": "请只回答所选选项的字母。",
    "multiple-response": "正确的选项可能不止一个，请只回答所有正确选项的字母，连在一起写，例如AC。",
    "fill-in-the-blank": "请只写出空白处应填的内容；如有多个空白，请按顺序填写，并用分号（;）隔开。",
    "yes-no": "请只回答“对”或“错”。",
    "cloze": "请按顺序只写出文中各空白处应填的内容，并用分号（;）隔开。",
    "default": "请用一个词或短语回答问题。",
}
REASON_AND_BOX = (
    "Think step by step. Then close with one line of the form 'Answer: \\boxed{X}', where X is the final answer; for a "
    "multiple-choice question it is one letter."
)
_SAME_AS = {"fill-blank": "fill-in-the-blank"}


def default_instruction(question: str, question_type: str) -> str:
    """The instruction for a question: Chinese where the question has any Chinese character, else English."""
    instructions = CHINESE if is_chinese(question) else ENGLISH
    kind = _SAME_AS.get(question_type, question_type)
    return instructions.get(kind, instructions["default"])


def is_chinese(text: str) -> bool:
    """Whether any character is a CJK ideograph of the basic block (U+4E00 to U+9FFF)."""
    return any("\u4e00" <= character <= "\u9fff" for character in text)
