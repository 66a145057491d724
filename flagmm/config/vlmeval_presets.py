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


def _service(url: str, *keys: str, base: str | None = None, **defaults: Any) -> ApiClass:
    return ApiClass(url=url, key_variables=keys, url_variables=(base,) if base else (), defaults={**_PLAIN, **defaults})


_DASHSCOPE = "https://dashscope.aliyuncs.com/compatible-mode/v1"
_QWEN = _service(_DASHSCOPE, "DASHSCOPE_API_KEY")
_QWEN2 = _service(
    _DASHSCOPE, "DASHSCOPE_API_KEY", temperature=0.01, max_tokens=1024, top_p=0.001, top_k=1, repetition_penalty=1.0,
    presence_penalty=0.0, seed=3407,
)  # fmt: skip
_GEMINI = _service("https://generativelanguage.googleapis.com/v1beta/openai", "GOOGLE_API_KEY")
_CLAUDE = _service("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", timeout=60, retry=10)
_SILICON = _service(
    "https://api.siliconflow.cn/v1", "SiliconFlow_API_KEY", "SILICONFLOW_API_KEY", max_tokens=1280, timeout=60
)
_KIMI = ApiClass(
    url="http://localhost:8000/v1/chat/completions",
    url_variables=("KIMI_VL_API_BASE",),
    key_variables=("KIMI_VL_API_KEY",),
    key="EMPTY",
    defaults={"temperature": 0.8, "max_tokens": 32768, "timeout": 360, "retry": 5},
)

API_CLASSES: Mapping[str, ApiClass] = {
    "GPT4V": _OPENAI,
    "OpenAIWrapper": _OPENAI,
    "OpenAISDKWrapper": _OPENAI,
    "CustomAPIModel": _OPENAI,
    "LMDeployAPI": _LMDEPLOY,
    "LMDeployWrapper": _LMDEPLOY,
    "QwenVLAPI": _QWEN,
    "QwenVLWrapper": _QWEN,
    "Qwen2VLAPI": _QWEN2,
    "QwenAPI": _service(_DASHSCOPE, "DASHSCOPE_API_KEY", seed=2680),
    "Gemini": _GEMINI,
    "GeminiWrapper": _GEMINI,
    "Claude3V": _CLAUDE,
    "Claude_Wrapper": _CLAUDE,
    "GLMVisionAPI": _service("https://open.bigmodel.cn/api/paas/v4", "GLMV_API_KEY"),
    "TogetherAPI": _service(
        "https://api.together.xyz/v1", "TOGETHER_API_KEY", base="TOGETHER_API_BASE", timeout=300, retry=10
    ),
    "MiniMaxAPI": _service(
        "https://api.minimax.io/v1", "MINIMAX_API_KEY", base="MINIMAX_API_BASE", timeout=300, retry=10
    ),
    "SenseChatVisionV2API": _service(
        "https://api.sensenova.cn/compatible-mode/v2",
        "SENSENOVA_API_KEY",
        max_tokens=None,
        max_completion_tokens=4096,
        timeout=300,
    ),
    "SiliconFlowAPI": _SILICON,
    "TeleMMAPI": _SILICON,
    "KimiVLAPI": _KIMI,
    "KimiVLAPIWrapper": _KIMI,
}

KEYS_OF_MODELS: Mapping[str, str] = {
    "step-": "STEPAI_API_KEY",
    "yi-vision": "YI_API_KEY",
    "internvl2-pro": "InternVL2_PRO_KEY",
    "abab": "MiniMax_API_KEY",
    "moonshot": "MOONSHOT_API_KEY",
    "grok": "XAI_API_KEY",
    "ernie": "BAIDU_API_KEY",
}
"""How names of models begin for which OpenAI's protocol takes another service's key -> the variable of that key."""

AZURE_URL = "{endpoint}/openai/deployments/{deployment}/chat/completions?api-version={version}"
AZURE_VARIABLES: Mapping[str, str] = {
    "endpoint": "AZURE_OPENAI_ENDPOINT",
    "deployment": "AZURE_OPENAI_DEPLOYMENT_NAME",
    "version": "OPENAI_API_VERSION",
}
AZURE_KEY = "AZURE_OPENAI_API_KEY"

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


def _thinks(model: str, **settings: Any) -> dict[str, Any]:
    """A model that refuses `max_tokens` and `temperature`."""
    given = {"retry": 3, "max_completion_tokens": 2**14, **settings}
    return _gpt(model, **{"temperature": None, "max_tokens": None, **given})


def _local(model: str, **settings: Any) -> dict[str, Any]:
    given = {"api_base": "http://0.0.0.0:8000/v1/chat/completions", "retry": 6, "timeout": 1800, **settings}
    return {"class": "LMDeployAPI", "model": model, **given}


_LOW: dict[str, Any] = {"img_size": 512, "img_detail": "low"}
_STEP = "https://api.stepfun.com/v1/chat/completions"
_GROK = "https://api.x.ai/v1/chat/completions"
_MOONSHOT = "https://api.moonshot.cn/v1/chat/completions"
_QIANFAN = "https://qianfan.baidubce.com/v2/chat/completions"
_ABAB = "https://api.minimax.chat/v1/chat/completions"
_LONG: dict[str, Any] = {"timeout": 3600, "retry": 10, "max_completion_tokens": 2**16}
_QWEN3_5: dict[str, Any] = {
    "temperature": 1.0, "top_p": 0.95, "top_k": 20, "min_p": 0.0, "presence_penalty": 1.5, "repetition_penalty": 1.0,
    "max_tokens": 81920, "retry": 10, "timeout": 900,
}  # fmt: skip

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
    "gpt-5-2025-08-07": _thinks("gpt-5-2025-08-07", timeout=3000),
    "gpt-5-mini-2025-08-07": _thinks("gpt-5-mini-2025-08-07"),
    "gpt-5-nano-2025-08-07": _thinks("gpt-5-nano-2025-08-07"),
    "gpt-5.1-2025-11-13": _thinks("gpt-5.1-2025-11-13"),
    "GPT-5.2": _thinks("gpt-5.2", **_LONG),
    "GPT-5.4-2026-03-05": _thinks("gpt-5.4-2026-03-05", **_LONG),
    "o1": _thinks("o1-2024-12-17", timeout=1800),
    "o3": _thinks("o3-2025-04-16", timeout=1800),
    "o4-mini": _thinks("o4-mini-2025-04-16", timeout=1800),
    "CustomAPIModel": {"class": "CustomAPIModel", "model": "custom", "key": "EMPTY", "img_detail": "high", "retry": 10},
    "GeminiPro1-0": _of("Gemini", "gemini-1.0-pro"),
    "GeminiPro1-5": _of("Gemini", "gemini-1.5-pro"),
    "GeminiFlash1-5": _of("Gemini", "gemini-1.5-flash"),
    "GeminiFlash2-0": _of("Gemini", "gemini-2.0-flash"),
    "GeminiFlashLite2-0": _of("Gemini", "gemini-2.0-flash-lite"),
    "GeminiFlash2-5": _of("Gemini", "gemini-2.5-flash"),
    # There through a gateway of OpenAI's protocol, with these two settings; here at Google's own.
    "GeminiPro2-5": _of("Gemini", "gemini-2.5-pro", timeout=6000, max_tokens=None, reasoning_effort="high"),
    "QwenVLPlus": _of("QwenVLAPI", "qwen-vl-plus"),
    "QwenVLMax": _of("QwenVLAPI", "qwen-vl-max"),
    "QwenVLMax-250408": _of("QwenVLAPI", "qwen-vl-max-2025-04-08"),
    "Step1V": _at(_STEP, "STEPAI_API_KEY", "step-1v-32k"),
    "Step1.5V-mini": _at(_STEP, "STEPAI_API_KEY", "step-1.5v-mini"),
    "Step1o": _at(_STEP, "STEPAI_API_KEY", "step-1o-vision-32k"),
    "Yi-Vision": _at(
        "https://api.lingyiwanwu.com/v1/chat/completions", "YI_API_KEY", "yi-vision", img_detail="low"
    ),
    "Together_Llama3.2-11B-Vision": _of("TogetherAPI", "meta-llama/Llama-3.2-11B-Vision-Instruct-Turbo"),
    "Together_Llama3.2-90B-Vision": _of("TogetherAPI", "meta-llama/Llama-3.2-90B-Vision-Instruct-Turbo"),
    "Together_Llama4-Scout-17B": _of("TogetherAPI", "meta-llama/Llama-4-Scout-17B-16E-Instruct"),
    "Together_Llama4-Maverick-17B": _of("TogetherAPI", "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8"),
    "Together_Qwen2-VL-72B": _of("TogetherAPI", "Qwen/Qwen2-VL-72B-Instruct"),
    "MiniMax-M2.7": _of("MiniMaxAPI", "MiniMax-M2.7"),
    "MiniMax-M2.5": _of("MiniMaxAPI", "MiniMax-M2.5"),
    "MiniMax-M2.5-highspeed": _of("MiniMaxAPI", "MiniMax-M2.5-highspeed"),
    "abab6.5s": _at(_ABAB, "MiniMax_API_KEY", "abab6.5s-chat", img_detail="low"),
    "abab7-preview": _at(_ABAB, "MiniMax_API_KEY", "abab7-chat-preview", img_detail="low"),
    "Claude3V_Opus": _of("Claude3V", "claude-3-opus-20240229"),
    "Claude3V_Sonnet": _of("Claude3V", "claude-3-sonnet-20240229"),
    "Claude3V_Haiku": _of("Claude3V", "claude-3-haiku-20240307"),
    "Claude3-5V_Sonnet": _of("Claude3V", "claude-3-5-sonnet-20240620"),
    "Claude3-5V_Sonnet_20241022": _of("Claude3V", "claude-3-5-sonnet-20241022"),
    "Claude3-7V_Sonnet": _of("Claude3V", "claude-3-7-sonnet-20250219"),
    "Claude4_Opus": _of("Claude3V", "claude-4-opus-20250514", timeout=1800),
    "Claude4_Sonnet": _of("Claude3V", "claude-4-sonnet-20250514", timeout=1800),
    "GLM4V": _of("GLMVisionAPI", "glm4v-biz-eval"),
    "GLM4V_PLUS": _of("GLMVisionAPI", "glm-4v-plus"),
    "GLM4V_PLUS_20250111": _of("GLMVisionAPI", "glm-4v-plus-0111"),
    "SenseNova-V6-5-Pro-20251215": _of(
        "SenseChatVisionV2API", "SenseNova-V6-5-Pro-20251215", max_completion_tokens=40960, repetition_penalty=1.05,
        temperature=0.6, top_p=0.95, top_k=20, timeout=1800, retry=3, img_size=4096,
    ),
    "TeleMM": _of("TeleMMAPI", "TeleAI/TeleMM"),
    "Qwen2.5-VL-32B-Instruct-SiliconFlow": _of("SiliconFlowAPI", "Qwen/Qwen2.5-VL-32B-Instruct"),
    "grok-vision-beta": _at(_GROK, "XAI_API_KEY", "grok-vision-beta", img_detail="low"),
    "grok-2-vision-1212": _at(_GROK, "XAI_API_KEY", "grok-2-vision", img_detail="low"),
    "grok-4-0709": _at(_GROK, "XAI_API_KEY", "grok-4-0709", retry=3, timeout=1200, max_tokens=16384, img_detail="low"),
    "moonshot-v1-8k": _at(_MOONSHOT, "MOONSHOT_API_KEY", "moonshot-v1-8k-vision-preview", img_detail="low"),
    "moonshot-v1-32k": _at(_MOONSHOT, "MOONSHOT_API_KEY", "moonshot-v1-32k-vision-preview", img_detail="low"),
    "moonshot-v1-128k": _at(_MOONSHOT, "MOONSHOT_API_KEY", "moonshot-v1-128k-vision-preview", img_detail="low"),
    "ernie4.5-turbo": _at(
        _QIANFAN, "BAIDU_API_KEY", "ernie-4.5-turbo-vl-32k", retry=3, max_tokens=12000, img_detail="low"
    ),
    "ernie4.5-a3b": _at(
        _QIANFAN, "BAIDU_API_KEY", "ernie-4.5-vl-28b-a3b", retry=3, max_tokens=8000, img_detail="low"
    ),
    "api-kimi-vl-thinking-2506": {"class": "KimiVLAPI", "model": "api-kimi-vl-thinking-2506"},
    "api-kimi-vl-thinking": {"class": "KimiVLAPI", "model": "api-kimi-vl-thinking"},
    "Step3-VL-10B_api": _local(
        "Step3-VL-10B", temperature=1.0, max_tokens=40960, repetition_penalty=1.0, presence_penalty=0.0, top_p=0.95,
        top_k=20,
    ),
    "MiniCPM-o-4_5_api": _local(
        "MiniCPM-o-4_5", temperature=0.7, top_p=0.8, top_k=100, repetition_penalty=1.02, max_tokens=32768
    ),
    "Qwen3.5-397B-A17B_api": _local(
        "Qwen3.5-397B", temperature=0.6, top_p=0.95, top_k=20, presence_penalty=1.5, repetition_penalty=1.0,
        max_tokens=32768, retry=10,
    ),
    "Qwen3.5-122B-A10B_ThinkMode_api": _local("Qwen3.5-35B", **_QWEN3_5),
    "Qwen3.5-122B-A10B_InstructMode_api": _local(
        "Qwen/Qwen3.5-122B-A10B", **_QWEN3_5, chat_template_kwargs={"enable_thinking": False}
    ),
    "GLM4_6V-api": _local(
        "glm-4.6v", temperature=0.8, top_p=0.6, top_k=2, repetition_penalty=1.1, max_tokens=16384
    ),
    "Ovis2.6-30B-A3B_api": _local("Ovis2.6-30B-A3B", max_tokens=32768),
    "Kimi-K2.5-api": _local("Kimi-K2.5", temperature=1.0, top_p=0.95, max_tokens=32768),
    "lmdeploy_qvq_72B_preview": _local(
        "QVQ-72B-Preview", api_base="http://0.0.0.0:23333/v1/chat/completions", temperature=0, retry=10, timeout=300
    ),
}  # fmt: skip
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
