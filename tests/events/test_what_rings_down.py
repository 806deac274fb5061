"""Random oscillations that die out: every crossing is found, or it is said from when on nobody can tell, because they are within the tolerances.

``x'' = -w^2 (x - level) - 2 d x'`` crosses its level for ever, at times that are known. A method follows it down to what steps are held to, and some
way below; then crossings are lost. Where none is said to be doubtful, all must be there.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import tidegate as tg

__all__: list[str] = []

LOUD = 100.0  # times the tolerance: motion that large is never called doubtful


class RingsDown:
    """Such an oscillation beside one that does not die out, drawn at random."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.w = float(10.0 ** rng.uniform(-1.0, 1.0))
        self.d = self.w * float(10.0 ** rng.uniform(-2.0, -0.7))
        self.size = float(10.0 ** rng.uniform(-4.0, 2.0))
        self.level = self.size * float(rng.choice([0.0, 0.0, 1.0, 20.0]))
        self.rtol = float(10.0 ** rng.choice([-4.0, -6.0, -8.0]))
        self.clock = float(rng.choice([0.0, 2.7])) / self.w
        self.has_other = bool(rng.random() < 0.5)
        ringing = math.sqrt(self.w**2 - self.d**2)
        least = 10.0 ** rng.uniform(-12.0, -1.0)  # of its size at the end
        n = max(int(-math.log(least) / self.d * ringing / math.pi), 3)
        phase = math.atan2(ringing, self.d)
        crossings = (math.pi * np.arange(1, n + 1) - phase) / ringing
        self.t_end = float(crossings[-1] + 0.5 * math.pi / ringing)
        self.falls = crossings[::2].tolist()
        self.amplitude = self.size * math.exp(-self.d * self.t_end)

    @property
    def tolerance(self) -> float:
        """What a step may do to x - level."""
        return 0.01 * self.rtol * min(self.size + self.level, 1.0) + self.rtol * self.level

    def model(self) -> Any:
        """For tidegate."""

        def f(_t: Any, y: Any) -> dict[str, Any]:
            rates = {"x": y["v"], "v": -(self.w**2) * (y["x"] - self.level) - 2.0 * self.d * y["v"]}
            return rates | ({"a": y["b"], "b": -y["a"]} if self.has_other else {})

        events = [tg.event(lambda _t, y: y["x"] < self.level, name="falls")]
        if self.clock > 0.0:
            events.append(tg.event(every=self.clock, name="ticks"))
        others = {"a": 0.0, "b": 1.0} if self.has_other else {}
        return tg.ode(f, y0={"x": self.level + self.size, "v": 0.0} | others, events=events)


def _what_is_told(source: RingsDown, method: str) -> tuple[list[float], list[str]]:
    """When it falls, and what is said."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = tg.simulate(source.model(), (0.0, source.t_end), method=method, rtol=source.rtol)
    return [event.time for event in result.events if "falls" in event.cause], [str(one.message) for one in told]


def _check(source: RingsDown, method: str) -> bool:
    """Whether something is said."""
    found, said = _what_is_told(source, method)
    if said:
        assert len(said) == 1
        assert "which do not tell whether they happen" in said[0]
        assert source.amplitude < LOUD * source.tolerance
    else:
        assert len(found) == len(source.falls)
    return bool(said)


@pytest.mark.hunt
@pytest.mark.parametrize("method", ["auto", "radau"])
def test_what_rings_down_crosses_as_often_as_it_should_or_it_is_said_to_be_doubtful(method: str) -> None:
    said = [_check(RingsDown(seed), method) for seed in range(30)]
    assert any(said)
    assert not all(said)


@pytest.mark.hunt
@pytest.mark.parametrize("method", ["taylor", "radau", "rodas5p", "bdf", "adams", "ida"])
def test_every_method_finds_all_crossings_of_what_rings_down_or_says_so(method: str) -> None:
    for seed in range(1000, 1040):
        _check(RingsDown(seed), method)


def _oscillator() -> Any:
    def f(_t: Any, y: Any) -> dict[str, Any]:
        return {"x": y["v"], "v": -y["x"] - 0.1 * y["v"]}

    return tg.ode(f, y0={"x": 1.0, "v": 0.0}, events=[tg.event(lambda _t, y: y["x"] < 0.0)])


def test_the_relation_is_named_with_the_time_from_which_on_nobody_can_tell() -> None:
    with pytest.warns(tg.ToleranceWarning, match=r"`x < 0` has \d+ events from t = 3\d\d\.\d+ on that come of motion within the tolerances"):
        tg.simulate(_oscillator(), (0.0, 600.0))


def test_a_tolerance_that_is_small_enough_tells() -> None:
    result = tg.simulate(_oscillator(), (0.0, 600.0), atol=1e-18)
    assert len(result.events) == 96


def test_what_bounces_lower_and_lower_is_not_doubtful() -> None:
    # a parabola is as exact at any size: the last of these bounces goes about as far as the tolerance
    ball = tg.ode(
        lambda _t, y: {"h": y["v"], "v": -9.81},
        y0={"h": 1.0, "v": 0.0},
        events=[tg.event(lambda _t, y: y["h"] < 0.0, reset=lambda _t, y: {"v": -0.5 * y["v"]})],
    )
    result = tg.simulate(ball, (0.0, 1.3545))
    assert len(result.events) > 10


def test_members_of_a_sweep_are_said_to_be_doubtful_as_single_runs_are() -> None:
    def f(_t: Any, y: Any, p: Any) -> dict[str, Any]:
        return {"x": y["v"], "v": -y["x"] - p["d"] * y["v"]}

    model = tg.ode(f, y0={"x": 1.0, "v": 0.0}, p={"d": 0.1}, events=[tg.event(lambda _t, y: y["x"] < 0.0)])
    with pytest.warns(tg.ToleranceWarning, match="`x < 0` has"):
        found = tg.sweep(model, (0.0, 600.0), parameters={"d": [0.001, 0.1]}, workers=1)
    assert found["status"].values.tolist() == ["finished", "finished"]
