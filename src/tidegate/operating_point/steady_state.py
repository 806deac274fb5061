"""``tg.steady_state`` (stage: operating_point): from the caller's words to values at which a model comes to rest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np
from numpy.typing import ArrayLike

from tidegate.compiled.compiled_model import CompiledModel
from tidegate.compiled.workspace import FIRST_REMARK
from tidegate.errors import RunError, SteadyStateError, UsageError
from tidegate.executive import Standing
from tidegate.names import given_by_name, listed
from tidegate.operating_point.begin import begin, refuse_what_is_not_covered
from tidegate.operating_point.equations_at import EquationsAt, FloatArray
from tidegate.operating_point.rest import Rest, Unrest, come_to_rest
from tidegate.operating_point.steady_point import SteadyState
from tidegate.quick_dataclass import dataclass
from tidegate.results.labels import number
from tidegate.simulate import compiled_of
from tidegate.simulation import Simulation
from tidegate.starts_and_inputs import with_starts_and_inputs
from tidegate.sweep.members import Members, members_of
from tidegate.wrong_calls import explained

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["steady_state"]

_MOVED: Final = 1e-6  # of the size of a variable: what a tick changes by less has settled
_SPAN: Final = "span=..., in which the model runs first, with its events"


@overload
def steady_state(
    source: Any, *, parameters: Mapping[str, ArrayLike] | None = None, y0: Mapping[str, ArrayLike] | None = None,
    inputs: Mapping[str, Any] | None = None, time: float = 0.0, span: float | None = None, grid: None = None,
) -> SteadyState: ...  # fmt: skip
@overload
def steady_state(
    source: Any, *, parameters: Mapping[str, ArrayLike] | None = None, y0: Mapping[str, ArrayLike] | None = None,
    inputs: Mapping[str, Any] | None = None, time: float = 0.0, span: float | None = None, grid: Mapping[str, ArrayLike],
) -> xr.Dataset: ...  # fmt: skip
@explained
def steady_state(
    source: Any, *, parameters: Mapping[str, ArrayLike] | None = None, y0: Mapping[str, ArrayLike] | None = None,
    inputs: Mapping[str, Any] | None = None, time: float = 0.0, span: float | None = None, grid: Mapping[str, ArrayLike] | None = None,
) -> SteadyState | xr.Dataset:  # fmt: skip
    """Find values at which a model comes to rest: all derivatives zero, all equations satisfied, every condition as it was taken.

    Newton's method first; where it does not arrive, steps in time that become longer and longer. Discrete variables keep the values that they have
    at the start, or behind ``span``.

    Parameters
    ----------
    source : anything that ``tg.simulate`` takes.
    parameters : values that replace the model's, by name.
    y0 : values to begin the search with, by name: of states, of discrete variables, and guesses of algebraic variables. The model's start values
        are taken for others. A steady state of before, or ``result.final``, will do.
    inputs : by name functions of time, numbers or tables in place of inputs, as for ``tg.simulate``; they are taken at ``time``.
    time : at which everything that depends on time is taken.
    span : how long the model runs first, from ``time`` on, with all its events; None for not at all.
    grid : lists of values of parameters; a steady state is looked for at every combination, from that of its neighbour.

    Returns
    -------
    SteadyState : a mapping of values by name. With ``grid`` an ``xarray.Dataset`` along the parameters; ``status`` is "found" or "failed",
        ``message`` says why, and values that were not found are NaN.

    Raises
    ------
    ModelError, UsageError : the model or an argument is wrong.
    SteadyStateError : there is none that was found; it names what does not settle.
    RunError : there is no consistent start, or the run of ``span`` stopped.

    Examples
    --------
    >>> import tidegate as tg
    >>> tank = tg.ode(lambda t, y, p: [p["inflow"] - 0.5 * max(y["level"] - 1.0, 0.0)], y0={"level": 0.0}, p={"inflow": 0.2})
    >>> print(f"{tg.steady_state(tank)['level']:.3f}")
    1.400
    >>> tg.steady_state(tank, grid={"inflow": [0.1, 0.2, 0.3]})["level"].values.round(3).tolist()
    [1.2, 1.4, 1.6]
    """
    if not math.isfinite(time):
        raise UsageError(f"time must be a finite number, not {time!r}", hint="time=0.0")
    if span is not None and not (math.isfinite(span) and span > 0.0):
        raise UsageError(f"span must be a positive number, not {span!r}", hint="span=100.0, so long does the model run first")
    if inputs is not None:
        source, _ = with_starts_and_inputs(source, {"inputs": inputs})
    search = _Search(source, given_by_name("parameters", parameters, 'parameters={"k": 2.0}'), y0, float(time), span)
    if grid is None:
        return search.found({})
    return _dataset(search, members_of(compiled_of(source), parameters, grid))


@dataclass(frozen=True, eq=False)
class _Search:
    """What was asked for."""

    source: Any
    parameters: dict[str, Any]
    y0: Mapping[str, ArrayLike] | None
    time: float
    span: float | None

    def found(self, more: Mapping[str, float], near: SteadyState | None = None) -> SteadyState:
        """The steady state with some parameters more, begun with another one where there is that."""
        given = {**self.parameters, **more}
        simulation = Simulation(self.source, self.time, parameters=given)
        compiled = simulation.compiled
        refuse_what_is_not_covered(compiled)
        guesses = begin(simulation, self.y0)
        if self.span is not None:
            simulation.advance(self.time + self.span)
        standing = simulation.standing
        if simulation.status != "ready":
            raise SteadyStateError(f"the model ends its run at t = {number(standing.time, 9)}, and comes to no rest", time=standing.time)
        y, m = standing.y.copy(), standing.m.copy()
        for k, value in guesses:
            y[k] = value
        equations = EquationsAt(compiled, standing.time, standing.p)
        outcome: Rest | Unrest | None = None
        if near is not None and len(near.standing.y) == len(y):
            modes = np.concatenate([near.standing.m[: compiled.layout.n_modes], m[compiled.layout.n_modes :]])
            outcome = come_to_rest(equations, near.standing.y.copy(), modes)
            outcome = outcome if isinstance(outcome, Rest) and outcome.is_isolated else None
        outcome = outcome or come_to_rest(equations, y, m)
        if isinstance(outcome, Unrest):
            raise _restless(equations, outcome, self.span)
        place = Standing(standing.time, outcome.y, outcome.m, standing.p)
        _check_clauses(compiled, equations, standing, place, self.span)
        _check_clocks(compiled, equations, place, self.span)
        return SteadyState(self.source, compiled, place, how=outcome.how, iterations=outcome.iterations, is_isolated=outcome.is_isolated, given=given)


# -- what is no result ------------------------------------------------------------------------------------------------------------------------


def _restless(equations: EquationsAt, unrest: Unrest, span: float | None) -> SteadyStateError:
    compiled = equations.compiled
    name = compiled.layout.unknowns[unrest.unknown]
    value = float(unrest.y[unrest.unknown])
    what = f"no steady state of {compiled.name} was found: {name} does not settle"
    if compiled.algebraic[unrest.unknown]:
        what += f"; its equation is not satisfied at {number(value)}"
    else:
        what += f"; at {number(value)} it still changes by {number(unrest.rate, 3)} per unit of time"
    if unrest.guards:
        words = compiled.words
        seen = sorted({words.relation(k, holds=bool(unrest.m[compiled.guards.mode[k]])) for k in unrest.guards})
        what += f", and {listed(seen)} switches back and forth: neither side of it has a steady state"
    hint = f"y0={{...}} nearer to it, or {_SPAN}" if span is None else "y0={...} nearer to it; a model that oscillates or grows has none"
    return SteadyStateError(what, time=equations.time, origin=compiled.words.origin(unrest.guards[0]) if unrest.guards else None, hint=hint)


def _check_clauses(compiled: CompiledModel, equations: EquationsAt, before: Standing, place: Standing, span: float | None) -> None:
    """An error where a clause would happen on the way: what it sets was kept all the same."""
    if not compiled.n_conditions:
        return
    size = compiled.n_conditions + compiled.n_state_conditions
    old, new = (equations.value("conditions", size, one.y, one.m) for one in (before, place))
    for action in compiled.event_actions:
        if not 0 <= action.chain < FIRST_REMARK or action.inner_modes is not None:
            continue
        if any(new[c] != 0.0 and old[c] == 0.0 for c in action.conditions):
            raise SteadyStateError(
                f"no steady state of {compiled.name} with these discrete variables: where it would be, {action.label or 'a clause'} has happened",
                time=place.time,
                origin=action.origin,
                hint="y0={...} with other values of discrete variables" + (f", or {_SPAN}" if span is None else ""),
            )


def _check_clocks(compiled: CompiledModel, equations: EquationsAt, place: Standing, span: float | None) -> None:
    """An error where the next tick of a clock changes a value."""
    layout = compiled.layout
    if not layout.n_time_events:
        return
    first = layout.first_action + layout.n_actions - layout.n_time_events - layout.n_step_events
    periods = compiled.start.periods(place.p)
    is_due = np.isfinite(equations.value("times", len(compiled.guards) + layout.n_time_events, place.y, place.m)[len(compiled.guards) :])
    discretes = place.m[layout.first_discrete : layout.first_previous]
    names = [*layout.unknowns, *layout.discretes]
    for k, clock in enumerate(compiled.clocks):
        if not (is_due[k] and (clock.repeats or periods[k] > 0.0)):
            continue
        m = place.m.copy()
        m[first + k] = 1.0
        before = np.concatenate([place.y, discretes])
        after = equations.written("bodies", before, place.y, m)
        moved = np.abs(after - before) > _MOVED * (np.maximum(np.abs(before), np.abs(after)) + 1e-6)
        hidden = {q.name for q in compiled.quantities if q.is_hidden}
        changed = [i for i in np.flatnonzero(moved).tolist() if names[i] not in hidden]
        if changed:
            i = changed[0]
            raise SteadyStateError(
                f"no steady state of {compiled.name}: the next tick of {clock.label or 'a clock'} changes {names[i]} from {number(float(before[i]))} "
                f"to {number(float(after[i]))}",
                time=place.time,
                origin=clock.origin,
                hint=_SPAN if span is None else "a longer span; a clock that counts or draws numbers never comes to rest",
            )


# -- many --------------------------------------------------------------------------------------------------------------------------------------


def _dataset(search: _Search, members: Members) -> xr.Dataset:
    import xarray as xr

    search = _Search(search.source, members.fixed, search.y0, search.time, search.span)
    found: list[SteadyState | None] = []
    messages: list[str] = []
    row = members.shape[-1]
    for k in range(len(members)):
        values = dict(zip(members.names, members.values[k].tolist(), strict=True))
        # the neighbour in the row, or at its beginning the one before in the column
        near = next((found[j] for j in ((k - 1,) if k % row else (k - row,)) if j >= 0), None)
        try:
            found.append(search.found(values, near))
            messages.append("")
        except RunError as error:
            found.append(None)
            messages.append(error.message)
    shape, dims = members.shape, members.dims
    located = compiled_of(search.source).located
    variables: dict[str, Any] = {}
    first = next((one for one in found if one is not None), None)
    for name, value in () if first is None else first.items():
        inner = np.shape(value)
        column: FloatArray = np.array([np.full(inner, np.nan) if one is None else one[name] for one in found], dtype=float)
        quantity = located[name].quantity
        attributes = {key: text for key, text in (("units", quantity.unit), ("long_name", quantity.description)) if text}
        own = tuple(f"{name}_{axis}" for axis in range(len(inner)))
        variables[name if name not in (*dims, "status", "message") else f"{name}_"] = ((*dims, *own), column.reshape(*shape, *inner), attributes)
    status = ["failed" if one is None else "found" for one in found]
    variables["status"] = (dims, np.array(status).reshape(shape))
    variables["message"] = (dims, np.array(messages, dtype=object).reshape(shape))
    return xr.Dataset(variables, members.coords)
