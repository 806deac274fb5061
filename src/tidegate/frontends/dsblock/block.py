"""A DSblock as the neutral model is made from it: its description, and eleven callbacks on flat vectors, whoever wrote them.

Source: Otter, DSblock 3.3 (DLR 1994), callbacks BLOCKB ... BLOCKV. Vectors are whole and in column order; parameters are one vector, real ones
first, then integers, then logical ones. A Python class (``interface``), a compiled library and a connection of blocks are each a ``Block``.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tidegate.frontends.dsblock.description import Description
from tidegate.frontends.dsblock.forms import Equations
from tidegate.frontends.dsblock.signals import InputSignals
from tidegate.model.callables import NativeFunction, NativeSignals
from tidegate.quick_dataclass import dataclass

__all__ = [
    "Action",
    "BeginsBeside",
    "Block",
    "CanBeResumed",
    "CanBeTried",
    "Entry",
    "GivesDifferences",
    "Happened",
    "HasSteps",
    "IsNative",
    "KnowsSteps",
    "NativeFunctions",
    "NativeNeeds",
    "Reply",
    "Run",
    "Verdict",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class Action(enum.Enum):
    """How a run goes on behind an event: INFO of BLOCKV."""

    CONTINUE = 0
    RESTART = 1
    STOP = 2


class Verdict(enum.Enum):
    """What a block says of a changed parameter: IERR of BLOCKP."""

    ACCEPTED = 0
    WARNED = 1
    REFUSED = 2
    IGNORED = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a callback is called: time, X, XD (None where the block is not given it), U, parameters, and how many indicators there are."""

    time: float
    x: FloatArray
    xd: FloatArray | None
    u: FloatArray
    p: FloatArray
    n_indicators: int = 0


@dataclass(frozen=True, slots=True)
class Happened:
    """What happens at an instant: a time event, state events with a truth value an indicator, a step event; and what had been agreed before.

    Parameters
    ----------
    zero : one an indicator: it is zero here and had another sign before (HINFO).
    directions : HCROSS as it was.
    """

    time: bool
    state: bool
    step: bool
    zero: BoolArray
    directions: NDArray[np.int64]
    n_states: int
    n_indicators: int


@dataclass(frozen=True, slots=True)
class Reply:
    """What a block wants at the start of a run, or behind an event; None leaves a thing as it is.

    Parameters
    ----------
    next_event : the next time event; one that does not lie ahead is none.
    groups : numbers of states and of indicators of each group of the description, where there are any.
    may_reach : how far a step may go beyond it before the event is carried out (TEVENT(2)).
    directions : HCROSS: 0 for every crossing, 1 and -1 for rising and falling ones.
    is_failure : the reason why the run stops is an error.
    """

    action: Action = Action.RESTART
    x: FloatArray | None = None
    xd: FloatArray | None = None
    next_event: float | None = None
    may_reach: float | None = None
    directions: NDArray[np.int64] | None = None
    n_states: int | None = None
    n_indicators: int | None = None
    groups: tuple[tuple[int, int], ...] | None = None
    priority: int = 50
    reason: str = ""
    is_failure: bool = False


@runtime_checkable
class GivesSlopes(Protocol):
    """A block that may give its Jacobian; its runs are ``KnowsSlopes`` then."""

    @property
    def gives_slopes(self) -> bool:
        """Whether it does."""
        ...


@runtime_checkable
class KnowsSlopes(Protocol):
    """A run of a block that gives its Jacobian."""

    def slopes(self, at: Entry, cj: float) -> FloatArray:
        """dF/dx + cj dF/dxd (BLOCKJ)."""
        ...


class Run(Protocol):
    """One run of a block, with whatever the block remembers of it; a block that has no indicators, say, is never asked for them."""

    def equations(self, at: Entry, wanted: tuple[bool, ...] = ()) -> FloatArray:
        """F: derivatives of an ODE, residuals of a DAE, the wanted parts of an HDAE, all at their places (BLOCKF)."""
        ...

    def outputs(self, at: Entry) -> FloatArray:
        """Y (BLOCKG)."""
        ...

    def indicators(self, at: Entry) -> FloatArray:
        """Z (BLOCKH), of which those count that are there."""
        ...

    def auxiliaries(self, at: Entry) -> FloatArray:
        """W at a communication point (BLOCKK)."""
        ...

    def asks_step_event(self, at: Entry) -> bool:
        """Whether something happens at the end of a completed step (BLOCKF with ICALL(3) = 1)."""
        ...

    def event(self, happened: Happened, at: Entry) -> Reply:
        """Something happens, once an instant (BLOCKV)."""
        ...

    def recorded(self) -> FloatArray:
        """The numbers of its memory that the description calls discrete."""
        ...

    def end(self, at: Entry, *, is_well: bool) -> None:
        """The run is over (BLOCKT)."""
        ...


@runtime_checkable
class GivesDifferences(Protocol):
    """A run that computes differences of F by itself, which is faster than by its callers."""

    def differences(self, at: Entry, wanted: tuple[bool, ...], places: range, steps: FloatArray) -> FloatArray:
        """Derivatives of the wanted parts, at their places, by elements of x one behind the other: central differences by these steps."""
        ...


class Block(Protocol):
    """What is asked of a block."""

    @property
    def description(self) -> Description:
        """What it says of itself."""
        ...

    def begin(self, at: Entry) -> tuple[Run, Reply]:
        """A run begins with these start values and parameters (BLOCKP for those that were changed, then BLOCKS).

        Raises
        ------
        UsageError : the block refuses a parameter.
        """
        ...


@runtime_checkable
class BeginsBeside(Protocol):
    """A block of which a run can begin beside another where ``begin`` cannot, as with static data in a copy of its library."""

    def begin_beside(self, at: Entry) -> tuple[Run, Reply]:
        """As ``begin``."""
        ...


@runtime_checkable
class CanBeTried(Protocol):
    """A block that can begin without values that fit its equations: to find these out, or of what form the equations are."""

    def tried(self, at: Entry) -> tuple[Run, Reply]:
        """As ``begin``."""
        ...


@runtime_checkable
class CanBeResumed(Protocol):
    """A block whose runs remember nothing but what the description calls discrete, so that a saved one can go on."""

    def resumed(self, discretes: FloatArray) -> Run:
        """A run that remembers these numbers."""
        ...


@runtime_checkable
class KnowsSteps(Protocol):
    """A block whose runs may be told of steps (``HasSteps``)."""

    @property
    def knows_steps(self) -> bool:
        """Whether they are to be."""
        ...


@runtime_checkable
class HasSteps(Protocol):
    """A run that is told in front of every step of the integrator: the first evaluation of a step is another thing for it (ICALL(2) of BLOCKF)."""

    def step_begins(self) -> None:
        """A step is about to be taken."""
        ...


@dataclass(frozen=True, slots=True)
class NativeNeeds:
    """What native functions of a block must know of the model that is made of it.

    Parameters
    ----------
    places : of the run's number, the next time event and the numbers of states and indicators among the discrete variables.
    has_steps : step events are asked for, and nothing else behind a step.
    max_evaluations : of F, where they are counted; one more is asked of Python.
    """

    equations: Equations
    inputs: InputSignals
    n_parameters: int
    n_discretes: int
    places: tuple[int, int, int, int]
    has_steps: bool
    max_evaluations: int | None = None


class NativeFunctions(Protocol):
    """Native functions that belong to runs by their numbers; ``functions`` by the names that the compiled stage knows."""

    @property
    def functions(self) -> Mapping[str, NativeFunction]:
        """By name."""
        ...

    @property
    def signals(self) -> NativeSignals | None:
        """Inputs that are functions of time, as far as they were followed."""
        ...

    def enter(self, number: int, run: Run) -> None:
        """A run begins."""
        ...

    def leave(self, number: int) -> None:
        """It is over."""
        ...

    def evaluations(self, run: Run) -> int:
        """How often F was evaluated in it, where that is counted."""
        ...

    def beside(self, run: Run, k: int, others: Sequence[tuple[float, float, Run]]) -> None:
        """Derivatives of a run by parameter k are those of these: offsets of the parameter, weights, runs."""
        ...


@runtime_checkable
class IsNative(Protocol):
    """A block that may be called within steps without Python."""

    def native(self, needs: NativeNeeds) -> NativeFunctions | None:
        """Its functions; None where there are none."""
        ...
