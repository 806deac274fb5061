"""Derivatives that do not exist: of the times of conditions that only touch their zero, or that change together by chance (stage: executive).

In: what a finished run recorded. Out: the same with NaN in place of every derivative that does not exist, and a sentence for each contact. What a
grazing may move is everything that depends on the condition, directly or through what does.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from tidegate.executive.causes import crossed_guard
from tidegate.integrators.interface import Problem, StepIntegrator
from tidegate.integrators.record_types import Written
from tidegate.names import listed
from tidegate.quick_dataclass import dataclass

__all__ = ["Recorded", "strike_out"]

FloatArray = NDArray[np.float64]
_SHOWN = 4  # names in a sentence


@dataclass(frozen=True, eq=False)
class Recorded:
    """What a run has written down; the last two are changed by ``strike_out``.

    Parameters
    ----------
    times : (rows,).
    sensitivities : (rows, parameters, columns).
    log : entries as ``integrators.record_types`` describes them.
    """

    times: FloatArray
    sensitivities: FloatArray
    log: Written


def strike_out(problem: Problem, integrator: StepIntegrator, recorded: Recorded) -> list[str]:
    """Put NaN where a derivative does not exist; a sentence for each condition and parameter concerned."""
    model, words = problem.model, problem.model.words
    ns = len(problem.sensitivity_parameters)
    names = [model.layout.parameters[int(k)] for k in problem.sensitivity_parameters]
    sentences: list[str] = []
    taus = recorded.log["dt_dp"]
    tangent = np.flatnonzero(np.isnan(taus).any(axis=1))
    sentences += _strike_coincident(problem, recorded, names)
    for row in tangent:
        crossed = crossed_guard(len(problem.model.guards), recorded.log[row])
        if crossed < 0:
            continue
        lost = [i for i in range(ns) if np.isnan(taus[row, i])]
        t = float(recorded.log["time"][row])
        moved = words.influenced(crossed)
        _strike(problem, recorded, lost, moved, t)
        what = f"`{words.relation(crossed)}` changes at t = {t:.9g} where it only just reaches its zero"
        sentences.append(_sentence(what, [names[i] for i in lost], moved))
    first = model.layout.first_grazing
    guard, t = int(integrator.m[first]) - 1, float(integrator.m[first + 1])
    if guard >= 0:
        lost = [i for i in range(ns) if _moves(problem, recorded, guard, i, t)]
        if lost:
            moved = words.influenced(guard)
            _strike(problem, recorded, lost, moved, t)
            what = f"`{words.relation(guard)}` touches its zero at t = {t:.9g}, within the tolerances, and turns back"
            sentences.append(_sentence(what, [names[i] for i in lost], moved))
    return sentences


def _strike_coincident(problem: Problem, recorded: Recorded, names: list[str]) -> list[str]:
    """NaN where conditions changed together that a parameter moves differently: what depends on their order has no derivative by it.

    The kernel marks such a derivative of the event's time as infinite.
    """
    model = problem.model
    sentences: list[str] = []
    for row in np.flatnonzero(np.isinf(recorded.log["dt_dp"]).any(axis=1)):
        entry = recorded.log[row]
        lost = np.flatnonzero(np.isinf(entry["dt_dp"])).tolist()
        entry["dt_dp"][lost] = np.nan
        guards = _changed(problem, entry)
        fired = np.flatnonzero(entry["fired"]).tolist()
        clocks = [k for k in fired if not model.event_actions[k].conditions]
        reach = [model.words.influenced(guard) for guard in guards] + [model.words.influenced(-1, k) for k in clocks]
        # where clauses were carried out their order may count too
        least = 1 if fired else 2
        moved = {name for one in reach for name in one if sum(name in other for other in reach) >= least}
        _strike(problem, recorded, lost, moved, float(entry["time"]))
        who = [f"`{model.words.relation(guard)}`" for guard in guards] + [f"`{model.event_actions[k].label}`" for k in clocks]
        by = ", ".join(names[i] for i in lost)
        what = f"{' and '.join(who[:_SHOWN])} happen together at t = {entry['time']:.9g}, and a change of {by} moves them apart"
        sentences.append(f"{what}: {_lost(moved)}")
    return sentences


def _changed(problem: Problem, entry: np.void) -> list[int]:
    """Guards of the relations, one each, whose truth or piece an entry of the log has changed."""
    layout, guards = problem.model.layout, problem.model.guards
    before, after = (entry[name][: layout.n_modes] for name in ("m_before", "m_after"))
    changed = np.flatnonzero((before != after)[guards.mode])
    _, first = np.unique(guards.source[changed], return_index=True)
    return changed[np.sort(first)].tolist()


def _sentence(what: str, parameters: list[str], moved: Collection[str]) -> str:
    return f"{what}: its time there has no derivative by {', '.join(parameters)} (tangency); {_lost(moved)}"


def _lost(moved: Collection[str]) -> str:
    return f"derivatives of {listed(sorted(moved), _SHOWN)} by it are NaN from there on" if moved else "nothing in the result depends on it"


def _moves(problem: Problem, recorded: Recorded, guard: int, i: int, t: float) -> bool:
    """Whether a parameter can move a relation at all: it stands in it, or moves something that does."""
    read = problem.model.words.read(guard)
    if problem.model.layout.parameters[int(problem.sensitivity_parameters[i])] in read:
        return True
    indices = [k for k, column in enumerate(problem.model.layout.columns) if column.name in read]
    before = recorded.sensitivities[recorded.times <= t]
    return bool(len(before)) and bool(np.any(before[-1, i, indices] != 0.0))


def _strike(problem: Problem, recorded: Recorded, lost: list[int], moved: Collection[str], t: float) -> None:
    columns = [k for k, column in enumerate(problem.model.layout.columns) if column.name in moved]
    later = recorded.times > t
    at = np.flatnonzero(recorded.times == t)
    # the first of several rows at the instant is the one before the event
    later[at[1:] if len(at) > 1 else at] = True
    for i in lost:
        recorded.sensitivities[np.ix_(later, [i], columns)] = np.nan
    for row in np.flatnonzero(recorded.log["time"] > t):
        crossed = crossed_guard(len(problem.model.guards), recorded.log[row])
        if crossed >= 0 and not problem.model.words.read(crossed).isdisjoint(moved):
            recorded.log[row]["dt_dp"][lost] = np.nan
