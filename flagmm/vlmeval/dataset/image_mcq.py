"""CustomMCQDataset: multiple-choice questions about pictures."""

from __future__ import annotations

from typing import Any

from flagmm.dataset.tsv.cells import options_of
from flagmm.prompt.vlmevalkit import choice_text
from flagmm.vlmeval.dataset.image_base import ImageBaseDataset, MessageList, filled_cells

__all__ = ["CustomMCQDataset"]


class CustomMCQDataset(ImageBaseDataset):
    """A table with options. Patched methods are used by `run_task`; others are flagmm's own."""

    TYPE = "MCQ"

    def build_prompt(self, line: Any) -> MessageList:
        """The row's message: its pictures, then hint, question, options and the request to choose."""
        line = self.data.iloc[line] if isinstance(line, int) else line
        record = filled_cells(line)
        text = choice_text(record.get("question", ""), options_of(record), hint=record.get("hint", ""))
        messages: MessageList = [{"type": "image", "value": path} for path in self.dump_image(line)]
        return [*messages, {"type": "text", "value": text}]
