"""Messages -> the body of a chat-completions request, media spliced in as base64."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Sequence
from typing import Any

from flagmm.config.model import ModelSpec
from flagmm.media.audio import encode_audio
from flagmm.media.image import EncodedMedia, ImageLimits, encode_image
from flagmm.media.video import sample_frames
from flagmm.types import AudioPart, ImagePart, Message, Part, TextPart

_SENT_AS_GIVEN = ("max_tokens", "temperature", "top_p", "reasoning", "thinking", "provider")


class BodyBuilder:
    """Builds request bodies for one model; `build` reads media, so call it in a thread where there are any."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec
        self._limits = ImageLimits(
            max_bytes=spec.max_image_size, max_long_side=spec.max_long_side, min_short_side=spec.min_short_side
        )
        # Stands for base64 text until the body is cut there; random, so that no question can hold it.
        self._marker = f"@@{secrets.token_hex(12)}@@"

    def build(self, messages: Sequence[Message], repeat: int) -> list[bytes]:
        """The body in pieces, to be sent one after another without being joined.

        Raises:
            DataError: a medium cannot be read.
        """
        media: list[bytes] = []
        payload = self._payload(messages, repeat, media)
        pieces = json.dumps(payload).encode().split(self._marker.encode())
        body = [pieces[0]]
        for encoded, piece in zip(media, pieces[1:], strict=True):
            body += [encoded, piece]
        return body

    def _payload(self, messages: Sequence[Message], repeat: int, media: list[bytes]) -> dict[str, Any]:
        spec = self._spec
        listed = [{"role": "system", "content": spec.system_prompt}] if spec.system_prompt else []
        listed += [{"role": message.role, "content": self._content(message, media)} for message in messages]
        payload: dict[str, Any] = {"model": spec.model_name, "messages": listed}
        for name in _SENT_AS_GIVEN:
            if getattr(spec, name) is not None:
                payload[name] = getattr(spec, name)
        if spec.seed is not None:
            payload["seed"] = spec.seed + repeat  # the same seed would repeat the same answer
        if spec.stream:
            payload |= {"stream": True, "stream_options": {"include_usage": True}}
        payload |= spec.extra_body
        return {key: value for key, value in payload.items() if value is not None}

    def _content(self, message: Message, media: list[bytes]) -> Any:
        if all(isinstance(part, TextPart) for part in message.content):
            return message.text
        return [item for part in message.content for item in self._part(part, media)]

    def _part(self, part: Part, media: list[bytes]) -> list[dict[str, Any]]:
        if isinstance(part, TextPart):
            return [{"type": "text", "text": part.text}]
        if isinstance(part, ImagePart):
            if part.source.url is not None:
                return [_image(part.source.url)]
            return [self._picture(encode_image(part.source, self._limits), media)]
        if isinstance(part, AudioPart):
            sound = encode_audio(part.source)
            media.append(base64.b64encode(sound.data))
            return [{"type": "input_audio", "input_audio": {"data": self._marker, "format": sound.format}}]
        frames = sample_frames(part.source, self._spec.max_num_frames, self._limits)
        return [self._picture(frame, media) for frame in frames]

    def _picture(self, picture: EncodedMedia, media: list[bytes]) -> dict[str, Any]:
        media.append(base64.b64encode(picture.data))
        return _image(f"data:{picture.mime};base64,{self._marker}")


def _image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}
