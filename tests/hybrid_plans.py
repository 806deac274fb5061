"""Random hybrid systems as plans, and what becomes of them by SciPy: linear states under forcing, with relays, resets, clocks, kinks, delays (also of
products, of what a relay does, and within conditions), parts that are switched off, noise, steps of time, and tracks that are held.

The truth shares no code with a run: one smooth piece after another by DOP853 with locked modes, crossings by ``brentq`` on its dense output, the
past looked up in the pieces themselves. A plan of which it cannot be sure (touching, sliding, two things at one time) is ``Unsure``.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import tidegate as tg

__all__ = ["DELAYED", "KINDS", "Element", "Plan", "Truth", "Unsure", "random_plan"]

DELAYED = frozenset({"delay", "dkink", "drelay", "dproduct"})
# an element's numbers: the range of each
KINDS: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "relay": {"hi": (0.1, 0.5), "lo": (-0.4, 0.0)},
    "reset": {"th": (0.2, 0.6), "r": (-0.4, 0.3), "s": (-0.2, 0.05)},
    "clock": {"T": (0.15, 0.6), "o": (0.05, 0.3), "k": (-0.8, 0.8), "l": (-0.5, 0.5)},
    "kink": {"th": (-0.3, 0.4), "v": (-0.8, 0.8)},
    "enabled": {"th": (-0.2, 0.3), "z0": (-0.3, 0.3)},
    "noise": {"T": (0.2, 0.7), "dev": (0.3, 0.8)},
    "step": {"t1": (0.3, 2.0)},
    "hold": {"th": (-0.2, 0.3)},
    "delay": {"tau": (0.2, 0.8)},
    "dkink": {"tau": (0.2, 0.8), "th": (-0.3, 0.4), "v": (-0.8, 0.8)},
    "drelay": {"tau": (0.2, 0.8), "hi": (0.1, 0.5), "lo": (-0.4, 0.0)},
    "dproduct": {"tau": (0.2, 0.8)},
}
_CLOSE = 1e-6  # two things at one time
_CLEAR = 0.02  # what a start must be away from thresholds


class Unsure(Exception):
    """Nothing is claimed of this plan."""


@dataclass(frozen=True)
class Element:
    """What acts on state ``i`` and looks at states ``j`` and ``l``; ``k`` is its number."""

    kind: str
    k: int
    i: int
    j: int
    l: int  # noqa: E741 - as in the equations
    seed: int


@dataclass(frozen=True)
class Plan:
    """``n`` states, what acts on them, and all numbers by name."""

    seed: int
    n: int
    p: Mapping[str, float]
    y0: Sequence[float]
    elements: Sequence[Element]
    t_end: float = 2.0

    @property
    def kinds(self) -> set[str]:
        return {one.kind for one in self.elements}

    @property
    def enabled(self) -> list[Element]:
        return [one for one in self.elements if one.kind == "enabled"]

    @property
    def names(self) -> list[str]:
        return [*(f"x{i}" for i in range(self.n)), *(f"z{one.k}" for one in self.enabled)]


def random_plan(seed: int, kinds: Sequence[str] = tuple(KINDS), most: int = 3) -> Plan:
    """The plan of a seed."""
    d = random.Random(seed)

    def number(low: float, high: float) -> float:
        return float(f"{d.uniform(low, high):.3g}")

    n = d.randint(1, 3)
    p: dict[str, float] = {}
    for i in range(n):
        p |= {f"a{i}": number(0.5, 1.5), f"c{i}": number(-1.0, 1.0), f"g{i}": number(0.5, 2.0), f"w{i}": number(1.0, 4.0)}
    elements: list[Element] = []
    for k in range(d.randint(1, most)):
        kind = d.choice(kinds)
        p[f"b_{k}"] = d.choice([-1, 1]) * number(0.3, 1.2)
        p |= {f"{name}_{k}": number(*of) for name, of in KINDS[kind].items()}
        elements.append(Element(kind, k, d.randrange(n), d.randrange(n), d.randrange(n), d.randint(1, 99)))
    return Plan(seed, n, p, [number(-0.2, 0.2) for _ in range(n)], elements)


class Truth:
    """A plan followed to its end.

    Parameters
    ----------
    p : numbers in place of the plan's.
    y0 : likewise, start values.
    """

    def __init__(self, plan: Plan, p: Mapping[str, float] | None = None, y0: Sequence[float] | None = None, rtol: float = 1e-11) -> None:
        self.plan, self.p, self._rtol = plan, {**plan.p, **(p or {})}, rtol
        self._start = list(plan.y0 if y0 is None else y0)
        self._pieces: list[tuple[float, float, Any]] = []
        self.events: list[tuple[float, int]] = []
        self._mode: dict[int, float] = {}
        self._held = {one.k: 0.0 for one in plan.elements}
        self._ticks = {one.k: 1 if one.kind == "noise" else 0 for one in plan.elements}
        self._log: dict[int, list[tuple[float, float]]] = {one.k: [(-math.inf, 0.0)] for one in plan.elements if one.kind == "drelay"}
        self._before: dict[int, float] = {}
        if {"reset", "dkink"} <= plan.kinds:
            raise Unsure("a condition jumps")
        self.y = self._follow()

    def of(self, one: Element, name: str) -> float:
        return self.p[f"{name}_{one.k}"]

    def at(self, t: float) -> NDArray[np.float64]:
        """States at a time, behind what happens there."""
        begin, end, values = next(piece for piece in reversed(self._pieces) if t >= piece[0])
        return values(min(max(t, begin), end))

    def is_near(self, t: float, distance: float = 2e-6) -> bool:
        """Whether something happens so close to a time."""
        return any(abs(t - at) < distance for at, _ in self.events)

    def _past(self, t: float, j: int) -> float:
        return float(self.at(t)[j]) if t > 0.0 else self._start[j]

    def _rates(self, t: float, y: Any) -> list[float]:
        p, n = self.p, self.plan.n
        f = [-p[f"a{i}"] * y[i] + p[f"c{i}"] * y[(i + 1) % n] * (n > 1) + p[f"g{i}"] * math.sin(p[f"w{i}"] * t) for i in range(n)]
        f += [0.0] * len(self.plan.enabled)
        for one in self.plan.elements:
            b, m = self.of(one, "b"), self._mode.get(one.k, 0.0)
            if one.kind in ("relay", "clock", "step", "noise"):
                f[one.i] += b * m
            elif one.kind in ("kink", "dkink"):
                f[one.i] += b * y[one.l] if m else self.of(one, "v")
            elif one.kind == "hold":
                f[one.i] += b * (y[one.l] if m else self._held[one.k])
            elif one.kind == "drelay":
                f[one.i] += b * self._before[one.k]
            elif one.kind in ("delay", "dproduct"):
                then = t - self.of(one, "tau")
                f[one.i] += b * self._past(then, one.j) * (self._past(then, one.l) if one.kind == "dproduct" else 1.0)
            elif one.kind == "enabled":
                z = n + self.plan.enabled.index(one)
                f[one.i] += b * y[z]
                f[z] += (y[one.l] - y[z]) if m else 0.0
        return f

    def _guards(self, t: float, y: Any) -> dict[int, float]:
        """What becomes positive where an element switches."""
        found: dict[int, float] = {}
        for one in self.plan.elements:
            m = self._mode.get(one.k, 0.0)
            if one.kind in ("relay", "drelay"):
                found[one.k] = self.of(one, "lo") - y[one.j] if m else y[one.j] - self.of(one, "hi")
            elif one.kind in ("reset", "kink", "enabled", "hold", "dkink"):
                seen = self._past(t - self.of(one, "tau"), one.j) if one.kind == "dkink" else y[one.j]
                found[one.k] = (self.of(one, "th") - seen) if m else (seen - self.of(one, "th"))
        return found

    def _times(self) -> list[tuple[float, int]]:
        found = [(self.of(one, "o") + self._ticks[one.k] * self.of(one, "T"), one.k) for one in self.plan.elements if one.kind == "clock"]
        found += [(self._ticks[one.k] * self.of(one, "T"), one.k) for one in self.plan.elements if one.kind == "noise"]
        return found + [(self.of(one, "t1"), one.k) for one in self.plan.elements if one.kind == "step" and not self._mode[one.k]]

    def _begin(self) -> None:
        for one in self.plan.elements:
            y = self._start[one.j]
            if one.kind in ("relay", "drelay") and y > self.of(one, "hi") - _CLEAR:
                raise Unsure("starts above")
            if "th" in KINDS[one.kind] and abs(y - self.of(one, "th")) < _CLEAR:
                raise Unsure("starts on a threshold")
            self._mode[one.k] = float(one.kind in ("kink", "enabled", "hold", "dkink") and y > self.of(one, "th"))
            if one.kind == "noise":
                self._mode[one.k] = tg.noise(0.0, seed=one.seed, every=self.of(one, "T"), deviation=self.of(one, "dev"))

    def _follow(self) -> NDArray[np.float64]:
        self._begin()
        y, t = np.array(self._start + [self.of(one, "z0") for one in self.plan.enabled]), 0.0
        delays = [self.of(one, "tau") for one in self.plan.elements if one.kind in DELAYED]
        again = [*delays, *(a + b for a in delays for b in delays)]
        breaks = set(again)
        for _ in range(300):
            times = self._times()
            stop = min([self.plan.t_end, *(at for at, _ in times)])
            end = min([stop, *(at for at in breaks if t + 1e-12 < at), *(t + 0.9 * tau for tau in delays)])
            self._before = {k: next(m for at, m in reversed(log) if at <= (t + end) / 2 - self.p[f"tau_{k}"]) for k, log in self._log.items()}
            options: dict[str, Any] = {"method": "DOP853", "rtol": self._rtol, "atol": self._rtol * 1e-2, "max_step": 0.05}
            solved: Any = solve_ivp(self._rates, (t, end), y, dense_output=True, **options)
            crossing = self._crossing(solved, t, end)
            if crossing is not None and abs(crossing[0] - stop) < _CLOSE:
                raise Unsure("together with a time")
            end = end if crossing is None else crossing[0]
            self._pieces.append((t, end, solved.sol))
            t, y = end, solved.sol(end)
            due = [crossing[1]] if crossing else [k for at, k in times if at == stop == end]
            if not crossing and end == stop and len(due) < sum(abs(at - stop) < _CLOSE for at, _ in times):
                raise Unsure("two times nearly at once")
            if due:
                breaks |= {t + delay for delay in again}
                y = self._happen(t, y, due)
            if t >= self.plan.t_end:
                return y
        raise Unsure("too many events")

    def _crossing(self, solved: Any, t: float, end: float) -> tuple[float, int] | None:
        grid = np.unique(np.concatenate([solved.t, np.linspace(t, end, 60)]))
        rows = [self._guards(at, solved.sol(at)) for at in grid]
        first: tuple[float, int] | None = None
        for k in rows[0]:
            values = np.array([row[k] for row in rows])
            turns = (np.abs(values[1:-1]) < 2e-3) & ((values[1:-1] - values[:-2]) * (values[2:] - values[1:-1]) <= 0)
            if turns.any():
                raise Unsure("touches")
            up = np.flatnonzero((values[1:] > 0) & (values[:-1] <= 0))
            if (abs(values[0]) < 1e-9 and values[1] > 0) or (values[0] > 1e-9 and self.plan.elements[k].kind != "reset"):
                raise Unsure("slides")
            if up.size:
                at = float(brentq(lambda s, k=k: self._guards(s, solved.sol(s))[k], grid[up[0]], grid[up[0] + 1], xtol=1e-14, rtol=1e-14))
                first = min(first or (at, k), (at, k))
        if first and any(abs(g) < _CLOSE for k, g in self._guards(first[0], solved.sol(first[0])).items() if k != first[1]):
            raise Unsure("two crossings at once")
        return first

    def _happen(self, t: float, y: NDArray[np.float64], due: Sequence[int]) -> NDArray[np.float64]:
        new, old = y.copy(), dict(self._mode)
        for k in due:
            one = self.plan.elements[k]
            self._ticks[k] += 1
            if one.kind == "reset":
                new[one.j] = self.of(one, "r") * y[one.j] + self.of(one, "s")
            elif one.kind == "clock":
                self._mode[k] = self.of(one, "k") * y[one.j] + self.of(one, "l") * old[k]
            elif one.kind == "noise":
                self._mode[k] = tg.noise(t + 1e-9, seed=one.seed, every=self.of(one, "T"), deviation=self.of(one, "dev"))
            else:
                self._mode[k] = 1.0 - old[k]
                self._held[k] = y[one.l]
            self.events.append((t, k))
        for one in self.plan.elements:
            self._jumped(one, y[one.j], new[one.j])
            if one.k in self._log and self._log[one.k][-1][1] != self._mode[one.k]:
                self._log[one.k].append((t, self._mode[one.k]))
        return new

    def _jumped(self, one: Element, before: float, after: float) -> None:
        """What another element's reset makes of this one."""
        if before == after or one.kind not in ("relay", "drelay", "kink", "enabled", "hold", "reset"):
            return
        m = self._mode[one.k]
        if one.kind in ("relay", "drelay"):
            self._mode[one.k] = 1.0 if not m and after > self.of(one, "hi") else 0.0 if m and after < self.of(one, "lo") else m
            return
        if abs(after - self.of(one, "th")) < _CLOSE or (one.kind == "reset" and after > self.of(one, "th")):
            raise Unsure("reset onto a threshold")
        if one.kind != "reset" and (after > self.of(one, "th")) != bool(m):
            if one.kind == "hold":
                raise Unsure("held while it is reset")
            self._mode[one.k] = 1.0 - m
