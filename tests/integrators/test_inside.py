"""Between its nodes a step's polynomial is the solution too: forcing of fast and algebraic unknowns is seen, the dense result keeps the tolerance.

Truths are closed forms: a fast unknown lags its forcing by 1/K, an algebraic one follows it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from engines import allowed

STIFF_METHODS = pytest.mark.parametrize(
    "stiff_method", ["radau", pytest.param("ida", marks=pytest.mark.slow), pytest.param("bdf", marks=pytest.mark.slow)]
)
INSIDE = 20.0  # tolerances: what rows of these problems may be off, and so what lies between them


def values_along(result: Any, times: Any) -> Any:
    """All unknowns along the dense result, (times, unknowns)."""
    at = result.at(times)
    return np.stack([np.asarray(at[name]).reshape(len(times), -1) for name in at.data_vars], axis=1)[:, :, 0]


@STIFF_METHODS
def test_forcing_of_a_fast_unknown_is_not_stepped_over(stiff_method: str) -> None:
    model = tg.ode(lambda t, y: [1e4 * (np.sin(2 * np.pi * t) - y["x"]), 1.0 if y["x"] > 0.95 else 0.0], y0={"x": 0.0, "q": 0.0})
    result = tg.simulate(model, (0.0, 5.0), method=stiff_method)
    # the amplitude 1/sqrt(1 + (2 pi/1e4)^2) is above 0.95 for the same time in each of the five periods
    above = 5.0 * math.acos(0.95 * math.hypot(1.0, 2e-4 * math.pi)) / math.pi
    assert len(result.events) == 10
    assert result.final["q"] == pytest.approx(above, abs=allowed(stiff_method, 1e-5, 1e-6))


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
def test_forcing_of_an_algebraic_unknown_is_not_stepped_over(dae_method: str, rtol: float) -> None:
    def residual(t: Any, y: Any, ydot: Any) -> list[Any]:
        return [y["z"] - np.cos(t), ydot["q"] - (1.0 if y["z"] > 0.99 else 0.0)]

    model = tg.dae(residual, y0={"z": 1.0, "q": 0.0}, ydot0={"z": 0.0, "q": 1.0})
    result = tg.simulate(model, (0.0, 10.0), method=dae_method, rtol=rtol)
    assert len(result.events) == 3
    # on from the start, then twice about 2 pi: an interpolation error of 10 rtol in z moves its crossing, whose slope is sin t = 0.14, by 70
    assert result.final["q"] == pytest.approx(3.0 * math.acos(0.99), abs=allowed(dae_method, 100.0 * rtol, rtol, 1000.0))


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize("rate", [1e2, 1e6, 1e9])
def test_a_fast_unknown_is_exact_between_the_steps(rate: float, rtol: float) -> None:
    model = tg.ode(lambda t, y, p: [p["K"] * (np.cos(t) - y["x"])], y0={"x": 1.0}, p={"K": rate})
    result = tg.simulate(model, (0.0, 10.0), rtol=rtol)
    times = np.linspace(0.0, 10.0, 1001)
    part = rate / (rate**2 + 1.0)
    truth = part * (rate * np.cos(times) + np.sin(times)) + np.exp(-rate * times) * (1.0 - part * rate)
    assert np.abs(values_along(result, times)[:, 0] - truth).max() <= INSIDE * rtol


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
def test_without_stiffness_the_dense_result_is_as_good_as_the_rows(rtol: float) -> None:
    model = tg.ode(lambda t, y: [y["b"], -y["a"], -y["a"] * y["c"]], y0={"a": 1.0, "b": 0.0, "c": 1.0})
    result = tg.simulate(model, (0.0, 20.0), rtol=rtol)
    times = np.linspace(0.0, 20.0, 2001)
    truth = np.stack([np.cos(times), -np.sin(times), np.exp(-np.sin(times))], axis=1)
    assert np.abs(values_along(result, times) - truth).max() <= INSIDE * rtol


@STIFF_METHODS
@pytest.mark.parametrize("rate", [1e2, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9])
@pytest.mark.parametrize(("level", "events"), [(0.5, 7), (0.0, 6), (-0.3, 6), (0.99, 7)])
def test_a_stiff_unknown_that_passes_a_threshold_does_not_chatter(stiff_method: str, rate: float, level: float, events: int) -> None:
    """At the crossing K (cos t - x) is the difference of two numbers that are equal but for 1/K: its sign is that of rounding."""
    model = tg.ode(
        lambda t, y, p: [p["K"] * (np.cos(t) - y["x"]), 1.0 if y["x"] > p["level"] else 0.0],
        y0={"x": 1.0, "q": 0.0},
        p={"K": rate, "level": level},
    )
    result = tg.simulate(model, (0.0, 20.0), method=stiff_method)
    assert len(result.events) == events


@pytest.mark.parametrize("seed", range(8))
def test_random_forcing_of_a_fast_variable_crosses_as_often_as_its_slow_motion(method: str, seed: int) -> None:
    """x' = K (sin(w t + a) - x), begun on its slow motion sin(w t + a - d) / sqrt(1 + (w/K)^2), d = atan(w/K), and a threshold near its top."""
    rng = np.random.default_rng(seed)
    w, k, a = 2.0 * math.pi * 10.0 ** rng.uniform(-1.0, 0.7), 10.0 ** rng.uniform(2.0, 5.0), rng.uniform(0.0, 6.0)
    lag, size = math.atan(w / k), 1.0 / math.hypot(1.0, w / k)
    part = rng.uniform(0.9, 0.9999)
    level, t_end = size * part, rng.uniform(3.0, 12.0) * 2.0 * math.pi / w

    def rate(t: Any, y: Any) -> list[Any]:
        return [k * (np.sin(w * t + a) - y[0]), 1.0 if y[0] > level else 0.0]

    result = tg.simulate(tg.ode(rate, y0=[size * math.sin(a - lag), 0.0]), (0.0, t_end), method=method)
    half = math.acos(part)  # half of the angle for which it is above
    tops = [(math.pi / 2 + lag - a + 2.0 * math.pi * period) / w for period in range(-1, 14)]
    above = [(max(top - half / w, 0.0), min(top + half / w, t_end)) for top in tops if top + half / w > 0.0 and top - half / w < t_end]
    expected = sorted(t for interval in above for t in interval if 0.0 < t < t_end)
    times = [event.time for event in result.events if event.kind == "state"]
    assert len(times) == len(expected)
    # an error of x moves a crossing by that divided by the slope; of 1e-6 a multistep method adds up to 200
    moved = allowed(method, 20e-6, 1e-6) / (size * w * math.sqrt(1.0 - part**2))
    assert times == pytest.approx(expected, abs=moved)
    assert float(result.final["y[1]"]) == pytest.approx(sum(end - begin for begin, end in above), abs=2.0 * len(above) * moved)
