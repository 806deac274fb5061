"""What the executive needs of an integrator, whatever its method."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.callbacks import OpaqueCalls
from tidegate.compiled.compiled_model import CompiledModel, Direction
from tidegate.integrators.packed_run import PackedRuns
from tidegate.integrators.several_runs import Several
from tidegate.quick_dataclass import dataclass

__all__ = ["Counters", "Problem", "Records", "StepIntegrator", "Stop"]

FloatArray = NDArray[np.float64]


class Stop(enum.Enum):
    """Why ``advance`` came back."""

    TARGET = 0
    LIMIT = 1
    TERMINATED = 2
    NOT_FINITE = 3
    STEP_TOO_SMALL = 4
    SINGULAR = 5
    RESTART_FAILED = 6
    UNSETTLED = 7
    CHATTERING = 8
    ZENO = 9
    CONFLICT = 10
    CLOCK_STOPPED = 11
    UNDECIDED_GUARD = 12
    NO_SENSITIVITIES = 13
    OFF_CONSTRAINTS = 14
    POLE = 15
    DELAY_VANISHED = 16
    ANOTHER_METHOD = 17


@dataclass(frozen=True, eq=False)
class Problem:
    """One run: a compiled model with everything the caller chose.

    Parameters
    ----------
    model : the compiled model.
    t_start, t_end : interval.
    y, m, p : start vectors.
    rtol : relative tolerance; atol : absolute, one an unknown.
    goes_by_size : of which unknowns the absolute tolerance is that of one of the size of one, and follows their own size.
    step_max, first_step : limits; first_step 0 for the method's own guess.
    sensitivity_parameters : indices in p.
    directions : for each of them the rates at which all parameters move with it.
    dy_dp, dd_dp : derivatives of the start values, (n_s, n) and (n_s, n_d).
    output_times : increasing; empty for none.
    step_rows, event_rows : record at steps, around events.
    keep_polynomials : record the polynomial of every step.
    proves : prove of every step that no event of it was missed.
    resume : the ``state`` of an integrator, to go on from there; y, m, p and derivatives are then taken from it.
    step_min : the least step of "rke"; 0 for none.
    max_halvings, disc_halvings : of "pc": how often its step may be halved, and how many halvings tell of a discontinuity.
    """

    model: CompiledModel
    t_start: float
    t_end: float
    y: FloatArray
    m: FloatArray
    p: FloatArray
    rtol: float
    atol: FloatArray
    goes_by_size: NDArray[np.bool_]
    step_max: float
    first_step: float
    sensitivity_parameters: NDArray[np.int64]
    dy_dp: FloatArray
    dd_dp: FloatArray
    output_times: FloatArray
    step_rows: bool
    event_rows: bool
    keep_polynomials: bool
    resume: Mapping[str, FloatArray] | None = None
    step_min: float = 0.0
    max_halvings: int = 30
    disc_halvings: int = 10
    directions: Sequence[Direction] = ()
    proves: bool = False

    def altered(self, **values: Any) -> Self:
        """The same with other values, as ``dataclasses.replace`` makes it in 15 times the time: a user's hand changes some at every exchange."""
        other = object.__new__(type(self))
        vars(other).update(vars(self), **values)
        return other


class Counters(NamedTuple):
    """What the method has done so far."""

    steps: int
    rejected: int
    evaluations: int
    jacobians: int
    factorizations: int
    newton_iterations: int
    newton_failures: int
    events: int
    flips: int
    resteps: int
    undecided: int
    examined: int
    proved: int


def _no_blocks() -> list[NDArray[np.void]]:
    return []  # as list[NDArray[np.void]]() is in ten times the time


@dataclass(eq=False)
class Records:
    """What was written down since the last visit: rows, log entries, polynomials (types in ``integrators.record_types``)."""

    rows: list[NDArray[np.void]] = field(default_factory=_no_blocks)
    log: list[NDArray[np.void]] = field(default_factory=_no_blocks)
    polynomials: list[NDArray[np.void]] = field(default_factory=_no_blocks)


class StepIntegrator(Protocol):
    """One run of one problem with one method; with another ``problem`` it starts otherwise the next time."""

    problem: Problem
    takes_others: bool
    may_pack: bool | None  # whether runs in this memory shall be one call each; None before the first
    packed_runs: PackedRuns | None  # these, once they have been asked for

    def pack_runs(self) -> PackedRuns | None:
        """Make runs in this memory one call each, from the start to the end, if they can be."""
        ...

    def go_on_with(self, several: Several, steps: int) -> bool:
        """Carry out other runs, natively for about so many steps; True when all are over.

        Only where ``takes_others``: memory laid out for one run serves others of the same model.
        """
        ...

    def give(self, several: Several) -> None:
        """Give these runs what was written down of them; to be called behind the last ``go_on_with``."""
        ...

    def reset(self) -> None:
        """Go back to before ``start``, to run the same problem again without setting it up again."""
        ...

    def take(self, problem: Problem) -> bool:
        """Be a run of the same model with other values of its parameters, from before ``start``, if that can be done without setting it up again."""
        ...

    def be(self, problem: Problem) -> None:
        """Be a run of the same model, for which there is the same memory, from before ``start`` on."""
        ...

    @property
    def outlives_run(self) -> bool:
        """Whether this memory may be kept for whoever runs the model next."""
        ...

    def start(self) -> Stop:
        """Find consistent start values; Stop.LIMIT if the run may go on, else why not."""
        ...

    def advance(self, budget: int) -> Stop:
        """Run natively for at most ``budget`` steps."""
        ...

    def set_end(self, t_end: float, output_times: FloatArray | None = None) -> None:
        """Move the end of the run, which goes on with the next ``advance``; with ``output_times`` also what is still to be recorded."""
        ...

    def want_step_rows(self, are_wanted: bool) -> None:
        """From now on rows are written at steps, or are not."""
        ...

    def disturb(self, y: FloatArray, discretes: FloatArray, p: FloatArray) -> Stop:
        """Put other values at the current point and carry out the event that follows; Stop.LIMIT if the run may go on."""
        ...

    def conclude(self, y: FloatArray, discretes: FloatArray, dy: FloatArray, dd: FloatArray) -> tuple[Stop, np.void]:
        """The row with other values at the current point, made consistent, if there is Stop.LIMIT; the run itself stays as it is."""
        ...

    @property
    def is_terminated(self) -> bool:
        """Whether the model has ended the run."""
        ...

    def reopen(self) -> None:
        """Go on behind the event at which the model has ended the run."""
        ...

    @property
    def held(self) -> FloatArray:
        """1 for every condition of a clause that has held since the start of the run, where the clause has not happened either."""
        ...

    @property
    def loosely_held(self) -> list[int]:
        """Unknowns whose absolute tolerance, which follows their size as far as it may, is no small part of that."""
        ...

    @property
    def faint_crossings(self) -> list[tuple[int, int, float]]:
        """Guards that crossed their zero by motion within the tolerances: which, how often an event came of it, and since when."""
        ...

    @property
    def sensitivities(self) -> FloatArray:
        """Derivatives of the unknowns, (parameters, unknowns)."""
        ...

    @property
    def discrete_sensitivities(self) -> FloatArray:
        """Derivatives of the discrete variables, (parameters, discrete variables)."""
        ...

    def state(self) -> Mapping[str, FloatArray]:
        """Everything another run needs to go on from here, whatever its method."""
        ...

    def collect(self, records: Records) -> None:
        """Move what was written down to ``records``."""
        ...

    def discard(self) -> None:
        """Forget what was written down."""
        ...

    @property
    def calls(self) -> OpaqueCalls:
        """What happened in this run's calls into Python."""
        ...

    @property
    def time(self) -> float:
        """Current simulated time."""
        ...

    @property
    def counters(self) -> Counters:
        """What has been done."""
        ...

    @property
    def steps(self) -> int:
        """How many have been made."""
        ...

    @property
    def events(self) -> int:
        """How many there have been."""
        ...

    @property
    def y(self) -> FloatArray:
        """Current unknowns."""
        ...

    @property
    def p(self) -> FloatArray:
        """Parameters."""
        ...

    @property
    def m(self) -> FloatArray:
        """Current modes and discrete variables."""
        ...

    @property
    def zeno_time(self) -> float:
        """Where events accumulate, after Stop.ZENO."""
        ...

    @property
    def fired(self) -> FloatArray:
        """Which branches and time events the last event carried out."""
        ...

    @property
    def lacks_room(self) -> bool:
        """Whether sparse factors did not fit into their memory."""
        ...

    @property
    def not_tied(self) -> tuple[int, int, float]:
        """Why a mode that ties states was not integrated (``events.constrain``); the unknown that it would have moved, and to what."""
        ...

    @property
    def drift(self) -> FloatArray:
        """How large each constraint of an HDAE has been at the ends of steps."""
        ...

    @property
    def off_constraints(self) -> tuple[int, bool, float]:
        """After Stop.OFF_CONSTRAINTS the constraint that an event has left, whether derivatives by parameters have left it, and by how much."""
        ...

    @property
    def failed_guard(self) -> int:
        """The guard for which the event iteration did not converge, or that cannot be bounded, or is NaN, after Stop.NOT_FINITE; -1 otherwise."""
        ...

    @property
    def failed_divisor(self) -> tuple[int, float]:
        """After Stop.POLE the divisor that comes to zero, and when."""
        ...

    @property
    def stopped_clock(self) -> tuple[int, float]:
        """Which time event would not happen again, and its next time, after Stop.CLOCK_STOPPED."""
        ...

    @property
    def remark(self) -> str:
        """What the method itself says about a failure, if anything."""
        ...
