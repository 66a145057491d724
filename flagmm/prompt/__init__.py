"""How an annotation becomes the text that the model reads.

`template.py`: PromptTemplate, registered as such.  `instructions.py`: the default instruction of each question type.
Placing pictures in the text is `media/placeholders.py`.
"""

from flagmm.prompt.template import PromptTemplate

__all__ = ["PromptTemplate"]
