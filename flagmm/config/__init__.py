"""What a person wrote, checked once and made into frozen objects.

`task.py`: a task file -> TaskSpec.  `model.py`: model JSON, flags and environment -> ModelSpec.
`locate.py`: names given on the command line -> files.  `env.py`: every environment variable flagmm reads.
`secrets.py`: keys that must not be shown.  `dump.py`: configs as JSON for the results directory.
"""
