"""`v < w` ends where `v > w` begins: relations with one zero change at one instant, however they are written (a mass on a belt, by formula)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate as tg

SIGNS: dict[str, Callable[[Any], Any]] = {
    "np.sign": np.sign,
    "above": lambda v: 1.0 if v > 0 else -1.0,
    "not above": lambda v: -1.0 if not v > 0 else 1.0,
    "below": lambda v: -1.0 if v < 0 else 1.0,
    "at most": lambda v: -1.0 if v <= 0 else 1.0,
    "three": lambda v: 1.0 if v > 0 else (-1.0 if v < 0 else 0.0),
}
CAUGHT: dict[str, Callable[[Any, Any], Any]] = {
    "faster": lambda v, belt: v > belt,
    "belt slower": lambda v, belt: belt < v,
    "difference": lambda v, belt: v - belt > 0,
    "minus": lambda v, belt: -(belt - v) > 0,
    "not slower": lambda v, belt: not v <= belt,
}


def on_a_belt(friction: Callable[[Any], Any], caught: Callable[[Any, Any], Any], p: dict[str, float]) -> Any:
    """A mass on a spring and a belt; it sticks until the spring is stronger, and slips until the belt has caught up with it."""

    def rates(t: float, y: Any, p: Any, d: Any) -> dict[str, Any]:
        force = -p["k"] * y["x"] + p["kinetic"] * friction(p["belt"] - y["v"])
        return {"x": y["v"], "v": 0.0 if d["sticks"] else force / p["m"]}

    return tg.ode(
        rates,
        {"x": 0.0, "v": p["belt"]},
        p,
        discrete={"sticks": True},
        events=[
            tg.event(lambda t, y, p, d: d["sticks"] and abs(p["k"] * y["x"]) > p["static"], reset=lambda t, y, p, d: {"sticks": False}, name="slip"),
            tg.event(
                lambda t, y, p, d: not d["sticks"] and caught(y["v"], p["belt"]),
                reset=lambda t, y, p, d: {"sticks": True, "v": p["belt"]},
                name="stick",
            ),
        ],
    )


@pytest.mark.parametrize("method", ["taylor", "radau"])
@pytest.mark.parametrize("caught", CAUGHT)
@pytest.mark.parametrize("friction", SIGNS)
def test_a_mass_on_a_belt_sticks_where_friction_turns(friction: str, caught: str, method: str) -> None:
    rng = np.random.default_rng(list(f"{friction}{caught}".encode()))
    k, m, belt, static = (float(value) for value in rng.uniform(0.5, 2.0, 4))
    kinetic = static * float(rng.uniform(0.3, 0.9))
    give, omega = (static - kinetic) / k, math.sqrt(k / m)
    slips = 2.0 / omega * (math.pi - math.atan(give * omega / belt))  # x - kinetic/k = give cos(omega t) + belt/omega sin(omega t), until v = belt
    sticks = 2.0 * give / belt
    first = static / (k * belt)
    times = [first, *(first + i * (slips + sticks) + past for i in range(3) for past in (slips, slips + sticks))]
    p = {"k": k, "m": m, "belt": belt, "static": static, "kinetic": kinetic}
    model = on_a_belt(SIGNS[friction], CAUGHT[caught], p)
    result = tg.simulate(model, (0.0, times[-1] + 0.5 * slips), rtol=1e-9, method=method)
    told = [(event.cause.partition(",")[0], event.time) for event in result.events if event.changes]
    assert [name for name, _ in told] == ["slip", "stick"] * 3 + ["slip"]
    np.testing.assert_allclose([time for _, time in told], times, rtol=1e-7)  # a hundred times the tolerance, over some ten events


@pytest.mark.slow
def test_a_truth_value_that_is_remembered_is_a_condition() -> None:
    """`d["on"] and x > 1` is true or false, as in Python, and so is the truth value alone."""
    rates = lambda t, y, d: [1.0 if d["on"] else -1.0]  # noqa: E731
    for condition in (
        lambda t, y, d: d["on"] and y["x"] > 1,
        lambda t, y, d: y["x"] > 1 and d["on"],
        lambda t, y, d: d["on"] == True and y["x"] > 1,  # noqa: E712
        lambda t, y, d: not (y["x"] <= 1 or not d["on"]),
        lambda t, y, d: all([d["on"], y["x"] > 1]),
        lambda t, y, d: d["on"] * (y["x"] - 1) > 0,
    ):
        model = tg.ode(rates, {"x": 0.0}, discrete={"on": True}, events=[tg.event(condition, reset=lambda t, y, d: {"on": not d["on"]})])
        result = tg.simulate(model, (0.0, 3.0), rtol=1e-9)
        assert [round(event.time, 8) for event in result.events] == [1.0]
        assert result.final == {"x": pytest.approx(-1.0), "on": False}
    alone = tg.ode(
        rates,
        {"x": 0.0},
        discrete={"on": True, "seen": 0},
        events=[
            tg.event(every=1.0, start=0.5, reset=lambda t, y, d: {"on": not d["on"]}),
            tg.event(lambda t, y, d: d["on"], reset=lambda t, y, d: {"seen": d["seen"] + 1 + d["on"]}),
        ],
    )
    assert tg.simulate(alone, (0.0, 4.0)).final["seen"] == 4
