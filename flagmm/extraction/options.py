"""Option texts, and how they are found in a reply: as the whole of it, or as the only one that it mentions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple, TypeVar

from flagmm.extraction.reply import plain_reply
from flagmm.lazy_regex import KeyedPattern, finditer_at, has_any, lazy_compile
from flagmm.metrics.text_match import plain_number, trim_outer

_Key = TypeVar("_Key", str, tuple[Decimal, bool])

# Words that also occur in replies that do not choose them.
_COMMON_WORDS = frozenset(
    [
        "yes",
        "no",
        "none",
        "not",
        "true",
        "false",
        "all",
        "any",
        "both",
        "neither",
        "either",
        "other",
        "others",
        "correct",
        "incorrect",
        "it",
        "is",
        "unknown",
        "是",
        "否",
        "有",
        "没有",
        "无",
        "对",
        "错",
        "不对",
        "正确",
        "错误",
    ]
)
_FUNCTION_WORDS = frozenset(
    [
        "the",
        "a",
        "an",
        "is",
        "are",
        "was",
        "were",
        "it's",
        "its",
        "this",
        "that",
        "to",
        "in",
        "on",
        "at",
        "by",
        "of",
        "for",
        "with",
        "and",
        "or",
        "from",
        "only",
        "just",
        "all",
        "both",
        "some",
        "definitely",
        "clearly",
        "probably",
        "likely",
        "maybe",
        "perhaps",
        "very",
    ]
)

# Each begins with what it replaces, which is found much faster than what has to stand before it.
_THOUSANDS = lazy_compile(r",(?<=[0-9],)(?=[0-9]{3}(?![0-9]))")
_HYPHEN = lazy_compile(r"-(?:(?<=[^\W\d]-)(?=[^\W\d])|(?<!\S-)(?!\S)|(?<=\w-)(?!\w))")
_POINT = lazy_compile(r"\.(?![0-9])")
_SIGN = lazy_compile(r"[^\w\s.+\-*/=<>%^°√€£¥\u2200-\u22ff]")
_ASCII_SIGNS = {
    code: " " for code in range(128) if not (chr(code).isalnum() or chr(code).isspace() or chr(code) in ".+-*/=<>%^")
}
_ARTICLE = lazy_compile(r"^(?:the|an?) ")
_BEGINS_WITH_ARTICLE = lazy_compile(r"\W*(?:the|an?)\s", re.IGNORECASE)
_SENTENCE = lazy_compile(r"[^.!?\n。！？]+[.!?\n。！？]*")
_UNCOMMITTED = lazy_compile(
    r"\b(?:would|might|may|could|maybe|perhaps|possibly|if|whether|plausible|let'?s|consider)\b|[?？]|可能|也许|或许|如果|假如"
)
_UNCOMMITTED_STARTS = (
    *("would", "might", "may", "could", "perhaps", "possibly", "if", "whether", "plausible", "let", "consider"),
    *("?", "？", "可能", "也许", "或许", "如果", "假如"),
)
_NUMBER = lazy_compile(r"[+-]?[0-9]+(?:\.[0-9]+)?%?")

_DENIED_BEFORE = lazy_compile(
    r"(?:(?<!\S)(?:not|never|neither|nor|without|except|t|whether|cannot|exclude|excluding|eliminate|no"
    r"|rather than|instead of)(?: (?!but |only )\w+){0,2} |(?:不是|不选|不为|不在|没有|并非|非|排除|除了|不))$"
)
_DENIAL_KEYS = (
    *("no", "never", "neither", "without", "except", " t ", "whether", "exclud", "eliminate", "rather than"),
    *("instead of", "不", "没有", "非", "排除", "除了"),
)
_DENIED_AFTER = KeyedPattern(
    r"^(?: option)? (?:is|are|was|were|isn|aren|wasn|does|doesn|do|don|can|cannot|seems)(?: \w+){0,1}?"
    r" (?:t|not|wrong|incorrect|false|excluded|absent|missing)(?!\w)|^ ?(?:是)?(?:错|不对|不正确|不符)",
    (" t", "not", "wrong", "incorrect", "false", "excluded", "absent", "missing", "错", "不"),
)


@lru_cache(maxsize=64)  # a reply is folded to be compared as a whole, and again to be searched
def _fold(plain: str) -> str:
    """Return `plain` with case and punctuation folded; signs that change a value (- . / % <) stay."""
    folded = plain.casefold()
    if "," in folded:
        folded = _THOUSANDS.sub("", folded)
    if "-" in folded:
        folded = _HYPHEN.sub(" ", folded)
    if "." in folded:
        folded = _POINT.sub(" ", folded)
    folded = folded.translate(_ASCII_SIGNS) if folded.isascii() else _SIGN.sub(" ", folded.replace("_", " "))
    return " ".join(folded.split())


class Mention(NamedTuple):
    """One place where a reply names an option's text."""

    label: str
    denied: bool
    """Whether the words around it rule the option out."""
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class OptionTexts:
    """The texts of one item's options, ready to be compared; empty texts and texts that two options share are out."""

    longest: int
    """How long a text that equals an option may be."""
    exact: dict[str, str]
    """Label by text as it is."""
    folded: dict[str, str]
    """Label by folded text."""
    compact: dict[str, str]
    """Label by folded text without article and without spaces."""
    spoken: dict[str, str]
    """Label by folded text without article, longest text first: what a sentence would name."""
    bare: dict[str, str]
    """Folded text without article by label."""
    numbers: dict[tuple[Decimal, bool], str]
    """Label by value, for texts that are a number or a percentage."""

    def equal(self, plain: str) -> str | None:
        """Return the label of the option that `plain` is, apart from case, punctuation, spaces and article."""
        if len(plain) > self.longest:
            return None
        label = self.exact.get(plain) or self.exact.get(trim_outer(plain))
        if label is not None or not self.folded:
            return label
        folded = _fold(plain)
        label = self.folded.get(folded)
        if label is None and _BEGINS_WITH_ARTICLE.match(plain):  # "A. No" begins with a label
            folded = _ARTICLE.sub("", folded)
            label = self.folded.get(folded)
        return label or self.compact.get(folded.replace(" ", "")) or self._by_number(folded) or self._plural(folded)

    def _by_number(self, folded: str) -> str | None:
        value = plain_number(folded) if self.numbers else None
        return self.numbers.get(value) if value else None

    def _plural(self, folded: str) -> str | None:
        for ending in ("s", "es"):
            single = folded.removesuffix(ending)
            if single != folded and len(single) > 2 and single[-1].isalpha() and single in self.spoken:
                return self.spoken[single]
        return None

    def begins_with(self, label: str, plain: str) -> bool:
        """Say whether `plain` begins with the text of option `label`, an article aside."""
        text = self.bare.get(label)
        if text is None:
            return False
        start = _ARTICLE.sub("", _fold(plain[: self.longest]))
        return start == text or start.startswith(text + " ") or (start.startswith(text) and not text.isascii())

    def after_own(self, label: str, plain: str) -> str:
        """Return, folded, what follows the text of option `label` in `plain`; empty if that does not begin with it."""
        text = self.bare.get(label)
        start = _ARTICLE.sub("", _fold(plain[: self.longest + 40])) if text else ""
        return start[len(text) :] if text and start.startswith(text) else ""

    def mentions(self, plain: str) -> list[Mention]:
        """Return where option texts stand as whole words, the longest text first where they overlap.

        Words in questions and in doubtful sentences do not count, nor do numbers other than the last.
        """
        padded = f" {_fold(_committed(plain))} "
        taken: list[Mention] = []
        for folded, label in self.spoken.items():
            if folded in _COMMON_WORDS or (len(folded) < 2 and folded.isascii() and not folded.isdigit()):
                continue
            for start in _occurrences(padded, folded):
                end = start + len(folded)
                if any(start < other.end and other.start < end for other in taken[-64:]):
                    continue
                taken.append(Mention(label=label, denied=_is_denied(padded, start, end), start=start, end=end))
                if len(taken) > 64:  # nobody can tell any more what such a reply says
                    return taken
        are_numbers = [_NUMBER.fullmatch(padded, mention.start, mention.end) is not None for mention in taken]
        if not any(are_numbers):
            return taken
        last = _last_number(padded)
        return [
            mention
            for mention, is_number in zip(taken, are_numbers, strict=True)
            if not is_number or mention.end == last
        ]

    def is_name_part(self, plain: str, mention: Mention) -> bool:
        """Say whether the reply is just another word and the option ("hot dog" for "dog")."""
        words = _fold(plain).split()
        size = mention.end - mention.start
        return len(words) == 2 and len(words[1]) == size and words[0] not in _FUNCTION_WORDS


def _committed(plain: str) -> str:
    """Leave out the sentences that ask or suppose something."""
    if not _is_uncommitted(plain):
        return plain
    return "".join(" " if _is_uncommitted(sentence) else sentence for sentence in _SENTENCE.findall(plain))


def _is_uncommitted(plain: str) -> bool:
    return next(finditer_at(_UNCOMMITTED, plain.lower(), _UNCOMMITTED_STARTS), None) is not None


def _occurrences(padded: str, folded: str) -> Iterator[int]:
    """Yield where `folded` stands in `padded` between blanks, or beside script that has no blanks."""
    start = padded.find(folded)
    while start >= 0:
        before, after = padded[start - 1], padded[start + len(folded)]
        if _is_border(before, folded[0]) and _is_border(after, folded[-1]):
            yield start
        start = padded.find(folded, start + 1)


def _is_border(outside: str, inside: str) -> bool:
    return outside == " " or (outside > "\u2e7f" and outside.isalpha()) or (inside > "\u2e7f" and not inside.isdigit())


def _is_denied(padded: str, start: int, end: int) -> bool:
    window = max(0, start - 40)
    if has_any(padded[max(0, window - 1) : start], _DENIAL_KEYS) and _DENIED_BEFORE.search(padded, window, start):
        return True
    return _DENIED_AFTER.search(padded[end : end + 40]) is not None


def _last_number(padded: str) -> int:
    end = -1
    for found in _NUMBER.finditer(padded):
        end = found.end()
    return end


def option_texts(options: tuple[str, ...], labels: tuple[str, ...]) -> OptionTexts:
    """Return the texts of an item."""
    pairs = [(plain_reply(text), label) for text, label in zip(options, labels, strict=False)]
    folded = _unique([(_fold(text), label) for text, label in pairs])
    bare = {label: _ARTICLE.sub("", text) for text, label in folded.items()}
    spoken = _unique([(text, label) for label, text in bare.items()])
    return OptionTexts(
        longest=max((2 * len(text) + 20 for text, _ in pairs), default=0),
        exact=_unique(pairs),
        folded=folded,
        compact=_unique([(text.replace(" ", ""), label) for text, label in spoken.items()]),
        spoken=dict(sorted(spoken.items(), key=lambda item: -len(item[0]))),
        bare=bare,
        numbers=_unique(
            [(value, label) for text, label in folded.items() if (value := plain_number(text)) is not None]
        ),
    )


def _unique(pairs: Sequence[tuple[_Key, str]]) -> dict[_Key, str]:
    keys = [key for key, _ in pairs]
    return {key: label for key, label in pairs if key and keys.count(key) == 1}
