"""A block as functions of a neutral description, which the compiled stage turns into native ones. In: a ``Block``; out: a ``CallableModel``.

What DSblock keeps between two events besides x are discrete variables of the model, so that saved runs hold it: which run it is, the pending
time event, directions and dimensions. Rules of events: Otter, DSblock 3.3 (DLR 1994), BLOCKV: it is called once an instant, with everything that
happens there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import CallbackError, DSblockOrderError, RunError, TooManyStepsError, UntraceableError, UsageError
from tidegate.frontends.dsblock.answers import Phase
from tidegate.frontends.dsblock.beside import Beside, Happens
from tidegate.frontends.dsblock.block import (
    Action,
    Block,
    CanBeResumed,
    Entry,
    GivesSlopes,
    Happened,
    HasSteps,
    IsNative,
    KnowsSlopes,
    KnowsSteps,
    NativeFunctions,
    NativeNeeds,
    Reply,
    Run,
)
from tidegate.frontends.dsblock.checks import vector_problems
from tidegate.frontends.dsblock.chosen_parameters import chosen_parameters
from tidegate.frontends.dsblock.constrained import Ask, ConstrainedEquations, own_differences
from tidegate.frontends.dsblock.description import ParameterKind, SignalKind
from tidegate.frontends.dsblock.forms import Equations, explicit_equations, ode_equations
from tidegate.frontends.dsblock.kept import (
    GOES_ON,
    LAST,
    NEXT,
    NX,
    NZ,
    PRIORITY,
    REACH,
    RUN,
    STOPPED,
    clipped,
    counted,
    counters,
    direction_of,
    kept,
    starts,
)
from tidegate.frontends.dsblock.merged import about_to_cross
from tidegate.frontends.dsblock.probed_form import probed_form, require_form
from tidegate.frontends.dsblock.proposals import RunOptions, nominal_sizes
from tidegate.frontends.dsblock.resting import Rests
from tidegate.frontends.dsblock.row import row
from tidegate.frontends.dsblock.signals import InputSignals
from tidegate.frontends.dsblock.traced import Traced, require_memory, traced
from tidegate.frontends.dsblock.warned import warn
from tidegate.model import Form
from tidegate.model.callables import At, CallableClause, CallableModel, Completed, Constraints, Threshold, Tick
from tidegate.wishes import RetryStep, StopRun

__all__ = ["lowered"]

FloatArray = NDArray[np.float64]
_COMMUNICATED: Final = "(communicated)"  # an output that tells whether a row was written by the model
_numbers = itertools.count(1)


def lowered(block: Block, options: RunOptions) -> CallableModel:
    """The model of a block for a run with these options.

    Raises
    ------
    UsageError : it cannot be run in the form chosen, or an input is none.
    """
    return _Lowered(block, options).model()


class _Lowered:
    """Functions of ``At`` that ask the run of a block which its memory belongs to."""

    def __init__(self, block: Block, options: RunOptions) -> None:
        self.block, self.described, self.options = block, block.description, options
        self.inputs = InputSignals(block.description, options.inputs)
        self.evaluations: dict[int, int] = {}
        self.has_warned = False
        described = self.described
        self.states, self.input_names, self.outputs, self.indicators, self.auxiliaries = (described.names(kind) for kind in SignalKind)
        self.recorded = (*self.outputs, *self.auxiliaries, *self.indicators, *self.input_names, _COMMUNICATED)
        self.p = np.array([v for kind in ParameterKind for entry in described.parameters if entry.kind is kind for v in entry.default])
        self.constrained = ConstrainedEquations(described, options.hdae) if described.form is Form.HDAE else None
        self.form: Equations = self.constrained or self._equations()
        self.starts = starts(described, len(self.states), self.indicators)
        self.discretes = tuple(self.starts)
        self.place = {name: k for k, name in enumerate(self.discretes)}
        self.runs: dict[int, Run] = {}
        self.last: dict[int, float] = {}  # when something happened last
        self.rests = Rests(described.name, self.indicators)
        self.before: dict[int, Run | None] = {}  # copies from before the last event, where derivatives are wanted
        self.crossed: dict[int, NDArray[np.bool_]] = {}  # indicators that were zero then
        self.is_further: dict[int, bool] = {}  # whether what was asked last was a further round of the same instant
        self.traced = Traced(None, (), {})
        self.needed = (*described.discretes, RUN, NX, NZ)
        self.next_name, self.stopped_name, self.counter_name = NEXT, STOPPED, NZ
        self.stabilisation, self.makes_consistent = "" if self.constrained is None else self.constrained.stabilisation, options.make_consistent
        self.multipliers = () if self.constrained is None else self.constrained.multipliers
        self.stops: dict[int, Reply] = {}  # by which the block ends runs
        self.parameter_names = tuple(name for kind in ParameterKind for name in described.names(kind))
        zero = np.zeros(len(self.states))
        self.differentiated = frozenset((*self.form.states(zero), *self.form.others(zero, zero), *described.discretes, NEXT))
        self.beside = Beside(self, self.place[RUN], self._tell_beside) if options.has_sensitivities else None
        self.native: NativeFunctions | None = None
        self._seen: tuple[At | None, FloatArray] = (None, np.zeros(0))  # indicators there

    def model(self) -> CallableModel:
        described, options, points, held = self.described, self.options, self.options.points, self.constrained
        completed = self._completed()
        self.native = self._natively(len(completed))
        x0, xd0 = np.array(described.x0), np.array(described.xd0 or [0.0] * len(described.x0))
        clauses = [self._crossing(k, rises=rises) for k in range(len(self.indicators)) for rises in (True, False)]
        stop = CallableClause(f"{described.name} stops the run", lambda at: at.d[self.place[STOPPED]] != 0.0, terminates=True)
        self._follow(x0, xd0, self.starts)
        return CallableModel(
            name=described.name,
            traced=self.traced.model,
            told=self.traced.told() | self._told(),
            sources=described.sources,
            states=self.form.states(x0),
            algebraic=self.form.others(x0, xd0),
            mass=self.form.mass,
            corners=np.concatenate([self.inputs.corners if self.traced.model else self.inputs.jumps, *([] if points is None else [points])]),
            nominal=nominal_sizes(described),
            rehearse=self.rehearse,
            beside=self.beside,
            importance=PRIORITY,
            least_importance=100 if options.store_priority is None else options.store_priority,
            may_reach=REACH,
            goes_on=GOES_ON,
            at_step=self.step_begins if isinstance(self.block, KnowsSteps) and self.block.knows_steps and self.native is None else None,
            rhs=self.rates,
            parameters=dict(zip(self.parameter_names, self.p.tolist(), strict=True)),
            discretes=self.starts,
            arrays={entry.name: entry.shape for entry in (*described.signals, *described.parameters) if entry.shape},
            folds_names=True,
            texts={entry.name: (entry.unit, entry.text) for entry in (*described.signals, *described.parameters)},
            refuses=self.refusal,
            hidden=(*self.discretes[len(described.discretes) :], _COMMUNICATED, *self.multipliers),
            constraints=None if held is None else Constraints(held.labels, self.parts, held.index_two, options.make_consistent),
            counted=counted(described, self.form.ranks(), self.indicators),
            outputs=self.recorded,
            output=self.values,
            thresholds=[
                Threshold(f"{name} >= 0", partial(self.indicator, k), decides=False, opposite=f"{name} < 0") for k, name in enumerate(self.indicators)
            ],
            clauses=[*clauses, stop],
            ticks=[Tick("time event", self.next_event, change=_nothing)],
            completed=completed,
            slopes=self.slopes if self._has_slopes() else None,
            native={} if self.native is None else self.native.functions,
            signals=None if self.native is None else self.native.signals,
            happen=self.happen,
            at_open=self.open,
            at_resume=self.resume,
            at_parameters=self.no_other_parameters,
            at_stop=self.reason,
            at_close=self.close,
        )

    def _natively(self, n_completed: int) -> NativeFunctions | None:
        """Functions that are called within steps without Python, where the block has them."""
        if not isinstance(self.block, IsNative) or self.described.outputs_may_retry:
            return None
        places = self.place[RUN], self.place[NEXT], self.place[NX], self.place[NZ]
        has_steps = self.described.has_step_events and n_completed == 1
        sizes = len(self.p), len(self.discretes)
        return self.block.native(NativeNeeds(self.form, self.inputs, *sizes, places, has_steps, self.options.max_evaluations))

    def _equations(self) -> Equations:
        if self.described.form is Form.ODE:
            return ode_equations(self.described)
        if self.described.algebraic is not None:
            return explicit_equations(self.described, self.described.algebraic)
        x0, xd0, t0 = np.array(self.described.x0), np.array(self.described.xd0 or [0.0] * len(self.described.x0)), self.described.t0
        return probed_form(self.block, Entry(t0, x0, xd0, self.inputs.at(t0), chosen_parameters(self.described, self.p, self.options.parameters)))

    def _follow(self, x0: FloatArray, xd0: FloatArray, starts: Mapping[str, float]) -> None:
        """Find out which callbacks can be machine code."""
        wanted, options = self.options.traced, self.options
        if wanted is False:
            self.traced = Traced(None, (), {"all": "traced=False"})
        elif options.max_evaluations is not None or options.communication == "restart":
            self.traced = Traced(None, (), {"all": "evaluations are counted" if options.max_evaluations is not None else "communication restarts"})
        else:
            self.traced = traced(self, (x0, xd0, self.p, starts))
            if options.has_sensitivities and not wanted and self.traced.calls_within_steps():
                # what is called may remember what parameters have made of it
                self.traced = Traced(None, (), {**self.traced.called, **dict.fromkeys(self.traced.compiled, "for derivatives, with what is called")})
        wrong = {name: reason for name, reason in self.traced.called.items() if reason}
        if wanted and wrong:
            raise UntraceableError(
                f"DSblock {self.described.name} cannot be followed on symbols: " + "; ".join(f"{name}: {reason}" for name, reason in wrong.items()),
                hint="leave out traced=True, and they are called",
            )

    def _completed(self) -> list[Completed]:
        found = [Completed("step event", self.asks, change=_nothing)] if self.described.has_step_events else []
        points = self.options.points
        if self.options.communication == "restart" and points is not None and len(points):
            size = float(np.max(np.abs(points)))
            found.append(Completed("communication", lambda at: bool(np.min(np.abs(points - at.time)) <= 1e-14 * size), is_noted=False))
        return found

    def _crossing(self, k: int, *, rises: bool) -> CallableClause:
        place = self.place[direction_of(self.indicators[k])]
        counter, rank = self.place[NZ], k
        for group in self.described.groups:
            if group.indicators.start <= k < group.indicators.stop:
                counter, rank = self.place[tuple(counters(group))[1]], k - group.indicators.start
        wanted = (0.0, 1.0) if rises else (0.0, -1.0)

        def crosses(at: At) -> bool:
            return bool(at.holds[k]) is rises and at.d[place] in wanted and rank < at.d[counter]

        return CallableClause(f"{self.indicators[k]} crosses zero", crosses, change=_nothing)

    def refusal(self, p: FloatArray) -> str:
        """Every parameter that cannot have its value."""
        return "; ".join(vector_problems(self.described, p))

    # -- what is asked for at every step ----------------------------------------------------------------------------------------------------------

    def _run(self, at: At) -> Run | None:
        number = at.d[self.place[RUN]]
        return self.runs.get(round(number)) if math.isfinite(number) else None  # differences move it a little

    def _n_states(self, at: At) -> int:
        number = at.d[self.place[NX]]
        return round(number) if math.isfinite(number) else len(self.states)

    def _entry(self, at: At) -> Entry:
        n_states = self._n_states(at)
        n_indicators = at.d[self.place[NZ]]
        n_z = round(n_indicators) if math.isfinite(n_indicators) else len(self.indicators)
        return Entry(at.time, self.form.x(at.y)[:n_states], self.form.xd(at.y), self.inputs.at(at.time), at.p, n_z)

    def _entry_with_rates(self, run: Run, at: At) -> Entry:
        """Likewise, with xd of a DAE also where it is no unknown."""
        entry = self._entry(at)
        if self.form.mass is None or not len(entry.x):
            return entry
        zero, n_states = np.zeros(len(self.states)), len(entry.x)

        def residual(time: float, x: FloatArray) -> FloatArray:
            f = np.zeros(len(self.states))
            f[:n_states] = run.equations(replace(entry, time=time, x=x[:n_states], xd=zero, u=self.inputs.at(time)))
            return f

        return replace(entry, xd=self.form.rates(residual, at.time, self.form.x(at.y)))

    def rates(self, at: At) -> FloatArray:
        run, n_states, n = self._run(at), self._n_states(at), len(self.states)
        if self.constrained is not None:
            return np.zeros(len(at.y)) if run is None else self._constrained_rates(self.constrained, run, at)
        f = np.zeros(n)
        if run is not None and n_states:
            entry = self._entry(at)
            self._count(at)
            f[:n_states] = run.equations(entry)
            self._require_memory(run, at, "equations")
            if self.described.outputs_may_retry:
                run.outputs(entry)
        return self.form.right_side(at.y, f, n_states)

    def _has_slopes(self) -> bool:
        gives = isinstance(self.block, GivesSlopes) and self.block.gives_slopes
        return gives and self.constrained is None and not self.options.has_sensitivities

    def slopes(self, at: At) -> FloatArray:
        run, zero = self._run(at), np.zeros((len(at.y), len(at.y)))
        return self.form.jacobian(self._n_states(at), partial(run.slopes, self._entry(at))) if isinstance(run, KnowsSlopes) else zero

    def _constrained_rates(self, form: ConstrainedEquations, run: Run, at: At) -> FloatArray:
        self._count(at)
        if self.described.outputs_may_retry:
            run.outputs(self._entry(at))
        return form.right_sides(at.time, at.y, self._asker(run, at), own_differences(run, self._entry(at)), is_integrated=at.is_integrated)

    def _told(self) -> dict[str, str]:
        """What statistics say of derivatives."""
        found: dict[str, str] = {}
        if self.traced.model is None and self.states:
            own = "BLOCKJ" if self.native is not None and self.described.has_jacobian else "jacobian" if self._has_slopes() else ""
            found["derivatives by states"] = own or "differences of the callbacks"
        if self.beside is not None:
            found["derivatives by parameters"] = "exact; at events differences" if self.traced.model is not None else "differences of the callbacks"
        return found

    def _count(self, at: At) -> None:
        limit, number = self.options.max_evaluations, int(at.d[self.place[RUN]])
        if limit is None:
            return
        self.evaluations[number] = count = self.evaluations.get(number, 0) + 1 if self.native is None else self.native.evaluations(self.runs[number])
        if count > limit:
            raise TooManyStepsError(
                f"the equations of DSblock {self.described.name} were evaluated {limit} times, and the run is only at t = {at.time:g}", time=at.time,
                hint="raise max_evaluations, or loosen rtol",
            )  # fmt: skip

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
            return [math.nan] * len(self.recorded)
        entry, needs = self._entry(at), self.described.dependence
        try:
            if self.outputs or self.described.communicates:
                entry = self._entry_with_rates(run, at)
            if entry.xd is None and (needs.outputs_need_rates or (self.described.communicates and needs.auxiliaries_need_rates)) and len(entry.x):
                entry = replace(entry, xd=self._rates_of_x(run, entry))
            found = row(run, entry, self.described, (*self._indicators(run, at), *entry.u, 1.0))
            self._require_memory(run, at, "outputs or communication")
        except RunError:
            raise  # it says whose callback it was
        except Exception as error:
            # nothing depends on a row, so that the run would not notice
            what = f"outputs or communication of DSblock {self.described.name} raised"
            raise CallbackError(f"{what} {type(error).__name__}: {error} at t = {at.time:g}", time=at.time) from error
        return found

    def _rates_of_x(self, run: Run, entry: Entry) -> FloatArray:
        """xd where a callback needs it."""
        if self.constrained is None:
            return run.equations(entry) if len(entry.x) else entry.x
        return self.constrained.all_rates(
            entry.time, entry.x, lambda t, x, wanted: run.equations(replace(entry, time=t, x=x, u=self.inputs.at(t)), wanted)
        )

    def _require_memory(self, run: Run, at: At, what: str) -> None:
        if self.traced.model is not None and self.described.discretes:
            require_memory(self.described, at.d, run.recorded(), what)

    def indicator(self, k: int, at: At) -> float:
        run = self._run(at)
        return 0.0 if run is None or k >= at.d[self.place[NZ]] else float(self._indicators(run, at)[k])

    def all_indicators(self, at: At) -> FloatArray:
        run = self._run(at)
        if run is None:
            return np.zeros(len(self.indicators))
        found = self._indicators(run, at)
        self._require_memory(run, at, "indicators")
        return found

    def _indicators(self, run: Run, at: At) -> FloatArray:
        """All of them, those that are not there zero; asked for once where every guard is looked at."""
        if self._seen[0] is not at:
            found, entry = np.zeros(len(self.indicators)), self._entry(at)
            if entry.n_indicators:
                found[: entry.n_indicators] = run.indicators(entry)[: entry.n_indicators]
            self._seen = (at, found)
        return self._seen[1]

    def asks(self, at: At) -> bool:
        run = self._run(at)
        return run is not None and run.asks_step_event(self._entry_with_rates(run, at))

    def step_begins(self, at: At) -> None:
        """The integrator is about to take a step."""
        run = self._run(at)
        others = () if self.beside is None else self.beside.step_begins(round(at.d[self.place[RUN]]))
        for each in (run, *others):
            if isinstance(each, HasSteps):
                each.step_begins()

    def next_event(self, at: At) -> float:
        return float(at.d[self.place[NEXT]])

    # -- events -----------------------------------------------------------------------------------------------------------------------------------

    def open(self, at: At) -> Mapping[str, float]:
        """A run begins."""
        run, reply = self.block.begin(self._entry(at))
        number = next(_numbers)
        self.runs[number] = run
        if self.native is not None:
            self.native.enter(number, run)
        entry = self._entry(at)
        require_form(self.described, self.form, run, entry, reply)
        new = {RUN: float(number), **self._taken_over(run, replace(reply, action=Action.RESTART), at, has_time_event=True)}
        if reply.action is Action.STOP:
            # the start is recorded, and the run ends by an event there
            self.stops[number] = reply
            new[NEXT] = at.time
        if self.beside is not None:
            self.beside.began(number, run, at, self._entry(at), new)
        return new

    def begun(self, run: Run, reply: Reply, at: At) -> Mapping[str, float]:
        """What a reply at the start gives, of a run beside another."""
        return self._taken_over(run, replace(reply, action=Action.RESTART), at, has_time_event=True)

    def new_number(self) -> int:
        """Of a run."""
        return next(_numbers)

    def _tell_beside(self, run: Run, k: int, others: Sequence[tuple[float, float, Run]]) -> None:
        if self.native is not None:
            self.native.beside(run, k, others)

    def resume(self, at: At) -> Mapping[str, float]:
        """A saved run goes on: with what ``declare.discrete`` names, and nothing else that it remembered."""
        if not isinstance(self.block, CanBeResumed):
            raise UsageError(
                f"what DSblock {self.described.name} remembers is not in what was saved of its run, which cannot go on from there",
                hint="run it to its end in one process; tg.DSblock in Python can go on with what declare.discrete names",
            )
        number = next(_numbers)
        self.runs[number] = self.block.resumed(at.d[: len(self.described.discretes)])
        self.last[number] = float(at.d[self.place[LAST]])
        return {RUN: float(number)}

    def happen(self, at: At, flags: NDArray[np.bool_]) -> Mapping[str, float]:
        """Something happens; what follows from it at the same instant is no further event."""
        run, last = self._run(at), float(at.d[self.place[LAST]])
        if run is None:
            return {}
        number = int(at.d[self.place[RUN]])
        self.is_further[number] = self.options.environment.is_same_time(at.time, last)
        if self.beside is not None:
            self.beside.happens(number, None, {})
        n = len(self.indicators)
        crossed = flags[: 2 * n].reshape(n, 2).any(axis=1)
        if self.is_further[number]:
            # what crosses a little later within the tolerance has been told, or is an event of its own
            crossed &= ~self.crossed.get(number, crossed)
            if at.time == last or not crossed.any():
                return {}
            self.is_further[number] = False
        ticks = bool(flags[2 * n + 1]) or self.options.environment.is_same_time(at.time, self.next_event(at))
        steps = self.described.has_step_events and bool(flags[2 * n + 2])
        if not (ticks or crossed.any() or steps):
            return {}  # a communication point
        if number in self.stops:
            return {LAST: at.time, NEXT: math.inf, STOPPED: 1.0}
        if n:
            crossed |= self._about_to_cross(run, at)
        self.crossed[number] = crossed
        if self.last.get(number, -math.inf) != last:
            raise UsageError(
                f"what DSblock {self.described.name} remembers is not as this run has left it: a copy of the simulation, or the run itself before it "
                "was taken back behind a failure, has gone through other events since",
                hint="begin a new simulation; numbers of declare.discrete can be set in it",
            )
        self.last[number] = at.time
        if self.options.has_sensitivities:
            copied = getattr(run, "copied", None)
            self.before[number] = None if copied is None else copied()
        what = Happens(ticks, crossed, steps)
        new = self._happened(run, at, what, number)
        if self.beside is not None:
            self.beside.happens(number, what, new)
        return {LAST: at.time, **new}

    def _about_to_cross(self, run: Run, at: At) -> NDArray[np.bool_]:
        entry, rate = self._entry(at), None
        with suppress(CallbackError, RetryStep, StopRun):
            rate = (
                None if not len(entry.x) else self._entry_with_rates(run, at).xd if self.described.form is Form.DAE else self._rates_of_x(run, entry)
            )
        number, last = (float(at.d[self.place[name]]) for name in (RUN, LAST))
        self.rests.look(round(number), run, entry, None if len(self.form.algebraic) else rate, last)  # of algebraic x no rates are known
        later = at.time + self.options.environment.same_within(at.time)
        return about_to_cross(run, entry, rate, (later, self.inputs.at(later)), self._directions(at))

    def happened(self, run: Run, at: At, what: Happens) -> Mapping[str, float]:
        """The same event in a run beside another."""
        return self._happened(run, at, what, None)

    def rehearse(self, at: At, flags: NDArray[np.bool_]) -> Mapping[str, float]:
        """What would happen at other values, where ``happen`` has just been asked: of a copy of the run that remembers what it did before."""
        number, n = round(at.d[self.place[RUN]]), len(self.indicators)
        before = self.before.get(number)
        crossed, ticks = flags[: 2 * n].reshape(n, 2).any(axis=1), bool(flags[2 * n + 1])
        steps = self.described.has_step_events and bool(flags[2 * n + 2])
        if not (ticks or crossed.any() or steps) or number in self.stops or self.is_further.get(number, False):
            return {}
        if before is None:
            raise UsageError(
                f"what DSblock {self.described.name} remembers cannot be copied, so that derivatives through its events are not known",
                hint="leave out sensitivities=...",
            )
        copied: Run = getattr(before, "copied")()  # noqa: B009, which not every run has
        return {LAST: at.time, **self._happened(copied, at, Happens(ticks, crossed, steps), None)}

    def _happened(self, run: Run, at: At, what: Happens, number: int | None) -> dict[str, float]:
        crossed = what.crossed
        happened = Happened(what.time, bool(crossed.any()), what.step, crossed, self._directions(at), self._n_states(at), int(at.d[self.place[NZ]]))
        try:
            reply = run.event(happened, self._entry_with_rates(run, at))
        except StopRun as wish:
            reply = Reply(action=Action.STOP, reason=wish.reason)
        if reply.action is Action.STOP and number is not None:
            self.stops[number] = reply
        if reply.action is Action.RESTART:
            require_form(self.described, self.form, run, self._entry(at), reply)
        return self._taken_over(run, reply, at, has_time_event=what.time)

    def reason(self, at: At) -> str:
        """Why the block has ended the run; its event has been recorded by now.

        Raises
        ------
        CallbackError : with an error.
        """
        number = at.d[self.place[RUN]]
        stop = self.stops.get(int(number)) if math.isfinite(number) else None
        if stop is not None and stop.is_failure:
            raise CallbackError(stop.reason, time=at.time)
        return "" if stop is None else stop.reason

    def _directions(self, at: At) -> NDArray[np.int64]:
        return at.d[len(self.discretes) - len(self.indicators) :].astype(np.int64)

    def _taken_over(self, run: Run, reply: Reply, at: At, *, has_time_event: bool) -> dict[str, float]:
        """What a reply makes of x and of what is kept."""
        self._require_structure(reply)
        if name := self.traced.changed():
            raise UsageError(
                f"{name}, of which machine code was made when DSblock {self.described.name} was followed, has changed in the run",
                hint=f"keep it in memory: declare.discrete({name!r}) and m.{name}; or traced=False",
            )
        if self.constrained is not None and reply.n_states not in (None, len(self.states)):
            raise UsageError(f"DSblock {self.described.name} changes its number of states", hint="an HDAE keeps it: F1 ... F5 have fixed sizes")
        self._require_priority(reply.priority)
        new: dict[str, float] = dict(zip(self.described.discretes, run.recorded().tolist(), strict=True))
        new |= self.form.new(reply.x, reply.xd)
        return new | kept(reply, self.described, self.indicators, at.time, has_time_event=has_time_event)

    def no_other_parameters(self, _at: At) -> Mapping[str, float]:
        """Parameters are constant during a run."""
        raise DSblockOrderError(
            f"parameters of DSblock {self.described.name} can be changed in the phase {Phase.DEFINED.value}; it is {Phase.STARTED.value}",
            hint="give them to the run: parameters={name: value}",
        )

    def _require_structure(self, reply: Reply) -> None:
        changes = reply.n_states not in (None, len(self.states)) or reply.n_indicators not in (None, len(self.indicators))
        if changes and self.traced.model is not None:
            name = self.described.name
            raise UsageError(f"DSblock {name} changes its number of states or indicators, and is compiled for all of them", hint="traced=False")

    def _require_priority(self, given: int) -> None:
        if clipped(given) != given and not self.has_warned:
            self.has_warned = True
            warn(f"an event of DSblock {self.described.name} has the priority {given}; from 1 to 100 are possible, the nearest is taken")

    def close(self, at: At, is_well: bool) -> None:
        """The run is over."""
        number = at.d[self.place[RUN]]
        if not math.isfinite(number):
            number = max(self.runs, default=0)  # a callback raised where the vectors were being written: it was of the run begun last
        run = self.runs.pop(int(number), None)
        if self.native is not None:
            self.native.leave(int(number))
        for memory in (self.stops, self.evaluations, self.before, self.last, self.crossed):
            memory.pop(int(number), None)
        if self.beside is not None:
            self.beside.ended(int(number), self._entry(at))
        if run is not None:
            if is_well:
                self.rests.ended(int(number), self._indicators(run, at), self._entry(at).x)
            run.end(self._entry(at), is_well=is_well)


def _nothing(_: At) -> Mapping[str, float]:
    return {}
