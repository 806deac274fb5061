"""An integrator behind its interface: the workspace of a run, the buffers it writes into, and the native loop called on them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Final

import numpy as np

from tidegate.compiled.callbacks import OpaqueCalls, noted_in
from tidegate.compiled.one_thread import one_thread
from tidegate.compiled.workspace import indices_of
from tidegate.events.tolerances import SAME_TIME
from tidegate.integrators.hybrid_loop import loop
from tidegate.integrators.interface import Counters, FloatArray, Problem, Records, Stop
from tidegate.integrators.lay_out import Method, fill, lay_out, set_stops
from tidegate.integrators.record_types import Written, event_type, polynomial_type, row_type

__all__ = ["NativeRun"]

_BUFFER_NUMBERS: Final = 1 << 16  # of each record buffer, unless a single record is larger
_FEWEST_RECORDS: Final = 64
_MOST_RECORDS: Final = 2048
_COUNTERS: Final = indices_of(
    ["c_steps", "c_rejected", "c_rhs", "c_jacobian", "c_factor", "c_newton", "c_newton_failed", "c_events", "c_flips", "c_resteps", "c_undecided"]
)
_TIMES: Final = indices_of(["t", "t_end", "time_size"])
_COUNTS: Final = indices_of(["n_rows", "n_logged", "n_polynomials"])
# ctypes gives up the GIL during a call
_BEGIN: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 5)(loop.begin.address)
_ADVANCE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 6)(loop.advance.address)
_DISTURB: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 4)(loop.disturb.address)
_CONCLUDE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3)(loop.conclude.address)
_CONTINUE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 2)(loop.continue_from.address)
_MOVE_END: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 2)(loop.move_end.address)
# what a continuation needs besides arrays: numbers, then integers
_STATE: Final = {
    "unknowns": "y",
    "parameters": "p",
    "modes": "m",
    "largest": "y_max",
    "conditions": "conditions",
    "held": "held",
    "sensitivities": "sens",
    "discrete_sensitivities": "sens_discrete",
}
_PROGRESS: Final = (
    "t", "t_start", "step_new", "last_event", "last_interval", "interval_2", "interval_3", "last_factor", "shrink_from",
    "is_terminated", "same_time", "still_events", "shrinking",
)  # fmt: skip


class NativeRun:
    """One run by any method that fills the hooks of the loop.

    Parameters
    ----------
    problem : what to run.
    method : the method's hooks and arrays.
    """

    def __init__(self, problem: Problem, method: Method) -> None:
        self.problem = problem
        self.calls = OpaqueCalls()
        self._work = lay_out(problem, method)
        work = self._work
        fill(work, problem)
        self._rows = _buffer(row_type(problem))
        self._log = _buffer(event_type(problem))
        polynomial = polynomial_type(problem, method.degree)
        self._polynomials = _buffer(polynomial) if problem.keep_polynomials else np.zeros(2, polynomial)
        work["keeps_polynomials"] = problem.keep_polynomials
        for name, buffer in (("rows", self._rows), ("log", self._log), ("polynomials", self._polynomials)):
            work[f"room_{name}"], work[f"wide_{name}"] = len(buffer), buffer.dtype.itemsize // 8
        self._times: FloatArray | None = None
        self._ask_for(problem.output_times)
        self._workspace = (work.h.ctypes.data, work.r.ctypes.data)
        work["address_h"], work["address_r"] = self._workspace
        self._buffers = (self._rows.ctypes.data, self._log.ctypes.data, self._polynomials.ctypes.data)
        self._numbers = [(buffer.view(np.float64).reshape(-1), buffer.dtype) for buffer in (self._rows, self._log, self._polynomials)]
        self._fresh = [block.copy() for block in work.lasting]
        self._alone: AbstractContextManager[None] = one_thread() if work["dgetrf"] else nullcontext()

    def _ask_for(self, times: FloatArray) -> None:
        if times is not self._times:
            self._times = np.ascontiguousarray(times)
            self._times_at = self._times.ctypes.data
            self._work["n_asked"] = len(self._times)
        self._work["next_output"] = 0

    def reset(self) -> None:
        """Go back to before ``start``, to run the same problem again without setting it up again."""
        for block, fresh in zip(self._work.lasting, self._fresh, strict=True):
            block[:] = fresh
        self.calls = OpaqueCalls()

    def start(self) -> Stop:
        """Find consistent start values; Stop.LIMIT if the run may go on."""
        with self._alone, noted_in(self.calls):
            if self.problem.resume is not None:
                self._restore(self.problem.resume)
                code = _CONTINUE(*self._workspace)
            else:
                code = _BEGIN(*self._workspace, *self._buffers[:2], self._times_at)
        return Stop(code) if code else Stop.LIMIT

    def advance(self, budget: int) -> Stop:
        """Run natively for at most ``budget`` steps."""
        self._work["budget"] = budget
        with self._alone, noted_in(self.calls):
            return Stop(_ADVANCE(*self._workspace, *self._buffers, self._times_at))

    def set_end(self, t_end: float, output_times: FloatArray | None = None) -> None:
        """Move the end of the run; with ``output_times`` also what is still to be recorded."""
        self._work["t_end"] = t_end
        set_stops(self._work, self.problem)
        if output_times is not None:
            self._ask_for(output_times)
        with self._alone, noted_in(self.calls):
            _MOVE_END(*self._workspace)

    def want_step_rows(self, are_wanted: bool) -> None:
        """From now on rows are written at steps, or are not."""
        self._work["wants_step_rows"] = are_wanted

    def disturb(self, y: FloatArray, discretes: FloatArray, p: FloatArray) -> Stop:
        """Put other values at the current point and carry out the event that follows; Stop.LIMIT if the run may go on."""
        new = self._work.numbers("body")
        n = len(y)
        new[:n], new[n : n + len(discretes)] = y, discretes
        self._work.numbers("p_new")[:] = p
        if len(self.problem.sensitivity_parameters):
            # what the user sets no longer depends on parameters
            changed = y != self.y
            self.sensitivities[:, changed] = 0.0
            first = int(self._work["first_discrete"])
            self.discrete_sensitivities[:, discretes != self.m[first : first + len(discretes)]] = 0.0
        with self._alone, noted_in(self.calls):
            code = _DISTURB(*self._workspace, *self._buffers[:2])
        return Stop(code) if code else Stop.LIMIT

    def conclude(self, y: FloatArray, discretes: FloatArray, dy: FloatArray, dd: FloatArray) -> tuple[Stop, np.void]:
        """The row with other values at the current point, made consistent; the run itself stays as it is.

        Parameters
        ----------
        y, discretes : values.
        dy, dd : their derivatives, (parameters, values).
        """
        work = self._work.copy()
        n = len(y)
        body = work.numbers("body")
        body[:n], body[n : n + len(discretes)] = y, discretes
        for name, slopes in (("sens", dy), ("sens_discrete", dd)):
            work.numbers(name)[: slopes.size] = slopes.ravel()
        work["address_h"], work["address_r"] = addresses = (work.h.ctypes.data, work.r.ctypes.data)
        row = np.zeros(1, self._rows.dtype)
        with noted_in(self.calls):
            code = _CONCLUDE(*addresses, row.ctypes.data)
        return Stop(code) if code else Stop.LIMIT, row[0]

    @property
    def is_terminated(self) -> bool:
        """Whether the model has ended the run."""
        return bool(self._work["is_terminated"])

    def reopen(self) -> None:
        """Go on behind the event at which the model has ended the run."""
        self._work["is_terminated"] = 0

    @property
    def held(self) -> FloatArray:
        """1 for every condition of a clause that has held since the start of the run, where the clause has not happened either."""
        return self._work.numbers("held")

    def state(self) -> dict[str, FloatArray]:
        """Everything another run needs to go on from here, whatever its method."""
        arrays = {name: self._work.numbers(array).copy() for name, array in _STATE.items()}
        return arrays | {"progress": np.array([float(self._work[name]) for name in _PROGRESS])}

    def _restore(self, state: Mapping[str, FloatArray]) -> None:
        for name, array in _STATE.items():
            self._work.numbers(array)[:] = np.ravel(state[name]) if name in state else 0.0
        for name, value in zip(_PROGRESS, state["progress"].tolist(), strict=True):
            self._work[name] = value
        self._work["time_size"] = abs(self._work["t_start"])

    def collect(self, records: Records) -> None:
        """Move what was written down to ``records``."""
        integers = self._work.h
        counts = integers[_COUNTS].tolist()
        for count, (numbers, kind), target in zip(counts, self._numbers, (records.rows, records.log, records.polynomials), strict=True):
            if count > 0:
                # as plain numbers: numpy copies records field by field
                target.append(numbers[: count * (kind.itemsize // 8)].copy().view(kind))
        integers[_COUNTS] = 0

    def discard(self) -> None:
        """Forget what was written down."""
        self._work.h[_COUNTS] = 0

    @property
    def time(self) -> float:
        """Current simulated time; the end of the run where only rounding is between."""
        now, end, size = self._work.r[_TIMES].tolist()
        return end if now > end or abs(now - end) <= SAME_TIME * max(abs(now), size) else now

    @property
    def counters(self) -> Counters:
        """What has been done."""
        return Counters(*self._work.h[_COUNTERS].tolist())

    @property
    def y(self) -> FloatArray:
        """Current unknowns."""
        return self._work.numbers("y")

    @property
    def p(self) -> FloatArray:
        """Parameters."""
        return self._work.numbers("p")

    @property
    def sensitivities(self) -> FloatArray:
        """Derivatives of the unknowns, (parameters, unknowns)."""
        return self._work.numbers("sens").reshape(-1, max(len(self.y), 1))

    @property
    def discrete_sensitivities(self) -> FloatArray:
        """Derivatives of the discrete variables, (parameters, discrete variables)."""
        return self._work.numbers("sens_discrete").reshape(len(self.problem.sensitivity_parameters), len(self.problem.model.layout.discretes))

    @property
    def m(self) -> FloatArray:
        """Current modes and discrete variables."""
        return self._work.numbers("m")

    @property
    def zeno_time(self) -> float:
        """Where events accumulate."""
        return self._work["zeno_time"]

    @property
    def fired(self) -> FloatArray:
        """Which branches and time events the last event carried out."""
        return self._work.numbers("fired")

    @property
    def lacks_room(self) -> bool:
        """Whether sparse factors did not fit into their memory."""
        return bool(self._work["lacks_room"])

    @property
    def failed_guard(self) -> int:
        """The guard for which the event iteration at one instant did not converge, or -1."""
        return int(self._work["failed_guard"])

    @property
    def stopped_clock(self) -> tuple[int, float]:
        """Which time event would not happen again, and its next time."""
        clock = int(self._work["cause_item"])
        return clock, float(self._work.numbers("times")[int(self._work["n_guards"]) + clock])

    @property
    def remark(self) -> str:
        """What the method itself says about a failure, if anything."""
        return ""


def _buffer(kind: np.dtype[np.void]) -> Written:
    return np.zeros(min(_MOST_RECORDS, max(_FEWEST_RECORDS, _BUFFER_NUMBERS * 8 // kind.itemsize)), kind)
