"""Options and answers in the cells of VLMEvalKit's tables."""

from __future__ import annotations

from string import ascii_uppercase

from flagmm.dataset.general.parts import located
from flagmm.dataset.tsv.rows import Record
from flagmm.errors import DataError
from flagmm.formats.lmu import parse_list_cell


def reference_answer(cell: str | None) -> str | list[str] | None:
    """The accepted answers of a row without options.

    >>> reference_answer("['cat', 'a cat']"), reference_answer("[1, 2"), reference_answer(None)
    (['cat', 'a cat'], '[1, 2', None)
    """
    if not cell:
        return None
    try:
        values = parse_list_cell(cell)
    except DataError:  # too long a list to be one of answers
        return cell
    return values[0] if len(values) == 1 else values or cell


def options_of(record: Record) -> dict[str, str]:
    """The options by letter: the filled columns A to Z, holes and all, else the list in `candidates`.

    Raises:
        DataError: `candidates` has more elements than there are letters.
    """
    options = {letter: record[letter] for letter in ascii_uppercase if letter in record}
    if options or "candidates" not in record:
        return options
    with located("candidates"):
        listed = parse_list_cell(record["candidates"])
        if len(listed) > len(ascii_uppercase):
            raise DataError(f"{len(listed)} options, but only {len(ascii_uppercase)} letters")
    return {letter: text.removeprefix(f"{letter}. ") for letter, text in zip(ascii_uppercase, listed, strict=False)}


def options_if_asked(record: Record) -> dict[str, str]:
    """The same for scoring: none where they could not be asked."""
    try:
        return options_of(record)
    except DataError:
        return {}
