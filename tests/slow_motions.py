"""Random motions so slow that steps are much longer than a run, and a guard that time alone takes up and down in it; closed forms tell when.

Nothing of tidegate is in the truth: crossings are found by looking at many points, then by Brent's method.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

import tidegate as tg

__all__ = ["SlowMotions"]

_POINTS = 20_001
_CLEAR = 1e-4  # of the guard's largest value: nearer to zero it neither turns nor ends
_APART = 1e-3  # of the run

Motion = Callable[[Any], Any]


def _motion(draw: random.Random, start: float) -> tuple[float, Callable[[Any, Any], Any], Motion]:
    """Start value, rate, and where it is at a time."""
    speed, first = 10.0 ** draw.uniform(-18.0, -0.5), draw.choice([0.0, draw.uniform(-2.0, 2.0)])
    kinds: list[tuple[Callable[[Any, Any], Any], Motion]] = [
        (lambda _y, _t: speed, lambda t: first + speed * (t - start)),
        # what comes of rounding is not zero, so that the series seems to go on
        (lambda y, _t: (y + 8.0 * speed - y) * 0.125, lambda t: first + speed * (t - start)),
        (lambda y, _t: -speed * y, lambda t: first * np.exp(-speed * (t - start))),
        (lambda y, _t: -speed * y * y * y, lambda t: first / np.sqrt(1.0 + 2.0 * speed * first * first * (t - start))),
        (lambda _y, t: speed * (t - start), lambda t: first + 0.5 * speed * (t - start) ** 2),
        (lambda y, _t: 0.0 * y, lambda t: first + 0.0 * t),
    ]
    return first, *draw.choice(kinds)


def _text(draw: random.Random, depth: int) -> str:
    """A guard of x, z and of time s in its own unit."""
    if depth == 0 or draw.random() < 0.12:
        return draw.choice(["x", "z", "s", "s", "s", "x", f"{draw.uniform(-2, 2):.3f}"])
    a, b = _text(draw, depth - 1), _text(draw, depth - 1)
    forms = ["({a} + {b})", "({a} - {b})", "{a} * {b}", "np.sin({a})", "np.sin({a})", "np.cos({a})", "np.exp(0.3 * np.sin({a}))"]
    return draw.choice([*forms, "{a} / (2.5 + np.sin({b}))", "np.sqrt(1.2 + {a} * {a})"]).format(a=f"({a})", b=f"({b})")


class SlowMotions:
    """One such model.

    Parameters
    ----------
    seed : of everything.

    Attributes
    ----------
    span : of the run.
    text : of the guard.
    crossings : when the guard is zero; None if rounding, or the distance of points looked at, may decide about one.
    """

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        begin = draw.choice([0.0, 0.0, 0.0, -3.0, 1e3, -1e4])
        starts, rates, self._motions = zip(*(_motion(draw, begin) for _ in range(2)), strict=True)
        frequency = 10.0 ** draw.uniform(-0.5, 1.0)
        self.span = begin, begin + draw.uniform(3.0, 10.0) / min(frequency, 3.0)
        self.text = f"{_text(draw, draw.randint(1, 4))} - {draw.uniform(-0.5, 0.5):.4f} + 0.0 * x"
        guard = self._guard = eval(f"lambda x, z, s: {self.text}", {"np": np})
        self._value = lambda t: guard(*(motion(t) for motion in self._motions), frequency * (t - begin))
        self.crossings = self._found()

        def side(t: Any, y: Any) -> Any:
            return guard(y["x"], y["z"], frequency * (t - begin))

        def count(_t: Any, _y: Any, d: Any) -> Any:
            return {"n": d["n"] + 1}

        events = [tg.event(lambda t, y: side(t, y) > 0.0, count, name="up"), tg.event(lambda t, y: side(t, y) < 0.0, count, name="down")]
        if draw.random() < 0.4:
            # crossed long after the end of the run, in the same step
            level = draw.uniform(5.0, 50.0)
            events.append(tg.event(lambda _t, y: y["x"] + 0.3 * y["z"] > level, lambda _t, _y, d: {"n": d["n"] + 1000}, name="far"))
        self.model = tg.ode(
            lambda t, y: [rates[0](y["x"], t), rates[1](y["z"], t)], y0=dict(zip("xz", starts, strict=True)), discrete={"n": 0}, events=events
        )

    def _found(self) -> list[float] | None:
        times = np.linspace(*self.span, _POINTS)
        values = self._value(times) * np.ones(_POINTS)
        sizes, length = np.abs(values), self.span[1] - self.span[0]
        least = _CLEAR * sizes.max()
        stays = np.sign(values[:-2]) == np.sign(values[2:])
        turns = (sizes[1:-1] < sizes[:-2]) & (sizes[1:-1] < sizes[2:]) & stays & (sizes[1:-1] < least)
        if not least > 0.0 or min(sizes[0], sizes[-1]) < least or turns.any():
            return None
        places = np.flatnonzero(np.sign(values[:-1]) != np.sign(values[1:]))
        found = [float(brentq(lambda t: float(self._value(t)), times[k], times[k + 1], xtol=1e-15 * max(1.0, abs(self.span[0])))) for k in places]
        return found if len(found) < 2 or np.diff(found).min() > _APART * length else None

    def misfit(self, result: Any) -> str:
        """What is wrong with a run; empty if nothing is."""
        assert self.crossings is not None
        found = [event.time for event in result.events if event.cause.startswith(("up", "down"))]
        if len(found) != len(self.crossings):
            return f"{len(found)} events instead of {len(self.crossings)} of {self.text}: {found} instead of {self.crossings}"
        # a state that is wrong by its tolerance moves the crossing
        size = max(abs(float(self._value(t))) for t in np.linspace(*self.span, 101))
        apart = [abs(self._value(t)) / size for t in found]
        return f"{self.text} is {max(apart)} of its size at an event" if max(apart, default=0.0) > 1e-6 else ""
