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
    """

    def __init__(self, block: Block, inputs: Mapping[str, Any]) -> None:
        self.block, self._inputs = block, inputs

    def callables(self) -> CallableModel:
        """Functions of flat vectors."""
        return lowered(self.block, self._inputs)

    def __repr__(self) -> str:
        return f"<DSblock {self.block.description.name}>"
