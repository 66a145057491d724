# DocVQA (Mathew et al. 2021): 5,349 questions on scanned pages, ANLS. Data: lmms-lab/DocVQA, config DocVQA.
config = dict(
    dataset_path="lmms-lab/DocVQA",
    dataset_name="DocVQA",
    split="validation",
    processed_dataset_path="DocVQA",
    processor="process.py",
)
dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate"),
    name="docvqa_val",
)
evaluator = dict(type="MetricEvaluator", metrics=["anls"], group_by=["question_types"])
