"""General-VMCQ: your own multiple-choice questions, with media in question and options.

flagevalmm --tasks general_vmcq --data-root my_folder --subset animals --cfg my_model.json
"""

dataset = dict(type="GeneralVmcqDataset", name="general_vmcq")
evaluator = dict(type="MetricEvaluator", metrics="general_vmcq", group_by=["subset"])
