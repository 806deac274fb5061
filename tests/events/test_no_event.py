"""What stands in ``no_event`` makes no event and says at every evaluation what is true there; events beside it, and of it, are found all the same."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import tidegate as tg
from engines import allowed


def emptying_rates(t: float, y: Any) -> Any:
    return {"x": -tg.no_event(tg.where(y.x > 0, np.sqrt(y.x), 0.0))}


emptying = tg.ode(emptying_rates, y0={"x": 1.0})


def test_a_root_is_never_taken_of_what_is_negative_and_no_event_is_logged(method: str) -> None:
    result = tg.simulate(emptying, (0.0, 3.0), outputs=[1.0, 3.0], rtol=1e-8, atol=1e-10, method=method)
    assert not result.events
    assert result["x"].values == pytest.approx([0.25, 0.0], abs=allowed(method, 1e-6, 1e-8))


def rectified_rates(t: float, y: Any, p: Any) -> Any:
    return {"x": p.a * math.cos(p.a * t), "total": tg.no_event(max(y.x, 0.0)) + tg.no_event(abs(math.sin(3 * t)))}


rectified = tg.ode(rectified_rates, y0={"x": 0.0, "total": 0.0}, p={"a": 2.0})


@pytest.mark.slow
def test_corners_are_passed_with_the_tolerance(method: str) -> None:
    result = tg.simulate(rectified, (0.0, 4.0), rtol=1e-7, atol=1e-9, method=method)
    truth = quad(lambda t: max(math.sin(2 * t), 0.0) + abs(math.sin(3 * t)), 0.0, 4.0, limit=200, points=[math.pi * k / 6 for k in range(1, 8)])[0]
    assert not result.events
    assert result.final["total"] == pytest.approx(truth, abs=allowed(method, 1e-5, 1e-7))  # eight corners in steps that are repeated until they fit
    check = tg.verify(result)
    assert check.ok, str(check)


def levelled_rates(t: float, y: Any, p: Any) -> Any:
    return {"x": math.cos(t), "total": p.a * tg.no_event(max(y.x, p.level))}


levelled = tg.ode(levelled_rates, y0={"x": 0.0, "total": 0.0}, p={"a": 2.0, "level": 0.3})


def test_derivatives_are_those_of_the_branch_taken(method: str) -> None:
    result = tg.simulate(levelled, (0.0, 3.0), sensitivities=["level", "a"], rtol=1e-7, atol=1e-9, method=method)
    below = 2 * math.asin(0.3) - (math.pi - 3.0)  # how long sin t < 0.3 in [0, 3]: up to asin 0.3, and from pi - asin 0.3
    assert result.sensitivity("total", "level")[-1] == pytest.approx(2.0 * below, abs=allowed(method, 1e-6, 1e-7))
    assert result.sensitivity("total", "a")[-1] == pytest.approx(result.final["total"] / 2.0, abs=allowed(method, 1e-6, 1e-7))


class Cornered(tg.Component):
    """A sum of corners at random levels of a swing; ``z`` is algebraic, ``fast`` follows it at its own rate."""

    level, other, weight = tg.Parameter(0.3), tg.Parameter(-0.2), tg.Parameter(1.5)
    speed, phase, rate = tg.Parameter(1.0), tg.Parameter(0.0), tg.Parameter(1e3)
    x, z = tg.State(0.0), tg.Algebraic()
    total, fast = tg.State(0.0), tg.State(0.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == self.speed * np.cos(self.speed * tg.time + self.phase)
        yield self.z == tg.no_event(max(self.x, self.level)) + self.weight * tg.no_event(abs(self.x - self.other))
        yield tg.der(self.total) == self.z
        yield tg.der(self.fast) == self.rate * (self.z - self.fast)


def time_above(level: float, speed: float, phase: float, end: float) -> float:
    """How long sin(speed t + phase) > level in [0, end], from the arcs of every turn."""
    low, high = math.asin(level), math.pi - math.asin(level)
    first, last = phase, speed * end + phase
    turns = range(math.floor(first / (2 * math.pi)) - 1, math.ceil(last / (2 * math.pi)) + 1)
    return sum(max(0.0, min(last, high + 2 * math.pi * k) - max(first, low + 2 * math.pi * k)) for k in turns) / speed


@pytest.mark.parametrize("seed", range(4))
def test_derivatives_through_random_corners_are_those_in_closed_form(seed: int, dae_method: str) -> None:
    """d total/d level is the time below it; d total/d other the weight times the time below less that above."""
    draw = random.Random(seed)
    level, other = draw.uniform(-0.9, 0.9), draw.uniform(-0.9, 0.9)
    weight, speed, phase, rate = draw.uniform(-2, 2), draw.uniform(0.3, 5), draw.uniform(0, 6.3), 10 ** draw.uniform(0, 6)
    end, rtol = 4.0, 10 ** draw.uniform(-8, -4)
    start = math.sin(phase)
    model = Cornered(
        level=level, other=other, weight=weight, speed=speed, phase=phase, rate=rate, x=start, fast=max(start, level) + weight * abs(start - other)
    )
    result = tg.simulate(model, (0.0, end), sensitivities=["level", "other"], rtol=rtol, atol=rtol / 100, method=dae_method)
    assert not result.events
    below = end - time_above(level, speed, phase, end)
    above = time_above(other, speed, phase, end)
    # up to a dozen corners, each passed within some tolerances of derivatives that are of the size of the time and the weight
    assert result.sensitivity("total", "level")[-1] == pytest.approx(below, abs=100 * rtol)
    assert result.sensitivity("total", "other")[-1] == pytest.approx(weight * (end - 2 * above), abs=200 * rtol)


class Swing(tg.Component):
    """Clauses that wait for what is made of relations without events."""

    x = tg.State(0.0)
    size = tg.Algebraic()
    turns, jumps, pieces = tg.Discrete(0), tg.Discrete(0), tg.Discrete(0)

    def equations(self) -> Any:
        yield tg.der(self.x) == np.cos(tg.time)
        yield self.size == tg.no_event(abs(self.x))

    @tg.when(lambda self: tg.no_event(abs(self.x)) > 0.5)
    def far(self) -> Any:
        return {self.turns: self.turns + 1}

    @tg.when(lambda self: tg.no_event(tg.where(self.x > 0.25, 3.0, -1.0)) > 0)
    def jumped(self) -> Any:
        return {self.jumps: self.jumps + 1}

    @tg.when(lambda self: tg.no_event(np.floor(4 * self.x)) + 0.5 > 2)
    def passed(self) -> Any:
        return {self.pieces: self.pieces + 1}


@pytest.mark.slow
def test_events_of_what_has_corners_and_jumps_are_found(method: str) -> None:
    result = tg.simulate(Swing(), (0.0, 12.0), rtol=1e-8, atol=1e-10, method=method)
    found = {name: [event.time for event in result.events if name in event.causes] for name in ("far", "jumped", "passed")}
    far = [math.asin(0.5) + math.pi * k for k in range(4)]
    assert found["far"] == pytest.approx(far, abs=1e-6)
    assert found["jumped"] == pytest.approx([math.asin(0.25) + 2 * math.pi * k for k in range(2)], abs=1e-6)
    assert found["passed"] == pytest.approx(far[::2], abs=1e-6)
    assert (result.final["turns"], result.final["jumps"], result.final["pieces"]) == (4, 2, 2)
    if method == "radau":  # which takes the fewest steps
        check = tg.verify(result)
        assert check.ok, str(check)


def shielded_rates(t: float, y: Any) -> Any:
    return {"x": 1.0, "y": 1.0, "z": tg.where(tg.no_event(y.x > 0), tg.where(y.y > 0, 5.0, -1.0), 0.0)}


shielded = tg.ode(shielded_rates, y0={"x": -1.0, "y": -1.5, "z": 0.0})


def test_a_relation_behind_one_without_events_is_watched_even_where_it_does_not_matter_yet(method: str) -> None:
    # one long step could begin where x < 0 and end where both hold
    result = tg.simulate(shielded, (0.0, 2.0), rtol=1e-6, atol=1e-8, method=method)
    assert [event.time for event in result.events] == pytest.approx([1.5], abs=1e-6)
    assert result.final["z"] == pytest.approx(-0.5 + 2.5, abs=allowed(method, 1e-4, 1e-6))


VALVE = tg.table([0.0, 0.3, 0.6, 1.0], [0.0, 1.0, 0.2, 0.5], name="valve")


def tabled_rates(t: float, y: Any) -> Any:
    return {"x": 1.0 + tg.no_event(VALVE(t)) + 0 * tg.no_event(np.floor(9 * y.x))}


tabled = tg.ode(tabled_rates, y0={"x": 0.0})


def test_tables_and_floors_are_passed_too(method: str) -> None:
    result = tg.simulate(tabled, (0.0, 1.0), rtol=1e-6, atol=1e-8, method=method)
    assert not result.events
    assert result.final["x"] == pytest.approx(1.0 + 0.15 + 0.18 + 0.14, abs=allowed(method, 1e-5, 1e-6))


class Waiting(tg.Component):
    x, share = tg.State(0.0), tg.Algebraic()
    late, later = tg.Discrete(0.0), tg.Discrete(0.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == 1.0
        yield self.share == tg.no_event(tg.where(self.x > 0.7, 1.0, 0.0))

    @tg.when(lambda self: tg.no_event(self.x > 0.5) & (tg.time > 0.2))
    def direct(self) -> Any:
        return {self.late: tg.time}

    @tg.when(lambda self: self.share > 0.5)
    def through_a_variable(self) -> Any:
        return {self.later: tg.time}


def test_what_a_clause_waits_for_is_located_all_the_same(method: str) -> None:
    result = tg.simulate(Waiting(), (0.0, 1.0), rtol=1e-6, method=method)
    assert [result.final["late"], result.final["later"]] == pytest.approx([0.5, 0.7], abs=1e-9)


class Looped(tg.Component):
    """An algebraic loop through a corner: y + max(y, 0) == sin t."""

    s = tg.State(0.0)
    y = tg.Algebraic()

    def equations(self) -> Any:
        yield tg.der(self.s) == self.y
        yield self.y + tg.no_event(max(self.y, 0.0)) == np.sin(tg.time)


def test_an_algebraic_unknown_is_not_solved_for_through_its_own_relation(dae_method: str) -> None:
    result = tg.simulate(Looped(), (0.0, 5.0), outputs=[1.0, 4.0, 5.0], rtol=1e-8, atol=1e-10, method=dae_method)
    assert not result.events
    assert result["y"].values == pytest.approx([math.sin(1.0) / 2, math.sin(4.0), math.sin(5.0)], abs=1e-7)
    # half of 1 - cos over the first half turn, all of it later
    assert result.final["s"] == pytest.approx(1.0 - 1.0 - math.cos(5.0), abs=allowed(dae_method, 1e-6, 1e-8))


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(12))
def test_random_corners_give_the_same_with_events_and_without(seed: int, method: str) -> None:
    draw = random.Random(seed)
    a, b, c, level = (draw.uniform(-1.5, 1.5) for _ in range(4))

    def rates(t: float, y: Any, shield: Any) -> Any:
        corner = shield(max(y.x * y.v, level)) + shield(min(y.v, c * t)) + shield(abs(y.x - b))
        return {"x": y.v, "v": -4 * y.x - 0.3 * y.v + a * corner}

    def located(t: float, y: Any) -> Any:
        return rates(t, y, lambda x: x)

    def passed(t: float, y: Any) -> Any:
        return rates(t, y, tg.no_event)

    start = {"x": draw.uniform(-1, 1), "v": draw.uniform(-1, 1)}
    first = tg.simulate(tg.ode(located, y0=start), (0.0, 6.0), rtol=1e-8, atol=1e-10)
    second = tg.simulate(tg.ode(passed, y0=start), (0.0, 6.0), rtol=1e-8, atol=1e-10, method=method)
    assert not second.events
    for name in start:
        assert second.final[name] == pytest.approx(first.final[name], abs=allowed(method, 3e-6, 1e-8, 2000))
    assert tg.verify(second).ok
