"""A model with open inputs, as part of a greater one: what a source offers that other front ends can build with, and know nothing else of."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from typing import Protocol, runtime_checkable

from tidegate.model.model import Model
from tidegate.quick_dataclass import dataclass

__all__ = ["HasPorts", "OpenModel"]


@dataclass(frozen=True, eq=False)
class OpenModel:
    """A model that others connect with.

    Parameters
    ----------
    model : what goes in are its variables of the role of inputs; what comes out are any of its variables.
    required : names of inputs that must get a value from outside.
    inputs, outputs : names of its ports, as pictures show them.
    aliases : further names of variables.
    """

    model: Model
    required: frozenset[str] = frozenset()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])


@runtime_checkable
class HasPorts(Protocol):
    """A source with ports: a block, a diagram."""

    def open_model(self, connected: Collection[str] | None = None) -> OpenModel:
        """Its model with open inputs.

        Parameters
        ----------
        connected : names of the inputs that get a value from outside; all of them if not given.

        Raises
        ------
        UsageError : it cannot be a part of something else.
        """
        ...
