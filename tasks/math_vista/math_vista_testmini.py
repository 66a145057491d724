# MathVista (Lu et al. 2024): 1,000 questions of mathematics in pictures, from 31 data sets. Data: AI4Math/MathVista,
# split testmini. The official script has a language model read the answers; here rules do, and what they cannot read
# is left to a judge where there is one: --judge with the strategy "extract".
config = dict(
    dataset_path="AI4Math/MathVista",
    split="testmini",
    processed_dataset_path="MathVista",
    processor="process.py",
)
dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate", post_prompt=""),  # the query begins with its own instruction
    name="math_vista_testmini",
)
evaluator = dict(
    type="MetricEvaluator",
    metrics=["mathvista"],
    group_by=["sub_task", "skills", "context", "grade", "source"],
)
