# MMMU-Pro as pictures of the screen that hold question and options; the options in the data are for reading replies.
_base_ = ["mmmu_pro_standard.py"]


def vision_prompt(annotation: dict, **kwargs):
    # the benchmark's own instruction; scores depend on it
    return (
        "<image 1> Answer with the option letter from the given choices directly. The last line of your response "
        "should be of the following format: 'Answer: $LETTER' (without quotes) where LETTER is one of options."
    )


dataset = dict(
    config=dict(dataset_name="vision"),
    prompt_template=dict(prompt_func=vision_prompt),
    name="mmmu_pro_vision",
)
