"""How FlagEvalMM reads letters and short texts; task folders import these rules for their own scoring.

They are kept as published numbers were made with them, their faults included: the first capital letter left in a
sentence counts as the choice, and a blank is right when it is merely spelled alike.
Reference: FlagEvalMM fef27ec6, `evaluator/pre_process.py` and `evaluator/base_evaluator.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

# A character class meant as the tag [INST] made the reference delete these letters and the slash everywhere.
_DELETED = re.compile("The|If|[INST/]")
_LABEL_FIRST = re.compile(r"([A-Z])\.")
_CHOICE_CUES = (
    *("boxed", "Answer:", "Answer is", "answer is", "option is", "Correct option", "correct option"),
    *("Answer", "answer", "故选", "选择", "正确选项为", "答案选", "答案为", "答案是", "因此", "答案"),
)
_RESPONSE_LETTER = re.compile("[A-I]")

_WRONG_SIGN = re.compile(r"\\times|不对|不正确|×")
_LATEX_TEXT = re.compile(r"\\text\s*\{([^}\n]*)\}")
_CHARACTERS = str.maketrans(
    dict(zip("：，。；（）＞＜", ":,.;()><", strict=True))
    | {circled: str(number) for number, circled in enumerate("①②③④⑤⑥⑦⑧⑨⑩", start=1)}
    | {"√": "正确", "$": ""}
)
_SYNONYMS = {"变小": "减小", "变大": "增大", "路程": "距离", r"\pi": "π"}
_WHOLE_TEXTS = {"错": "错误", "对": "正确", "(错误)": "错误", "(正确)": "正确"} | {
    quoted: quoted[1] for quoted in ("(T)", "(F)", "“T”", "“F”")
}
_TEXT_CUES = (
    *("Answer:", "Answer is", "answer is", "Answer", "answer"),
    *("答案为", "答案是", "解是", "解为", "答案", "结果", "为", "因此", " = "),
)
_END_MARKS = (".", ",", ":", ";")
_MEASURE = re.compile(r"(\d+)(?:[ckm]?m|s|h|k?g|m?l|mol|°|[厘毫千]?米|月|秒|小时|千?克|毫?升|摩尔)")


@dataclass(frozen=True, kw_only=True)
class FillBlankMatch:
    """What became of one filled blank."""

    correct: bool
    matched: str
    """The normalised line that fits; where none does, all normalised lines."""
    reference: str
    """The normalised right answer."""


def process_multiple_choice(answer: str) -> str:
    """Return the capital letters that are left of `answer` when all else is deleted, in their order.

    "X." at the start gives just X. Otherwise only the text after the last occurrence of the first cue present
    counts. An answer without capitals gives "".

    >>> process_multiple_choice("The answer is (B).")
    'B'
    >>> process_multiple_choice("B: Cat")
    'BC'
    """
    text = _DELETED.sub("", answer).strip()
    labelled = _LABEL_FIRST.match(text)
    if labelled:
        return labelled[1]
    return "".join(re.findall("[A-Z]", _after_last_cue(text, _CHOICE_CUES)))


def clean_choice(answer: object) -> str:
    """Return the letters of an answer: a single character in upper case, else `process_multiple_choice` of it.

    What is no text has no letters.
    """
    if not isinstance(answer, str):
        return ""
    return answer.upper() if len(answer) == 1 else process_multiple_choice(answer)


def response_letters(answer: object) -> str:
    """Return the letters A to I of a reply that may choose several options, sorted, each once."""
    return "".join(sorted(set(_RESPONSE_LETTER.findall(clean_choice(answer)))))


def remove_unit(text: str) -> str:
    """Return `text` without its unit when it is a whole number directly followed by one, else as it is.

    >>> remove_unit("42cm"), remove_unit("42 cm"), remove_unit("4.2cm")
    ('42', '42 cm', '4.2cm')
    """
    measure = _MEASURE.fullmatch(text)
    return measure[1] if measure else text


def normalize_string(text: str) -> str:
    """Return the part of `text` that answers, in one spelling of marks, signs of truth and some Chinese words.

    An `<answer>` element stands for the whole text; after that, what follows the last occurrence of the first cue
    present. One end mark and the unit of a whole number go. Case stays.

    >>> normalize_string("答案为42cm。")
    '42'
    """
    text = _tagged_answer(text)
    if "$" not in text:
        text = _WRONG_SIGN.sub("错误", text)
    head, brace, tail = text.rpartition("}")  # no match can end behind the last brace: not to look there saves time
    text = (_LATEX_TEXT.sub(r"\1", head + brace) + tail).translate(_CHARACTERS)
    for word, synonym in _SYNONYMS.items():
        text = text.replace(word, synonym)
    text = _after_last_cue(_WHOLE_TEXTS.get(text, text), _TEXT_CUES).strip().removeprefix(":")
    if text.endswith(_END_MARKS):
        text = text[:-1]
    return remove_unit(text).strip()


def fill_blank_match(prediction: str, answer: str, *, threshold: float = 0.7) -> FillBlankMatch:
    """Compare each line after the first `</think>`, normalised, with the normalised answer by their spelling.

    One line whose `difflib` ratio is above `threshold` makes the blank right; blank lines are left out, so an empty
    prediction is wrong.

    >>> fill_blank_match("The answer is 42.", "42").correct
    True
    """
    before, closed, after = prediction.partition("</think>")
    lines = [normalize_string(line) for line in (after if closed else before).split("\n")]
    lines = [line for line in lines if line]
    reference = normalize_string(answer)
    fitting = next((line for line in lines if _is_alike(line, reference, threshold)), None)
    return FillBlankMatch(
        correct=fitting is not None,
        matched="\n".join(lines) if fitting is None else fitting,
        reference=reference,
    )


def _is_alike(line: str, reference: str, threshold: float) -> bool:
    matcher = SequenceMatcher(None, line, reference)
    return matcher.real_quick_ratio() > threshold and matcher.ratio() > threshold


def _after_last_cue(text: str, cues: tuple[str, ...]) -> str:
    cue = next((cue for cue in cues if cue in text), None)
    return text if cue is None else text.rpartition(cue)[2]


def _tagged_answer(text: str) -> str:
    inner, closed, _ = text.partition("<answer>")[2].partition("</answer>")
    return inner if closed else text
