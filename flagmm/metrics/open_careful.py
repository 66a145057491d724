"""Whether a reply states the right answer to one of FlagEvalMM's typed open questions, read as a careful person would.

FlagEvalMM (see `flagevalmm_open`) takes the last number of the text and any part of a word, so that "3.2 m (10.5 ft)"
misses 3.2 and "banana" has an A. Here numbers may be words, fractions, powers, percentages and decimals with a comma,
numbers beside the answer do not count, and a text must be whole words, not negated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from flagmm.metrics.flagevalmm_numbers import extract_numbers, number_word_value
from flagmm.metrics.latex_box import is_negated_box, last_box
from flagmm.metrics.text_match import announced_line, fold_width, is_bound, join_digits
from flagmm.thinking import split_thinking

_MAX_TEXT = 20_000
_CUE = re.compile(r"\banswers?\b(?:\s+(?:is|are))?\s*[:：]?|答案(?:是|为)?\s*[:：]?", re.IGNORECASE)
_MARKUP = re.compile(r"\\(?:text|mathrm|mbox)\s*\{([^{}]*)\}")
_NOISE = re.compile(r"\*\*|\$|\\[,;!]|\\left(?![a-z])|\\right(?![a-z])")

_BRACKETED = re.compile(r"\([^()]*\)")
_BESIDE = re.compile(
    r"(?:\b(?:not|than)|n't|\binstead of|\brather than|不是)\s*[-+]?\d[\d.,]*"  # what it is not
    r"|(?<=\d)\s*(?:out\s+)?of\s+(?:the\s+|all\s+|these\s+)?\d+"  # how many there are in all
    r"|(?:±|\\pm)\s*\d[\d.]*",  # how exact it is
    re.IGNORECASE,
)
_REASON = re.compile(r"\b(?:because|since)\b|因为|由于", re.IGNORECASE)

_DIGITS = r"(?:\d{1,3}(?:[,\s]\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+"
_QUANTITY = re.compile(
    rf"""(?<!\^)(?<!\^\{{)(?P<sign>(?<![\w.)\]}}])[-+]|\bminus\s)?(?:
    (?P<whole>\d{{1,15}})?\s?\\[dt]?frac\s?\{{\s?(?P<top>-?(?:{_DIGITS}))\s?\}}\s?\{{\s?(?P<bottom>{_DIGITS})\s?\}}
    |(?P<units>\d{{1,5}})\s(?P<above>\d{{1,5}})/(?P<below>\d{{1,5}})(?![\d/])
    |(?P<comma>\d{{1,15}},\d{{1,2}})(?![\d,])
    |(?P<value>{_DIGITS})(?:
        e(?P<e>[-+]?\d{{1,3}})(?!\d)
        |\s?(?:x|×|\\times|\*)\s?10\s?\^\s?\{{?\s?(?P<power>[-+]?\d{{1,3}})(?!\d)\s?\}}?
        |\s?\^\s?\{{?\s?(?P<exponent>-?\d{{1,3}})(?!\d)\s?\}}?
        |\s?/\s?(?P<over>{_DIGITS})(?![\d/])
    )?)(?:\s?(?P<percent>%|\\%|percent))?""",
    re.VERBOSE | re.IGNORECASE,
)
_SIMPLE_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?|[-+]?\d+(?:\.\d+)?|\.\d+")
_ITEM_LABEL = re.compile(
    r"[a-z]_?\{?\d+\}?\s*(?=[=:])|^\s*(?:\(\d+\)|\d+[.):])\s+(?=\S)|\(\d\)\s*(?=[-+.\d])", re.IGNORECASE | re.MULTILINE
)
_WORD = re.compile(r"[a-z]+|\S", re.IGNORECASE)
_BEFORE_AND = ("hundred", "thousand", "million", "billion")
_CHINESE_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九十")} | {"两": 2}

_NOT = r"(?P<no>\b(?:not|never)\s+|n't\s+)?"
_NEVER = r"(?P<no>(?!))?"
_TRUTH_WORDS = (
    re.compile(rf"{_NOT}\b(?:(?P<true>true)|(?P<false>false|untrue))\b", re.IGNORECASE),
    re.compile(rf"{_NOT}\b(?:(?P<true>correct)|(?P<false>incorrect|wrong))\b", re.IGNORECASE),
    re.compile(r"(?P<no>不)?(?:(?P<true>正确|对|[√✓✔])|(?P<false>错误|错|[×✗✘]))"),
    re.compile(rf"{_NEVER}\b(?:(?P<true>T)|(?P<false>F))\b"),
    re.compile(rf"{_NEVER}\b(?:(?P<true>yes)|(?P<false>no))\b", re.IGNORECASE),
    re.compile(r"(?P<no>不)?(?:(?P<true>是)|(?P<false>否))"),
)

_NEGATION = re.compile(
    r"(?:\b(?:not|no|never|neither|nor|without|except)|n't)\s+(?:(?:a|an|the|in|at)\s+)?$|(?:不是|并非|没有)$",
    re.IGNORECASE,
)
_NEGATION_REACH = 30


def open_statement(reply: str) -> str:
    """Return the part of a reply that answers: the last box, else the line after the last "answer", else all.

    Thinking goes first. A minus before the box belongs to it.
    """
    text = split_thinking(reply).answer[-_MAX_TEXT:]
    boxed = last_box(text)
    if boxed is not None and boxed.strip():
        return f"-{boxed.strip()}" if is_negated_box(text) else boxed
    cues = list(_CUE.finditer(text))
    line = announced_line(text, cues[-1].end()) if cues else ""
    return line or text


def states_number(statement: str, answer: float, *, tolerance: float) -> bool:
    """Say whether the number that a statement ends with is less than `tolerance` away, or exactly the answer.

    "50%" is 50 and 0.5, and "3,2" is 3.2; numbers in brackets, after "not" and after "of" do not count, nor what
    follows "because".
    """
    values = _last_quantity(_clean(statement))
    return any(value == answer or abs(value - answer) < tolerance for value in values)


def number_sequences(statement: str) -> list[list[float]]:
    """Return the ways to read a statement as a list of numbers.

    With and without labels such as `x1 =` and `(1)`, with and without what stands in brackets, with "100,200" as one
    number and as two.
    """
    text = _clean(statement)
    texts = [text, _ITEM_LABEL.sub(" ", text), _BRACKETED.sub(" ", text)]
    sequences = [read(version) for version in texts for read in (extract_numbers, _simple_numbers)]
    if not any(sequences):
        sequences = [[float(value) for value in _word_values(text)]]
    return sequences


def whole_number_value(text: str) -> float | None:
    """Return the value of a text that is one number and nothing else, in digits or English words; None for percentages.

    >>> whole_number_value("1/2"), whole_number_value("forty-two"), whole_number_value("42 cm")
    (0.5, 42.0, None)
    """
    cleaned = _clean(text)
    found = _QUANTITY.fullmatch(cleaned)
    if found and not found["percent"]:
        return next(_values(found), None)
    words = [word for word in _WORD.findall(cleaned) if word not in "-、"]
    if words and all(number_word_value(word) is not None or word in _CHINESE_DIGITS for word in words):
        values = _word_values(cleaned)
        return float(values[0]) if len(values) == 1 else None
    return None


def truth_values(statement: str) -> list[bool]:
    """Return the truth values that a statement lists, in the first kind of words that it has.

    Kinds are true, correct, 正确, T, yes and 是, with their opposites. "not true" and "untrue" are false.
    """
    for words in _TRUTH_WORDS:
        found = [(word["true"] is not None) != bool(word["no"]) for word in words.finditer(statement)]
        if found:
            return found
    return []


def states_text(statement: str, answer: str) -> bool:
    """Say whether a statement has the words of `answer`, or their plural, not negated; it always has an empty answer.

    Case does not matter.
    """
    text, goal = _clean(statement).lower(), _clean(answer).lower()
    if not goal:
        return True
    start = r"(?<![a-z0-9_])" if re.match(r"[a-z0-9_]", goal) else ""
    end = r"(?![a-z0-9_])" if re.search(r"[a-z0-9_]\Z", goal) else ""
    plural = "(?:e?s)?" if re.search(r"[a-z]{3}\Z", goal) else ""
    return any(
        _NEGATION.search(text[max(0, place.start() - _NEGATION_REACH) : place.start()]) is None
        for place in re.finditer(f"{start}{re.escape(goal)}{plural}{end}", text)
    )


def _clean(text: str) -> str:
    return _NOISE.sub("", _MARKUP.sub(r"\1", join_digits(fold_width(text)))).strip()


def _last_quantity(text: str) -> list[float]:
    """The values that the last number may mean."""
    reason = _REASON.search(text)
    if reason and re.search(r"\d", text[: reason.start()]):
        text = text[: reason.start()]
    outside = _BRACKETED.sub(" ", text)
    text = _BESIDE.sub(" ", outside if re.search(r"\d", outside) else text)
    found = [quantity for quantity in _QUANTITY.finditer(text) if not is_bound(text, quantity.start(), quantity.end())]
    alone = [quantity for quantity in found if not re.match("[A-Za-z]", text[max(0, quantity.start() - 1) :])]
    if found:
        return list(_values((alone or found)[-1]))
    words = _word_values(text)
    return [float(words[-1])] if words else []


def _values(quantity: re.Match[str]) -> Iterator[float]:
    try:
        value = _unsigned_value(quantity) * (-1 if quantity["sign"] not in (None, "+") else 1)
    except (ZeroDivisionError, OverflowError):
        return
    yield value
    if quantity["percent"]:
        yield value / 100


def _unsigned_value(quantity: re.Match[str]) -> float:
    if quantity["top"]:
        return float(quantity["whole"] or 0) + _plain(quantity["top"]) / _plain(quantity["bottom"])
    if quantity["units"]:
        return int(quantity["units"]) + int(quantity["above"]) / int(quantity["below"])
    if quantity["comma"]:
        return float(quantity["comma"].replace(",", "."))
    value = _plain(quantity["value"])
    if quantity["exponent"]:
        return float(value ** int(quantity["exponent"]))
    if quantity["over"]:
        return value / _plain(quantity["over"])
    return value * 10.0 ** int(quantity["e"] or quantity["power"] or 0)


def _plain(digits: str) -> float:
    return float(re.sub(r"[,\s]", "", digits))


def _simple_numbers(text: str) -> list[float]:
    return [float(number) for number in _SIMPLE_NUMBER.findall(text)]


def _word_values(text: str) -> list[int]:
    """The values of the English number words, and of Chinese digits where there are none, in order."""
    runs: list[list[str]] = [[]]
    for word in _WORD.findall(text):
        if number_word_value(word) is not None:
            runs[-1].append(word)
        elif word != "-" and runs[-1] and not (word.lower() == "and" and runs[-1][-1].lower() in _BEFORE_AND):
            runs.append([])
    values = [number_word_value(" ".join(run)) for run in runs if run]
    english = [value for value in values if value is not None]
    return english or [_CHINESE_DIGITS[character] for character in text if character in _CHINESE_DIGITS]
