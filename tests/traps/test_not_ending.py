"""Runs that cannot go on say why: accumulating events, chattering, NaN and too many steps are four things with four messages.

That Ctrl-C reaches the compiled loop, and that algebraic variables may jump, is tested with the executive and the Carver circuit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tidegate as tg

__all__: list[str] = []


def ball(e: float, *, to_zero: bool) -> Any:
    def onto_zero(t: Any, y: Any, p: Any) -> Any:
        return {"h": 0.0, "v": -p["e"] * y["v"]}

    def speed_only(t: Any, y: Any, p: Any) -> Any:
        return {"v": -p["e"] * y["v"]}

    bounce = tg.event(lambda t, y: y["h"] < 0, reset=onto_zero if to_zero else speed_only)
    return tg.ode(lambda t, y: [y["v"], -9.81], y0={"h": 1.0, "v": 0.0}, p={"e": e}, events=bounce)


@pytest.mark.parametrize("to_zero", [True, False])
@pytest.mark.parametrize("e", [1e-3, 0.05, 0.2, 0.5, 0.9])
def test_bounces_that_accumulate_stop_the_run_where_they_do(e: float, to_zero: bool) -> None:
    end = math.sqrt(2 / 9.81) * (1 + e) / (1 - e)
    with pytest.raises(tg.ZenoError, match="h < 0") as caught:
        tg.simulate(ball(e, to_zero=to_zero), (0.0, end + 1.0), max_steps=20_000)
    assert caught.value.time == pytest.approx(end, rel=1e-4)
    assert caught.value.result is not None
    assert caught.value.result.final["h"] > -1e-6


def fuller(t: Any, y: Any, p: Any) -> Any:
    return [y[1], -1.0 if y[0] + p["c"] * y[1] * abs(y[1]) > 0 else 1.0]


def fuller_end(c: float) -> float:
    """Time at which the spiral from (1, 0) reaches the origin: its two half turns shrink by one ratio each.

    From (x, 0), x > 0, with acceleration -1 the switch is met where x - v^2/2 = c v^2, with speed -sqrt(x / (c + 1/2)); then +1 carries the
    point to v = 0 at (c - 1/2) / (c + 1/2) of x, and each half turn lasts twice that speed.
    """
    ratio = (0.5 - c) / (0.5 + c)
    return 2 / math.sqrt(c + 0.5) / (1 - math.sqrt(ratio))


def test_switches_that_accumulate_along_a_spiral_are_zeno() -> None:
    model = tg.ode(fuller, y0=[1.0, 0.0], p={"c": 0.3})
    with pytest.raises(tg.ZenoError, match="accumulate") as caught:
        tg.simulate(model, (0.0, 20.0), max_steps=20_000)
    assert caught.value.time == pytest.approx(fuller_end(0.3), rel=1e-4)


@pytest.mark.parametrize("mu", [0.07, 0.15, 0.3])
def test_a_body_that_sticks_by_dry_friction_chatters_at_the_instant_it_sticks(mu: float) -> None:
    model = tg.ode(lambda t, y, p: [y["v"], -y["x"] - p["mu"] * np.sign(y["v"])], y0={"x": 1.0, "v": 0.0}, p={"mu": mu})
    half_turns = math.ceil((1 - mu) / (2 * mu))  # each half turn takes 2 mu off the amplitude; it sticks within mu
    with pytest.raises(tg.ChatteringError, match=r"\bv\b") as caught:
        tg.simulate(model, (0.0, 50.0), max_steps=20_000)
    assert caught.value.time == pytest.approx(half_turns * math.pi, rel=1e-6)


@pytest.mark.parametrize("start", [0.0, 1.0])
def test_sign_slides_on_zero(start: float) -> None:
    result = tg.simulate(tg.ode(lambda t, y: [-np.sign(y[0])], y0=[start]), (0.0, 3.0), max_steps=1_000)
    assert result.final["y[0]"] == pytest.approx(0.0, abs=1e-9)


def test_four_ways_of_not_ending_have_four_names() -> None:
    models = {
        tg.ZenoError: ball(0.5, to_zero=True),
        tg.ChatteringError: tg.ode(lambda t, y: [-1.0 if y["x"] > 0 else 1.0], y0={"x": 1.0}),
        tg.NotFiniteError: tg.ode(lambda t, y: [-1.0, np.sqrt(y["x"] - 0.5)], y0={"x": 1.0, "z": 0.0}),
        tg.TooManyStepsError: tg.ode(lambda t, y: [-y["x"] + np.sin(1e3 * t)], y0={"x": 1.0}),
    }
    messages: set[str] = set()
    for kind, model in models.items():
        with pytest.raises(kind) as caught:
            tg.simulate(model, (0.0, 10.0), max_steps=300)
        assert type(caught.value) is kind
        assert caught.value.hint
        messages.add(caught.value.hint)
    assert len(messages) == 4
