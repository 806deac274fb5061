"""Clauses whose condition is false as it is written with the start values, and true from there on: they happen at the start."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from source_text_checks import differences, exported

__all__: list[str] = []

METHODS = ("auto", "taylor", "radau", "rodas5p", "bdf", "adams", "ida", "rke")
RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    ">": lambda t, y: y["x"] > 0,
    ">=": lambda t, y: y["x"] >= 0,
    "<": lambda t, y: y["x"] < 0,
    "<=": lambda t, y: y["x"] <= 0,
}


def counting(condition: Any, rate: float, *, at_start: bool = False) -> Any:
    event = tg.event(condition, reset=lambda t, y, d: {"n": d["n"] + 1}, at_start=at_start)
    return tg.ode(lambda t, y, d: [rate], y0={"x": 0.0}, discrete={"n": 0.0}, events=event)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rate", [1.0, -1.0])
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_clause_happens_at_the_start_if_its_condition_becomes_true_there(relation: str, rate: float, method: str) -> None:
    result = tg.simulate(counting(RELATIONS[relation], rate), (0.0, 1.0), method=method)
    becomes_true = relation == (">" if rate > 0 else "<")
    assert [event.time for event in result.events] == [0.0] * becomes_true
    assert result.final["n"] == float(becomes_true)
    if method == "radau":
        assert tg.verify(result).ok


@pytest.mark.parametrize("rate", [1.0, -1.0])
@pytest.mark.parametrize("relation", RELATIONS)
def test_one_that_is_to_happen_at_the_start_does_so_once_whatever_the_edge(relation: str, rate: float) -> None:
    """True as it is written, or true from there on."""
    final = tg.simulate(counting(RELATIONS[relation], rate, at_start=True), (0.0, 1.0)).final
    assert final["n"] == float("=" in relation or relation == (">" if rate > 0 else "<"))


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_that_is_thrown_at_the_ground_it_lies_on_bounces(method: str) -> None:
    model = tg.ode(
        lambda t, y: [y["v"], -9.81],
        y0={"h": 0.0, "v": -1.0},
        events=tg.event(lambda t, y: y["h"] < 0, reset=lambda t, y: {"v": -0.9 * y["v"]}),
    )
    result = tg.simulate(model, (0.0, 0.3), method=method, rtol=1e-9)
    back = 2 * 0.9 / 9.81
    assert [event.time for event in result.events] == pytest.approx([0.0, back], abs=1e-8)
    assert result.final["v"] == pytest.approx(0.81 - 9.81 * (0.3 - back), abs=1e-6)


@pytest.mark.parametrize("event", [{"every": 0.4}, {"condition": lambda t, y: y["x"] > 0}])
def test_a_result_without_rows_of_events_begins_at_the_start_too(event: dict[str, Any]) -> None:
    model = tg.ode(lambda t, y: [1.0], y0={"x": 0.0}, events=tg.event(**event, reset=lambda t, y: {"x": y["x"] + 1.0}))
    result = tg.simulate(model, (0.0, 0.3), event_rows=False)
    assert (result.t[0], result["x"].values[0]) == (0.0, 1.0)


def test_a_ball_at_rest_on_the_ground_does_not_fall_through_it_without_a_word() -> None:
    def hit(t: Any, y: Any) -> Any:
        return {"v": -0.8 * y["v"], "h": 0.0}

    model = tg.ode(lambda t, y: [y["v"], -9.81], y0={"h": 0.0, "v": 0.0}, events=tg.event(lambda t, y: y["h"] < 0, reset=hit))
    with pytest.raises(tg.ZenoError, match="h < 0"):
        tg.simulate(model, (0.0, 1.0))


def test_a_thermostat_that_starts_at_its_threshold_switches_as_it_leaves_it() -> None:
    model = tg.ode(
        lambda t, y, d: [5.0 * d["on"] - 0.2 * (y["T"] - 5.0)],
        y0={"T": 18.0},
        discrete={"on": 0.0},
        events=[
            tg.event(lambda t, y: y["T"] < 18.0, reset=lambda t, y: {"on": 1.0}),
            tg.event(lambda t, y: y["T"] > 20.0, reset=lambda t, y: {"on": 0.0}),
        ],
    )
    result = tg.simulate(model, (0.0, 3.0), rtol=1e-9)
    warm = -5.0 * math.log(10.0 / 12.0)  # from 18 towards 30 until 20
    cold = warm - 5.0 * math.log(13.0 / 15.0)  # and towards 5 until 18
    assert [event.time for event in result.events] == pytest.approx([0.0, warm, cold, cold + warm], abs=1e-7)


def test_conditions_of_time_and_several_at_once() -> None:
    events = [
        tg.event(lambda t, y: t > 0, reset=lambda t, y, d: {"a": d["a"] + 1}),
        tg.event(lambda t, y: (y["x"] > 0) & (y["v"] < 0), reset=lambda t, y, d: {"b": d["b"] + 1}),
        tg.event(lambda t, y: [y["x"] > 0, y["v"] > 0], reset=lambda t, y, d: {"c": d["c"] + 1}),
        tg.event(every=0.6, reset=lambda t, y, d: {"d": d["d"] + 1}),
        tg.event(lambda t, y, d: d["a"] > 0.5, reset=lambda t, y, d: {"e": d["e"] + d["a"]}),
    ]
    model = tg.ode(lambda t, y, d: [1.0, -1.0], y0={"x": 0.0, "v": 0.0}, discrete=dict.fromkeys("abcde", 0.0), events=events)
    result = tg.simulate(model, (0.0, 1.0))
    assert {name: result.final[name] for name in "abcde"} == {"a": 1.0, "b": 1.0, "c": 1.0, "d": 2.0, "e": 1.0}
    assert [event.time for event in result.events] == [0.0, 0.6]


def test_relations_of_equations_that_start_at_their_edges_are_no_events() -> None:
    model = tg.ode(lambda t, y: [1.0 if y["x"] >= 0 else 3.0, -1.0], y0={"x": 0.0, "v": 0.0}, events=tg.event(lambda t, y: y["v"] > 5))
    assert len(tg.simulate(model, (0.0, 1.0)).events) == 0


class Rising(tg.Component):
    x, n, k = tg.State(0.0), tg.Discrete(0), tg.Parameter(2.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == self.k - self.n

    @tg.when(lambda self: self.x > 0)
    def up(self) -> Any:
        return {self.n: self.n + 1}


def test_derivatives_after_an_event_at_the_start() -> None:
    result = tg.simulate(Rising(), (0.0, 1.0), sensitivities=["k"])
    assert (result.final["x"], result.final["n"]) == (pytest.approx(1.0), 1.0)
    assert float(result.sensitivity("x", "k")[-1]) == pytest.approx(1.0)
    assert result.events[0].dt_dp["k"] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("language", ["c", "fortran"])
def test_exported_blocks_begin_so_too(language: str, tmp_path: Path) -> None:
    block, names = exported(Rising(), "rising", tmp_path, language)
    assert differences(Rising(), (0.0, 1.0), block, names) == []


def test_an_integrator_whose_reset_begins_at_zero_is_set_back_from_there_on() -> None:
    b = tg.blocks
    model = tg.Diagram("reset")
    model.clock = b.Time()
    model.level = b.Integrator(start=-0.8)
    model.rate = b.Constant(0.4)
    model.connect(model.rate, model.level.rate)
    model.connect(model.clock, model.level.reset)
    assert tg.simulate(model, (0.0, 1.0)).final["level"] == -0.8


class Lines:
    """Sums of sines that start at thresholds, and how often each comes above one: looked at in very small steps.

    Parameters
    ----------
    seed : of everything.
    """

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.size, self.speed = random.uniform(0.5, 2.0, 3), random.uniform(0.5, 4.0, 3) * random.choice([-1, 1], 3)
        self.start = np.array([0.0, 0.0, random.uniform(0.1, 1.0)])
        self.level = np.array([0.0, 0.0, random.uniform(-0.3, 0.3)])

    def truth(self) -> list[float]:
        t = np.linspace(0.0, 5.0, 200_001)
        counts: list[float] = []
        for size, speed, start, level in zip(self.size, self.speed, self.start, self.level, strict=True):
            above = size * np.sin(speed * t) + start > level
            counts.append(float(np.sum(above[1:] & ~above[:-1])))
        return counts

    def model(self) -> Any:
        def one(k: int) -> Any:
            return tg.event(lambda t, y: y[k] > self.level[k], reset=lambda t, y, d: {f"n[{k}]": d["n"][k] + 1})

        rates = lambda t, y: self.size * self.speed * np.cos(self.speed * t)  # noqa: E731
        return tg.ode(rates, y0=self.start, discrete={"n": np.zeros(3)}, events=[one(k) for k in range(3)])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["taylor", "radau"])
def test_random_signals_are_counted_from_the_start_on(method: str) -> None:
    for seed in range(10):
        lines = Lines(seed)
        final = tg.simulate(lines.model(), (0.0, 5.0), method=method, rtol=1e-9).final
        assert [final[f"n[{k}]"] for k in range(3)] == lines.truth(), seed
