# TextVQA (Singh et al. 2019): 5,000 questions about text in photographs, ten people's answers each.
# Data: lmms-lab/textvqa, split validation. No OCR tokens in the prompt; textvqa_val_ocr.py has them.
config = dict(
    dataset_path="lmms-lab/textvqa",
    split="validation",
    processed_dataset_path="TextVQA",
    processor="process.py",
)
dataset = dict(
    type="VqaBaseDataset",
    config=config,
    prompt_template=dict(type="PromptTemplate"),
    name="textvqa_val",
)
evaluator = dict(type="VqaEvaluator", variant="textvqa")
