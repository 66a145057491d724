"""The options of a choice question, for models that choose without reading the prompt as a person would."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flagmm.metrics.option_labels import option_labels
from flagmm.types import CallSettings, Message

_OPTION_LINE = re.compile(r"^\s*\(?([A-Z])[.):：]\s*(.+?)\s*$", re.MULTILINE)


def offered_options(messages: Sequence[Message], settings: CallSettings) -> dict[str, str]:
    """Option text by label: the item's own, else the lettered lines of the prompt (`A. …`, `B. …`), else none."""
    if settings.options:
        return dict(zip(option_labels(len(settings.options)), settings.options, strict=True))
    text = "\n".join(message.text for message in messages)
    found = {match[1]: match[2] for match in _OPTION_LINE.finditer(text)}
    in_order = option_labels(len(found))
    return found if len(found) > 1 and list(found) == in_order else {}
