"""Two questions to a model, one of them about a picture: does it answer at all?"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass

from flagmm.config.model import ModelSpec
from flagmm.errors import ModelError
from flagmm.inference.session import ModelSession, ask_model
from flagmm.types import CallSettings, ImagePart, MediaSource, Message, Part, TextPart

_SIDE = 128
_TEXT = "What is 2 + 3? Answer with a number."
_PICTURE = "What colour is the circle in this picture? Answer with one word."


@dataclass(frozen=True, kw_only=True)
class Tried:
    """One question with what came back."""

    question: str
    answer: str
    error: str | None = None


def check_model(spec: ModelSpec, *, make_picture: Callable[[], bytes] | None = None) -> list[Tried]:
    """Ask about a picture (a red circle) and then without one; a call that fails is told, not raised.

    Args:
        make_picture: gives other bytes instead.
    """
    picture = ImagePart(source=MediaSource(data=(make_picture or _red_circle)(), name="a red circle"))
    questions: list[tuple[str, tuple[Part, ...]]] = [
        (_PICTURE, (picture, TextPart(text=_PICTURE))),
        (_TEXT, (TextPart(text=_TEXT),)),
    ]
    tried: list[Tried] = []
    with ModelSession(spec) as session:

        async def ask() -> None:
            for number, (question, content) in enumerate(questions):
                message = Message(role="user", content=content)
                try:
                    output = await ask_model(session.client, [message], CallSettings(question_id=f"check {number}"))
                    tried.append(Tried(question=question, answer=output.text))
                except ModelError as error:
                    tried.append(Tried(question=question, answer="", error=str(error)))

        session.run(ask)
    return tried


def _red_circle() -> bytes:
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (_SIDE, _SIDE), "white")
    ImageDraw.Draw(picture).ellipse((_SIDE // 4, _SIDE // 4, _SIDE * 3 // 4, _SIDE * 3 // 4), fill="red")
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()
