"""A block with the options of one run, of which a model is made. In: a ``Block``, options; out: a ``CallableModel``."""

from __future__ import annotations

from tidegate.frontends.dsblock.block import Block
from tidegate.frontends.dsblock.lower import lowered
from tidegate.frontends.dsblock.proposals import RunOptions
from tidegate.model.callables import CallableModel

__all__ = ["Runnable"]


class Runnable:
    """What ``tg.simulate`` runs.

    Parameters
    ----------
    options : of the run.
    """

    def __init__(self, block: Block, options: RunOptions) -> None:
        self.block, self._options = block, options

    def callables(self) -> CallableModel:
        """Functions of flat vectors."""
        return lowered(self.block, self._options)

    def __repr__(self) -> str:
        return f"<DSblock {self.block.description.name}>"
