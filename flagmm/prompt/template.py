"""PromptTemplate: the text around a question."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from flagmm.errors import ConfigError
from flagmm.hints import shown
from flagmm.plugin import name_of
from flagmm.prompt.instructions import default_instruction
from flagmm.registry import PROMPTS
from flagmm.types import Annotation

Hook = str | Callable[..., str] | None


@PROMPTS.register_module()
class PromptTemplate:
    """Examples, pre_prompt, the question with its options, a line break, post_prompt; then stripped.

    Each part is a text, or a function called as `hook(annotation=…)`, where the annotation's `question` holds the
    options too. `post_prompt=None` gives the default instruction for the question's type and language, `""` none.
    `prompt_func(annotation=…)` makes the whole prompt instead.
    """

    def __init__(
        self,
        *,
        pre_prompt: Hook = None,
        post_prompt: Hook = None,
        examples: Hook = None,
        prompt_func: Callable[..., str] | None = None,
    ) -> None:
        self.pre_prompt = pre_prompt
        self.post_prompt = post_prompt
        self.examples = examples
        self.prompt_func = prompt_func

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
            post_prompt = default_instruction(question, fields.get("question_type", ""))
        else:
            post_prompt = _part(self.post_prompt, "post_prompt", fields, extra)
        examples = _part(self.examples, "examples", fields, extra)
        pre_prompt = _part(self.pre_prompt, "pre_prompt", fields, extra)
        return f"{examples}{pre_prompt}{question}\n{post_prompt}".strip()


def _part(hook: Hook, name: str, annotation: Annotation, extra: dict[str, Any]) -> str:
    if hook is None:
        return ""
    return hook if isinstance(hook, str) else _call(hook, name, annotation, extra)


def _call(hook: Callable[..., str], name: str, annotation: Annotation, extra: dict[str, Any]) -> str:
    offered = {
        "question": annotation.get("question"),
        "question_type": annotation.get("question_type"),
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
