"""A model of which nothing is known but its functions: the plain description that ``compiled/from_callables`` compiles.

Every function takes one ``At`` and returns numbers. Discontinuities are told, not found: what the equations decide by ``at.holds`` is kept between
events.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tidegate.expressions import Expr
from tidegate.model.model import Model
from tidegate.quick_dataclass import dataclass

__all__ = [
    "At",
    "Beside",
    "CallableClause",
    "CallableModel",
    "Called",
    "Completed",
    "Constraints",
    "NativeFunction",
    "NativeSignals",
    "TakesOptions",
    "Threshold",
    "Tick",
    "Variant",
]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class At:
    """Where a function is called: unknowns, parameters, which thresholds hold, discrete variables, in the order of the description.

    Of an HDAE also whether the equations that are integrated are asked for, or those that consistent values follow from (``structure.stabilise``).
    """

    time: float
    y: FloatArray
    p: FloatArray
    holds: NDArray[np.bool_]
    d: FloatArray
    is_integrated: bool = True


@dataclass(frozen=True, eq=False)
class NativeSignals:
    """Functions of time alone that native functions of a model want as machine code, ``void f(double t, double *out)``.

    Parameters
    ----------
    time : its symbol.
    values : by place in ``out``; other places are left alone.
    install : takes the address of the function, which lives as long as the compiled model.
    """

    time: Expr
    values: Mapping[int, Expr]
    install: Callable[[int], object]


Numbers = Callable[[At], Sequence[float] | FloatArray]
Changes = Callable[[At], Mapping[str, float]]
Happening = Callable[[At, NDArray[np.bool_]], Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class NativeFunction:
    """A C function that takes the place of one of Python: ``int f(void *context, double t, double *y, double *p, double *d, double *out)``.

    Discrete variables d are in the order of the description; a derivative is given v, dt, dy, dp and dd as well. Where it does not return 0, Python
    is asked for the same. The equations of an HDAE from which consistent values follow have another context.
    """

    address: int
    context: int
    context_of_consistency: int = 0


@dataclass(frozen=True, eq=False)
class Threshold:
    """A relation ``g >= 0`` (``g > 0`` if strict) that can change.

    Parameters
    ----------
    text, opposite : how messages call it where it holds, and where it does not.
    function : g.
    decides : True if the equations or outputs look at it; False if only clauses do.
    """

    text: str
    function: Callable[[At], float]
    strict: bool = False
    decides: bool = True
    opposite: str = ""


@dataclass(frozen=True, eq=False)
class CallableClause:
    """What happens when one of these thresholds comes to hold.

    Parameters
    ----------
    when : numbers of thresholds, or a function that says whether a condition of ``holds``, ``d`` and ``p`` is true.
    change : new values by name, from those before the event.
    """

    label: str
    when: Sequence[int] | Callable[[At], bool]
    change: Changes | None = None
    message: str = ""
    terminates: bool = False
    priority: int = 50


@dataclass(frozen=True, eq=False)
class Tick:
    """What happens at ``first``, and every ``period`` after it where there is one; likewise.

    Where ``first`` is a function of discrete variables it is asked for after every event, and a time that does not lie ahead is none.
    """

    label: str
    first: float | Callable[[At], float]
    period: float | None = None
    change: Changes | None = None
    message: str = ""
    terminates: bool = False
    priority: int = 50


@dataclass(frozen=True, eq=False)
class Completed:
    """What happens at the end of a step of the integrator at which ``when`` is true (a step event of DSblock); likewise.

    With ``is_noted`` false it is no event where it changes nothing, but the method begins anew.
    """

    label: str
    when: Callable[[At], bool]
    change: Changes | None = None
    message: str = ""
    terminates: bool = False
    priority: int = 50
    is_noted: bool = True


@dataclass(frozen=True, eq=False)
class Constraints:
    """What an HDAE has besides equations for its unknowns.

    Parameters
    ----------
    labels : of each equation of F2 to F5 the number of the part, and what messages call it.
    function : the values of some parts, one behind the other.
    index_two : names of the unknowns that are of index two in the equations that are integrated.
    makes_consistent : whether values that are off F4 and F5 are moved onto them.
    """

    labels: tuple[tuple[int, str], ...]
    function: Callable[[At, tuple[int, ...]], FloatArray]
    index_two: tuple[str, ...] = ()
    makes_consistent: bool = False


@dataclass(frozen=True, slots=True)
class Variant:
    """One point of a difference by a parameter: how much larger that is, the weight of the value there, and the number of the run that is asked."""

    offset: float
    weight: float
    number: float


class Beside(Protocol):
    """Runs beside the runs of a model with a memory of its own, each with one parameter a little different; for derivatives by parameters.

    Attributes
    ----------
    place : index of the discrete variable that says which run is asked.
    """

    place: int

    def variants(self, number: float, k: int) -> Sequence[Variant]:
        """Those with another parameter k, beside the run of a number; none where it is not known how it began."""
        ...

    def opened(self, number: float, k: int) -> Sequence[tuple[float, Mapping[str, float]]]:
        """They begin; of each a weight and new values by name."""
        ...

    def happened(self, number: float, k: int, along: Callable[[Variant], At]) -> Sequence[tuple[float, At, Mapping[str, float]]]:
        """What the last event gives in each of them: a weight, where it happens, new values by name; nothing if nothing has happened."""
        ...


@dataclass(frozen=True, eq=False)
class CallableModel:
    """One model as functions.

    Parameters
    ----------
    states, algebraic, parameters, discretes : start values by name; the unknowns are states, then algebraic ones.
    rhs : derivatives of the states, then what is zero where the algebraic equations hold; or the address of a value function (``interface``).
    outputs : names; output : their values.
    thresholds, clauses, ticks, completed : what can happen.
    happen : new values by name when things happen, told which of ``bodies``; it is called once a round and takes the place of their ``change``.
    rehearse : what ``happen`` would give at other values, without any effect; for derivatives.
    beside : runs with other parameters, for derivatives by these of what a memory takes part in.
    at_start, at_end : new values by name, at the start and at the end of a run.
    at_parameters : likewise, when parameters have been set from outside at the point of the run.
    at_communication : called at every communication point of a run, with the values that its row has.
    at_open : new values by name when a run begins; called once a run, also of one that is repeated.
    at_resume : new values by name when a run goes on from what was saved of it, maybe in another process.
    at_stop : why the model has ended the run, if it has more to say than its clauses.
    at_close : called once when a run is over, at the point where it stands, and whether it came to its end.
    arrays : shapes by name of arrays, whose elements ``A[0,1]`` are among the names above.
    texts : unit and description by name, of an array by its own.
    refuses : why the model cannot have these parameters, a sentence; nothing where it can.
    hidden : discrete variables and outputs that results do not show.
    counted : by discrete variables, unknowns and outputs of which as many are there as it says, each with its number from 0.
    nominal : typical sizes of unknowns by name.
    importance : the discrete variable that says how important an event was, 1 to 100; rows of those beyond ``least_importance`` are not shown.
    may_reach : the discrete variable that says how far a step may go beyond the next time event, which is then carried out inside it.
    goes_on : the discrete variable that is 1 if the last event has left everything as it was, so that integration need not begin anew.
    at_step : called in front of every step of the integrator.
    mass : M of ``M y' = rhs`` where the unknowns are the states, and M is constant and singular.
    traced : the same model with equations, conditions and outputs as expressions; what happens at events is called all the same.
    told : what statistics of a run say of the model.
    folds_names : names that a user gives are found in other letter case too; no two differ by it alone.
    sources : what messages call what computes ``rhs`` and ``conditions``.
    corners : times at which functions have corners: no step passes them.
    constraints : of an HDAE; None for other models.
    slopes : df/dy, where the model gives it; else there are differences.
    native : C functions, by the names of the compiled stage (rhs, guards, jacobian ...), for what is asked for within steps.
    signals : what these want to be compiled for them.
    """

    name: str
    states: Mapping[str, float]
    rhs: Numbers | int
    algebraic: Mapping[str, float] = field(default_factory=dict[str, float])
    parameters: Mapping[str, float] = field(default_factory=dict[str, float])
    discretes: Mapping[str, float] = field(default_factory=dict[str, float])
    outputs: Sequence[str] = ()
    output: Numbers | None = None
    thresholds: Sequence[Threshold] = ()
    clauses: Sequence[CallableClause] = ()
    ticks: Sequence[Tick] = ()
    completed: Sequence[Completed] = ()
    happen: Happening | None = None
    rehearse: Happening | None = None
    beside: Beside | None = None
    at_start: Changes | None = None
    at_end: Changes | None = None
    at_parameters: Changes | None = None
    at_communication: Callable[[At], object] | None = None
    at_open: Changes | None = None
    at_resume: Changes | None = None
    at_close: Callable[[At, bool], object] | None = None
    at_stop: Callable[[At], str] | None = None
    arrays: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    texts: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    refuses: Callable[[FloatArray], str] | None = None
    hidden: Sequence[str] = ()
    counted: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    nominal: Mapping[str, float] = field(default_factory=dict[str, float])
    importance: str = ""
    least_importance: int = 100
    may_reach: str = ""
    goes_on: str = ""
    at_step: Callable[[At], object] | None = None
    mass: FloatArray | None = None
    sources: Mapping[str, str] = field(default_factory=dict[str, str])
    corners: Sequence[float] | FloatArray = ()
    time_unit: str = ""
    folds_names: bool = False
    constraints: Constraints | None = None
    traced: Model | None = None
    told: Mapping[str, str] = field(default_factory=dict[str, str])
    slopes: Callable[[At], NDArray[np.float64]] | None = None
    native: Mapping[str, NativeFunction] = field(default_factory=dict[str, NativeFunction])
    signals: NativeSignals | None = None

    @property
    def bodies(self) -> tuple[CallableClause | Tick | Completed, ...]:
        """All that can happen, in the order of its flags."""
        return (*self.clauses, *self.ticks, *self.completed)

    def without_code(self) -> CallableModel:
        """The same model, without the machine code that it carries after a run."""
        return replace(self)

    def problems(self) -> list[str]:
        """What no run can be made of, a sentence each."""
        groups = (self.states, self.algebraic, self.parameters, self.discretes, self.outputs)
        names = [name for group in groups for name in group]
        starts = {name: value for group in (self.states, self.algebraic, self.parameters, self.discretes) for name, value in group.items()}
        asked = {k for clause in self.clauses if not callable(clause.when) for k in clause.when}
        return [
            *(f"the name {name} is taken twice, or is that of the time" for name in names if names.count(name) > 1 or name == "time"),
            *(f"{name} starts at {v}, which is not finite" for name, v in starts.items() if not (math.isfinite(v) or name in self.hidden)),
            *(f"the first time of {tick.label} is {tick.first}" for tick in self.ticks if not callable(tick.first) and not math.isfinite(tick.first)),
            *(f"the period of {t.label} is {t.period}; it must be positive" for t in self.ticks if t.period is not None and not t.period > 0),
            *(f"there is no threshold {k}" for k in asked if k not in range(len(self.thresholds))),
            *(["outputs have names and no function"] if self.outputs and self.output is None else []),
        ]


@runtime_checkable
class TakesOptions(Protocol):
    """A source that has options of a run of its own, and proposals for others."""

    @property
    def own_options(self) -> Sequence[str]:
        """Their names."""
        ...

    def with_options(
        self, t_span: tuple[float, float] | None, options: Mapping[str, Any]
    ) -> tuple[Any, tuple[float, float] | None, Mapping[str, Any]]:
        """The source with those options that are its own, the time span, and the options of every run; what the caller has said wins."""
        ...


@runtime_checkable
class Called(Protocol):
    """Anything that can be simulated as functions only."""

    def callables(self) -> CallableModel:
        """These functions."""
        ...
