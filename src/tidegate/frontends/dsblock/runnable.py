"""A block with the options of one run, of which a model is made. In: a ``Block``, options; out: a ``CallableModel``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidegate.frontends.dsblock.block import Block
from tidegate.frontends.dsblock.lower import lowered
from tidegate.model.callables import CallableModel

__all__ = ["Runnable"]


class Runnable:
    """What ``tg.simulate`` runs.

    Parameters
    ----------
    inputs : as ``signals.InputSignals`` takes them.
    choices : ``hdae`` and ``make_consistent`` of an HDAE, where they were given.
    """

    def __init__(self, block: Block, inputs: Mapping[str, Any], choices: Mapping[str, Any] | None = None) -> None:
        self.block, self._inputs, self._choices = block, inputs, choices

    def callables(self) -> CallableModel:
        """Functions of flat vectors."""
        return lowered(self.block, self._inputs, self._choices)

    def __repr__(self) -> str:
        return f"<DSblock {self.block.description.name}>"
