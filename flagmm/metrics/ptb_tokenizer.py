"""The tokens of COCO captions: the Penn Treebank tokenizer that `pycocoevalcap` runs, without Java.

Reference: pycocoevalcap 1.2, `tokenizer/ptbtokenizer.py` (Stanford CoreNLP 3.4.1): lower case, one line, clitics
apart (`it 's`, `ca n't`), brackets spelled out (`-lrb-`), punctuation left out. The rules are in `ptb_rules`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from flagmm.metrics.ptb_rules import ABBREVIATION, CLITIC, DROPPED, RULES, SINGLE, SPELLINGS, TWO_WORDS

_SPACES = re.compile(r"[\s\u00a0\u200b-\u200d]+|&nbsp;")
# A plain word that only white space, or one mark and white space, follows: no rule can reach further.
_PLAIN = re.compile(r"([A-Za-z]+)(?:(?=\s)|[,.](?=\s))")
_PLAIN_QUOTES = str.maketrans(
    dict.fromkeys("\u0091‘‛‹", "`")
    | dict.fromkeys("\u0092’›", "'")
    | dict.fromkeys("\u0093“«", "``")
    | dict.fromkeys("\u0094”»", "''")
)
_LONGEST = 400
"""Characters that a rule may look at: far more than any token of a caption has, so that no rule reads a text to its end
from each of its places."""
_LINE_BREAK = re.compile(r"\r?\n|[\r\v\f\x85\u2028\u2029]")


@lru_cache(maxsize=1 << 10)
def tokenize_caption(text: str) -> tuple[str, ...]:
    """Return the tokens of a caption; a blank one, or one of punctuation only, has none.

    A few tokens hold a no-break space, as `1 1/2` does: ROUGE-L takes that for one token, BLEU and CIDEr for two.

    >>> tokenize_caption("A man's dog can't jump.")
    ('a', 'man', "'s", 'dog', 'ca', "n't", 'jump')
    """
    line = _LINE_BREAK.sub(" ", text) + "\n"
    tokens: list[str] = []
    place = 0
    while place < len(line):
        spaces = _SPACES.match(line, place)
        if spaces is not None:
            place = spaces.end()
            continue
        plain = _read_plain(line, place)
        if plain is not None:
            token, place = plain
        else:
            token, length = _read_token(line[place : place + _LONGEST])
            place += length
        token = _spell(token)
        if token not in DROPPED and token.strip(".\u00a0"):
            tokens.append(token)
    return tuple(tokens)


def _read_plain(line: str, place: int) -> tuple[str, int] | None:
    plain = _PLAIN.match(line, place, place + _LONGEST)
    if plain is None or plain[1].lower() in TWO_WORDS:
        return None
    if plain.end() > plain.end(1) and ABBREVIATION.fullmatch(plain[1]):
        return None
    return plain[1], plain.end()


@lru_cache(maxsize=1 << 8)  # what is said over and over is read once
def _read_token(text: str) -> tuple[str, int]:
    """Return the token that `text` begins with, "" where none can, and how long the way to the next one is."""
    best_length, token, end = 0, "", 1
    for rule in RULES:
        found = rule.match(text)
        if found is not None and found.end() > best_length:
            group = 1 if rule.groups else 0
            best_length, token, end = found.end(), found[group], found.end(group)
    if not best_length and (SINGLE.match(text) or text[0] in SPELLINGS):
        token = text[0]
    return token, end


def _spell(token: str) -> str:
    if token.isascii() and token.isalnum():
        return token.lower()
    token = SPELLINGS.get(token, token)
    if CLITIC.fullmatch(token) or not any(map(str.isalnum, token)):
        token = token.replace("&apos;", "'").translate(_PLAIN_QUOTES)
    if not (token.startswith("<") and token.endswith(">")):
        token = token.replace("(", "-lrb-").replace(")", "-rrb-")
    return token.lower().replace("\u00ad", "").replace(" ", "\u00a0")
