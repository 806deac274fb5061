"""What every later stage sees of a model: numbers, addresses of native functions, and texts for messages. No expression is among it.

Signatures of the native functions (C, all vectors ``double *``; which there are says ``functions.function_specs``):

=================  ======================================================================================
value functions    ``void f(double t, y, p, m, out)``
tangent functions  ``void f(double t, y, v, p, m, double dt, dy, dp, dm, out)``: derivative in a direction
=================  ======================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.jacobian_pattern import Sparsity
from tidegate.compiled.layout import Layout
from tidegate.compiled.many_starts import ManyStarts
from tidegate.compiled.quantities import Places, Quantity
from tidegate.compiled.series_functions import PowerSeries
from tidegate.errors import Origin
from tidegate.names import MULTIPLIER
from tidegate.quick_dataclass import dataclass
from tidegate.results.dense_outputs import OutputFormulas, UnknownFormulas

__all__ = [
    "Actions",
    "Clock",
    "CompiledModel",
    "Contradiction",
    "Diagnosis",
    "Direction",
    "Disagreement",
    "EventAction",
    "GuardTapes",
    "Guards",
    "LookBack",
    "Point",
    "Said",
    "Start",
    "StartValues",
    "Trouble",
    "Words",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Direction = Mapping[int, float]  # the rates at which parameters move, by index


class Point(Protocol):
    """Where a run stands."""

    @property
    def time(self) -> float:
        """Simulated time."""
        ...

    @property
    def y(self) -> FloatArray:
        """Unknowns."""
        ...

    @property
    def p(self) -> FloatArray:
        """Parameters."""
        ...

    @property
    def m(self) -> FloatArray:
        """Modes, discrete variables and all else that is constant between events."""
        ...


@dataclass(frozen=True, eq=False)
class KeptSides:
    """Values that unknowns do not cross, as far as guards have zeros there; see ``kept_sides``.

    Parameters
    ----------
    unknown : number of each.
    level : its value, where it is a number.
    parameter, discrete : index of the parameter, or among what modes are in, that is the value; -1 where it is none.
    first : for every guard where in ``of_guards`` its values begin, and at last where they end.
    of_guards : numbers of values.
    """

    unknown: IntArray
    level: FloatArray
    parameter: IntArray
    discrete: IntArray
    first: IntArray
    of_guards: IntArray

    @classmethod
    def none(cls, n_guards: int) -> KeptSides:
        """Of guards whose functions are not known as expressions."""
        empty = np.zeros(0, dtype=np.int64)
        return cls(empty, np.zeros(0), empty, empty, np.zeros(n_guards + 1, dtype=np.int64), empty)


@dataclass(frozen=True, eq=False)
class Guards:
    """The discontinuity functions, one element each.

    Parameters
    ----------
    kind : what it decides: ``workspace.RELATION``, ``LOWER`` or ``UPPER``.
    mode : index of the mode that it decides about.
    strict : true where ``> 0``, not where ``>= 0``.
    source : number of the relation that the user wrote; those of one relation are equal.
    zero : number of its zero; ``a > b`` and ``b >= a`` have the same.
    facing : number of its zero and the side on which it is positive; ``a > b`` and ``a >= b`` have the same.
    is_linear, is_time, is_opaque : affine in time and unknowns; of time only; not computable on intervals.
    grids : inner edges of the grid whose pieces it watches; None for integers, () where it watches no pieces.
    kept : what they have to do with values that unknowns do not cross.
    """

    kind: IntArray
    mode: IntArray
    strict: BoolArray
    source: IntArray
    zero: IntArray
    facing: IntArray
    is_linear: BoolArray
    is_time: BoolArray
    is_opaque: BoolArray
    grids: tuple[tuple[float, ...] | None, ...]
    kept: KeptSides

    def __len__(self) -> int:
        return len(self.kind)


@dataclass(frozen=True, eq=False)
class GuardTapes:
    """Nonlinear guards as tapes of interval operations, all on the same inputs.

    Parameters
    ----------
    code, constants : rows of all tapes one behind the other.
    first_row : of every guard.
    n_rows : (3, guards), how many rows lead to g, to dg/dtheta too, and to the second derivative too; 0 for a linear guard.
    value, rate, bend : registers of g, dg/dtheta and the second derivative; ``bend`` is -1 where that would be too long.
    used : numbers of the unknowns that are inputs: [t, those y, those dy/dtheta, dt/dtheta, p, m, those second derivatives].
    n_registers : inputs and the longest tape.
    numbers : registers of p and m that tapes read.
    kinds : of rows of the tapes: ``workspace.WRITTEN``, ``COMPUTED``, ``MOVING`` or ``CHOSEN``.
    """

    code: IntArray
    constants: FloatArray
    first_row: IntArray
    n_rows: IntArray
    value: IntArray
    rate: IntArray
    bend: IntArray
    used: IntArray
    n_registers: int
    numbers: IntArray
    kinds: IntArray


@dataclass(frozen=True, eq=False)
class EventAction:
    """One thing that can happen at an event: a branch of a ``when``, something said under a condition (a remark), or a time event.

    Parameters
    ----------
    label : how the log names it.
    chain : number of the ``when`` chain it belongs to; -1 for a time event, a number of its own from ``FIRST_REMARK`` for a remark.
    conditions : indices of its conditions in what ``conditions`` gives; empty for a time event.
    is_noted : True if it is an event even where it changes nothing: it ends the run, says something, is there to be noted only, or a clock's tick.
    terminates : True if it ends the run.
    fails : True if that end is no success.
    messages : what it says.
    targets : names of what it gives a new value.
    inner_modes : modes that only its conditions have, of what the system does by itself; None for what is an event of the user's model.
    is_expected : worth a word where it never happens.
    keeps : it keeps what a relation was, at the start what that is.
    """

    label: str
    chain: int
    conditions: tuple[int, ...]
    priority: int
    origin: Origin
    is_noted: bool
    terminates: bool
    messages: tuple[str, ...]
    targets: tuple[str, ...]
    fails: bool = False
    inner_modes: tuple[int, ...] | None = None
    is_expected: bool = True
    keeps: bool = False


@dataclass(frozen=True, eq=False)
class Clock:
    """A time event; ``repeats`` where its next time must lie ahead again after every time it happens."""

    label: str
    origin: Origin
    repeats: bool


@dataclass(frozen=True, eq=False)
class StartValues:
    """Start vectors; derivatives by the chosen parameters as (parameter, element)."""

    y: FloatArray
    m: FloatArray
    dy_dp: FloatArray
    dd_dp: FloatArray


class Start(Protocol):
    """Values at the start of a run."""

    @property
    def asks_solution(self) -> bool:
        """Whether an initial action assigns what depends on an algebraic unknown, and so can be carried out on a consistent start only."""
        ...

    @property
    def asks_parameters(self) -> bool:
        """Whether the parameters that the model itself gives may be wrong for a run."""
        ...

    @property
    def asks_a_block(self) -> bool:
        """Whether it is a block, called, that says which parameters may be."""
        ...

    def parameters(self, given: Mapping[int, float]) -> FloatArray:
        """Values of all parameters, some given by index; a default may follow from others."""
        ...

    def directions(self, chosen: Sequence[int], given: Collection[int], p: FloatArray) -> list[Direction]:
        """How all parameters move with each chosen one: those that are not given follow by their defaults."""
        ...

    def problem(self, p: FloatArray, *, has_started: bool = False) -> tuple[str, Origin | None] | None:
        """Why the model cannot have these parameters: one is outside its limits, or a clock would have no period."""
        ...

    def values(self, p: FloatArray, t: float, directions: Sequence[Direction], *, with_actions: bool) -> StartValues:
        """Declared start values, or with the initial actions carried out on these, and their derivatives in directions."""
        ...

    def together(self, given: Mapping[int, FloatArray | float], count: int, t: float, directions: Sequence[Direction]) -> ManyStarts | None:
        """The same for many runs at once, initial actions carried out; None where that can only be asked of one after the other."""
        ...

    def doubtful(self, given: Mapping[int, FloatArray | float], count: int) -> NDArray[np.bool_] | None:
        """Of many runs those that the model may have something against; None where that can only be asked of one after the other."""
        ...

    def periods(self, p: FloatArray) -> FloatArray:
        """Of every time event its constant period; NaN where it has none."""
        ...

    @property
    def compares(self) -> bool:
        """Whether there are start values of which only a consistent start tells whether they hold."""
        ...

    @property
    def guesses(self) -> Mapping[int, bool]:
        """Unknowns whose start values give way to a mode that forces them, by place; whether somebody wrote one down."""
        ...

    def contradiction(self, at: Point, rtol: float) -> Contradiction | None:
        """Which of those that must hold does not, if any."""
        ...

    def unused(self, at: Point) -> list[str]:
        """A sentence for each of those that were given and do not hold, though nothing says that they must."""
        ...


@dataclass(frozen=True, eq=False)
class Contradiction:
    """A start value that must hold and does not: a sentence, where the variable is declared, what to try."""

    sentence: str
    origin: Origin | None
    hint: str


@dataclass(frozen=True, eq=False)
class Said:
    """Sentences, whether the run ends, and whether that is a failure."""

    messages: tuple[str, ...]
    terminates: bool
    fails: bool = False


class Actions(Protocol):
    """What is done once, at the start or the end of a run."""

    @property
    def assigns(self) -> bool:
        """Whether it gives new values."""
        ...

    @property
    def says(self) -> bool:
        """Whether it says something, or ends the run."""
        ...

    @property
    def asks(self) -> bool:
        """Whether something is said under a condition."""
        ...

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Of the assignments."""
        ...

    def assigned(self, at: Point) -> FloatArray:
        """Unknowns and discrete variables afterwards."""
        ...

    def moves(self, at: Point, moves: FloatArray, directions: Sequence[Direction]) -> FloatArray:
        """Their derivatives afterwards from those before, (directions, values)."""
        ...

    def said(self, at: Point | None) -> Said:
        """What is said; conditions, if there are any, are asked at a point."""
        ...


class Words(Protocol):
    """What guards and clauses are called. It holds no machine code: event logs keep it."""

    def origin(self, guard: int) -> Origin | None:
        """Where the relation was written."""
        ...

    def relation(self, guard: int, *, holds: bool = True) -> str:
        """The relation that holds, in the direction in which it was written."""
        ...

    def piece(self, guard: int, before: float, after: float) -> str:
        """Which edge of a table, or which integer, was passed."""
        ...

    def whole(self, guard: int) -> str:
        """Of what a whole part is taken; empty where there is none."""
        ...

    def clause(self, event_action: int) -> str:
        """A clause by its name, with its conditions and where it stands."""
        ...

    def mattered(self, guard: int, p: FloatArray, m: FloatArray) -> bool:
        """Whether the guard is on the active path with these modes and discrete variables."""
        ...

    def asked(self) -> tuple[IntArray, IntArray]:
        """Where in p and in m all that ``mattered`` looks at stands."""
        ...

    def read(self, guard: int) -> frozenset[str]:
        """Names of what stands in the relation."""
        ...

    def influenced(self, guard: int, event_action: int = -1) -> frozenset[str]:
        """Names of all columns that depend on a relation, or (guard -1) on what a clause assigns, directly or through others."""
        ...


@dataclass(frozen=True, eq=False)
class Trouble:
    """An equation that is not finite: how it is called, what it gives, what it says, and where it was written.

    Parameters
    ----------
    ended : the statement of the user's function that raises an exception there.
    """

    label: str
    number: float
    text: str
    origin: Origin
    ended: Origin | None = None


@dataclass(frozen=True, eq=False)
class Disagreement:
    """Two clauses, by number, and the values that they give one variable."""

    target: str
    event_actions: tuple[int, int]
    values: tuple[float, float]


class Diagnosis(Protocol):
    """What is found out about a failure, at the point at which a run stands."""

    def not_finite(self, at: Point) -> Trouble | None:
        """An equation that is not finite."""
        ...

    def not_finite_near(self, at: Point) -> Trouble | None:
        """An equation that is finite there and not beside it; None where nothing is known."""
        ...

    def source(self, what: Literal["rhs", "conditions"]) -> str:
        """What computes right sides or conditions, where that has a name of its own; else empty."""
        ...

    def missing_connection(self, loose: Sequence[str]) -> str:
        """What to try where these unknowns are not determined; empty where nothing is known."""
        ...

    def not_a_number(self, at: Point, suspected: int) -> int:
        """A guard that matters and is NaN, or is the suspected one; -1 for none."""
        ...

    def divisor(self, at: Point, number: int) -> Trouble | None:
        """An equation that divides by the divisor of this number, and how that reads; None where nothing is known."""
        ...

    def suspect(self, at: Point) -> Origin | None:
        """The first equation near the end of its domain."""
        ...

    def disagreement(self, at: Point) -> Disagreement | None:
        """Two clauses, whose flags are set in m, that give a variable different values."""
        ...


class LookBack(Protocol):
    """What the equations read of the past."""

    @property
    def unknowns(self) -> Sequence[int]:
        """Indices of the unknowns whose past is read."""
        ...

    @property
    def whens(self) -> Sequence[int]:
        """For each delay the unknown that says which time is read; -1 where it is as long ago all the time."""
        ...

    def times(self, p: FloatArray) -> FloatArray:
        """How long ago, for each delay; UsageError where that is not positive."""
        ...

    def rates(self, p: FloatArray, directions: Sequence[Mapping[int, float]]) -> FloatArray:
        """How these times move in directions of the parameters, (delays, directions)."""
        ...


@dataclass(frozen=True, eq=False)
class CompiledModel:
    """One model as flat native functions.

    Parameters
    ----------
    name, time_unit, constants : of the model.
    layout : order of the vectors, and what is shown.
    quantities : everything that has a name and a value.
    mass_kind : 0 unit matrix, 1 diagonal, of which the diagonal is given; 2 dense.
    sparsity : pattern of M and J; None: dense.
    mass_varies : True if M depends on modes or discrete variables.
    algebraic : True for unknowns that no derivative of enters.
    nominal : typical sizes of the unknowns, 0 where unknown.
    guards, tapes : the discontinuity functions; the nonlinear ones for intervals.
    event_actions, clocks : what can happen at events; the time events among it.
    n_conditions : of branches and remarks; n_state_conditions : how many values ``conditions`` gives behind these.
    first_equation : where the first equation was written.
    addresses : of the native functions by name; absent where there is nothing to compute.
    has_opaque : some function calls back into Python.
    has_corners : the equations hold relations that make no events, or roots of what may come to zero.
    has_bends : they hold roots of what comes down to zero and up again.
    has_branches : the equations hold relations whose changes are events; False if only clauses and outputs do.
    reads_modes : those, or relations in what relations are about; False if a change of one changes nothing that is looked at to find the others.
    reads_previous : they hold values of discrete variables before a round, which come up to the present when a round has changed them.
    has_acts : to ask bodies for new values is to carry them out: functions of the user that may remember it.
    seconds : time spent compiling.
    start, initial, final : start values, what is done at the start, at the end.
    fitting : for values of parameters that the model was not solved for, one that is; None for others.
    adjusting : what is done when parameters have been set from outside; None where nothing is.
    opening : what is done once when a run begins; resuming : when one goes on from what was saved; closing : called when it is over, with whether it
        came to its end; likewise.
    knows_memory : derivatives through what the model keeps in a memory of its own are known, those at the start by ``opening``.
    ending : why the model has ended the run, if it has more to say than its clauses; likewise.
    outputs : the outputs, and unknowns that are computed like them, as functions of what dense output holds; None where there are none.
    computed : these unknowns as functions of all unknowns of the system; None where there are none.
    followers : declared states that are none, since others determine them, each with a sentence that says by what.
    words, diagnosis : for messages.
    stops : from parameters, the start, the present and the end of the run: increasing instants that no step may pass.
    most_stops : how many these are at most.
    identity : for every variable, equation and clause a digest, by kind and name: what makes two models the same one.
    again : a function and its arguments that make the same model anew.
    keep_alive : what the addresses need.
    index_two : of an HDAE, True for unknowns of index two in the form that is integrated; None for other models.
    constraint_parts : of an HDAE, for each equation of F2 to F5 the number of its part and what messages call it.
    makes_consistent : whether values off the constraints of an HDAE are moved onto them.
    told : what statistics of a run say of the model.
    folds_names : whether names are found in other letter case, as those of blocks are.
    n_divisors, n_quotients, n_peaks : how many values ``divisors`` gives of what may come to zero, with other divisors, and altogether.
    n_powers : how many of the last ones are of high powers, behind which only flanks come.
    past : what of it the equations read; None where they read nothing.
    series : power series of the unknowns along a solution; None where the equations are not known as expressions.
    """

    name: str
    time_unit: str
    layout: Layout
    quantities: tuple[Quantity, ...]
    mass_kind: int
    sparsity: Sparsity | None
    mass_varies: bool
    algebraic: BoolArray
    nominal: FloatArray
    guards: Guards
    tapes: GuardTapes
    event_actions: tuple[EventAction, ...]
    clocks: tuple[Clock, ...]
    n_conditions: int
    n_state_conditions: int
    first_equation: Origin | None
    addresses: Mapping[str, int]
    has_opaque: bool
    seconds: float
    start: Start
    initial: Actions
    final: Actions
    outputs: OutputFormulas | None
    words: Words
    diagnosis: Diagnosis
    stops: Callable[[FloatArray, float, float, float], FloatArray]
    most_stops: int
    identity: Callable[[], dict[str, dict[str, str]]]
    again: tuple[Callable[..., CompiledModel], tuple[Any, ...]]
    computed: UnknownFormulas | None = None
    followers: Mapping[str, str] = field(default_factory=dict[str, str])
    fitting: Callable[[FloatArray], CompiledModel | None] | None = None
    has_corners: bool = False
    has_bends: bool = False
    has_branches: bool = True
    reads_modes: bool = True
    reads_previous: bool = True
    has_acts: bool = False
    adjusting: Actions | None = None
    opening: Actions | None = None
    resuming: Actions | None = None
    closing: Callable[[Point, bool], object] | None = None
    ending: Callable[[Point], str] | None = None
    knows_memory: bool = False
    keep_alive: tuple[object, ...] = ()
    constants: tuple[str, ...] = ()
    index_two: BoolArray | None = None
    constraint_parts: tuple[tuple[int, str], ...] = ()
    makes_consistent: bool = False
    told: Mapping[str, str] = field(default_factory=dict[str, str])
    folds_names: bool = False
    n_divisors: int = 0
    n_quotients: int = 0
    n_peaks: int = 0
    n_powers: int = 0
    past: LookBack | None = None
    series: PowerSeries | None = None

    @cached_property
    def located(self) -> Places:
        """Of every quantity, and of every element of one, by name."""
        return Places(self.quantities, self.folds_names)

    @property
    def forces(self) -> BoolArray:
        """True for those unknowns of index two that are no multipliers: what the user sees of them."""
        names = np.array(self.layout.unknowns, dtype=str)
        return np.zeros(len(names), dtype=bool) if self.index_two is None else self.index_two & ~np.char.startswith(names, MULTIPLIER)

    def __reduce__(self) -> tuple[Any, ...]:
        return self.again  # addresses mean nothing elsewhere; the machine code is found in the cache again

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledModel:
        return self
