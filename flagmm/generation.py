"""The names of FlagEvalMM's classes for models that make pictures or videos, or rank them, which is not scored here.

They can be imported, and named in task files, so that code which does so by the way loads; making one says what is so.
"""

from __future__ import annotations

from typing import Any

from flagmm.errors import ConfigError

EVALUATORS = {
    "CLIPScoreEvaluator": "clip_score_evaluator",
    "CLIPSIMEvaluator": "clip_sim_evaluator",
    "FVDEvaluator": "fvd_evaluator",
    "GEditEvaluator": "gedit_evaluator",
    "InceptionMetricsEvaluator": "inception_metrics_evaluator",
    "LongTextBenchEvaluator": "longtext_bench_evaluator",
    "OneAlignEvaluator": "one_align_evaluator",
    "VideoScoreEvaluator": "video_score_evaluator",
    "VqascoreEvaluator": "vqascore_evaluator",
    "WiseEvaluator": "wise_evaluator",
}
"""Classes -> the module of `flagevalmm.evaluator` that has each."""
DATASETS = {
    "Image2ImageBaseDataset": "i2i_base_dataset",
    "RetrievalBaseDataset": "retrieval_base_dataset",
    "RetrievalMSRVTTDataset": "retrieval_msrvtt_dataset",
    "Text2ImageBaseDataset": "t2i_base_dataset",
    "Text2VideoBaseDataset": "t2v_base_dataset",
    "VideoRetrievalDataset": "video_retrieval_dataset",
}
"""The same of `flagevalmm.dataset`."""
MODELS = {
    "BaseImgenApiModel": "base_imgen_api_model",
    "DoubaoImage": "doubao_image",
    "Flux": "flux",
    "HttpImageClient": "http_image_client",
    "HunyuanImage": "hunyuan_image",
    "Kolors": "kolors",
    "SenseMirage": "sense_mirage",
}
"""The same of `flagevalmm.models`."""
PACKAGES = {"evaluator": EVALUATORS, "dataset": DATASETS, "models": MODELS}


class NotScored:
    """What can be imported but not made; each of the classes is one."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        raise ConfigError(
            f"{type(self).__name__}: flagmm does not score generation or retrieval: it asks questions and scores "
            "the answers; run this task with FlagEvalMM, which has the weights for it"
        )


_made: dict[str, type[NotScored]] = {}


def class_named(name: str, package: str) -> type[NotScored]:
    """The class of a package of FlagEvalMM's.

    Raises:
        AttributeError: it has none of that name.
    """
    if name not in PACKAGES[package]:
        raise AttributeError(f"module 'flagmm.{package}' has no attribute {name!r}")
    if name not in _made:
        _made[name] = type(name, (NotScored,), {"__module__": __name__, "__doc__": NotScored.__doc__})
    return _made[name]


def __getattr__(name: str) -> type[NotScored]:
    for package, classes in PACKAGES.items():
        if name in classes:
            return class_named(name, package)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
