"""TsvDataset and its kinds: multiple choice, free answers, yes or no, videos."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from flagmm.dataset.compact import Annotations
from flagmm.dataset.general.parts import located
from flagmm.dataset.sampled import SampledDataset
from flagmm.dataset.tsv.cells import options_if_asked, options_of, reference_answer
from flagmm.dataset.tsv.media import RowPictures, VideoSettings, video_part
from flagmm.dataset.tsv.pictures import PictureFiles
from flagmm.dataset.tsv.places import TablePlaces, TableRequest, find_table, pictures_folder
from flagmm.dataset.tsv.rows import Record, TsvRow, TsvRows
from flagmm.dataset.tsv.saved_notes import NOTES_NAME
from flagmm.dataset.tsv.subtitles import read_subtitles
from flagmm.errors import ConfigError, DataError
from flagmm.prompt.vlmevalkit import SHORT_ANSWER, choice_text, place_pictures
from flagmm.registry import DATASETS
from flagmm.types import ROW_ERROR, Annotation, Message, Part, Sample, TextPart

logger = logging.getLogger(__name__)

Kind = Literal["mcq", "vqa", "yes-no", "video"]
_TYPES: dict[Kind, str] = {"mcq": "multiple-choice", "vqa": "open", "yes-no": "yes-no"}


@DATASETS.register_module()
class TsvDataset(SampledDataset):
    """A benchmark in VLMEvalKit's table format, of the kind that its columns show.

    `A` and `B` make it multiple choice, `video` or `video_path` one of videos, answers that are all Yes or No one of
    yes and no, and anything else one of free answers. A row that cannot be read or made into a question raises a
    `DataError` that names file, line and column; the runner makes a failed item of it.

    Args:
        name: the task's name in results.
        data_root: a table, a folder that holds `<dataset>.tsv`, or a table's name in `$LMUData`.
        dataset: the table's name without ending; `name` where not given.
        url: where to download the table from, unless it is in `$LMUData`.
        md5: what the table must have; a downloaded one that has not is downloaded again.
        kind: "mcq", "vqa", "yes-no" or "video" instead of what the columns show.
        short_answer: ask for a single word or phrase, as VLMEvalKit's own VQA benchmarks do.
        skip_noimg: leave out rows without a picture where the table has the column `image`, as VLMEvalKit does.
        nframe: send so many frames of each video; or give `fps`; without either the file is sent. 0 and below are
            VLMEvalKit's "not given", also of `fps`.
        fps: send so many frames of each second of a video.
        use_subtitle: put the text of `subtitle_path` in front of a video's question.
        allow_media_roots: folders that relative paths may lead into by `..` or a link, beside the table's own folder
            and `$LMUData`; absolute paths may lead anywhere.
        strict: a faulty row ends the run before anything is asked.
        base_dir: folder of the task file; not used, as paths are a person's.
        cache_dir: not used, as nothing is prepared.

    Attributes:
        kind: of the questions.
        path: the table.
        columns: its columns.
    """

    fixed_kind: ClassVar[Kind | None] = None

    def __init__(
        self,
        *,
        name: str,
        data_root: str | None = None,
        dataset: str | None = None,
        url: str | None = None,
        md5: str | None = None,
        kind: str | None = None,
        short_answer: bool = False,
        skip_noimg: bool = True,
        nframe: int | None = None,
        fps: float | None = None,
        use_subtitle: bool = False,
        allow_media_roots: Sequence[str] = (),
        strict: bool = False,
        base_dir: str | None = None,
        cache_dir: str | None = None,
    ) -> None:
        if kind is not None and kind not in (get_args(Kind) if self.fixed_kind is None else (self.fixed_kind,)):
            known = self.fixed_kind or ", ".join(get_args(Kind))
            raise ConfigError(f"dataset: kind: expected one of {known}, found {kind!r}")
        self._video_settings = VideoSettings.of(nframe, fps)
        self.name = name
        self.strict = strict
        self.path: Path = find_table(TableRequest(dataset=dataset or name, data_root=data_root, url=url, md5=md5))
        pictures = pictures_folder(self.path)
        self._rows = TsvRows(self.path, skip_noimg=skip_noimg, notes=pictures / NOTES_NAME)
        self.columns = self._rows.columns
        self.kind: str = self.fixed_kind or kind or _kind_of(self._rows)
        self._short_answer = short_answer
        self._use_subtitle = use_subtitle
        allowed = tuple(allow_media_roots)
        places = TablePlaces(self.path, pictures, allowed=allowed)
        self._pictures = RowPictures(self._rows, PictureFiles(pictures, self.path), places)
        self._video_places = TablePlaces(
            self.path, pictures, further=("video", "videos", self.path.stem), allowed=allowed
        )
        logger.info("%s: %d rows, kind %s", self.path, len(self._rows), self.kind)

    def __len__(self) -> int:
        return len(self._rows)

    def build_sample(self, index: int) -> Sample:
        """The question number `index`, ready to be sent; its pictures are decoded to files if they are not yet.

        Raises:
            DataError: the row is malformed; the message names file, line and column.
        """
        self._check_index(index)
        row = self._rows.row(index)
        record = row.cells
        with located(self._rows.where(index)):
            if "index" not in record:
                raise DataError("index: is empty")
            options = options_of(record) if self._has_options else {}
            text = self._text(record, options)
            parts = self._parts(row, text)
        return Sample(
            question_id=self.question_id_at(index),
            question=text,
            question_type=self._question_type(options),
            messages=(Message(role="user", content=parts),),
            options=tuple(options.values()),
        )

    def question_id_at(self, index: int) -> str:
        """The row's `index`, known without reading the row."""
        self._check_index(index)
        return self._rows.question_ids[index]

    def get_annotation(self) -> Annotations:
        """The annotations by question id; rows are read again when they are looked up, and not kept."""
        places = {question_id: number for number, question_id in enumerate(self._rows.question_ids)}
        return Annotations(places, self._annotation)

    def table_row(self, question_id: str) -> Record:
        """The filled cells of a row as they stand in the table, but for `image`; none where it cannot be read."""
        try:
            return self._rows.named(question_id).cells
        except DataError:
            return {}

    def meta_info(self) -> dict[str, Any]:
        return {"name": self.name, "length": len(self), "type": self.kind}

    @property
    def _has_options(self) -> bool:
        return self.kind in ("mcq", "video")

    def _question_type(self, options: dict[str, str]) -> str:
        if self.kind == "video":
            return "multiple-choice" if options else "yes-no" if self._rows.is_yes_no else "open"
        return _TYPES[self.kind]  # type: ignore[index]  # checked by __init__

    def _text(self, record: Record, options: dict[str, str]) -> str:
        question = record.get("question", "")
        if options or self.kind == "mcq":
            return choice_text(question, options, hint=record.get("hint", ""))
        return question + SHORT_ANSWER if self._short_answer else question

    def _parts(self, row: TsvRow, text: str) -> tuple[Part, ...]:
        if self.kind != "video":
            return place_pictures(text, self._pictures.of(row))
        video = video_part(row.cells, self._video_places, self._video_settings)
        if self._use_subtitle:
            text = read_subtitles(row.cells, self._video_places) + text
        return (video, TextPart(text=text))

    def _annotation(self, index: int) -> Annotation:
        known: Annotation = {"question_id": self.question_id_at(index), "index": self.question_id_at(index)}
        try:
            record = self._rows.row(index).cells
        except DataError as error:
            return known | {"question": "", "answer": None, "question_type": _TYPES["vqa"], ROW_ERROR: str(error)}
        options = options_if_asked(record) if self._has_options else {}
        has_letters = self.kind == "mcq" or bool(options)
        answer = record.get("answer") if has_letters else reference_answer(record.get("answer"))
        return {
            **record,
            **known,
            "question": record.get("question", ""),
            "question_type": self._question_type(options),
            "options": list(options.values()),
            "option_labels": list(options),
            "answer": answer,
        }

    def _check_index(self, index: int) -> None:
        if not 0 <= index < len(self):
            raise IndexError(index)


def _kind_of(rows: TsvRows) -> Kind:
    columns = set(rows.columns)
    if columns & {"video", "video_path"}:
        return "video"
    if {"A", "B"} <= columns:
        return "mcq"
    return "yes-no" if rows.is_yes_no else "vqa"


@DATASETS.register_module()
class TsvMcqDataset(TsvDataset):
    """A table of multiple-choice questions; keywords as of `TsvDataset`."""

    fixed_kind = "mcq"


@DATASETS.register_module()
class TsvVqaDataset(TsvDataset):
    """A table of questions with free answers; keywords as of `TsvDataset`."""

    fixed_kind = "vqa"


@DATASETS.register_module()
class TsvYesNoDataset(TsvDataset):
    """A table of questions to be answered by yes or no; keywords as of `TsvDataset`."""

    fixed_kind = "yes-no"


@DATASETS.register_module()
class TsvVideoDataset(TsvDataset):
    """A table of questions about videos, with options or without; keywords as of `TsvDataset`."""

    fixed_kind = "video"
