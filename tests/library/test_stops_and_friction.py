"""A mass that slides with friction between hard stops, pushed by forces that change: random runs against parabolas in plain Python."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.library import translational

__all__: list[str] = []

END = 6.0
LOWER, UPPER, REST = -0.5, 0.7, 0.05


class Slide(tg.Component):
    t1, t2, t3 = tg.Parameter(1.0), tg.Parameter(2.0), tg.Parameter(3.0)
    F0, F1, F2, F3 = tg.Parameter(1.0), tg.Parameter(1.0), tg.Parameter(1.0), tg.Parameter(1.0)
    mass = translational.StoppedMass(m=1.0, s_min=LOWER, s_max=UPPER, e=0.3, v_rest=REST)
    force, drag = translational.SignalForce(), translational.SlidingFriction()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.force.flange, self.mass.flange_a)
        yield tg.connect(self.mass.flange_b, self.drag.flange_a)
        late = tg.where(tg.time < self.t2, self.F1, tg.where(tg.time < self.t3, self.F2, self.F3))
        yield self.force.f == tg.where(tg.time < self.t1, self.F0, late)


def drawn(seed: int) -> dict[str, float]:
    random = np.random.default_rng(seed)
    values = dict(zip(("t1", "t2", "t3"), map(float, np.sort(random.uniform(0.3, END - 0.3, 3))), strict=True))
    values |= {f"F{k}": float(random.uniform(-4.0, 4.0)) for k in range(4)}
    values["drag.f_coulomb"] = float(random.choice([0.0, random.uniform(0.2, 2.0)]))
    values["mass.m"] = float(random.uniform(0.5, 2.0))
    return values | {"mass.e": float(random.choice([0.0, random.uniform(0.1, 0.8)]))}


def reaches(s: float, v: float, a: float, side: int) -> float:
    """When a stop is met."""
    c = s - (UPPER if side > 0 else LOWER)
    if a == 0.0:
        roots = [-c / v] if v else []
    else:
        root = v * v - 2.0 * a * c
        roots = [] if root < 0.0 else [(-v + sign * math.sqrt(root)) / a for sign in (1.0, -1.0)]
    return min((d for d in roots if d > 1e-12 and (v + a * d) * side > 0.0), default=math.inf)


def truth(p: dict[str, float]) -> tuple[float, float]:
    """Place and speed at the end."""
    s, v, t, at_stop = 0.0, 0.0, 0.0, 0
    for k, end in enumerate([p["t1"], p["t2"], p["t3"], END]):
        force = p[f"F{k}"]
        while t < end:
            if (at_stop and force * at_stop >= 0.0) or (v == 0.0 and abs(force) <= p["drag.f_coulomb"]):
                t = end
                continue
            at_stop = 0
            a = (force - math.copysign(p["drag.f_coulomb"], v or force)) / p["mass.m"]
            halts = -v / a if v * a < 0.0 else math.inf
            hits = {side: reaches(s, v, a, side) for side in (1, -1)}
            side = min(hits, key=lambda one: hits[one])
            step = min(halts, hits[side], end - t)
            t, s, v = (end if step == end - t else t + step), s + v * step + 0.5 * a * step * step, v + a * step
            if step == hits[side]:
                s = UPPER if side > 0 else LOWER
                at_stop = side if p["mass.e"] * abs(v) <= REST else 0
                v = 0.0 if at_stop else -p["mass.e"] * v
            elif step == halts:
                v = 0.0
    return s, v


@pytest.fixture(scope="module")
def slide() -> Any:
    return tg.prepare(Slide(), (0.0, END), rtol=1e-9, outputs=[END])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(20), 276, 299])  # 276: a stop turned the motion round, which friction took for rest
def test_a_mass_slides_hits_and_rests_as_it_should(slide: Any, seed: int) -> None:
    values = drawn(seed)
    result = slide.with_parameters(**values).run()
    assert [float(result.final[name]) for name in ("mass.s", "mass.v")] == pytest.approx(truth(values), abs=1e-6)
