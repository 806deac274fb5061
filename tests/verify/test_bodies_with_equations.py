"""Clauses that yield equations, before the judge: right ones pass, and those whose equations did not hold in their round do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.results import EventLog


class Sampled(tg.Component):
    """A controller by two equations that are solved together at every tick."""

    x, held, error = tg.State(1.0), tg.Discrete(0.0), tg.Discrete(0.0)
    a, k, loop = tg.Parameter(0.5), tg.Parameter(2.0), tg.Parameter(0.3)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.x) == -self.a * self.x + self.held

    @tg.every(0.4)
    def sample(self) -> Iterator[Any]:
        yield self.error == 1.0 - self.x - self.loop * self.held
        yield self.held == self.k * self.error


@pytest.mark.slow
def test_random_sampled_controllers_are_verified_and_go_where_plain_python_goes(dae_method: str) -> None:
    rng = np.random.default_rng(4)
    for a, k in rng.uniform(0.2, 2.0, (3, 2)).tolist():
        result = tg.simulate(Sampled(a=a, k=k), (0.0, 1.9), rtol=1e-8, method=dae_method)
        x, held = 1.0, 0.0
        for tick in range(5):
            held = k * (1.0 - x) / (1.0 + 0.3 * k)
            length = 0.4 if tick < 4 else 0.3
            x = held / a + (x - held / a) * np.exp(-a * length)
        assert result.final == pytest.approx({"x": x, "held": held, "error": held / k}, rel=1e-6, abs=1e-7)
        check = tg.verify(result)
        assert check.ok, str(check)


@pytest.mark.slow
def test_another_equation_is_told() -> None:
    result = copy(tg.simulate(Sampled(), (0.0, 1.9), rtol=1e-8))
    result.parameters = {**result.parameters, "loop": 0.31}
    check = tg.verify(result, source=Sampled())
    assert {item.kind for item in check.wrong} == {"reset"}, str(check)


@pytest.mark.slow
def test_a_value_that_is_kept_otherwise_than_it_was_determined_is_told() -> None:
    result = copy(tg.simulate(Sampled(), (0.0, 1.9), rtol=1e-8))

    def moved(values: Mapping[str, float]) -> dict[str, float]:
        return {**values, "kept(held)": values["kept(held)"] + 1e-3}

    result.events = EventLog([replace(event, after=moved(event.after)) for event in result.events], time_unit="")
    assert "reset" in {item.kind for item in tg.verify(result, source=Sampled()).wrong}
