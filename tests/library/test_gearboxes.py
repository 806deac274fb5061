"""Gears that clutches change at one instant, one let go as the other is pressed: random boxes against straight lines in plain Python."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.library import rotational

__all__: list[str] = []

END = 6.0


class Gearbox(tg.Component):
    """``first`` carries until ``t1``, ``second`` until ``t2``, ``first`` until ``t3``, ``second`` then."""

    t1, t2, t3, c1, c2 = tg.Parameter(1.0), tg.Parameter(2.0), tg.Parameter(3.0), tg.Parameter(200.0), tg.Parameter(200.0)
    engine, load = rotational.ConstantTorque(tau=50.0), rotational.ConstantTorque(tau=-30.0)
    flywheel, car = rotational.Inertia(J=0.5), rotational.Inertia(J=20.0)
    first, second = rotational.Clutch(), rotational.Clutch()
    low, high = rotational.Gear(ratio=4.0), rotational.Gear(ratio=2.0)

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.engine.flange, self.flywheel.flange_a)
        yield tg.connect(self.flywheel.flange_b, self.first.flange_a, self.second.flange_a)
        yield tg.connect(self.first.flange_b, self.low.flange_a)
        yield tg.connect(self.second.flange_b, self.high.flange_a)
        yield tg.connect(self.low.flange_b, self.high.flange_b, self.car.flange_a)
        yield tg.connect(self.car.flange_b, self.load.flange)
        is_first = (tg.time < self.t1) | ((tg.time >= self.t2) & (tg.time < self.t3))
        yield self.first.capacity == tg.where(is_first, self.c1, 0.0)
        yield self.second.capacity == tg.where(is_first, 0.0, self.c2)


def drawn(seed: int) -> dict[str, float]:
    random = np.random.default_rng(seed)
    times = np.sort(random.uniform(0.3, END - 0.3, 3))
    names = {
        "c1": random.uniform(5.0, 150.0), "c2": random.uniform(5.0, 150.0), "engine.tau": random.uniform(-20.0, 60.0),
        "load.tau": random.uniform(-80.0, 20.0), "flywheel.J": random.uniform(0.2, 1.0), "car.J": random.uniform(5.0, 30.0),
        "low.ratio": random.uniform(3.0, 5.0), "high.ratio": random.uniform(1.0, 2.5),
    }  # fmt: skip
    return {**dict(zip(("t1", "t2", "t3"), map(float, times), strict=True)), **{name: float(value) for name, value in names.items()}}


def truth(p: dict[str, float], until: float) -> tuple[float, float]:
    """Speeds of flywheel and car."""
    w, v, t = 0.0, 0.0, 0.0
    tau, load, j, k = p["engine.tau"], p["load.tau"], p["flywheel.J"], p["car.J"]
    for number, end in enumerate([p["t1"], p["t2"], p["t3"], math.inf]):
        ratio, capacity = (p["low.ratio"], p["c1"]) if number % 2 == 0 else (p["high.ratio"], p["c2"])
        stuck = (tau / j - ratio * load / k) / (1.0 / j + ratio**2 / k)
        while t < min(end, until):
            slip = w - ratio * v
            at_rest = abs(slip) <= 1e-12 * (abs(w) + 1.0)
            friction = max(-capacity, min(capacity, stuck)) if at_rest else math.copysign(capacity, slip)
            a, b = (tau - friction) / j, (load + ratio * friction) / k
            rate = a - ratio * b
            rests = -slip / rate if not at_rest and slip * rate < 0.0 else math.inf
            step = min(rests, end - t, until - t)
            w, v, t = w + a * step, v + b * step, t + step
            if step == rests:
                w = ratio * v
    return w, v


@pytest.fixture(scope="module")
def box() -> Any:
    return tg.prepare(Gearbox(), (0.0, END), rtol=1e-8, outputs=[1.5, 3.0, 4.5, END])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(12), 67, 152, 176, 198])  # 4 and the last: changed while the other one is stuck
def test_gears_are_changed_at_one_instant(box: Any, seed: int) -> None:
    values = drawn(seed)
    result = box.with_parameters(**values).run()
    for k, t in enumerate([1.5, 3.0, 4.5, END]):
        rows = np.flatnonzero(result.time == t)
        found = [float(result[name].values[rows[0]]) for name in ("flywheel.w", "car.w")]
        # straight lines: what is left are the times of events
        assert found == pytest.approx(truth(values, t), rel=1e-6, abs=1e-6), (k, t)


@pytest.mark.slow
def test_derivatives_go_through_changed_gears() -> None:
    """By the times of changes, what clutches carry, the engine and the gears, against differences of straight lines."""
    names = ["t1", "t2", "c1", "c2", "engine.tau", "car.J", "low.ratio"]
    box = tg.prepare(Gearbox(), (0.0, END), rtol=1e-8, outputs=[END], sensitivities=names)
    for seed in (*range(8), 67, 152):
        values = drawn(seed)
        result = box.with_parameters(**values).run()
        for name in names:
            step = 1e-5 * abs(values[name])
            more, less = (truth({**values, name: values[name] + by}, END) for by in (step, -step))
            for k, speed in enumerate(("flywheel.w", "car.w")):
                wanted = (more[k] - less[k]) / (2.0 * step)
                assert float(result.sensitivity(speed, name).values[-1]) == pytest.approx(wanted, rel=1e-3, abs=1e-5), (seed, name)
