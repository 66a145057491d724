"""A demo: read receipts, signs, tables, charts and handwriting that `process.py` draws on this machine."""

config = dict(
    dataset_path="demo_source",
    split="test",
    processed_dataset_path="flagmm_demo_ocr",
    processor="process.py",
)
dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate"),
    name="demo_ocr",
)
evaluator = dict(type="BaseEvaluator", detailed_keys=["sub_task"])
