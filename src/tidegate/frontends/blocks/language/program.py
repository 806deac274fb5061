"""A model of the language as data: what statements edit, files hold, and the language's own method and ``lower`` read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tidegate.errors import Origin

__all__ = ["NO_PARAMETERS", "BlockStatement", "CsmpProgram", "Parameters"]

Parameters = tuple[float, float, float]

NO_PARAMETERS: Final[Parameters] = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class BlockStatement:
    """A configuration statement.

    Parameters
    ----------
    number : of the block, from 2 on; block 1 is time.
    kind : its type, as Table 1 writes it: ``"I"``, ``"T1"``, ``"U"``, ``"U3"``, ``"UO"``, ``"+"``, ...
    inputs : numbers of the blocks it reads; 0 for none.
    signs : of the inputs; only a summer has a -1.
    label, comment : the user's.
    origin : where the statement stands.
    """

    number: int
    kind: str
    inputs: tuple[int, int, int] = (0, 0, 0)
    signs: tuple[int, int, int] = (1, 1, 1)
    label: str = ""
    comment: str = ""
    origin: Origin | None = None


@dataclass(eq=False)
class CsmpProgram:
    """Title, blocks, parameters and functions, by block number.

    Parameters
    ----------
    title : of the model.
    blocks : configuration statements.
    parameters : P1, P2, P3 as the user gave them; a block that is not there has zeros.
    functions : coordinate pairs of function blocks, abscissae ascending.
    parameter_comments : comments of parameter statements.
    """

    title: str = ""
    blocks: dict[int, BlockStatement] = field(default_factory=dict[int, BlockStatement])
    parameters: dict[int, Parameters] = field(default_factory=dict[int, Parameters])
    functions: dict[int, list[tuple[float, float]]] = field(default_factory=dict[int, list[tuple[float, float]]])
    parameter_comments: dict[int, str] = field(default_factory=dict[int, str])

    @property
    def numbers(self) -> list[int]:
        """Numbers of all blocks, ascending."""
        return sorted(self.blocks)

    def parameter(self, number: int) -> Parameters:
        """P1, P2, P3 of a block."""
        return self.parameters.get(number, NO_PARAMETERS)
