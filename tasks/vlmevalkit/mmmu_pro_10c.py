"""MMMU-Pro with ten options by an installed VLMEvalKit: its data, prompts and scoring; see docs/bridge.md."""

import os

dataset = dict(
    type="VLMEvalKitDataset",
    dataset_name="MMMU_Pro_10c",
    sample_limit=int(os.environ.get("MMMU_PRO_SAMPLE_LIMIT", "0")) or None,
)
evaluator = dict(type="VLMEvalKitEvaluator", eval_kwargs=dict(model="exact_matching", nproc=4))
