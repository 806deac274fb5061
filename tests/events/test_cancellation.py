"""Conditions whose terms cancel are watched by bounds that shrink fast enough, in long steps; a search that cannot end says so."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tidegate as tg
from run_checks import event_times


def watched(guard: Any, t_end: float = 1.0, **options: Any) -> Any:
    """A run along w = t in which x and z are equal and fast, e decays and s turns; q counts the time in which the guard is positive."""

    def slope(t: Any, y: Any) -> Any:
        return [1.0, 30.0, 30.0, -y["e"], y["c"], -y["s"], 1.0 if guard(y) > 0 else 0.0]

    start = {"w": 0.0, "x": 0.0, "z": 0.0, "e": 1.0, "s": 0.0, "c": 1.0, "q": 0.0}
    return tg.simulate(tg.ode(slope, y0=start), (0.0, t_end), **options)


def test_two_crossings_behind_terms_that_cancel_are_found(method: str) -> None:
    result = watched(lambda y: y["x"] * y["x"] - y["z"] * y["z"] + (y["w"] - 0.5) ** 2 - 1e-4, method=method)
    # dg/dt = 0.02, and the terms that cancel are as large as 900
    assert event_times(result) == pytest.approx([0.49, 0.51], abs=1e-8)
    assert result.final["q"] == pytest.approx(0.98, abs=1e-6)
    assert result.statistics.undecided == 0


NOTHING: dict[str, Any] = {
    "squares": lambda y: y["x"] * y["x"] - y["z"] * y["z"],
    "difference": lambda y: y["x"] - y["z"],
    "binomial": lambda y: (y["x"] + y["z"]) ** 2 - y["x"] ** 2 - 2 * y["x"] * y["z"] - y["z"] ** 2,
    "circle": lambda y: np.sin(y["x"]) ** 2 + np.cos(y["z"]) ** 2 - 1,
    "growth": lambda y: np.exp(y["w"]) * np.exp(-y["w"]) - 1,
    "quotient": lambda y: (y["x"] + 1) / (y["z"] + 1) - 1,
    "twice": lambda y: 2 * np.sin(y["x"]) * np.cos(y["x"]) - np.sin(2 * y["z"]),
}
CLOCKS: dict[str, tuple[Any, Any]] = {
    "time": (lambda y: y["w"], lambda t: t),
    "decay": (lambda y: -y["e"], lambda t: -math.exp(-t)),
    "sine": (lambda y: y["s"], math.sin),
}


def crossings_of(zero: str, clock: str, first: float, gap: float, third: float, method: str) -> tuple[list[float], list[float]]:
    reading, place = CLOCKS[clock]
    roots = sorted([first, first + gap, third])
    a, b, c = (place(root) for root in roots)

    def guard(y: Any) -> Any:
        u = reading(y)
        return NOTHING[zero](y) + (u - a) * (u - b) * (u - c)

    return event_times(watched(guard, 1.5, rtol=1e-10, method=method)), roots


# two zeros so close that the dip between them is just above the rounding of the terms that cancel, which reach 2000
gaps = st.floats(-3.0, -1.0)


@pytest.mark.slow
@settings(max_examples=8)
@given(zero=st.sampled_from(list(NOTHING)), clock=st.sampled_from(list(CLOCKS)), first=st.floats(0.05, 0.6), gap=gaps, third=st.floats(0.75, 1.4))
def test_close_crossings_behind_terms_that_cancel_are_all_found(zero: str, clock: str, first: float, gap: float, third: float) -> None:
    found, roots = crossings_of(zero, clock, first, 10.0**gap, third, "radau")
    # the dip is about gap^2 deep, the error of the states 1e-10
    assert found == pytest.approx(roots, abs=10.0**gap / 4)


@pytest.mark.hunt
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(zero=st.sampled_from(list(NOTHING)), clock=st.sampled_from(list(CLOCKS)), first=st.floats(0.05, 0.6), gap=gaps, third=st.floats(0.75, 1.4))
def test_many_close_crossings(method: str, zero: str, clock: str, first: float, gap: float, third: float) -> None:
    found, roots = crossings_of(zero, clock, first, 10.0**gap, third, method)
    assert found == pytest.approx(roots, abs=10.0**gap / 4)


@pytest.mark.parametrize("gap", [1e-5, 1e-6, 1e-7])
def test_a_dip_of_a_product_is_seen_down_to_its_rounding(gap: float, method: str) -> None:
    # gap^2 / 4 of depth; the factors themselves round to 1e-16
    result = watched(lambda y: 1e3 * (y["w"] - 0.3) * (y["w"] - 0.3 - gap), method=method)
    assert event_times(result) == pytest.approx([0.3, 0.3 + gap], abs=gap / 4)


@pytest.mark.hunt
@pytest.mark.parametrize("zero", list(NOTHING))
def test_a_condition_that_is_zero_but_for_rounding_never_changes(zero: str) -> None:
    result = watched(lambda y: NOTHING[zero](y) + 1e-9)
    assert event_times(result) == []


def test_an_angle_that_jumps_by_a_turn_changes_its_condition_there() -> None:
    def slope(t: Any, y: Any) -> Any:
        return [1.0, 1.0 if np.arctan2(np.sin(y["phi"]), np.cos(y["phi"])) > -0.5 else 0.0]

    result = tg.simulate(tg.ode(slope, y0={"phi": 0.0, "q": 0.0}), (0.0, 6.2))
    assert event_times(result) == pytest.approx([math.pi, 2 * math.pi - 0.5], abs=1e-6)


@pytest.mark.slow
def test_a_condition_of_which_nothing_can_be_known_is_refused_by_name(method: str) -> None:
    def heading(t: Any, y: Any) -> Any:
        return [1.0, 1.0, 1.0 if math.atan2(y["north"] - y["wind"], -1.0) > 1.0 else 0.0]

    # the difference is zero but for rounding, and the angle of either sign of it is another
    model = tg.ode(heading, y0={"north": 1.0, "wind": 1.0, "q": 0.0})
    with pytest.raises(tg.UndecidedError, match=r"atan2\(north - wind, -1\) > 1") as caught:
        tg.simulate(model, (0.0, 1.0), method=method)
    assert caught.value.result.statistics.undecided > 0
    assert caught.value.result.status == "failed"


def test_a_narrow_dip_of_an_opaque_quantity_is_looked_at_again(method: str) -> None:
    @tg.opaque
    def distance(x: float) -> float:
        return (x - 0.41) ** 2 - 1e-5

    crossed = tg.event(lambda t, y: distance(y["x"]) < 0)
    model = tg.ode(lambda t, y: [1.0], y0={"x": 0.0}, events=crossed)
    # a hundredth of a step wide, which lies between two samples; where steps are short it does not
    assert event_times(tg.simulate(model, (0.0, 1.0), method=method)) == pytest.approx([0.41 - math.sqrt(1e-5)], abs=1e-6)
