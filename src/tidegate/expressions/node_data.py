"""What nodes of the graph are made of (stage: expressions): their data, and the shape that text, simplification and arithmetic rely on."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from tidegate.quick_dataclass import dataclass

__all__ = ["BEFORE", "MOVED", "NOT_ARITHMETIC", "OPAQUE", "QUIET", "LookedUp", "Node", "OpaqueFunction", "Role", "Spline", "Symbol"]

BEFORE: Final = -1  # order of a look at the past that only counts before the start of the run
MOVED: Final = -2  # order of how the past moves with the parameter by which a derivative is taken; its derivatives by time go on downwards
OPAQUE: Final = frozenset({"call", "output", "slope"})  # operations of functions of which nothing is known but their values
NOT_ARITHMETIC: Final = OPAQUE | {"delay", "past", "same"}  # operations whose value is not that of numbers given to them
QUIET: Final = "no event"  # data of a relation, or of a floor, that is taken as it is at each evaluation and makes no event


class Node(Protocol):
    """What ``Expr`` is to those that it stands on: operation, arguments and data, and operators that make further nodes."""

    op: str
    data: Any

    @property
    def args(self) -> tuple[Node, ...]:
        """Argument nodes."""
        ...

    @property
    def value(self) -> float:
        """The number of a constant node."""
        ...

    def __add__(self, other: Any) -> Any: ...
    def __sub__(self, other: Any) -> Any: ...
    def __mul__(self, other: Any) -> Any: ...
    def __truediv__(self, other: Any) -> Any: ...
    def __neg__(self) -> Any: ...
    def __invert__(self) -> Any: ...


class Role(enum.Enum):
    """What a symbol stands for; together with its name it is the symbol's identity.

    The value before a round that a variable or derivative had is PREVIOUS in a neutral model; while equations are read, and it is not known yet what
    a variable follows from, it is UNKNOWN_BEFORE or DERIVATIVE_BEFORE. INPUT_BEFORE and TIME_BEFORE are what these were: the same, but in a relation,
    which may have been another.
    """

    TIME = "time"
    UNKNOWN = "unknown"
    DERIVATIVE = "derivative"
    INPUT = "input"
    DISCRETE = "discrete"
    PREVIOUS = "previous"
    NEXT = "next"
    UNKNOWN_BEFORE = "unknown before"
    DERIVATIVE_BEFORE = "derivative before"
    INPUT_BEFORE = "input before"
    TIME_BEFORE = "time before"
    PARAMETER = "parameter"
    MODE = "mode"
    SEED = "seed"

    __hash__ = object.__hash__  # members are compared by identity; their own hash is several times slower


class Symbol(NamedTuple):
    """Data of a ``symbol`` node: its role, and its name as the user knows it (elements as ``x[0]``, ``A[1,2]``)."""

    role: Role
    name: str


class LookedUp(NamedTuple):
    """Data of a ``past`` node: the unknown that is read, how often it is differentiated (or BEFORE, MOVED), the number of the delay."""

    name: str
    order: int
    delay: int


@dataclass(frozen=True, eq=False)
class OpaqueFunction:
    """A callable that cannot be followed: ``function(*numbers) -> sequence of n_outputs numbers``."""

    function: Callable[..., Sequence[float] | float]
    n_outputs: int
    name: str


@dataclass(frozen=True, eq=False)
class Spline:
    """A piecewise cubic: on piece k, ``sum_j coefficients[j, k] * (x - grid[k])**(3 - j)``; ends extrapolate."""

    grid: np.ndarray
    coefficients: np.ndarray
    name: str = "table"

    @cached_property
    def derivative(self) -> Spline:
        """The table of the slopes; always the same one, so that equal derivatives are one node."""
        c3, c2, c1, _ = self.coefficients
        return Spline(self.grid, np.stack([np.zeros_like(c3), 3.0 * c3, 2.0 * c2, c1]), f"{self.name}'")
