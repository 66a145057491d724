"""MMMU-Pro's official rule for the letter that a response gives.

Reference: MMMU 56eede82, `mmmu-pro/evaluate.py`. It differs from MMMU's (see `mmmu`): a letter after the last "Answer:"
comes first, and letters may stand before a space or a point, also at the end of a word. Where the reference draws a
choice at random, there is none here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_STATEMENT = "Answer:"
_OUTER_MARKS = ",.!?;:'"
_MIN_WORDS = 6
"""Words that a response has at least for an option's text to count as its choice."""


def parse_pro_choice(response: str, options: Mapping[str, str]) -> str | None:
    """Return the label that a response gives, or None where the reference draws one at random.

    Args:
        options: the option texts by label.

    >>> parse_pro_choice("(A) is tempting. Answer: B", {"A": "a cat", "B": "a dog"})
    'B'
    >>> parse_pro_choice("B. a dog", {"A": "a cat", "B": "a dog"})
    'B'
    """
    return _stated(response, list(options)) or _mentioned(response, options)


def _stated(response: str, labels: Sequence[str]) -> str | None:
    """The label that stands, be it within a word, after the last "Answer:"; None where several do."""
    _, statement, tail = response.rpartition(_STATEMENT)
    found = [label for label in labels if label in tail] if statement else []
    return found[0] if len(found) == 1 else None


def _mentioned(response: str, options: Mapping[str, str]) -> str | None:
    for mark in _OUTER_MARKS:
        response = response.strip(mark)
    text = f" {response} "
    for form, form_of_place in (("({})", "({})"), ("{} ", " {} "), ("{}.", " {} ")):
        places = {label: text.rfind(form_of_place.format(label)) for label in options if form.format(label) in text}
        if places:
            return _latest(places)
    if len(text.split()) < _MIN_WORDS:
        return None
    lowered = text.lower()
    texts = {label: option.lower() for label, option in options.items()}
    return _latest({label: lowered.rfind(option) for label, option in texts.items() if option and option in lowered})


def _latest(places: Mapping[str, int]) -> str | None:
    """The label that stands last; the first of several at the same place, as of those that are not found (-1)."""
    return max(places, key=places.__getitem__, default=None)
