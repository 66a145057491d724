"""The base class of a person's own model that is asked over a network."""

from flagmm.vlmeval.api.base import BaseAPI

__all__ = ["BaseAPI"]
