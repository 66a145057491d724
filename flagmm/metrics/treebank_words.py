"""English words as nltk's `word_tokenize` cuts them: sentences by Punkt, then the Penn Treebank conventions.

Reference: nltk 3.10.4, `nltk/tokenize/destructive.py:NLTKWordTokenizer`. `don't` is `do n't`, `cannot` is `can not`,
opening and closing quotes become two backticks and two apostrophes, and of the periods only the last of a sentence is
split off.

The conventions look at one word and the white space beside it, except at both ends of a sentence. So words are cut
one by one and the result is remembered; the ends of a sentence are cut with what they need to see.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain

from flagmm.metrics.punkt_english import split_sentences

_SUFFIX = r"(?:re|ve|ll|m|t|s|d|n)"

# Each step sees what the one before made of the sentence; their order is part of the convention.
_STEPS: tuple[tuple[re.Pattern[str], str], ...] = (
    # opening quotes
    (re.compile(r"([«“‘„]|`+)"), r" \1 "),
    (re.compile(r'^"'), "``"),
    (re.compile("(``)"), r" \1 "),
    (re.compile(r"([ (\[{<])(?:\"|'')"), r"\1 `` "),
    (re.compile(rf"(?i)(?<!\w)'(?!{_SUFFIX}\b)(?=\w)"), "' "),
    # punctuation
    (re.compile(r"([^.])(\.)([\])}>\"'»”’ ]*)\s*$"), r"\1 \2 \3 "),
    (re.compile(r"([:,])([^\d])"), r" \1 \2"),
    (re.compile(r"([:,])$"), r" \1 "),
    (re.compile(r"(\.{2,}|[;@#$%&\u2012-\u2015])"), r" \1 "),
    (re.compile(r"([^.])(\.)([\])}>\"']*)\s*$"), r"\1 \2\3 "),
    (re.compile(r"([?!])"), r" \1 "),
    (re.compile(r"([^'])' "), r"\1 ' "),
    (re.compile(r"([*\][(){}<>])"), r" \1 "),
    (re.compile("--"), " -- "),
    (re.compile(r"\A|\Z"), " "),
    # closing quotes
    (re.compile("([»”’])"), r" \1 "),
    (re.compile("''|\""), " '' "),
    (re.compile(r"\s+"), " "),
    # clitics and words that are two
    (re.compile(r"([^' ])('[sSmMdD]?) "), r"\1 \2 "),
    (re.compile(r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) "), r"\1 \2 "),
    (re.compile(r"(?i)\b(can)(not)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(d)('ye)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(gim|lem)(me)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(gon)(na)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(got)(ta)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(more)('n)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(wan)(na)(?=\s)"), r" \1 \2 "),
    (re.compile(r"(?i) ('t)(is|was)\b"), r" \1 \2 "),
)
_TWO_WORDS = frozenset(("cannot", "gimme", "gonna", "gotta", "lemme", "wanna"))
_CLOSERS = "])}>\"'»”’"
_ONLY_CLOSERS = re.compile(r"[\])}>\"'»”’]+")
_CLOSER_AT_ODD_SPACE = re.compile(r"[^\S ][\])}>\"'»”’]|'[^\S ]")  # some steps know no other space than " "


def split_words(text: str) -> list[str]:
    """Return the words and punctuation marks of English `text`; blank text has none.

    >>> split_words("Don't go, Dr. Who. It's late.")
    ['Do', "n't", 'go', ',', 'Dr.', 'Who', '.', 'It', "'s", 'late', '.']
    """
    return [word for sentence in split_sentences(text) for word in _split_sentence(sentence)]


def _split_sentence(sentence: str) -> list[str]:
    chunks = sentence.split()
    last = len(chunks) - 1
    while last > 0 and chunks[last][-1] in _CLOSERS and _ONLY_CLOSERS.fullmatch(chunks[last]):
        last -= 1
    if last <= 0:
        return list(_cut_whole(sentence))
    if not sentence.isprintable() and _CLOSER_AT_ODD_SPACE.search(sentence):
        return list(_cut(sentence))
    words = list(_cut_first(chunks[0]) if not sentence[0].isspace() else _cut_middle(chunks[0]))
    words += chain.from_iterable(map(_cut_middle, chunks[1:last]))
    words += _cut_last(" " + " ".join(chunks[last:]))
    return words


@lru_cache(maxsize=1 << 12)
def _cut_whole(sentence: str) -> tuple[str, ...]:
    return (sentence,) if _is_plain(sentence) else _cut(sentence)


@lru_cache(maxsize=1 << 12)
def _cut_first(chunk: str) -> tuple[str, ...]:
    return _cut_middle(chunk) if chunk[0] not in "\"'" else _cut(chunk + " x")[:-1]


@lru_cache(maxsize=1 << 16)
def _cut_middle(chunk: str) -> tuple[str, ...]:
    if _is_plain(chunk):
        return (chunk,)
    return _cut(f" {chunk} x")[:-1]


@lru_cache(maxsize=1 << 14)
def _cut_last(rest: str) -> tuple[str, ...]:
    stem = rest[1:-1]
    if rest.endswith(".") and _is_plain(stem):
        return (stem, ".")
    return _cut(rest)


def _is_plain(chunk: str) -> bool:
    return chunk.isascii() and chunk.isalnum() and chunk.lower() not in _TWO_WORDS


def _cut(text: str) -> tuple[str, ...]:
    for pattern, replacement in _STEPS:
        text = pattern.sub(replacement, text)
    return tuple(text.split())
