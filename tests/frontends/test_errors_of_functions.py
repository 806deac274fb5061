"""`raise` and `assert` in functions of a model: the run ends where it comes to them, and says so in the user's words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.errors import NotFiniteError, RunError, UntraceableError

__all__: list[str] = []


def density(temperature: Any) -> Any:
    if temperature < 273.15:
        raise ValueError(f"frozen at {temperature}")
    return 1000.0 - 0.2 * (temperature - 273.15)


def cooled(t: float, y: Any, p: Any) -> Any:
    assert p["k"] > 0, "k must be positive"
    return {"T": -p["k"] * density(y["T"])}


def model(k: float = 0.01, start: float = 300.0) -> Any:
    return tg.ode(cooled, y0={"T": start}, p={"k": k})


@pytest.mark.parametrize("method", ["taylor", "radau", "bdf", "adams", "rodas5p"])
def test_a_run_ends_where_a_helper_raises_an_error_and_keeps_what_there_is(method: str) -> None:
    with pytest.raises(RunError, match=r"the run comes to `raise ValueError\(f\"frozen at \{temperature\}\"\)` at t = 2\.692") as caught:
        tg.simulate(model(), (0.0, 10.0), method=method, rtol=1e-9)
    result = caught.value.result
    assert result is not None
    # d = 1000 - 0.2 (T - 273.15) goes by d' = 0.002 d from 994.63 to 1000
    assert result.t[-1] == pytest.approx(500.0 * np.log(1000.0 / 994.63), rel=1e-7)
    assert caught.value.origin is not None
    assert caught.value.origin.line == density.__code__.co_firstlineno + 2


def test_a_run_that_comes_to_no_error_is_as_without_them() -> None:
    result = tg.simulate(model(), (0.0, 2.0), sensitivities=["k"])
    assert result.final["T"] == pytest.approx(273.15 + (1000.0 - 994.63 * np.exp(0.004)) / 0.2, rel=1e-9)
    assert result.sensitivity("T", "k")[-1] == pytest.approx(-994.63 * np.exp(0.004) * 0.4 / 0.2, rel=1e-8)


def test_an_assertion_about_a_parameter_ends_the_run_at_its_start() -> None:
    with pytest.raises(NotFiniteError, match=r"the run comes to `assert p\[\"k\"\] > 0, \"k must be positive\"` at t = 0"):
        tg.simulate(model(k=-1.0), (0.0, 1.0))


def test_errors_in_loops_and_behind_returns_are_told_by_their_own_lines() -> None:
    def rates(t: float, y: Any) -> Any:
        if y["x"] > 4.0:
            return {"x": -2.0}
        for level in (y["x"], 2.0 * y["x"]):
            if level < 0.5:
                raise ValueError("small")
        if y["x"] > 5.0:
            raise RuntimeError("never")
        return {"x": -1.0}

    with pytest.raises(RunError, match=r"`raise ValueError\(\"small\"\)` at t = 4") as caught:
        tg.simulate(tg.ode(rates, y0={"x": 5.0}), (0.0, 9.0))
    assert caught.value.result is not None
    assert caught.value.result.final["x"] == pytest.approx(0.5, abs=1e-9)


def test_a_residual_may_raise_an_error() -> None:
    def residual(t: float, y: Any, ydot: Any) -> Any:
        assert y["a"] < 2.0
        return {"x": ydot["x"] - 1.0, "a": y["a"] - 2.0 * y["x"]}

    with pytest.raises(RunError, match=r"`assert y\[\"a\"\] < 2.0` at t = 1"):
        tg.simulate(tg.dae(residual, y0={"x": 0.0, "a": 0.0}, ydot0={"x": 1.0}), (0.0, 3.0))


def test_an_output_that_raises_an_error_is_nan_there_and_warns() -> None:
    watched = tg.ode(lambda t, y: [-1.0], y0=[1.0], outputs=lambda t, y: {"d": density(300.0 * y[0])})
    with pytest.warns(tg.NotFiniteWarning, match="the output d is nan"):
        result = tg.simulate(watched, (0.0, 0.5))
    assert np.isnan(result["d"][-1])
    assert np.isfinite(result["d"][0])


def test_errors_inside_of_try_and_in_conditions_are_refused() -> None:
    def caught_by_itself(t: float, y: Any) -> Any:
        try:
            return [-density(y[0])]
        except ValueError:
            return [0.0]

    with pytest.raises(UntraceableError, match="`raise` in a branch"):
        tg.simulate(tg.ode(caught_by_itself, y0=[300.0]), (0.0, 1.0))
    events = tg.event(lambda t, y: density(y[0]) > 1e3, reset=lambda t, y: [1.0])
    with pytest.raises(UntraceableError, match="`raise` in a branch"):
        tg.simulate(tg.ode(lambda t, y: [-1.0], y0=[300.0], events=events), (0.0, 1.0))


class Cooler(tg.Component):
    """What loses heat, and a water tank that must not freeze."""

    T = tg.State(300.0)
    rate = tg.Algebraic()
    k = tg.Parameter(0.01)

    def equations(self) -> Any:
        """As Newton's law has it, but for the numbers."""
        assert self.k > 0
        yield self.rate == self.k * density(self.T)
        yield tg.der(self.T) == -self.rate


@pytest.mark.parametrize("method", ["auto", "ida", "radau"])
def test_a_component_ends_the_run_where_its_helper_raises_an_error(method: str) -> None:
    with pytest.raises(RunError, match=r"`raise ValueError\(f\"frozen at \{temperature\}\"\)` at t = 2\.692") as caught:
        tg.simulate(Cooler(), (0.0, 10.0), method=method)
    assert caught.value.result is not None
    assert caught.value.result.final["T"] == pytest.approx(273.15, abs=1e-4)


def test_an_assertion_about_a_parameter_of_a_component_ends_the_run_at_its_start() -> None:
    with pytest.raises(RunError, match=r"the run comes to `assert self.k > 0` at t = 0"):
        tg.simulate(Cooler(k=-1.0), (0.0, 1.0))


def test_a_part_of_a_component_ends_the_run_as_well() -> None:
    class Both(tg.Component):
        """Two of them."""

        a = Cooler()
        b = Cooler(k=0.02)

    with pytest.raises(RunError, match=r"`raise ValueError\(f\"frozen at \{temperature\}\"\)` at t = 1\.346"):
        tg.simulate(Both(), (0.0, 10.0))
