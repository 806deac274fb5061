"""An integrator behind its interface: the workspace of a run, the buffers it writes into, and the native loop called on them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Final

import numpy as np

from tidegate.compiled import workspace as w
from tidegate.compiled.one_thread import one_thread
from tidegate.compiled.opaque import OpaqueCalls, noted_in
from tidegate.integrators import loop
from tidegate.integrators.interface import Counters, FloatArray, Problem, Records, Stop
from tidegate.integrators.lay_out import Method, fill, lay_out, record_sizes, set_stops

__all__ = ["NativeRun"]

_SAME_TIME: Final = 8 * 2.0**-52  # as in events/schedule
_BUFFER_NUMBERS: Final = 1 << 16  # of each record buffer, unless a single record is larger
_FEWEST_RECORDS: Final = 64
_MOST_RECORDS: Final = 2048
_COUNTERS: Final = (
    w.C_STEPS,
    w.C_REJECTED,
    w.C_RHS,
    w.C_JACOBIAN,
    w.C_FACTOR,
    w.C_NEWTON,
    w.C_NEWTON_FAILED,
    w.C_EVENTS,
    w.C_FLIPS,
    w.C_RESTEPS,
    w.C_UNDECIDED,
)
# ctypes gives up the GIL during a call
_BEGIN: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 5)(loop.begin.address)
_ADVANCE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 6)(loop.advance.address)
_DISTURB: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 4)(loop.disturb.address)
_CONCLUDE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3)(loop.conclude.address)
_CONTINUE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 2)(loop.continue_from.address)
_MOVE_END: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 2)(loop.move_end.address)
# what a continuation needs besides arrays: numbers, then whole numbers
_STATE: Final = {
    "unknowns": w.O_Y,
    "parameters": w.O_P,
    "modes": w.O_M,
    "largest": w.O_YMAX,
    "conditions": w.O_COND,
    "held": w.O_HELD,
    "sensitivities": w.O_S,
    "discrete_sensitivities": w.O_D,
}
_STATE_NUMBERS: Final = (
    w.T, w.T_START, w.STEP_NEW, w.LAST_EVENT, w.LAST_INTERVAL, w.INTERVAL_2, w.INTERVAL_3, w.LAST_FACTOR, w.SHRINK_FROM,
)  # fmt: skip
_STATE_WHOLE: Final = (w.IS_TERMINATED, w.SAME_TIME, w.STILL_EVENTS, w.SHRINKING)


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
        h, r = self._work.h, self._work.r
        fill(self._work, problem)
        sizes = record_sizes(problem, method.degree)
        self._rows = _buffer(sizes[0])
        self._log = _buffer(sizes[1])
        self._polynomials = _buffer(sizes[2]) if problem.keep_polynomials else np.zeros((2, 1))
        h[w.KEEP_POLYNOMIALS] = problem.keep_polynomials
        h[w.ROOM_ROWS], h[w.ROOM_LOG], h[w.ROOM_POLYNOMIALS] = (len(b) for b in (self._rows, self._log, self._polynomials))
        h[w.WIDE_ROWS], h[w.WIDE_LOG], h[w.WIDE_POLYNOMIALS] = (b.shape[1] for b in (self._rows, self._log, self._polynomials))
        self._ask_for(problem.output_times)
        self._h, self._r = h, r
        self._workspace = (h.ctypes.data, r.ctypes.data)
        h[w.ADDRESS_H], h[w.ADDRESS_R] = self._workspace
        self._buffers = (self._rows.ctypes.data, self._log.ctypes.data, self._polynomials.ctypes.data)
        self._fresh = (h.copy(), r.copy())
        self._alone: AbstractContextManager[None] = one_thread() if h[w.L_DGETRF] else nullcontext()

    def _ask_for(self, times: FloatArray) -> None:
        self._times = np.ascontiguousarray(times)
        self._work.h[w.N_ASKED] = len(self._times)
        self._work.h[w.NEXT_OUTPUT] = 0

    def reset(self) -> None:
        """Go back to before ``start``, to run the same problem again without setting it up again."""
        self._h[:], self._r[:] = self._fresh

    def start(self) -> Stop:
        """Find consistent start values; Stop.LIMIT if the run may go on."""
        with self._alone, noted_in(self.calls):
            if self.problem.resume is not None:
                self._restore(self.problem.resume)
                code = _CONTINUE(*self._workspace)
            else:
                code = _BEGIN(*self._workspace, *self._buffers[:2], self._times.ctypes.data)
        return Stop(code) if code else Stop.LIMIT

    def advance(self, budget: int) -> Stop:
        """Run natively for at most ``budget`` steps."""
        self._h[w.BUDGET] = budget
        with self._alone, noted_in(self.calls):
            return Stop(_ADVANCE(*self._workspace, *self._buffers, self._times.ctypes.data))

    def set_end(self, t_end: float, output_times: FloatArray | None = None) -> None:
        """Move the end of the run; with ``output_times`` also what is still to be recorded."""
        self._r[w.T_END] = t_end
        set_stops(self._work, self.problem)
        if output_times is not None:
            self._ask_for(output_times)
        with self._alone, noted_in(self.calls):
            _MOVE_END(*self._workspace)

    def disturb(self, y: FloatArray, discretes: FloatArray, p: FloatArray) -> Stop:
        """Put other values at the current point and carry out the event that follows; Stop.LIMIT if the run may go on."""
        new = self._work.view(w.O_BODY)
        n = len(y)
        new[:n], new[n : n + len(discretes)] = y, discretes
        self._work.view(w.O_PNEW)[:] = p
        # what the user sets no longer depends on parameters
        changed = y != self.y
        self.sensitivities[:, changed] = 0.0
        first = int(self._h[w.FIRST_DISCRETE])
        self.discrete_sensitivities[:, discretes != self.m[first : first + len(discretes)]] = 0.0
        with self._alone, noted_in(self.calls):
            code = _DISTURB(*self._workspace, *self._buffers[:2])
        return Stop(code) if code else Stop.LIMIT

    def conclude(self, y: FloatArray, discretes: FloatArray, dy: FloatArray, dd: FloatArray) -> tuple[Stop, FloatArray]:
        """The row with other values at the current point, made consistent; the run itself stays as it is.

        Parameters
        ----------
        y, discretes : values.
        dy, dd : their derivatives, (parameters, values).
        """
        h, r = self._h.copy(), self._r.copy()
        n = len(y)
        first = int(h[w.O_BODY])
        r[first : first + n], r[first + n : first + n + len(discretes)] = y, discretes
        for place, slopes in ((w.O_S, dy), (w.O_D, dd)):
            r[h[place] : h[place] + slopes.size] = slopes.ravel()
        h[w.ADDRESS_H], h[w.ADDRESS_R] = h.ctypes.data, r.ctypes.data
        row = np.zeros(self._rows.shape[1])
        with noted_in(self.calls):
            code = _CONCLUDE(h.ctypes.data, r.ctypes.data, row.ctypes.data)
        return Stop(code) if code else Stop.LIMIT, row

    @property
    def held(self) -> FloatArray:
        """1 for every condition of a clause that has held since the start of the run, where the clause has not happened either."""
        return self._work.view(w.O_HELD)

    def state(self) -> dict[str, FloatArray]:
        """Everything another run needs to go on from here, whatever its method."""
        arrays = {name: self._work.view(place).copy() for name, place in _STATE.items()}
        numbers = [self._r[k] for k in _STATE_NUMBERS] + [float(self._h[k]) for k in _STATE_WHOLE]
        return arrays | {"progress": np.array(numbers)}

    def _restore(self, state: Mapping[str, FloatArray]) -> None:
        for name, place in _STATE.items():
            self._work.view(place)[:] = np.ravel(state[name]) if name in state else 0.0
        progress = state["progress"]
        count = len(_STATE_NUMBERS)
        self._r[list(_STATE_NUMBERS)] = progress[:count]
        self._h[list(_STATE_WHOLE)] = progress[count:].astype(np.int64)
        self._r[w.TIME_SIZE] = abs(self._r[w.T_START])

    def collect(self, records: Records) -> None:
        """Move what was written down to ``records``."""
        h = self._h
        for count, buffer, target in (
            (w.N_ROWS, self._rows, records.rows),
            (w.N_LOGGED, self._log, records.log),
            (w.N_POLYNOMIALS, self._polynomials, records.polynomials),
        ):
            if h[count] > 0:
                target.append(buffer[: h[count]].copy())
                h[count] = 0

    @property
    def time(self) -> float:
        """Current simulated time; the end of the run where only rounding is between."""
        now, end, size = (float(self._r[k]) for k in (w.T, w.T_END, w.TIME_SIZE))
        return end if now > end or abs(now - end) <= _SAME_TIME * max(abs(now), size) else now

    @property
    def counters(self) -> Counters:
        """What has been done."""
        return Counters(*(int(self._h[place]) for place in _COUNTERS))

    @property
    def y(self) -> FloatArray:
        """Current unknowns."""
        return self._work.view(w.O_Y)

    @property
    def p(self) -> FloatArray:
        """Parameters."""
        return self._work.view(w.O_P)

    @property
    def sensitivities(self) -> FloatArray:
        """Derivatives of the unknowns, (parameters, unknowns)."""
        return self._work.view(w.O_S).reshape(-1, max(len(self.y), 1))

    @property
    def discrete_sensitivities(self) -> FloatArray:
        """Derivatives of the discrete variables, (parameters, discrete variables)."""
        return self._work.view(w.O_D).reshape(len(self.problem.sensitivity_parameters), len(self.problem.model.layout.discretes))

    @property
    def m(self) -> FloatArray:
        """Current modes and discrete variables."""
        return self._work.view(w.O_M)

    @property
    def zeno_time(self) -> float:
        """Where events accumulate."""
        return float(self._r[w.ZENO_TIME])

    @property
    def fired(self) -> FloatArray:
        """Which branches and time events the last event carried out."""
        return self._work.view(w.O_FIRED)

    @property
    def failed_guard(self) -> int:
        """The guard that did not come to rest at one instant, or -1."""
        return int(self._h[w.FAILED_GUARD])

    @property
    def stopped_clock(self) -> tuple[int, float]:
        """Which time event would not happen again, and its next time."""
        clock = int(self._h[w.CAUSE_ITEM])
        return clock, float(self._work.view(w.O_TIMES)[self._h[w.N_G] + clock])

    @property
    def remark(self) -> str:
        """What the method itself says about a failure, if anything."""
        return ""


def _buffer(width: int) -> FloatArray:
    count = min(_MOST_RECORDS, max(_FEWEST_RECORDS, _BUFFER_NUMBERS // max(width, 1)))
    return np.zeros((count, width))
