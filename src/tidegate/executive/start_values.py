"""Values at the start of a run, and their derivatives by parameters: parameters, start expressions, initial actions, first guesses of modes."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.interface import CompiledModel
from tidegate.compiled.locking import GuardKind
from tidegate.errors import UsageError
from tidegate.expressions import Expr, Role, as_expr, symbol
from tidegate.expressions.differentiate import differentiate
from tidegate.expressions.evaluate import evaluate
from tidegate.expressions.sparsity import dependencies
from tidegate.expressions.substitute import substitute
from tidegate.model import Assignment, VariableRole
from tidegate.model.validate import problems_with

__all__ = ["StartValues", "declared_starts", "find_parameters", "parameter_vector", "start_values"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StartValues:
    """Start vectors; derivatives by the chosen parameters as (parameter, element)."""

    y: FloatArray
    m: FloatArray
    dy_dp: FloatArray
    dd_dp: FloatArray


def parameter_vector(compiled: CompiledModel, changes: Mapping[str, float]) -> FloatArray:
    """Values of all parameters, with some replaced by the caller's."""
    names = [s.data.name for s in compiled.layout.parameters]
    places = {name: k for k, name in enumerate(names)}
    defaults = [start for v in compiled.model.parameters for start in v.starts()]
    given: dict[int, float] = {}
    for name, value in changes.items():
        place = find_parameters(names, [name])[0] if name not in places else places[name]
        try:
            given[place] = float(value)
        except (TypeError, ValueError):
            raise UsageError(f"parameter {name} needs a number, not {value!r}") from None
        if not math.isfinite(given[place]):
            raise UsageError(f"parameter {name} must be finite, not {value}")
    values: dict[Expr, float] = {}
    result = np.zeros(len(names))
    # a default may be an expression of parameters before it
    for k, (parameter, default) in enumerate(zip(compiled.layout.parameters, defaults, strict=True)):
        result[k] = given[k] if k in given else evaluate([default], values)[0]
        values[parameter] = float(result[k])
    if given:
        _refuse_wrong_values(compiled, values)
    return result


def _refuse_wrong_values(compiled: CompiledModel, parameters: Mapping[Expr, float]) -> None:
    """UsageError if the model cannot have these parameters: one lies outside its limits, or a clock would have no period."""
    found = problems_with(compiled.model, parameters)
    if found:
        sentence, origin = found[0]
        raise UsageError(sentence, origin=origin)


def find_parameters(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Places of parameters by name; an array's name stands for all its elements."""
    places: list[int] = []
    for name in wanted:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise UsageError(f"a parameter has a name, and {name!r} is none", hint=f"the parameters are {', '.join(names[:12]) or '(none)'}")
        found = [k for k, known in enumerate(names) if known == name or known.startswith(f"{name}[")]
        if not found:
            close = difflib.get_close_matches(name, names, n=3)
            listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            hint = f"did you mean {' or '.join(close)}?" if close else f"the parameters are {listed or '(none)'}"
            raise UsageError(f"the model has no parameter {name!r}", hint=hint)
        places.extend(found)
    return places


def start_values(compiled: CompiledModel, p: FloatArray, t_start: float, chosen: Sequence[int], *, with_actions: bool = True) -> StartValues:
    """Start vectors of y and m with their derivatives by the chosen parameters; declared ones, or with the initial actions carried out on these."""
    layout = compiled.layout
    starts = _start_expressions(compiled) if with_actions else declared_starts(compiled)
    values: dict[Expr, float] = dict(zip(layout.parameters, p.tolist(), strict=True))
    values[symbol(Role.TIME, "time")] = t_start
    ordered = [*layout.unknowns, *layout.discretes, *layout.inputs]
    numbers = evaluate([starts[s] for s in ordered], values)
    values |= dict(zip(ordered, numbers, strict=True))

    m = np.zeros(layout.n_m)
    first, nd = layout.first_discrete, len(layout.discretes)
    for k, s in enumerate(layout.discretes):
        m[first + k] = m[first + nd + k] = values[s]
        values[symbol(Role.PREVIOUS, s.data.name)] = values[s]
    for k, s in enumerate(layout.inputs):
        m[layout.first_input + k] = values[s]
    _guess_modes(compiled, values, m)

    n = len(layout.unknowns)
    dy, dd = np.zeros((len(chosen), n)), np.zeros((len(chosen), nd))
    for target, symbols in ((dy, layout.unknowns), (dd, layout.discretes)):
        for k, s in enumerate(symbols):
            needs = dependencies(starts[s])
            for row, place in enumerate(chosen):
                parameter = layout.parameters[place]
                if parameter in needs:
                    target[row, k] = evaluate([differentiate(starts[s], parameter)], values)[0]
    return StartValues(np.array([values[s] for s in layout.unknowns]), m, dy, dd)


def declared_starts(compiled: CompiledModel) -> dict[Expr, Expr]:
    """For every unknown, discrete variable and input its start value in terms of parameters, before the initial actions."""
    model, layout = compiled.model, compiled.layout
    starts: dict[Expr, Expr] = {}
    for variable in model.variables:
        if variable.role in (VariableRole.STATE, VariableRole.ALGEBRAIC, VariableRole.DISCRETE, VariableRole.INPUT):
            starts |= dict(zip(variable.symbols(), variable.starts(), strict=True))
    for extra in layout.unknowns[compiled.n_own :]:
        name = extra.data.name.removeprefix("der(").removesuffix(")")
        starts[extra] = model.derivative_starts.get(name, as_expr(0.0))
    return starts


def _start_expressions(compiled: CompiledModel) -> dict[Expr, Expr]:
    """The same in terms of parameters and time, initial actions carried out."""
    model, layout = compiled.model, compiled.layout
    starts = declared_starts(compiled)
    assignments = [action for action in model.initial_actions if isinstance(action, Assignment)]
    previous = {symbol(Role.PREVIOUS, s.data.name): starts[s] for s in layout.discretes}
    changed = substitute([action.value for action in assignments], starts | previous)
    return starts | {action.target: value for action, value in zip(assignments, changed, strict=True)}


def _guess_modes(compiled: CompiledModel, values: dict[Expr, float], m: FloatArray) -> None:
    """First values of modes from the user's own relations; the consistent start corrects them."""
    for name, value in compiled.model.derivative_starts.items():
        values.setdefault(symbol(Role.DERIVATIVE, name), evaluate([value], values)[0])
    for unknown in compiled.layout.unknowns[: compiled.n_own]:
        values.setdefault(symbol(Role.DERIVATIVE, unknown.data.name), 0.0)
    places = {mode: k for k, mode in enumerate(compiled.layout.modes)}
    for guard in compiled.guards:
        if guard.kind is GuardKind.UPPER:
            continue
        source = guard.source
        number = evaluate([source], values)[0]
        m[places[guard.mode]] = number if math.isfinite(number) else 0.0
