"""Roots that are vertical where they change their sign: found however they are written, and right in networks of tanks."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tidegate as tg

Law = Callable[[Any, float], Any]


def by_branches(d: Any, k: float) -> Any:
    if d > 0:
        return k * np.sqrt(d)
    return -k * np.sqrt(-d)


def sign_times_root(d: Any, k: float) -> Any:
    return k * np.sign(d) * np.sqrt(np.abs(d))


def power_first(d: Any, k: float) -> Any:
    return (k * abs(d)) ** 0.5 * np.sign(d)


def by_where(d: Any, k: float) -> Any:
    return np.where(d >= 0, np.sqrt(2 * k * abs(d)), -np.sqrt(2 * k * abs(d)))


def by_copysign(d: Any, k: float) -> Any:
    return np.copysign(k * np.sqrt(abs(d)), d)


def with_another_power(d: Any, k: float) -> Any:
    return k * np.sign(d) * np.abs(d) ** 0.6


def with_two_coefficients(d: Any, k: float) -> Any:
    return (k if d > 0 else 0.7 * k) * math.copysign(1.0, d) * math.sqrt(abs(d))


LAWS: tuple[Law, ...] = (sign_times_root, power_first, by_branches, by_where, by_copysign, with_another_power, with_two_coefficients)


@pytest.mark.parametrize("law", LAWS)
def test_two_tanks_rest_at_one_level_after_a_few_steps_however_the_law_is_written(law: Law) -> None:
    def tanks(t: float, y: Any, p: Any) -> Any:
        flow = law(y["a"] - y["b"], p["k"])
        return {"a": -flow, "b": flow}

    model = tg.ode(tanks, {"a": 1.0, "b": 0.2}, {"k": 0.5})
    result = tg.simulate(model, (0.0, 100.0))
    assert [result.final[name] for name in "ab"] == pytest.approx([0.6, 0.6], abs=1e-6)
    assert len(result.events) == 0
    assert result.statistics.steps < 100


def test_other_conditions_inside_and_around_such_a_root_go_on_to_make_events() -> None:
    def tanks(t: float, y: Any) -> Any:
        d = y["a"] - y["b"]
        flow = np.where(y["a"] > 0.8, 1.0, 0.5) * np.sign(d) * np.sqrt(np.abs(d))
        return {"a": -flow + np.where(t > 2.0, 0.1, 0.0), "b": flow}

    result = tg.simulate(tg.ode(tanks, {"a": 1.0, "b": 0.2}), (0.0, 5.0))
    assert [event.time for event in result.events] == pytest.approx([math.sqrt(0.8) - math.sqrt(0.4), 2.0], rel=1e-6)


def without_sign(d: Any) -> Any:
    return np.sqrt(np.abs(d))


def too_smooth(d: Any) -> Any:
    return d * np.sqrt(np.abs(d))


def with_a_jump(d: Any) -> Any:
    return np.sign(d) * np.sqrt(1e-10 + np.abs(d))


@pytest.mark.parametrize("function", [without_sign, too_smooth, with_a_jump])
def test_what_is_no_such_root_keeps_its_events(function: Callable[[Any], Any]) -> None:
    def falling(t: float, y: Any) -> Any:
        return {"y": -1.0 + 0.1 * function(y["y"])}

    assert len(tg.simulate(tg.ode(falling, {"y": 0.5}), (0.0, 1.0)).events) > 0


@pytest.mark.slow
def test_a_clause_on_the_sign_of_what_flows_happens() -> None:
    def tanks(t: float, y: Any) -> Any:
        flow = np.sign(y["a"] - y["b"]) * np.sqrt(np.abs(y["a"] - y["b"]))
        return {"a": 0.2 * np.cos(t) - flow, "b": flow}

    def turned(t: float, y: Any) -> Any:
        return y["a"] < y["b"]

    result = tg.simulate(tg.ode(tanks, {"a": 1.0, "b": 1.0}, events=[tg.event(turned)]), (0.0, 12.0), rtol=1e-8)
    assert [event.time for event in result.events] == pytest.approx(turning_times(), abs=1e-4)


def turning_times() -> list[float]:
    """When d' = 0.2 cos t - 2 sign(d) sqrt|d|, d(0) = 0, falls through zero."""

    def rate(t: float, d: Any) -> Any:
        return 0.2 * np.cos(t) - 2.0 * np.sign(d) * np.sqrt(np.abs(d))

    def down(t: float, d: Any) -> float:
        return float(d[0])

    vars(down)["direction"] = -1.0
    found: Any = solve_ivp(rate, (0.0, 12.0), [0.0], method="LSODA", rtol=1e-9, atol=1e-13, events=down, max_step=0.01)
    return [float(time) for time in found.t_events[0] if time > 0.1]


def as_written(law: Law, d: Any, k: float) -> Any:
    return law(d, k)


class Network:
    """Random tanks with random pipes between them: ``area h' = inflow - what flows out``; the law as in ``LAWS``, or of junctions without volume."""

    def __init__(self, seed: int, junctions: int = 0) -> None:
        draw = random.Random(seed)
        self.n, self.junctions = draw.randint(2, 5), junctions
        laws = (sign_times_root,) if junctions else LAWS
        ends = [(i, draw.randrange(i)) for i in range(1, self.n)]
        for j in range(self.n, self.n + junctions):
            ends += [(j, one) for one in draw.sample(range(self.n), 2)]
        self.pipes = [(a, b, draw.choice(laws), draw.uniform(0.1, 0.8)) for a, b in ends]
        self.area = [draw.uniform(0.5, 2.0) for _ in range(self.n)]
        self.start = [draw.uniform(0.1, 3.0) for _ in range(self.n)]
        if draw.random() < 0.3:
            self.start = [self.start[0]] * self.n
        self.height, self.speed = draw.choice([0.0, draw.uniform(0.01, 0.3)]), draw.uniform(0.5, 2.0)

    def balances(self, t: Any, h: Any, law: Callable[[Law, Any, float], Any]) -> list[Any]:
        total = [0.0] * (self.n + self.junctions)
        for a, b, own, k in self.pipes:
            flow = law(own, h[a] - h[b], k)
            total[a], total[b] = total[a] - flow, total[b] + flow
        total[0] = total[0] + self.height * np.sin(self.speed * t)
        return total

    def model(self) -> Any:
        def rates(t: float, y: Any) -> Any:
            return [x / a for x, a in zip(self.balances(t, y, as_written), self.area, strict=True)]

        def residual(t: float, y: Any, ydot: Any) -> Any:
            total = self.balances(t, y, as_written)
            return [a * ydot[i] - total[i] for i, a in enumerate(self.area)] + total[self.n :]

        return tg.dae(residual, [*self.start, *([0.0] * self.junctions)]) if self.junctions else tg.ode(rates, self.start)

    def truth(self, times: list[float]) -> Any:
        """By SciPy, with a root that is straight within 1e-10 of zero; junctions get a volume of 1e-7."""
        near = 1e-10

        def near_zero(law: Law, d: float, k: float) -> float:
            if abs(d) >= near:
                return float(law(d, k))
            return float(law(math.copysign(near, d), k)) * abs(d) / near

        areas = np.array([*self.area, *([1e-7] * self.junctions)])

        def rates(t: float, h: Any) -> Any:
            return self.balances(t, h, near_zero) / areas

        start = [*self.start, *([float(np.mean(self.start))] * self.junctions)]
        found: Any = solve_ivp(rates, (0.0, times[-1]), start, method="BDF", rtol=1e-8, atol=1e-11, t_eval=times)
        return found.y[: self.n].T


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
def test_random_networks_of_tanks_are_right(seed: int) -> None:
    network, times = Network(seed), [3.0, 7.0, 12.0]
    truth = network.truth(times)
    for method, rtol in (("auto", 1e-6), ("ida", 1e-6), ("rodas5p", 1e-5), ("bdf", 1e-6), ("radau", 1e-9)):
        levels = tg.simulate(network.model(), (0.0, 12.0), outputs=times, method=method, rtol=rtol)["y"].values
        # the errors of some hundred steps, and what the truth leaves
        assert levels == pytest.approx(truth, abs=100 * rtol + 1e-6), method


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_random_networks_with_junctions_are_right(seed: int) -> None:
    network, times = Network(seed, junctions=1 + seed % 2), [3.0, 7.0, 12.0]
    truth = network.truth(times)
    for method in ("auto", "ida", "rodas5p"):
        levels = tg.simulate(network.model(), (0.0, 12.0), outputs=times, method=method)["y"].values[:, : network.n]
        assert levels == pytest.approx(truth, abs=1e-4), method


def levels(t: float, y: Any, p: Any) -> Any:
    flow = p["k"] * np.sign(y["a"] - y["b"]) * np.sqrt(np.abs(y["a"] - y["b"]))
    return {"a": 0.1 * np.sin(t) - flow, "b": flow}


def test_sweeps_and_simulations_take_the_tolerance_that_they_are_given() -> None:
    model = tg.ode(levels, {"a": 1.0, "b": 0.9}, {"k": 0.3})
    alone = [tg.simulate(model, (0.0, 10.0), rtol=1e-9, parameters={"k": k}).final["a"] for k in (0.3, 0.5)]
    together = tg.sweep(model, (0.0, 10.0), parameters={"k": [0.3, 0.5]}, rtol=1e-9, progress=False)
    assert together["a"].values.tolist() == alone
    prepared = tg.prepare(model, (0.0, 10.0), rtol=1e-9)
    assert [prepared.with_parameters(k=k).run().final["a"] for k in (0.3, 0.5)] == alone
    simulation = tg.Simulation(model, rtol=1e-3)
    simulation.advance(1e-3)
    simulation.advance(10.0, rtol=1e-9)
    assert simulation["a"] == pytest.approx(alone[0], abs=1e-6)


def test_derivatives_are_those_of_whole_runs() -> None:
    model = tg.ode(levels, {"a": 1.0, "b": 0.9}, {"k": 0.3})
    found = tg.simulate(model, (0.0, 10.0), rtol=1e-9, sensitivities=["k"]).sensitivity("a", "k").values[-1]
    ends = [tg.simulate(model, (0.0, 10.0), rtol=1e-11, parameters={"k": 0.3 + step}).final["a"] for step in (1e-4, -1e-4)]
    assert found == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-4)
