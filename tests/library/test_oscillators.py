"""Circuits that swing by themselves, a comparator in the loop: instants of their events by closed forms, for random parts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.library import electrical

__all__: list[str] = []


class Comparator(tg.Component):
    """Puts out ``V`` or ``-V``, whichever the last crossing of its inputs says."""

    in_p, in_n, out = electrical.Pin(), electrical.Pin(), electrical.Pin()
    V = tg.Parameter(10.0, unit="V")
    high = tg.Discrete(True)

    def equations(self) -> Iterator[Any]:
        yield self.in_p.i == 0
        yield self.in_n.i == 0
        yield self.out.v == tg.where(self.high, self.V, -self.V)

    @tg.when(lambda self: self.in_p.v < self.in_n.v)
    def fall(self) -> dict[Any, Any]:
        return {self.high: False}

    @tg.when(lambda self: self.in_p.v > self.in_n.v)
    def rise(self) -> dict[Any, Any]:
        return {self.high: True}


class Relaxation(tg.Component):
    """A capacitor that is charged until it reaches a share of what charges it, which then turns its sign."""

    comparator = Comparator()
    r, c = electrical.Resistor(R=1e3), electrical.Capacitor(C=1e-4)
    above, below, ground = electrical.Resistor(R=1e3), electrical.Resistor(R=1e3), electrical.Ground()

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.comparator.out, self.r.p, self.above.p)
        yield tg.connect(self.r.n, self.c.p, self.comparator.in_n)
        yield tg.connect(self.above.n, self.below.p, self.comparator.in_p)
        yield tg.connect(self.c.n, self.below.n, self.ground.p)


class Triangle(tg.Component):
    """An integrator behind a Schmitt trigger that hears it."""

    comparator, amplifier = Comparator(), electrical.IdealOpAmp()
    r, c, ground = electrical.Resistor(R=1e3), electrical.Capacitor(C=1e-4), electrical.Ground()
    near, back = electrical.Resistor(R=1e3), electrical.Resistor(R=2e3)

    def equations(self) -> Iterator[Any]:
        yield tg.connect(self.comparator.out, self.r.p, self.back.p)
        yield tg.connect(self.r.n, self.c.p, self.amplifier.in_n)
        yield tg.connect(self.c.n, self.amplifier.out, self.near.p)
        yield tg.connect(self.near.n, self.back.n, self.comparator.in_p)
        yield tg.connect(self.amplifier.in_p, self.comparator.in_n, self.ground.p)


def parts(seed: int) -> tuple[float, float, float, float, float]:
    """R, C, two resistors of a divider, V, each anywhere in decades."""
    ranges = ((1e2, 1e4), (1e-6, 1e-3), (1e2, 1e4), (1e2, 1e4), (1.0, 20.0))
    generator = np.random.default_rng(seed)
    one, two, three, four, five = (float(np.exp(generator.uniform(math.log(low), math.log(high)))) for low, high in ranges)
    return one, two, three, four, five


def assert_turns(result: Any, first: float, half: float, end: float) -> None:
    turns = [event.time for event in result.events if 0.0 < event.time < end]
    expected = first + half * np.arange(8)
    assert len(turns) == 8
    np.testing.assert_allclose(turns, expected, rtol=0.0, atol=1e-7 * end)  # of the span; a hundred tolerances


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_relaxation_oscillator_turns_when_logarithms_say(seed: int) -> None:
    r, c, upper, lower, v = parts(seed)
    share = lower / (upper + lower)
    first, half = -r * c * math.log(1.0 - share), r * c * math.log((1.0 + share) / (1.0 - share))
    end = first + 7.5 * half
    model = Relaxation(r={"R": r}, c={"C": c}, above={"R": upper}, below={"R": lower}, comparator={"V": v})
    result = tg.simulate(model, (0.0, end), rtol=1e-9, sensitivities=["r.R"])
    assert_turns(result, first, half, end)
    left = -(1.0 + share) * v * math.exp(-(end - first - 7 * half) / (r * c))  # of what charges it, which is V again
    assert float(result["c.v"][-1]) == pytest.approx(v + left, abs=1e-6 * v)
    # instants grow with R, so that at a fixed end the rest is that of the whole time since the start
    assert float(result.sensitivity("c.v", "r.R")[-1]) == pytest.approx(left * end / (r * c) / r, rel=1e-4)


@pytest.mark.parametrize("seed", range(2))
def test_an_integrator_behind_a_schmitt_trigger_makes_triangles(seed: int) -> None:
    r, c, near, back, v = parts(seed)
    near = min(near, 0.8 * back)  # its triangle must reach the trigger's levels, whatever drew them
    first = r * c * near / back
    end = first + 7.5 * 2.0 * first
    model = Triangle(r={"R": r}, c={"C": c}, near={"R": near}, back={"R": back}, comparator={"V": v})
    assert_turns(tg.simulate(model, (0.0, end), rtol=1e-9), first, 2.0 * first, end)
