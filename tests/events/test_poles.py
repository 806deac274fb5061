"""No step passes a pole of the right side without a word, and none stops where a numerator vanishes with its divisor.

Random systems whose solutions end at a known time, in closed form, and random ones that go on though something is divided by what comes to zero.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import tidegate as tg

TOLERANCES = (1e-2, 1e-4, 1e-7)


class Ending(NamedTuple):
    """A right side, start values, the start, and when the solution ends."""

    slope: Callable[[Any, Any], Any]
    y0: list[float]
    t0: float
    end: float


def shrinking(c: float, a: float, t0: float) -> Ending:
    return Ending(lambda t, y: [-c / y[0]], [a], t0, t0 + a * a / (2 * c))


def shrinking_faster(c: float, a: float, t0: float) -> Ending:
    return Ending(lambda t, y: [-c / y[0] ** 2], [a], t0, t0 + a**3 / (3 * c))


def reaching(c: float, a: float, t0: float) -> Ending:
    return Ending(lambda t, y: [c / (a - y[0]), -y[1]], [0.0, 1.0], t0, t0 + a * a / (2 * c))


def growing(c: float, a: float, t0: float) -> Ending:
    return Ending(lambda t, y: [c * y[0] ** 2], [a], t0, t0 + 1 / (c * a))


def growing_as_tangent(c: float, a: float, t0: float) -> Ending:
    return Ending(lambda t, y: [c * (1 + y[0] ** 2)], [0.0], t0, t0 + math.pi / (2 * c))


def of_time(c: float, a: float, t0: float) -> Ending:
    return Ending(lambda t, y: [c / (t - t0 - a), y[0]], [1.0, 0.0], t0, t0 + a)


def of_time_squared(c: float, a: float, t0: float) -> Ending:
    return Ending(lambda t, y: [c * (t - t0 - a) ** -2], [1.0], t0, t0 + a)


def tangent_of_time(c: float, a: float, t0: float) -> Ending:
    return Ending(lambda t, y: [a * math.tan(c * (t - t0))], [1.0], t0, t0 + math.pi / (2 * c))


def tangent_of_a_state(c: float, a: float, t0: float) -> Ending:
    return Ending(lambda t, y: [c, math.tan(y[0]) - a * y[1]], [0.0, 1.0], t0, t0 + math.pi / (2 * c))


def falling_together(c: float, a: float, t0: float) -> Ending:
    # two masses at rest fall onto each other
    return Ending(lambda t, y: [y[1], -c / y[0] ** 2], [a, 0.0], t0, t0 + math.pi / 2 * math.sqrt(a**3 / (2 * c)))


def falling_in_a_plane(c: float, a: float, t0: float) -> Ending:
    def slope(t: Any, y: Any) -> Any:
        r3 = (y[0] ** 2 + y[1] ** 2) ** 1.5
        return [y[2], y[3], -c * y[0] / r3, -c * y[1] / r3]

    return Ending(slope, [a, 0.0, 0.0, 0.0], t0, t0 + math.pi / 2 * math.sqrt(a**3 / (2 * c)))


ENDING = (
    shrinking, shrinking_faster, reaching, growing, growing_as_tangent, of_time, of_time_squared, tangent_of_time, tangent_of_a_state,
    falling_together, falling_in_a_plane,
)  # fmt: skip


@pytest.mark.parametrize("ending", ENDING, ids=lambda f: f.__name__)
def test_no_run_goes_on_behind_the_end_of_its_solution(ending: Callable[..., Ending], method: str) -> None:
    numbers = random.Random(ending.__name__)
    case = ending(numbers.uniform(0.3, 3), numbers.uniform(0.5, 2), numbers.choice([0.0, -2.0, 5.0]))
    model = tg.ode(case.slope, y0=case.y0)
    for rtol in TOLERANCES:
        with pytest.raises(tg.RunError) as caught:
            tg.simulate(model, (case.t0, case.t0 + 1.7 * (case.end - case.t0)), method=method, rtol=rtol, atol=rtol)
        assert caught.value.time == pytest.approx(case.end, abs=max(20 * rtol, 5e-3) * (case.end - case.t0))


def harmless(c: float, a: float) -> dict[str, tuple[Callable[[Any, Any], Any], list[float]]]:
    """Right sides whose divisors come to zero, or near to it, on solutions that go on."""
    return {
        "both vanish exactly": (lambda t, y: [c * math.sin(t - a) / (t - a) - y[0]], [1.0]),
        "both vanish on the solution": (lambda t, y: [y[0] / (t - a)], [-c * a]),
        "of a state": (lambda t, y: [y[1], -c * y[0], math.sin(y[0]) / y[0]], [1.0, 0.0, 0.0]),
        "difference of exponentials": (lambda t, y: [(math.exp(c * (t - a)) - 1) / (t - a) / math.exp(c * t)], [1.0]),
        "a branch that is not taken": (lambda t, y: [1 / (y[0] - a) if y[0] > a + 0.3 else -c], [a + 2.0]),
        "an orbit": (lambda t, y: [y[2], y[3], *(-x / (y[0] ** 2 + y[1] ** 2) ** 1.5 for x in (y[0], y[1]))], [1.0, 0.0, 0.0, 0.8]),
        "a factor that vanishes": (lambda t, y: [1.0, (y[0] - a) ** 2 / (y[0] - a)], [0.0, 1.0]),
    }


@pytest.mark.parametrize("name", list(harmless(1.0, 1.0)))
def test_a_run_goes_on_where_the_numerator_vanishes_too(name: str, method: str) -> None:
    numbers = random.Random(name)
    slope, y0 = harmless(numbers.uniform(0.3, 3), numbers.uniform(0.5, 2))[name]
    model = tg.ode(slope, y0=y0)
    for rtol in TOLERANCES[1:]:
        tg.simulate(model, (0.0, 4.0), method=method, rtol=rtol, atol=rtol)


def test_the_message_names_the_divisor_the_equation_and_the_time(method: str) -> None:
    def shrinks(t: Any, y: Any) -> Any:
        return [-1.0 / y["radius"]]

    with pytest.raises(tg.NotFiniteError, match=r"der\(radius\) divides by radius, which comes to zero at t = 0\.[45]") as caught:
        tg.simulate(tg.ode(shrinks, y0={"radius": 1.0}), (0.0, 1.0), method=method, rtol=1e-2, atol=1e-5)
    assert caught.value.result.final["radius"] < 0.2


def test_a_mode_that_is_left_where_its_divisor_vanishes_has_no_pole(method: str) -> None:
    # the quotient is bounded as long as the mode lasts, and means nothing behind
    def slope(t: Any, y: Any) -> Any:
        return [1.0, (y["x"] ** 2 - 4) / (y["x"] - 2) if y["x"] < 2 else 5.0]

    result = tg.simulate(tg.ode(slope, y0={"x": 0.0, "q": 0.0}), (0.0, 3.0), method=method, rtol=1e-6, atol=1e-9)
    assert result.final["q"] == pytest.approx(2.0 + 4.0 + 5.0, rel=1e-5)
