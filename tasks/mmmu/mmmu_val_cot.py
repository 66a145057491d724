# MMMU with reasoning before the answer. The official parser takes letters and numbers out of the reasoning, so what
# the reply states last is read with care instead.
_base_ = ["mmmu_val.py"]


def post_prompt_func(annotation: dict, **kwargs):
    if annotation["question_type"] == "multiple-choice":
        answer = "the letter of the option you choose"
    else:
        answer = "a single word, number or phrase"
    return f"Reason step by step first. Then end with one line of the form 'Answer: X', where X is {answer}."


dataset = dict(prompt_template=dict(post_prompt=post_prompt_func), name="mmmu_val_cot")
evaluator = dict(rule="careful")
