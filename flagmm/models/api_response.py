"""What a model replied, as scoring code gets it; the names and fields are FlagEvalMM's.

Reference of the names: FlagEvalMM 06cab836, `models/api_response.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from flagmm.types import Usage

_Fields = TypeVar("_Fields", bound="_Details")


@dataclass(frozen=True)
class _Details:
    def to_dict(self) -> dict[str, Any]:
        """The fields as a plain dict."""
        return asdict(self)

    @classmethod
    def from_dict(cls: type[_Fields], data: Mapping[str, Any]) -> _Fields:
        """Of a plain dict; counts that the class has no field for are left out."""
        return cls(**{name: value for name, value in data.items() if name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class PromptTokensDetails(_Details):
    """Which tokens of a prompt were of a kind."""

    audio_tokens: int | None = 0
    cached_tokens: int | None = 0


@dataclass(frozen=True)
class CompletionTokensDetails(_Details):
    """Which tokens of a reply were of a kind."""

    accepted_prediction_tokens: int = 0
    audio_tokens: int | None = 0
    reasoning_tokens: int = 0
    rejected_prediction_tokens: int = 0


@dataclass(frozen=True)
class ApiUsage(Usage):
    """Token counts of one call; None where the endpoint gave none."""

    prompt_tokens_details: PromptTokensDetails | Mapping[str, Any] | None = None
    completion_tokens_details: CompletionTokensDetails | Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields as a plain dict, the details as dicts in it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ApiUsage:
        """Of a plain dict, as endpoints send it; counts that there is no field for are left out."""
        known = {name: value for name, value in data.items() if name in cls.__dataclass_fields__}
        prompt, completion = known.get("prompt_tokens_details"), known.get("completion_tokens_details")
        if isinstance(prompt, Mapping):
            known["prompt_tokens_details"] = PromptTokensDetails.from_dict(prompt)
        if isinstance(completion, Mapping):
            known["completion_tokens_details"] = CompletionTokensDetails.from_dict(completion)
        return cls(**known)


class DataclassJSONEncoder(json.JSONEncoder):
    """Writes what has a `to_dict` as that dict."""

    def default(self, o: Any) -> Any:
        return o.to_dict() if hasattr(o, "to_dict") else super().default(o)


class ApiResponse(str):
    """A reply: the text itself, which is `content`, too."""

    usage: ApiUsage | None
    reason: str
    """The thinking part."""
    finish_reason: str | None

    def __new__(
        cls, content: str, usage: ApiUsage | None = None, *, reason: str = "", finish_reason: str | None = None
    ) -> ApiResponse:
        reply = super().__new__(cls, content)
        reply.usage, reply.reason, reply.finish_reason = usage, reason, finish_reason
        return reply

    @property
    def content(self) -> str:
        return str(self)

    @classmethod
    def from_content(cls, content: str) -> ApiResponse:
        """A reply of which nothing else is known."""
        return cls(content)

    def to_json(self) -> str:
        """The text and the token counts as JSON."""
        fields = {"content": self.content, "usage": self.usage}
        return json.dumps(fields, ensure_ascii=False, cls=DataclassJSONEncoder)

    @classmethod
    def from_json(cls, json_str: str) -> ApiResponse:
        """What `to_json` wrote; any other text is taken for the reply itself."""
        try:
            data = json.loads(json_str)
        except ValueError:
            return cls(json_str)
        if not isinstance(data, dict) or not isinstance(data.get("content"), str):
            return cls(json_str)
        return cls(data["content"], ApiUsage.from_dict(data["usage"]) if data.get("usage") else None)


@dataclass
class ProcessResult:
    """The answer to one question; of a repeated one, lists and a dict by `inference_<k>`."""

    question_id: str
    question: str
    answer: str | dict[str, str]
    reason: str | list[str] = ""
    """The thinking part."""
    usage: dict[str, Any] | list[dict[str, Any]] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields as a plain dict, as predictions are saved."""
        return asdict(self)
