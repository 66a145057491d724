"""How each file of reference vectors calls flagmm's public functions.

A module here holds `SCORERS`: the stem of a file of vectors -> a function from a line's `input` to what is compared
with its `expected`. Adapters only rename fields; every rule is in `flagmm`.
"""
