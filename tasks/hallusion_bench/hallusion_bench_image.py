# HallusionBench (Guan et al. 2024): 951 yes-no questions on pictures, original and edited. Data:
# lmms-lab/HallusionBench, split image. Officially GPT-4 judges; this is VLMEvalKit's rule and prompt.
config = dict(
    dataset_path="lmms-lab/HallusionBench",
    split="image",
    processed_dataset_path="HallusionBench",
    processor="process.py",
)
dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt="Please answer yes or no."),
    name="hallusion_bench_image",
)
evaluator = dict(type="MetricEvaluator", metrics=["hallusionbench"], group_by=["category", "sub_task"])
