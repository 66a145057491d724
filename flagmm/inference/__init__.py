"""Asking the questions of a task: what is still to be asked, bounded calls, predictions kept as they come.

`run.py` does one task; `plan.py` decides what to ask; `store.py` is `predictions.jsonl`; `bounded.py` limits how much
is alive at once; `hopeless.py` gives up on an endpoint that cannot answer; `progress.py` shows how far it is.
`judging.py` asks a judge while answers are scored; `judge_choice.py` finds it, `lent_judge.py` hands it to own code.
"""
