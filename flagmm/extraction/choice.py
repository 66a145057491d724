"""Which option a reply chooses.

The rules are asked in this order; the first that sees anything decides, also when what it sees is undecided
("ANSWER: AB", "None of the above", a label that the item lacks): then there is no answer.

1. the whole reply is a label, or an option's text
2. the last statement: "the answer is …", `\\boxed{…}`, "I choose …", 答案：…, a first or last line that is a label
3. the rules of `extraction.mentions`, for replies that state nothing
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from flagmm.extraction.cues import Cue, find_cues, last_line_cues, line_after, lower_same_length
from flagmm.extraction.item import INSTRUCTION, UNDECIDED, Found, Item, known_labels, make_item
from flagmm.extraction.labels import LIST_CONNECTOR, LabelSet, Reading, read_labels, skip_prefix
from flagmm.extraction.mentions import (
    begins_with_own,
    denied_of_two,
    is_other_option,
    leading_label,
    listed_labels,
    mentioned_label,
    mentioned_text,
    text_in,
    verdict,
)
from flagmm.extraction.reply import NO_ANSWER, Extraction, plain_reply
from flagmm.lazy_regex import has_any, lazy_compile

_SHORT = 64
_BOLD_LABEL = lazy_compile(r"\*\*\s?([A-Z])\s?[.:]?\s?\*\*")
_DRESS = lazy_compile(r"""[\s"'“”‘’`*_\x02:=]*""")
_ONLY_DRESS = lazy_compile(r"""[\s"'“”‘’`*_\])}>」』】》〉$~\x03.,:;!。！]*(?:选项|项|입니다|です)?[.。]?\Z""")
_AFTER_LABEL = " .):-]\"'"
# A line that announces its answer is read as a statement of its own.
_ANNOUNCING = ("answer", "choose", "pick", "select", "정답")
_ANNOUNCING_CJK = lazy_compile(r"[答选](?!项)")
_NAMES_A_LABEL = lazy_compile(r"option|choice|letter|label|answer|选", re.IGNORECASE)
_VERB_AFTER = lazy_compile(
    r"[)\]\"']?\s+(?:is|are|was|isn|can|cannot|does|doesn|has|would|will|seems|shows|looks|if|for)\b"
)
_TAKEN_BACK = lazy_compile(
    r"[)\]\"'”’]*(?:,?\s+but\s(?:that|this|it))?\s+(?:is|was|are)\s(?:\w+ly\s)?(?:wrong|incorrect|false|not)\b"
)
_MAY_CLOSE = lazy_compile(r"[A-Z]\)?[.。\s]*\Z")
_CLOSING_LABEL = lazy_compile(r"(?:\w\w[.!?]\s|[。！？])\s{0,9}\(?(?P<label>[A-Z]{1,2})\)?[.。\s]*\Z")
_AGREED = lazy_compile(
    r"(?P<words>[^\W\d_][^\W\d_'’]{1,15}(?: [^\W\d_'’]{2,15}){0,2}|[^\W\d_]['’][^\W\d_]{2,15})[,:!] "
    r"\(?(?P<label>[A-Z]{1,2})\)?[.!]?\Z"
)
_DENYING = lazy_compile(r"\b(?:not|never|no|neither|nor|without|except|excluding|unlike)\b|n['’]t\b", re.IGNORECASE)
_LABEL_LINE = lazy_compile(r"^[ \t]*[(\[]?([A-Z]{1,2})[)\]]?[.:]?[ \t]*$", re.MULTILINE)
_ABSTENTION = lazy_compile(
    r"""[\s"'*(]*(?:none\s(?:of\s)?(?:the|these|them|above)|none\b|neither|no\s(?:correct\s)?(?:answer|option)|n/?a\b|unknown|unclear
    |(?:i\s)?(?:am\s|'m\s)?(?:do\snot|don't|cannot|can't|could\snot|couldn't|not\s(?:sure|enough|given|visible|clear)|unable)
    |cannot\sbe|undetermined|insufficient|都不|以上都不|均不|无法|不知道|不确定|没有正确)""",
    re.IGNORECASE | re.VERBOSE,
)
_PART = lazy_compile(rf"{LIST_CONNECTOR}|\s*\n\s*")


def extract_choice(text: str, options: Sequence[str] = (), *, labels: Sequence[str] | None = None) -> Extraction:
    """Read the one label that the reply commits to.

    Args:
        text: the reply.
        options: the item's option texts, in order.
        labels: the item's labels; A, B, … by default. Without options and labels, any letter from A to Z that the
            reply states is taken.

    >>> extract_choice("The answer is (B).", ["a cat", "a dog"]).value
    'B'
    >>> extract_choice("A cat or a dog.", ["a cat", "a dog"]).value is None
    True
    """
    if len(text) <= _SHORT:
        alone = _label_alone(text, known_labels(options, labels))
        if alone is not None:
            return alone
    found = _decide(text, make_item(options, labels, multi=False))
    return _extraction(found.labels[0], found.rule) if found.labels else NO_ANSWER


def extract_choices(text: str, options: Sequence[str] = (), *, labels: Sequence[str] | None = None) -> Extraction:
    """Read all labels that the reply commits to, as a tuple in the item's order; arguments as in `extract_choice`.

    >>> extract_choices("ANSWER: C and A", ["a cat", "a dog", "a cow"]).value
    ('A', 'C')
    """
    found = _decide(text, make_item(options, labels, multi=True))
    return Extraction(value=found.labels, rule=found.rule) if found.labels else NO_ANSWER


@lru_cache(maxsize=4096)
def _extraction(label: str, rule: str) -> Extraction:
    return Extraction(value=label, rule=rule)


@lru_cache(maxsize=4096)
def _label_alone(text: str, known: LabelSet) -> Extraction | None:
    """Read a reply that is nothing but one label, whatever the option texts are; short replies come again and again."""
    reading = _only_labels(_plain(text), known, multi=False)
    return _extraction(reading.labels[0], "bare_label") if reading and _is_one_label(reading) else None


def _is_one_label(reading: Reading) -> bool:
    return len(reading.labels) == 1 and reading.verdict == "labels"


def _plain(text: str) -> str:
    return plain_reply(_BOLD_LABEL.sub(r" (\1) ", text) if "**" in text else text)


def _decide(text: str, item: Item) -> Found:
    plain = _plain(text)
    if not plain:
        return UNDECIDED
    low = lower_same_length(plain)
    found = (
        _whole(plain, item)
        or _last_statement(plain, low, item)
        or verdict(plain, low, item)
        or denied_of_two(plain, item)
    )
    if found is None and item.known.listed:
        found = leading_label(plain, low, item) or mentioned_label(plain, low, item) or mentioned_text(plain, low, item)
    return found or UNDECIDED


def _whole(plain: str, item: Item) -> Found | None:
    """Read a text that is nothing but labels or option texts."""
    if len(plain) > 2000:
        return None
    reading = _only_labels(plain, item.known, multi=item.multi)
    if reading and _is_one_label(reading):
        return item.found(reading.labels, "bare_label")
    label = item.texts.equal(plain) if item.options else None
    if label is None and reading and item.options:  # "the answer is A and B" may be the text of one option
        label = item.texts.equal(plain[reading.start :])
    if label is not None:
        return Found((label,), "option_text")
    if reading:
        undecided = reading.verdict == "foreign" or item.is_instruction(
            reading.labels, alternatives=reading.alternatives
        )
        return UNDECIDED if undecided else item.found(reading.labels, "bare_label")
    return _whole_texts(plain, item) if item.multi and item.options else None


def _only_labels(plain: str, known: LabelSet, *, multi: bool) -> Reading | None:
    start = skip_prefix(plain, 0)
    reading = read_labels(plain, start, known, multi=multi)
    if reading is None or reading.verdict == "question" or not _ONLY_DRESS.match(plain, reading.end):
        return None
    if (
        start
        and not reading.bracketed
        and plain[reading.start].islower()
        and not _NAMES_A_LABEL.search(plain, 0, start)
    ):
        return None
    return reading


def _whole_texts(plain: str, item: Item) -> Found | None:
    labels = [item.texts.equal(part) for part in _PART.split(plain) if part.strip()]
    stated = [label for label in labels if label is not None]
    return item.found(stated, "option_text") if labels and len(stated) == len(labels) else None


def _last_statement(plain: str, low: str, item: Item) -> Found | None:
    """Return what the last statement says that says anything."""
    closing = _closing_label(plain, item)
    cues = last_line_cues(plain, low)  # mostly it is there, and the lines before need not be read
    if cues and not _line_labels(plain[plain.rfind("\n") + 1 :], item):
        found = _announced(plain, low, item, cues, closing)
        if found is not None:
            return found
    lines = _label_lines(plain, item) if "\n" in plain else []
    last = closing or (lines[-1] if lines else None)
    found = _announced(plain, low, item, find_cues(plain, low), last)
    return last[1] if found is None and last else found


def _announced(plain: str, low: str, item: Item, cues: Sequence[Cue], label: tuple[int, Found] | None) -> Found | None:
    """Return what the last of the cues that says anything says, or `label`, with its place, if that stands behind."""
    for cue in reversed(cues):
        if label and label[0] >= cue.start:
            return label[1]
        found = _boxed(plain, cue, item) if cue.rule == "boxed" else _stated(plain, cue, item)
        if found is not None:
            return _unless_contradicted(found, plain[cue.end :], low[cue.end :], item)
    return None


def _closing_label(plain: str, item: Item) -> tuple[int, Found] | None:
    """Return the label that stands behind the last sentence, or behind a word of agreement, with its position."""
    window = max(0, len(plain) - 60)
    closing = _CLOSING_LABEL.search(plain, window) if _MAY_CLOSE.search(plain, window) else None
    closing = closing or _after_agreement(plain, item)
    labels = item.known.read_word(closing["label"], multi=item.multi) if closing else ()
    return (closing.start("label"), item.found(labels, "only_label_line")) if closing and labels else None


def _after_agreement(plain: str, item: Item) -> re.Match[str] | None:
    """Match the label of a reply such as "D'accord, B", whose words before the comma name no label themselves."""
    found = _AGREED.match(plain) if len(plain) <= _SHORT else None
    if found is None or any(item.known.read_word(word, multi=False) for word in found["words"].split()):
        return None
    return None if _DENYING.search(found["words"]) else found


def _unless_contradicted(found: Found, rest: str, low_rest: str, item: Item) -> Found:
    """Return the finding, or undecided if a later "A is correct" names another label."""
    later = None if item.multi or not rest else verdict(rest, low_rest, item)
    return UNDECIDED if later and later.labels and later.labels != found.labels else found


def _label_lines(plain: str, item: Item) -> list[tuple[int, Found]]:
    """Return what the first line and the last lines say, with their positions, where they are nothing but labels."""
    first, _, rest = plain.partition("\n")
    leading = _line_labels(first, item)
    labels: list[str] = []
    position = len(plain)
    for line in reversed(rest[-2000:].split("\n")):
        more = _line_labels(line, item)
        if not more and line.strip():
            break
        labels += more
        position -= len(line) + 1
    else:
        labels, leading = [*leading, *labels], ()
    found = [(0, item.found(leading, "only_label_line"))] if leading else []
    if labels and not item.is_instruction(item.known.sorted(labels), alternatives=not item.multi):
        found.append((position + 1, item.found(labels, "only_label_line")))
    return found or _inner_label_line(plain, item)


def _inner_label_line(plain: str, item: Item) -> list[tuple[int, Found]]:
    """Return the one line within the reply that is nothing but a label; several different ones say nothing."""
    lines = [(at.start(1), item.known.exact.get(at[1])) for at in _LABEL_LINE.finditer(plain)]
    stated = [(position, label) for position, label in lines if label is not None]
    if len({label for _, label in stated}) != 1:
        return []
    return [(position, item.found([label], "only_label_line")) for position, label in stated[-1:]]


def _line_labels(line: str, item: Item) -> tuple[str, ...]:
    """Return the labels of a line that holds nothing else, or one label and its own option's text."""
    if not line.strip() or len(line) > 400 or has_any(line.lower(), _ANNOUNCING) or _ANNOUNCING_CJK.search(line):
        return ()
    reading = _only_labels(line.strip(), item.known, multi=item.multi)
    if reading is None and item.options:
        start = read_labels(line, 0, item.known, multi=False)
        own = start and len(start.labels) == 1 and item.texts.equal(line[start.end :].lstrip(_AFTER_LABEL))
        reading = start if start and own and own == start.labels[0] else None
    if reading is None or reading.verdict != "labels":
        return ()
    return () if item.is_instruction(reading.labels, alternatives=reading.alternatives) else reading.labels


def _boxed(plain: str, cue: Cue, item: Item) -> Found | None:
    content = line_after(plain, cue.end)
    found = _whole(content, item)
    if found is not None:
        return found._replace(rule="boxed") if found.labels else found
    reading = read_labels(content, skip_prefix(content, 0), item.known, multi=item.multi)
    if reading and reading.verdict == "labels" and len(reading.labels) == 1 and item.options:
        rest = content[reading.end :].lstrip(_AFTER_LABEL)
        label = item.texts.equal(rest)
        if label is not None:
            return item.found({label, *reading.labels}, "boxed") if not item.multi else Found((label,), "boxed")
    return None


def _stated(plain: str, cue: Cue, item: Item) -> Found | None:
    """Read what stands after a cue: labels, an option's text, or a refusal to choose."""
    start = skip_prefix(plain, _DRESS.match(plain, cue.end).end())  # type: ignore[union-attr]  # it matches ""
    reading = read_labels(plain, start, item.known, multi=item.multi)
    if reading and reading.verdict == "question":
        return None
    line = line_after(plain, start)
    found = _stated_labels(plain, cue, reading, item) if reading else None
    if found is INSTRUCTION:
        return None
    whole = item.texts.equal(line) if item.options and not _is_label_line(plain, reading) else None
    if whole is not None:
        return Found((whole,), "stated_text")
    if found is not None:
        return found
    if cue.rule == "chosen" or cue.strict:
        return None
    if item.options and (found := text_in(line, item)):
        return found
    return UNDECIDED if _ABSTENTION.match(line) else None


def _is_label_line(plain: str, reading: Reading | None) -> bool:
    if reading is None or len(reading.labels) != 1:
        return False
    return _ONLY_DRESS.match(line_after(plain, reading.start)[reading.end - reading.start :]) is not None


def _stated_labels(plain: str, cue: Cue, reading: Reading, item: Item) -> Found | None:
    if (cue.strict and not _is_firm(plain, reading)) or _TAKEN_BACK.match(plain, reading.end):
        return None
    if item.is_instruction(reading.labels, alternatives=reading.alternatives):
        return INSTRUCTION
    if reading.verdict == "foreign":
        return UNDECIDED if reading.surely and not cue.strict else None
    line = line_after(plain, reading.start)
    rest = line[reading.end - reading.start :].lstrip(_AFTER_LABEL)
    if not reading.surely and not begins_with_own(reading, rest, item):
        return None
    on_new_line = "\n" in plain[cue.end : reading.start]
    listed = listed_labels(plain, reading.end, item, lines=on_new_line)
    if item.is_instruction(item.known.sorted([*reading.labels, *listed]), alternatives=on_new_line):
        return INSTRUCTION
    if is_other_option(rest, reading.labels, item):
        return UNDECIDED
    return item.found([*reading.labels, *listed], cue.rule)


def _is_firm(plain: str, reading: Reading) -> bool:
    """Say whether the label is one beyond doubt after words that need not announce an answer."""
    if _VERB_AFTER.match(plain, reading.end):
        return False
    return reading.bracketed or not plain[reading.start].islower()
