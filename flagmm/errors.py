"""The exceptions of flagmm, one tree; the command line shows any of them as one line.

FlagMMError                what a person can mend; exit status 2 unless said otherwise
├── ConfigError            a task file, model file, flag or environment variable is wrong
├── DataError              an annotation, prediction or media file is missing or wrong
├── MissingExtraError      an optional package is needed and not installed
├── OutputError            a file of the run cannot be written: no space, no right, a file where a folder should be
├── ResumeError            saved answers were made with other settings
├── UserCodeError          a task folder's own code raised
├── EndpointError          the model cannot be used, by any task or by one: wrong key, wrong URL, nobody there
│   └── JudgeError         the same of a task's judge; the model under test may be well
└── ModelError             one call failed; becomes the error of one item, never ends a run
"""

from __future__ import annotations

from typing import Literal

ErrorKind = Literal[
    "connection",  # refused, reset, no such host
    "timeout",
    "rate_limit",  # HTTP 429
    "server",  # HTTP 5xx, 408, 409, or a generation that the server says it broke off
    "auth",  # HTTP 401, 402, 403, 407
    "not_found",  # HTTP 404, 405, 410
    "bad_request",  # any other HTTP 4xx
    "bad_reply",  # HTTP 200 with something that is no completion
    "refused",  # the endpoint's content filter turned the question down
    "media",  # a picture, video or sound of the question cannot be read
    "data",  # the record itself cannot be turned into a question
    "system",  # this machine: no more files may be opened
    "model",  # an in-process model raised
]


class FlagMMError(Exception):
    """Base of every error that a person can mend."""

    exit_status = 2


class ConfigError(FlagMMError):
    """A task file, model file, flag or environment variable is wrong."""


class DataError(FlagMMError):
    """An annotation, prediction or media file is missing or wrong."""


class MissingExtraError(FlagMMError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package!r}: pip install 'flagmm[{extra}]'")


class OutputError(FlagMMError):
    """A file of the run cannot be written."""


class ResumeError(FlagMMError):
    """Saved answers were made with other settings than this run's.

    Attributes:
        found: what is wrong, without what to do about it.
        advice: what to do in the words of `flagevalmm --tasks`; empty where `found` says it.
        may_be_same_model: whether the run goes on where a person says that the model is the same one.
    """

    def __init__(self, found: str, *, advice: str = "", may_be_same_model: bool = False) -> None:
        super().__init__(f"{found}; {advice}" if advice else found)
        self.found = found
        self.advice = advice
        self.may_be_same_model = may_be_same_model


class UserCodeError(FlagMMError):
    """A task folder's own code raised."""

    exit_status = 1


class EndpointError(FlagMMError):
    """The model cannot be used; no further call is worth making.

    Attributes:
        of_task: whether it turned down what one task asks, and other tasks may fare better; exit status 1.
    """

    def __init__(self, message: str, *, of_task: bool = False) -> None:
        super().__init__(message)
        self.of_task = of_task
        self.exit_status = 1 if of_task else FlagMMError.exit_status


class JudgeError(EndpointError):
    """A task's judge cannot be used at all; other tasks may have another one."""


class ModelError(FlagMMError):
    """One call failed.

    Attributes:
        kind: what went wrong, one of `ErrorKind`.
        status: the HTTP status, where there was one.
        retryable: whether the same call may succeed later.
        retry_after: seconds that the endpoint asked us to wait.
        attempts: calls made for the item, set by the retrying wrapper.
    """

    exit_status = 1

    def __init__(
        self,
        message: str,
        *,
        kind: ErrorKind,
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after
        self.attempts = 1
