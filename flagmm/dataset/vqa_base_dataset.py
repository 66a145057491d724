"""VqaBaseDataset: questions with any number of pictures, or none."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from flagmm.config.env import datasets_cache_dir
from flagmm.dataset.annotations import (
    MEDIA_KEYS,
    annotation_paths,
    is_file_path,
    is_plain_file,
    load_annotations,
    media_paths,
    read_annotations,
)
from flagmm.dataset.compact import CompactAnnotations, CompactById
from flagmm.dataset.prepare import DataConfig, find_or_prepare, prepared_home
from flagmm.errors import ConfigError, DataError
from flagmm.media.places import MediaRoots
from flagmm.media.reading import shorten
from flagmm.metrics.option_labels import option_labels
from flagmm.registry import DATASETS, PROMPTS, build
from flagmm.types import Annotation

DEBUG_ITEMS = 32
_SPAN_KEYS = ("video_start", "video_end")


def span_fields(annotation: Annotation) -> dict[str, Any]:
    """The fields, where they are filled, that say which part of a video is asked about."""
    return {key: annotation[key] for key in _SPAN_KEYS if annotation.get(key) is not None}


@DATASETS.register_module()
class VqaBaseDataset:
    """A list of annotations and a folder of media.

    Args:
        name: the task's name in results.
        data_root: folder of annotations and media, relative to the working directory; or give `config`.
        anno_file: annotation file or files in `data_root`.
        cache_dir: where prepared data sets live.
        config: what `process.py` needs to prepare the data; see `prepare.py`.
        prompt_template: a dict with a `type` of the PROMPTS registry; None leaves the question bare.
        base_dir: folder of the task file.
        debug: keep the first 32 items only, and labels.
        with_label: put the reference answer into the items.
        allow_media_roots: further folders that annotations may name media in, beside the data set's own.
    """

    kind = "vqa"
    allow_media_roots: Sequence[str] = ()
    _own_folder: str | None = None
    """Of `data_root`, what process.py made, where it made it."""
    _roots: tuple[tuple[str, ...], MediaRoots] | None = None
    """Where media may be, and the settings that this follows from, which a subclass may change at any time."""

    def __init__(
        self,
        *,
        name: str,
        data_root: str | os.PathLike[str] | None = None,
        anno_file: str | list[str] | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        config: DataConfig | None = None,
        prompt_template: Mapping[str, Any] | None = None,
        base_dir: str | None = None,
        debug: bool = False,
        with_label: bool = False,
        allow_media_roots: Sequence[str] = (),
    ) -> None:
        if anno_file == []:
            raise ConfigError("dataset: anno_file: an empty list; name a file, or leave it out for data.json")
        self.name = name
        self.allow_media_roots = allow_media_roots or self.allow_media_roots
        cache_dir = os.fspath(cache_dir or datasets_cache_dir())
        self.data_root = str(
            find_or_prepare(
                data_root=None if data_root is None else os.fspath(data_root),
                config=config,
                cache_dir=cache_dir,
                base_dir=base_dir,
                anno_file=anno_file or (config or {}).get("anno_file"),
            )
        )
        if data_root is None and config is not None:
            self._own_folder = str(prepared_home(config, cache_dir))
        self.annotations: Sequence[Annotation] = self._loaded(anno_file or (config or {}).get("anno_file"))
        self.prompt_template = build(PROMPTS, prompt_template, where="prompt_template") if prompt_template else None
        self.with_label = with_label or debug
        if debug:
            self.annotations = self.annotations[:DEBUG_ITEMS]

    def _loaded(self, anno_file: str | list[str] | None) -> Sequence[Annotation]:
        """The annotations, in little memory where they hold what JSON holds."""
        paths = annotation_paths(Path(self.data_root), anno_file)
        is_own = type(self).__module__.startswith("flagmm.")  # the class of a task may change annotations in place
        if is_own and all(map(is_plain_file, paths)):
            with suppress(ValueError):  # nested too deeply
                return CompactAnnotations(read_annotations(paths), common={"data_root": self.data_root})
        return self.load_annotations(anno_file)

    def load_annotations(self, anno_file: str | list[str] | None) -> list[Annotation]:
        """The checked annotations, each with `data_root` added."""
        annotations = load_annotations(annotation_paths(Path(self.data_root), anno_file))
        for annotation in annotations:
            annotation["data_root"] = self.data_root
        return annotations

    def __len__(self) -> int:
        return len(self.annotations)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> dict[str, Any]:
        annotation = self.annotations[index]
        images = self.absolute_paths(annotation, "img_path")
        item: dict[str, Any] = {
            "img_path": images,
            "question": self.build_prompt(annotation, images),
            "question_id": str(annotation["question_id"]),
            "type": annotation["question_type"],
        }
        for key in ("video_path", "audio_path"):
            if paths := self.absolute_paths(annotation, key):
                item[key] = paths
        item |= span_fields(annotation)
        if self.with_label and annotation.get("answer") is not None:
            item["label"] = annotation["answer"]
        return item

    def absolute_paths(self, annotation: Annotation, key: str) -> list[str]:
        """The media of one kind, relative paths put under `data_root`; URLs and data URIs stay as they are.

        Raises:
            DataError: a path leads out of the data set's folder by `..` or a link, and into none that is allowed.
        """
        paths = media_paths(annotation, key)
        return [self._absolute_path(path, key) if is_file_path(path) else path for path in paths]

    def _absolute_path(self, path: str, key: str) -> str:
        found = os.path.join(self.data_root, path)
        if self._is_named_inside(found):
            self._refuse_outside(path, found, key)
        return found

    def check_item(self, item: Mapping[str, Any]) -> None:
        """Refuse an item whose media have absolute paths into other folders; what a task's own code names is its own.

        Raises:
            DataError: the annotation names one that is not allowed.
        """
        if not type(self).__getitem__.__module__.startswith("flagmm."):
            return
        for key in MEDIA_KEYS:
            for path in media_paths(dict(item), key):
                if is_file_path(path) and not self._is_named_inside(path):
                    self._refuse_outside(path, path, key)

    def _is_named_inside(self, path: str) -> bool:
        return path.startswith(self.data_root.rstrip(os.sep) + os.sep)

    def _refuse_outside(self, named: str, path: str, key: str) -> None:
        try:
            self._media_roots().check(named, path, of=f"the data set's folder ({self.data_root})")
        except DataError as error:
            raise DataError(f"{key}: {error}") from error
        except (OSError, ValueError) as error:  # such as a null character
            raise DataError(f"{key}: {shorten(named)}: is no path ({error})") from error

    def _media_roots(self) -> MediaRoots:
        folders = (self.data_root, *filter(None, [self._own_folder]), *self.allow_media_roots)
        if self._roots is None or self._roots[0] != folders:
            self._roots = (folders, MediaRoots(folders))
        return self._roots[1]

    def build_prompt(self, annotation: Annotation, img_path: list[str]) -> str:
        """The question, a line per option, `<image 1> ` in front where no token says where the picture goes."""
        question: str = annotation["question"]
        options = annotation.get("options") or []
        for label, option in zip(option_labels(len(options)), options, strict=True):
            question += f"\n{label}. {option}"
        if img_path and "<image 1>" not in question and "<image_1>" not in question:
            question = f"<image 1> {question}"
        if self.prompt_template is None:
            return question
        text: str = self.prompt_template.build_prompt({**annotation, "question": question})
        return text

    def meta_info(self) -> dict[str, Any]:
        return {"name": self.name, "length": len(self), "type": self.kind}

    def get_annotation(self) -> dict[str, Annotation]:
        """The annotations by question id as a string."""
        return {str(annotation["question_id"]): annotation for annotation in self.annotations}

    def find_annotations(self) -> Mapping[str, Annotation]:
        """The same; where nobody asks `get_annotation` for something else, each is made when it is looked up."""
        is_own = type(self).get_annotation is VqaBaseDataset.get_annotation
        if not is_own or not isinstance(self.annotations, CompactAnnotations):
            return self.get_annotation()
        return CompactById(self.annotations)
