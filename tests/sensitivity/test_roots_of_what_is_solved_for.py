"""Roots and broken powers of algebraic unknowns that iterations find, with an event where they end: values, times and derivatives."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from engines import DAE_METHODS
from moved_functions import UNTIL, solved_model_of, truth_of

BENT: dict[str, Callable[[Any], Any]] = {
    "size to a power": lambda u: abs(u) ** 1.5,
    "smooth size to a power": lambda u: abs(u) ** 2.5,
    "root of a size times what it is of": lambda u: np.sqrt(abs(u)) * u,
    "weir": lambda u: max(u, 0.0) ** 1.5,
    "weir by choice": lambda u: u**1.5 if u > 0.0 else 0.0,
    "both sides": lambda u: (2.0 * u) ** 1.25 if u > 0.0 else (-u / 2.0) ** 1.75,
    "other side": lambda u: -1.0 - u if u >= 0.0 else (-3.0 * u) ** 1.3 - 1.0,
    "not": lambda u: 0.5 if not u < 0.0 else 0.5 + (-u) ** 1.5,
    "and": lambda u: u**1.5 if u > 0.0 and u < 5.0 else 0.0,
    "chosen before": lambda u: (max(u, 0.3) - 0.3) ** 1.5 + np.sqrt(abs(u)) * max(u, 0.0),
    "logarithm of a weir": lambda u: np.log1p(max(u, 0.0) ** 1.5),
    "norm": lambda u: np.hypot(u, 0.0) ** 1.5,
    "quotient": lambda u: max(u, 0.0) ** 1.5 / (1.0 + u * u),
    "sum of two sizes": lambda u: (abs(u) + 2.0 * max(u, 0.0)) ** 1.5,
}
STEEP: dict[str, Callable[[Any], Any]] = {
    "root of a size": lambda u: abs(u) ** 0.5,
    "root by choice": lambda u: np.sqrt(u) if u >= 0.0 else 0.0,
    "root and line": lambda u: u - 0.3 if u > 0.0 else np.sqrt(-u),
    "power": lambda u: max(u, 0.0) ** 0.8,
    "quotient of a root": lambda u: u / np.sqrt(u) if u > 0.0 else 0.0,
}


def _check(function: Callable[[Any], Any], is_state: bool, c: float, decay: float, method: str, *, steep: bool) -> None:
    sensitivities = [] if steep and method == "ida" else ["c"]  # whose derivatives find no step at a vertical root, and say so
    model = solved_model_of(function, is_state, c, decay)
    result = tg.simulate(model, (0.0, UNTIL), method=method, rtol=1e-8, atol=1e-10, sensitivities=sensitivities)
    value, slope = truth_of(function, [0.0, 0.3], "time", c, decay)
    times = [event.time - c for event in result.events if abs(event.time - c - 0.3) > 1e-6]
    assert times == pytest.approx([0.0], abs=1e-8)
    assert result.final["x"] == pytest.approx(value, abs=3e-7)
    if sensitivities:
        assert result.events[0].dt_dp["c"] == pytest.approx(1.0, abs=1e-6)
        # one over a root is integrated over to the root of what steps can be short
        assert float(result.sensitivity("x", "c")[-1]) == pytest.approx(slope, abs=2e-4 if steep else 2e-6)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] if k > 1 else []) for k, name in enumerate(BENT)])
def test_an_unknown_that_is_solved_for_passes_where_a_broken_power_ends(name: str) -> None:
    for method in ("auto", "rodas5p", "ida"):
        _check(BENT[name], name.startswith(("w", "n")), 0.7337, 0.1, method, steep=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", STEEP)
def test_and_where_a_root_ends(name: str) -> None:
    for method in ("auto", "rodas5p", "ida"):
        _check(STEEP[name], name.startswith("root"), 0.8123, 0.0, method, steep=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_random_ones_pass_at_random_times(seed: int) -> None:
    draw = random.Random(seed)
    name, c, decay = draw.choice([*BENT, *STEEP]), round(draw.uniform(0.3, 1.6), 4), draw.choice([0.0, 0.1, 1.0])
    for method in DAE_METHODS:
        _check((BENT | STEEP)[name], draw.random() < 0.5, c, decay, method, steep=name in STEEP)


@pytest.mark.parametrize("method", DAE_METHODS)
def test_a_power_of_what_does_become_negative_is_refused_all_the_same(method: str) -> None:
    def residual(t: Any, y: Any, ydot: Any) -> list[Any]:
        return [y["z"] + np.arcsinh(y["z"]) - (1.0 - t), ydot["x"] - y["z"] ** 1.5]

    with pytest.raises(tg.NotFiniteError) as told:
        tg.simulate(tg.dae(residual, {"x": 0.0, "z": 0.5}), (0.0, 2.0), method=method)
    assert told.value.time == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("method", DAE_METHODS)
def test_the_root_may_be_in_the_equation_that_is_solved(method: str) -> None:
    """Water that is dammed up by a weir: 2 (inflow - z) is what flows over it."""

    def residual(t: Any, y: Any, ydot: Any, p: Any) -> list[Any]:
        over = (y["z"] - p["crest"]) ** 1.5 if y["z"] > p["crest"] else 0.0
        return [over - 2.0 * (t - y["z"]), ydot["x"] - over]

    model = tg.dae(residual, {"x": 0.0, "z": 0.0}, p={"crest": 0.5})
    result = tg.simulate(model, (0.0, 1.5), method=method, rtol=1e-8, atol=1e-10, sensitivities=["crest"])
    # with h = z - crest: t = crest + h + h^1.5 / 2, and x is the integral of h^1.5 dt/dh
    roots = np.roots([1.0, 2.0, 0.0, -2.0])
    h = float(roots[np.isreal(roots)].real[0]) ** 2
    assert result.final["z"] == pytest.approx(0.5 + h, abs=1e-7)
    assert [event.time for event in result.events] == pytest.approx([0.5], abs=1e-8)
    assert result.final["x"] == pytest.approx(h**2.5 / 2.5 + h**3 / 4.0, abs=1e-7)
    assert float(result.sensitivity("x", "crest")[-1]) == pytest.approx(-(h**1.5), abs=1e-6)
