"""An integrator behind its interface: the workspace of a run, the buffers it writes into, and the native loop called on them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.callbacks import OpaqueCalls, noted_in
from tidegate.compiled.one_thread import one_thread
from tidegate.compiled.workspace import FIRST_CHANGING, INDEX_OF
from tidegate.events.faint import IN_A_ROW
from tidegate.events.tolerances import SAME_TIME
from tidegate.integrators import plan_places as s
from tidegate.integrators.hybrid_loop import loop
from tidegate.integrators.interface import Counters, FloatArray, Problem, Records, Stop
from tidegate.integrators.kernel_cache import kernel
from tidegate.integrators.lay_out import Method, fill, lay_out, refill, set_stops
from tidegate.integrators.packed_run import PackedRuns
from tidegate.integrators.past_memory import past_memory
from tidegate.integrators.record_types import Written, event_type, polynomial_type, row_type
from tidegate.integrators.repeated_runs import OwnCode, RepeatedEntry
from tidegate.integrators.run_state import StateMemory
from tidegate.integrators.several_runs import Several

__all__ = ["NativeRun"]

_BUFFER_NUMBERS: Final = 1 << 16  # of each record buffer, unless a single record is larger
_FEWEST_RECORDS: Final = 64
_MOST_RECORDS: Final = 8192
_MOST_KEPT: Final = 1 << 20  # bytes
# in the order of ``Counters``, one behind the other
_FIRST_COUNTER, _LAST_COUNTER = INDEX_OF["c_steps"], INDEX_OF["c_proved"] + 1
_EVENTS: Final = INDEX_OF["c_events"]
_T, _T_END, _TIME_SIZE = (INDEX_OF[name] for name in ("t", "t_end", "time_size"))
_COUNTS: Final = tuple(INDEX_OF[name] for name in ("n_rows", "n_logged", "n_polynomials"))
_BUDGET, _NEXT_OUTPUT, _WANTS_STEP_ROWS, _IS_TERMINATED = (INDEX_OF[name] for name in ("budget", "next_output", "wants_step_rows", "is_terminated"))
_STOPS: Final = tuple(Stop(code) for code in range(len(Stop)))
# ctypes gives up the GIL during a call
_BEGIN: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 5)(loop.begin.address)
_ADVANCE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 6)(loop.advance.address)
_DISTURB: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 4)(loop.disturb.address)
_CONCLUDE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3)(loop.conclude.address)
_CONTINUE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 2)(loop.continue_from.address)
_MOVE_END: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 2)(loop.move_end.address)


class NativeRun:
    """One run by any method that fills the hooks of the loop.

    Parameters
    ----------
    problem : what to run.
    method : the method's hooks and arrays.
    """

    takes_others = True  # whether memory laid out for one problem serves another
    may_pack: bool | None = None
    packed_runs: PackedRuns | None = None

    def __init__(self, problem: Problem, method: Method) -> None:
        for entry in (loop.begin, loop.advance):  # what every run comes to: if they cannot be compiled, that can be raised here
            entry.there()
        self.problem = problem
        self.calls = OpaqueCalls()
        self._work = lay_out(problem, method)
        work = self._work
        self._past = past_memory(problem, method.degree, self)
        if self._past is not None:
            work["past"], work["first_past"] = self._past.address, problem.model.layout.first_past
        fill(work, problem)
        self._prepare_past(problem)
        # single entries by their places: at every event of a process some ten of them are read and set
        self._integers: Any = memoryview(work.h)
        self._reals: Any = memoryview(work.r)
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
        written = zip(_COUNTS, (self._rows, self._log, self._polynomials), strict=True)
        self._written = [(count, memoryview(buffer.view(np.uint8)), buffer.dtype) for count, buffer in written]
        self._fresh = [(block, block.copy()) for block in work.lasting]
        self._alone: AbstractContextManager[None] = one_thread() if work["dgetrf"] else nullcontext()
        self._is_simple = not work["dgetrf"] and not problem.model.has_opaque
        self._y, self._p, self._m, self._held = (work.numbers(name) for name in ("y", "p", "m", "held"))
        self._kept = StateMemory(work)
        n_y, n_d = len(self._y), len(problem.model.layout.discretes)
        body = work.numbers("body")
        self._new = body[:n_y], body[n_y : n_y + n_d], work.numbers("p_new")

    def _prepare_past(self, problem: Problem) -> None:
        if self._past is not None:
            # what a step reads must be known: no step is longer than the shortest delay
            self._work["step_max"] = min(problem.step_max, self._past.prepare(problem, int(self._work["stages_wanted"]) + 2))

    def _ask_for(self, times: FloatArray) -> None:
        if times is not self._times:
            self._times = np.ascontiguousarray(times)
            self._times_at = self._times.ctypes.data
            self._work["n_asked"] = len(self._times)
            if self.packed_runs is not None:
                self.packed_runs.ask_for(self._times_at)
        self._integers[_NEXT_OUTPUT] = 0

    def reset(self) -> None:
        """Go back to before ``start``, to run the same problem again without setting it up again."""
        for block, fresh in self._fresh:
            block[:] = fresh
        if self.calls.count or self.calls.error is not None:
            self.calls = OpaqueCalls()

    def take(self, problem: Problem) -> bool:
        """Be a run of the same model with other values of its parameters, from before ``start`` on; False if that is not so.

        Parameters
        ----------
        problem : with the same options.
        """
        old = self.problem
        if not self.takes_others or problem.model is not old.model or problem.directions != old.directions:
            return False
        self.be(problem)
        return True

    def be(self, problem: Problem) -> None:
        """Be a run of the same model, for which there is the same memory, from before ``start`` on."""
        self.reset()
        self.problem = problem
        refill(self._work, problem)
        self._prepare_past(problem)
        self._ask_for(problem.output_times)
        for block, fresh in self._fresh:
            fresh[:] = block

    @property
    def outlives_run(self) -> bool:
        """Whether this memory is small enough to be kept for whoever runs the model next, and belongs to nobody's functions."""
        return self.takes_others and self._is_simple and self._past is None and self._work.r.nbytes <= _MOST_KEPT

    def start(self) -> Stop:
        """Find consistent start values; Stop.LIMIT if the run may go on."""
        if self.problem.resume is not None:
            self._restore(self.problem.resume)
            code = self._enter(_CONTINUE)
        else:
            code = self._enter(_BEGIN, *self._buffers[:2], self._times_at)
        return _STOPS[code] if code else Stop.LIMIT

    def advance(self, budget: int) -> Stop:
        """Run natively for at most ``budget`` steps."""
        if self._past is not None:
            self._past.make_room()
        self._integers[_BUDGET] = budget
        return _STOPS[self._enter(_ADVANCE, *self._buffers, self._times_at)]

    def go_on_with(self, several: Several, steps: int) -> bool:
        """Carry out runs of other parameters one after the other, natively for about so many steps; True when all are over.

        The run that this memory was laid out for is to be ``reset`` before it starts.
        """
        plan = several.plan
        if not plan[s.N_FRESH_NUMBERS]:
            self.begin_with(several)
        plan[[s.STEPS_LEFT, s.USED_ROWS, s.USED_LOG]] = steps, 0, 0
        code = self._enter(self._run_several, plan.ctypes.data)
        for buffer, place, target in ((self._rows, s.USED_ROWS, several.rows), (self._log, s.USED_LOG, several.log)):
            if plan[place]:
                target.append(buffer[: plan[place]].copy())
        return _STOPS[code] is Stop.TARGET

    @cached_property
    def _run_several(self) -> RepeatedEntry:
        return RepeatedEntry(self._work, kernel("tidegate.integrators.hybrid_loop.several").run_several, self.integers_at_start)

    @property
    def integers_at_start(self) -> NDArray[np.int64]:
        """What stands in the integer memory before a run."""
        integers, fresh = self._work.h.copy(), self._fresh[0][1]
        integers[FIRST_CHANGING : FIRST_CHANGING + len(fresh)] = fresh
        return integers

    def give(self, several: Several) -> None:
        """Give these runs what was written down of them: it has been, step for step."""

    def begin_with(self, several: Several) -> None:
        """Put into a plan what this memory and its model say."""
        plan = several.plan
        (_, integers), (_, numbers) = self._fresh
        plan[[s.N_FRESH_INTEGERS, s.N_FRESH_NUMBERS]] = len(integers), len(numbers)
        plan[[s.AT_FRESH_INTEGERS, s.AT_FRESH_NUMBERS]] = integers.ctypes.data, numbers.ctypes.data
        plan[[s.AT_ROWS, s.AT_LOG, s.AT_POLYNOMIALS]] = self._buffers
        plan[[s.AT_TIMES, s.ROOM_ROWS, s.ROOM_LOG]] = self._times_at, len(self._rows), len(self._log)

    def pack_runs(self) -> PackedRuns | None:
        """Make runs in this memory one call each, from the start to the end, if they can be."""
        if not self._is_simple or self._past is not None or not self.takes_others:
            self.may_pack = False
            return None
        fresh, kinds = [fresh for _, fresh in self._fresh], [kind for _, _, kind in self._written]
        own_code = OwnCode(self._work, self.integers_at_start)
        n_recorded = self.problem.model.layout.n_recorded
        self.packed_runs = packed = PackedRuns(self._workspace, fresh, self._buffers, kinds, n_recorded, own_code)
        packed.ask_for(self._times_at)
        return packed

    def go_on_as(self, method: Method) -> Stop:
        """Let another method go on from here, for which there is memory, until ``reset``; Stop.LIMIT if it can."""
        for name, value in (method.hooks | method.facts).items():
            self._work[name] = value
        code = self._enter(_CONTINUE)
        return _STOPS[code] if code else Stop.LIMIT

    def _enter(self, entry: Any, *buffers: int) -> int:
        """What a kernel entry answers."""
        if self._is_simple:
            return entry(*self._workspace, *buffers)
        with self._alone, noted_in(self.calls):
            return entry(*self._workspace, *buffers)

    def set_end(self, t_end: float, output_times: FloatArray | None = None) -> None:
        """Move the end of the run; with ``output_times`` also what is still to be recorded."""
        self._reals[_T_END] = t_end
        set_stops(self._work, self.problem)
        if output_times is not None:
            self._ask_for(output_times)
        self._enter(_MOVE_END)

    def want_step_rows(self, are_wanted: bool) -> None:
        """From now on rows are written at steps, or are not."""
        self._integers[_WANTS_STEP_ROWS] = are_wanted

    def disturb(self, y: FloatArray, discretes: FloatArray, p: FloatArray) -> Stop:
        """Put other values at the current point and carry out the event that follows; Stop.LIMIT if the run may go on."""
        for place, values in zip(self._new, (y, discretes, p), strict=True):
            place[:] = values
        if len(self.problem.sensitivity_parameters):
            # what the user sets no longer depends on parameters
            changed = y != self.y
            self.sensitivities[:, changed] = 0.0
            first = int(self._work["first_discrete"])
            self.discrete_sensitivities[:, discretes != self.m[first : first + len(discretes)]] = 0.0
        if self._past is not None and not np.array_equal(p, self.p):
            self._work["step_max"] = self._past.set_times(p, self.problem.step_max)
        code = self._enter(_DISTURB, *self._buffers[:2])
        return _STOPS[code] if code else Stop.LIMIT

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
        return bool(self._integers[_IS_TERMINATED])

    def reopen(self) -> None:
        """Go on behind the event at which the model has ended the run."""
        self._integers[_IS_TERMINATED] = 0

    @property
    def held(self) -> FloatArray:
        """1 for every condition of a clause that has held since the start of the run, where the clause has not happened either."""
        return self._held

    def state(self) -> Mapping[str, FloatArray]:
        """Everything another run needs to go on from here, whatever its method."""
        state = self._kept.copy()
        return state if self._past is None else {**state, **self._past.state()}

    def _restore(self, state: Mapping[str, FloatArray]) -> None:
        self._kept.put(state)
        self._work["time_size"] = abs(self._work["t_start"])
        if self._past is not None:
            self._work.numbers("m")[self._work["first_past"]] = float(self._past.address)
            self._past.restore(state)

    def collect(self, records: Records) -> None:
        """Move what was written down to ``records``."""
        integers = self._integers
        if not (integers[_COUNTS[0]] or integers[_COUNTS[1]] or integers[_COUNTS[2]]):
            return
        for (place, memory, kind), target in zip(self._written, (records.rows, records.log, records.polynomials), strict=True):
            count = integers[place]
            if count > 0:
                # as plain bytes: numpy copies records field by field, and asks of every view whether it is safe
                target.append(np.ndarray(count, kind, bytearray(memory[: count * kind.itemsize])))
                integers[place] = 0

    def discard(self) -> None:
        """Forget what was written down."""
        for place in _COUNTS:
            self._integers[place] = 0

    @property
    def time(self) -> float:
        """Current simulated time; the end of the run where only rounding is between."""
        numbers = self._reals
        now, end = numbers[_T], numbers[_T_END]
        return end if now >= end or end - now <= SAME_TIME * max(abs(now), numbers[_TIME_SIZE]) else now

    @property
    def counters(self) -> Counters:
        """What has been done."""
        return tuple.__new__(Counters, self._integers[_FIRST_COUNTER:_LAST_COUNTER].tolist())  # `_make` takes twice as long

    @property
    def steps(self) -> int:
        """How many have been made."""
        return self._integers[_FIRST_COUNTER]

    @property
    def events(self) -> int:
        """How many there have been."""
        return self._integers[_EVENTS]

    @property
    def y(self) -> FloatArray:
        """Current unknowns."""
        return self._y

    @property
    def p(self) -> FloatArray:
        """Parameters."""
        return self._p

    @property
    def loosely_held(self) -> list[int]:
        """Unknowns whose absolute tolerance is no small part of their size."""
        return np.flatnonzero(self._work.integers("is_loose")).tolist() if self._work["n_loose"] else []

    @property
    def faint_crossings(self) -> list[tuple[int, int, float]]:
        """Guards that crossed by motion within the tolerances: which, how often with an event, since when."""
        counts, since = self._work.integers("faint_events"), self._work.numbers("faint_since")
        told = np.flatnonzero(counts >= IN_A_ROW).tolist() if self._work["n_faint"] else []
        return [(guard, int(counts[guard]), float(since[guard])) for guard in told]

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
        return self._m

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
    def not_tied(self) -> tuple[int, int, float]:
        """Why a mode that ties states was not integrated; the unknown that it would have moved, and to what."""
        return int(self._work["not_forced_why"]), int(self._work["forced_unknown"]), float(self._work["forced_value"])

    @property
    def drift(self) -> FloatArray:
        """How large the constraints of an HDAE, its F4 and F5, have been at the ends of steps."""
        return self._work.numbers("drift")

    @property
    def off_constraints(self) -> tuple[int, bool, float]:
        """The constraint that an event has left, whether the derivatives by parameters have left it, and by how much."""
        return int(self._work["off_constraint"]), bool(self._work["off_why"]), float(self._work["off_by"])

    @property
    def failed_guard(self) -> int:
        """The guard for which the event iteration at one instant did not converge, or -1."""
        return int(self._work["failed_guard"])

    @property
    def failed_divisor(self) -> tuple[int, float]:
        """The divisor that comes to zero, and when."""
        return int(self._work["failed_divisor"]), float(self._work["pole_time"])

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
