"""PromptTemplate: the text around a question."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from typing import Any

from flagmm.errors import ConfigError
from flagmm.hints import shown
from flagmm.plugin import name_of
from flagmm.prompt.instructions import REASON_AND_BOX, default_instruction
from flagmm.registry import PROMPTS
from flagmm.types import Annotation

_ALWAYS_GIVEN = ("evaluator", "evaluator_kwargs", "subject")
"""Fields that hooks may count on; None where an item lacks them."""

cot_math_prompt = REASON_AND_BOX
"""What `use_cot_math` takes, by the name under which task folders import it."""

Hook = str | Callable[..., str] | None


@PROMPTS.register_module()
class PromptTemplate:
    """Examples, pre_prompt, the question with its options, a line break, post_prompt; then stripped.

    Each part is a text, or a function called as `hook(annotation=…)`, where the annotation's `question` holds the
    options too. `post_prompt=None` gives the default instruction for the question's type and language, `""` none.
    `prompt_func(annotation=…)` makes the whole prompt instead. `use_cot_math` takes an instruction to reason and to box
    the answer in place of the default one.
    """

    def __init__(
        self,
        *,
        pre_prompt: Hook = None,
        post_prompt: Hook = None,
        examples: Hook = None,
        prompt_func: Callable[..., str] | None = None,
        use_cot_math: bool = False,
    ) -> None:
        self.pre_prompt = pre_prompt
        self.post_prompt = post_prompt
        self.examples = examples
        self.prompt_func = prompt_func
        self.use_cot_math = use_cot_math

    def build_prompt(self, annotation: Annotation | None = None, **extra: Any) -> str:
        """The finished text for an annotation whose `question` already holds the options.

        The annotation's fields may be given as keywords instead; further keywords reach hooks that name them.

        Raises:
            ConfigError: a hook returned something other than a text.
        """
        fields = dict(extra) if annotation is None else annotation
        if self.prompt_func is not None:
            return _call(self.prompt_func, "prompt_func", fields, extra)
        question = fields["question"]
        if self.post_prompt is None:
            post_prompt = self.get_default_post_prompt(question=question, question_type=fields.get("question_type", ""))
        else:
            post_prompt = _part(self.post_prompt, "post_prompt", fields, extra)
        examples = _part(self.examples, "examples", fields, extra)
        pre_prompt = _part(self.pre_prompt, "pre_prompt", fields, extra)
        return f"{examples}{pre_prompt}{question}\n{post_prompt}".strip()

    def get_default_post_prompt(self, *, question: str, question_type: str, **kwargs: Any) -> str:
        """The instruction where there is no `post_prompt`."""
        return REASON_AND_BOX if self.use_cot_math else default_instruction(question, question_type)

    def infer_prompt(self, *, prompt: Hook = None, question: str, question_type: str, **kwargs: Any) -> str:
        """A part of the prompt: the text, what the function returns, or "" for None."""
        fields = {**kwargs, "question": question, "question_type": question_type}
        return _part(prompt, "prompt", fields, kwargs)

    def default_prompt_func(self, question: str, question_type: str, **kwargs: Any) -> str:
        """The finished text, whatever `prompt_func` says."""
        usual = copy(self)
        usual.prompt_func = None
        return usual.build_prompt(question=question, question_type=question_type, **kwargs)


def _part(hook: Hook, name: str, annotation: Annotation, extra: dict[str, Any]) -> str:
    if hook is None:
        return ""
    return hook if isinstance(hook, str) else _call(hook, name, annotation, extra)


def _call(hook: Callable[..., str], name: str, annotation: Annotation, extra: dict[str, Any]) -> str:
    offered = {
        "question": annotation.get("question"),
        "question_type": annotation.get("question_type"),
        **dict.fromkeys(_ALWAYS_GIVEN),
        **{key: value for key, value in annotation.items() if isinstance(key, str)},
        **extra,
        "annotation": dict(annotation),
    }
    text = hook(**{key: value for key, value in offered.items() if key in _keywords(hook)})
    if not isinstance(text, str):
        raise ConfigError(f"prompt_template: {name}: {name_of(hook)} returned {shown(text)}, expected a text")
    return text


def _keywords(hook: Callable[..., str]) -> set[str]:
    """The offered keywords that the hook takes: those it names, and the annotation where it takes any."""
    parameters = inspect.signature(hook).parameters.values()
    named = {parameter.name for parameter in parameters}
    takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
    return named | {"annotation"} if takes_any else named
