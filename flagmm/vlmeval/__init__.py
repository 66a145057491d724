"""VLMEvalKit's way to write one's own data set: classes with `load_data`, `build_prompt` and `evaluate`.

A script that patches `CustomVQADataset` runs when its imports say `flagmm.vlmeval` instead of `vlmeval`.
`dataset/` has the classes, `smp.py` the functions such scripts import, `adapter.py` makes a task of a patched class.
This is no alias of VLMEvalKit: its other classes are not here, and an installed one is never touched.
"""
