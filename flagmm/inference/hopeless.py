"""Give up early on an endpoint that cannot answer."""

from __future__ import annotations

from flagmm.errors import EndpointError, ModelError
from flagmm.types import ItemError, Prediction, Status

_ENOUGH = {"auth": 3, "not_found": 3, "connection": 3, "bad_reply": 3}
_ENOUGH_OTHER = 10
_OF_THE_ITEM = {"media", "data", "refused"}
_ADVICE = {
    "auth": "check api_key",
    "not_found": "check url and model_name",
    "connection": "check url, and that the server runs",
    "bad_reply": "check that url is an OpenAI-compatible endpoint",
}


class HopelessGuard:
    """Watches predictions come in; raises when the first calls all fail the same way, or the endpoint goes away."""

    def __init__(self, *, endpoint: str, workers: int, raises: type[EndpointError] = EndpointError) -> None:
        self._endpoint = endpoint
        self._raises = raises
        self._gone_after = max(20, 2 * workers)
        self._answered = False
        self._same: tuple[str, str] | None = None
        self._message = ""
        self._count = 0

    def observe(self, prediction: Prediction) -> None:
        """Take note of one outcome.

        Raises:
            EndpointError: no further call is worth making.
        """
        error = prediction.error
        if prediction.status != "failed" or error is None or error.kind in _OF_THE_ITEM:
            if prediction.status in ("ok", "empty", "refused"):
                self._answered, self._same, self._count = True, None, 0
            return
        # Messages of one cause may differ in a number or id; kinds with a small limit are one cause by themselves.
        cause = (error.kind, "" if error.kind in _ENOUGH else error.message)
        self._count = self._count + 1 if cause == self._same else 1
        self._same, self._message = cause, error.message
        if self._is_hopeless(error.kind):
            raise self._raises(self._explain(error.kind))

    def observe_call(self, error: ModelError | None) -> None:
        """Take note of a call that is no prediction: None where it was answered.

        Raises:
            EndpointError: as `observe`.
        """
        item_error = ItemError(kind=error.kind, message=str(error)) if error else None
        status: Status = "failed" if error else "ok"
        self.observe(Prediction(question_id="", question="", answer="", status=status, error=item_error))

    def close(self) -> None:
        """Say at the end of a task that nothing was answered, where it was too short for `observe` to tell.

        Raises:
            EndpointError: every call failed in a way that concerns the endpoint.
        """
        if not self._answered and self._same is not None and self._same[0] in _ENOUGH:
            raise self._raises(self._explain(self._same[0]))

    def _is_hopeless(self, kind: str) -> bool:
        if self._answered:
            return kind == "connection" and self._count >= self._gone_after
        return self._count >= _ENOUGH.get(kind, _ENOUGH_OTHER)

    def _explain(self, kind: str) -> str:
        advice = _ADVICE.get(kind, "see the message")
        if kind == "model":  # no call reached an endpoint: the code that makes them raises
            return f"{self._endpoint}: every call raises {self._message}; --debug shows where"
        if kind == "system":
            return f"{self._endpoint}: no call can be made: {self._message}"
        if self._answered:
            return f"{self._endpoint} went away: {self._message}; {advice}, then run the same command again to go on"
        return f"{self._endpoint} does not answer: {self._message}; {advice}"
