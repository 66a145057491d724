# MMMU (Yue et al. 2024): 900 questions of 30 college subjects, 847 of them choices. Data: MMMU/MMMU, a config for each
# subject, split validation.
config = dict(
    dataset_path="MMMU/MMMU",
    split="validation",
    processed_dataset_path="MMMU",
    processor="process.py",
)
dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate"),
    name="mmmu_val",
)
evaluator = dict(type="MmmuEvaluator", group_by=["domain"])
