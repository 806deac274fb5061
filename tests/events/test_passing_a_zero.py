"""A quantity that passes a zero at which alone the equations say something else: where ``abs(x) > 0`` does not hold it would turn back.

At one point of time that is nothing (Caratheodory's solutions): it goes on, and does not switch back and forth. The truth is known.
"""

from __future__ import annotations

import random
from typing import Any, Final

import numpy as np
import pytest

import tidegate as tg
from written_source import space_of

METHODS: Final = ("taylor", "radau", "rodas5p", "bdf")
# of z: what holds everywhere but at zero
ELSEWHERE: Final = (
    "abs({z}) > 0", "not abs({z}) <= 0", "np.sign({z}) != 0", "{z} * {z} > 0", "max({z}, -({z})) > 0", "not ({z} <= 0 and {z} >= 0)",
    "{z} > 0 or {z} < 0", "abs(2.3 * ({z})) > 0", "abs({z}) + abs({z}) > 0", "abs(np.sin({z})) > 0",
)  # fmt: skip


def _check(seed: int, method: str) -> None:
    draw = random.Random(seed)
    side, threshold = draw.choice([1.0, -1.0]), draw.choice([0.0, 0.0, 0.5, -0.3, round(draw.uniform(-1.0, 1.0), 2)])
    start = round(draw.uniform(0.1, 0.9), draw.choice([1, 3]))
    before, behind, at_zero = (round(draw.uniform(0.3, 2.0), 2) for _ in range(3))
    elsewhere = draw.choice(ELSEWHERE).format(z=f"(x - {threshold})" if threshold else "x")
    source = f"""
def rates(t, y):
    x = y['x']
    speed = {behind} if {side} * (x - {threshold}) > 0 else {before}
    return [{side} * (speed if {elsewhere} else -{at_zero}), 1.0 if x > {threshold} else 0.0]
"""
    model = tg.ode(space_of(source, "<passing>", np=np, __name__="passing")["rates"], y0={"x": threshold - side * start, "q": 0.0})
    t_end = start / before + 1.0
    result = tg.simulate(model, (0.0, t_end), method=method, rtol=1e-8)
    assert result.final["x"] == pytest.approx(threshold + side * behind, abs=1e-6)
    assert result.final["q"] == pytest.approx(1.0 if side > 0.0 else start / before, abs=1e-6)


@pytest.mark.hunt
@pytest.mark.parametrize("method", METHODS)
def test_what_holds_at_one_point_alone_does_not_turn_a_motion_back(method: str) -> None:
    for seed in range(25):
        _check(seed, method)


@pytest.mark.hunt
@pytest.mark.parametrize("method", [*METHODS, "adams", "ida"])
def test_what_holds_at_one_point_alone_in_many_models(method: str) -> None:
    for seed in range(100, 160):
        _check(seed, method)


@pytest.mark.parametrize("method", METHODS)
def test_where_both_sides_push_back_it_is_chattering(method: str) -> None:
    def rates(t: Any, y: Any) -> list[Any]:
        return [(1.0 if y["x"] < 0.0 else -1.0) if abs(y["x"]) > 0 else 0.5]

    with pytest.raises(tg.ChatteringError):
        tg.simulate(tg.ode(rates, y0={"x": -0.3}), (0.0, 1.0), method=method)
