"""Models: one async interface (`client.py`), one module per kind of model, and what wraps them.

`http.py` (endpoints; its bodies in `openai_body.py`, its replies in `openai_reply.py` and `sse.py`), `ocr.py` (the
embedded reader), `offline.py` (random and scripted), `message_class.py` (a class in VLMEvalKit's shape).
`stack.py` puts cache, retry and rate limit around one. A kind of model is imported when a run asks for it. `gpt.py` is
what scoring code of a task asks, `api_response.py` what it is given. Nothing here knows of data sets.
"""

from typing import Any

from flagmm import generation
from flagmm.models.api_response import ApiResponse, ApiUsage, ProcessResult
from flagmm.models.gpt import GPT, BaseApiModel, Claude, Gemini, HttpClient, Hunyuan
from flagmm.registry import MODELS

MODELS.register_lazily(
    {
        "http": "flagmm.models.http",
        "ocr": "flagmm.models.ocr",
        "random": "flagmm.models.offline",
        "scripted": "flagmm.models.offline",
    }
)

__all__ = [
    "GPT", "ApiResponse", "ApiUsage", "BaseApiModel", "Claude", "Gemini", "HttpClient", "Hunyuan", "ProcessResult",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    return generation.class_named(name, "models")
