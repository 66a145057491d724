# MMMU-Pro (Yue et al. 2025): 1,730 choices with up to 12 options. Data: MMMU/MMMU_Pro, split test, three configs.
# Its headline is the mean of this task and of mmmu_pro_vision.
config = dict(
    dataset_path="MMMU/MMMU_Pro",
    dataset_name="standard (10 options)",
    split="test",
    processed_dataset_path="MMMU_Pro",
    processor="process.py",
)
dataset = dict(
    type="VqaBaseDataset",
    config=config,
    # the benchmark's own instruction; scores depend on it
    prompt_template=dict(
        type="PromptTemplate", post_prompt="Answer with the option letter from the given choices directly."
    ),
    name="mmmu_pro_standard",
)
evaluator = dict(type="MetricEvaluator", metrics=["mmmu_pro"], group_by=["domain", "sub_task"])
