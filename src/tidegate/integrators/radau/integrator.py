"""Radau IIA behind the interface: lays out the workspace of a run and calls the native loop."""

from __future__ import annotations

import ctypes
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled import linear
from tidegate.compiled import workspace as w
from tidegate.compiled.locking import GuardKind
from tidegate.integrators.interface import Counters, FloatArray, Problem, Records, Stop
from tidegate.integrators.kernel_cache import kernel
from tidegate.integrators.radau import advance as native

__all__ = ["RadauIntegrator", "stages_for"]

_BUFFER_NUMBERS: Final = 1 << 16  # of each record buffer, unless a single record is larger
_FEWEST_RECORDS: Final = 64
_MOST_RECORDS: Final = 2048
_GUARD_KINDS: Final = {GuardKind.RELATION: w.RELATION, GuardKind.LOWER: w.LOWER, GuardKind.UPPER: w.UPPER}
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
)
_FUNCTIONS: Final = {
    w.F_RHS: "rhs",
    w.F_RESIDUAL_T: "residual_tangent",
    w.F_JACOBIAN: "jacobian",
    w.F_MASS: "mass",
    w.F_GUARDS: "guards",
    w.F_GUARDS_T: "guards_tangent",
    w.F_SCALE: "guard_scale",
    w.F_ACTIVITY: "activity",
    w.F_CONDITIONS: "conditions",
    w.F_BODIES: "bodies",
    w.F_BODIES_T: "bodies_tangent",
    w.F_TIMES: "times",
    w.F_TIMES_T: "times_tangent",
    w.F_OUTPUTS: "outputs",
    w.F_OUTPUTS_T: "outputs_tangent",
}
# ctypes gives up the GIL during a call
_BEGIN: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 5)(native.begin.address)
_ADVANCE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 6)(native.advance.address)


def stages_for(rtol: float) -> int:
    """Number of stages by tolerance, as measured: 3 for rtol >= 1e-5, 5 to 1e-9, 7 below."""
    if rtol >= 1e-5:
        return 3
    return 5 if rtol >= 1e-9 else 7


class RadauIntegrator:
    """One run by Radau IIA.

    Parameters
    ----------
    problem : what to run.
    stages : 3, 5 or 7; None chooses by tolerance.
    """

    def __init__(self, problem: Problem, stages: int | None = None) -> None:
        self._problem = problem
        chosen = stages or stages_for(problem.rtol)
        self._work = _lay_out(problem, chosen)
        h, r = self._work.h, self._work.r
        _fill(self._work, problem)
        h[w.STAGES_WANTED] = chosen
        sizes = _record_sizes(problem)
        self._rows = _buffer(sizes[0])
        self._log = _buffer(sizes[1])
        self._polynomials = _buffer(sizes[2]) if problem.keep_polynomials else np.zeros((2, 1))
        h[w.KEEP_POLYNOMIALS] = problem.keep_polynomials
        h[w.ROOM_ROWS], h[w.ROOM_LOG], h[w.ROOM_POLYNOMIALS] = (len(b) for b in (self._rows, self._log, self._polynomials))
        h[w.WIDE_ROWS], h[w.WIDE_LOG], h[w.WIDE_POLYNOMIALS] = (b.shape[1] for b in (self._rows, self._log, self._polynomials))
        self._times = np.ascontiguousarray(problem.output_times)
        h[w.N_ASKED] = len(self._times)
        self._h, self._r = h, r
        self._fresh = (h.copy(), r.copy())
        self._workspace = (h.ctypes.data, r.ctypes.data)
        self._buffers = (self._rows.ctypes.data, self._log.ctypes.data, self._polynomials.ctypes.data)

    def reset(self) -> None:
        """Go back to before ``start``, to run the same problem again without setting it up again."""
        self._h[:], self._r[:] = self._fresh

    def start(self) -> Stop:
        """Find consistent start values; Stop.LIMIT if the run may go on."""
        code = _BEGIN(*self._workspace, *self._buffers[:2], self._times.ctypes.data)
        return Stop(code) if code else Stop.LIMIT

    def advance(self, budget: int) -> Stop:
        """Run natively for at most ``budget`` steps."""
        self._h[w.BUDGET] = budget
        return Stop(_ADVANCE(*self._workspace, *self._buffers, self._times.ctypes.data))

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
        """Current simulated time."""
        return float(self._r[w.T])

    @property
    def counters(self) -> Counters:
        """What has been done."""
        return Counters(*(int(self._h[place]) for place in _COUNTERS))

    @property
    def y(self) -> FloatArray:
        """Current unknowns."""
        return self._work.view(w.O_Y)

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


def _buffer(width: int) -> FloatArray:
    count = min(_MOST_RECORDS, max(_FEWEST_RECORDS, _BUFFER_NUMBERS // max(width, 1)))
    return np.zeros((count, width))


def _record_sizes(problem: Problem) -> tuple[int, int, int]:
    layout = problem.model.layout
    n, nd, ns = len(layout.unknowns), len(layout.discretes), len(problem.sensitivity_parameters)
    modes = layout.first_discrete + nd
    row = 2 + (n + nd + len(problem.model.outputs)) * (1 + ns)
    return row, 5 + ns + 2 * (n + modes) + layout.n_fires, 3 + (w.MAX_STAGES + 1) * n + nd


def _lay_out(problem: Problem, stages: int) -> w.Workspace:
    model = problem.model
    layout = model.layout
    n, ng, nm = len(layout.unknowns), len(model.guards), layout.n_m
    ns, nd, npar = len(problem.sensitivity_parameters), len(layout.discretes), len(layout.parameters)
    conditions = len(model.transitions.conditions) + model.n_state_conditions
    n_times = ng + layout.n_time_events if (model.is_time.any() or layout.n_time_events) else 0
    s = w.MAX_STAGES
    pairs = (s - 1) // 2
    longest = max(n, nm, npar, 8)
    numbers = {
        w.O_Y: n, w.O_P: npar, w.O_M: nm, w.O_YMAX: n, w.O_ATOL: n, w.O_SCALE: n, w.O_F0: n, w.O_YDOT: n, w.O_W: n, w.O_W2: n, w.O_W3: n,
        w.O_ERR: 2 * n, w.O_Z: s * n, w.O_F: s * n, w.O_R: s * n, w.O_A: s * n, w.O_ZB: s * n, w.O_AB: s * n, w.O_DC: 2 * pairs * n,
        w.O_E1: 2 * n * n, w.O_E2: 4 * pairs * n * n, w.O_J: 2 * n * n, w.O_MASS: n * n, w.O_ECHELON: 2 * n * n, w.O_BASE: n * n,
        w.O_YNEW: n, w.O_YOLD: n, w.O_MOLD: nm, w.O_INVERSE: s * s, w.O_G: ng, w.O_GT: ng, w.O_NU: ng, w.O_NUSTART: ng, w.O_GC: s * ng, w.O_ACT: ng,
        w.O_COND: conditions, w.O_COND2: conditions, w.O_TIMES: 2 * n_times, w.O_BERN: 16 + 64 * 12, w.O_LO: model.tapes.n_registers,
        w.O_HI: model.tapes.n_registers, w.O_CONST: len(model.tapes.constants), w.O_BODY: 2 * (n + nd), w.O_FIRED: layout.n_fires,
        w.O_S: ns * n, w.O_D: ns * nd, w.O_SIGMA: ns * n, w.O_K: (stages * n) ** 2 if ns else 0, w.O_KB: ns * s * n, w.O_DTDP: ns, w.O_DP: npar,
        w.O_DM: nm, w.O_SNEW: ns * (s + 2) * n, w.O_OUTPUTS: len(model.outputs), w.O_ZERO: longest, w.O_YDOTM: n, w.O_SCALEROW: n, w.O_NODES: s,
        w.O_NOISE: n,
    }  # fmt: skip
    whole = {
        w.I_PIV1: 2 * n, w.I_PIV2: 2 * pairs * n, w.I_PIVB: n, w.I_PIVK: s * n, w.I_PARAM: ns, w.I_LINEAR: ng, w.I_TIME: ng, w.I_KIND: ng,
        w.I_MODE: ng, w.I_STRICT: ng, w.I_ALGEBRAIC: n, w.I_USED: len(model.tapes.used), w.I_FROW: ng, w.I_NROW: ng, w.I_VALUE: ng, w.I_RATE: ng,
        w.I_CODE: 4 * len(model.tapes.code), w.I_BRANCH: layout.n_fires + 1, w.I_CHAIN: layout.n_fires, w.I_TERMINATES: layout.n_fires,
        w.I_FLIPPED: 2 * max(ng, 1), w.I_OPAQUE: ng,
    }  # fmt: skip
    work = w.Workspace(numbers, whole)
    sizes = {
        w.N: n, w.N_G: ng, w.N_M: nm, w.N_P: npar, w.N_S: ns, w.N_D: nd, w.N_FIRE: layout.n_fires, w.N_WHEN: len(model.transitions.conditions),
        w.N_COND: conditions, w.N_TIMES: n_times, w.N_OUT: len(model.outputs), w.N_USED: len(model.tapes.used), w.N_REG: model.tapes.n_registers,
        w.N_MODES: len(layout.modes), w.MASS_KIND: model.mass_kind, w.MASS_VARIES: model.mass_varies, w.FIRST_DISCRETE: layout.first_discrete,
        w.FIRST_FIRE: layout.first_fire, w.FIRST_COUNT: layout.first_count,
    }  # fmt: skip
    for name, size in sizes.items():
        work.h[name] = size
    return work


def _fill(work: w.Workspace, problem: Problem) -> None:
    model = problem.model
    h, r = work.h, work.r
    for place, name in _FUNCTIONS.items():
        h[place] = model.addresses.get(name, 0)
    n = len(model.layout.unknowns)
    n_k = w.MAX_STAGES * n if len(problem.sensitivity_parameters) else n
    h[w.L_DGETRF], h[w.L_DGETRS], h[w.L_ZGETRF], h[w.L_ZGETRS] = linear.lapack_addresses(max(n, n_k))
    pairs: list[tuple[int, Any]] = [
        (w.O_Y, problem.y), (w.O_P, problem.p), (w.O_M, problem.m), (w.O_ATOL, problem.atol), (w.O_CONST, model.tapes.constants),
        (w.O_S, problem.dy_dp.ravel()), (w.O_D, problem.dd_dp.ravel()),
    ]  # fmt: skip
    for name, values in pairs:
        work.view(name)[:] = values
    nominal = [variable.nominal or 0.0 for variable in model.model.unknowns for _ in range(variable.size)]
    work.view(w.O_YMAX)[: len(nominal)] = nominal
    tapes = model.tapes
    if tapes.code.size:
        h[w.F_TAPE] = kernel("tidegate.events.tape_range").tape_range.address
    mode_place = {mode: place for place, mode in enumerate(model.layout.modes)}
    facts: list[tuple[int, Any]] = [
        (w.I_PARAM, problem.sensitivity_parameters), (w.I_LINEAR, model.is_linear), (w.I_TIME, model.is_time), (w.I_OPAQUE, model.is_opaque),
        (w.I_KIND, [_GUARD_KINDS[g.kind] for g in model.guards]), (w.I_MODE, [mode_place[g.mode] for g in model.guards]),
        (w.I_STRICT, [g.strict for g in model.guards]), (w.I_ALGEBRAIC, model.algebraic), (w.I_USED, tapes.used), (w.I_FROW, tapes.first_row),
        (w.I_NROW, tapes.n_rows), (w.I_VALUE, tapes.value), (w.I_RATE, tapes.rate), (w.I_CODE, tapes.code.ravel()),
        (w.I_TERMINATES, [fire.terminates for fire in model.transitions.fires]),
    ]  # fmt: skip
    for name, values in facts:
        work.whole(name)[:] = values
    _fill_branches(work, problem)
    span = problem.t_end - problem.t_start
    for place, value in (
        (w.T, problem.t_start), (w.T_START, problem.t_start), (w.T_END, problem.t_end), (w.RTOL, problem.rtol), (w.STEP_MAX, problem.step_max),
        (w.STEP_NEW, problem.first_step), (w.SPAN, span), (w.LAST_EVENT, problem.t_start - span), (w.STEP_OLD, 1.0), (w.LENGTH, 1.0),
        (w.ERROR_ACCEPTED, 1e-2), (w.STEP_ACCEPTED, 1.0), (w.ZENO_TIME, np.nan),
    ):  # fmt: skip
        r[place] = value
    h[w.EVENT_ROWS], h[w.STEP_ROWS] = problem.event_rows, problem.step_rows
    h[w.IS_FIRST] = h[w.NEEDS_JACOBIAN] = h[w.NEEDS_FACTORS] = 1
    h[w.FAILED_GUARD] = h[w.LAST_GUARD] = -1


def _fill_branches(work: w.Workspace, problem: Problem) -> None:
    branches = [fire for fire in problem.model.transitions.fires if fire.chain >= 0]
    first: NDArray[np.int64] = work.whole(w.I_BRANCH)
    chain: NDArray[np.int64] = work.whole(w.I_CHAIN)
    for index, fire in enumerate(branches):
        first[index] = fire.conditions[0]
        first[index + 1] = fire.conditions[-1] + 1
        chain[index] = fire.chain
