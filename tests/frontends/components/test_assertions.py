"""What must hold, and what ends a run, among the equations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

import tidegate as tg


class Tank(tg.Component):
    h, top, start_level = tg.State(lambda self: self.start_level), tg.Parameter(2.0), tg.Parameter(0.5)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.h) == 1.0
        yield tg.assertion(self.h < self.top, "the tank flows over")


def test_a_run_fails_where_an_assertion_ceases_to_hold(method: str) -> None:
    with pytest.raises(tg.AssertionFailedError, match="the tank flows over") as caught:
        tg.simulate(Tank(), (0.0, 5.0), rtol=1e-9, method=method)
    assert caught.value.result is not None
    assert caught.value.result.status == "failed"
    assert caught.value.result.t[-1] == pytest.approx(1.5, abs=1e-8)
    assert "test_assertions.py" in str(caught.value)
    assert tg.simulate(Tank(top=9.0), (0.0, 5.0), method=method).status == "finished"


def test_an_assertion_that_does_not_hold_at_the_start_is_told_there() -> None:
    with pytest.raises(tg.AssertionFailedError, match="the tank flows over") as caught:
        tg.simulate(Tank(start_level=3.0), (0.0, 5.0))
    assert caught.value.time == 0.0


def test_an_assertion_of_a_part_names_the_part() -> None:
    class Two(tg.Component):
        a, b = Tank(), Tank(top=1.0)

    with pytest.raises(tg.AssertionFailedError, match=r"Two\.b") as caught:
        tg.simulate(Two(), (0.0, 5.0))
    assert caught.value.result is not None
    assert caught.value.result.t[-1] == pytest.approx(0.5)


def test_a_warning_is_noted_and_the_run_goes_on() -> None:
    class Warned(tg.Component):
        x = tg.State(0.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == math.cos(1.0) * 0 + 1.0
            yield tg.assertion(self.x < 1.0, "x is large", level="warning")

    result = tg.simulate(Warned(), (0.0, 2.0))
    assert result.status == "finished"
    assert [event.messages for event in result.events] == [("x is large",)]


def test_terminate_among_equations_ends_a_run_as_a_success(method: str) -> None:
    class Full(tg.Component):
        x = tg.State(0.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == 2.0
            yield tg.terminate(self.x > 1.0, "full")

    result = tg.simulate(Full(), (0.0, 2.0), rtol=1e-9, method=method)
    assert (result.status, result.message) == ("terminated", "full")
    assert result.t[-1] == pytest.approx(0.5, abs=1e-8)
    assert tg.simulate(Full(x=3.0), (0.0, 2.0)).t[-1] == 0.0


def test_a_simulation_stands_where_an_assertion_failed() -> None:
    simulation = tg.Simulation(Tank())
    simulation.advance(1.0)
    with pytest.raises(tg.AssertionFailedError):
        simulation.advance(5.0)
    assert simulation.time == pytest.approx(1.5, abs=1e-6)


def test_a_level_that_is_none_is_refused() -> None:
    class Wrong(tg.Component):
        x = tg.State(0.0)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == 1.0
            yield tg.assertion(self.x < 1, "large", level="fatal")

    with pytest.raises(tg.UsageError, match="level of an assertion is 'fatal'"):
        Wrong().lower()
