"""An integrator with limits: against the sum of small pieces that is cut at them, by several methods, with derivatives by the limits."""

from __future__ import annotations

import math
import random
from typing import NamedTuple

import numpy as np
import pytest

import tidegate as tg
from tidegate.errors import InvalidModelError, UsageError

__all__: list[str] = []

b = tg.blocks
METHODS = ("auto", "radau", "bdf", "taylor", "rodas5p", "rke")


class Driven(NamedTuple):
    """A limited integral of a sine."""

    amplitude: float
    omega: float
    phase: float
    offset: float
    start: float
    length: float

    def end(self, lower: float, upper: float) -> float:
        """By exact integrals over 100 000 pieces, each cut at the limits."""
        t = np.linspace(0.0, self.length, 100_001)
        whole = -self.amplitude / self.omega * np.cos(self.omega * t + self.phase) + self.offset * t
        x = self.start
        for piece in np.diff(whole).tolist():
            x = min(max(x + piece, lower), upper)
        return x


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_a_limited_integral_of_a_sine_is_the_sum_of_small_pieces_cut_at_the_limits(seed: int) -> None:
    rng = random.Random(seed)
    lower, upper = rng.uniform(-1.0, -0.1), rng.uniform(0.1, 1.0)
    driven = Driven(
        rng.uniform(0.5, 2.0), rng.uniform(0.5, 3.0), rng.uniform(0.0, 6.0), rng.uniform(-0.4, 0.4), rng.uniform(lower, upper), rng.uniform(5.0, 15.0)
    )
    diagram = tg.Diagram("limited")
    diagram.u = b.Sine(driven.omega / (2.0 * math.pi), driven.amplitude, driven.phase, driven.offset)
    diagram.x = b.Integrator(driven.start, lower=lower, upper=upper)(diagram.u)
    result = tg.simulate(
        diagram, (0, driven.length), rtol=1e-8, atol=1e-10, method=METHODS[seed % len(METHODS)], sensitivities=["x.lower", "x.upper"]
    )
    # a piece is 1.5e-4 long, within which the rate turns by 1e-3: what the sum is late by is of the square of that
    assert result.final["x"] == pytest.approx(driven.end(lower, upper), abs=2e-5)
    assert float(result["x"].min()) >= lower - 1e-9
    assert float(result["x"].max()) <= upper + 1e-9
    for name, low, high in (("x.lower", 1e-4, 0.0), ("x.upper", 0.0, 1e-4)):
        difference = (driven.end(lower + low, upper + high) - driven.end(lower - low, upper - high)) / 2e-4
        assert float(result.sensitivity("x", name)[-1]) == pytest.approx(difference, abs=2e-2)


def test_it_leaves_a_limit_as_soon_as_the_rate_turns_and_not_when_what_was_cut_off_is_made_up_for() -> None:
    diagram = tg.Diagram("wind-up")
    diagram.rate = b.Step(at=3.0, before=1.0, after=-1.0)
    diagram.x = b.Integrator(upper=1.0)(diagram.rate)
    result = tg.simulate(diagram, (0, 3.5))
    assert float(result.at(2.0)["x"]) == pytest.approx(1.0, abs=1e-12)
    assert result.final["x"] == pytest.approx(0.5, abs=1e-9)


def test_a_reset_leads_back_to_the_start_within_the_limits() -> None:
    diagram = tg.Diagram("both")
    diagram.x = b.Integrator(0.25, lower=0.0, upper=1.0)
    diagram.connect(1.0, diagram.x.rate)
    diagram.connect(b.Pulse(period=10.0, width=0.05, start=2.0, name="hit"), diagram.x.reset)
    result = tg.simulate(diagram, (0, 3))
    assert [float(result.at(t)["x"]) for t in (1.5, 2.2, 3.0)] == pytest.approx([1.0, 0.25, 0.75], abs=1e-9)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lower": 2.0, "upper": 1.0}, "lower is 2 and upper 1"),
        ({"start": 3.0, "upper": 1.0}, "start is 3"),
        ({"start": -3.0, "lower": 1.0}, "start is -3"),
    ],
)
def test_limits_that_cannot_be_are_told(options: dict[str, float], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        b.Integrator(**options)


def test_the_language_has_no_limits_of_integrators() -> None:
    diagram = tg.Diagram("limited")
    diagram.x = b.Integrator(upper=1.0)(diagram.time)
    with pytest.raises(InvalidModelError, match="x has limits; an integrator of the language has none"):
        diagram.to_program()
