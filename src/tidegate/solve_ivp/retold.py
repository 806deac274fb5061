"""A solution in SciPy's words as a labelled result of a model in plain numbers, which is how ``tg.verify`` reads one.

In: what ``solve_ivp`` gave back, as it is now, and what it was given. Out: a ``Result`` in the direction of the run, whose source calls the user's
function and event functions as Python; a zero of an event function is the event of a clause that changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.expressions import as_real
from tidegate.frontends.equations.returned import flat
from tidegate.model import Model, VariableRole
from tidegate.model.plain_model import Instant, PlainAction, PlainClock
from tidegate.model.rewriting import rewritten
from tidegate.quick_dataclass import dataclass
from tidegate.results import Column, Event, Interpolant, Result
from tidegate.solve_ivp.arguments import Ivp, Watched, turned

__all__ = ["Ran", "retold"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ran:
    """What was run.

    Parameters
    ----------
    ivp, watched : the problem and its event functions, as the user gave them.
    model : what they were followed as.
    called : names of the functions that could not be followed, with the reasons.
    options : of ``tg.simulate``.
    times : for each event function when it left zero, in the time of the run.
    """

    ivp: Ivp
    watched: Sequence[Watched]
    model: Model
    called: Mapping[str, str]
    options: Mapping[str, Any]
    times: Sequence[FloatArray] = ()

    def lower(self) -> Model:
        """The equations alone, with the numbers of this run, for whoever cannot call the function."""
        model = rewritten(self.model, {argument: as_real(value) for argument, value in self.ivp.numbers.items()})
        starts = tuple(map(as_real, self.ivp.y0.tolist()))
        return replace(model, whens=(), variables=tuple(replace(item, start=starts) for item in model.by_role(VariableRole.STATE)))

    def plainly(self, parameters: Mapping[str, float], model: Model) -> PlainIvp:  # noqa: ARG002, as any source
        """The user's functions, called with numbers; there are no parameters."""
        return PlainIvp(self)

    def since(self, times: Sequence[FloatArray]) -> Ran:
        """The same, with the times at which the event functions left zero."""
        return replace(self, times=tuple(times))


@dataclass(frozen=True, eq=False)
class _Zero:
    """An event function in numbers: where it leaves zero, in the direction that is looked for.

    Parameters
    ----------
    times : where it did; as many as were asked for end the run.
    """

    item: Watched
    chain: int
    ivp: Ivp
    times: FloatArray
    priority: int = 50
    is_noted: bool = True

    @property
    def label(self) -> str:
        return self.item.label

    def conditions(self, at: Instant) -> list[bool]:
        (value,) = flat(self.item.function(self.ivp.sign * at.t + 0.0, at.y.copy(), *self.ivp.args))
        is_boolean = isinstance(value, bool | np.bool_)
        sides = ((1.0, bool(value > 0.0)), (-1.0, not value if is_boolean else bool(value < 0.0)))
        return [holds for sense, holds in sides if self.item.direction * sense >= 0.0]

    def action(self, at: Instant) -> PlainAction:
        return PlainAction({}, ends=int(np.sum(self.times <= at.t)) >= self.item.count)


class PlainIvp:
    """The problem in numbers, in the direction of the run.

    Parameters
    ----------
    ran : what was run.
    """

    truth: str = "the function, called as Python"

    def __init__(self, ran: Ran) -> None:
        self._ivp = ran.ivp
        self.unknowns: Sequence[str] = ran.ivp.quantities.elements
        self.discretes: Sequence[str] = ()
        self.equations: Sequence[str] = [f"der({name})" for name in self.unknowns]
        self.clauses = [_Zero(item, k, ran.ivp, times) for k, (item, times) in enumerate(zip(ran.watched, ran.times, strict=True))]
        self.clocks: Sequence[PlainClock] = ()
        self.notes: Sequence[str] = tuple(_notes(ran))

    def residuals(self, at: Instant) -> FloatArray:
        """See ``PlainModel``."""
        return self._ivp.sign * self._ivp.derivatives(self._ivp.sign * at.t + 0.0, at.y.copy()) - at.ydot

    def initial(self, at: Instant) -> None:  # noqa: ARG002, as any model
        """See ``PlainModel``."""
        return

    final = initial

    def outputs(self, at: Instant) -> dict[str, float]:  # noqa: ARG002, as any model
        """See ``PlainModel``."""
        return {}


def _notes(ran: Ran) -> list[str]:
    found = [f"{name} was called as it is, so that conditions in it were not located: {reason}" for name, reason in ran.called.items()]
    return [*found, *(["the run went backwards: times in this table are those of the run, s = -t"] if ran.ivp.sign < 0 else [])]


def retold(solution: Mapping[str, Any], ran: Ran) -> Result:
    """The solution, as it stands, as a labelled result.

    Raises
    ------
    UsageError : it has no dense output.
    """
    ivp, sol = ran.ivp, solution["sol"]
    if sol is None:
        raise UsageError(
            "this solution has no dense output, along which it could be verified; its rows alone do not tell what happened between them",
            hint="tg.solve_ivp(..., dense_output=True)",
        )
    result = Result(
        ran.model.name,
        [Column(name) for name in ivp.quantities.elements],
        turned(solution["t"], ivp.sign),
        solution["y"].T,
        events=_events(solution, ran, sol.interpolant),
        interpolant=sol.interpolant,
        options=ran.options,
        status={0: "finished", 1: "terminated"}.get(solution["status"], "failed"),  # pyright: ignore[reportArgumentType] - one of its words
        message=solution["message"],
    )
    result.source = ran.since([turned(times, ivp.sign) for times in solution["t_events"] or ()])
    return result


def _events(solution: Mapping[str, Any], ran: Ran, kept: Interpolant) -> list[Event]:
    """The zeros that were found, in the order of the run: with the value of the dense output before, and the one that was given after."""
    names = ran.ivp.quantities.elements
    found: list[tuple[float, str, FloatArray]] = []
    rows: list[FloatArray] = solution["y_events"] or []
    for item, times, values in zip(ran.watched, solution["t_events"] or (), rows, strict=True):
        found += [(float(t), item.label, row) for t, row in zip(turned(times, ran.ivp.sign), values, strict=True)]
    found.sort(key=lambda each: each[0])
    return [
        Event(
            k,
            t,
            "state",
            (label,),
            before=dict(zip(names, kept(t, side="left")[: len(names)].tolist(), strict=True)),
            after=dict(zip(names, row.tolist(), strict=True)),
        )
        for k, (t, label, row) in enumerate(found)
    ]
