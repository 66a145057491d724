"""Messages -> the body of a chat-completions request, media spliced in as base64."""

from __future__ import annotations

import base64
import json
import logging
import secrets
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from flagmm.config.model import ModelSpec, Unsaid
from flagmm.config.secrets import mask_url
from flagmm.errors import DataError
from flagmm.media.audio import encode_audio
from flagmm.media.image import EncodedMedia, ImageLimits, encode_image
from flagmm.media.sniff import AUDIO_MIMES, contradict
from flagmm.media.video import WHOLE, Pick, Span, frames_per_second, inner_frames, sample_frames
from flagmm.media.video_file import open_video_file
from flagmm.types import AudioPart, ImagePart, Message, Part, TextPart, VideoPart

logger = logging.getLogger(__name__)

_SENT_AS_GIVEN = ("max_tokens", "temperature", "top_p", "reasoning", "thinking", "provider")


class BodyBuilder:
    """Builds request bodies for one model; `build` reads media, so call it in a thread where there are any."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec
        self._limits = ImageLimits(
            max_bytes=spec.max_image_size, max_long_side=spec.max_long_side, min_short_side=spec.min_short_side
        )
        self._wants_data_uri = _wants_data_uri(spec.url)
        self._told: set[str] = set()
        # Stands for base64 text until the body is cut there; random, so that no question can hold it.
        self._marker = f"@@{secrets.token_hex(12)}@@"

    def build(self, messages: Sequence[Message], repeat: int) -> list[bytes]:
        """The body in pieces, to be sent one after another without being joined.

        Raises:
            DataError: a medium cannot be read.
        """
        media: list[list[bytes]] = []
        payload = self._payload(messages, repeat, media)
        pieces = json.dumps(payload).encode().split(self._marker.encode())
        body = [pieces[0]]
        for encoded, piece in zip(media, pieces[1:], strict=True):
            body += [*encoded, piece]
        return body

    def _payload(self, messages: Sequence[Message], repeat: int, media: list[list[bytes]]) -> dict[str, Any]:
        spec = self._spec
        has_own = any(message.role in ("system", "developer") for message in messages)
        listed: list[dict[str, Any]] = []
        if spec.system_prompt and not has_own:
            listed.append({"role": "system", "content": spec.system_prompt})
        listed += [
            {"role": message.role, "content": self._content(message, media), **message.extra} for message in messages
        ]
        payload: dict[str, Any] = {"model": spec.model_name, "messages": listed}
        for name in _SENT_AS_GIVEN:
            if getattr(spec, name) is not None:
                key = spec.max_tokens_key or name if name == "max_tokens" else name
                payload[key] = getattr(spec, name)
        if spec.seed is not None:
            payload["seed"] = spec.seed + repeat  # the same seed would repeat the same answer
        if spec.stream:
            payload |= {"stream": True, "stream_options": {"include_usage": True}}
        payload |= spec.extra_body
        return {key: value for key, value in payload.items() if value is not None}

    def _content(self, message: Message, media: list[list[bytes]]) -> Any:
        if not message.structured and all(isinstance(part, TextPart) for part in message.content):
            return message.text
        return [item for part in message.content for item in self._part(part, media)]

    def _part(self, part: Part, media: list[list[bytes]]) -> list[dict[str, Any]]:
        if isinstance(part, TextPart):
            return [{"type": "text", "text": part.text}]
        if isinstance(part, ImagePart):
            detail = part.detail or self._spec.image_detail
            if part.source.url is not None:
                return [_image(part.source.url, detail)]
            picture = encode_image(part.source, self._limits, keep_bmp=part.keeps_bmp)
            return [self._picture(picture, media, detail)]
        if isinstance(part, AudioPart):
            return [self._sound(part, media)]
        mode = self._spec.video_mode or part.mode
        return [self._video_file(part, media)] if mode == "file" else self._video_frames(part, media)

    def _tell_of_format(self, part: AudioPart | VideoPart, found: str) -> None:
        """Warn once of each format that is sent as the data say though the bytes contradict it."""
        if contradict(part.format, found):
            text = f"{part.source.label}: format says {part.format}, and the bytes are {found}; it is sent as said"
            self._tell(f"{part.format} {found}", text)

    def _tell(self, cause: str, text: str) -> None:
        if cause not in self._told:
            self._told.add(cause)
            logger.warning("%s (told once; flagevalmm check names all of them)", text)

    def _picture(self, picture: EncodedMedia, media: list[list[bytes]], detail: str | None = None) -> dict[str, Any]:
        media.append([base64.b64encode(picture.data)])
        return _image(f"data:{picture.mime};base64,{self._marker}", detail)

    def _sound(self, part: AudioPart, media: list[list[bytes]]) -> dict[str, Any]:
        if part.source.url is not None:
            raise DataError(f"{mask_url(part.source.url)}: a sound cannot be sent as a URL, and it was not fetched")
        sound = encode_audio(part.source, part.format)
        self._tell_of_format(part, sound.found or sound.format)
        if sound.is_empty:
            self._tell("empty", f"{part.source.label}: an empty sound, without samples, is sent")
        media.append([base64.b64encode(sound.data)])
        prefix = f"data:{AUDIO_MIMES[sound.format]};base64," if self._wants_data_uri else ""
        return {"type": "input_audio", "input_audio": {"data": prefix + self._marker, "format": sound.format}}

    def _video_file(self, part: VideoPart, media: list[list[bytes]]) -> dict[str, Any]:
        refuse_part_of_file(part)
        url = part.source.url
        if url is None:
            video = open_video_file(part.source, part.format)
            self._tell_of_format(part, video.found)
            media.append([base64.b64encode(block) for block in video.blocks])
            url = f"data:{video.mime};base64,{self._marker}"
        beside = {"fps": part.extra["fps"]} if "fps" in part.extra else {}
        return {"type": "video_url", "video_url": {"url": url}, **beside}

    def _video_frames(self, part: VideoPart, media: list[list[bytes]]) -> list[dict[str, Any]]:
        if part.source.url is not None:
            raise DataError(
                f"{mask_url(part.source.url)}: frames cannot be taken from a URL; "
                'give the model fetch_media true, or video_mode "file"'
            )
        most = self._spec.max_num_frames
        frames = sample_frames(part.source, most, self._limits, span=span_of(part), pick=picked_by(part, most))
        return [self._picture(frame, media) for frame in frames]


def picked_by(part: VideoPart, most: int) -> Pick | None:
    """Which frames the data ask for, where they do; else the model's most are spread evenly.

    Args:
        most: the model's `max_num_frames`. It bounds a rate that a data set was given only where it was given, too,
            so that a benchmark at one frame a second has all of them; a rate that a record names is always bounded.
    """
    if "nframe" in part.extra:
        return inner_frames(part.extra["nframe"])
    if "frame_rate" in part.extra:
        return frames_per_second(part.extra["frame_rate"], None if isinstance(most, Unsaid) else most)
    if part.extra.get("fps"):
        return frames_per_second(part.extra["fps"], most)
    return None


def span_of(part: VideoPart) -> Span:
    """The part of the video that is asked about."""
    return Span(start=part.extra.get("start") or None, end=part.extra.get("end"))


def refuse_part_of_file(part: VideoPart) -> None:
    """Refuse to send a whole file where only a part of it is asked about.

    Raises:
        DataError: the video has a start or an end.
    """
    span = span_of(part)
    if span != WHOLE:
        raise DataError(
            f"{mask_url(part.source.label)}: only the part from {span} is asked about, and a file is sent whole; "
            'set video_mode to "frames", or cut the video'
        )


def _image(url: str, detail: str | None) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url} if detail is None else {"url": url, "detail": detail}}


def _wants_data_uri(url: str | None) -> bool:
    """Whether a sound at this endpoint is a data URI, not the bare base64 that the others take."""
    return "dashscope" in (urlsplit(url or "").hostname or "")
