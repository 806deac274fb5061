"""Random relays that look back: rates are constants and past values, chosen by conditions on time, on the present and on the past, and clauses
that set what is present. So solutions are polynomials between breaks, which plain NumPy finds with nothing of tidegate.

A plan that is not clear (two events beside each other, a touch, a relay that would slide) raises ``UnclearError``: it is no test.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.polynomial import polynomial as poly
from numpy.typing import NDArray

import tidegate as tg

__all__ = ["END", "Relays", "Run", "UnclearError"]

FloatArray = NDArray[np.float64]
END: Final = 3.0
_SAME: Final = 1e-9  # time, and value
_APART: Final = 4e-3  # times of events
_CLEAR: Final = 2e-3  # a condition from its threshold where something else happens
_STEEP: Final = 0.03  # the least slope with which a threshold is crossed
_SETS: Final[dict[str, Callable[[Any, Any], Any]]] = {"add": lambda x, d: x + d, "times": lambda x, d: d * x, "set": lambda x, d: d + 0.0 * x}


class UnclearError(Exception):
    """It is a matter of rounding what happens."""


class Relays:
    """A plan.

    Parameters
    ----------
    seed : of what is drawn.
    """

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)

        def between(low: float, high: float) -> float:
            return round(draw.uniform(low, high), 3)

        n, n_delays, n_conditions = draw.choice([1, 1, 2]), draw.choice([1, 1, 2]), draw.randint(1, 3)
        self.names = [f"x{j}" for j in range(n)]
        p = {f"tau{i}": between(0.25, 1.1) for i in range(n_delays)} | {"b": 1.0}
        for j in range(n):
            p |= {f"start{j}": between(-1, 1), f"rate{j}": draw.choice([0.0, between(-1, 1)]), f"gap{j}": draw.choice([0.0, between(-0.5, 0.5)])}
        self.conditions: list[tuple[str, int, int]] = []  # of what, which unknown, which delay
        for k in range(n_conditions):
            kind = draw.choice(["now", "past", "past", "time"])
            p[f"s{k}"] = between(0.2, 2.5) if kind == "time" else between(-0.8, 0.8)
            self.conditions.append((kind, draw.randrange(n), draw.randrange(n_delays)))
        self.constants = [between(-1, 1) for _ in range(n)]
        # (condition or -1, unknown, delay, factor) and (condition, if it holds, if not)
        self.past_terms: list[list[tuple[int, int, int, float]]] = []
        self.choices: list[list[tuple[int, float, float]]] = []
        for _ in range(n):
            conditions = [-1] * draw.randint(0, 2) + [k for k in range(n_conditions) if draw.random() < 0.2]
            self.past_terms.append([(k, draw.randrange(n), draw.randrange(n_delays), between(-1.5, 1.5)) for k in conditions])
            self.choices.append([(k, between(-1.5, 1.5), between(-1.5, 1.5)) for k in range(n_conditions) if draw.random() < 0.6])
        self.clauses: dict[int, tuple[int, str]] = {}
        for k in range(n_conditions):
            if draw.random() < 0.5:
                self.clauses[k] = draw.randrange(n), draw.choice(list(_SETS))
                p[f"d{k}"] = between(-0.9, 0.9)
        self.parameters = p
        self.in_rates = {k for own in self.past_terms for k, *_ in own if k >= 0} | {k for own in self.choices for k, *_ in own}
        self.times = sorted(draw.uniform(0.1, END) for _ in range(8))

    def model(self) -> Any:
        """In tidegate's words."""

        def past(t: Any, y: Any, p: Any, j: int, i: int) -> Any:
            return tg.delay(y[f"x{j}"], p[f"tau{i}"], history=p[f"start{j}"] + p[f"gap{j}"] + p[f"rate{j}"] * t)

        def holds(k: int, t: Any, y: Any, p: Any) -> Any:
            kind, j, i = self.conditions[k]
            return (t if kind == "time" else y[f"x{j}"] if kind == "now" else past(t, y, p, j, i)) > p[f"s{k}"]

        def rates(t: Any, y: Any, p: Any) -> Any:
            found: dict[str, Any] = {}
            for name, constant, terms, choices in zip(self.names, self.constants, self.past_terms, self.choices, strict=True):
                found[name] = constant
                for k, yes, no in choices:
                    found[name] = found[name] + (yes if holds(k, t, y, p) else no)
                for k, j, i, factor in terms:
                    term = p["b"] * factor * past(t, y, p, j, i)
                    found[name] = found[name] + (term if k < 0 or holds(k, t, y, p) else 0.0)
            return found

        def clause(k: int, j: int, what: str) -> Any:
            return tg.event(lambda t, y, p: holds(k, t, y, p), reset=lambda t, y, p: {f"x{j}": _SETS[what](y[f"x{j}"], p[f"d{k}"])})

        clauses = [clause(k, j, what) for k, (j, what) in self.clauses.items()]
        return tg.ode(rates, y0=lambda p: {name: p[f"start{j}"] for j, name in enumerate(self.names)}, p=self.parameters, events=clauses)


@dataclass
class Run:
    """The solution for some values of the parameters.

    Parameters
    ----------
    is_strict : whether to look for what is not clear.

    Attributes
    ----------
    events : times at which a condition in the rates changes, or a clause does something.
    breaks : times at which the solution or what is seen of it is not smooth.
    """

    plan: Relays
    p: dict[str, float]
    is_strict: bool = True
    events: list[float] = field(default_factory=list)
    breaks: set[float] = field(default_factory=lambda: {0.0})

    def __post_init__(self) -> None:
        self._pieces: list[list[tuple[float, FloatArray]]] = [[] for _ in self.plan.names]  # from when on, by the time from there
        self._taus = [value for name, value in self.p.items() if name.startswith("tau")]
        self._last = -np.inf
        x = [self.p[f"start{j}"] for j in range(len(self.plan.names))]
        t, modes = 0.0, self._looked_at([False] * len(self.plan.conditions), 0.0, x, everything=True)
        while t < END - _SAME:
            t, x, modes = self._stretch(t, x, modes)

    def at(self, t: float) -> list[float]:
        """Values."""
        return [float(poly.polyval(0.0, self._seen(j, 0.0, t))) for j in range(len(self._pieces))]

    def _doubt(self, is_unclear: bool, why: str) -> None:
        if self.is_strict and is_unclear:
            raise UnclearError(why)

    def _seen(self, j: int, tau: float, t: float) -> FloatArray:
        """The polynomial that unknown j was, a time tau ago, in the time from t on."""
        when = t - tau
        if when < -_SAME or not self._pieces[j]:
            p = self.p
            return np.array([p[f"start{j}"] + p[f"gap{j}"] + p[f"rate{j}"] * when, p[f"rate{j}"]])
        begin, piece = [piece for piece in self._pieces[j] if piece[0] <= when + _SAME][-1]
        moved = np.zeros(1)
        for c in piece[::-1]:
            moved = poly.polyadd(poly.polymul(moved, [when - begin, 1.0]), [c])
        return moved

    def _above(self, k: int, t: float, now: list[FloatArray]) -> FloatArray:
        """By how much a condition's quantity is above its threshold."""
        kind, j, i = self.plan.conditions[k]
        quantity = np.array([t, 1.0]) if kind == "time" else now[j] if kind == "now" else self._seen(j, self._taus[i], t)
        return poly.polysub(quantity, [self.p[f"s{k}"]])

    def _looked_at(self, modes: list[bool], t: float, x: list[float], *, everything: bool) -> list[bool]:
        """Conditions at a point where something jumps; what is just at its threshold stays."""
        found = list(modes)
        for k, (kind, _, _) in enumerate(self.plan.conditions):
            value = self._above(k, t, [np.array([one]) for one in x])[0]
            if abs(value) > _SAME and (everything or kind == "now"):
                self._doubt(abs(value) < _CLEAR, "near a threshold at a break")
                found[k] = bool(value > 0)
        return found

    def _polynomials(self, t: float, x: list[float], modes: list[bool]) -> list[FloatArray]:
        """The unknowns from t on."""
        found = []
        for one, constant, terms, choices in zip(x, self.plan.constants, self.plan.past_terms, self.plan.choices, strict=True):
            rate = np.array([constant + sum(yes if modes[k] else no for k, yes, no in choices)])
            for k, j, i, factor in terms:
                if k < 0 or modes[k]:
                    rate = poly.polyadd(rate, self.p["b"] * factor * self._seen(j, self._taus[i], t))
            found.append(poly.polyadd(poly.polyint(rate), [one]))
        return found

    def _crossing(self, t: float, now: list[FloatArray], room: float, modes: list[bool]) -> tuple[float, int]:
        """After what time the first condition changes, and which."""
        found = [(room + 1.0, -1)]
        for k, holds in enumerate(modes):
            above = self._above(k, t, now)
            above = above[: np.flatnonzero(np.abs(above) > 1e-14).max(initial=0) + 1]
            for root in poly.polyroots(above):
                h, is_there = root.real, -_APART < root.real < room + _APART
                self._doubt(_SAME < abs(root.imag) < 1e-2 and is_there, "a touch, nearly")
                if abs(root.imag) < _SAME < h < room + 1e-10:
                    slope = poly.polyval(h, poly.polyder(above))
                    self._doubt(abs(slope) < _STEEP, "a touch")
                    if (slope > 0) == holds:
                        raise UnclearError("a condition that is what it becomes")
                    found.append((h, k))
        found.sort()
        self._doubt(len(found) > 2 and found[1][0] - found[0][0] < _SAME, "two at once")
        return found[0]

    def _stretch(self, t: float, x: list[float], modes: list[bool]) -> tuple[float, list[float], list[bool]]:
        """From one break to the next."""
        end = min([END, *(seen for b in self.breaks for tau in self._taus if (seen := b + tau) > t + 1e-10)])
        now = self._polynomials(t, x, modes)
        h, crossed = self._crossing(t, now, end - t, modes)
        for own, piece in zip(self._pieces, now, strict=True):
            own.append((t, piece))
        if crossed >= 0:
            self._doubt(_SAME < end - t - h < _APART, "an event beside a break")
            end = t + h
        before, left = list(modes), [float(poly.polyval(end - t, piece)) for piece in now]
        if end >= END - _SAME:
            return end, left, modes
        if crossed >= 0:
            modes[crossed] = not modes[crossed]
        else:
            modes = self._looked_at(modes, end, left, everything=True)
        x, modes = self._cleared(end, left, before, modes)
        flipped = {k for k, (old, new) in enumerate(zip(before, modes, strict=True)) if old != new}
        if flipped or x != left:
            self._doubt(end - self._last < _APART, "events beside each other")
            self._last = end
            if flipped & self.plan.in_rates or not np.allclose(x, left, rtol=0, atol=1e-12):
                self.events.append(end)
        if len(self.events) > 40:
            raise UnclearError("too many events")
        self.breaks.add(end)
        now = self._polynomials(end, x, modes)
        for k, holds in enumerate(modes):
            above = self._above(k, end, now)
            if abs(above[0]) < _SAME and (len(above) < 2 or abs(above[1]) < _STEEP or (above[1] > 0) != holds):
                raise UnclearError("it slides")
        return end, x, modes

    def _cleared(self, t: float, x: list[float], before: list[bool], modes: list[bool]) -> tuple[list[float], list[bool]]:
        """Behind the clauses of what holds now and did not before, one after the other."""
        done: set[int] = set()
        while rising := [k for k in self.plan.clauses if modes[k] and not before[k]]:
            if len(rising) > 1 or rising[0] in done:
                raise UnclearError("clauses at the same time, or again and again")
            (k,) = rising
            done.add(k)
            j, what = self.plan.clauses[k]
            x = [*x[:j], float(_SETS[what](x[j], self.p[f"d{k}"])), *x[j + 1 :]]
            before, modes = list(modes), self._looked_at(modes, t, x, everything=False)
        return x, modes
