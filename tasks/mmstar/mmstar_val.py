# MMStar (Chen et al. 2024): 1,500 questions that need the picture. Data: Lin-Chen/MMStar, split val.
config = dict(
    dataset_path="Lin-Chen/MMStar",
    split="val",
    processed_dataset_path="MMStar",
    processor="process.py",
)
dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate"),
    name="mmstar_val",
)
evaluator = dict(type="BaseEvaluator", detailed_keys=["sub_task", "l2_category"])
