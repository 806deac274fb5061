"""A clutch and a brake on one shaft, pressed and let go at the same instants: random runs against straight lines in plain Python.

The truth tries for each contact at rest whether it sticks or in which direction it begins to slide, and takes what fits forces and accelerations.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.library import rotational

__all__: list[str] = []

END = 6.0


class Shafts(tg.Component):
    """What clutch (c) and brake (b) carry is constant in four parts of the run."""

    t1, t2, t3 = tg.Parameter(1.0), tg.Parameter(2.0), tg.Parameter(3.0)
    c0, c1, c2, c3 = tg.Parameter(1.0), tg.Parameter(1.0), tg.Parameter(1.0), tg.Parameter(1.0)
    b0, b1, b2, b3 = tg.Parameter(1.0), tg.Parameter(1.0), tg.Parameter(1.0), tg.Parameter(1.0)
    engine, load = rotational.ConstantTorque(tau=5.0), rotational.ConstantTorque(tau=-3.0)
    one, two = rotational.Inertia(J=1.0), rotational.Inertia(J=2.0)
    clutch, brake = rotational.Clutch(), rotational.Brake()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.engine.flange, self.one.flange_a)
        yield tg.connect(self.one.flange_b, self.clutch.flange_a)
        yield tg.connect(self.clutch.flange_b, self.two.flange_a, self.brake.flange_a)
        yield tg.connect(self.two.flange_b, self.load.flange)

        def in_parts(first: Any, second: Any, third: Any, last: Any) -> Any:
            return tg.where(tg.time < self.t1, first, tg.where(tg.time < self.t2, second, tg.where(tg.time < self.t3, third, last)))

        yield self.clutch.capacity == in_parts(self.c0, self.c1, self.c2, self.c3)
        yield self.brake.capacity == in_parts(self.b0, self.b1, self.b2, self.b3)


def drawn(seed: int) -> dict[str, float]:
    random = np.random.default_rng(seed)
    values = dict(zip(("t1", "t2", "t3"), map(float, np.sort(random.uniform(0.3, END - 0.3, 3))), strict=True))
    for contact, part in itertools.product("cb", range(4)):
        values[f"{contact}{part}"] = float(random.choice([0.0, random.uniform(1.0, 15.0)]))
    limits = {"engine.tau": (-8.0, 10.0), "load.tau": (-8.0, 8.0), "one.J": (0.5, 2.0), "two.J": (0.5, 3.0)}
    return values | {name: float(random.uniform(*between)) for name, between in limits.items()}


def accelerations(p: dict[str, float], part: int, slips: tuple[float, float], at_rest: tuple[bool, bool]) -> Any:
    """Of both shafts."""
    most = p[f"c{part}"], p[f"b{part}"]
    choices = [(0.0, 1.0, -1.0) if rests else (math.copysign(1.0, slip),) for slip, rests in zip(slips, at_rest, strict=True)]
    for signs in itertools.product(*choices):
        left, right = np.zeros((4, 4)), np.array([p["engine.tau"], p["load.tau"], 0.0, 0.0])
        left[0], left[1] = [p["one.J"], 0.0, 1.0, 0.0], [0.0, p["two.J"], -1.0, 1.0]
        for k, (sign, relative) in enumerate(zip(signs, ([1.0, -1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]), strict=True)):
            if sign:
                left[2 + k, 2 + k], right[2 + k] = 1.0, sign * most[k]
            else:
                left[2 + k] = relative
        a, b, *forces = np.linalg.solve(left, right)
        away = a - b, b
        if all(
            not rests or (abs(force) <= limit + 1e-10 if sign == 0.0 else sign * rate >= -1e-10)
            for rests, sign, force, limit, rate in zip(at_rest, signs, forces, most, away, strict=True)
        ):
            return a, b
    raise AssertionError("nothing fits")


def truth(p: dict[str, float]) -> tuple[float, float]:
    """Speeds of both shafts at the end."""
    w, v, t = 0.0, 0.0, 0.0
    for part, end in enumerate([p["t1"], p["t2"], p["t3"], END]):
        while t < end:
            slips, small = (w - v, v), 1e-11 * (abs(w) + abs(v) + 1.0)
            at_rest = abs(slips[0]) <= small, abs(slips[1]) <= small
            a, b = accelerations(p, part, slips, at_rest)
            rates = a - b, b
            stops = [math.inf if rests or slip * rate >= 0.0 else -slip / rate for slip, rate, rests in zip(slips, rates, at_rest, strict=True)]
            step = min(*stops, end - t)
            w, v, t = w + a * step, v + b * step, end if step == end - t else t + step
            v = 0.0 if step == stops[1] else v
            w = v if step == stops[0] else w
    return w, v


@pytest.fixture(scope="module")
def shafts() -> Any:
    return tg.prepare(Shafts(), (0.0, END), rtol=1e-8, outputs=[END])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(16), 182, 225, 248])  # 9 and the last: both at rest, and what holds them changes
def test_both_stick_and_slide_as_they_should(shafts: Any, seed: int) -> None:
    values = drawn(seed)
    result = shafts.with_parameters(**values).run()
    assert [float(result.final[name]) for name in ("one.w", "two.w")] == pytest.approx(truth(values), rel=1e-6, abs=1e-6)
