# RealWorldQA (xAI 2024): 765 questions on photographs, most of them taken from cars. Data: lmms-lab/RealWorldQA,
# split test.
config = dict(
    dataset_path="lmms-lab/RealWorldQA",
    split="test",
    processed_dataset_path="RealWorldQA",
    processor="process.py",
)
dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the questions end with their own instruction
    name="realworldqa_test",
)
evaluator = dict(type="BaseEvaluator", detailed_keys=["question_type"])
