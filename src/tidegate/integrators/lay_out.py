"""The workspace of a run: how much of everything a problem needs, whatever the method, and what stands in it at the start."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled import workspace as w
from tidegate.compiled.compiled_model import CompiledModel
from tidegate.compiled.schema import CORE, LANES, LAST_POWER, MOST_MODELS, PADDING, REAL_SYSTEMS, SCRATCH_MODELS
from tidegate.events.not_tied import MOST_TIED
from tidegate.integrators.interface import Problem
from tidegate.integrators.kernel_cache import kernel
from tidegate.linear.dense import lapack_addresses
from tidegate.linear.stages import MOST_ROWS
from tidegate.part_paths import without_indices
from tidegate.quick_dataclass import dataclass

__all__ = ["Method", "fill", "lay_out", "refill", "set_stops"]

_FUNCTIONS: Final = (
    "rhs", "residual_tangent", "jacobian", "mass", "guards", "guards_tangent", "guard_scale", "guard_rounding", "activity", "conditions", "bodies",
    "bodies_tangent", "times", "times_tangent", "outputs", "outputs_tangent", "steps", "communicated", "step_begins",
    "constraints", "constraints_tangent", "constraint_scale", "constraint_slopes", "divisors",
)  # fmt: skip
_NUMBERS_AT_START: Final = {
    "last_event": -w.NEVER, "step_old": 1.0, "length": 1.0, "error_accepted": 1e-2, "step_accepted": 1.0, "zeno_time": np.nan, "t_shown": -w.NEVER,
    "t_event": w.NEVER, "rounded_at": np.nan, "known_at": np.nan, "slopes_before_at": np.nan, "guards_before_at": np.nan,
    "late_at": np.nan,
}  # fmt: skip
_INTEGERS_AT_START: Final = {"is_first": 1, "needs_jacobian": 1, "needs_factors": 1, "failed_guard": -1, "last_guard": -1}
_UNNAMED: Final = "y"  # start values without names
_FIELD: Final = 32  # so many of them are one field, more likely than as many quantities
_INDICES_OF_FUNCTIONS: Final = w.indices_of([f"f_{name}" for name in _FUNCTIONS])
_INDICES_OF_NUMBERS: Final = w.indices_of(["t", "t_start", "t_end", "rtol", "step_max", "step_new", "time_size", *_NUMBERS_AT_START])
_INDICES_OF_INTEGERS: Final = w.indices_of(["wants_event_rows", "wants_step_rows", "ends_hard", *_INTEGERS_AT_START])


@dataclass(frozen=True)
class Method:
    """What a method adds to a run.

    Parameters
    ----------
    owner : its name in ``compiled.schema``, for arrays of its own; several for one that goes on as another.
    hooks : name -> address of the kernel entry, for the six kernel entries of ``integrators.hybrid_loop.loop``.
    degree : largest degree of its polynomials.
    facts : name -> value, of what the method says about itself.
    sizes : name -> size, of arrays of its own that no other size tells.
    """

    owner: str | tuple[str, ...]
    hooks: dict[str, int]
    degree: int
    facts: dict[str, float] = field(default_factory=dict[str, float])
    sizes: dict[str, int] = field(default_factory=dict[str, int])

    def with_rates(self, problem: Problem) -> Method:
        """The same, which takes y' from the model's expressions where it has some."""
        return replace(self, facts={**self.facts, "f_rates": problem.model.addresses.get("rates", 0)})


def lay_out(problem: Problem, method: Method) -> w.Workspace:
    """Memory for a run of this problem by this method, with sizes and hooks set."""
    model = problem.model
    layout = model.layout
    n, ng, nm = len(layout.unknowns), len(model.guards), layout.n_m
    ns, nd, npar = len(problem.sensitivity_parameters), len(layout.discretes), len(layout.parameters)
    n_times = ng + layout.n_time_events if (model.guards.is_time.any() or layout.n_time_events) else 0
    sizes = {
        "n": n, "n_guards": ng, "n_m": nm, "n_p": npar, "n_sens": ns, "n_discrete": nd, "n_actions": layout.n_actions, "n_when": model.n_conditions,
        "n_conditions": model.n_conditions + model.n_state_conditions, "n_times": n_times, "n_clocks": layout.n_time_events,
        "n_steps": layout.n_step_events,
        "n_outputs": layout.n_outputs, "n_used": len(model.tapes.used), "n_registers": model.tapes.n_registers,
        "n_constants": len(model.tapes.constants), "n_code": len(model.tapes.code), "n_tape_lengths": 3 * ng, "n_modes": layout.n_modes,
        "n_dropping": len(layout.dropping), "n_grid_edges": sum(len(grid or ()) for grid in model.guards.grids),
        "n_body": 2 * (n + nd) + 1, "n_branch_ends": layout.n_actions + 1, "n_zeros": max(n, nm, npar, 8),
        "n_moving": sum(map(len, problem.directions)), "n_moving_ends": ns + 1,
        "n_stops_room": model.most_stops, "max_degree": method.degree, "part_width": max(method.degree + 1, LANES) + LAST_POWER,
        "n_gradients": n if n < method.degree else 0, "n_curved": int((~model.guards.is_linear).sum()), "n_lanes": n * (1 + ns),
        "n_forms": layout.n_forms, "n_constraints": layout.n_constraints,
        "n_divisors": model.n_divisors, "n_quotients": model.n_quotients, "n_peaks": model.n_peaks,
        "n_kept": len(model.guards.kept.unknown), "n_kept_ends": ng + 1, "n_kept_zeros": len(model.guards.kept.of_guards),
        "n_examined": ng if problem.proves else 0,
        "n_read": len(model.tapes.numbers),
        "n_models": model.tapes.n_registers + SCRATCH_MODELS if model.tapes.code.size and model.tapes.n_registers < MOST_MODELS else 0,
        **_systems(problem, method, n, ns), **method.sizes,
    }  # fmt: skip
    owners = (method.owner,) if isinstance(method.owner, str) else method.owner
    work = w.Workspace(sizes, (CORE, *owners))
    facts = {
        "has_corners": model.has_corners, "has_branches": model.has_branches, "reads_modes": model.reads_modes,
        "stays_known": model.mass_kind == 0 and ns == 0 and model.past is None and not (model.reads_modes or model.reads_previous),
        "mass_kind": model.mass_kind, "mass_varies": model.mass_varies,
        "first_discrete": layout.first_discrete, "first_previous": layout.first_previous, "first_flags": layout.first_action,
        "first_counts": layout.first_count, "first_drops": layout.first_drop, "first_grazing": layout.first_grazing, "first_form": layout.first_form,
        "degree": 1, "reach_factor": 1.0, "may_reach_at": layout.may_reach, "goes_on_at": layout.goes_on, "has_followers": len(model.followers) > 0,
        "has_acts": model.has_acts,
        **method.hooks, **method.facts,
    }  # fmt: skip
    for name, value in facts.items():
        work[name] = value
    return work


def _systems(problem: Problem, method: Method, n: int, n_sens: int) -> dict[str, int]:
    """Sizes of what systems of linear equations need."""
    model, pattern = problem.model, problem.model.sparsity
    stages = int(method.facts.get("stages_wanted", 0))
    may_tie = model.mass_kind > 0 and (pattern is None or (n <= MOST_TIED and len(model.guards) > 0 and bool(model.algebraic.any())))
    pairs = max(stages - 1, 0) // 2
    sizes = {
        "is_sparse": pattern is not None, "n_pairs": pairs, "n_mass": n * n if model.mass_kind > 1 else n,
        "n_coupled": n if model.mass_kind > 1 else 0, "n_tied": n if may_tie else 0,
    }  # fmt: skip
    if pattern is None:
        at_once = n_sens > 0 and stages * n <= MOST_ROWS
        return {
            **sizes, "n_dense": n, "n_entries": n * n, "n_sens_system": stages * n if at_once else 0, "n_stage_entries": n * n if at_once else 0,
        }  # fmt: skip
    return {
        **sizes, "n_sparse": n, "n_sparse_ends": n + 1, "n_padded": n + PADDING, "n_sparse_entries": len(pattern.row),
        "n_dense": n if may_tie else 0, "n_entries": n * n if may_tie else len(pattern.row),
        "room_factors": pattern.room + PADDING, "n_patterns": 1 + REAL_SYSTEMS + 2 * pairs,
    }  # fmt: skip


def fill(work: w.Workspace, problem: Problem) -> None:
    """Put the problem into the workspace: functions, facts about the model, start values, options."""
    model = problem.model
    addresses = {"guard_rounding": model.addresses.get("guard_scale", 0), **model.addresses}
    work.h[_INDICES_OF_FUNCTIONS] = [addresses.get(name, 0) for name in _FUNCTIONS]
    n = len(model.layout.unknowns)
    if work["n_dense"]:
        work["dgetrf"], work["dgetrs"], work["zgetrf"], work["zgetrs"] = lapack_addresses(max(n, work["n_sens_system"]))
    if model.sparsity is not None:
        for name, whole in model.sparsity.facts.items():
            work.integers(name)[: len(whole)] = whole
    work.numbers("constants")[:] = model.tapes.constants
    work.numbers("kept_level")[:] = model.guards.kept.level
    work.numbers("moving_rate")[:] = [rate for direction in problem.directions for rate in direction.values()]
    work.numbers("y_max")[:] = model.nominal
    tapes, guards = model.tapes, model.guards
    if tapes.code.size:
        work["f_tape"] = kernel("tidegate.events.tape_range").tape_range.address
    if problem.proves:
        work["f_proof"] = kernel("tidegate.events.proof").prove_step.address
    if work["n_models"]:
        work["f_models"] = kernel("tidegate.events.guard_models").guard_model.address
    integers: dict[str, Any] = {
        "sens_parameters": problem.sensitivity_parameters, "is_linear": guards.is_linear, "is_time": guards.is_time, "is_opaque": guards.is_opaque,
        "guard_kind": guards.kind, "guard_mode": guards.mode, "guard_zero": guards.zero, "guard_facing": guards.facing,
        "kept_unknown": guards.kept.unknown, "kept_parameter": guards.kept.parameter, "kept_discrete": guards.kept.discrete,
        "kept_first": guards.kept.first, "kept_of_guards": guards.kept.of_guards,
        "is_strict": guards.strict, "is_algebraic": model.algebraic,
        "index_two": np.zeros(n, dtype=bool) if model.index_two is None else model.index_two, "is_force": model.forces,
        "moving": [index for direction in problem.directions for index in direction],
        "moving_first": np.cumsum([0, *map(len, problem.directions)]),
        "used": tapes.used, "tape_first": tapes.first_row,
        "tape_rows": tapes.n_rows.ravel(), "tape_value": tapes.value, "tape_rate": tapes.rate, "tape_bend": tapes.bend,
        "tape_code": tapes.code.ravel(), "read_registers": tapes.numbers, "tape_kinds": tapes.kinds,
        "action_meaning": [
            w.TERMINATES * fire.terminates + w.IS_NOTED * fire.is_noted + w.KEEPS * fire.keeps for fire in model.event_actions
        ],
        "dropping": model.layout.dropping, "first_of_quantity": _first_of_quantity(model),
        "repeats": [clock.repeats for clock in model.clocks],
    }  # fmt: skip
    for name, values in integers.items():
        work.integers(name)[:] = values
    work["makes_consistent"] = problem.model.makes_consistent
    _fill_branches(work, problem)
    _fill_grids(work, problem)
    refill(work, problem)
    # what Python computes may not be defined behind the end
    work.h[_INDICES_OF_INTEGERS] = (problem.event_rows, problem.step_rows, model.has_opaque, *_INTEGERS_AT_START.values())


def _first_of_quantity(model: CompiledModel) -> NDArray[np.intp]:
    """For every unknown the first element of the array that it is one of, be it of numbers or of parts; a short list without names holds several
    quantities, each by itself.
    """
    places = {name: k for k, name in enumerate(model.layout.unknowns)}
    first = np.arange(len(places))
    arrays: dict[str, list[int]] = {}
    for quantity in model.quantities:
        arrays.setdefault(without_indices(quantity.name), []).extend(places[name] for name in quantity.names if name in places)
    for name, elements in arrays.items():
        if len(elements) >= (_FIELD if name == _UNNAMED else 2):
            first[elements] = min(elements)
    return first


def refill(work: w.Workspace, problem: Problem) -> None:
    """Put into the workspace what parameters, start values and times decide."""
    t = problem.t_start
    work.r[_INDICES_OF_NUMBERS] = (t, t, problem.t_end, problem.rtol, problem.step_max, problem.first_step, abs(t), *_NUMBERS_AT_START.values())
    work.numbers("y")[:] = problem.y
    work.numbers("p")[:] = problem.p
    work.numbers("m")[:] = problem.m
    if work["past"]:
        work.numbers("m")[work["first_past"]] = float(work["past"])
    work.numbers("atol")[:] = problem.atol
    work.numbers("most_tolerance")[:] = np.where(problem.goes_by_size, problem.atol, 0.0)
    work["goes_by_size"] = bool(problem.goes_by_size.any())
    if len(problem.sensitivity_parameters):
        work.numbers("sens")[:] = problem.dy_dp.ravel()
        work.numbers("sens_discrete")[:] = problem.dd_dp.ravel()
    set_stops(work, problem)


def set_stops(work: w.Workspace, problem: Problem) -> None:
    """Put down where forcing wakes between now and the end of the run."""
    if not problem.model.most_stops:
        return
    found = problem.model.stops(work.numbers("p"), problem.t_start, work["t"], work["t_end"])
    work["n_stops"] = len(found)
    work.numbers("stops")[: len(found)] = found


def _fill_branches(work: w.Workspace, problem: Problem) -> None:
    branches = [fire for fire in problem.model.event_actions if fire.chain >= 0]
    first: NDArray[np.int64] = work.integers("branch_first")
    chain: NDArray[np.int64] = work.integers("branch_chain")
    for index, fire in enumerate(branches):
        first[index] = fire.conditions[0]
        first[index + 1] = fire.conditions[-1] + 1
        chain[index] = fire.chain


def _fill_grids(work: w.Workspace, problem: Problem) -> None:
    """The inner edges of the grids whose pieces guards watch; none for a floor, whose pieces are the integers."""
    start: NDArray[np.int64] = work.integers("grid_first")
    count: NDArray[np.int64] = work.integers("n_edges")
    offset = 0
    for index, edges in enumerate(problem.model.guards.grids):
        if edges is None:
            count[index] = -1
        elif edges:
            start[index], count[index] = offset, len(edges)
            work.numbers("grids")[offset : offset + len(edges)] = edges
            offset += len(edges)
