# ChartQA (Masry et al. 2022): 2,500 questions on charts, relaxed accuracy. Data: lmms-lab/ChartQA, split test.
config = dict(
    dataset_path="lmms-lab/ChartQA",
    split="test",
    processed_dataset_path="ChartQA",
    processor="process.py",
)
dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate"),
    name="chart_qa_test",
)
evaluator = dict(type="MetricEvaluator", metrics=["relaxed_accuracy"], group_by=["sub_task"])
