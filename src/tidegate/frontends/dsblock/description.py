"""What a DSblock says of itself: signals, parameters, form, dependence of outputs, proposals; frozen, whichever way it was said.

Source: Otter, DSblock 3.3 (DLR 1994): vectors and counts of BLOCKB (INFO, SIG, DIM), the utilities BLO2xx and BLO3xx. An array lies in its
vector in column order, as in Fortran; its value has its natural shape.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.model import Form
from tidegate.quick_dataclass import dataclass

__all__ = [
    "ABSENT",
    "Dependence",
    "Description",
    "Group",
    "Limits",
    "ParameterEntry",
    "ParameterKind",
    "Proposals",
    "SignalEntry",
    "SignalKind",
    "element_names",
]

FloatArray = NDArray[np.float64]
ABSENT: Final = float("nan")  # the recorded value of an entry that the structure at hand does not have


class SignalKind(enum.Enum):
    """The vectors of signals, by DSblock's letters."""

    STATE = "X"
    INPUT = "U"
    OUTPUT = "Y"
    INDICATOR = "Z"
    AUXILIARY = "W"


class ParameterKind(enum.Enum):
    """The vectors of parameters, by DSblock's letters."""

    REAL = "DP"
    INTEGER = "IP"
    LOGICAL = "LP"


@dataclass(frozen=True)
class Limits:
    """What every element of a parameter must lie between; an open end is itself not allowed (BLO3MD, BLO3MI)."""

    lower: float = -np.inf
    upper: float = np.inf
    lower_open: bool = False
    upper_open: bool = False

    def allow(self, value: float) -> bool:
        """Whether a value lies between them."""
        above = value > self.lower if self.lower_open else value >= self.lower
        return above and (value < self.upper if self.upper_open else value <= self.upper)

    def __str__(self) -> str:
        left = "" if self.lower == -np.inf else f"{self.lower:g} {'<' if self.lower_open else '<='} "
        right = "" if self.upper == np.inf else f" {'<' if self.upper_open else '<='} {self.upper:g}"
        return f"{left}value{right}"


@dataclass(frozen=True)
class SignalEntry:
    """One named signal.

    Parameters
    ----------
    name : as written; two names that differ in case only are one.
    shape : () for a scalar, up to six dimensions.
    first : its first place in its vector.
    """

    name: str
    kind: SignalKind
    shape: tuple[int, ...] = ()
    first: int = 0
    text: str = ""
    unit: str = ""
    nominal: float | None = None

    @property
    def size(self) -> int:
        """Number of its elements."""
        return math.prod(self.shape)

    @property
    def places(self) -> slice:
        """Where they are in the vector."""
        return slice(self.first, self.first + self.size)

    def of(self, vector: FloatArray) -> FloatArray | float:
        """Its value: a number, or an array in natural shape."""
        return float(vector[self.first]) if not self.shape else vector[self.places].reshape(self.shape, order="F")


@dataclass(frozen=True)
class ParameterEntry:
    """One named parameter; ``number`` counts all in the order of declaration, from 1; ``first`` is its place in the vector of its kind, from 0."""

    name: str
    kind: ParameterKind
    default: tuple[float, ...]
    shape: tuple[int, ...] = ()
    first: int = 0
    number: int = 1
    text: str = ""
    unit: str = ""
    limits: Limits = field(default_factory=Limits)

    @property
    def size(self) -> int:
        """Number of its elements."""
        return math.prod(self.shape)

    @property
    def places(self) -> slice:
        """Where they are in the vector of its kind."""
        return slice(self.first, self.first + self.size)


@dataclass(frozen=True)
class Dependence:
    """What outputs need (BLO3UX).

    Parameters
    ----------
    inputs : one truth value an element of U, whether some output depends on it at once.
    outputs_need_rates, auxiliaries_need_rates : whether xd is needed for Y (GXD), and for W (KXD).
    """

    inputs: tuple[bool, ...]
    outputs_need_rates: bool = False
    auxiliaries_need_rates: bool = True


@dataclass(frozen=True)
class Proposals:
    """Settings that a block proposes (BLO3DD, BLO3DE, BLO3DI); the caller's own win. None where nothing was said."""

    t_end: float | None = None
    output_step: float | None = None
    first_step: float | None = None
    min_step: float | None = None
    max_step: float | None = None
    rtol: float | None = None
    delay_resolution: float | None = None
    nominal: tuple[float, ...] | None = None
    max_evaluations: int | None = None
    max_order: int | None = None
    prefers_stiff: bool | None = None
    communication: str | None = None
    precision: int | None = None
    output_intervals: int | None = None


@dataclass(frozen=True)
class Group:
    """States and indicators, one behind the other, of which the first so many are there: those of one part of a connection.

    Parameters
    ----------
    states, indicators : where they lie in X and Z.
    """

    name: str
    states: slice
    indicators: slice


@dataclass(frozen=True)
class Description:
    """Everything a block has said in BLOCKB.

    Parameters
    ----------
    form : ODE, DAE or HDAE.
    parts : NF1 ... NF5 of an HDAE.
    n_states, n_indicators : NX and NZ, maxima where the structure varies.
    signals, parameters : in the order of declaration.
    t0, x0, xd0 : where a run begins if nobody says otherwise.
    has_step_events, has_jacobian : INFO(2), INFO(3).
    has_communication : BLOCKK is there, be it without W.
    groups : whose numbers of states and indicators change each by itself, where X and Z are not one such group.
    algebraic : of a DAE whose residuals are known to be ``f - xd``, and some that see no xd, places of x in the latter's order; else None.
    callbacks : what messages call them, by letter, where it is known.
    outputs_may_retry : outputs may ask for a smaller step, so they are asked for within steps, too.
    """

    name: str
    form: Form
    signals: tuple[SignalEntry, ...]
    parameters: tuple[ParameterEntry, ...] = ()
    parts: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)
    text: str = ""
    version: str = ""
    t0: float = 0.0
    x0: tuple[float, ...] = ()
    xd0: tuple[float, ...] = ()
    dependence: Dependence = field(default_factory=lambda: Dependence(()))
    proposals: Proposals = field(default_factory=Proposals)
    has_step_events: bool = False
    has_jacobian: bool = False
    discretes: Mapping[str, float] = field(default_factory=dict[str, float])
    has_communication: bool = False
    outputs_may_retry: bool = False
    groups: tuple[Group, ...] = ()
    algebraic: tuple[int, ...] | None = None
    callbacks: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def sources(self) -> dict[str, str]:
        """Which callbacks compute the equations and what events are found by."""
        said = {"rhs": self.callbacks.get("F", ""), "conditions": self.callbacks.get("H", "")}
        return {what: f"{callback} of DSblock {self.name}" if callback else f"DSblock {self.name}" for what, callback in said.items()}

    @property
    def communicates(self) -> bool:
        """Whether something is to be called at communication points."""
        return self.has_communication or self.size(SignalKind.AUXILIARY) > 0

    def of_kind(self, kind: SignalKind) -> tuple[SignalEntry, ...]:
        """The signals of one vector."""
        return tuple(signal for signal in self.signals if signal.kind is kind)

    def size(self, kind: SignalKind | ParameterKind) -> int:
        """Number of elements of one vector."""
        return self._sizes[kind]

    def names(self, kind: SignalKind | ParameterKind) -> tuple[str, ...]:
        """Names of all elements of one vector, in its order."""
        entries: Sequence[SignalEntry | ParameterEntry] = (*self.signals, *self.parameters)
        return tuple(name for entry in entries if entry.kind is kind for name in element_names(entry.name, entry.shape))

    @cached_property
    def _sizes(self) -> dict[SignalKind | ParameterKind, int]:
        entries: Sequence[SignalEntry | ParameterEntry] = (*self.signals, *self.parameters)
        return {kind: sum(entry.size for entry in entries if entry.kind is kind) for kind in (*SignalKind, *ParameterKind)}

    @cached_property
    def by_name(self) -> dict[str, SignalEntry | ParameterEntry]:
        """Every signal and parameter by its name in upper case."""
        return {entry.name.upper(): entry for entry in (*self.signals, *self.parameters)}


def element_names(name: str, shape: tuple[int, ...]) -> list[str]:
    """Names of the elements in column order: the first index runs fastest. Indices begin at 0, as everywhere in Python."""
    if not shape:
        return [name]
    return [f"{name}[{','.join(map(str, reversed(index)))}]" for index in product(*(range(length) for length in reversed(shape)))]
