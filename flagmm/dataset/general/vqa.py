"""GeneralVqaDataset: open questions as OpenAI messages, or as plain messages with placeholders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flagmm.dataset.general.annotations import further_columns, reference_answer
from flagmm.dataset.general.base import Asked, GeneralDataset
from flagmm.dataset.general.messages import decode_messages, read_conversation, shown_text
from flagmm.dataset.general.parts import PartMaker
from flagmm.errors import DataError
from flagmm.registry import DATASETS
from flagmm.types import Annotation

_COLUMNS = frozenset({"messages", "answer", "question_id", "question", "subset"})


@DATASETS.register_module()
class GeneralVqaDataset(GeneralDataset):
    """Records with `messages` and, where they are to be scored, an `answer`; keywords as of `GeneralDataset`."""

    kind = "general_vqa"
    default_split = "test"
    question_type = "open"

    def ask(self, record: Mapping[str, Any], question_id: str, maker: PartMaker) -> Asked:
        conversation = read_conversation(record, maker)
        return Asked(
            question=shown_text(decode_messages(record["messages"])),
            messages=conversation.messages,
            missing=conversation.missing,
        )

    def annotate(self, record: Mapping[str, Any], question_id: str) -> Annotation:
        try:
            question = shown_text(decode_messages(record.get("messages")))
        except DataError:
            question = ""
        return {
            "question": question,
            "answer": reference_answer(record.get("answer")),
            **further_columns(record, taken=_COLUMNS),
        }
