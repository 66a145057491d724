# TextVQA with the data set's OCR tokens (Rosetta) in the prompt, as LLaVA's numbers are made.
_base_ = "textvqa_val.py"


def post_prompt_func(annotation: dict, **kwargs):
    tokens = ", ".join(annotation["ocr_tokens"])
    return f"Reference OCR token: {tokens}\nAnswer the question using a single word or phrase."


dataset = dict(prompt_template=dict(post_prompt=post_prompt_func), name="textvqa_val_ocr")
