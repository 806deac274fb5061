"""The workspace of a run: how much of everything a problem needs, whatever the method, and what stands in it at the start."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled import linear
from tidegate.compiled import workspace as w
from tidegate.integrators.interface import Problem
from tidegate.integrators.kernel_cache import kernel

__all__ = ["Method", "fill", "lay_out", "record_sizes"]

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


@dataclass(frozen=True)
class Method:
    """What a method adds to a run.

    Parameters
    ----------
    hooks : place in the workspace -> address of the unit, for the six units of ``integrators.loop``.
    degree : largest degree of its polynomials.
    numbers, whole : arrays of its own, as for ``Workspace``.
    """

    hooks: dict[int, int]
    degree: int
    numbers: dict[int, int] = field(default_factory=dict[int, int])
    whole: dict[int, int] = field(default_factory=dict[int, int])


def record_sizes(problem: Problem, degree: int) -> tuple[int, int, int]:
    """How many numbers a row, an entry of the log and a polynomial of this degree have."""
    layout = problem.model.layout
    n, nd, ns = len(layout.unknowns), len(layout.discretes), len(problem.sensitivity_parameters)
    modes = layout.first_discrete + nd
    row = 2 + layout.n_recorded * (1 + ns)
    return row, 5 + ns + 2 * (n + modes) + layout.n_fires, 3 + (degree + 1) * n + nd


def lay_out(problem: Problem, method: Method) -> w.Workspace:
    """Memory for a run of this problem by this method, with sizes and hooks set."""
    model = problem.model
    layout = model.layout
    n, ng, nm = len(layout.unknowns), len(model.guards), layout.n_m
    ns, nd, npar = len(problem.sensitivity_parameters), len(layout.discretes), len(layout.parameters)
    conditions = model.n_conditions + model.n_state_conditions
    n_times = ng + layout.n_time_events if (model.guards.is_time.any() or layout.n_time_events) else 0
    longest = max(n, nm, npar, 8)
    numbers = {
        w.O_Y: n, w.O_P: npar, w.O_M: nm, w.O_YMAX: n, w.O_ATOL: n, w.O_F0: n, w.O_YDOT: n, w.O_W: n, w.O_W2: n, w.O_W3: n,
        w.O_A: method.degree * n, w.O_J: 2 * n * n, w.O_MASS: n * n, w.O_ECHELON: 2 * n * n, w.O_BASE: n * n, w.O_YEND: n,
        w.O_YNEW: n, w.O_YOLD: n, w.O_MOLD: nm, w.O_G: ng, w.O_GT: ng, w.O_NU: ng, w.O_NUSTART: ng, w.O_GC: method.degree * ng, w.O_ACT: ng,
        w.O_COND: conditions, w.O_COND2: conditions, w.O_TIMES: 3 * n_times, w.O_BERN: (1 + w.MOST_PARTS_AT_ONCE) * w.PART_WIDTH,
        w.O_LO: model.tapes.n_registers, w.O_HI: model.tapes.n_registers, w.O_CONST: len(model.tapes.constants), w.O_BODY: 2 * (n + nd) + 1,
        w.O_FIRED: layout.n_fires, w.O_S: ns * n, w.O_SEND: ns * n, w.O_SOUT: ns * n, w.O_D: ns * nd, w.O_SIGMA: ns * n, w.O_DTDP: ns, w.O_DP: npar,
        w.O_DM: nm, w.O_OUTPUTS: layout.n_outputs, w.O_ZERO: longest, w.O_YDOTM: n, w.O_SCALEROW: n, w.O_NOISE: n, w.O_PNEW: npar,
        w.O_HELD: conditions, w.O_YHELD: n, w.O_SHELD: ns * n,
        w.O_GRIDS: sum(len(grid or ()) for grid in model.guards.grids),
        w.O_TRIAL: 7 * n + 6 * ng, w.O_LEFT: ng, w.O_MTRIAL: layout.n_modes, w.O_ASKED: 1 + n + nm + ng,
        w.O_STOPS: model.most_stops,
        **method.numbers,
    }  # fmt: skip
    whole = {
        w.I_PIVB: n, w.I_PARAM: ns, w.I_LINEAR: ng, w.I_TIME: ng, w.I_KIND: ng,
        w.I_MODE: ng, w.I_STRICT: ng, w.I_ALGEBRAIC: n, w.I_USED: len(model.tapes.used), w.I_FROW: ng, w.I_NROW: 3 * ng,
        w.I_VALUE: ng, w.I_RATE: ng, w.I_BEND: ng,
        w.I_CODE: 4 * len(model.tapes.code), w.I_BRANCH: layout.n_fires + 1, w.I_CHAIN: layout.n_fires, w.I_TERMINATES: layout.n_fires,
        w.I_FLIPPED: 2 * max(ng, 1), w.I_OPAQUE: ng, w.I_SIDE: 4 * max(ng, 1), w.I_DROP: len(layout.dropping), w.I_GRID: ng, w.I_EDGES: ng,
        w.I_CLOCK: layout.n_time_events, **method.whole,
    }  # fmt: skip
    work = w.Workspace(numbers, whole)
    sizes = {
        w.N: n, w.N_G: ng, w.N_M: nm, w.N_P: npar, w.N_S: ns, w.N_D: nd, w.N_FIRE: layout.n_fires, w.N_WHEN: model.n_conditions,
        w.N_COND: conditions, w.N_TIMES: n_times, w.N_OUT: layout.n_outputs, w.N_USED: len(model.tapes.used), w.N_REG: model.tapes.n_registers,
        w.N_MODES: layout.n_modes, w.MASS_KIND: model.mass_kind, w.MASS_VARIES: model.mass_varies, w.FIRST_DISCRETE: layout.first_discrete,
        w.FIRST_FIRE: layout.first_fire, w.FIRST_COUNT: layout.first_count, w.FIRST_DROP: layout.first_drop, w.N_DROP: len(layout.dropping),
        w.MAX_DEGREE: method.degree, w.DEGREE: 1, **method.hooks,
    }  # fmt: skip
    for name, size in sizes.items():
        work.h[name] = size
    return work


def fill(work: w.Workspace, problem: Problem) -> None:
    """Put the problem into the workspace: functions, facts about the model, start values, options."""
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
    work.view(w.O_YMAX)[:] = model.nominal
    tapes, guards = model.tapes, model.guards
    if tapes.code.size:
        h[w.F_TAPE] = kernel("tidegate.events.tape_range").tape_range.address
    facts: list[tuple[int, Any]] = [
        (w.I_PARAM, problem.sensitivity_parameters), (w.I_LINEAR, guards.is_linear), (w.I_TIME, guards.is_time),
        (w.I_OPAQUE, guards.is_opaque), (w.I_KIND, guards.kind), (w.I_MODE, guards.mode), (w.I_STRICT, guards.strict),
        (w.I_ALGEBRAIC, model.algebraic), (w.I_USED, tapes.used), (w.I_FROW, tapes.first_row),
        (w.I_NROW, tapes.n_rows.ravel()), (w.I_VALUE, tapes.value), (w.I_RATE, tapes.rate), (w.I_BEND, tapes.bend), (w.I_CODE, tapes.code.ravel()),
        (w.I_TERMINATES, [w.TERMINATES * fire.terminates + w.IS_NOTED * fire.is_noted for fire in model.fires]),
        (w.I_DROP, model.layout.dropping), (w.I_CLOCK, [clock.repeats for clock in model.clocks]),
    ]  # fmt: skip
    for name, values in facts:
        work.whole(name)[:] = values
    _fill_branches(work, problem)
    _fill_grids(work, problem)
    for place, value in (
        (w.T, problem.t_start), (w.T_START, problem.t_start), (w.T_END, problem.t_end), (w.RTOL, problem.rtol), (w.STEP_MAX, problem.step_max),
        (w.STEP_NEW, problem.first_step), (w.LAST_EVENT, -w.NEVER), (w.TIME_SIZE, abs(problem.t_start)), (w.STEP_OLD, 1.0), (w.LENGTH, 1.0),
        (w.ERROR_ACCEPTED, 1e-2), (w.STEP_ACCEPTED, 1.0), (w.ZENO_TIME, np.nan), (w.T_SHOWN, -w.NEVER),
    ):  # fmt: skip
        r[place] = value
    h[w.EVENT_ROWS], h[w.STEP_ROWS] = problem.event_rows, problem.step_rows
    h[w.ENDS_HARD] = model.has_opaque  # what Python computes may not be defined behind the end
    set_stops(work, problem)
    h[w.IS_FIRST] = h[w.NEEDS_JACOBIAN] = h[w.NEEDS_FACTORS] = 1
    h[w.FAILED_GUARD] = h[w.LAST_GUARD] = -1


def set_stops(work: w.Workspace, problem: Problem) -> None:
    """Put down where forcing wakes between now and the end of the run."""
    if not problem.model.most_stops:
        return
    found = problem.model.stops(work.view(w.O_P), problem.t_start, float(work.r[w.T]), float(work.r[w.T_END]))
    work.h[w.N_STOPS] = len(found)
    work.view(w.O_STOPS)[: len(found)] = found


def _fill_branches(work: w.Workspace, problem: Problem) -> None:
    branches = [fire for fire in problem.model.fires if fire.chain >= 0]
    first: NDArray[np.int64] = work.whole(w.I_BRANCH)
    chain: NDArray[np.int64] = work.whole(w.I_CHAIN)
    for index, fire in enumerate(branches):
        first[index] = fire.conditions[0]
        first[index + 1] = fire.conditions[-1] + 1
        chain[index] = fire.chain


def _fill_grids(work: w.Workspace, problem: Problem) -> None:
    """The inner edges of the grids whose pieces guards watch; none for a floor, whose pieces are the whole numbers."""
    start: NDArray[np.int64] = work.whole(w.I_GRID)
    count: NDArray[np.int64] = work.whole(w.I_EDGES)
    place = 0
    for index, edges in enumerate(problem.model.guards.grids):
        if edges is None:
            count[index] = -1
        elif edges:
            start[index], count[index] = place, len(edges)
            work.view(w.O_GRIDS)[place : place + len(edges)] = edges
            place += len(edges)
