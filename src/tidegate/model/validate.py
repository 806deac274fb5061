"""Validation of the neutral model: every problem at once, each with where it came from (a model goes in, silence or one exception comes out).

What needs the equations' structure (their number against the unknowns, singularity, index) is judged later, by the structure stage, which can
name the equations that are too many; what needs numbers along a run is judged there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import InvalidModelError, Origin, UnitError
from tidegate.expressions import Expr, Role, Symbol, symbol, walk
from tidegate.expressions.evaluate import evaluate
from tidegate.model.clause_checks import previous_problems, writer_problems
from tidegate.model.events import Action, Assignment, TimeEvent, expression_of
from tidegate.model.model import Form, Model
from tidegate.model.variables import MAX_DIMENSIONS, STATE_SELECTS, Bound, Variable, VariableRole
from tidegate.numbers_as_texts import text_problem
from tidegate.units import parse

__all__ = ["checked_starts", "checked_times", "have_problem", "parameter_values", "problems", "problems_with", "validate", "value_problem"]

Problem = tuple[str, Origin | None]

_DEFINED: Final = (VariableRole.OUTPUT, VariableRole.INDICATOR, VariableRole.AUXILIARY)
_TIME: Final = "time"
_BEFORE: Final = (Role.UNKNOWN_BEFORE, Role.DERIVATIVE_BEFORE, Role.INPUT_BEFORE, Role.TIME_BEFORE)


def validate(model: Model) -> None:
    """Refuse a model that cannot be meant as it stands.

    Parameters
    ----------
    model : neutral model of any front end.

    Raises
    ------
    InvalidModelError : listing every problem found, each with its origin.

    Examples
    --------
    >>> from tidegate.model import Form, Model
    >>> validate(Model("nothing", Form.ODE, ()))
    Traceback (most recent call last):
    ...
    tidegate.errors.InvalidModelError: the model has 1 problem:
      - nothing has no variables: there is nothing to simulate
    """
    found = problems(model)
    if found:
        raise InvalidModelError(found)


def problems(model: Model) -> list[Problem]:
    """Every problem of a model: a sentence and its origin."""
    checks: tuple[Callable[[Model], Iterator[Problem]], ...] = (
        _check_names,
        _check_variables,
        _check_time_unit,
        _check_starts,
        _check_symbols,
        _check_derivatives,
        _check_definitions,
        _check_assignments,
        writer_problems,
        previous_problems,
        _check_times,
    )
    return [problem for check in checks for problem in check(model)]


def problems_with(model: Model, parameters: Mapping[Expr, float], *, has_started: bool = False) -> list[Problem]:
    """What is wrong with a valid model whose parameters have other values: limits, start values unless it runs already, clocks."""
    return [*(() if has_started else _check_starts(model, parameters)), *_check_times(model, parameters)]


def parameter_values(model: Model) -> dict[Expr, float]:
    """Numbers of all parameters; those given in terms of other parameters after these. Missing are only those that go in a circle."""
    values: dict[Expr, float] = {}
    waiting = [pair for v in model.parameters if _has_sound_start(v) for pair in zip(v.symbols(), v.starts(), strict=True)]
    while waiting:
        ready = [(item, start) for item, start in waiting if all(s in values for s in _symbols([start]))]
        if not ready:
            break
        values.update(zip([item for item, _ in ready], evaluate([start for _, start in ready], values), strict=True))
        waiting = [(item, start) for item, start in waiting if item not in values]
    return values


def _symbols(roots: Iterable[Expr]) -> list[Expr]:
    return [item for item in walk(roots) if item.op == "symbol"]


def _has_sound_start(variable: Variable) -> bool:
    return not variable.start or len(variable.start) == variable.size


def _check_names(model: Model) -> Iterator[Problem]:
    if not model.variables:
        yield f"{model.name} has no variables: there is nothing to simulate", model.origin
        return
    taken: dict[str, Variable] = {}
    for variable in model.variables:
        if variable.name == _TIME:
            yield f"{variable.role.value} {_TIME}: this name is kept for the simulated time; choose another", variable.origin
        for name in {variable.name, *variable.names}:
            earlier = taken.setdefault(name, variable)
            if earlier is not variable:
                place = f" at {earlier.origin}" if str(earlier.origin) else ""
                yield f"{variable.role.value} {name}: this name is already taken by the {earlier.role.value}{place}", variable.origin
                break


def _check_variables(model: Model) -> Iterator[Problem]:
    for variable in model.variables:
        what = f"{variable.role.value} {variable.name}"
        if len(variable.shape) > MAX_DIMENSIONS:
            yield f"{what} has {len(variable.shape)} dimensions; at most {MAX_DIMENSIONS} are possible", variable.origin
        if any(length < 1 for length in variable.shape):
            yield f"{what} has the shape {variable.shape}; every length must be at least 1", variable.origin
        if not _has_sound_start(variable):
            yield f"{what} has {variable.size} element(s), but {len(variable.start)} start value(s)", variable.origin
        if variable.nominal is not None and not (math.isfinite(variable.nominal) and variable.nominal > 0):
            yield f"{what}: nominal is {variable.nominal:g}; it must be a positive number", variable.origin
        yield from _check_state_select(variable, what)
        low, high = variable.minimum, variable.maximum
        if low and high and (low.value > high.value or (low.value == high.value and (low.is_open or high.is_open))):
            yield f"{what}: no value lies between min {low.value:g} and max {high.value:g}", variable.origin
        try:
            unit = parse(variable.unit)
            if variable.display_unit and not parse(variable.display_unit).is_compatible(unit):
                yield f"{what}: its unit is {variable.unit or 'none'}, and cannot be shown in {variable.display_unit}", variable.origin
        except UnitError as error:
            yield f"{what}: {error.message}{f' ({error.hint})' if error.hint else ''}", variable.origin


def _check_state_select(variable: Variable, what: str) -> Iterator[Problem]:
    wish = variable.state_select
    if wish not in STATE_SELECTS:
        yield f"{what}: state_select is {wish!r}; it must be one of {', '.join(STATE_SELECTS)}", variable.origin
    elif wish != "default" and variable.role not in (VariableRole.STATE, VariableRole.ALGEBRAIC):
        yield f"{what}: state_select is {wish!r}, but only states and algebraic variables have one", variable.origin


def _check_time_unit(model: Model) -> Iterator[Problem]:
    try:
        measured = parse(model.time_unit)
    except UnitError as error:
        yield f"the unit of time: {error.message}{f' ({error.hint})' if error.hint else ''}", model.origin
        return
    if model.time_unit and not measured.is_compatible(parse("s")):
        yield f"the unit of time is {model.time_unit!r}, which measures {measured}; write e.g. s, ms, min, h, d or yr", model.origin


def _inside(value: float, low: Bound | None, high: Bound | None) -> bool:
    above = low is None or value > low.value or (value == low.value and not low.is_open)
    below = high is None or value < high.value or (value == high.value and not high.is_open)
    return above and below


def _limits(variable: Variable) -> str:
    low, high = variable.minimum, variable.maximum
    left = f"{'more than' if low.is_open else 'at least'} {low.value:g}" if low else ""
    right = f"{'less than' if high.is_open else 'at most'} {high.value:g}" if high else ""
    return " and ".join(part for part in (left, right) if part)


def value_problem(variable: Variable, name: str, value: float, word: str = "value") -> str:
    """A sentence if the variable, or its element of this name, cannot have the value; otherwise nothing."""
    if variable.kind == "real" and not variable.texts and math.isfinite(value) and _inside(value, variable.minimum, variable.maximum):
        return ""
    what = f"{variable.role.value} {name}: its {word} {value:g}"
    if not math.isfinite(value):
        return f"{what} is not a finite number"
    if not _inside(value, variable.minimum, variable.maximum):
        return f"{what} must be {_limits(variable)}"
    if variable.texts and value not in {number for _, number in variable.texts}:
        return text_problem(f"{variable.role.value} {name}", value, variable.texts)
    if variable.kind == "integer" and value != math.floor(value):
        return f"{what} is not an integer, but the variable is one"
    if variable.kind == "boolean" and value not in (0.0, 1.0):
        return f"{what} is neither true nor false, but the variable is a truth value"
    return ""


def have_problem(variable: Variable, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """For which of these values ``value_problem`` has a sentence."""
    low, high = variable.minimum, variable.maximum
    found = ~np.isfinite(values)
    if low is not None:
        found |= values <= low.value if low.is_open else values < low.value
    if high is not None:
        found |= values >= high.value if high.is_open else values > high.value
    if variable.texts:
        found |= ~np.isin(values, [number for _, number in variable.texts])
    if variable.kind == "integer":
        found |= values != np.floor(values)
    if variable.kind == "boolean":
        found |= (values != 0.0) & (values != 1.0)
    return found


def checked_starts(model: Model) -> Iterator[tuple[Variable, Expr, Expr]]:
    """Each element of a variable whose value or start value is checked, by its symbol, and what it is."""
    for variable in model.variables:
        if _has_sound_start(variable) and variable.role not in _DEFINED:
            for item, start in zip(variable.symbols(), variable.starts(), strict=True):
                yield variable, item, start


def checked_times(model: Model) -> Iterator[tuple[str, Expr]]:
    """Each time and period of a time event, by what it is called."""
    for event in model.time_events:
        for word, expression in (("time", event.first), ("period", event.period)):
            if expression is not None:
                yield word, expression


def _check_starts(model: Model, parameters: Mapping[Expr, float] | None = None) -> Iterator[Problem]:
    values = parameter_values(model) if parameters is None else parameters
    known = {item for variable in model.parameters for item in variable.symbols()}
    for variable in model.variables:
        if not _has_sound_start(variable) or variable.role in _DEFINED:
            continue
        is_given = parameters is not None and variable.role is VariableRole.PARAMETER
        starts = variable.symbols() if is_given else variable.starts()
        reads = [[] if start.is_constant else _symbols([start]) for start in starts]
        numbers = iter(evaluate([start for start, used in zip(starts, reads, strict=True) if all(item in values for item in used)], values))
        for name, used in zip(variable.names, reads, strict=True):
            foreign = [str(item.data.name) for item in used if item not in known]
            if foreign:
                yield (
                    f"{variable.role.value} {name}: its start value depends on {', '.join(foreign)}; only parameters may appear in it",
                    variable.origin,
                )
            elif any(item not in values for item in used):
                yield (
                    f"{variable.role.value} {name}: its value depends on itself, through {', '.join(str(item.data.name) for item in used)}",
                    variable.origin,
                )
            else:
                word = "value" if variable.role is VariableRole.PARAMETER else "start value"
                sentence = value_problem(variable, name, next(numbers), word)
                if sentence:
                    yield sentence, variable.origin


def _known_symbols(model: Model) -> set[Expr]:
    known = {symbol(Role.TIME, _TIME)}
    for variable in model.variables:
        if variable.role in _DEFINED:
            continue
        known.update(variable.symbols())
        if variable.role in (VariableRole.STATE, VariableRole.ALGEBRAIC):
            known.update(symbol(Role.DERIVATIVE, name) for name in variable.names)
        if variable.role in (VariableRole.STATE, VariableRole.ALGEBRAIC, VariableRole.DISCRETE):
            known.update(symbol(Role.PREVIOUS, name) for name in variable.names)
    return known


def _new_values(model: Model) -> set[Expr]:
    """What only the bodies of events can read: the values discrete variables get in the same round."""
    return {symbol(Role.NEXT, name) for variable in model.discretes for name in variable.names}


def _agenda(model: Model) -> Iterator[tuple[str, Origin, tuple[Action, ...], tuple[Expr, ...]]]:
    """Every clause's branch: its name, origin, actions and the expressions that trigger it."""
    for when in model.whens:
        for branch in when.branches:
            yield branch.label or "a when clause", branch.origin, branch.actions, branch.conditions
    for event in model.time_events:
        triggers = (event.first, *(item for item in (event.period, event.condition) if item is not None))
        yield event.label or "a time event", event.origin, event.actions, triggers
    for step in model.step_events:
        yield step.label or "a step event", step.origin, step.actions, (step.condition,)
    yield "the initial actions", model.origin, model.initial_actions, ()
    yield "the final actions", model.origin, model.final_actions, ()


def _places(model: Model, *, left: bool = True) -> Iterator[tuple[str, Origin, list[Expr]]]:
    """Everything that holds expressions: how to name it, where it is, and the expressions."""
    for index, equation in enumerate(model.equations):
        yield equation.label or f"equation {index + 1}", equation.origin, [equation.left, equation.right][not left :]
    for index, equation in enumerate(model.initial_equations):
        yield equation.label or f"initial equation {index + 1}", equation.origin, [equation.left, equation.right][not left :]
    for definition in model.definitions:
        yield f"the definition of {definition.name}", definition.origin, [definition.value]
    for label, origin, actions, triggers in _agenda(model):
        yield label, origin, [*triggers, *map(expression_of, actions)]


def _uses(model: Model, is_wrong: Callable[[Expr], bool], *, left: bool = True) -> Iterator[tuple[str, Origin, str]]:
    """Places with symbols that are wrong there, and which; each is only looked at by itself where there are any at all."""
    wrong = {item for item in _symbols(root for _, _, roots in _places(model, left=left) for root in roots) if is_wrong(item)}
    for label, origin, roots in _places(model, left=left) if wrong else ():
        names = sorted({_described(item.data) for item in _symbols(roots) if item in wrong})
        if names:
            yield label, origin, ", ".join(names)


def _check_symbols(model: Model) -> Iterator[Problem]:
    known = _known_symbols(model) | _new_values(model)
    for label, origin, names in _uses(model, lambda item: item.data.role in _BEFORE):
        yield f"{label} asks for tg.pre of {names}, which is kept in components only; here it is of discrete variables", origin
    for label, origin, strangers in _uses(model, lambda item: item not in known and item.data.role not in _BEFORE):
        yield f"{label} uses {strangers}, which this model does not have", origin


def _described(data: Symbol) -> str:
    if data.role is Role.DERIVATIVE:
        return f"der({data.name})"
    if data.role is Role.NEXT:
        return f"the new value of {data.name}"
    return f"pre({data.name})" if data.role is Role.PREVIOUS else data.name


def _check_derivatives(model: Model) -> Iterator[Problem]:
    if any(part.role == "F" for part in model.opaque_parts):
        return
    present = set(_symbols(side for equation in model.equations for side in (equation.left, equation.right)))
    if model.form is Form.ODE:
        yield from _check_explicit(model)
    else:
        for variable in model.by_role(VariableRole.STATE):
            missing = [name for name in variable.names if symbol(Role.DERIVATIVE, name) not in present]
            if missing:
                yield (
                    f"state {', '.join(missing)}: its derivative stands in no equation; give one, or make it an algebraic or discrete variable",
                    variable.origin,
                )
    for variable in model.by_role(VariableRole.ALGEBRAIC):
        wrong = [name for name in variable.names if symbol(Role.DERIVATIVE, name) in present]
        if wrong:
            yield f"algebraic {', '.join(wrong)}: its derivative is used; make it a state", variable.origin


def _check_explicit(model: Model) -> Iterator[Problem]:
    """An ODE has for every state exactly one equation ``der(state) == ...`` and nothing else."""
    wanted = {symbol(Role.DERIVATIVE, name): name for variable in model.unknowns for name in variable.names}
    count = Counter(equation.left for equation in model.equations)
    for variable in model.unknowns:
        missing = [name for name in variable.names if not count[symbol(Role.DERIVATIVE, name)]]
        if missing:
            yield f"{variable.role.value} {', '.join(missing)} has no equation for its derivative", variable.origin
    seen: dict[Expr, Origin] = {}
    for index, equation in enumerate(model.equations):
        label = equation.label or f"equation {index + 1}"
        if equation.left not in wanted:
            yield f"{label} has {equation.left!r} on its left side; an ODE has derivatives of its states there", equation.origin
        elif equation.left in seen:
            earlier = f" (the first is at {seen[equation.left]})" if str(seen[equation.left]) else ""
            yield f"{label} is a second equation for der({wanted[equation.left]}){earlier}", equation.origin
        else:
            seen[equation.left] = equation.origin
    for label, origin, rates in _uses(model, lambda item: item.data.role is Role.DERIVATIVE, left=False):
        yield f"{label} uses {rates}; in an ODE write what the derivative is equal to instead", origin


def _check_definitions(model: Model) -> Iterator[Problem]:
    owners = {name: variable for variable in model.by_role(*_DEFINED) for name in variable.names}
    count = Counter(definition.name for definition in model.definitions)
    for definition in model.definitions:
        if definition.name not in owners:
            yield f"the definition of {definition.name} belongs to no output", definition.origin
        elif count[definition.name] > 1:
            yield f"{owners[definition.name].role.value} {definition.name} is defined {count[definition.name]} times", definition.origin
            count[definition.name] = 0
    if any(part.role in ("G", "H") for part in model.opaque_parts):
        return
    for name, variable in owners.items():
        if name not in count:
            yield f"{variable.role.value} {name} is defined by no expression and no equation", variable.origin


def _check_assignments(model: Model) -> Iterator[Problem]:
    writable = {item for v in [*model.unknowns, *model.discretes] for item in v.symbols()}
    fixed = {item: v for v in model.by_role(VariableRole.INPUT, VariableRole.PARAMETER) for item in v.symbols()}
    for label, origin, actions, _ in _agenda(model):
        count = Counter(action.target for action in actions if isinstance(action, Assignment))
        for target, times in count.items():
            if target not in writable:
                role = f"the {fixed[target].role.value} " if target in fixed else ""
                yield f"{label} assigns to {role}{target!r}; only states, algebraic and discrete variables can be assigned", origin
            elif times > 1:
                yield f"{label} assigns {times} times to {target!r}", origin


def _check_times(model: Model, parameters: Mapping[Expr, float] | None = None) -> Iterator[Problem]:
    values = parameter_values(model) if parameters is None else parameters
    for event in model.time_events:
        label = event.label or "a time event"
        for word, expression in (("time", event.first), ("period", event.period)):
            if expression is None:
                continue
            wrong = [_described(s.data) for s in _symbols([expression]) if s.data.role not in (Role.PARAMETER, Role.DISCRETE, Role.PREVIOUS)]
            if wrong:
                yield f"the {word} of {label} depends on {', '.join(wrong)}; only parameters and discrete variables may appear in it", event.origin
            elif all(item in values for item in _symbols([expression])):
                yield from _check_time(event, label, word, evaluate([expression], values)[0])


def _check_time(event: TimeEvent, label: str, word: str, value: float) -> Iterator[Problem]:
    if not math.isfinite(value):
        yield f"the {word} of {label} is {value:g}; it must be a finite number", event.origin
    elif word == "period" and value <= 0:
        yield f"the period of {label} is {value:g}; it must be positive", event.origin
