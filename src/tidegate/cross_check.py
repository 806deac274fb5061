"""The same model by two engines, and how far they are apart.

Our own Radau IIA and SUNDIALS share the model's compiled functions and the handling of events, and nothing of the integration: order, error
estimate, step size, interpolation and the iteration for sensitivities are independent. Where both agree to the tolerance asked for, what is left to
doubt is the model. States and sensitivities are compared at common times, apart from the short intervals in which one engine has had an event and the
other not yet; events in the order in which they happen. What only rounding leaves of a sum of larger terms, as the current into the ground of a
circuit, is no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from textwrap import shorten
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.errors import RunError, UsageError
from tidegate.expressions import ONE, Expr, Role, evaluate, symbol, tangent, walk
from tidegate.integrators import method_of
from tidegate.model import Lowerable, Model
from tidegate.model.callables import Called, TakesOptions
from tidegate.quick_dataclass import dataclass
from tidegate.results import Result
from tidegate.results.comparison import apart_from_events
from tidegate.results.event_log import Event
from tidegate.results.labels import number
from tidegate.simulate import prepare
from tidegate.wrong_calls import explained

__all__ = ["CrossCheck", "Difference", "cross_check"]

_POINTS: Final = 200  # common times where none are asked for
_ALLOWED: Final = 1000.0  # times the tolerance: what errors of two engines may add up to over a run of many steps
_NAME: Final = 60  # letters of a name; a cause can be a whole condition
_KINDS: Final = {"unknown": "state", "input": "input", "discrete": "discrete variable", "output": "output"}
_STEP_EVENTS: Final = "step events happen at the steps of each engine: their times are not compared, and what they change may differ"
_SHOWN: Final = 25  # rows of the table as text
_FLOOR: Final = 0.01  # of a variable's size over that of a parameter: a sensitivity below it is noise, as it is for the integrators
_ROUNDING: Final = 64 * float(np.finfo(float).eps)  # of the largest term of a sum: what two ways to compute it may be apart
_ALL_ROUNDING: Final = 100.0  # times that: what is no larger is nothing but rounding, and makes rounding of what follows from it
_LOOKS: Final = 16  # rows at which sizes of terms are taken

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """The largest difference in one quantity.

    Parameters
    ----------
    kind : "state", "discrete variable", "output", "event time", "sensitivity" or "event-time derivative".
    name : variable, or variable and parameter, or cause of the event.
    largest : largest absolute difference.
    size : the quantity's own size: the largest absolute value over the run (length of the run for event times); for derivatives by a parameter at
        least 0.01 of what they are a derivative of, divided by the parameter.
    time : where the difference is largest.
    tolerances : the difference relative to the size, in multiples of rtol; without what the rounding of larger terms makes of it.
    """

    kind: str
    name: str
    largest: float
    size: float
    time: float
    tolerances: float

    @property
    def relative(self) -> float:
        """The difference relative to the quantity's size."""
        return self.largest / self.size if self.size > 0.0 else self.largest


@partial(explained, instead_of_call="print(check) shows how far the engines are apart, check.agrees is the verdict")
@dataclass(frozen=True, eq=False)
class CrossCheck:
    """What ``cross_check`` found; printing it shows the table.

    Parameters
    ----------
    methods : the two engines.
    results : their results, None where an engine could not do the problem at all.
    differences : one for each state, sensitivity, and cause of events, largest first.
    problems : sentences about what cannot be put into numbers: an engine that stopped, events that only one has seen.
    allowed : multiples of rtol up to which engines count as agreeing.
    notes : sentences about what need not agree.
    """

    methods: tuple[str, str]
    results: tuple[Result | None, Result | None]
    differences: tuple[Difference, ...]
    problems: tuple[str, ...]
    allowed: float = _ALLOWED
    notes: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """True if both engines saw the same events and every difference is within ``allowed`` times rtol of the quantity's size."""
        return not self.problems and all(d.tolerances <= self.allowed for d in self.differences)

    def _verdict(self) -> str:
        first, second = self.methods
        if self.problems:
            return f"{first} and {second} do not agree"
        worst = self.differences[0].tolerances if self.differences else 0.0
        word = "agree" if self.agrees else "do not agree"
        return f"{first} and {second} {word}: the largest difference is {number(worst, 2)} times rtol (up to {number(self.allowed)} is expected)"

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            (d.kind, shorten(d.name, _NAME, placeholder="..."), number(d.largest, 3), number(d.relative, 2), number(d.tolerances, 2), number(d.time))
            for d in self.differences
        ]

    def __str__(self) -> str:
        head = ("what", "name", "largest difference", "relative", "times rtol", "at t")
        cells = self._cells()
        rows = [head, *cells[:_SHOWN]]
        widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        if len(cells) > _SHOWN:
            lines.append(f"and {len(cells) - _SHOWN} smaller ones, in .differences")
        return "\n".join([self._verdict(), *(f"  - {sentence}" for sentence in (*self.problems, *self.notes)), *lines])

    def __repr__(self) -> str:
        return f"<CrossCheck {self._verdict()}>"

    def _repr_html_(self) -> str:
        from html import escape

        head = "".join(f"<th>{title}</th>" for title in ("what", "name", "largest difference", "relative", "times rtol", "at t"))
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self._cells())
        problems = "".join(f"<li>{escape(sentence)}</li>" for sentence in (*self.problems, *self.notes))
        return f"<p>{escape(self._verdict())}</p><ul>{problems}</ul><table><tr>{head}</tr>{body}</table>"


@explained
def cross_check(
    source: Lowerable | Called | TakesOptions,
    t_span: tuple[float, float],
    *,
    methods: Sequence[str] | None = None,
    outputs: ArrayLike | None = None,
    rtol: float = 1e-6,
    **options: Any,
) -> CrossCheck:
    """Run a model by two engines and report the largest differences in states, event times and sensitivities.

    Parameters
    ----------
    source, t_span : as for ``tg.simulate``.
    methods : two methods; our own and the SUNDIALS engine that fits by default: "bdf" for differential equations, "ida" with algebraic unknowns.
    outputs : times at which values are compared, or their distance; 200 equal parts of the run by default.
    rtol : relative tolerance of both.
    options : what else ``tg.simulate`` takes: sensitivities, atol, parameters, max_step, ...

    Returns
    -------
    CrossCheck : a table when printed; ``.agrees`` is the verdict, ``.results`` holds both results.

    Raises
    ------
    ModelError : the model itself is wrong.
    UsageError : an option or a name does not fit. A run that stops early is not raised but reported in ``.problems``.

    Examples
    --------
    >>> import tidegate as tg
    >>> model = tg.ode(lambda t, y, p: [-p["k"] * y["x"]], y0={"x": 1.0}, p={"k": 2.0})
    >>> check = tg.cross_check(model, (0, 1), sensitivities=["k"])
    >>> check.agrees, sorted(d.kind for d in check.differences)
    (True, ['sensitivity', 'state'])
    """
    if "method" in options:
        raise UsageError("no option 'method': two engines are compared", hint='methods=("radau", "ida")')
    given = {name: value for name, value in options.items() if value is not None}
    # what is held is compared, also where a part is off
    options = {"event_rows": False, "dense": False, **given, "outputs": outputs, "rtol": rtol, "record_disabled": "held"}
    own = prepare(source, t_span, method="radau", **options).problem
    start, end = own.t_start, own.t_end
    if outputs is None:
        options["outputs"] = np.linspace(start, end, _POINTS + 1) if end > start else [start]
    if methods is None:
        methods = ("radau", "ida" if own.model.algebraic.any() else "bdf")
    if isinstance(methods, str) or len(methods) != 2 or len({method_of(own, name) for name in methods}) != 2:
        raise UsageError(f"methods must be two different ones, not {methods!r}", hint='methods=("radau", "ida")')
    pair = (methods[0], methods[1])
    problems: list[str] = []
    first, second = (_run(source, t_span, method, options, problems) for method in pair)
    events = _events(first, second, pair, problems, rtol, end - start)
    values = _values(first, second, rtol)
    if isinstance(source, Lowerable) and any(d.tolerances > _ALLOWED for d in values):
        values = _values(first, second, rtol, _roundings(source.lower(), first))
    ordered = sorted([*values, *events], key=lambda d: -d.tolerances)
    has_steps = any(event.kind == "step" for result in (first, second) for event in result.events)
    return CrossCheck(pair, (first, second), tuple(ordered), tuple(problems), notes=(_STEP_EVENTS,) if has_steps else ())


def _run(source: Lowerable | Called | TakesOptions, t_span: tuple[float, float], method: str, options: dict[str, Any], problems: list[str]) -> Result:
    try:
        return prepare(source, t_span, method=method, **options).run()
    except RunError as error:
        problems.append(f"{method} stopped: {error.message}")
        if error.result is None:
            raise
        return error.result


def _events(first: Result, second: Result, pair: tuple[str, str], problems: list[str], rtol: float, length: float) -> list[Difference]:
    """The event times, by cause; what only one engine has seen goes to ``problems``. Step events are at each engine's own steps, and left out."""
    timed, others = _located(first), _located(second)
    by_cause: dict[str, Difference] = {}
    slopes: dict[str, Difference] = {}
    for one, other in zip(timed, others, strict=False):
        apart = abs(one.time - other.time)
        if not set(one.causes) & set(other.causes) and apart > _ALLOWED * rtol * length:
            seen = [f"{event.cause} at t = {number(event.time, 9)} by {method}" for event, method in zip((one, other), pair, strict=True)]
            problems.append(f"event {one.index + 1} is {' and '.join(seen)}")
            break
        _keep(by_cause, Difference("event time", one.cause, apart, length, one.time, apart / length / rtol))
        for name, slope in one.dt_dp.items():
            if np.isfinite(slope) and np.isfinite(other.dt_dp[name]):
                size = max(abs(slope), _FLOOR * length / _scale(first, name))
                largest = abs(slope - other.dt_dp[name])
                _keep(slopes, Difference("event-time derivative", f"{one.cause} by {name}", largest, size, one.time, largest / size / rtol))
    fewest = min(len(timed), len(others))
    if len(timed) != len(others) and not problems:
        longer, engine = (timed, pair[0]) if len(timed) > fewest else (others, pair[1])
        extra = longer[fewest]
        counts = f"{pair[0]} has seen {len(timed)} events, {pair[1]} {len(others)}"
        problems.append(f"{counts}: only {engine} has {extra.cause} at t = {number(extra.time, 9)}")
    return [*by_cause.values(), *slopes.values()]


def _located(result: Result) -> list[Event]:
    return [event for event in result.events if event.kind != "step"]


def _keep(found: dict[str, Difference], difference: Difference) -> None:
    """Remember the difference if it is the largest under its name."""
    if difference.name not in found or found[difference.name].tolerances < difference.tolerances:
        found[difference.name] = difference


def _scale(result: Result, parameter: str) -> float:
    """The size of a parameter; 1 for one that is zero."""
    return abs(result.parameters[parameter]) or 1.0


def _values(first: Result, second: Result, rtol: float, roundings: Mapping[str, float] | None = None) -> list[Difference]:
    """States, discrete variables, outputs and sensitivities at the times both have; by name what rounding may make of a difference."""
    times = np.unique(first.t[np.isin(first.t, second.t)])
    instants = [np.array([event.time for event in _located(result)]) for result in (first, second)]
    times = times[apart_from_events(times, *instants)]
    a, b = np.searchsorted(first.t, times), np.searchsorted(second.t, times)
    found: list[Difference] = []
    for k, column in enumerate(first.columns):
        size = float(np.nanmax(np.abs(first.values[:, k]), initial=0.0))
        rounding = (roundings or {}).get(column.name, 0.0)
        found += _largest(_KINDS[column.role], column.name, times, first.values[a, k], second.values[b, k], size, rtol, rounding)
        if first.sensitivities is None or second.sensitivities is None:
            continue
        for i, parameter in enumerate(first.sensitivity_parameters):
            one, other = first.sensitivities[a, i, k], second.sensitivities[b, i, k]
            own = float(np.nanmax(np.abs(first.sensitivities[:, i, k]), initial=0.0))
            scale = _scale(first, parameter)
            name = f"{column.name} by {parameter}"
            found += _largest("sensitivity", name, times, one, other, max(own, _FLOOR * size / scale), rtol, rounding / scale)
    return found


def _largest(
    kind: str, name: str, times: FloatArray, one: FloatArray, other: FloatArray, size: float, rtol: float, rounding: float
) -> list[Difference]:
    difference = np.where(np.isnan(one) & np.isnan(other), 0.0, np.abs(one - other))
    if not difference.size:
        return []
    worst = int(np.argmax(difference))
    largest = float(difference[worst])
    beyond = max(largest - rounding, 0.0)
    tolerances = beyond / size / rtol if size > 0.0 else (0.0 if beyond == 0.0 else np.inf)
    return [Difference(kind, name, largest, size, float(times[worst]), tolerances)]


def _roundings(model: Model, result: Result) -> dict[str, float]:
    """How far two values of a variable may be apart by the rounding of larger terms of an equation in which it stands by itself.

    What is nothing but rounding hands that on to what is a multiple of it: a voltage to the current of a resistor.
    """
    defined = [symbol(Role.UNKNOWN, item.name) - item.value for item in model.definitions]
    parameters = {symbol(Role.PARAMETER, name): value for name, value in result.parameters.items()}
    equations = [_Sum(list(_terms(residual)), parameters) for residual in (*(equation.residual for equation in model.equations), *defined)]
    names = [column.name for column in result.columns]
    sizes = dict(zip(names, np.nanmax(np.abs(result.values), axis=0, initial=0.0).tolist(), strict=True))
    rows = np.unique(np.linspace(0, result.t.size - 1, min(_LOOKS, result.t.size)).astype(int))
    instants = [_instant(model, result, names, row) for row in rows.tolist()]
    found: dict[str, float] = {}
    for equation in equations:
        largest = equation.sizes(instants)
        for k, (name, factor) in equation.own.items():
            others = max((size for i, size in enumerate(largest) if i != k), default=0.0)
            found[name] = max(found.get(name, 0.0), _ROUNDING * others / factor)
    pairs = [item for equation in equations if len(equation.terms) == len(equation.own) == 2 for item in equation.both_ways()]
    for _ in range(2):  # from what is summed to what is shown of it is not far
        for (name, factor), (other, its) in pairs:
            if sizes.get(other, 0.0) <= _ALL_ROUNDING * found.get(other, 0.0):
                found[name] = max(found.get(name, 0.0), its * found[other] / factor)
    return found


class _Sum:
    """An equation as terms whose sum is zero.

    Parameters
    ----------
    terms : of it.
    parameters : their values.

    Attributes
    ----------
    own : for terms that are an unknown times a number, or a parameter, the name and the size of that.
    """

    def __init__(self, terms: list[Expr], parameters: Mapping[Expr, float]) -> None:
        self.terms = terms
        self.own = {k: found for k, term in enumerate(terms) for found in _multiple(term, parameters)}

    def sizes(self, instants: Iterable[Mapping[Expr, float]]) -> list[float]:
        """The largest absolute value of each term; zero of one whose value is not recorded, as that of a derivative."""
        largest = [0.0] * len(self.terms)
        for values in instants:
            for k, term in enumerate(self.terms):
                if all(item in values for item in walk([term]) if item.op == "symbol"):
                    value = abs(evaluate([term], values)[0])
                    largest[k] = max(largest[k], value) if np.isfinite(value) else largest[k]
        return largest

    def both_ways(self) -> Iterator[tuple[tuple[str, float], tuple[str, float]]]:
        """Of two terms each with the other."""
        one, other = self.own.values()
        yield one, other
        yield other, one


def _terms(expr: Expr) -> Iterator[Expr]:
    waiting = [expr]
    while waiting:
        item = waiting.pop()
        if item.op in ("add", "sub", "neg"):
            waiting += item.args
        else:
            yield item


def _multiple(term: Expr, parameters: Mapping[Expr, float]) -> Iterator[tuple[str, float]]:
    """The unknown of which a term is a multiple."""
    unknowns = [item for item in walk([term]) if item.op == "symbol" and item.data.role is Role.UNKNOWN]
    if len(unknowns) == 1:
        (slope,) = tangent([term], {unknowns[0]: ONE})
        if all(item in parameters for item in walk([slope]) if item.op == "symbol"):
            (factor,) = evaluate([slope], parameters)
            if factor and np.isfinite(factor):
                yield unknowns[0].data.name, abs(factor)


def _instant(model: Model, result: Result, names: Sequence[str], row: int) -> dict[Expr, float]:
    """Values of symbols in a row."""
    given = dict(zip(names, result.values[row].tolist(), strict=True))
    found = {symbol(Role.TIME, "time"): float(result.t[row])} | {symbol(Role.PARAMETER, name): value for name, value in result.parameters.items()}
    for variable in model.variables:
        found |= {item: given[item.data.name] for item in variable.symbols() if item.data.name in given}
    return found | {symbol(Role.UNKNOWN, item.name): given[item.name] for item in model.definitions if item.name in given}
