# MME (Fu et al. 2023): 2,374 yes-no questions, two to a picture; acc + acc+ of each subtask, summed to perception
# (up to 2,000) and cognition (up to 800). Data: lmms-lab/MME, split test.
config = dict(
    dataset_path="lmms-lab/MME",
    split="test",
    processed_dataset_path="MME",
    processor="process.py",
)
dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the questions end with their own instruction
    name="mme_test",
)
evaluator = dict(
    type="MetricEvaluator",
    metrics=[dict(type="mme", image_key="pair_id")],
    group_by=["sub_task"],
)
