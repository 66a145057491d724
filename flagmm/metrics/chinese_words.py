"""Chinese words as jieba cuts them in its accurate mode, with its default dictionary and its model of unknown words.

Reference: jieba 0.42.1, `jieba/__init__.py:Tokenizer.cut` (`cut_all=False, HMM=True`). The dictionary and the model of
unknown words are jieba's; the search for the likeliest cut is ours, because it is most of the time that scoring takes.
jieba's own tokenizer is not started: it would read and write a file in the system's temporary folder.
"""

from __future__ import annotations

import importlib.util
import math
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from flagmm.errors import MissingExtraError

_CHINESE = re.compile("[\u4e00-\u9fa5]")
_BLOCK = re.compile(r"([\u4e00-\u9fd5a-zA-Z0-9+#&._%\-]+)")
_SPACE = re.compile(r"(\r\n|\s)")
_NOT_A_WORD = -math.inf


@dataclass(frozen=True, kw_only=True)
class _Dictionary:
    scores: dict[str, float]
    """Word -> log of its probability; the beginnings of words are keys too, with minus infinity."""
    unknown: float
    """The score of a character that is no word."""
    cut_unknown: Callable[[str], tuple[str, ...]]
    """Cuts a run of characters that the dictionary does not join."""


def has_chinese(text: str) -> bool:
    """Say whether `text` has a character of U+4E00..U+9FA5, the range that General-VQA takes for Chinese."""
    return not text.isascii() and _CHINESE.search(text) is not None


def check_jieba() -> None:
    """Raise `MissingExtraError` where jieba is not installed; its dictionary is read only when a text needs it."""
    if importlib.util.find_spec("jieba") is None:
        raise MissingExtraError("jieba", "text", "cutting Chinese text into words")


@lru_cache(maxsize=1)
def _load_dictionary() -> _Dictionary:
    """Read the dictionary, which takes about a second."""
    check_jieba()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba 0.42.1 is of 2020: deprecated imports, old escape sequences
        from jieba import Tokenizer, finalseg

        tokenizer = Tokenizer()
        with tokenizer.get_dict_file() as file:
            counts, total = tokenizer.gen_pfdict(file)
    log_total = math.log(total)
    return _Dictionary(
        scores={word: math.log(count) - log_total if count else _NOT_A_WORD for word, count in counts.items()},
        unknown=math.log(1) - log_total,
        cut_unknown=lru_cache(maxsize=1 << 14)(lambda run: tuple(finalseg.cut(run))),
    )


def split_chinese_words(text: str) -> list[str]:
    """Return the words of `text`; white space and punctuation marks are words too, so the words join to `text`.

    Raises:
        MissingExtraError: jieba is not installed.

    >>> split_chinese_words("我来到北京清华大学")
    ['我', '来到', '北京', '清华大学']
    """
    dictionary = _load_dictionary()
    words: list[str] = []
    for number, block in enumerate(_BLOCK.split(text)):
        if number % 2:
            words += _split_block(block, dictionary)
        elif block:
            for place, piece in enumerate(_SPACE.split(block)):
                words += (piece,) if place % 2 else piece
    return words


def _split_block(block: str, dictionary: _Dictionary) -> Iterator[str]:
    """Yield the words of the likeliest cut; runs of single characters are joined by the model of unknown words."""
    ends = _find_likeliest_cut(block, dictionary)
    run_start = start = 0
    while start < len(block):
        end = ends[start]
        if end - start > 1:
            yield from _split_run(block[run_start:start], dictionary)
            yield block[start:end]
            run_start = end
        start = end
    yield from _split_run(block[run_start:], dictionary)


def _split_run(run: str, dictionary: _Dictionary) -> tuple[str, ...]:
    if len(run) < 2:
        return (run,) if run else ()
    # A run that is a word was cut because its characters are likelier alone.
    if dictionary.scores.get(run, _NOT_A_WORD) != _NOT_A_WORD:
        return tuple(run)
    return dictionary.cut_unknown(run)


def _find_likeliest_cut(block: str, dictionary: _Dictionary) -> list[int]:
    """Return for each position where the word that starts there ends; of equally likely cuts the longer word wins."""
    scores, length = dictionary.scores, len(block)
    totals = [0.0] * (length + 1)
    ends = [0] * length
    for start in range(length - 1, -1, -1):
        best, best_end = _NOT_A_WORD, start
        end = start + 1
        score = scores.get(block[start])
        while score is not None:
            total = score + totals[end]
            if total >= best and score != _NOT_A_WORD:
                best, best_end = total, end
            if end == length:
                break
            end += 1
            score = scores.get(block[start:end])
        if best_end == start:
            best, best_end = dictionary.unknown + totals[start + 1], start + 1
        totals[start], ends[start] = best, best_end
    return ends
