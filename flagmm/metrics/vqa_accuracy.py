"""VQA accuracy: how many of ten people gave the model's answer.

References: VQA a013f004, `vqaEval.py:VQAEval` (variant "vqa"), and mmf b0ffc7fb, `m4c_evaluators.py` (variant
"textvqa", which takes `,` `?` and `'s` apart first). The score of an answer is the mean, over the people, of
min(1, equal answers among the *other* people / 3): of ten, one equal answer gives 0.3, two 0.6, three 0.9, four 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from flagmm.metrics.vqa_punctuation import process_vqa_punctuation

Variant = Literal["vqa", "textvqa"]
Rule = Literal["reference", "careful"]

_ENOUGH = 3
ARTICLES = ("a", "an", "the")
_NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBERS = {word: str(value) for value, word in enumerate(_NUMBER_WORDS)} | {"none": "0"}
_SHORT_ANSWERS = {"yes", "no", "none", *_NUMBER_WORDS[1:]}
_SAID_BY = {"not": "no", "unable to": "unknown"}

_CONTRACTIONS = """
    ain't aren't can't could've couldn't couldn't've didn't doesn't don't hadn't hadn't've hasn't haven't he'd he'd've
    he's how'd how'll how's isn't it'd it'd've it'll ma'am might've mightn't mightn't've must've mustn't needn't not've
    o'clock oughtn't 'ow's'at shan't she'd've should've shouldn't shouldn't've somebody'd've somebody'll somebody's
    someone'd someone'd've someone'll someone's something'd something'd've something'll that's there'd there'd've
    there're there's they'd they'd've they'll they're they've 'twas wasn't we'd've we've weren't what'll what're what's
    what've when's where'd where's where've who'd who'd've who'll who's who've why'll why're why's won't would've
    wouldn't wouldn't've y'all y'all'd've y'all'll you'd you'd've you'll you're you've
"""


def _misspellings(word: str) -> list[str]:
    """The forms of `word` that lack one of its apostrophes; the reference mends no others."""
    return [word[:place] + word[place + 1 :] for place, letter in enumerate(word) if letter == "'"]


MENDED = {wrong: word for word in _CONTRACTIONS.split() for wrong in _misspellings(word)}
MENDED["somebody'd"] = "somebodyd"  # the reference has this pair the wrong way round


def normalize_vqa_answer(text: str, *, variant: Variant = "vqa") -> str:
    """Return `text` as answers are compared; a text of articles and punctuation only becomes "".

    >>> normalize_vqa_answer("The two dogs dont bark."), normalize_vqa_answer("men's", variant="textvqa")
    ("2 dogs don't bark", "men 's")
    """
    if variant == "textvqa":
        text = text.lower().replace(",", "").replace("?", "").replace("'s", " 's")
    return normalize_words(process_vqa_punctuation(one_line(text)))


def normalize_words(text: str) -> str:
    """Return the words of `text` in lower case, numbers to ten in digits, without articles, contractions mended.

    >>> normalize_words("The two dogs dont bark")
    "2 dogs don't bark"
    """
    numbered = [NUMBERS.get(word, word) for word in text.lower().split()]
    return " ".join(MENDED.get(word, word) for word in numbered if word not in ARTICLES)


def short_answer(text: str) -> str:
    """Return what a longer answer comes to by FlagEvalMM's rule: its first word, where that is yes, no or a number.

    Else "no" where "not" is anywhere in it, also inside a word; else "unknown" where "unable to" is; else `text`.
    Reference: FlagEvalMM fef27ec6, `evaluator/coco_evaluator.py:preprocess_string`.

    >>> short_answer("yes, it is"), short_answer("it is not red"), short_answer("a red bus")
    ('yes', 'no', 'a red bus')
    """
    words = text.split(maxsplit=1)
    first = words[0].replace(",", "").replace(".", "") if words else ""
    if first in _SHORT_ANSWERS:
        return first
    return next((said for part, said in _SAID_BY.items() if part in text), text)


def vqa_accuracy(
    prediction: str, answers: Sequence[str], *, variant: Variant = "vqa", rule: Rule = "reference"
) -> float:
    """Return the score of `prediction` against people's answers, from 0 to 1.

    No answers score 0, and so does a single one: there is nobody else who could have said the same.

    Args:
        answers: one text per person, equal ones repeated; the references have ten.
        rule: by the reference, variant "vqa" compares the bare texts where all people agree, so that "Yes" misses
            ten times "yes"; "careful" normalises always.
    """
    given, wanted = one_line(prediction), [one_line(answer) for answer in answers]
    if variant == "textvqa" or rule == "careful" or len(set(wanted)) > 1:
        given = normalize_vqa_answer(prediction, variant=variant)
        wanted = [normalize_vqa_answer(answer, variant=variant) for answer in answers]
    return _agreement(given, wanted)


def mean_accuracy(scores: Sequence[float]) -> float | None:
    """Return the mean as TextVQA reports it, a fraction; None for no scores."""
    return sum(scores) / len(scores) if scores else None


def mean_percent(scores: Sequence[float]) -> float | None:
    """Return the mean as VQA reports it, in percent with two decimals; None for no scores."""
    return round(100 * sum(scores) / len(scores), 2) if scores else None


def _agreement(given: str, wanted: Sequence[str]) -> float:
    equal = wanted.count(given)
    scores = [min(1.0, (equal - (answer == given)) / _ENOUGH) for answer in wanted]
    return sum(scores) / len(scores) if scores else 0.0


def one_line(text: str) -> str:
    """Return `text` with spaces for line breaks and tabs, stripped."""
    return text.replace("\n", " ").replace("\t", " ").strip()
