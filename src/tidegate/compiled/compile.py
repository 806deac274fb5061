"""Model -> CompiledModel: lock, bring to mass form, write down every function the integrators need, translate to machine code."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.actions import ExpressionActions
from tidegate.compiled.callbacks import callback
from tidegate.compiled.compiled_model import Clock, CompiledModel, Guards, KeptSides
from tidegate.compiled.corners import has_bends, has_corners
from tidegate.compiled.diagnosis import ExpressionDiagnosis
from tidegate.compiled.divisors import divisors_of
from tidegate.compiled.emit_llvm import emit_module
from tidegate.compiled.emit_taylor.guard_ranges import WatchedGuards, watched_guards
from tidegate.compiled.guard_tapes import guard_tapes
from tidegate.compiled.jacobian_pattern import sparsity_of
from tidegate.compiled.kept_sides import kept_sides
from tidegate.compiled.layout import Layout
from tidegate.compiled.locking import Guard, GuardKind, Locking, activities
from tidegate.compiled.look_back import look_back_of
from tidegate.compiled.mass_form import MassForm, mass_form
from tidegate.compiled.native import load
from tidegate.compiled.native_functions import FunctionParts, function_specs
from tidegate.compiled.peaks import flanks, high_powers, turning_divisors, turning_exponents
from tidegate.compiled.power_series import ExpressionSeries
from tidegate.compiled.quantities import Quantity
from tidegate.compiled.shown_quantities import computed_unknowns, quantities_of, shown_of
from tidegate.compiled.start import ExpressionStart
from tidegate.compiled.transitions import TargetWriter, flatten_transitions, states_before
from tidegate.compiled.variants import Variants
from tidegate.compiled.vector_symbols import Symbols
from tidegate.compiled.waking import MOST_STOPS, forcing_of, stops
from tidegate.compiled.words import ExpressionWords, zeros_of
from tidegate.compiled.workspace import LOWER, RELATION, UPPER
from tidegate.errors import ModelError, Origin
from tidegate.expressions import TRUE, Expr, Role, as_real, symbol, walk
from tidegate.expressions.delays import has_delays
from tidegate.expressions.differentiate import jacobian
from tidegate.expressions.formulas import Formulas
from tidegate.expressions.node_data import OPAQUE
from tidegate.expressions.sparsity import dependencies, is_affine
from tidegate.expressions.substitute import substitute
from tidegate.model import Form, Model, VariableRole
from tidegate.model.digests import identity
from tidegate.structure import Reduced

__all__ = ["compile_model"]

_KEPT: Final = (4, 5)  # parts of an HDAE that are constraints between its states
_KINDS: Final = {GuardKind.RELATION: RELATION, GuardKind.LOWER: LOWER, GuardKind.UPPER: UPPER}


def compile_model(reduced: Reduced) -> CompiledModel:
    """Translate a neutral model to flat native functions.

    Parameters
    ----------
    reduced : a validated model, and what passes made of it.

    Raises
    ------
    StructureError : the equations cannot determine the unknowns.
    """
    began = time.perf_counter()
    model = reduced.model
    _refuse_what_is_not_built(model)
    locking = Locking()
    given = [equation.residual for equation in model.equations]
    residuals = locking.lock(given)
    computed = computed_unknowns(reduced.given, reduced.replaced)
    shown = [*(definition.value for definition in model.definitions), *computed.values()]
    definitions = locking.lock(shown)
    transitions = flatten_transitions(model, locking)
    constraints = locking.lock([equation.residual for equation in model.constraints])
    own = [s for variable in model.unknowns for s in variable.symbols()]

    readers = [*definitions, *transitions.conditions, *transitions.new_values.values(), *(g.function for g in locking.guards)]
    wanted = {s for s in dependencies(*readers) if s.data.role is Role.DERIVATIVE}
    form = mass_form(own, residuals, sorted(wanted, key=lambda s: s.data.name))
    form_conditions = substitute(transitions.conditions, form.derivative_values)
    guards = substitute([g.function for g in locking.guards], form.derivative_values)
    values = substitute(definitions, form.derivative_values)
    *new_values, conflict = substitute([*transitions.new_values.values(), transitions.conflict], form.derivative_values)
    in_form = form.derivative_values
    writers = {s: tuple(TargetWriter(w.event_action, *substitute([w.value], in_form)) for w in several) for s, several in transitions.writers.items()}
    transitions = replace(transitions, writers=writers)

    symbols = Symbols(
        unknowns=form.unknowns,
        parameters=tuple(s for v in model.parameters for s in v.symbols()),
        modes=tuple(locking.modes),
        discretes=tuple(s for v in model.discretes for s in v.symbols()),
        inputs=tuple(s for v in model.by_role(VariableRole.INPUT) for s in v.symbols()),
        n_actions=len(transitions.event_actions),
        n_time_events=len(transitions.times),
        dropping=states_before(model),
        is_hdae=model.form is Form.HDAE,
        looks_back=has_delays(given),
    )
    # remarks are asked at events only, as bodies are
    rising = form_conditions[: transitions.n_rising]
    roots = [*form.rhs, *form.mass.values(), *values, *rising, *transitions.times, *transitions.enabled, *guards]
    active = activities(locking, [*form.rhs, *constraints, *form.mass.values(), *definitions, *rising, *transitions.enabled, *residuals])
    state_conditions = _state_conditions(roots, active, symbols.modes)
    state_conditions += [(TRUE, enabled) for enabled in transitions.enabled if not enabled.is_constant]
    continuous = frozenset([symbol(Role.TIME, "time"), *form.unknowns])
    is_linear = np.array([is_affine(g, continuous) for g in guards], dtype=bool)
    is_time = is_linear & np.array([all(s.data.role is not Role.UNKNOWN for s in dependencies(g)) for g in guards], dtype=bool)
    is_opaque = np.array([any(item.op in OPAQUE for item in walk([g])) for g in guards], dtype=bool)
    is_curved = ~(is_linear | is_opaque)

    guard_activity = tuple(active.get(g.mode, active.get(g.function)) for g in locking.guards)

    divisors = divisors_of(form.rhs, active, locking.varies)
    others = turning_divisors(form.rhs, active, continuous, divisors)
    exponents = turning_exponents(form.rhs, active, continuous)
    powers = high_powers(form.rhs, active, continuous)
    edges = flanks(form.rhs, active, continuous)
    algebraic = np.ones(len(form.unknowns), dtype=bool)
    algebraic[[j for _, j in form.mass]] = False
    slopes = jacobian(list(form.rhs), list(form.unknowns), past_overflow=True)
    sparsity = sparsity_of(len(form.unknowns), slopes, ~algebraic) if form.is_diagonal else None
    parts = FunctionParts(
        symbols=symbols,
        rhs=form.rhs,
        mass=form.mass,
        guards=tuple(guards),
        is_time=is_time,
        is_curved=is_curved,
        activity=guard_activity,
        conditions=tuple(form_conditions),
        state_conditions=tuple(state_conditions),
        enabled=transitions.enabled,
        times=transitions.times,
        new_values=dict(zip(transitions.new_values, new_values, strict=True)),
        conflict=conflict,
        outputs=tuple(values),
        slopes=slopes,
        sparsity=sparsity,
        is_diagonal=form.is_diagonal,
        constraints=tuple(value for value, equation in zip(constraints, model.constraints, strict=True) if equation.part in _KEPT),
        hdae_parts=tuple(constraints),
        divisors=(*divisors.values(), *others.values(), *exponents.values(), *powers.values(), *edges.values()),
    )
    specs = function_specs(parts)
    called = {item.data: len(item.args) for item in walk(expr for spec in specs for _, expr in spec.outputs) if item.op == "call"}
    callbacks = {opaque: callback(opaque.function, opaque.name, n_inputs, opaque.n_outputs) for opaque, n_inputs in called.items()}
    module = load(emit_module(specs, {function: ctypes.cast(pointer, ctypes.c_void_p).value or 0 for function, pointer in callbacks.items()}))
    varies = not {Role.MODE, Role.DISCRETE, Role.PREVIOUS}.isdisjoint(_roles(form.mass.values()))
    of_rates, of_guards = _roles(form.rhs), _roles(guards)
    has_branches = varies or Role.MODE in of_rates
    layout, quantities, formulas, own_formulas = _described(reduced, symbols, values, computed)
    forcing = forcing_of([*given, *shown])
    bodies, guard_list = tuple(body.told() for body in transitions.event_actions), tuple(locking.guards)
    initial = ExpressionActions(model.initial_actions, symbols)
    waits = any(is_algebraic and s in initial.read for s, is_algebraic in zip(symbols.unknowns, algebraic, strict=True))
    return CompiledModel(
        name=model.name,
        time_unit=model.time_unit,
        layout=layout,
        quantities=quantities,
        mass_kind=0 if form.is_identity else 1 if form.is_diagonal else 2,
        mass_varies=varies,
        sparsity=sparsity,
        algebraic=algebraic,
        nominal=_nominal(model, len(form.unknowns)),
        guards=_guards(guard_list, symbols, is_linear, is_time, is_opaque, kept_sides(form, locking, symbols.positions)),
        tapes=guard_tapes(guards, ~is_curved, symbols),
        event_actions=bodies,
        clocks=tuple(Clock(event.label, event.origin, event.repeats) for event in model.time_events),
        n_conditions=len(transitions.conditions),
        n_state_conditions=len(state_conditions),
        first_equation=_first_equation(model, form),
        addresses={spec.name: module.address(spec.name) for spec in specs},
        has_opaque=bool(callbacks),
        has_corners=has_corners(form.rhs, continuous),
        has_bends=has_bends(form.rhs, continuous),
        has_branches=has_branches,
        reads_modes=has_branches or Role.MODE in of_guards,
        reads_previous=Role.PREVIOUS in of_rates | of_guards,
        seconds=time.perf_counter() - began,
        start=ExpressionStart(reduced, symbols, guard_list, form.derivatives, asks_solution=waits),
        initial=initial,
        final=ExpressionActions(model.final_actions, symbols),
        outputs=formulas,
        computed=own_formulas,
        followers={item.name: item.reason for item in reduced.followers},
        words=ExpressionWords(reduced, symbols, guard_list, guard_activity, bodies),
        diagnosis=ExpressionDiagnosis(reduced, symbols, guard_list, guard_activity, bodies, transitions.writers, tuple(divisors)),
        stops=partial(stops, forcing, symbols.parameters),
        most_stops=MOST_STOPS if forcing else 0,
        identity=partial(identity, reduced.given),
        again=(compile_model, (reduced,)),
        fitting=None if not any(demand.is_choice for demand in reduced.demands) else Variants(reduced, symbols.parameters, compile_model),
        keep_alive=(module, *callbacks.values()),
        constants=model.constants,
        index_two=np.isin(np.array([s.data.name for s in form.unknowns]), [s.data.name for s in model.index_two]) if model.index_two else None,
        constraint_parts=tuple((e.part, e.label) for e in model.constraints),
        makes_consistent=model.makes_consistent,
        n_divisors=len(divisors),
        n_quotients=len(divisors) + len(others),
        n_peaks=len(parts.divisors),
        n_powers=len(powers),
        past=look_back_of(given, symbols) if symbols.looks_back else None,
        series=ExpressionSeries(symbols, form.rhs, form.mass, _rows(model, form), (*divisors, *others), _watched(guards, is_time, continuous)),
    )


def _roles(exprs: Iterable[Expr]) -> set[Role]:
    """Of what they read."""
    return {s.data.role for s in dependencies(*exprs)}


def _described(
    reduced: Reduced, symbols: Symbols, outputs: Sequence[Expr], computed: Mapping[str, Expr]
) -> tuple[Layout, tuple[Quantity, ...], Formulas | None, Formulas | None]:
    """The layout with what is shown, quantities, outputs as formulas of what dense output holds, and unknowns among them as formulas of others."""
    n_constraints = sum(equation.part in _KEPT for equation in reduced.model.constraints)
    layout = replace(symbols.layout, n_outputs=len(outputs), n_constraints=n_constraints)
    quantities = quantities_of(reduced.given, layout, reduced.replaced, computed)
    shown = tuple(shown_of(quantities, layout))
    previous = {symbol(Role.PREVIOUS, s.data.name): s for s in symbols.discretes}  # between events they are the same
    values = tuple(substitute(list(map(as_real, outputs)), previous))
    read = dependencies(*values)
    kept = {item.index for item in shown if item.source == "unknown"}
    kept |= {k for k, s in enumerate(symbols.unknowns) if s in read}
    layout = replace(layout, shown=shown, dense=np.array(sorted(kept), dtype=np.intp))
    names = (*(d.name for d in reduced.model.definitions), *computed)
    dense = [symbol(Role.UNKNOWN, name) for name in (*layout.interpolated[0], *layout.numbers)]
    first = len(reduced.model.definitions)
    return layout, quantities, _formulas(names, values, dense, symbols), _formulas(names[first:], values[first:], symbols.unknowns, symbols)


def _formulas(names: Sequence[str], values: Sequence[Expr], unknowns: Sequence[Expr], symbols: Symbols) -> Formulas | None:
    """Outputs as formulas of time, these unknowns, discrete variables, and what else they read; None where there are none."""
    if not values:
        return None
    read = dependencies(*values)
    constants = [[k for k, s in enumerate(several) if s in read] for several in (symbols.parameters, symbols.inputs, symbols.modes)]
    read_in_order = [s for several in (symbols.parameters, symbols.inputs, symbols.modes) for s in several if s in read]
    order = (symbol(Role.TIME, "time"), *unknowns, *symbols.discretes, *read_in_order)
    return Formulas(tuple(names), tuple(values), order, *map(tuple, constants))


def _nominal(model: Model, n: int) -> NDArray[np.float64]:
    given = [variable.nominal or 0.0 for variable in model.unknowns for _ in variable.names]
    return np.array([*given, *[0.0] * (n - len(given))])


def _guards(
    guards: Sequence[Guard],
    symbols: Symbols,
    is_linear: NDArray[np.bool_],
    is_time: NDArray[np.bool_],
    is_opaque: NDArray[np.bool_],
    kept: KeptSides,
) -> Guards:
    zeros = zeros_of(guards)
    return Guards(
        kind=np.array([_KINDS[guard.kind] for guard in guards], dtype=np.int64),
        mode=np.array([symbols.positions[guard.mode][1] for guard in guards], dtype=np.int64),
        strict=np.array([guard.strict for guard in guards], dtype=bool),
        source=_numbered([guard.source for guard in guards]),
        zero=_numbered([zero for zero, _ in zeros]),
        facing=_numbered(zeros),
        is_linear=is_linear,
        is_time=is_time,
        is_opaque=is_opaque,
        grids=tuple(_grid(guard.source) for guard in guards),
        kept=kept,
    )


def _watched(guards: Sequence[Expr], is_time: NDArray[np.bool_], continuous: Iterable[Expr]) -> WatchedGuards | None:
    """What whole steps watch of guards that unknowns may bring to their zeros."""
    return watched_guards([guard for guard, of_time in zip(guards, is_time, strict=True) if not of_time], continuous)


def _numbered(items: Sequence[object]) -> NDArray[np.int64]:
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(item, len(numbers)) for item in items], dtype=np.int64)


def _grid(source: Expr) -> tuple[float, ...] | None:
    return None if source.op == "floor" else tuple(source.data[1:-1]) if source.op == "segment" else ()


def _first_equation(model: Model, form: MassForm) -> Origin | None:
    equations = [k for k in form.equations if k >= 0]
    return model.equations[equations[0]].origin if equations else None


def _rows(model: Model, form: MassForm) -> list[tuple[str, Origin | None]]:
    """What messages call the row of each unknown, and where it was written."""
    equations = [model.equations[k] if k >= 0 else None for k in form.equations]
    return [
        (equation.label, equation.origin) if equation is not None else (f"the equation of {unknown.data.name}", None)
        for equation, unknown in zip(equations, form.unknowns, strict=True)
    ]


def _refuse_what_is_not_built(model: Model) -> None:
    """The neutral model can say more than is simulated so far; saying so beats ignoring it."""
    missing = [
        (bool(model.opaque_parts), "opaque parts and hooks"),
        (bool(model.step_events), "step events"),
    ]
    for is_there, what in missing:
        if is_there:
            raise ModelError(f"{model.name} uses {what}, which tidegate can describe but not yet simulate", origin=model.origin)


def _state_conditions(roots: Sequence[Expr], active: dict[Expr, Expr], all_modes: Sequence[Expr]) -> list[tuple[Expr, Expr]]:
    """(activity, value) of every condition of a select, and of every piece number, that modes decide."""
    if not active:
        return []
    modes = set(all_modes)
    found: dict[Expr, Expr] = {}
    for item in walk(roots):
        if item.op == "select" and item.args[0] in active and dependencies(item.args[0]) & modes:
            found.setdefault(item.args[0], active[item.args[0]])
        elif item in modes and item in active:
            found.setdefault(item, active[item])
    # a mode that only decides truth values matters through the conditions it enters, not by itself
    truths = {item.args[0] for item in walk(roots) if item.op == "nonzero" and item.args[0] in modes}
    return [(activity, value) for value, activity in found.items() if value not in truths]
