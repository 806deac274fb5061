"""Model -> CompiledModel: lock, bring to mass form, write down every function the integrators need, translate to machine code."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tidegate.compiled.emit_llvm import emit_module
from tidegate.compiled.functions import FunctionParts, function_specs
from tidegate.compiled.guard_tapes import guard_tapes
from tidegate.compiled.interface import CompiledModel, Output
from tidegate.compiled.layout import Layout
from tidegate.compiled.locking import Locking, activities
from tidegate.compiled.mass_form import mass_form
from tidegate.compiled.native import load
from tidegate.compiled.opaque import trampolines
from tidegate.compiled.transitions import Writer, flatten_transitions, states_before
from tidegate.compiled.waking import forcing_of
from tidegate.errors import ModelError
from tidegate.expressions import TRUE, Expr, Role, symbol, walk
from tidegate.expressions.sparsity import dependencies, is_affine
from tidegate.expressions.substitute import substitute
from tidegate.model import Form, Model, VariableRole

__all__ = ["compile_model"]


def compile_model(model: Model) -> CompiledModel:
    """Translate a neutral model to flat native functions.

    Parameters
    ----------
    model : a validated model of form ODE or DAE.

    Raises
    ------
    StructureError : the equations cannot determine the unknowns.
    """
    began = time.perf_counter()
    _refuse_what_is_not_built(model)
    locking = Locking()
    residuals = locking.lock(equation.residual for equation in model.equations)
    definitions = locking.lock(definition.value for definition in model.definitions)
    transitions = flatten_transitions(model, locking)
    own = [s for variable in model.unknowns for s in variable.symbols()]

    readers = [*definitions, *transitions.conditions, *transitions.new_values.values(), *(g.function for g in locking.guards)]
    wanted = {s for s in dependencies_of(readers) if s.data.role is Role.DERIVATIVE}
    form = mass_form(own, residuals, sorted(wanted, key=lambda s: s.data.name))
    form_conditions = substitute(transitions.conditions, form.derivative_values)
    guards = substitute([g.function for g in locking.guards], form.derivative_values)
    values = substitute(definitions, form.derivative_values)
    *new_values, conflict = substitute([*transitions.new_values.values(), transitions.conflict], form.derivative_values)
    in_form = form.derivative_values
    writers = {s: tuple(Writer(w.fire, *substitute([w.value], in_form)) for w in several) for s, several in transitions.writers.items()}
    transitions = replace(transitions, writers=writers)

    layout = Layout(
        unknowns=form.unknowns,
        parameters=tuple(s for v in model.parameters for s in v.symbols()),
        modes=tuple(locking.modes),
        discretes=tuple(s for v in model.discretes for s in v.symbols()),
        inputs=tuple(s for v in model.by_role(VariableRole.INPUT) for s in v.symbols()),
        n_fires=len(transitions.fires),
        n_time_events=len(transitions.times),
        dropping=states_before(model),
    )
    # remarks are asked at events only, as bodies are
    rising = form_conditions[: transitions.n_rising]
    roots = [*form.rhs, *form.mass.values(), *values, *rising, *transitions.times, *transitions.enabled, *guards]
    active = activities(locking, [*form.rhs, *form.mass.values(), *definitions, *rising, *transitions.enabled, *residuals])
    state_conditions = _state_conditions(roots, active, layout)
    state_conditions += [(TRUE, enabled) for enabled in transitions.enabled if not enabled.is_constant]
    continuous = [symbol(Role.TIME, "time"), *form.unknowns]
    is_linear = np.array([is_affine(g, continuous) for g in guards], dtype=bool)
    moves = [any(s.data.role is Role.UNKNOWN for s in dependencies(g)) for g in guards]
    is_time = is_linear & ~np.array(moves, dtype=bool)
    is_opaque = np.array([any(item.op in ("call", "output", "slope") for item in walk([g])) for g in guards], dtype=bool)

    guard_activity = tuple(active.get(g.mode, active.get(g.function)) for g in locking.guards)

    parts = FunctionParts(
        layout=layout,
        rhs=form.rhs,
        mass=form.mass,
        guards=tuple(guards),
        is_time=is_time,
        activity=guard_activity,
        conditions=tuple(form_conditions),
        state_conditions=tuple(state_conditions),
        enabled=transitions.enabled,
        times=transitions.times,
        new_values=dict(zip(transitions.new_values, new_values, strict=True)),
        conflict=conflict,
        outputs=tuple(values),
    )
    specs = function_specs(parts)
    opaque = trampolines(expr for spec in specs for _, expr in spec.outputs)
    module = load(emit_module(specs, opaque.addresses))
    varies = any(s.data.role in (Role.MODE, Role.DISCRETE, Role.PREVIOUS) for entry in form.mass.values() for s in dependencies(entry))
    return CompiledModel(
        model=model,
        layout=layout,
        n_own=len(own),
        equations=form.equations,
        mass_kind=0 if form.is_identity else 1 if form.is_diagonal else 2,
        mass_varies=varies,
        guards=tuple(locking.guards),
        activity=guard_activity,
        is_linear=is_linear,
        is_time=is_time,
        is_opaque=is_opaque,
        n_state_conditions=len(state_conditions),
        transitions=transitions,
        algebraic=np.array([all(j != k for _, j in form.mass) for k in range(len(form.unknowns))], dtype=bool),
        outputs=_outputs(model),
        addresses={spec.name: module.address(spec.name) for spec in specs},
        module=module,
        tapes=guard_tapes(guards, is_linear | is_opaque, layout),
        seconds=time.perf_counter() - began,
        has_opaque=bool(opaque.addresses),
        forcing=forcing_of([equation.residual for equation in model.equations] + [definition.value for definition in model.definitions]),
        output_values=tuple(values),
        keep_alive=opaque.keep_alive,
    )


def _refuse_what_is_not_built(model: Model) -> None:
    """The neutral model can say more than is simulated so far; saying so beats ignoring it."""
    missing = [
        (model.form is Form.HDAE, "the HDAE form"),
        (bool(model.opaque_parts), "opaque parts and hooks"),
        (bool(model.step_events), "step events"),
    ]
    for is_there, what in missing:
        if is_there:
            raise ModelError(f"{model.name} uses {what}, which tidegate can describe but not yet simulate", origin=model.origin)


def dependencies_of(roots: Sequence[Expr]) -> set[Expr]:
    """Every symbol below any of the roots."""
    return {item for item in walk(roots) if item.op == "symbol"}


def _state_conditions(roots: Sequence[Expr], active: dict[Expr, Expr], layout: Layout) -> list[tuple[Expr, Expr]]:
    """(activity, value) of every condition of a select, and of every piece number, that modes decide."""
    modes = set(layout.modes)
    found: dict[Expr, Expr] = {}
    for item in walk(roots):
        if item.op == "select" and item.args[0] in active and dependencies(item.args[0]) & modes:
            found.setdefault(item.args[0], active[item.args[0]])
        elif item in modes and item in active:
            found.setdefault(item, active[item])
    # a mode that only decides truth values matters through the conditions it enters, not by itself
    truths = {item.args[0] for item in walk(roots) if item.op == "nonzero" and item.args[0] in modes}
    return [(activity, value) for value, activity in found.items() if value not in truths]


def _outputs(model: Model) -> tuple[Output, ...]:
    owner = {name: v for v in model.by_role(VariableRole.OUTPUT, VariableRole.INDICATOR, VariableRole.AUXILIARY) for name in v.names}
    return tuple(Output(owner[d.name], d.name) for d in model.definitions)
