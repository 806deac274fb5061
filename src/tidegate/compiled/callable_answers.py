"""What is asked once a run, or for messages, of a model that is made of functions (stage: compiled). In: points; out: numbers and texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.compiled_model import Direction, Disagreement, Point, Said, StartValues, Trouble
from tidegate.compiled.layout import Layout
from tidegate.errors import Origin, UsageError
from tidegate.model.callables import At, Beside, CallableModel, Changes

__all__ = [
    "CallableActions",
    "CallableDiagnosis",
    "CallableOutputs",
    "CallableStart",
    "CallableWords",
    "Function",
    "changed",
    "changes",
    "point",
    "slope",
]

FloatArray = NDArray[np.float64]
Function = Callable[[float, FloatArray, FloatArray, FloatArray], Sequence[float] | FloatArray]
Writers = Callable[[float, FloatArray, FloatArray, FloatArray], dict[int, list[tuple[int, float]]]]
_STEP: Final = float(np.cbrt(np.finfo(float).eps))  # of central differences: balances truncation and rounding


def point(layout: Layout, t: float, y: FloatArray, p: FloatArray, m: FloatArray) -> At:
    """What a function of the model is given."""
    holds, d = m[: layout.n_modes] != 0.0, m[layout.first_discrete : layout.first_previous]
    return At(t, y, p, holds, d, is_integrated=not layout.n_forms or m[layout.first_form] != 0.0)


def changes(layout: Layout, change: Changes | None, at: At) -> dict[int, float]:
    """New values by index among unknowns and discrete variables.

    Raises
    ------
    UsageError : one is given to what cannot have it.
    """
    names = (*layout.unknowns, *layout.discretes)
    given = change(at) if change is not None else {}
    for name in given:
        if name not in names:
            raise UsageError(f"a new value is given to {name!r}, which is no unknown and no discrete variable", hint=f"one of {', '.join(names)}")
    return {names.index(name): float(value) for name, value in given.items()}


def changed(layout: Layout, change: Changes | None, at: At) -> FloatArray:
    """Unknowns and discrete variables after a change."""
    new = np.concatenate([at.y, at.d])
    for index, value in changes(layout, change, at).items():
        new[index] = value
    return new


def slope(function: Callable[[FloatArray], Any], x: FloatArray, k: int) -> FloatArray:
    """Derivatives by element k, by central differences."""
    step = _STEP * max(abs(x[k]), 1.0)
    above, below = x.copy(), x.copy()
    if np.isfinite(x[k]):
        above[k], below[k] = x[k] + step, x[k] - step
    upper, lower = (np.array(function(each), dtype=float) for each in (above, below))
    # a time that is never stays so
    is_same = upper == lower
    change = np.where(is_same, 0.0, upper) - np.where(is_same, 0.0, lower)
    return change / (above[k] - below[k]) if above[k] != below[k] else 0.0 * change


class CallableStart:
    """Start values: numbers. ``guards`` are the thresholds as a function."""

    asks_solution = False

    def __init__(self, model: CallableModel, layout: Layout, guards: Function) -> None:
        self._model, self._layout, self._guards = model, layout, guards
        self.asks_parameters = self.asks_a_block = model.refuses is not None

    def parameters(self, given: Mapping[int, float]) -> FloatArray:
        """Values of all parameters, some given by index."""
        return np.array([given.get(k, value) for k, value in enumerate(self._model.parameters.values())], dtype=float)

    def directions(self, chosen: Sequence[int], given: Collection[int], p: FloatArray) -> list[Direction]:  # noqa: ARG002, defaults are numbers
        """Each moves alone."""
        return [{index: 1.0} for index in chosen]

    def problem(self, p: FloatArray, *, has_started: bool = False) -> tuple[str, Origin | None] | None:  # noqa: ARG002, the same at any time
        """What the model says against these parameters."""
        reason = self._model.refuses(p) if self._model.refuses is not None else ""
        return (reason, None) if reason else None

    def periods(self, p: FloatArray) -> FloatArray:  # noqa: ARG002, they are numbers
        """Of every time event its period; NaN where it has none."""
        return np.array([np.nan if tick.period is None else tick.period for tick in self._model.ticks], dtype=float)

    compares = False
    guesses: Mapping[int, bool] = MappingProxyType({})

    def contradiction(self, at: Point, rtol: float) -> None:
        """No reason."""

    def unused(self, at: Point) -> list[str]:  # noqa: ARG002, all are used
        """None."""
        return []

    def values(self, p: FloatArray, t: float, directions: Sequence[Direction], *, with_actions: bool) -> StartValues:
        """Start values, with what is done at the start, and their derivatives in directions."""
        n = len(self._layout.unknowns)
        new = self._new(t, p, with_actions=with_actions)
        slopes = np.zeros((len(directions), len(new)))
        for row, direction in enumerate(directions):
            slopes[row] = sum(rate * slope(lambda q: self._new(t, q, with_actions=with_actions), p, index) for index, rate in direction.items())
        m = self._m(new[n:])
        guards = zip(self._guards(t, new[:n], p, m), self._model.thresholds, strict=True)
        m[: self._layout.n_modes] = [g > 0.0 or (g == 0.0 and not threshold.strict) for g, threshold in guards]
        return StartValues(new[:n], m, slopes[:, :n].copy(), slopes[:, n:].copy())

    def together(self, given: object, count: int, t: float, directions: object) -> None:
        """Functions of the user are called for one run after the other."""

    def doubtful(self, given: object, count: int) -> None:
        """Likewise."""

    def _m(self, discretes: FloatArray) -> FloatArray:
        m = np.zeros(self._layout.n_m)
        m[self._layout.first_form : self._layout.first_past] = 1.0
        m[self._layout.first_discrete : self._layout.first_input] = np.tile(discretes, 2)
        return m

    def _new(self, t: float, p: FloatArray, *, with_actions: bool) -> FloatArray:
        model = self._model
        y, d = (np.array([*several], dtype=float) for several in ((*model.states.values(), *model.algebraic.values()), model.discretes.values()))
        return changed(self._layout, model.at_start if with_actions else None, point(self._layout, t, y, p, self._m(d)))


class CallableActions:
    """What is done at the start or the end of a run."""

    says = asks = False
    origins: tuple[Origin, ...] = ()

    def __init__(self, change: Changes | None, layout: Layout, beside: Beside | None = None) -> None:
        self._change, self._layout, self._beside = change, layout, beside
        self.assigns = change is not None

    def assigned(self, at: Point) -> FloatArray:
        """Unknowns and discrete variables afterwards."""
        return changed(self._layout, self._change, point(self._layout, at.time, at.y, at.p, at.m))

    def moves(self, at: Point, moves: FloatArray, directions: Sequence[Direction]) -> FloatArray:
        """Their derivatives afterwards from those before, (directions, values)."""
        if self._beside is not None:
            return self._moves_of_runs(self._beside, at, moves, directions)
        layout, n, n_p = self._layout, len(at.y), len(at.p)
        x = np.concatenate([at.y, at.p, at.m[layout.first_discrete : layout.first_previous]])

        def after(x: FloatArray) -> FloatArray:
            return changed(layout, self._change, At(at.time, x[:n], x[n : n + n_p], at.m[: layout.n_modes] != 0.0, x[n + n_p :]))

        slopes = np.array([slope(after, x, k) for k in range(len(x))])
        own = np.array([[direction.get(k, 0.0) for k in range(n_p)] for direction in directions]).reshape(len(directions), n_p)
        return np.concatenate([moves[:, :n], own, moves[:, n:]], axis=1) @ slopes.reshape(len(x), moves.shape[1])

    def _moves_of_runs(self, beside: Beside, at: Point, moves: FloatArray, directions: Sequence[Direction]) -> FloatArray:
        """Likewise, where a run has begun at this point and others begin beside it."""
        names = (*self._layout.unknowns, *self._layout.discretes)
        found = moves.copy()
        number = at.m[self._layout.first_discrete + beside.place]
        for row, direction in enumerate(directions):
            for k, rate in direction.items():
                opened = beside.opened(number, k)
                for name in dict.fromkeys(name for _, new in opened for name in new):
                    values = [(weight, new[name]) for weight, new in opened if name in new]
                    moves_at_all = len({value for _, value in values}) > 1 and all(np.isfinite(value) for _, value in values)
                    found[row, names.index(name)] = rate * sum(weight * value for weight, value in values) if moves_at_all else 0.0
        return found

    def said(self, at: Point | None) -> Said:  # noqa: ARG002, nothing is
        """What is said."""
        return Said((), terminates=False)


class CallableOutputs:
    """Outputs as functions of what dense output holds."""

    inputs: tuple[int, ...] = ()

    def __init__(self, model: CallableModel, layout: Layout) -> None:
        self._function = model.output
        self.names = tuple(model.outputs)
        self.parameters, self.modes = tuple(range(len(layout.parameters))), tuple(range(layout.n_modes))
        self._n = len(layout.unknowns)

    def at(self, times: FloatArray, dense: FloatArray, constants: FloatArray, modes: FloatArray) -> FloatArray:
        """Values, (times, outputs)."""
        assert self._function is not None
        rows = zip(times.tolist(), dense, constants, modes, strict=True)
        return np.array([self._function(At(t, row[: self._n], p, holds != 0.0, row[self._n :])) for t, row, p, holds in rows], dtype=float)

    def as_text(self) -> str:
        """Nothing: they are functions of the user."""
        return ""

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, ()  # the functions are the user's, and stay where they are


class CallableWords:
    """What thresholds and clauses are called. What depends on what is not known: everything may."""

    def __init__(self, model: CallableModel, layout: Layout) -> None:
        self._texts = [(threshold.text, threshold.opposite or f"not ({threshold.text})") for threshold in model.thresholds]
        self._labels = [body.label for body in model.bodies]
        self._names = frozenset((*layout.unknowns, *layout.parameters, *layout.discretes, *model.outputs))

    def origin(self, guard: int) -> None:  # noqa: ARG002, not known
        """Where the relation was written."""
        return

    def relation(self, guard: int, *, holds: bool = True) -> str:
        """The relation that holds."""
        return self._texts[guard][not holds]

    def piece(self, guard: int, before: float, after: float) -> str:  # noqa: ARG002, no threshold watches pieces
        """Which edge was passed."""
        return self._texts[guard][0]

    def whole(self, guard: int) -> str:  # noqa: ARG002, no threshold is a whole part
        """See ``Words``."""
        return ""

    def clause(self, event_action: int) -> str:
        """A clause by its name."""
        return self._labels[event_action]

    def mattered(self, guard: int, p: FloatArray, m: FloatArray) -> bool:  # noqa: ARG002, always
        """Whether the guard is looked at."""
        return True

    def asked(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Nothing."""
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    def read(self, guard: int) -> frozenset[str]:  # noqa: ARG002, any
        """Names of what may stand in the relation."""
        return self._names

    def influenced(self, guard: int, event_action: int = -1) -> frozenset[str]:  # noqa: ARG002, any
        """Names of all columns that may depend on it."""
        return self._names


class CallableDiagnosis:
    """What is found out about a failure."""

    def __init__(self, layout: Layout, rhs: Function, guards: Function, writers: Writers, sources: Mapping[str, str]) -> None:
        self._sources = sources
        self._layout, self._rhs, self._guards, self._writers = layout, rhs, guards, writers

    def source(self, what: str) -> str:
        """The callback, where it is known."""
        return self._sources.get(what, "")

    def missing_connection(self, loose: Sequence[str]) -> str:  # noqa: ARG002, nothing is known of functions
        """Nothing."""
        return ""

    def not_finite(self, at: Point) -> Trouble | None:
        """An equation that is not finite."""
        numbers = np.array(self._rhs(at.time, at.y, at.p, at.m), dtype=float)
        bad = np.flatnonzero(~np.isfinite(numbers))
        return (
            Trouble(f"the equation of {self._layout.unknowns[bad[0]]}", float(numbers[bad[0]]), self.source("rhs") or "rhs", Origin())
            if len(bad)
            else None
        )

    def not_finite_near(self, at: Point) -> None:  # noqa: ARG002, a call there may do anything
        """Nothing is known."""
        return

    def not_a_number(self, at: Point, suspected: int) -> int:
        """A guard that is NaN, or the suspected one."""
        bad = np.flatnonzero(np.isnan(np.array(self._guards(at.time, at.y, at.p, at.m), dtype=float)))
        return int(bad[0]) if len(bad) else suspected

    def divisor(self, at: Point, number: int) -> None:  # noqa: ARG002, nothing is known of divisions
        """Nothing is known."""
        return

    def suspect(self, at: Point) -> None:  # noqa: ARG002, nothing is known of domains
        """The first equation near the end of its domain."""
        return

    def disagreement(self, at: Point) -> Disagreement | None:
        """Two clauses, whose flags are set in m, that give a variable different values."""
        names = (*self._layout.unknowns, *self._layout.discretes)
        found = ((index, several) for index, several in self._writers(at.time, at.y, at.p, at.m).items() if len({v for _, v in several}) > 1)
        index, several = next(found, (0, []))
        other = next((item for item in several if item[1] != several[0][1]), None)
        return other and Disagreement(names[index], (several[0][0], other[0]), (several[0][1], other[1]))
