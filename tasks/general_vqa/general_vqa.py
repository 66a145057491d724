"""General-VQA: your own questions as OpenAI messages, or as texts with placeholders such as `<image 1>`.

flagevalmm --tasks general_vqa --data-root my_folder --subset animals buildings --cfg my_model.json
"""

dataset = dict(type="GeneralVqaDataset", name="general_vqa")
evaluator = dict(type="MetricEvaluator", metrics="general_vqa", group_by=["subset"])
