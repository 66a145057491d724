"""The base class of a person's own model that runs in this process."""

from flagmm.vlmeval.vlm.base import BaseModel

__all__ = ["BaseModel"]
