"""The wrapper that fetches media behind URLs before a model is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType

from flagmm.config.model import ModelSpec
from flagmm.config.secrets import mask_url
from flagmm.errors import ModelError
from flagmm.media.sniff import sniff_family
from flagmm.models.client import Call, ModelClient, Wrapper, prepare
from flagmm.models.fetch import FetchLimits, MediaFetcher
from flagmm.types import AudioPart, CallSettings, MediaSource, Medium, Message, ModelOutput, Part, TextPart

_NAMES = {"image": "a picture", "video": "a video", "audio": "a sound", "text": "a text or web page"}


def with_media(client: ModelClient, spec: ModelSpec) -> ModelClient:
    """The client, with media fetched for it where the model's settings ask for that or its API takes no URLs of sounds.

    It belongs inside whatever limits the calls: the bytes held then follow num_workers, and a run that stops
    fetches nothing more.
    """
    if not spec.fetch_media and not getattr(client, "needs_sounds_as_data", False):
        return client
    limits = FetchLimits(
        max_bytes=spec.fetch_media_max_bytes, timeout=spec.fetch_timeout, allow_private=spec.allow_private_media
    )
    return Fetching(client, MediaFetcher(limits), everything=spec.fetch_media)


class Fetching(Wrapper):
    """Puts bytes in the place of URLs, of all media (`everything`) or of sounds only."""

    def __init__(self, inner: ModelClient, fetcher: MediaFetcher, *, everything: bool) -> None:
        super().__init__(inner)
        self._fetcher = fetcher
        self._everything = everything

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._fetcher.close()
        await super().__aexit__(kind, error, trace)

    async def generate(self, messages: Sequence[Message], settings: CallSettings) -> ModelOutput:
        return await self.inner.generate(await self._with_bytes(messages), settings)

    async def prepare(self, messages: Sequence[Message], settings: CallSettings) -> Call:
        return await prepare(self.inner, await self._with_bytes(messages), settings)

    async def _with_bytes(self, messages: Sequence[Message]) -> Sequence[Message]:
        wanted = self._urls(messages)
        if not wanted:
            return messages
        sources = await self._fetch_all(wanted)
        return [_filled(message, sources) for message in messages]

    def _urls(self, messages: Sequence[Message]) -> dict[str, Medium]:
        """The URLs to fetch, and what must be behind each."""
        wanted: dict[str, Medium] = {}
        for message in messages:
            for part in message.content:
                if isinstance(part, TextPart) or part.source.url is None:
                    continue
                if self._everything or isinstance(part, AudioPart):
                    wanted[part.source.url] = part.type
        return wanted

    async def _fetch_all(self, wanted: Mapping[str, Medium]) -> dict[str, MediaSource]:
        tasks = [asyncio.ensure_future(self._fetch(url, medium)) for url, medium in wanted.items()]
        try:
            return dict(zip(wanted, await asyncio.gather(*tasks), strict=True))
        finally:
            for task in tasks:  # one that failed ends the others
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _fetch(self, url: str, medium: Medium) -> MediaSource:
        data = await self._fetcher.fetch(url)
        family = sniff_family(data)
        if family is not None and family != medium:
            raise ModelError(f"{mask_url(url)}: is {_NAMES[family]}, not {_NAMES[medium]}", kind="media")
        return MediaSource(data=data, name=mask_url(url))


def _filled(message: Message, sources: Mapping[str, MediaSource]) -> Message:
    return replace(message, content=tuple(_filled_part(part, sources) for part in message.content))


def _filled_part(part: Part, sources: Mapping[str, MediaSource]) -> Part:
    if isinstance(part, TextPart) or part.source.url is None:
        return part
    return replace(part, source=sources.get(part.source.url, part.source))
