"""The bridge to an installed VLMEvalKit: its data sets and its scoring, with our inference between them.

`official.py` is the only module that imports VLMEvalKit, and runs its code; `dataset.py` has `VLMEvalKitDataset`,
`messages.py` makes messages of its prompts, `evaluator.py` has `VLMEvalKitEvaluator`, `metrics.py` makes percentages of
what it returns.
"""
