"""VideoDataset: questions about a video."""

from __future__ import annotations

from typing import Any

from flagmm.dataset.vqa_base_dataset import VqaBaseDataset, span_fields
from flagmm.errors import DataError
from flagmm.registry import DATASETS


@DATASETS.register_module()
class VideoDataset(VqaBaseDataset):
    """As VqaBaseDataset, with a `video_path` in every annotation; pictures, if any, are not sent.

    `video_start` and `video_end`, in seconds, say which part of the video the frames are taken from.
    """

    kind = "video_qa"

    def __getitem__(self, index: int) -> dict[str, Any]:
        annotation = self.annotations[index]
        videos = self.absolute_paths(annotation, "video_path")
        if not videos:
            raise DataError(f"question_id {annotation['question_id']!r}: 'video_path' is missing")
        item: dict[str, Any] = {
            "video_path": videos[0] if len(videos) == 1 else videos,
            "question": self.build_prompt(annotation, []),
            "question_id": str(annotation["question_id"]),
            "type": annotation["question_type"],
        }
        item |= span_fields(annotation)
        if self.with_label and annotation.get("answer") is not None:
            item["label"] = annotation["answer"]
        return item
