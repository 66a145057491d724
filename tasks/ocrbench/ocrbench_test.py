# OCRBench v1 (Liu et al. 2024): 1,000 questions of ten kinds; `final_score` is the number of hits.
# Data: echo840/OCRBench, split test.
config = dict(
    dataset_path="echo840/OCRBench",
    split="test",
    processed_dataset_path="OCRBench",
    processor="process.py",
)
dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # officially the question alone
    name="ocrbench_test",
)
evaluator = dict(type="MetricEvaluator", metrics=["ocrbench"], group_by=["ability", "sub_task"])
