"""GeneralVmcqDataset: multiple-choice questions with media in question and options."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from flagmm.dataset.general.annotations import further_columns, reference_answer
from flagmm.dataset.general.base import Asked, GeneralDataset
from flagmm.dataset.general.choices import READ_RULES, relabel, right_answer
from flagmm.dataset.general.parts import PartMaker, check_count, check_unused
from flagmm.errors import DataError
from flagmm.prompt.general_vmcq import DEFAULT_TEMPLATE, build_prompt, find_template, read_options
from flagmm.registry import DATASETS, inherits_keywords
from flagmm.types import ROW_ERROR, Annotation, Message

_COLUMNS = frozenset(
    {"question", "options", "answer", "label_rule", "question_id", "question_type", "subset", "language"}
)


@DATASETS.register_module()
@inherits_keywords
class GeneralVmcqDataset(GeneralDataset):
    """Records with `question`, `options` and, where they are to be scored, an `answer`: the letter of an option.

    Args:
        prompt_template: a name of `prompt.general_vmcq.TEMPLATES`, or a text with `{question}`, `{choices}` and, where
            wanted, `{letters}`. Several letters may be right where it asks for `[LETTERS]`.
        shuffle_choices: shuffle the options of each question, and its answer with them; a number is taken as the
            seed of it.
        settings: keywords of `GeneralDataset`.
    """

    kind = "general_vmcq"
    default_split = "val"

    def __init__(
        self, *, prompt_template: str | None = None, shuffle_choices: bool | int = False, **settings: Any
    ) -> None:
        super().__init__(**settings)
        self.template = find_template(prompt_template or DEFAULT_TEMPLATE)
        self.choice_seed = _choice_seed(shuffle_choices, self.seed)

    @property
    def question_type(self) -> str:
        return "multiple-response" if self.template.multiple else "multiple-choice"

    def ask(self, record: Mapping[str, Any], question_id: str, maker: PartMaker) -> Asked:
        options = read_options(record.get("options"))
        order = self._order(len(options), question_id)
        asked = {**record, "options": [options[position] for position in order]}
        prompt = build_prompt(asked, template=self.template.text)
        check_unused(record, prompt.pieces)
        parts = maker.of_pieces(prompt.pieces)
        check_count(parts)
        return Asked(
            question=prompt.text,
            messages=(Message(role="user", content=parts, structured=True),),
            options=prompt.options,
            missing=prompt.missing,
        )

    def annotate(self, record: Mapping[str, Any], question_id: str) -> Annotation:
        unreadable: Annotation = {}
        try:
            options = read_options(record.get("options"))
        except DataError as error:  # it was not asked, and counts as missed
            options, unreadable = [], {ROW_ERROR: str(error)}
        order = self._order(len(options), question_id)
        given = reference_answer(record.get("answer"))
        right = None if given is None else right_answer(given, options, multiple=self.template.multiple)
        return {
            "question": str(record.get("question") or ""),
            "options": [options[position] for position in order],
            "answer": relabel(right.value, order, multiple=self.template.multiple) if right else None,
            **({"label_rule": right.rule} if right and right.rule in READ_RULES else {}),
            "language": self.template.language,
            **further_columns(record, taken=_COLUMNS),
            **unreadable,
        }

    def _order(self, count: int, question_id: str) -> Sequence[int]:
        """Which option comes where; it depends on seed and id alone, so prompt and scoring agree."""
        order = list(range(count))
        if self.choice_seed is not None:
            random.Random(f"{self.choice_seed}:{question_id}").shuffle(order)
        return order


def _choice_seed(shuffle_choices: bool | int, seed: int | None) -> int | None:
    if shuffle_choices is False:
        return None
    return seed if shuffle_choices is True else shuffle_choices
