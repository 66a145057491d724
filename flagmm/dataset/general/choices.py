"""The right answer of a multiple-choice record as labels of its options."""

from __future__ import annotations

from collections.abc import Sequence

from flagmm.metrics.general_vmcq import answer_labels, general_vmcq_labels

Answer = str | list[str] | None


def right_labels(answer: Answer, count: int, *, multiple: bool) -> Answer:
    """The answer with its labels as the prompt has them, capital and, where several are right, sorted and joined.

    What names no option stays as it is.

    Args:
        count: how many options there are.
        multiple: whether several labels may be right; a list of answers is otherwise one of alternatives.

    >>> right_labels("b", 4, multiple=False), right_labels("c, a", 4, multiple=True)
    ('B', 'AC')
    """
    if answer is None:
        return None
    labels = general_vmcq_labels(count)
    if multiple:
        parts = answer_labels(answer, labels)
        return "".join(sorted(parts)) if parts else answer
    if isinstance(answer, str):
        return _label(answer, labels) or answer
    found = [_label(text, labels) or text for text in answer]
    return found[0] if len(found) == 1 else found


def relabel(answer: Answer, order: Sequence[int], *, multiple: bool) -> Answer:
    """The answer after its options were put in another order.

    Args:
        answer: as `right_labels` gives it.
        order: for each new place, the old place of its option.
    """
    labels = general_vmcq_labels(len(order))
    moved = {labels[old]: labels[new] for new, old in enumerate(order)}
    if multiple and isinstance(answer, str):
        parts = answer_labels(answer, labels)
        return "".join(sorted(moved[part] for part in parts)) if parts else answer
    if isinstance(answer, list):
        return [moved.get(text, text) for text in answer]
    return moved.get(answer, answer) if answer is not None else None


def _label(text: str, labels: Sequence[str]) -> str | None:
    label = text.strip().upper()
    return label if label in labels else None
