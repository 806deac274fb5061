"""A block as functions of a neutral description, which the compiled stage turns into native ones. In: a ``Block``; out: a ``CallableModel``.

What DSblock keeps between two events besides x are discrete variables of the model, so that saved runs hold it: which run it is, the pending
time event, directions and dimensions. Rules of events: Otter, DSblock 3.3 (DLR 1994), BLOCKV: it is called once an instant, with everything that
happens there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import DSblockOrderError, UsageError
from tidegate.frontends.dsblock.answers import Phase
from tidegate.frontends.dsblock.block import Action, Block, Entry, Happened, Reply, Run
from tidegate.frontends.dsblock.checks import value_problems
from tidegate.frontends.dsblock.constrained import Ask, ConstrainedEquations
from tidegate.frontends.dsblock.description import ParameterKind, SignalKind
from tidegate.frontends.dsblock.forms import Equations, dae_equations, ode_equations
from tidegate.frontends.dsblock.signals import InputSignals
from tidegate.model import Form
from tidegate.model.callables import At, CallableClause, CallableModel, Completed, Constraints, Threshold, Tick

__all__ = ["lowered"]

FloatArray = NDArray[np.float64]
_RUN, _NEXT, _NX, _NZ, _LAST, _STOPPED = "(run)", "(next time event)", "(states)", "(indicators)", "(last event)", "(stopped)"
_AS_BEFORE: Final = 2  # a direction that stays
SAME_TIME: Final = 1e-10  # instants so close, relative to the times of a run, are one
_numbers = itertools.count(1)


def lowered(block: Block, inputs: Mapping[str, Any] | None = None, choices: Mapping[str, Any] | None = None) -> CallableModel:
    """The model of a block, with inputs as ``InputSignals`` takes them, and of an HDAE ``hdae`` and ``make_consistent`` where they were chosen.

    Raises
    ------
    UsageError : it cannot be run in the form chosen, or an input is none.
    """
    described, chosen = block.description, choices or {}
    for name in chosen:
        if described.form is not Form.HDAE:
            raise UsageError(
                f"{name} is chosen for DSblock {described.name}, which is of the form {described.form.value}",
                hint="only the form HDAE has constraints, and several ways to keep them",
            )
    return _Lowered(block, InputSignals(described, inputs or {}), chosen).model()


class _Lowered:
    """Functions of ``At`` that ask the run of a block which its memory belongs to."""

    def __init__(self, block: Block, inputs: InputSignals, choices: Mapping[str, Any]) -> None:
        self.block, self.described, self.inputs = block, block.description, inputs
        described = self.described
        self.states, _, self.outputs, self.indicators, self.auxiliaries = (described.names(kind) for kind in SignalKind)
        self.p = np.array([v for kind in ParameterKind for entry in described.parameters if entry.kind is kind for v in entry.default])
        self.constrained = ConstrainedEquations(described, choices.get("hdae")) if described.form is Form.HDAE else None
        self.makes_consistent = bool(choices.get("make_consistent", False))
        self.form = self.constrained or (ode_equations(described) if described.form is Form.ODE else self._probed())
        self.discretes = (*described.discretes, _RUN, _NEXT, _NX, _NZ, _LAST, _STOPPED, *(f"(direction of {name})" for name in self.indicators))
        self.place = {name: k for k, name in enumerate(self.discretes)}
        self.runs: dict[int, Run] = {}

    def model(self) -> CallableModel:
        described = self.described
        x0, xd0 = np.array(described.x0), np.array(described.xd0 or [0.0] * len(described.x0))
        starts: dict[str, float] = {**described.discretes, _RUN: 0.0, _NEXT: math.inf, _NX: len(self.states), _NZ: len(self.indicators)}
        starts |= {_LAST: -math.inf, _STOPPED: 0.0} | {f"(direction of {name})": 0.0 for name in self.indicators}
        clauses = [self._crossing(k, rises=rises) for k in range(len(self.indicators)) for rises in (True, False)]
        stop = CallableClause(f"{described.name} stops the run", lambda at: at.d[self.place[_STOPPED]] != 0.0, terminates=True)
        return CallableModel(
            name=described.name,
            states=self.form.states(x0),
            algebraic=self.form.others(x0, xd0),
            mass=self.form.mass,
            corners=self.inputs.corners,
            rhs=self.rates,
            parameters=dict(zip((name for kind in ParameterKind for name in described.names(kind)), self.p.tolist(), strict=True)),
            discretes=starts,
            arrays={entry.name: entry.shape for entry in (*described.signals, *described.parameters) if entry.shape},
            texts={entry.name: (entry.unit, entry.text) for entry in (*described.signals, *described.parameters)},
            refuses=self.refusal,
            hidden=(*self.discretes[len(described.discretes) :], *(self.constrained.multipliers if self.constrained else ())),
            constraints=None
            if self.constrained is None
            else Constraints(self.constrained.labels, self.parts, self.constrained.index_two, self.makes_consistent),
            outputs=(*self.outputs, *self.auxiliaries),
            output=self.values if self.outputs or self.auxiliaries else None,
            thresholds=[
                Threshold(f"{name} >= 0", partial(self.indicator, k), decides=False, opposite=f"{name} < 0") for k, name in enumerate(self.indicators)
            ],
            clauses=[*clauses, stop],
            ticks=[Tick("time event", self.next_event, change=_nothing)],
            completed=[Completed("step event", self.asks, change=_nothing)] if described.has_step_events else (),
            happen=self.happen,
            at_open=self.open,
            at_parameters=self.no_other_parameters,
            at_close=self.close,
        )

    def _probed(self) -> Equations:
        """Which derivatives enter the residuals, found out in a run that goes nowhere."""
        described = self.described
        x0, xd0 = np.array(described.x0), np.array(described.xd0 or [0.0] * len(described.x0))
        at = Entry(described.t0, x0, xd0, self.inputs.at(described.t0), self.p)
        run, _ = self.block.begin(at)
        found = dae_equations(described, lambda x, xd: run.equations(replace(at, x=x, xd=xd)))
        run.end(at, is_well=True)
        return found

    def _crossing(self, k: int, *, rises: bool) -> CallableClause:
        place = self.place[f"(direction of {self.indicators[k]})"]
        wanted = (0.0, 1.0) if rises else (0.0, -1.0)

        def crosses(at: At) -> bool:
            return bool(at.holds[k]) is rises and at.d[place] in wanted and k < at.d[self.place[_NZ]]

        return CallableClause(f"{self.indicators[k]} crosses zero", crosses, change=_nothing)

    def refusal(self, p: FloatArray) -> str:
        """Every parameter that cannot have its value."""
        found: list[str] = []
        first = 0
        for kind in ParameterKind:
            for entry in self.described.parameters:
                if entry.kind is kind:
                    found += value_problems(entry, p[first : first + entry.size].tolist())
                    first += entry.size
        return "; ".join(found)

    # -- what is asked for at every step ----------------------------------------------------------------------------------------------------------

    def _run(self, at: At) -> Run | None:
        number = at.d[self.place[_RUN]]
        return self.runs.get(int(number)) if math.isfinite(number) else None

    def _n_states(self, at: At) -> int:
        number = at.d[self.place[_NX]]
        return int(number) if math.isfinite(number) else len(self.states)

    def _entry(self, at: At) -> Entry:
        n_states = self._n_states(at)
        return Entry(at.time, self.form.x(at.y)[:n_states], self.form.xd(at.y), self.inputs.at(at.time), at.p)

    def rates(self, at: At) -> FloatArray:
        run, n_states, n = self._run(at), self._n_states(at), len(self.states)
        if self.constrained is not None:
            return np.zeros(len(at.y)) if run is None else self.constrained.rates(at.time, at.y, self._asker(run, at), is_integrated=at.is_integrated)
        assert not isinstance(self.form, ConstrainedEquations)
        f = np.zeros(n)
        if run is not None and n_states:
            f[:n_states] = run.equations(self._entry(at))
        return self.form.right_side(at.y, f)

    def _asker(self, run: Run, at: At) -> Ask:
        """F1 ... F5 as a function of x at a time."""
        entry = self._entry(at)
        return lambda x, wanted: run.equations(replace(entry, x=x), wanted)

    def parts(self, at: At, wanted: tuple[int, ...]) -> FloatArray:
        """Some parts of an HDAE, one behind the other."""
        run = self._run(at)
        assert self.constrained is not None
        if run is None:
            return np.zeros(sum(self.described.parts[k - 1] for k in wanted))
        return self.constrained.kept(wanted, self.constrained.x(at.y), self._asker(run, at))

    def values(self, at: At) -> Sequence[float]:
        run = self._run(at)
        if run is None:
            return [math.nan] * (len(self.outputs) + len(self.auxiliaries))
        entry = self._entry(at)
        needs = self.described.dependence
        if entry.xd is None and (needs.outputs_need_rates or (self.auxiliaries and needs.auxiliaries_need_rates)) and len(entry.x):
            entry = replace(entry, xd=self._rates_of_x(run, entry))
        return [*(run.outputs(entry) if self.outputs else ()), *(run.auxiliaries(entry) if self.auxiliaries else ())]

    def _rates_of_x(self, run: Run, entry: Entry) -> FloatArray:
        """xd where a callback needs it; of an HDAE's x2 and x3 it is in no equation."""
        if self.constrained is None:
            return run.equations(entry)
        found = np.full(len(self.states), math.nan)
        found[: self.described.parts[0]] = self.constrained.kept((1,), entry.x, lambda x, wanted: run.equations(replace(entry, x=x), wanted))
        return found

    def indicator(self, k: int, at: At) -> float:
        run = self._run(at)
        return 0.0 if run is None or k >= at.d[self.place[_NZ]] else float(run.indicators(self._entry(at))[k])

    def asks(self, at: At) -> bool:
        run = self._run(at)
        return run is not None and run.asks_step_event(self._entry(at))

    def next_event(self, at: At) -> float:
        return float(at.d[self.place[_NEXT]])

    # -- events -----------------------------------------------------------------------------------------------------------------------------------

    def open(self, at: At) -> Mapping[str, float]:
        """A run begins."""
        run, reply = self.block.begin(self._entry(at))
        number = next(_numbers)
        self.runs[number] = run
        return {_RUN: float(number), **self._taken_over(run, reply, at, has_time_event=True)}

    def happen(self, at: At, flags: NDArray[np.bool_]) -> Mapping[str, float]:
        """Something happens; what follows from it at the same instant is no further event."""
        run, last = self._run(at), float(at.d[self.place[_LAST]])
        if run is None or self._is_same(at.time, last):
            return {}
        n = len(self.indicators)
        crossed = flags[: 2 * n].reshape(n, 2).any(axis=1)
        ticks = bool(flags[2 * n + 1]) or self._is_same(at.time, self.next_event(at))
        steps = bool(flags[2 * n + 2 :].any())
        happened = Happened(ticks, bool(crossed.any()), steps, crossed, self._directions(at), self._n_states(at), int(at.d[self.place[_NZ]]))
        return {_LAST: at.time, **self._taken_over(run, run.event(happened, self._entry(at)), at, has_time_event=ticks)}

    def _is_same(self, a: float, b: float) -> bool:
        return math.isfinite(a) and math.isfinite(b) and abs(a - b) <= SAME_TIME * max(abs(a), abs(b))

    def _directions(self, at: At) -> NDArray[np.int64]:
        return at.d[len(self.discretes) - len(self.indicators) :].astype(np.int64)

    def _taken_over(self, run: Run, reply: Reply, at: At, *, has_time_event: bool) -> dict[str, float]:
        """What a reply makes of x and of what is kept."""
        new: dict[str, float] = dict(zip(self.described.discretes, run.recorded().tolist(), strict=True))
        new |= self.form.new(reply.x, reply.xd)
        if reply.next_event is not None:
            new[_NEXT] = reply.next_event if reply.next_event > at.time else math.inf
        elif has_time_event:
            new[_NEXT] = math.inf
        if reply.directions is not None:
            kept = zip(self.indicators, reply.directions.tolist(), strict=False)
            new |= {f"(direction of {name})": float(direction) for name, direction in kept if direction != _AS_BEFORE}
        if self.constrained is not None and reply.n_states not in (None, len(self.states)):
            raise UsageError(f"DSblock {self.described.name} changes its number of states", hint="an HDAE keeps it: F1 ... F5 have fixed sizes")
        if reply.n_states is not None:
            new[_NX] = float(reply.n_states)
        if reply.n_indicators is not None:
            new[_NZ] = float(reply.n_indicators)
        if reply.action is Action.STOP:
            new[_STOPPED] = 1.0
        return new

    def no_other_parameters(self, _at: At) -> Mapping[str, float]:
        """Parameters are constant during a run."""
        name = self.described.name
        raise DSblockOrderError(
            f"parameters of DSblock {name} can be changed in the phase {Phase.DEFINED.value}; it is {Phase.STARTED.value}",
            hint="give them to the run: parameters={name: value}",
        )

    def close(self, at: At, is_well: bool) -> None:
        """The run is over."""
        number = at.d[self.place[_RUN]]
        if not math.isfinite(number):
            number = max(self.runs, default=0)  # a callback raised where the vectors were being written: it was of the run begun last
        run = self.runs.pop(int(number), None)
        if run is not None:
            run.end(self._entry(at), is_well=is_well)


def _nothing(_: At) -> Mapping[str, float]:
    return {}
