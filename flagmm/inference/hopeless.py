"""Give up on an endpoint that cannot answer: at its first calls, or where it stops answering in the middle."""

from __future__ import annotations

from flagmm.errors import EndpointError, JudgeError, ModelError
from flagmm.types import ItemError, Prediction, Status

_ENOUGH = {"auth": 3, "not_found": 3, "connection": 3, "bad_reply": 3}
"""First calls of a task that fail in this way before it is clear that all will."""
_ENOUGH_OTHER = 10
_ENOUGH_LATER = {"auth": 3, "not_found": 10}
"""Calls in a row, once something was answered: a key is revoked, or the model is taken down."""
_ENOUGH_FORBIDDEN = 10
"""The same of HTTP 403, with which some gateways turn down single questions, too."""
_LEAST_ROW = 20
_OF_THE_ITEM = {"media", "data", "refused"}
_OF_THE_TASK = {"bad_request", "model"}
"""What an endpoint that is well may say to every question of one task, such as one with pictures."""
_ADVICE = {
    "auth": "check api_key",
    "not_found": "check url and model_name",
    "connection": "check url, and that the server runs",
    "bad_reply": "check that url is an OpenAI-compatible endpoint",
    "timeout": "check that the server is not overloaded, or give a longer timeout",
    "rate_limit": "check the account's limits, or give fewer num_workers",
}
_ASK_ON = ", or ask the other questions all the same by --keep-failed (of eval: --ignore-errors)"
_ADVICE_BY_STATUS = {402: "check the account that api_key belongs to", 407: "check proxy"}


class HopelessGuard:
    """Watches calls end, and raises where no further one is worth making.

    The first calls of a task that all fail in the same way end it; they end the run, too, unless an endpoint that is
    well may have turned down the questions of this task only. Later an unbroken row of failures of the endpoint ends
    the run; the row goes on over the ends of tasks.
    """

    def __init__(self, *, endpoint: str, workers: int, raises: type[EndpointError] = EndpointError) -> None:
        self._endpoint = endpoint
        self._raises = raises
        self._row_limit = max(_LEAST_ROW, 2 * workers)
        self._row = 0
        self._was_answered = False  # by any task
        self.start_task()

    def start_task(self, *, patient: bool = False) -> None:
        """Look at the first calls anew: those of another task begin.

        Args:
            patient: ask on where an endpoint that is well turns down one question after the other.
        """
        self._is_patient = patient
        self._answered = False
        self._same: tuple[str, str] | None = None
        self._count = 0
        self._last = ItemError(kind="", message="")

    def observe(self, prediction: Prediction) -> None:
        """Take note of one outcome.

        Raises:
            EndpointError: no further call is worth making.
        """
        error = prediction.error
        if prediction.status != "failed" or error is None or error.kind in _OF_THE_ITEM:
            if prediction.status in ("ok", "empty", "refused"):
                self._answered = self._was_answered = True
                self._same, self._count, self._row = None, 0, 0
            return
        # Messages of one cause may differ in a number or id; kinds with a small limit are one cause by themselves.
        cause = (error.kind, "" if error.kind in _ENOUGH else error.message)
        self._count = self._count + 1 if cause == self._same else 1
        self._row = 0 if error.kind in _OF_THE_TASK else self._row + 1  # an answer with HTTP 400 is a sign of life
        self._same, self._last = cause, error
        if self._is_hopeless(error):
            raise self._given_up()

    def observe_call(self, error: ModelError | None) -> None:
        """Take note of a call that is no prediction: None where it was answered.

        Raises:
            EndpointError: as `observe`.
        """
        item_error = ItemError(kind=error.kind, message=str(error), status=error.status) if error else None
        status: Status = "failed" if error else "ok"
        self.observe(Prediction(question_id="", question="", answer="", status=status, error=item_error))

    def close(self) -> None:
        """Say at the end of a task that nothing was answered, where it was too short for `observe` to tell.

        Raises:
            EndpointError: every call failed in a way that concerns the endpoint.
        """
        if not self._answered and self._last.kind in _ENOUGH:
            raise self._given_up()

    def _is_hopeless(self, error: ItemError) -> bool:
        if self._row >= self._row_limit:
            return True
        if error.kind in _OF_THE_TASK and (self._answered or self._is_patient):
            return False
        if not self._answered:
            return self._count >= _ENOUGH.get(error.kind, _ENOUGH_OTHER)
        enough = _ENOUGH_FORBIDDEN if error.status == 403 else _ENOUGH_LATER.get(error.kind, self._row_limit)
        return self._count >= enough

    def _given_up(self) -> EndpointError:
        return self._raises(self._explain(self._last), of_task=self._last.kind in _OF_THE_TASK)

    def _explain(self, error: ItemError) -> str:
        if error.kind == "model":  # no call reached an endpoint: the code that makes them raises
            return f"{self._endpoint}: every call raises {error.message}; --debug shows where"
        if error.kind == "system":
            return f"{self._endpoint}: no call can be made: {error.message}"
        if error.kind == "bad_request":
            ask_on = "" if issubclass(self._raises, JudgeError) else _ASK_ON
            return f"{self._endpoint} turns down one question after the other: {error.message}; see the message{ask_on}"
        advice = _ADVICE_BY_STATUS.get(error.status or 0) or _ADVICE.get(error.kind, "see the message")
        if self._was_answered:
            what = "went away" if error.kind == "connection" else "answers no more"
            return f"{self._endpoint} {what}: {error.message}; {advice}, then run the same command again to go on"
        return f"{self._endpoint} does not answer: {error.message}; {advice}"
