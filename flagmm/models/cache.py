"""The reply cache of `use_cache`: one SQLite file for all runs."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from flagmm.chat_tokens import is_blank
from flagmm.errors import OutputError
from flagmm.finish_reasons import ending_of, read_finish_reason
from flagmm.jsonio import writing
from flagmm.models.client import ModelClient, Wrapper
from flagmm.models.request import request_hash
from flagmm.output_files import check_plain_file, locked
from flagmm.types import CallSettings, Message, ModelOutput, Usage

logger = logging.getLogger(__name__)

_BUSY_SECONDS = 30.0

Accepts = Callable[[Sequence[Message], ModelOutput], bool]


def is_cacheable(output: ModelOutput) -> bool:
    """Whether a reply is worth keeping: whole as far as can be told, not empty, not refused."""
    is_whole = ending_of(read_finish_reason(output.finish_reason)) in ("whole", "unknown")
    return is_whole and not is_blank(output.text) and not output.refused


class ReplyCache:
    """Replies by key, shared between processes; the file is made when there is a reply to keep."""

    def __init__(self, path: Path) -> None:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._is_open = False
        self._opening = threading.Lock()

    def get(self, key: str) -> ModelOutput | None:
        if not self._path.exists():
            return None
        self._open()
        with closing(self._connect()) as connection:
            row = connection.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        known = None if row is None else _reply_in(row[0])
        if row is not None and known is None:
            logger.debug("%s: what is kept under %s is no reply, and is asked anew", self._path, key)
        return known if known and is_cacheable(known) else None  # an older version may have kept what was broken off

    def put(self, key: str, output: ModelOutput) -> None:
        self._open()
        fields = asdict(output)
        del fields["cached"], fields["latency"]
        with closing(self._connect()) as connection, connection:
            connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, json.dumps(fields)))

    def drop(self, key: str) -> None:
        if self._path.exists():
            self._open()
            with closing(self._connect()) as connection, connection:
                connection.execute("DELETE FROM replies WHERE key = ?", (key,))

    def _open(self) -> None:
        with self._opening:
            if self._is_open:
                return
            for suffix in ("", "-wal", "-shm", "-journal"):  # SQLite would write wherever a link leads
                with writing(self._path):
                    check_plain_file(self._path.with_name(f"{self._path.name}{suffix}"))
            # SQLite does not wait, but fails, where two connections switch a new file to WAL at once.
            with locked(self._path.with_name(f".{self._path.name}.lock")), closing(self._connect()) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL)")
                connection.commit()
            self._is_open = True

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=_BUSY_SECONDS)


def _reply_in(text: Any) -> ModelOutput | None:
    """The reply that a row holds; None where another program spoilt it."""
    try:
        fields = json.loads(text)
        usage = fields.pop("usage", None)
        known = ModelOutput(**fields, usage=Usage(**usage) if usage else None, cached=True)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    texts, counts = (known.text, known.reason, known.finish_reason or ""), (known.attempts, *(usage or {}).values())
    is_sound = all(isinstance(each, str) for each in texts) and all(isinstance(each, int | None) for each in counts)
    return known if is_sound else None


class Cached(Wrapper):
    """Answers from the cache where it can, and keeps what it had to ask for.

    Attributes:
        fingerprint: of the model and its settings.

    Args:
        accepts: which replies are kept, and taken from what is kept, with the attempts that they took. Without it
            all are that `is_cacheable` when they come.
    """

    def __init__(self, inner: ModelClient, path: Path, fingerprint: str, *, accepts: Accepts | None = None) -> None:
        super().__init__(inner)
        self._accepts = accepts
        self._cache = ReplyCache(path)
        self._path = path
        self.fingerprint = fingerprint
        self._has_warned = False
        self._warning = threading.Lock()  # calls of several threads may fail at once

    async def generate(self, messages: Sequence[Message], settings: CallSettings) -> ModelOutput:
        key = request_hash(self.fingerprint, messages, settings.repeat)
        known = await asyncio.to_thread(self._tried, self._cache.get, key)
        if known is not None and self._accepts is None:
            return replace(known, attempts=1)
        if known is not None and self._accepts is not None and self._accepts(messages, known):
            return known
        output = await self.inner.generate(messages, settings)
        if is_cacheable(output) if self._accepts is None else self._accepts(messages, output):
            await asyncio.to_thread(self._tried, self._cache.put, key, output)
        return output

    def forget(self, messages: Sequence[Message], settings: CallSettings) -> None:
        """Ask for this reply again the next time, also where a cache further in has it."""
        self._tried(self._cache.drop, request_hash(self.fingerprint, messages, settings.repeat))
        if isinstance(self.inner, Cached):
            self.inner.forget(messages, settings)

    def _tried(self, action: Callable[..., ModelOutput | None], *arguments: Any) -> ModelOutput | None:
        """Use the cache; where it cannot be used, such as for a full disk, there are answers all the same."""
        try:
            return action(*arguments)
        except (sqlite3.Error, OSError, OutputError) as error:
            with self._warning:
                if not self._has_warned:
                    logger.warning("%s: replies are neither kept nor looked up: %s", self._path, error)
                self._has_warned = True
            return None
