"""The verdict in a judge's reply: any common form of one, where it is the last thing that the reply says.

A form is a word ("Correct", "no", "错误"), a letter or number that the prompt gives a meaning, either of them behind
a label ("Judgement: yes"), a plain sentence ("The answer is wrong."), or a JSON object. The whole last statement has
to be of such a form: one that hedges, names both verdicts, or goes on after the verdict is none, and nothing is
guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from flagmm.evaluator.last_statement import JsonObject, json_at_end, last_statements
from flagmm.lazy_regex import lazy_compile

Grade = Literal["correct", "incorrect", "not_attempted"]
Meanings = Mapping[str, Grade]
"""What letters and numbers stand for, such as {"A": "correct"}."""

NUMBERS: Meanings = {"1": "correct", "0": "incorrect"}
"""What is meant where no prompt says otherwise."""

_CLEAR = {
    "correct": "correct|right|accurate|equivalent|正确|对|正确的|对的|一致",
    "incorrect": "incorrect|wrong|inaccurate|not correct|not right|not equivalent"
    "|错误|错|不正确|不对|错误的|错的|不正确的|不对的|不一致",
}
_SHORT = {
    "correct": "yes|y|true|pass|passed|是|是的|✓|✔|✅|☑|√",
    "incorrect": "no|n|false|fail|failed|not true|否|不是|不是的|✗|✘|❌|×",
}
_NOT_ATTEMPTED = {"not_attempted": "not attempted|未作答|未尝试"}
_JSON_LETTERS: Meanings = {"A": "correct", "B": "incorrect"}  # the verdicts of EvalScope's judges

_WORDS_FOR_KEYS = "verdict|judge?ment|grade|decision|conclusion|result|evaluation|assessment|label|correctness"
_LABEL = lazy_compile(
    rf"(?:(?:my|the|so|thus|hence|therefore|final|overall)[, ]\s*)*(?:{_WORDS_FOR_KEYS}|rating|score)(?:\s*\([^()]*\))?"
    r"\s*(?:is\b|was\b|:|=|->|=>|→|-)\s*:?\s*(.+)"
)
_ASKED = lazy_compile(
    r"(?:(?:is|are|was)\s+)?(?:(?:the|this|that|it)\s+)?(?:\w+'s\s+)?(?:(?:final|predicted|given)\s+)?"
    r"(?:(?:answer|response|prediction|reply|solution)\s+)?(?:is\s+)?(?:correct|equivalent)\s*[?:=]+\s*(.+)"
)
_ANSWER = lazy_compile(r"(?:final\s+)?answer\s*[:=]\s*(.+)")
_SENTENCE = lazy_compile(
    r"(?:(?:so|therefore|thus|hence|overall|finally|in conclusion|in summary),?\s+)?"
    r"(?:(?:the|this|that|its)\s+)?(?:(?:student|model|user|assistant|ai|candidate)(?:'s)?\s+)?"
    r"(?:(?:final|predicted|given|submitted|provided|candidate)\s+)?"
    r"(?:answer|response|prediction|reply|solution|it|this|that)\s+(?:is|was)\s+(?:therefore\s+|thus\s+|hence\s+)?(.+)"
)
_CJK_LABEL = lazy_compile(
    r"(?:最终)?(?:判断|判定|评判|裁决|结论|评价|判决|评估|结果|评分|得分|是否正确|是否一致)(?:结果)?\s*(?:是|为|:|=)\s*:?\s*(.+)"
)
_CJK_SENTENCE = lazy_compile(
    r"(?:因此|所以|综上|综上所述|故)?\s*[,，]?\s*(?:该|这个|此|学生的?|模型的?|考生的?|预测的?|给出的?|最终)*"
    r"(?:回答|答案|作答|预测|解答)\s*(?:是|为)?\s*(.+)"
)
_NEGATIVE = lazy_compile(r"\b(?:wrong|incorrect|inaccurate|differ\w*|mis\w+|not|false|fail\w*)\b|n't|错|不|误")
_LONGEST = 200
"""Characters of a statement that is a verdict."""
_DRESS = " \t*_`#~|.,;:!。，；：！、"
_BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">", '"': '"', "'": "'", "“": "”", "‘": "’", "【": "】", "「": "」"}
_BOX = lazy_compile(r"\$*\\(?:boxed|text|mathbf|textbf)\s*\{([^{}]*)\}\$*")
_TAGGED = lazy_compile(r"<(\w+)>(.*)</\1>")
_MARKED = lazy_compile(r"(?:([✓✔✅☑✗✘❌])\s*(?P<behind>\w.*)|(?P<before>.*\w)\W*?([✓✔✅☑✗✘❌]))")
_NUMBER = lazy_compile(r"(\d)(?:\.0+)?(?:\s*/\s*1(?:\.0+)?)?")

_MEANT_WORD = r"(not[ _-]correct|incorrect|correct|wrong|not[ _-]attempted|不正确|错误|正确)"
_FILLER = (
    r"(?:(?:the|this|that|it|its|it's|an?|answer|response|prediction|student'?s?|model'?s?|predicted|is|are)\s+){0,6}"
)
_DEFINED = lazy_compile(
    rf"(?<![\w.,])[\"'`*(\[]*([A-E]|\d|[Yy][Ee][Ss]|[Nn][Oo])[\"'`*)\]]*\s*"
    r"(?:[:：=–—→.)-]+>?|(?:if|for|when|means|stands for|indicates)\b)"
    rf"\s*[\"'`*]*(?i:{_FILLER}[\"'`*]*{_MEANT_WORD})(?!\w)"
)
_OTHERWISE = lazy_compile(
    r"(?<![\w.,])[\"'`*(\[]*([A-E]|\d)[\"'`*)\]]*\s*,?\s*(?:otherwise|if not|if it is not|else)\b"
)
_DIGITS = lazy_compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\w)")


def read_verdict(reply: str, meanings: Meanings = NUMBERS) -> Grade | None:
    """Whether the judge says "correct" or "incorrect"; None where it clearly says neither.

    Args:
        meanings: what letters and numbers stand for; see `meanings_in`.

    >>> read_verdict("Yes, it did write a number, but the wrong one.\\n\\nNo")
    'incorrect'
    >>> read_verdict("It is probably correct.") is None
    True
    """
    found = read_grade(reply, meanings)
    return None if found == "not_attempted" else found


def read_grade(reply: str, meanings: Meanings = NUMBERS) -> Grade | None:
    """The same, with "not_attempted" as a third verdict."""
    values = json_at_end(reply)
    if values is not None:
        return _of_json(values, meanings)
    statements = last_statements(reply)
    if not statements:
        return None
    last, is_whole_line = statements[-1]
    before = statements[-2][0] if len(statements) > 1 else ""
    found = _of_statement(last, meanings if is_whole_line else {})
    if found is None or _answers_a_negative(before, last):
        return None
    earlier = _of_statement(before, meanings) if before else None
    return found if earlier in (None, found) else None


def meanings_in(*prompts: str | None) -> Meanings:
    """What the letters and numbers stand for that a person's own prompt asks for.

    Without any own prompt, or one that says nothing of numbers, 1 is correct and 0 is not; one that speaks of other
    numbers, such as a scale of 1 to 5, gives them no meaning that is not told.

    >>> meanings_in('Reply with A if the answer is correct, "B" otherwise.')
    {'A': 'correct', 'B': 'incorrect'}
    """
    text = "\n".join(prompt for prompt in prompts if prompt)
    told: dict[str, set[Grade]] = {}
    for found in _DEFINED.finditer(text):
        word = re.sub(r"[ _-]", " ", found[2].lower())
        grade = _words_of(_CLEAR, _NOT_ATTEMPTED)[word]
        told.setdefault(found[1].upper(), set()).add(grade)
    defined = {label: next(iter(grades)) for label, grades in told.items() if len(grades) == 1}
    for found in _OTHERWISE.finditer(text):
        if len(set(defined.values())) == 1 and found[1] not in told:
            defined[found[1]] = "incorrect" if "correct" in defined.values() else "correct"
    speaks_of = {number.removesuffix(".0") for number in _DIGITS.findall(text)}
    is_plain = speaks_of <= {"0", "1"} and not told.keys() & {"0", "1"}
    return {**(NUMBERS if is_plain and not defined else {}), **defined}


def _words_of(*kinds: Mapping[Any, str]) -> dict[str, Grade]:
    return {word: grade for kind in kinds for grade, words in kind.items() for word in words.split("|")}


_CLEAR_WORDS = _words_of(_CLEAR)
_WORDS = _words_of(_CLEAR, _SHORT, _NOT_ATTEMPTED)
_YES_OR_NO = frozenset({"yes", "no", "y", "n", "true", "false", "是", "否"})


def _of_statement(text: str, meanings: Meanings) -> Grade | None:
    if len(text) > _LONGEST:
        return None
    found = _of_term(text, meanings)
    if found is not None:
        return found
    low = text.lower().strip(_DRESS)
    for pattern in (_LABEL, _ASKED, _CJK_LABEL):
        if match := pattern.fullmatch(low):
            return _of_term(match[1], meanings)
    for pattern in (_ANSWER, _SENTENCE, _CJK_SENTENCE):  # what they say may be the answer itself
        if match := pattern.fullmatch(low):
            return _CLEAR_WORDS.get(_undressed(match[1]))
    return None


def _of_term(text: str, meanings: Meanings) -> Grade | None:
    """The verdict that a text is, and nothing else."""
    term = _undressed(text)
    if term.upper() in meanings:
        return meanings[term.upper()]
    if number := _NUMBER.fullmatch(term):
        return meanings.get(number[1])
    if marked := _MARKED.fullmatch(term):
        mark, said = marked[1] or marked[4], _of_term(marked["behind"] or marked["before"], meanings)
        return said if said == _WORDS[mark] else None
    return _WORDS.get(" ".join(re.split(r"[\s_-]+", term.lower())))


def _undressed(text: str) -> str:
    """The text without emphasis, brackets and quotes that stand around all of it, and marks at its end."""
    before = None
    while text != before:
        before = text
        text = text.strip(_DRESS)
        for pattern, group in ((_BOX, 1), (_TAGGED, 2)):
            if match := pattern.fullmatch(text):
                text = match[group]
        if len(text) > 1 and _BRACKETS.get(text[0]) == text[-1]:
            text = text[1:-1]
    return text.lower() if len(text) > 1 else text


def _answers_a_negative(question: str, answer: str) -> bool:
    """Whether a yes or no answers a question such as "Is it wrong?", where it is not clear what is meant."""
    is_short = _undressed(answer).lower() in _YES_OR_NO
    return (
        is_short and question.rstrip(_DRESS + "\"'").endswith(("?", "？")) and bool(_NEGATIVE.search(question.lower()))
    )


_KEYS = lazy_compile(
    rf"(?:final_?|is_?|overall_?)*(?:{_WORDS_FOR_KEYS}|correct|判断|判定|评判|结论|判断结果|评判结果|是否正确)"
)
_NUMBER_KEYS = lazy_compile(r"(?:final_?)?(?:score|rating|得分|评分)")


def _of_json(values: JsonObject, meanings: Meanings) -> Grade | None:
    """The verdict under the keys that judges use; none where they differ, or one of them holds something else."""
    said = {_of_value(value, meanings) for value in _values_of(values, _KEYS)}
    scores: set[Grade | None] = {_of_value(value, meanings) for value in _values_of(values, _NUMBER_KEYS)}
    said |= scores - {None} if said else scores  # a mark beside a verdict may be on any scale
    return said.pop() if len(said) == 1 else None


def _values_of(values: JsonObject, keys: Any) -> Iterator[Any]:
    return (value for key, value in values.items() if keys.fullmatch(key.strip().lower().replace(" ", "_")))


def _of_value(value: Any, meanings: Meanings) -> Grade | None:
    if isinstance(value, bool):
        return "correct" if value else "incorrect"
    if isinstance(value, int | float | str):
        return _of_term(str(value), {**_JSON_LETTERS, **meanings})
    return None
