"""The tokens that General-VQA's BLEU and ROUGE compare; the two metrics cut a text in different ways.

Reference: EvalScope 1.14.1, `evalscope/metrics/utils/functions.py:bleu_ngram_one_sample` and
`evalscope/metrics/utils/rouge.py:compute_rouge_score_one_sample_zh`, with nltk 3.10.4, jieba 0.42.1 and
rouge-chinese 1.0.3.

Each text is Chinese or not by itself; one Chinese character is enough. Nothing is lower-cased, stemmed or removed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from flagmm.metrics.chinese_words import check_jieba, has_chinese, split_chinese_words
from flagmm.metrics.punkt_english import load_punkt_model
from flagmm.metrics.treebank_words import split_words

_ROUGE_MARKS = ("?", "。", "！", "？", "......", "……")
_ROUGE_BREAKS = (
    re.compile("([。！？?])([^”’])"),
    re.compile(r"(\.{6})([^”’])"),
    re.compile("(……)([^”’])"),
    re.compile("([。！？?][”’])([^，。！？?])"),
)


class VqaTokens(NamedTuple):
    """One text, cut for both metrics."""

    bleu: tuple[str, ...]
    """Chinese: jieba's words, white space included; else words after the Penn Treebank."""
    rouge: tuple[str, ...]
    """Chinese: jieba's words; else what stands between white space. A line of only white space is one empty token."""


def check_resources() -> None:
    """Raise `MissingExtraError` where a package that tokenising needs is not installed; meant for the start of a run.

    Both are needed whatever the references are: a model may answer an English question in Chinese.
    """
    load_punkt_model()
    check_jieba()


@lru_cache(maxsize=1 << 10)  # a reference comes up again for each repeat of its question
def tokenize_vqa(text: str) -> VqaTokens:
    """Cut `text` for BLEU and for ROUGE; blank text gives no tokens for ROUGE.

    >>> tokenize_vqa("Is it red? It's red.")
    VqaTokens(bleu=('Is', 'it', 'red', '?', 'It', "'s", 'red', '.'), rouge=('Is', 'it', 'red?', "It's", 'red.'))
    """
    if not has_chinese(text):
        return VqaTokens(tuple(split_words(text)), _split_rouge(text))
    words = split_chinese_words(text)
    return VqaTokens(tuple(words), _split_rouge(" ".join(words)))


def _split_rouge(text: str) -> tuple[str, ...]:
    if any(mark in text for mark in _ROUGE_MARKS):
        for sentence_end in _ROUGE_BREAKS:
            text = sentence_end.sub(r"\1\n\2", text)
    tokens: list[str] = []
    for line in text.rstrip().split("\n"):
        if line:
            tokens += line.split() or ("",)
    return tuple(tokens)
