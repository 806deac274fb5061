"""Blocks as data: Table 1 of the report, each type with its internal code, its most inputs and user parameters and its name; a block of a program."""

from __future__ import annotations

from typing import Final

from tidegate.errors import Origin
from tidegate.quick_dataclass import dataclass

__all__ = [
    "KINDS",
    "MOST_INPUTS",
    "MOST_PARAMETERS",
    "MOST_USER_TYPES",
    "NO_PARAMETERS",
    "BlockKind",
    "BlockStatement",
    "Parameters",
    "is_user_kind",
]

MOST_INPUTS: Final = 3
MOST_PARAMETERS: Final = 3
MOST_USER_TYPES: Final = 15


@dataclass(frozen=True, slots=True)
class BlockKind:
    """A block type.

    Parameters
    ----------
    kind : how statements write it, in capitals.
    code : the number that user routines see.
    n_inputs, n_parameters : the most that it takes.
    name : in words.
    parameters : meaning of P1, P2, P3, as far as the user sets them.
    """

    kind: str
    code: int
    n_inputs: int
    n_parameters: int
    name: str
    parameters: tuple[str, ...] = ()


def _table() -> dict[str, BlockKind]:
    rows = [
        BlockKind("B", 2, 1, 0, "bang-bang"),
        BlockKind("D", 4, 1, 2, "dead space", ("upper limit", "lower limit")),
        BlockKind("F", 6, 1, 1, "function", ("method",)),
        BlockKind("G", 7, 1, 1, "gain", ("gain",)),
        BlockKind("H", 8, 1, 0, "half power"),
        BlockKind("I", 9, 3, 3, "integrator", ("initial value", "scale less one", "added rate")),
        BlockKind("J", 10, 0, 0, "jitter"),
        BlockKind("K", 11, 0, 1, "constant", ("value",)),
        BlockKind("L", 12, 1, 2, "limiter", ("upper limit", "lower limit")),
        BlockKind("M", 13, 1, 0, "magnitude"),
        BlockKind("N", 14, 1, 0, "negative clipper"),
        BlockKind("O", 15, 1, 1, "offset", ("offset",)),
        BlockKind("P", 16, 1, 0, "positive clipper"),
        BlockKind("Q", 17, 2, 0, "quit"),
        BlockKind("R", 18, 3, 0, "relay"),
        BlockKind("T", 20, 1, 1, "time pulse generator", ("period",)),
        BlockKind("T1", 30, 3, 2, "first order lag", ("initial value", "time constant")),
        BlockKind("U", 21, 1, 1, "unit delay", ("initial value",)),
        BlockKind("UO", 3, 1, 0, "user output"),
        BlockKind("V", 22, 0, 1, "vacuous", ("first guess",)),
        BlockKind("W", 23, 3, 3, "weighted summer", ("weight of X1", "weight of X2", "weight of X3")),
        BlockKind("X", 24, 2, 0, "multiplier"),
        BlockKind("Y", 25, 2, 2, "wye", ("tolerance", "iteration limit")),
        BlockKind("Z", 26, 2, 1, "zero order hold", ("initial value",)),
        BlockKind("+", 27, 3, 0, "summer"),
        BlockKind("-", 28, 1, 0, "inverter"),
        BlockKind("/", 29, 2, 0, "divider"),
    ]
    rows.extend(BlockKind(f"U{m}", 30 + m, 3, 3, "user-defined", ("P1", "P2", "P3")) for m in range(1, MOST_USER_TYPES + 1))
    return {row.kind: row for row in rows}


KINDS: Final = _table()


def is_user_kind(kind: str) -> bool:
    """Whether a type is one of U1 to U15, whose output a user's routine computes.

    >>> is_user_kind("U3"), is_user_kind("U"), is_user_kind("UO")
    (True, False, False)
    """
    return kind[:1] == "U" and kind[1:].isdecimal()


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
