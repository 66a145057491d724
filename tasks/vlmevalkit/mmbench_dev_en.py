"""MMBench DEV_EN by an installed VLMEvalKit: its data, prompts and scoring; see docs/bridge.md."""

import os

dataset = dict(
    type="VLMEvalKitDataset",
    dataset_name="MMBench_DEV_EN",
    sample_limit=int(os.environ.get("MMBENCH_SAMPLE_LIMIT", "0")) or None,
)
# Its official numbers let a model read the choices: eval_kwargs=dict(model="…", api_base="…", key="…", nproc=4)
evaluator = dict(type="VLMEvalKitEvaluator", eval_kwargs=dict(model="exact_matching", nproc=4))
