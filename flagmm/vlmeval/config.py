"""supported_VLM: models by VLMEvalKit's names, to be asked from a script."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from flagmm.config.env import load_dotenv_file
from flagmm.config.model import parse_model
from flagmm.config.vlmeval import VlmevalConfig
from flagmm.config.vlmeval_models import model_values
from flagmm.config.vlmeval_presets import PRESETS
from flagmm.errors import ConfigError
from flagmm.inference.session import ModelSession, ask_model
from flagmm.models.build import own_keys
from flagmm.prompt.vlmevalkit import parts_of_messages
from flagmm.types import CallSettings, Message, ModelOutput
from flagmm.vlmeval.messages import message_list

__all__ = ["supported_VLM"]

_SOURCE = "supported_VLM"


class ServedModel:
    """A model behind an endpoint.

    Args:
        name: VLMEvalKit's, or a model file's.
        keywords: of the model's class, taken before those that the name stands for.

    Raises:
        ConfigError: nothing is known under the name, or a keyword is wrong.
    """

    def __init__(self, name: str, **keywords: Any) -> None:
        load_dotenv_file()
        entry = {**PRESETS.get(name, {}), **keywords} if keywords else {}
        values = model_values(name, entry, VlmevalConfig(models={}, data={}), source=_SOURCE)
        self.spec = parse_model(values, source=f"{_SOURCE}: {name}", own_keys=own_keys)

    def generate(self, message: Any, dataset: str | None = None) -> str:
        """The reply to a text, a list of texts and pictures, or messages `dict(type=…, value=…)`.

        Raises:
            ModelError: the call failed.
        """
        return self.chat([{"role": "user", "content": message}], dataset)

    def chat(self, messages: Sequence[Mapping[str, Any]], dataset: str | None = None) -> str:
        """The reply to a conversation: turns of `dict(role=…, content=…)`, the last one of the user.

        Raises:
            ModelError: the call failed.
        """
        turns = [
            Message(role=turn["role"], content=parts_of_messages(message_list(turn["content"]))) for turn in messages
        ]
        settings = CallSettings(question_id=_SOURCE, task=dataset or "")
        replies: list[ModelOutput] = []
        with ModelSession(self.spec) as session:

            async def ask() -> None:
                replies.append(await ask_model(session.client, turns, settings))

            session.run(ask)
        return replies[0].text


class _Models(Mapping[str, Callable[..., ServedModel]]):
    """What makes a model, by its name: VLMEvalKit's API models, model files, and all that is served."""

    def __getitem__(self, name: str) -> Callable[..., ServedModel]:
        ServedModel(name)
        return partial(ServedModel, name)

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and bool(self[name])
        except ConfigError:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(PRESETS)

    def __len__(self) -> int:
        return len(PRESETS)


supported_VLM = _Models()  # noqa: N816  # VLMEvalKit's name
