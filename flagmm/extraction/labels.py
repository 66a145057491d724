"""Option labels, and how they are read at a given place of a reply: "B", "(B)", "A, C and D", "option b".

A letter is a label only if nothing around it makes it a word: not the article "A cat", the pronoun "I think",
"vitamin B12", "A = 5" or "U.S.".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from flagmm.extraction.reply import BOX_CLOSE, BOX_OPEN
from flagmm.lazy_regex import lazy_compile
from flagmm.metrics.text_match import fold_width

Verdict = Literal["labels", "foreign", "question"]

_OPEN = rf"""[\s"'“”‘’`*_\[({{<「『【《〈${BOX_OPEN}:=]*"""
_CLOSE = rf"""["'“”’`*_\])}}>」』】》〉$~{BOX_CLOSE}]*"""
# What follows a letter and shows that it belongs to a longer word, a number or a name.
_PART_OF_WORD = r"(?![A-Za-z0-9À-ɏ°]|['’][A-Za-z]|-[A-Za-z0-9]|[.,:][0-9]|\s?%|\.[A-Za-z]\.|_[A-Za-z0-9](?![A-Za-z]))"
_WORD = rf"[A-Za-z0-9]+{_PART_OF_WORD}"

_PREFIX = lazy_compile(
    r"""(?:(?:(?:(?:the|an)\s)?(?:(?:correct|right|best|final)\s)?(?:options?|choices?|(?:correct|option|answer)\sletter|answers?|alternative)
    [\s_:"'(\[]*(?:(?:is|are)\s)?
    |(?:is|are|either|both|only|clearly|probably|likely|most\slikely|definitely|therefore|thus|indeed|actually|obviously|simply
    |just|then|also|still|hence|so|indeed|now|therefore|not\s\W*\w{1,2}\W*\s*,?\sbut(?:\srather)?)\b[\s,:]*
    |i\s(?:think|believe|guess|would\ssay|choose|pick|select|would\s(?:choose|pick|select|go\swith))(?:\sit(?:'s|\sis))?\s
    |it(?:'s|\sis)\s|答案|选项|选择|选(?!项)|应该|是|为|不是\W*\w{1,2}\W*而是)["'(\[「【\s]*){1,6}""",
    re.IGNORECASE | re.VERBOSE,
)
_PREFIX_FIRST = frozenset("tacrbfoieplmdsjhnTACRBFOIEPLMDSJHN答选应是为不")
"""What a prefix begins with."""
# What joins the items of a list, in the languages whose words for an answer are known; a single letter in capitals
# could be a label.
_AND_WORDS = r"(?:(?i:and|as\s+well\s+as|plus|und|sowie|et|ainsi\s+que|dan|serta|ve|ile|và|ed)|[yeи])"
_OR_WORDS = r"(?:(?i:or|and/or|oder|ou|oppure|или|atau|veya|ya\s+da|hoặc)|[ou])"
_AND_SIGNS = "和|与|以及|及|跟|と|および|及び|및|와|과|그리고"
_OR_SIGNS = "或者?|还是|または|もしくは|또는"
_WORDS = rf"(?:{_AND_WORDS}|{_OR_WORDS})"
LIST_CONNECTOR = (
    rf"(?:\s*[,，、;]\s*(?:{_WORDS}\s+|{_AND_SIGNS}|{_OR_SIGNS})?|\s+(?:{_WORDS}|&)\s+"
    rf"|\s*(?:{_AND_SIGNS}|{_OR_SIGNS})\s*)"
)
_SEPARATOR = lazy_compile(
    rf"{_CLOSE}(?:\s*[,、/&+;]\s*(?:{_WORDS}\s+|&\s*|(?:{_AND_SIGNS}|{_OR_SIGNS})\s*)?"
    rf"|,?\s+{_WORDS}\s+(?:(?i:maybe|perhaps|possibly|both)\s+)?|\s*(?:{_AND_SIGNS}|{_OR_SIGNS})\s*"
    r"|(?<=[)\]])\s*(?=[(\[])|[ \t]+(?=[A-Z0-9\"'(\[])|\s*-\s*(?=[A-Z]\b))"
)
_UNKNOWN_JOINT = lazy_compile(
    rf"{_CLOSE}\s{{0,3}}[,;、，]?\s*(?<![A-Za-z0-9])(?!(?:because|since|as|is|are|was|be|but|which|due|not|no|nor|never|neither|with|without|given|based"
    r"|according|considering|for|from|in|when|where|the|this|that|these|it|there|while|options?|here|so|then|thus|of"
    r"|therefore|hence|by|on|at|rather|instead|over|than|if|will|would|has|have|shows?|matches|fits|correctly|best"
    r"|i|we|my|you|to|beats?|excluding|except|unlike|versus|vs|means|equals?|contradicts?)\b)[^\W\d_]{1,12},?\s+",
    re.IGNORECASE,
)
_LIST_PREFIX = lazy_compile(r"(?:(?:options?|choices?)\s|选项)?", re.IGNORECASE)
_OR = lazy_compile(rf"(?<![^\W\d_]){_OR_WORDS}(?![^\W\d_])|/|{_OR_SIGNS}")

_ENDED = lazy_compile(rf"{_CLOSE}(?:\s*\Z|\s*[\n,.;:!?、。…(\[/&+|<\"“{BOX_CLOSE}]|\s+[—–-]+\s|\s*[^\x00-\x7f])")
_ASKED = lazy_compile(rf"{_CLOSE}\s*\?")
_GOES_ON_SURELY = lazy_compile(rf"{_CLOSE}\s+(?:because|since|as|is|are|and|or|but|which|due|not|correctly|best)\b")
_GOES_ON = lazy_compile(
    rf"{_CLOSE}\s+(?:because|since|as|is|are|was|and|or|but|which|due|not|with|given|based|according|considering|for|from|in"
    r"|when|where|the|this|that|these|it|there|while|option|here|so|then|thus|therefore|hence|by|on|at|rather|instead|over|than"
    r"|if|will|would|has|have|shows?|matches|fits|correctly|best|i|we|my|you|to|[A-Z]\w*)\b"
)
_LIST_GOES_ON = lazy_compile(
    rf"{_CLOSE}\s+(?:(?:because|since|as|but|due|with|not|both|based|given|according|for|correctly)\b"
    rf"|{_WORDS}(?!\w))"
)
_OPENERS = frozenset("([{<「『【《〈\"'“‘" + BOX_OPEN)
_CLOSERS = frozenset(")]}>」』】》〉\"'”’" + BOX_CLOSE)
_MOST_LABELS = 256
_SURE_ENDS = frozenset(["", ".", ",", ":", ";", "!", "?", "\n", ")", "]"])
_ARTICLE_OR_PRONOUN = frozenset("AaIi")


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelSet:
    """The labels of one item; `label_set` makes only one of a kind, so that identity is equality."""

    labels: tuple[str, ...]
    rank: dict[str, int]
    exact: dict[str, str]
    """Label by its own spelling, width folded."""
    folded: dict[str, str]
    """Label by its spelling in lower case, where only one label has it."""
    word: re.Pattern[str]
    """What may be a label, where a label may stand."""
    listed: bool
    """False when nobody said what the labels are, so that any letter may be one."""

    def sorted(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Return `labels` once each, in the item's order."""
        distinct = set(labels)
        return tuple(sorted(distinct, key=self.rank.__getitem__)) if len(distinct) > 1 else tuple(distinct)

    def read_word(self, word: str, *, multi: bool) -> tuple[str, ...]:
        """Return the labels that `word` spells: one, or several written together ("AC"); empty if none."""
        label = self.exact.get(word) or self.folded.get(word.lower())
        if label is not None:
            return (label,)
        if len(word) == 2 and word[0].isupper() and word[0] == word[1].upper() and word[0] in self.exact:
            return (self.exact[word[0]],)
        return self._read_run(word, multi=multi)

    def _read_run(self, word: str, *, multi: bool) -> tuple[str, ...]:
        letters = word if word.isupper() else word.upper() if multi else ""
        if not letters or not all(letter in self.exact for letter in letters):
            return ()
        if len(set(letters)) < len(letters):
            if not multi or letters != word or len(letters) < 3:
                return ()
            word = letters = "".join(dict.fromkeys(letters))  # said twice
        ascending = list(letters) == sorted(letters)
        # "bad" and, among many labels, "NO" or "DOG" are words.
        if not ascending and (letters != word or letters[0] > "H" or max(letters) > "H"):
            return ()
        if not self.listed and max(letters) > "H":
            return ()
        return tuple(self.exact[letter] for letter in letters)


@lru_cache(maxsize=512)
def label_set(labels: tuple[str, ...], *, listed: bool = True) -> LabelSet:
    """Return the label set of an item; made once per distinct set of labels."""
    exact = {fold_width(label).strip(): label for label in reversed(labels) if label.strip()}
    lowered = Counter(spelling.lower() for spelling in exact)
    folded = {spelling.lower(): label for spelling, label in exact.items() if lowered[spelling.lower()] == 1}
    odd = [spelling for spelling in exact if re.fullmatch("[A-Za-z0-9]+", spelling) is None]
    word = _WORD
    if odd:
        word = "|".join([*(re.escape(spelling) for spelling in sorted(odd, key=len, reverse=True)), _WORD])
    return LabelSet(
        labels=labels,
        rank={label: rank for rank, label in reversed(list(enumerate(labels)))},
        exact=exact,
        folded=folded,
        word=re.compile(rf"({_OPEN})({word})"),
        listed=listed,
    )


class Reading(NamedTuple):
    """What stands at one place of a reply."""

    verdict: Verdict
    """"labels"; "foreign" for a letter that is no label of the item; "question" if a question mark follows."""
    labels: tuple[str, ...]
    start: int
    """Where the first label itself begins."""
    end: int
    bracketed: bool
    """Whether the first label stands in brackets, quotes or a box."""
    alternatives: bool
    """Whether the labels are joined by "or" or a slash."""
    is_word: bool
    """Whether the first label could be the article or the pronoun."""
    surely: bool
    """Whether what follows the last label ends it; otherwise the next words have to be looked at."""


def skip_prefix(text: str, position: int) -> int:
    """Return where the label should stand after "option", "probably", "I think it is" and the like."""
    if text[position : position + 1] not in _PREFIX_FIRST:
        return position
    found = _PREFIX.match(text, position)
    return found.end() if found else position


def read_labels(text: str, position: int, known: LabelSet, *, multi: bool) -> Reading | None:
    """Read the label or labels that stand at `position`; None if there is none.

    Several labels are read in single mode, too, because a reply that names two has not decided.
    """
    first = known.word.match(text, position)
    if first is None:
        return None
    labels = known.read_word(first[2], multi=multi)
    foreign = not labels and len(first[2]) == 1 and first[2].isupper()
    if not labels and not foreign:
        return None
    found, end, alternatives = list(labels), first.end(), False
    while end < len(text) and (more := _read_more(text, end, known, multi=multi, lower=first[2].islower())):
        found += more[0]
        foreign = foreign or not more[0]
        alternatives = alternatives or _OR.search(text, end, more[1]) is not None
        end = more[1]
        if len(found) > _MOST_LABELS:  # a reply that is stuck in a loop
            foreign = True
            break
    foreign = foreign or _is_cut(text, end, known)
    bracketed = _is_bracketed(text, first.start(2), first.end())
    verdict: Verdict = (
        "question" if "?" in text[end : end + 20] and _ASKED.match(text, end) else "foreign" if foreign else "labels"
    )
    return Reading(
        verdict=verdict,
        labels=known.sorted(found),
        start=first.start(2),
        end=end,
        bracketed=bracketed,
        alternatives=alternatives,
        is_word=first[2] in _ARTICLE_OR_PRONOUN and not bracketed,
        surely=bracketed or _ends_surely(text, end, first[2] if len(found) < 2 else ""),
    )


def _is_bracketed(text: str, start: int, end: int) -> bool:
    return start > 0 and text[start - 1] in _OPENERS and text[end : end + 1] in _CLOSERS


def _read_more(
    text: str, position: int, known: LabelSet, *, multi: bool, lower: bool
) -> tuple[tuple[str, ...], int] | None:
    """Read a separator and one more label; the labels are empty for a letter that is none of the item's."""
    separator = None if text[position] in ".:\n!?" else _SEPARATOR.match(text, position)
    if separator is None:
        return None
    word = known.word.match(text, _LIST_PREFIX.match(text, separator.end()).end())  # type: ignore[union-attr]
    if word is None or word[2].islower() != lower:
        return None
    if not (
        _ENDED.match(text, word.end()) or _LIST_GOES_ON.match(text, word.end()) or _lists_on(text, word.end(), known)
    ):
        return None
    labels = known.read_word(word[2], multi=multi)
    if labels or (len(word[2]) == 1 and word[2].isupper()):
        return labels, word.end()
    return None


def _lists_on(text: str, position: int, known: LabelSet) -> bool:
    separator = _SEPARATOR.match(text, position)
    word = known.word.match(text, separator.end()) if separator else None
    return word is not None and _may_be_label(word[2], known)


def _may_be_label(word: str, known: LabelSet) -> bool:
    return word.isupper() and (len(word) == 1 or bool(known.read_word(word, multi=True)))


def _is_cut(text: str, position: int, known: LabelSet) -> bool:
    """Say whether a list goes on after `position` that cannot be read, as an unknown word joins its items."""
    separator = _SEPARATOR.match(text, position)
    word = known.word.match(text, separator.end()) if separator else None
    if word is not None and _may_be_label(word[2], known):
        position = word.end()
    joint = _UNKNOWN_JOINT.match(text, position)
    last = known.word.match(text, joint.end()) if joint else None
    return last is not None and _may_be_label(last[2], known) and _ENDED.match(text, last.end()) is not None


def _ends_surely(text: str, end: int, word: str) -> bool:
    if text[end : end + 1] in _SURE_ENDS or _ENDED.match(text, end):
        return True
    if word in _ARTICLE_OR_PRONOUN or word.islower():
        return _GOES_ON_SURELY.match(text, end) is not None
    return _GOES_ON.match(text, end) is not None
