"""VLMEvalKit's way to write one's own data set or model: classes with `load_data`, `build_prompt`, `generate_inner`.

A script that patches `CustomVQADataset`, or a model's class, runs when its imports say `flagmm.vlmeval` instead of
`vlmeval`. `dataset/` has the classes of tables, `smp.py` the functions such scripts import, `adapter.py` makes a task
of a patched class. `vlm/` and `api/` have the base classes of models (`messages.py` what they share; who asks them is
`models/message_class.py`), `config.py` the models that are known by name.
This is no alias of VLMEvalKit: its other classes are not here, and an installed one is never touched.
"""
