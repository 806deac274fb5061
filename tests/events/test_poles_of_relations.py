"""Relations of functions with poles: they jump to the other side without a zero, and come back through one, or through the next pole.

The unknowns of every model are known functions of time, so that plain Python says when a relation holds: on a fine grid, and by bisection between.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pytest

import tidegate as tg

T_END: Final = 4.0
GRID: Final = 40_001
METHODS: Final = ("taylor", "radau", "rodas5p", "bdf", "adams")
LOUD: Final = (tg.UndecidedError, tg.StepSizeError, tg.ChatteringError)
# what has poles, of a quantity a and another b
FORMS: Final = (
    "1.0 / ({a})", "({b}) / ({a})", "1.0 / ({a}) ** 3", "({a}) ** -1", "1.0 / ({a}) ** 2", "np.tan({a})", "np.tan(2.0 * ({a})) + 0.2 * ({b})",
    "({a}) + 0.3 / ({b})", "np.log(({a}) ** 2)", "1.0 / np.sin(2.0 * ({a}))", "({b}) / (({a}) * ({a}) - 0.3)", "np.exp({b}) / ({a})",
    "1.0 / (({a}) - 0.1) - 1.0 / (({a}) + 0.4)", "np.arctan(1.0 / ({a}))",
)  # fmt: skip
QUANTITIES: Final = ("y[0]", "y[0] - 0.37", "y[1] + 0.2", "y[0] - y[1]", "t - 1.3", "t - y[0]", "0.5 - y[1]", "t - 2.0")


class Case:
    """What comes of a seed: a model whose last unknown adds up how long a relation holds, and when it does in plain Python."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        a, b = draw.choice(QUANTITIES), draw.choice(QUANTITIES)
        level = round(draw.uniform(-3.0, 3.0), 2) if draw.random() < 0.85 else 0.0
        self.text = f"{draw.choice(FORMS).format(a=a, b=b)} {draw.choice(('<=', '<', '>', '>='))} {level}"
        self.speed, self.start = round(draw.uniform(0.3, 2.5), 2), round(draw.uniform(-0.9, 0.9), 2)
        self._holds: Callable[[Any, Any], Any] = eval(f"lambda t, y: {self.text}", {"np": np})

    def model(self) -> Any:
        # with its source, so that it is followed
        source = f"def rates(t, y):\n    return [np.cos({self.speed} * t), -0.4 * y[1], 1.0 if {self.text} else 0.0]\n"
        space: dict[str, Any] = {"np": np, "__name__": "poles"}
        exec(source, space)
        return tg.ode(space["rates"], y0=[self.start, 1.0, 0.0])

    def holds(self, t: Any) -> Any:
        t = np.asarray(t, dtype=np.float64)[()]  # divided by zero it is infinite, as in the run
        with np.errstate(all="ignore"):
            return self._holds(t, [self.start + np.sin(self.speed * t) / self.speed, np.exp(-0.4 * t)])

    def switches(self) -> list[float]:
        times = np.linspace(0.0, T_END, GRID) + 1e-9  # no place of its own is looked at
        truth = self.holds(times)
        found = []
        for k in np.flatnonzero(truth[1:] != truth[:-1]).tolist():
            low, high = float(times[k]), float(times[k + 1])
            for _ in range(60):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if self.holds(middle) == truth[k] else (low, middle)
            found.append(high)
        return found

    def lasts(self, switches: list[float]) -> float:
        edges = [0.0, *switches, T_END]
        return sum(high - low for low, high in pairwise(edges) if self.holds(0.501 * low + 0.499 * high))


def wrong(seed: int, method: str) -> str:
    """What a run says otherwise than plain Python, if it does; a run may end and say why."""
    case = Case(seed)
    switches = case.switches()
    if case.holds(0.0) != case.holds(1e-9) or any(high - low < 1e-3 for low, high in zip([0.0, *switches], [*switches, T_END], strict=True)):
        return ""  # the grid may have missed more
    try:
        result = tg.simulate(case.model(), (0.0, T_END), method=method, rtol=1e-8, atol=1e-10)
    except LOUD as error:
        return f"loud: {error}"
    times = result.events.times.tolist()
    if len(times) != len(switches):
        return f"{case.text}: {len(times)} events for {len(switches)}, at {times}, and it changes at {switches}"
    apart = max((abs(one - other) for one, other in zip(times, switches, strict=True)), default=0.0)
    lasts = case.lasts(switches)
    off = abs(float(result.values[-1, 2]) - lasts)
    return f"{case.text}: off by {apart:g} and {off:g}" if max(apart, off) > 1e-5 else ""


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(12, 48))])
def test_random_relations_with_poles_change_where_plain_python_says(seed: int, method: str) -> None:
    """Of the first 1740 seeds only those were refused that begin at a pole."""
    assert not wrong(seed, method)


@pytest.mark.parametrize("method", METHODS)
def test_a_bounded_jump_is_seen_where_rounding_puts_it_between_two_parts_of_a_step(method: str) -> None:
    """atan(1 / y) jumps where y passes zero; by bounds of y, which round, that was in neither of two parts side by side."""
    assert not wrong(51450, method)


@pytest.mark.parametrize("method", METHODS)
def test_a_relation_comes_back_behind_its_pole(method: str) -> None:
    """1 / (t - 1) is below 4 up to its pole, and again from 1.25 on."""
    model = tg.ode(lambda t, y: [1.0 if 1.0 / (t - 1.0) <= 4.0 else -1.0], y0=[0.0])
    result = tg.simulate(model, (0.0, 3.0), method=method)
    assert result.events.times == pytest.approx([1.0, 1.25], abs=1e-9)
    assert result.values[-1, 0] == pytest.approx(2.5, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_tangent_crosses_a_level_and_jumps_back_at_its_poles(method: str) -> None:
    model = tg.ode(lambda t, y: [1.0, 1.0 if np.tan(y[0]) <= 4.0 else -1.0], y0=[0.0, 0.0])
    result = tg.simulate(model, (0.0, 6.0), method=method, rtol=1e-8, atol=1e-10)
    expected = [np.arctan(4.0), 0.5 * np.pi, np.arctan(4.0) + np.pi, 1.5 * np.pi]
    assert result.events.times == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("method", ["radau", "ida", "rodas5p"])
def test_an_algebraic_unknown_passes_the_pole_of_a_relation(method: str) -> None:
    """z + 0.1 z^3 = y - 1 with y = 1.5 t: z is zero at 2/3, and 1 / z is above 4 up to z = 1/4."""

    def residual(t, y, ydot):
        x, z, _ = y
        return [ydot[0] - 1.5, z + 0.1 * z**3 - (x - 1.0), ydot[2] - (1.0 if 1.0 / z > 4.0 else 0.0)]

    result = tg.simulate(tg.dae(residual, y0=[0.0, -0.921701, 0.0]), (0.0, 2.0), method=method, rtol=1e-8, atol=1e-10)
    back = (1.25 + 0.1 * 0.25**3) / 1.5
    assert result.events.times == pytest.approx([2.0 / 3.0, back], abs=1e-7)
    assert result.values[-1, 2] == pytest.approx(back - 2.0 / 3.0, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [216, 1129])
def test_a_search_beside_a_pole_comes_to_an_end(seed: int) -> None:
    """Parts of a step were halved beyond what doubles tell apart, and steps cut in front of the pole for ever."""
    assert not wrong(seed, "taylor")


def test_what_falls_from_a_pole_does_not_touch_zero() -> None:
    """With derivatives it was said to, at the pole, where tolerances make anything of it."""
    model = tg.ode(lambda t, y, p: [p["p"], y[1] if (2.0 + y[0]) / (0.7 + np.sin(t)) <= 0.9 else -0.5 * y[1]], y0=[1.0, 1.0], p={"p": 0.8})
    result = tg.simulate(model, (0.0, 4.2), method="taylor", sensitivities=["p"], rtol=1e-8)  # a warning is an error
    (event,) = result.events
    assert event.time == pytest.approx(np.pi + np.arcsin(0.7), abs=1e-9)
    assert event.dt_dp["p"] == pytest.approx(0.0, abs=1e-9)


def test_the_time_of_a_pole_has_a_derivative() -> None:
    """y = p t, and 1 / (y - 1) jumps at t = 1 / p."""
    model = tg.ode(lambda t, y, p: [p["p"], 1.0 if 1.0 / (y[0] - 1.0) <= 0.0 else -1.0], y0=[0.0, 0.0], p={"p": 0.8})
    for method in ("taylor", "radau"):
        result = tg.simulate(model, (0.0, 3.0), method=method, sensitivities=["p"], rtol=1e-8)
        (event,) = result.events
        assert event.time == pytest.approx(1.25, abs=1e-9)
        assert event.dt_dp["p"] == pytest.approx(-1.0 / 0.8**2, rel=1e-6)
        assert result.sensitivities[-1, 0, 1] == pytest.approx(-2.0 / 0.8**2, rel=1e-6)


@pytest.mark.parametrize("relation", [lambda t, y: 1.0 / (y[0] - 1.0) <= 0.0, lambda t, y: np.tan(y[0]) <= 2.0])
def test_a_step_across_a_pole_is_not_proved(relation: Any) -> None:
    """That rates keep their signs proves nothing there."""
    model = tg.ode(lambda t, y: [1.0, 1.0 if relation(t, y) else -1.0], y0=[0.0, 0.0])
    statistics = tg.simulate(model, (0.0, 4.0), method="taylor", events="proved").statistics
    assert 0 < statistics.proved < statistics.examined
