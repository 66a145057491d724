"""A benchmark in VLMEvalKit's table format, by its path or by its name in `$LMUData`.

flagevalmm --tasks tsv --data-root my_benchmark.tsv --cfg my_model.json
"""

dataset = dict(type="TsvDataset", name="tsv")
evaluator = dict(type="TsvEvaluator")
