# MMMU-Pro with at most four options: for comparison with MMMU, not part of the headline.
_base_ = ["mmmu_pro_standard.py"]
dataset = dict(config=dict(dataset_name="standard (4 options)"), name="mmmu_pro_standard_4")
