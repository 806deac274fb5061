"""Derivatives that do not exist: of the times of conditions that only touch their zero, or that change together by chance (stage: executive).

In: what a finished run recorded. Out: the same with NaN in place of every derivative that does not exist, and a sentence for each contact. What a
contact may move is read off the neutral model: everything that depends on the condition, directly or through what does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidegate.executive.recorder import crossed_guard
from tidegate.executive.words import condition_words
from tidegate.expressions import Expr, Role, walk
from tidegate.expressions.sparsity import dependencies
from tidegate.integrators.interface import Integrator, Problem
from tidegate.model import Action, Assignment, Form, Model

__all__ = ["Recorded", "influenced", "strike_out"]

FloatArray = NDArray[np.float64]
_SHOWN = 4  # names in a sentence


@dataclass(frozen=True, eq=False)
class Recorded:
    """What a run has written down; the last two are changed by ``strike_out``.

    Parameters
    ----------
    names : of the columns.
    times : (rows,).
    sensitivities : (rows, parameters, columns).
    log : (events, width) as ``integrators.record`` describes it.
    """

    names: list[str]
    times: FloatArray
    sensitivities: FloatArray
    log: FloatArray


def influenced(model: Model, source: Expr | None, first: Iterable[str] = ()) -> set[str]:
    """Names of all unknowns, discrete variables and outputs that depend on a relation, or on variables named first, directly or through others."""
    names: set[str] = set(first)

    def depends(roots: Iterable[Expr]) -> bool:
        return any(
            item is source or (item.op == "symbol" and item.data.role is not Role.PARAMETER and item.data.name in names) for item in walk(roots)
        )

    def add_targets(actions: Iterable[Action], whole: bool) -> None:
        names.update(a.target.data.name for a in actions if isinstance(a, Assignment) and (whole or depends([a.value])))

    while True:
        before = len(names)
        for equation in model.equations:
            if depends([equation.residual]):
                names.update(_determined(model, equation.left, equation.residual))
        for when in model.whens:
            whole = depends(c for branch in when.branches for c in branch.conditions)
            for branch in when.branches:
                add_targets(branch.actions, whole)
        for event in model.time_events:
            add_targets(event.actions, depends(e for e in (event.first, event.period, event.condition) if e is not None))
        names.update(definition.name for definition in model.definitions if depends([definition.value]))
        if len(names) == before:
            return names


def _determined(model: Model, left: Expr, residual: Expr) -> set[str]:
    """What an equation may be solved for: the derivative on the left of an ODE's, else every derivative and algebraic unknown in it."""
    if model.form is Form.ODE:
        return {left.data.name}
    states = {name for variable in model.unknowns if variable.role.value == "state" for name in variable.names}
    roles = {s: s.data.role for s in dependencies(residual)}
    return {s.data.name for s, role in roles.items() if role is Role.DERIVATIVE or (role is Role.UNKNOWN and s.data.name not in states)}


def strike_out(problem: Problem, integrator: Integrator, recorded: Recorded) -> list[str]:
    """Put NaN where a derivative does not exist; a sentence for each condition and parameter concerned."""
    compiled = problem.model
    ns = len(problem.sensitivity_parameters)
    names = [compiled.layout.parameters[int(k)].data.name for k in problem.sensitivity_parameters]
    sentences: list[str] = []
    taus = recorded.log[:, 5 : 5 + ns]
    tangent = np.flatnonzero(np.isnan(taus).any(axis=1))
    sentences += _strike_coincident(problem, recorded, names)
    for row in tangent:
        crossed = crossed_guard(problem, recorded.log[row])
        if crossed < 0:
            continue
        lost = [i for i in range(ns) if np.isnan(taus[row, i])]
        t = float(recorded.log[row, 0])
        moved = influenced(compiled.model, compiled.guards[crossed].source)
        _strike(problem, recorded, lost, moved, t)
        source = compiled.guards[crossed].source
        condition = condition_words(source, compiled.model.condition_origins.get(source))
        sentences.append(_sentence(f"`{condition}` changes at t = {t:.9g} where it only just reaches its zero", [names[i] for i in lost], moved))
    first = compiled.layout.first_contact
    guard, t = int(integrator.m[first]) - 1, float(integrator.m[first + 1])
    if guard >= 0:
        source = compiled.guards[guard].source
        lost = [i for i in range(ns) if _moves(problem, recorded, source, i, t)]
        if lost:
            moved = influenced(compiled.model, source)
            _strike(problem, recorded, lost, moved, t)
            condition = condition_words(source, compiled.model.condition_origins.get(source))
            what = f"`{condition}` touches its zero at t = {t:.9g}, within the tolerances, and turns back"
            sentences.append(_sentence(what, [names[i] for i in lost], moved))
    return sentences


def _strike_coincident(problem: Problem, recorded: Recorded, names: list[str]) -> list[str]:
    """NaN where conditions changed together that a parameter moves differently: what depends on their order has no derivative by it.

    The kernel marks such a derivative of the event's time as infinite.
    """
    model = problem.model
    ns = len(names)
    sentences: list[str] = []
    for row in np.flatnonzero(np.isinf(recorded.log[:, 5 : 5 + ns]).any(axis=1)):
        entry = recorded.log[row]
        lost = [i for i in range(ns) if np.isinf(entry[5 + i])]
        entry[[5 + i for i in lost]] = np.nan
        sources = _changed(problem, entry)
        fired = [fire for fire, flag in zip(model.transitions.fires, entry[len(entry) - model.layout.n_fires :], strict=True) if flag != 0.0]
        reach = [influenced(model.model, source) for source in sources]
        reach += [influenced(model.model, None, _targets(fire.actions)) for fire in fired if not fire.conditions]
        # where clauses were carried out their order may count too
        least = 1 if fired else 2
        moved = {name for one in reach for name in one if sum(name in other for other in reach) >= least}
        _strike(problem, recorded, lost, moved, float(entry[0]))
        origins = model.model.condition_origins
        who = [f"`{condition_words(source, origins.get(source))}`" for source in sources]
        who += [f"`{fire.label}`" for fire in fired if not fire.conditions]
        by = ", ".join(names[i] for i in lost)
        what = f"{' and '.join(who[:_SHOWN])} happen together at t = {entry[0]:.9g}, and a change of {by} moves them apart"
        result = f"derivatives of {_shown(moved)} by it are NaN from there on" if moved else "nothing in the result depends on it"
        sentences.append(f"{what}: {result}")
    return sentences


def _changed(problem: Problem, entry: FloatArray) -> list[Expr]:
    """The relations, as written, whose truth or piece an entry of the log has changed."""
    layout = problem.model.layout
    n, ns = len(layout.unknowns), len(problem.sensitivity_parameters)
    width = layout.first_discrete + len(layout.discretes)
    before = entry[5 + ns + n :][: len(layout.modes)]
    after = entry[5 + ns + 2 * n + width :][: len(layout.modes)]
    changed = {mode for mode, a, b in zip(layout.modes, before, after, strict=True) if a != b}
    return list(dict.fromkeys(guard.source for guard in problem.model.guards if guard.mode in changed))


def _targets(actions: Iterable[Action]) -> list[str]:
    return [action.target.data.name for action in actions if isinstance(action, Assignment)]


def _shown(moved: set[str]) -> str:
    return ", ".join(sorted(moved)[:_SHOWN]) + (f" and {len(moved) - _SHOWN} more" if len(moved) > _SHOWN else "")


def _sentence(what: str, parameters: list[str], moved: set[str]) -> str:
    result = f"derivatives of {_shown(moved)} by it are NaN from there on" if moved else "nothing in the result depends on it"
    return f"{what}: its time there has no derivative by {', '.join(parameters)} (tangency); {result}"


def _moves(problem: Problem, recorded: Recorded, source: Expr, i: int, t: float) -> bool:
    """Whether a parameter can move a relation at all: it stands in it, or moves something that does."""
    used = dependencies(source)
    if problem.model.layout.parameters[int(problem.sensitivity_parameters[i])] in used:
        return True
    read = {s.data.name for s in used}
    places = [k for k, name in enumerate(recorded.names) if name in read]
    before = recorded.sensitivities[recorded.times <= t]
    return bool(len(before)) and bool(np.any(before[-1, i, places] != 0.0))


def _strike(problem: Problem, recorded: Recorded, lost: list[int], moved: set[str], t: float) -> None:
    columns = [k for k, name in enumerate(recorded.names) if name in moved]
    later = recorded.times > t
    at = np.flatnonzero(recorded.times == t)
    # the first of several rows at the instant is the one before the event
    later[at[1:] if len(at) > 1 else at] = True
    for i in lost:
        recorded.sensitivities[np.ix_(later, [i], columns)] = np.nan
    for row in np.flatnonzero(recorded.log[:, 0] > t):
        crossed = crossed_guard(problem, recorded.log[row])
        if crossed >= 0 and {s.data.name for s in dependencies(problem.model.guards[crossed].source)} & moved:
            recorded.log[row, [5 + i for i in lost]] = np.nan
