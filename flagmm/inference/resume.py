"""Whether saved answers fit this run: they were given by the same model, to requests with the same settings."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flagmm.config.dump import to_plain
from flagmm.errors import DataError, ResumeError
from flagmm.hints import mismatch
from flagmm.inference.session import ModelSession
from flagmm.inference.store import PredictionStore
from flagmm.jsonio import read_json_object, remove_files, writing
from flagmm.output_files import open_plain
from flagmm.paths import TaskPaths

logger = logging.getLogger(__name__)

_ADVICE = "give another --output-dir, or --overwrite to ask everything again"
_URL = "url"


@dataclass(frozen=True, kw_only=True)
class Resume:
    """What a person says of answers that an earlier run saved."""

    overwrite: bool = False
    """Forget them."""
    same_model: bool = False
    """The model is the same one at another address, where the endpoint does not tell."""


@dataclass(frozen=True, kw_only=True)
class Settled:
    """What the calls of a task are known by.

    Attributes:
        fingerprint: of the model and its settings; that of the saved answers where they fit, so that one task has one.
        identity: what the endpoint said it serves, now or when the answers were saved; None where it never told.
    """

    fingerprint: str
    identity: str | None


def settle(paths: TaskPaths, session: ModelSession, resume: Resume) -> Settled:
    """Look at what an earlier run left of a task, and clear away what holds nothing.

    Raises:
        ResumeError: saved answers do not fit; it says what differs and what to do.
        DataError: what is saved of the model was spoilt.
    """
    fresh = Settled(fingerprint=session.fingerprint, identity=session.spec.identity)
    if resume.overwrite:
        _clear(paths)
    if os.path.lexists(paths.predictions):
        with writing(paths.predictions):  # of something that is no file, nobody can say by whom it was answered
            os.close(open_plain(paths.predictions, os.O_RDONLY))
    else:
        if paths.answers.exists():
            raise ResumeError(
                f"{paths.answers}: answers that this run did not make",
                advice="score them with --without-infer, ask again with --overwrite, or give another --output-dir",
            )
        return fresh
    if paths.predictions.stat().st_size == 0:
        return fresh
    saved = read_json_object(paths.config, "answer_settings", "model") if paths.config.exists() else {}
    misfit = _misfit(paths, saved, session, resume)
    if misfit is None:
        for key, hint in (("fingerprint", str), ("identity", str | None)):
            if text := mismatch(saved.get(key), hint):
                raise DataError(f"{paths.config}: {key}: {text}; put the file right, or ask again with --overwrite")
        return Settled(fingerprint=saved["fingerprint"], identity=fresh.identity or saved.get("identity"))
    if _holds_answers(paths):
        raise misfit
    logger.info("%s: every call saved here failed; all are made anew", paths.folder)
    _clear(paths)
    return fresh


def _misfit(paths: TaskPaths, saved: Mapping[str, Any], session: ModelSession, resume: Resume) -> ResumeError | None:
    """Why saved answers do not fit, None where they do."""
    if saved.get("fingerprint") == session.fingerprint:
        return None
    spec = session.spec
    before, now = saved.get("answer_settings") or {}, to_plain(spec.answer_settings())
    is_moved = before.get(_URL) != now.get(_URL)
    then = saved.get("identity")
    is_known = then is not None and spec.identity is not None
    keys = [key for key in {**before, **now} if key != _URL and before.get(key) != now.get(key)]
    if keys or not before:
        keys += [_URL] if is_moved and not (is_known and then == spec.identity) else []
        return _other_settings(paths, _changes(before, now, keys, saved, spec.num_infers))
    if is_known and then != spec.identity:
        found = f"{now[_URL]} serves {spec.identity!r} as {spec.model_name!r}, and the saved answers are of {then!r}"
        return ResumeError(f"{paths.folder}: {found}", advice=_ADVICE)
    if is_known or not is_moved or resume.same_model:
        return None
    found = f"url was {before.get(_URL)!r}, is {now[_URL]!r}, and nothing there tells whether the model is the same"
    advice = f"say --same-model where it is, {_ADVICE}"
    return ResumeError(f"{paths.folder}: {found}", advice=advice, may_be_same_model=True)


def _changes(
    before: Mapping[str, Any], now: Mapping[str, Any], keys: list[str], saved: Mapping[str, Any], repeats: int
) -> list[str]:
    """The settings that differ, each as in "temperature was 0, is 1"."""
    changes = [f"{key} was {before.get(key)!r}, is {now.get(key)!r}" for key in keys]
    repeats_before = (saved.get("model") or {}).get("num_infers", 1)
    if repeats_before != repeats and "temperature" in keys:  # which is 0 or 1 by it, where none is given
        changes.insert(0, f"num_infers was {repeats_before}, is {repeats}")
    return changes


def _other_settings(paths: TaskPaths, changes: list[str]) -> ResumeError:
    text = "; ".join(changes) or "unknown"
    return ResumeError(f"{paths.folder}: saved answers were made with other settings ({text})", advice=_ADVICE)


def _holds_answers(paths: TaskPaths) -> bool:
    with PredictionStore(paths.predictions) as store:
        return store.holds_answers()


def _clear(paths: TaskPaths) -> None:
    remove_files(paths.predictions, paths.answers, paths.evaluated, paths.result, paths.config)
