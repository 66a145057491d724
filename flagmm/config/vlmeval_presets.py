"""VLMEvalKit's model classes that call an endpoint in OpenAI's protocol, and its named models of these classes.

Reference: VLMEvalKit, `vlmeval/api` and `vlmeval/config.py`, as in the release ms-vlmeval 0.0.20.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class ApiClass:
    """What a model class of VLMEvalKit's knows by itself."""

    url: str | None
    """Where it calls; None where only a variable or `api_base` says so."""
    url_variables: tuple[str, ...] = ()
    key_variables: tuple[str, ...] = ()
    key: str | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Keywords, under VLMEvalKit's names."""


_OPENAI = ApiClass(
    url="https://api.openai.com/v1/chat/completions",
    url_variables=("OPENAI_API_BASE",),
    key_variables=("OPENAI_API_KEY",),
    defaults={"temperature": 0, "max_tokens": 2048, "timeout": 300, "retry": 5, "img_detail": "low"},
)
_LMDEPLOY = ApiClass(
    url="http://0.0.0.0:23333/v1/chat/completions",
    url_variables=("LMDEPLOY_API_BASE",),
    key_variables=("LMDEPLOY_API_KEY",),
    key="sk-123456",
    defaults={"temperature": 0, "max_tokens": 16384, "timeout": 120, "retry": 5},
)
_PLAIN = {"temperature": 0, "max_tokens": 2048, "retry": 5}


def _service(url: str, *keys: str, base: str | None = None) -> ApiClass:
    return ApiClass(url=url, key_variables=keys, url_variables=(base,) if base else (), defaults=_PLAIN)


_QWEN = _service("https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY")
_GEMINI = _service("https://generativelanguage.googleapis.com/v1beta/openai", "GOOGLE_API_KEY")
_CLAUDE = _service("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY")
_SILICON = _service("https://api.siliconflow.cn/v1", "SiliconFlow_API_KEY", "SILICONFLOW_API_KEY")

API_CLASSES: Mapping[str, ApiClass] = {
    "GPT4V": _OPENAI,
    "OpenAIWrapper": _OPENAI,
    "OpenAISDKWrapper": _OPENAI,
    "CustomAPIModel": _OPENAI,
    "LMDeployAPI": _LMDEPLOY,
    "LMDeployWrapper": _LMDEPLOY,
    "QwenVLAPI": _QWEN,
    "QwenVLWrapper": _QWEN,
    "Qwen2VLAPI": _QWEN,
    "QwenAPI": _QWEN,
    "Gemini": _GEMINI,
    "GeminiWrapper": _GEMINI,
    "Claude3V": _CLAUDE,
    "Claude_Wrapper": _CLAUDE,
    "GLMVisionAPI": _service("https://open.bigmodel.cn/api/paas/v4", "GLMV_API_KEY"),
    "TogetherAPI": _service("https://api.together.xyz/v1", "TOGETHER_API_KEY", base="TOGETHER_API_BASE"),
    "MiniMaxAPI": _service("https://api.minimax.io/v1", "MINIMAX_API_KEY", base="MINIMAX_API_BASE"),
    "SenseChatVisionV2API": _service("https://api.sensenova.cn/compatible-mode/v2", "SENSENOVA_API_KEY"),
    "SiliconFlowAPI": _SILICON,
    "TeleMMAPI": _SILICON,
    "KimiVLAPI": ApiClass(
        url=None, url_variables=("KIMI_VL_API_BASE",), key_variables=("KIMI_VL_API_KEY",), defaults=_PLAIN
    ),
}

OTHER_API_CLASSES = frozenset({
    "HFChatModel", "Reka", "CWWrapper", "SenseChatVisionAPI", "HunyuanVision", "BlueLMWrapper", "BlueLM_API",
    "JTVLChatAPI", "JTVLChatAPI_Mini", "JTVLChatAPI_2B", "bailingMMAPI", "TaiyiAPI", "ARM_thinker", "TaichuVLAPI",
    "TaichuVLRAPI", "DoubaoVL", "MUGUAPI", "RBdashMMChat3_API", "RBdashChat3_5_API", "RBdashMMChat3_78B_API",
    "RBdashMMChat3_5_38B_API", "VideoChatOnlineV2API", "TeleMM2_API", "TeleMM2Thinking_API", "GCPVertexAPI",
    "BedrockAPI",
})  # fmt: skip
"""Classes that speak a protocol of their own."""


def _gpt(model: str, **settings: Any) -> dict[str, Any]:
    return {"class": "GPT4V", "model": model, "temperature": 0, "img_detail": "high", "retry": 10, **settings}


def _at(url: str, key: str, model: str, **settings: Any) -> dict[str, Any]:
    return {**_gpt(model), "api_base": url, "key": f"${key}", **settings}


def _of(kind: str, model: str, **settings: Any) -> dict[str, Any]:
    return {"class": kind, "model": model, "temperature": 0, "retry": 10, **settings}


_LOW: dict[str, Any] = {"img_size": 512, "img_detail": "low"}
_STEP = "https://api.stepfun.com/v1/chat/completions"
_GROK = "https://api.x.ai/v1/chat/completions"
_MOONSHOT = "https://api.moonshot.cn/v1/chat/completions"
# Models that refuse `max_tokens` and `temperature`.
_THINKS: dict[str, Any] = {"temperature": None, "max_tokens": None, "max_completion_tokens": 2**14, "retry": 3}

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "GPT4V": _gpt("gpt-4-1106-vision-preview", **_LOW),
    "GPT4V_HIGH": _gpt("gpt-4-1106-vision-preview"),
    "GPT4V_20240409": _gpt("gpt-4-turbo-2024-04-09", **_LOW),
    "GPT4V_20240409_HIGH": _gpt("gpt-4-turbo-2024-04-09"),
    "GPT4o": _gpt("gpt-4o-2024-05-13", **_LOW),
    "GPT4o_HIGH": _gpt("gpt-4o-2024-05-13"),
    "GPT4o_20240806": _gpt("gpt-4o-2024-08-06"),
    "GPT4o_20241120": _gpt("gpt-4o-2024-11-20"),
    "ChatGPT4o": _gpt("chatgpt-4o-latest"),
    "GPT4o_MINI": _gpt("gpt-4o-mini-2024-07-18"),
    "GPT4.5": _gpt("gpt-4.5-preview-2025-02-27", timeout=600),
    "gpt-4.1-2025-04-14": _gpt("gpt-4.1-2025-04-14"),
    "gpt-4.1-mini-2025-04-14": _gpt("gpt-4.1-mini-2025-04-14"),
    "gpt-4.1-nano-2025-04-14": _gpt("gpt-4.1-nano-2025-04-14"),
    "gpt-5-2025-08-07": _gpt("gpt-5-2025-08-07", **{**_THINKS, "timeout": 3000}),
    "gpt-5-mini-2025-08-07": _gpt("gpt-5-mini-2025-08-07", **_THINKS),
    "gpt-5-nano-2025-08-07": _gpt("gpt-5-nano-2025-08-07", **_THINKS),
    "o1": _gpt("o1-2024-12-17", **{**_THINKS, "timeout": 1800}),
    "o3": _gpt("o3-2025-04-16", **{**_THINKS, "timeout": 1800}),
    "o4-mini": _gpt("o4-mini-2025-04-16", **{**_THINKS, "timeout": 1800}),
    "CustomAPIModel": {"class": "CustomAPIModel", "model": "custom", "key": "EMPTY", "img_detail": "high"},
    "GeminiFlash2-0": _of("Gemini", "gemini-2.0-flash"),
    "GeminiFlashLite2-0": _of("Gemini", "gemini-2.0-flash-lite"),
    "GeminiFlash2-5": _of("Gemini", "gemini-2.5-flash"),
    "GeminiPro2-5": _of("Gemini", "gemini-2.5-pro", timeout=6000, max_tokens=65536),
    "QwenVLPlus": _of("QwenVLAPI", "qwen-vl-plus"),
    "QwenVLMax": _of("QwenVLAPI", "qwen-vl-max"),
    "QwenVLMax-250408": _of("QwenVLAPI", "qwen-vl-max-2025-04-08"),
    "Step1V": _at(_STEP, "STEPAI_API_KEY", "step-1v-32k"),
    "Step1.5V-mini": _at(_STEP, "STEPAI_API_KEY", "step-1.5v-mini"),
    "Step1o": _at(_STEP, "STEPAI_API_KEY", "step-1o-vision-32k"),
    "Claude3-5V_Sonnet": _of("Claude3V", "claude-3-5-sonnet-20240620"),
    "Claude3-5V_Sonnet_20241022": _of("Claude3V", "claude-3-5-sonnet-20241022"),
    "Claude3-7V_Sonnet": _of("Claude3V", "claude-3-7-sonnet-20250219"),
    "GLM4V_PLUS": _of("GLMVisionAPI", "glm-4v-plus"),
    "GLM4V_PLUS_20250111": _of("GLMVisionAPI", "glm-4v-plus-0111"),
    "Qwen2.5-VL-32B-Instruct-SiliconFlow": _of("SiliconFlowAPI", "Qwen/Qwen2.5-VL-32B-Instruct"),
    "grok-2-vision-1212": _at(_GROK, "XAI_API_KEY", "grok-2-vision", img_detail="low"),
    "grok-4-0709": _at(_GROK, "XAI_API_KEY", "grok-4-0709", retry=3, timeout=1200, max_tokens=16384, img_detail="low"),
    "moonshot-v1-8k": _at(_MOONSHOT, "MOONSHOT_API_KEY", "moonshot-v1-8k-vision-preview", img_detail="low"),
    "moonshot-v1-32k": _at(_MOONSHOT, "MOONSHOT_API_KEY", "moonshot-v1-32k-vision-preview", img_detail="low"),
    "moonshot-v1-128k": _at(_MOONSHOT, "MOONSHOT_API_KEY", "moonshot-v1-128k-vision-preview", img_detail="low"),
}
"""VLMEvalKit's names of models at an endpoint -> class and keywords, as a config file would have them."""

JUDGES: Mapping[str, str] = {
    "gpt-4-turbo": "gpt-4-1106-preview",
    "gpt-4-0125": "gpt-4-0125-preview",
    "gpt-4-0409": "gpt-4-turbo-2024-04-09",
    "chatgpt-1106": "gpt-3.5-turbo-1106",
    "chatgpt-0125": "gpt-3.5-turbo-0125",
    "gpt-4o": "gpt-4o-2024-05-13",
    "gpt-4o-0806": "gpt-4o-2024-08-06",
    "gpt-4o-1120": "gpt-4o-2024-11-20",
    "gpt-4o-mini": "gpt-4o-mini-2024-07-18",
}
"""Short names of judges -> the dated models that VLMEvalKit asks under them."""
