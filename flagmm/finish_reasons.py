"""Why a generation ended, in the words of many endpoints -> what that means for the answer.

The words are those of OpenAI, vLLM, SGLang, LMDeploy, TGI, DeepSeek, Anthropic, Gemini, Bedrock, Cohere, Mistral, Zhipu
and Moonshot, as their APIs document `finish_reason` or `stop_reason`; letters may be in any case.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from flagmm.types import Status

Ending = Literal["whole", "cut", "refused", "broken_off", "unknown"]
"""The model's own end, the token limit, a content filter, the server's failure, or a word that is not known."""

CUT = "length"
"""How a reply that was cut at a token limit is marked, whatever the endpoint calls it."""

_WORDS: dict[Ending, tuple[str, ...]] = {
    "whole": (
        "stop", "stop_sequence", "stop_token", "stopped", "end_turn", "eos", "eos_token", "complete", "completed",
        "finished", "tool_calls", "tool_call", "tool_use", "function_call",
    ),
    "cut": (
        CUT, "max_length", "max_tokens", "max_output_tokens", "max_new_tokens", "model_length", "error_limit",
        "model_context_window_exceeded", "context_window_exceeded", "context_length_exceeded",
    ),
    "refused": (
        "content_filter", "content_filtered", "safety", "image_safety", "recitation", "image_recitation", "refusal",
        "sensitive", "blocklist", "prohibited_content", "image_prohibited_content", "spii", "guardrail_intervened",
        "error_toxic",
    ),
    "broken_off": (
        "error", "abort", "aborted", "cancel", "cancelled", "canceled", "user_cancel", "timeout", "timed_out",
        "network_error", "server_error", "internal_error", "insufficient_system_resource", "preempted",
    ),
}  # fmt: skip
_ENDINGS = {word: ending for ending, words in _WORDS.items() for word in words}
_NONE = ("", "null", "none")
_LONGEST = 80


def read_finish_reason(given: Any) -> str | None:
    """The reason as it is kept: `CUT` for every word that means it, else as given; None where there is none.

    >>> read_finish_reason("MAX_TOKENS"), read_finish_reason("SAFETY"), read_finish_reason(None)
    ('length', 'SAFETY', None)
    """
    if isinstance(given, Mapping):  # SGLang's own API: {"type": "length", "length": 16}
        given = given.get("type")
    if not isinstance(given, str) or _word(given) in _NONE:
        return None
    return CUT if ending_of(given) == "cut" else given[:_LONGEST]


def ending_of(reason: str | None) -> Ending:
    """What a finish reason means; no reason at all is the end of a whole reply.

    >>> ending_of("abort"), ending_of("Recitation"), ending_of("FinishReason.STOP"), ending_of("tired")
    ('broken_off', 'refused', 'whole', 'unknown')
    """
    if reason is None or reason == "stop":
        return "whole"
    return _ENDINGS.get(_word(reason), "unknown")


def _word(reason: str) -> str:
    name = reason.strip().rpartition(".")[2]  # an enumeration may come with its class
    return name.casefold().replace("-", "_").replace(" ", "_")


def status_by(status: Status, reason: str | None) -> Status:
    """The status of a saved reply, corrected by its finish reason where that says that it is no whole answer.

    A reply that the server broke off has failed, whatever text there is of it; one that a filter ended is refused.
    """
    if status in ("ok", "empty"):
        ending = ending_of(reason)
        if ending == "broken_off":
            return "failed"
        if ending == "refused":
            return "refused"
    return status
