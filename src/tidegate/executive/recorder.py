"""From flat records to a labelled result, each part of it when it is looked at: rows, the event log in the user's words, the interpolant, statistics.

A ``Legend`` says what the numbers of a problem's records are, a ``Recording`` holds the records of one run, or of a segment of one.
Results keep both, so neither holds machine code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from operator import sub
from typing import Any, Final, NamedTuple, override

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled import workspace as w
from tidegate.compiled.compiled_model import Said
from tidegate.compiled.workspace import AFTER_ROW, BEFORE_ROW, FIRST_REMARK
from tidegate.executive.causes import Causes, crossed_guard
from tidegate.executive.options import Options
from tidegate.integrators import method_of
from tidegate.integrators.interface import Counters, Problem, Records, StepIntegrator
from tidegate.integrators.record_types import Written, event_type, joined, polynomial_type, row_type
from tidegate.names import listed
from tidegate.results import Event, EventLog, Interpolant, Result, RunStatus, Statistics
from tidegate.results.dense_outputs import DenseOutputs, UnknownFormulas
from tidegate.results.event_log import EventColumns, EventKind, LazyEvents, largest
from tidegate.results.labels import ParameterValues, number
from tidegate.results.presence import without_absent

__all__ = ["NONE_DONE", "NOTHING_DONE", "Cost", "Legend", "Recording", "reached"]

FloatArray = NDArray[np.float64]

_SHARED: Final = [name for name in Counters._fields if name in Statistics.__dataclass_fields__ and name != "events"]
_IDLE_SHOWN: Final = 3
_JUMP: Final = 1000.0  # tolerances of the run, of the size of a variable: less at an event may come of where on the step it was found
_FINEST: Final = 1e-9
_LEAST_IMPORTANCE: Final = 100
_SAME: Final = 1e-12  # of a time


class Cost(NamedTuple):
    """What was done: the method's counters before and after, seconds, calls into Python; the seconds of getting ready; how far an HDAE
    has been off its constraints since the start.
    """

    before: Counters
    after: Counters
    seconds: float
    opaque_calls: int
    compile_seconds: float = 0.0
    drift: tuple[float, ...] = ()


NONE_DONE: Final = Counters(*(0 for _ in Counters._fields))
NOTHING_DONE: Final = Cost(NONE_DONE, NONE_DONE, 0.0, 0)


def reached(time: float) -> str:
    """How far a segment of a run has come."""
    return f"reached t = {number(time, 10)}"


class Legend:
    """What the numbers in the records of a problem are.

    Parameters
    ----------
    problem : what is run.
    options : what the caller chose.
    """

    def __init__(self, problem: Problem, options: Options) -> None:
        model = problem.model
        self.options = replace(options, progress=None, on_rows=None)
        self.method = method_of(problem, options.method)
        self.layout, self.initial_origins = model.layout, model.initial.origins
        self.asked, self.told = problem.output_times, dict[str, Any](model.told)
        self.p, self.t_start, self.t_end, self.n_guards = problem.p, problem.t_start, problem.t_end, len(model.guards)
        self.units = {name: q.unit for q in model.quantities if q.vector == "p" and q.unit for name in q.names}
        self.truths = tuple(name for q in model.quantities if q.vector == "p" and q.kind == "boolean" for name in q.names)
        self.m, self._wording = problem.m, Causes(problem)
        self.row_type, self.event_type, self.polynomial_type = row_type(problem), event_type(problem), polynomial_type(problem, 0)
        self.kept_parts = [part for part, _ in model.constraint_parts if part in (4, 5)]
        self.keeps_polynomials = problem.keep_polynomials
        self.formulas = model.outputs if problem.keep_polynomials else None
        self.computed, self.followers = model.computed, model.followers
        self.of_followers = model.computed and model.computed.only(model.followers)
        names = model.computed.names if model.computed else ()
        self._places = {name: k for k, name in enumerate(names, model.layout.n_recorded - len(names))}  # the last ones
        unknowns = set(model.layout.unknowns)
        self.setters = [k for k, event_action in enumerate(model.event_actions) if not unknowns.isdisjoint(event_action.targets)]
        self.clauses = [event_action for event_action in model.event_actions if event_action.is_expected and 0 <= event_action.chain < FIRST_REMARK]
        # an unknown that is not finite ends the run
        self.may_be_not_finite = any(shown.source in ("discrete", "output") for shown in model.layout.shown)
        self.facts: dict[str, Any] = {
            "model_name": model.name,
            "columns": tuple(model.layout.columns),
            "time_unit": model.time_unit,
            "folds_names": model.folds_names,
            "sensitivity_parameters": tuple(model.layout.parameters[int(k)] for k in problem.sensitivity_parameters),
        }

    def with_values(self, problem: Problem) -> Legend:
        """The legend of the same problem with other values of parameters, another end and other times: a user's hand changes them often."""
        other = object.__new__(Legend)  # the module copy takes five times as long
        vars(other).update(vars(self), asked=problem.output_times, p=problem.p, m=problem.m, t_end=problem.t_end)
        vars(other).pop("causes", None)
        return other

    @cached_property
    def causes(self) -> Causes:
        """What writes the causes of events."""
        return self._wording.of_run(self.p, self.m)

    def places_of(self, formulas: UnknownFormulas) -> list[int]:
        """Where among recorded values those unknowns stand that are computed."""
        return [self._places[name] for name in formulas.names]

    def drifts(self, sizes: Sequence[float]) -> dict[str, float]:
        """The largest of F4 and of F5 that an HDAE has come to, by what statistics call them."""
        found: dict[str, float] = {}
        for part, size in zip(self.kept_parts, sizes, strict=False):
            found[f"drift of F{part}"] = max(found.get(f"drift of F{part}", 0.0), size)
        return found

    def idle_clauses(self, held: FloatArray) -> str:
        """A sentence that names the clauses whose condition was true from the start to the end, and so never became true; empty if there are none."""
        names = [event_action.label or "a clause" for event_action in self.clauses if any(held[c] for c in event_action.conditions)]
        if not names:
            return ""
        shown = listed(names, _IDLE_SHOWN)
        why = "the condition was true from the start to the end, and a clause happens when its condition becomes true"
        return f"{shown} never happened: {why} (at_start=True lets it happen at the start too)"

    def initial_event(self, said: Said, first: FloatArray) -> Event:
        """The first event of the log; ``first`` is the first recorded row."""
        values = dict(zip(self.layout.lasting_names, first[self.layout.lasting].tolist(), strict=True))
        return Event(0, self.t_start, "initial", ("start of the run",), self.initial_origins, before=values, after=values, messages=said.messages)


class _Releasing(cached_property[Any]):
    """Lets go of the blocks that a value was made from once the value is kept: an interruption in between loses nothing."""

    source = ""

    @override
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        value = super().__get__(instance, owner)
        if instance is not None:
            setattr(instance, self.source, [])
        return value


def _made_from[T](source: str) -> Callable[[Callable[[Any], T]], cached_property[T]]:
    """A cached property that is made from the blocks in the attribute ``source``."""

    def wrapped(make: Callable[[Any], T]) -> cached_property[T]:
        found = _Releasing(make)
        found.source = source
        return found

    return wrapped


class Recording:
    """What was written down of a run, or of a segment of one; its attributes are those of the result, made when they are first asked for.

    Parameters
    ----------
    legend : what the numbers are.
    records : of the run; taken as they are now.
    cost : what was done.
    status : how the run ended, or "unfinished".
    told : why it ended, or the time that it came to; for a run that the model terminated, what the model said is found here.
    integrator : of the run, at the end of the records.
    initial_words : what the model said at the start, if the records begin there.
    shows_inner : what the system did by itself at an event is an event too, since the user's hand led to it.
    """

    def __init__(
        self,
        legend: Legend,
        records: Records,
        cost: Cost,
        status: RunStatus,
        told: str | float,
        integrator: StepIntegrator,
        initial_words: Said | None = None,
        *,
        shows_inner: bool = False,
    ) -> None:
        self.legend, self.cost, self._shows_inner = legend, cost, shows_inner
        self.status: RunStatus = status
        self._rows, self._log, self._polynomials = [*records.rows], [*records.log], [*records.polynomials]
        self._told = told
        self._initial_words = initial_words if records.rows else None
        self._last: Event | None = None
        self._absent: NDArray[np.bool_] | None = None  # of the rows, once they are looked at
        self._m = None if legend.formulas is None and legend.computed is None else integrator.m.copy()
        self._held = integrator.held.copy() if legend.clauses and status in ("finished", "terminated") else None

    def result(self, source: Any) -> Result:
        """The result that reads this, and by what it is judged."""
        return Result.recorded(lambda: (self, self.legend.facts, self.status, source))

    # -- trajectories ---------------------------------------------------------------------------------------------------------------------

    @_made_from("_rows")
    def _table(self) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """Times, values (rows, columns) and sensitivities (rows, parameters, columns) of what is shown."""
        layout = self.legend.layout
        table = joined(self._rows, self.legend.row_type)
        if len(self._inner_times):
            table = table[(table["kind"] != w.AFTER_ROW) | ~np.isin(table["time"], self._inner_times)]
        table = self._important(table)
        sensitivities = layout.taken(table["sensitivities"], are_slopes=True) if self.legend.facts["sensitivity_parameters"] else None
        if layout.counted:
            self._absent = layout.absent(table["values"])[:, layout.recorded]
            if sensitivities is not None:
                sensitivities = np.where(self._absent[:, None, :], np.nan, sensitivities)
        return table["time"].copy(), layout.taken(table["values"]), sensitivities

    def _important(self, table: Written) -> Written:
        """Without the rows around events that are not important enough; what was asked for, and the end, stay."""
        layout = self.legend.layout
        if layout.importance < 0 or layout.least_importance >= _LEAST_IMPORTANCE or not len(table):
            return table
        importance = table["values"][:, len(layout.unknowns) + layout.importance]
        after = np.flatnonzero((table["kind"] == AFTER_ROW) & (importance > layout.least_importance))
        keeps = np.ones(len(table), dtype=bool)
        for row in after.tolist():
            time = float(table["time"][row])
            is_end = time == table["time"][-1] and self.status in ("finished", "terminated")
            if is_end:
                continue
            keeps[row] = bool(np.any(np.abs(self.legend.asked - time) <= _SAME * max(abs(time), 1e-300)))
            if row and table["kind"][row - 1] == BEFORE_ROW:
                keeps[row - 1] = False
        return table[keeps]

    @property
    def t(self) -> FloatArray:
        """Times."""
        return self._table[0]

    @property
    def kept(self) -> FloatArray:
        """(rows, columns), also of what is not there."""
        return self._table[1]

    def _shown(self, rows: FloatArray) -> FloatArray:
        hides = self.legend.options.record_disabled == "nan"
        return without_absent(self.legend.facts["columns"], self.kept, rows) if hides else rows

    @cached_property
    def values(self) -> FloatArray:
        """(rows, columns), as they are shown."""
        return self._shown(self.kept)

    @property
    def sensitivities(self) -> FloatArray | None:
        """(rows, parameters, columns)."""
        slopes = self._table[2]
        return None if slopes is None else self._shown(slopes)

    @property
    def kept_sensitivities(self) -> FloatArray | None:
        """The same, also of what is not there; where a derivative does not exist this array is changed."""
        return self._table[2]

    def add_final(self, event: Event, values: FloatArray, sensitivities: FloatArray | None) -> None:
        """One row more, of what the model did at the end, and its event."""
        t, rows, slopes = self._table
        if slopes is not None:
            last = np.full(slopes.shape[1:], np.nan) if sensitivities is None else sensitivities
            slopes = np.concatenate([slopes, last[None]])
        self._last = event
        self._table = np.append(t, event.time), np.vstack([rows, values]), slopes

    def not_finite(self, *, but_for_last: bool = False) -> list[str]:
        """A sentence for each output and discrete variable that is NaN or infinite in a row, the last one left out where values may be missing."""
        if not self.legend.may_be_not_finite or (self._rows and all(np.isfinite(block["values"]).all() for block in self._rows)):
            return []
        sentences: list[str] = []
        wrong = ~np.isfinite(self.kept)
        if self._absent is not None:
            wrong[: len(self._absent)] &= ~self._absent
        if but_for_last:
            wrong = wrong[:-1]
        for k in np.flatnonzero(wrong.any(axis=0)):
            column = self.legend.facts["columns"][k]
            bad = np.flatnonzero(wrong[:, k])
            if self.legend.layout.shown[k].source != "unknown":
                what = "discrete variable" if column.role == "discrete" else column.role
                where = f"t = {self.t[bad[0]]:g}" + (f" and in {len(bad) - 1} later rows" if len(bad) > 1 else "")
                sentences.append(f"the {what} {column.name} is {self.kept[bad[0], k]} at {where}; choose what it is there with `if` or tg.where")
        return sentences

    # -- events ---------------------------------------------------------------------------------------------------------------------------

    @cached_property
    def _is_inner(self) -> NDArray[np.bool_]:
        return np.zeros(len(self.log), dtype=bool) if self._shows_inner else self.legend.causes.are_inner(self.legend.n_guards, self.log)

    @cached_property
    def _inner_times(self) -> FloatArray:
        """Of what the system did by itself, where nothing else happened."""
        times = self.log["time"]
        return times[:0] if not self._is_inner.any() else np.setdiff1d(times[self._is_inner], times[~self._is_inner])

    @cached_property
    def _is_corner(self) -> NDArray[np.bool_]:
        return self.legend.causes.are_corners(self.legend.n_guards, self.log)

    @cached_property
    def _own_log(self) -> Written:
        hidden = self._is_inner | self._is_corner
        return self.log[~hidden] if hidden.any() else self.log

    def jump(self) -> tuple[Event, str] | None:
        """An event at which a declared state that others determine jumps though nothing gave a state a value, and its name."""
        if not self.legend.followers or not len(self._own_log):
            return None
        found = _RecordedEvents(self.legend, self._own_log, self.kept, self._m, [], []).jump(self.legend.options.rtol)
        return None if found is None else (self.events[found[0] + (self._initial_words is not None)], found[1])

    @_made_from("_log")
    def log(self) -> Written:
        """The entries of the log."""
        return joined(self._log, self.legend.event_type)

    @property
    def n_events(self) -> int:
        """How many there are."""
        return (self._initial_words is not None) + len(self._own_log) + (self._last is not None)

    @cached_property
    def events(self) -> EventLog:
        """The log in the user's words."""
        first = [] if self._initial_words is None else [self.legend.initial_event(self._initial_words, self.kept[0])]
        events = _RecordedEvents(self.legend, self._own_log, self.kept, self._m, first, [] if self._last is None else [self._last])
        return EventLog(events, events.times, self.legend.facts["time_unit"])

    @cached_property
    def message(self) -> str:
        """Why it ended, and what never happened in it."""
        told = self._told
        message = told if isinstance(told, str) else reached(told)
        if self.status == "terminated" and not message and self.n_events:
            stopped = self.events[-1 if self._last is None else -2]
            message = "; ".join(stopped.messages) or f"terminated by {stopped.cause}"
        return message if self._held is None else "; ".join(filter(None, (message, self.legend.idle_clauses(self._held))))

    # -- dense output ---------------------------------------------------------------------------------------------------------------------

    @_made_from("_polynomials")
    def interpolant(self) -> Interpolant | None:
        """Piecewise polynomials of the unknowns that are shown or read by an output; discrete variables as constants."""
        if not self.legend.keeps_polynomials:
            return None
        layout = self.legend.layout
        names, indices, signs = layout.interpolated
        numbers, nd = layout.numbers, len(layout.discretes)
        kept, constant = len(names), len(names) + len(numbers)
        table = joined(self._polynomials, self.legend.polynomial_type)
        degree = int(table["degree"].max()) if len(table) else 0
        coefficients = np.zeros((len(table), degree + 1, constant + nd))
        coefficients[:, :, :kept] = table["coefficients"][:, : degree + 1, indices] * signs
        coefficients[:, 0, kept:constant] = list(numbers.values())
        coefficients[:, 0, constant:] = table["discrete"]
        for one in layout.counted:
            rank = dict(zip(one.places.tolist(), one.ranks.tolist(), strict=True))
            for k, index in enumerate(indices.tolist()):
                if index in rank:
                    coefficients[rank[index] >= table["discrete"][:, one.counter], 0, k] = np.nan
        return Interpolant(table["start"].copy(), table["length"].copy(), coefficients, [*names, *numbers, *layout.discretes])

    @cached_property
    def dense_outputs(self) -> DenseOutputs | None:
        """The outputs as formulas of what the interpolant holds; None where there are none."""
        legend, formulas, m = self.legend, self.legend.formulas, self._m
        if formulas is None or m is None:
            return None
        constants = np.concatenate([legend.p[list(formulas.parameters)], m[[legend.layout.first_input + k for k in formulas.inputs]]])
        indices, log = list(formulas.modes), self.log
        modes = np.concatenate([log["m_before"][:1, indices], log["m_after"][:, indices]]) if len(log) else m[indices][None]
        return DenseOutputs(
            formulas,
            constants[None],
            np.zeros(1, dtype=np.int64),
            log["time"].copy() if indices else np.zeros(0),
            modes if indices else np.zeros((1, 0)),
            np.array([0, len(modes) if indices else 1], dtype=np.int64),
        )

    # -- what else there is to say ----------------------------------------------------------------------------------------------------------

    @property
    def statistics(self) -> Statistics:
        """What it cost."""
        cost = self.cost
        done = Counters(*map(sub, cost.after, cost.before))
        return Statistics(
            **{name: getattr(done, name) for name in _SHARED},
            events=self.n_events,
            opaque_calls=cost.opaque_calls,
            seconds=cost.seconds,
            compile_seconds=cost.compile_seconds,
            method=self.legend.method,
            extra={"resteps": done.resteps}
            | self.legend.drifts(cost.drift)
            | self.legend.told
            | ({"choices of states": changes} if (changes := int(self._is_inner.sum())) else {})
            | ({"corners of tables": corners} if (corners := int(self._is_corner.sum())) else {}),
        )

    @property
    def options(self) -> dict[str, Any]:
        """What the caller chose."""
        return self.legend.options.shown()

    @property
    def parameters(self) -> dict[str, float]:
        """Values by name."""
        return ParameterValues(zip(self.legend.layout.parameters, self.legend.p.tolist(), strict=True)).with_truths(self.legend.truths)

    @property
    def parameter_units(self) -> dict[str, str]:
        """Units by name."""
        return dict(self.legend.units)


def _kind(happened: int) -> EventKind:
    """A guard that crossed names an event, then the calendar, then the step that asked for it."""
    return "state" if happened & w.STATE_EVENT else "step" if happened & (w.STEP_EVENT | w.TIME_EVENT) == w.STEP_EVENT else "time"


class _RecordedEvents(LazyEvents):
    """The event log, each event put into words when it is looked at.

    Parameters
    ----------
    legend : of the records.
    table : the log's entries.
    values : (rows, columns) of these records.
    m : with the inputs during them, where unknowns are computed.
    first, last : what happened at the very start and at the very end.
    """

    def __init__(self, legend: Legend, table: Written, values: FloatArray, m: FloatArray | None, first: list[Event], last: list[Event]) -> None:
        self._legend, self._log, self._values, self._m, self._first, self._last = legend, table, values, m, first, last

    @cached_property
    def _sizes(self) -> dict[str, float]:
        layout = self._legend.layout
        return largest([layout.columns[k] for k in layout.lasting], self._values[:, layout.lasting])

    @cached_property
    def _lasting(self) -> FloatArray:
        """(events, 2, values): what is shown of unknowns and discrete variables before and after each event."""
        return self._around(self._legend.computed)

    def _around(self, formulas: UnknownFormulas | None) -> FloatArray:
        """The same, of unknowns that are computed only those with one of these formulas."""
        legend, layout, log = self._legend, self._legend.layout, self._log
        y, m = (np.stack([log[f"{vector}_{side}"] for side in ("before", "after")], axis=1) for vector in "ym")
        n, first = len(layout.unknowns), layout.n_recorded - layout.n_outputs
        rows = np.full((len(log), 2, layout.n_recorded), np.nan)
        rows[..., :n], rows[..., n:first] = y, m[..., layout.first_discrete : layout.first_previous]
        if formulas and self._m is not None and len(log):
            points = 2 * len(log)
            constants = [*legend.p[list(formulas.parameters)], *self._m[[layout.first_input + i for i in formulas.inputs]]]
            own = np.broadcast_to(np.array(constants), (points, len(constants)))
            modes = m.reshape(points, -1)[:, list(formulas.modes)]
            found = formulas.at(log["time"].repeat(2), rows.reshape(points, -1)[:, :first], own, modes)
            rows[..., legend.places_of(formulas)] = found.reshape(len(log), 2, -1)
        return layout.of_lasting(rows)

    def jump(self, rtol: float) -> tuple[int, str] | None:
        """The first entry of the log at which a follower jumps, and its name."""
        legend, layout, log = self._legend, self._legend.layout, self._log
        places = [k for k, name in enumerate(layout.lasting_names) if name in legend.followers]
        quiet = ~log["fired"][:, legend.setters].any(axis=1)
        if not places or not quiet.any():
            return None
        columns = [layout.lasting[k] for k in places]
        sizes = np.array(list(largest([layout.columns[k] for k in columns], self._values[:, columns]).values()))
        around = self._around(legend.of_followers)
        before, after = (around[:, side][:, places] for side in (0, 1))
        wrong = (np.abs(after - before) > _JUMP * max(rtol, _FINEST) * (sizes + np.abs(after))) & quiet[:, None]
        rows, found = np.nonzero(wrong)
        return (int(rows[0]), layout.lasting_names[places[int(found[0])]]) if len(rows) else None

    @property
    @override
    def times(self) -> FloatArray:
        """Times of all events."""
        return np.concatenate([[event.time for event in self._first], self._log["time"], [event.time for event in self._last]])

    def __len__(self) -> int:
        return len(self._first) + len(self._log) + len(self._last)

    def columns(self) -> EventColumns:
        """Times, kinds, causes and derivatives of the times; events alike in all but their time share what is found of their cause."""
        legend, log = self._legend, self._log
        known: dict[tuple[int, bytes, bytes, bytes], str] = {}
        causes: list[str] = []
        for entry in log:
            crossed, before, after, fired = crossed_guard(legend.n_guards, entry), entry["m_before"], entry["m_after"], entry["fired"]
            key = (crossed, before.tobytes(), after.tobytes(), fired.tobytes())
            if key not in known:
                known[key] = ", ".join(legend.causes.of(crossed, before, after, fired).texts)
            causes.append(known[key])
        around = [[event.dt_dp.get(name, np.nan) for name in legend.facts["sensitivity_parameters"]] for event in (*self._first, *self._last)]
        ends = np.array(around, dtype=float).reshape(len(around), len(legend.facts["sensitivity_parameters"]))
        first = len(self._first)
        return EventColumns(
            self.times,
            [*(event.kind for event in self._first), *(_kind(int(kind)) for kind in log["kind"].tolist()), *(event.kind for event in self._last)],
            [*(event.cause for event in self._first), *causes, *(event.cause for event in self._last)],
            np.concatenate([ends[:first], log["dt_dp"].reshape(len(log), ends.shape[1]), ends[first:]]),
        )

    def made(self, position: int) -> Event:
        """The event at this place, put into words."""
        if position < len(self._first):
            return replace(self._first[position], sizes=self._sizes)
        position -= len(self._first)
        return self._event(position) if position < len(self._log) else replace(self._last[position - len(self._log)], sizes=self._sizes)

    def _event(self, index: int) -> Event:
        legend, layout, entry = self._legend, self._legend.layout, self._log[index]
        before, after = self._lasting[index]
        cause = legend.causes.of(crossed_guard(legend.n_guards, entry), entry["m_before"], entry["m_after"], entry["fired"])
        return Event(
            index=len(self._first) + index,
            time=float(entry["time"]),
            kind=_kind(int(entry["kind"])),
            causes=cause.texts,
            origins=cause.origins,
            priority=cause.priority if layout.importance < 0 else int(entry["m_after"][layout.first_discrete + layout.importance]),
            rounds=int(entry["rounds"]),
            before=dict(zip(layout.lasting_names, before.tolist(), strict=True)),
            after=dict(zip(layout.lasting_names, after.tolist(), strict=True)),
            dt_dp=dict(zip(legend.facts["sensitivity_parameters"], entry["dt_dp"].tolist(), strict=True)),
            messages=cause.messages,
            sizes=self._sizes,
        )
