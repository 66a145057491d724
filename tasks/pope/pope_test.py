# POPE (Li et al. 2023): is an object in the picture? 3,000 questions in each of three categories; F1 of "yes".
# Data: lmms-lab/POPE, split test. `macro` holds the mean of the categories' F1, which LLaVA reports.
config = dict(
    dataset_path="lmms-lab/POPE",
    split="test",
    processed_dataset_path="POPE",
    processor="process.py",
)
dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(
        type="PromptTemplate",
        post_prompt="Answer the question using a single word or phrase.",
    ),
    name="pope_test",
)
evaluator = dict(type="MetricEvaluator", metrics=["pope"], group_by=["sub_task"])
