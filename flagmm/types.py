"""The few types that cross module borders.

Annotation (a plain dict from a file) -> Sample -> ModelOutput or ItemError -> Prediction -> TaskResult.
All are frozen; change them with `dataclasses.replace`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Annotation = dict[str, Any]
Role = Literal["system", "developer", "user", "assistant", "tool"]
Status = Literal["ok", "empty", "refused", "failed"]
Medium = Literal["image", "video", "audio"]
VideoMode = Literal["file", "frames"]

ROW_ERROR = "row_error"
"""Key of an annotation whose row cannot be read; nobody knows its answer, and it counts as one that had one."""

STATUSES: tuple[Status, ...] = ("ok", "empty", "refused", "failed")


@dataclass(frozen=True, kw_only=True)
class MediaIdentity:
    """What tells one media file from another, so that a changed picture is asked again."""

    size: int
    """Length in bytes."""
    mtime_ns: int
    """Time of the last change; while it and `size` hold, the file is not read again to know its digest."""
    digest: str
    """SHA-256 of the content, in hex."""


@dataclass(frozen=True, kw_only=True)
class MediaSource:
    """One picture, video or sound: exactly one of a file, a URL, or bytes in memory."""

    path: str | None = None
    url: str | None = None
    data: bytes | None = None
    identity: MediaIdentity | None = None
    name: str | None = None
    """What to call bytes that came from somewhere, such as a URL."""

    @property
    def label(self) -> str:
        """How messages to a person name this medium."""
        return self.path or self.url or self.name or f"<{len(self.data or b'')} bytes>"


@dataclass(frozen=True, kw_only=True)
class TextPart:
    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, kw_only=True)
class ImagePart:
    source: MediaSource
    type: Literal["image"] = "image"
    detail: str | None = None
    """How closely the endpoint is asked to look ("low", "high", "auto"); None sends nothing of it."""
    keeps_bmp: bool = False
    """Whether a BMP goes as it is, though not every API reads it, instead of as a PNG of the same pixels."""


@dataclass(frozen=True, kw_only=True)
class VideoPart:
    source: MediaSource
    type: Literal["video"] = "video"
    format: str | None = None
    """"mp4", "mpeg", "mov" or "avi" where the data says so; None leaves it to the bytes."""
    mode: VideoMode = "frames"
    """Whether the file itself is sent, or frames of it as pictures."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """`start` and `end` in seconds, which the frames are taken from; and how many of these, as `nframe`, or of each
    second, as a data set's `frame_rate` or a record's `fps`, which is also sent beside a file."""


@dataclass(frozen=True, kw_only=True)
class AudioPart:
    source: MediaSource
    type: Literal["audio"] = "audio"
    format: str | None = None
    """"wav" or "mp3" where the data says so; None leaves it to the bytes."""


MediaPart = ImagePart | VideoPart | AudioPart
Part = TextPart | ImagePart | VideoPart | AudioPart


@dataclass(frozen=True, kw_only=True)
class Message:
    role: Role
    content: tuple[Part, ...]
    structured: bool = False
    """Whether the content goes as a list of parts even where it is only text."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the message, as tool calls have them."""

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join(part.text for part in self.content if isinstance(part, TextPart))


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One question, ready to be sent."""

    question_id: str
    question: str
    """The finished prompt as text, image tokens included."""
    question_type: str
    messages: tuple[Message, ...]
    options: tuple[str, ...] = ()
    """Option texts in order, for models that choose among them without reading the prompt."""


@dataclass(frozen=True, kw_only=True)
class CallSettings:
    """What one call needs beside its messages."""

    question_id: str
    repeat: int = 0
    """Number of this repetition, from 0 to num_infers - 1."""
    question_type: str = ""
    options: tuple[str, ...] = ()
    task: str = ""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Token counts as the endpoint gave them; None where it gave none."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, kw_only=True)
class ModelOutput:
    """A model's reply, thinking already apart from the answer."""

    text: str
    reason: str = ""
    """The thinking part; never scored."""
    usage: Usage | None = None
    finish_reason: str | None = None
    refused: bool = False
    """Whether a content filter, not the model, ended the reply."""
    attempts: int = 1
    latency: float | None = None
    """Seconds that the answering call took; waiting for its turn and failed attempts left out."""
    cached: bool = False


@dataclass(frozen=True, kw_only=True)
class ItemError:
    """Why one item has no answer."""

    kind: str
    message: str
    status: int | None = None


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What was asked once and what came of it."""

    question_id: str
    question: str
    answer: str
    status: Status
    reason: str = ""
    usage: Usage | None = None
    finish_reason: str | None = None
    error: ItemError | None = None
    attempts: int = 1
    latency: float | None = None
    """Seconds that the answering call took."""
    request: str = ""
    """Hash of everything that decides the answer; see `models.request`."""
    inference: int = 0
    """Number of the repetition."""
    media: tuple[MediaIdentity, ...] = ()
    """Identities of the media sent, in order; lets a later run know that they are unchanged."""


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How many answers of each kind; `asked = answered + empty + refused + failed`."""

    total: int = 0
    asked: int = 0
    answered: int = 0
    empty: int = 0
    refused: int = 0
    failed: int = 0
    truncated: int = 0
    """Answered or empty, and cut at the token limit."""
    unparsed: int = 0
    """Answered, but no rule could read an answer out of it."""
    judge_failed: int = 0
    unscored: int = 0
    """Asked, but without a reference answer or of a type that no rule scores."""


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """The scores of one task, as `<task>_result.json` holds them."""

    task: str
    metrics: dict[str, Any]
    counts: Counts
    over: Literal["asked", "answered"] = "asked"
    """Which items the metrics are over; user code may want the answered ones only."""
    partial: str | None = None
    """Why this is no full run ("try run", "limit 10", "3 of 5 asked"), or None."""
    missing: str | None = None
    """Why there is no score of a task that was asked for: "not run: …", or "not scored: …" where answers are there."""
    details: dict[str, Any] = field(default_factory=dict)
