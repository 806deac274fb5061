"""Parameters come back from data: exactly where there is no noise, with the right spread where there is; what the data do not say is told."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.linalg import expm

import tidegate as tg
from random_models import Once


class Ball(tg.Component):
    h0 = tg.Parameter(1.0, unit="m", min=0.1)
    h = tg.State(h0, unit="m")
    v = tg.State(0.0, unit="m/s")
    e = tg.Parameter(0.8, min=0.0, max=1.0)
    g = tg.Parameter(9.81, unit="m/s^2", min=tg.Bound(0.0, is_open=True))

    def equations(self):
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == -self.g

    @tg.when(lambda self: self.h < 0)
    def bounce(self):
        return {self.v: -self.e * tg.pre(self.v)}


class Line(tg.Component):
    """x = a + b t + c t^2."""

    a = tg.Parameter(0.0)
    b = tg.Parameter(0.0)
    c = tg.Parameter(0.0)
    x = tg.State(a)
    s = tg.State(0.0)

    def equations(self):
        yield tg.der(self.x) == self.b + 2.0 * self.c * self.s
        yield tg.der(self.s) == 1.0


class Tank(tg.Component):
    level = tg.State(0.0, unit="m")
    inflow = tg.Parameter(0.2, min=0.0)
    k = tg.Parameter(3.0, min=0.0)
    depth = tg.Parameter(1.0, unit="m", min=0.1)

    def equations(self):
        yield tg.der(self.level) == self.inflow - (self.k * (self.level - self.depth) if self.level > self.depth else 0.0)


@pytest.fixture(scope="module")
def ball() -> Any:
    return Once(Ball())


@pytest.fixture(scope="module")
def line() -> Any:
    return Once(Line())


@pytest.fixture(scope="module")
def tank() -> Any:
    return Once(Tank())


@pytest.fixture(scope="module")
def chain() -> Any:
    def decay(t: float, y: Any, p: Any) -> list[Any]:
        a, b, c = y
        return [-p["ka"] * a + p["back"] * b, p["ka"] * a - (p["back"] + p["kb"]) * b, p["kb"] * b - p["kc"] * c]

    return Once(tg.ode(decay, y0={"a": 1.0, "b": 0.0, "c": 0.0}, p={"ka": 1.0, "kb": 0.5, "kc": 0.3, "back": 0.2}))


def bounces(h0: float, e: float, g: float, count: int) -> np.ndarray:
    """Times by the formula of free fall."""
    fall = np.sqrt(2.0 * h0 / g)
    flights = 2.0 * fall * e ** np.arange(1, count)
    return fall + np.concatenate([[0.0], np.cumsum(flights)])


def levels(times: np.ndarray, inflow: float, k: float, depth: float) -> np.ndarray:
    full = depth / inflow
    return np.where(times <= full, inflow * times, depth + inflow / k * -np.expm1(-k * np.maximum(times - full, 0.0)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_parameters_come_back_from_exact_data(ball: Any, tank: Any, chain: Any, seed: int) -> None:
    """Data of formulas, of random parameters; the start is up to a third away."""
    draw = np.random.default_rng(seed)

    def away(truth: dict[str, float]) -> dict[str, float]:
        return {name: value * draw.uniform(0.75, 1.3) for name, value in truth.items()}

    truth = {"e": draw.uniform(0.5, 0.75), "g": draw.uniform(3.0, 20.0)}
    found = tg.fit(ball, None, away(truth), events={"h < 0": bounces(1.0, **truth, count=5)})
    assert found.values == pytest.approx(truth, rel=1e-6)
    assert found.success

    truth = {"inflow": draw.uniform(0.1, 0.5), "k": draw.uniform(0.5, 3.0), "depth": draw.uniform(0.5, 2.0)}
    times = np.linspace(0.1, 3.0, 40) * truth["depth"] / truth["inflow"]
    found = tg.fit(tank, {"level": (times, levels(times, **truth))}, away(truth), rtol=1e-10)
    assert found.values == pytest.approx(truth, rel=1e-6)

    truth = {name: draw.uniform(0.2, 2.0) for name in ("ka", "kb", "kc", "back")}
    ka, kb, kc, back = truth.values()
    matrix = np.array([[-ka, back, 0.0], [ka, -back - kb, 0.0], [0.0, kb, -kc]])
    times = np.linspace(0.2, 6.0, 15)
    values = np.array([expm(matrix * t)[:, 0] for t in times])
    found = tg.fit(chain, {"b": (times, values[:, 1]), "c": (times, values[:, 2])}, away(truth), rtol=1e-10)
    assert found.values == pytest.approx(truth, rel=1e-6)


def test_the_covariance_of_a_linear_model_is_the_closed_form(line: Any) -> None:
    draw = np.random.default_rng(0)
    times = np.linspace(0.0, 3.0, 12)
    design = np.stack([np.ones(12), times, times**2], axis=1)
    sigma = draw.uniform(0.05, 0.2, 12)
    values = design @ [1.0, -2.0, 0.5] + sigma * draw.normal(size=12)
    found = tg.fit(line, {"x": (times, values, sigma)}, ["a", "b", "c"])
    weighted = design / sigma[:, None]
    expected = np.linalg.inv(weighted.T @ weighted)
    np.testing.assert_allclose(found.covariance.values, expected, rtol=1e-5)
    np.testing.assert_allclose(list(found.values.values()), expected @ weighted.T @ (values / sigma), rtol=1e-6)
    assert found.chi_square == pytest.approx(np.sum(((values - design @ list(found.values.values())) / sigma) ** 2))
    spread = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(found.correlation.values, expected / np.outer(spread, spread), rtol=1e-5)
    low, high = found.confidence(0.95)["b"]
    assert high - low == pytest.approx(2 * 1.959964 * spread[1], rel=1e-5)
    assert found.degrees_of_freedom == 9

    bare = tg.fit(line, {"x": (times, values)}, ["a", "b", "c"])
    solution, squares, _, _ = np.linalg.lstsq(design, values, rcond=None)
    np.testing.assert_allclose(list(bare.values.values()), solution, rtol=1e-6)
    np.testing.assert_allclose(bare.covariance.values, np.linalg.inv(design.T @ design) * squares[0] / 9, rtol=1e-5)
    np.testing.assert_allclose(bare.residuals["x"], values - design @ solution, atol=1e-7)


@pytest.mark.hunt
def test_the_covariance_is_the_spread_of_many_fits(ball: Any) -> None:
    """Times of bounces with noise, 60 times over."""
    truth, sigma = bounces(1.0, 0.7, 9.81, 6), 0.002
    draw = np.random.default_rng(3)
    fits = [tg.fit(ball, None, ["e", "g"], events={"h < 0": truth + sigma * draw.normal(size=6)}, sigma=sigma) for _ in range(60)]
    spread = np.cov(np.array([list(one.values.values()) for one in fits]).T)
    np.testing.assert_allclose(fits[0].covariance.values, spread, rtol=0.5)
    inside = np.mean([low <= 0.7 <= high for low, high in (one.confidence(0.9)["e"] for one in fits)])
    assert 0.78 < inside < 0.98


@pytest.mark.slow
def test_data_come_in_many_forms(tank: Any) -> None:
    times = np.linspace(4.0, 12.0, 9)
    values = levels(times, 0.2, 2.0, 1.0)
    gap = np.where(np.arange(9) == 4, np.nan, values)
    keeps = np.isfinite(gap)
    plain = tg.fit(tank, {"level": (times[keeps], values[keeps])}, "k")
    forms = [
        {"level": (times, gap)},
        pd.DataFrame({"level": gap}, index=times),
        xr.Dataset({"level": ("time", gap)}, coords={"time": times}),
        {"level": (times[::-1], gap[::-1])},
    ]
    for form in forms:
        assert tg.fit(tank, form, "k").values == pytest.approx(plain.values, rel=1e-9)
    assert plain.values["k"] == pytest.approx(2.0, rel=1e-6)


@pytest.mark.slow
def test_event_times_and_values_together(ball: Any) -> None:
    """One bounce was missed; heights alone do not say g and h0 apart from the first flight, times do."""
    times = bounces(1.4, 0.7, 6.0, 5)
    times[2] = np.nan
    early = np.array([0.1, 0.2, 0.5])
    data = {"h": (early, 1.4 - 3.0 * early**2)}
    found = tg.fit(ball, data, ["e", "g", "h0"], events={"bounce": times}, sigma={"h": 0.01, "bounce": 0.001})
    assert found.values == pytest.approx({"e": 0.7, "g": 6.0, "h0": 1.4}, rel=1e-6)
    assert found.n_data == 7
    assert found.result.success or found.result.t[-1] > np.nanmax(times)


def test_a_step_into_runs_that_fail_is_taken_back() -> None:
    """x' = a x^2 has no solution behind t = 1/a; the first step of Gauss and Newton goes there."""
    model = tg.ode(lambda t, y, p: [p["a"] * y["x"] ** 2], y0={"x": 1.0}, p={"a": 0.6})
    times = np.array([0.3, 0.6, 0.9])
    found = tg.fit(model, {"x": (times, 1.0 / (1.0 - 0.9 * times))}, ["a"], t_span=(0.0, 0.9))
    assert found.values["a"] == pytest.approx(0.9, rel=1e-6)
    assert found.failures
    assert "taken back, where a run failed" in str(found)


@pytest.mark.slow
def test_what_the_data_do_not_determine_is_told_by_name() -> None:
    model = tg.ode(lambda t, y, p: [-p["a"] * p["b"] * y["x"], p["c"]], y0={"x": 1.0, "z": 0.0}, p={"a": 2.0, "b": 0.5, "c": 1.0})
    times = np.linspace(0.1, 2.0, 8)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = tg.fit(model, {"x": (times, np.exp(-1.5 * times))}, ["a", "b", "c"])
    sentences = [str(warning.message) for warning in told if warning.category is tg.IdentifiabilityWarning]
    assert sorted(sentences) == sorted(found.unidentified)
    assert "the data do not depend on c" in sentences
    assert any("do not tell a and b apart" in sentence for sentence in sentences)
    assert found.values["a"] * found.values["b"] == pytest.approx(1.5, rel=1e-6)
    assert np.isinf(list(found.standard_errors.values())).all()
    assert "not determined" in str(found)
    assert found.degrees_of_freedom == 7


def test_a_cause_that_no_event_has_is_told_though_the_run_fails(ball: Any) -> None:
    with pytest.raises(tg.UsageError, match="has 0 events of `hits`, and 3 were measured; its events are `bounce, h < 0`"):
        tg.fit(ball, None, {"e": 0.5}, events={"hits": [0.45, 1.15, 1.7]})


def test_no_data_are_left_to_say_how_sure_it_is(line: Any) -> None:
    found = tg.fit(line, {"x": ([2.0], [1.0])}, ["b"])
    assert np.isnan(found.standard_errors["b"])
    assert "no data left" in str(found)


@pytest.mark.slow
def test_declared_limits_hold(ball: Any) -> None:
    """Bounces that would need e > 1."""
    found = tg.fit(ball, None, {"e": 0.9, "g": 9.81}, events={"h < 0": bounces(1.0, 1.05, 9.81, 4)})
    assert found.values["e"] <= 1.0
    assert found.values["e"] == pytest.approx(1.0, abs=1e-6)
    assert found.at_limits == ("e",)
    assert np.isnan(found.standard_errors["e"])
    assert found.standard_errors["g"] > 0.0
    other = tg.fit(ball, None, {"e": 0.6}, events={"h < 0": bounces(1.0, 0.7, 9.81, 4)}, bounds={"e": (None, 0.65)})
    assert other.values["e"] == pytest.approx(0.65, abs=1e-6)


@pytest.mark.slow
def test_a_loss_forgives_outliers(line: Any) -> None:
    times = np.linspace(0.0, 2.0, 21)
    values = 1.0 + 2.0 * times
    values[5] += 50.0
    plain = tg.fit(line, {"x": (times, values)}, ["a", "b"], sigma=0.1)
    robust = tg.fit(line, {"x": (times, values)}, ["a", "b"], sigma=0.1, loss="soft_l1")
    assert abs(robust.values["b"] - 2.0) < 0.1 * abs(plain.values["b"] - 2.0)


@pytest.mark.slow
def test_a_fit_is_told_and_drawn(ball: Any, tmp_path: Path) -> None:
    times = bounces(1.0, 0.7, 9.81, 4)
    data = {"h": (np.array([0.1, 0.3]), 1.0 - 0.5 * 9.81 * np.array([0.1, 0.3]) ** 2)}
    found = tg.fit(ball, data, {"e": 0.6, "g": None}, events={"h < 0": times}, sigma={"h": 0.01, "h < 0": 0.01})
    text = str(found)
    for part in ("fit of Ball", "e", "0 to 1", "m/s^2", "4 times of `h < 0`", "2 values of h", "4 degrees of freedom"):
        assert part in text
    assert "<table>" in found._repr_html_()
    assert "e = 0.7" in repr(found)
    figure = found.plot(tmp_path / "fit.png")
    assert len(figure.axes) == 2
    times, height = figure.axes[0].lines[0].get_data()
    falling = times < 0.4
    assert falling.sum() > 100  # the curve and not its steps
    assert height[falling] == pytest.approx(1.0 - 0.5 * found.values["g"] * times[falling] ** 2, abs=1e-5)
    assert figure._repr_mimebundle_()[0]["image/png"].startswith(b"\x89PNG")  # a notebook shows it
    assert (tmp_path / "fit.png").stat().st_size > 1000
    assert list(found.result.sensitivity_parameters) == ["e", "g"]


TIMES = [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"data": {"level": (TIMES, TIMES)}, "parameters": "kk"}, "no parameter 'kk'"),
        ({"data": {"level": (TIMES, TIMES)}}, "no parameter is to be fitted"),
        ({"data": {"levle": (TIMES, TIMES)}, "parameters": "k"}, "no variable 'levle'"),
        ({"data": {"level": (TIMES, [1.0])}, "parameters": "k"}, "3 times and 1 values"),
        ({"data": {"level": ([0.0, np.nan, 2.0], TIMES)}, "parameters": "k"}, "have the time nan among their times"),
        ({"data": {"level": (TIMES, [1.0, np.inf, 2.0])}, "parameters": "k"}, "hold infinity"),
        ({"data": {"level": (TIMES, [np.nan] * 3)}, "parameters": "k"}, "all values are NaN"),
        ({"data": {"level": (TIMES, TIMES)}, "parameters": None}, "must be names, or start values by name, not None"),
        ({"data": {"level": (TIMES, TIMES)}, "parameters": {"k": (0.1, 1.0)}}, r"must be a finite number, not \(0.1, 1.0\)"),
        ({"data": {"time": TIMES, "level": [1.0]}, "parameters": "k"}, "3 times and 1 values"),
        ({"data": {"level": TIMES[0]}, "parameters": "k"}, r"must be \(times, values\)"),
        ({"data": [1.0], "parameters": "k"}, "data must be a dict"),
        ({"data": {}, "parameters": "k"}, "there are no data"),
        ({"data": {"level": (TIMES, TIMES)}, "parameters": {"k": -1.0}}, "k starts at -1, outside its limits"),
        ({"data": {"level": (TIMES, TIMES)}, "parameters": {"k": "a"}}, "start value of k must be a finite number"),
        ({"data": {"level": (TIMES, TIMES)}, "parameters": "k", "bounds": {"depth": (0, 1)}}, "no fitted parameter 'depth'"),
        ({"data": {"level": (TIMES, TIMES)}, "parameters": "k", "bounds": {"k": (5, 4)}}, "nothing between the limits of k"),
        ({"data": {"level": (TIMES, TIMES)}, "parameters": "k", "fixed": {"k": 3.0}}, "k is fitted, and fixed"),
        ({"data": {"level": (TIMES, TIMES)}, "parameters": "k", "sigma": 0.0}, "sigma of level must be positive"),
        ({"data": {"level": (TIMES, TIMES)}, "parameters": "k", "sigma": {"depth": 1.0}}, "no data 'depth'"),
        ({"data": {"level": (TIMES, TIMES)}, "parameters": "k", "events": {"level": [5.0]}}, "no common measure without standard deviations"),
        ({"events": {"level > depth": [1.0, 2.0, 3.0]}, "parameters": "k"}, "the run has 1 events of `level > depth`, and 3 were measured"),
        ({"events": {"level > depth": [5.0, 4.0]}, "parameters": "k"}, "must be increasing, the first event first"),
        ({"data": {"level": (TIMES, TIMES)}, "parameters": "k", "outputs": 0.1}, "a fit has no option 'outputs'"),
        ({"data": {"level": (TIMES, TIMES)}, "parameters": "k", "loss": "square"}, "loss is 'square'"),
        ({"data": {"level": (TIMES, TIMES)}, "parameters": "k", "max_runs": 0}, "max_runs is 0"),
        ({"data": {"level": (TIMES, TIMES)}, "parameters": "k", "t_span": (0.0, 2.0)}, "outputs from 1 to 3 reach beyond the run"),
        ({"data": {"level": (TIMES, TIMES)}, "parameters": "k", "atoll": 1.0}, "no option 'atoll'"),
    ],
)
def test_slips_are_told(tank: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(tg.UsageError, match=said):
        tg.fit(tank, **options)


@pytest.mark.slow
def test_tables_with_a_column_of_times_are_data(tank: Any) -> None:
    """However the times are given, the fit is the same; a model's own variable of that name is no column of times."""
    levels = [0.3, 0.5, 0.9]
    plain = tg.fit(tank, {"level": (TIMES, levels)}, "inflow").values
    frame = pd.DataFrame({"time": TIMES, "level": levels})
    for data in ({"time": TIMES, "level": levels}, {"t": TIMES, "level": levels}, frame, frame.set_index("time")):
        assert tg.fit(tank, data, "inflow").values == plain
    own = tg.ode(lambda time, y, p: [p["k"]], y0={"t": 0.0}, p={"k": 1.0})
    assert tg.fit(own, {"t": ([1.0, 2.0], [3.0, 6.0])}, "k").values == pytest.approx({"k": 3.0})


def test_what_is_not_a_number_that_changes_a_little_is_not_fitted() -> None:
    class Steps(tg.Component):
        x = tg.State(0.0)
        n = tg.Parameter(3, kind="integer")

        def equations(self):
            yield tg.der(self.x) == self.n

    with pytest.raises(tg.UsageError, match="n is integer"):
        tg.fit(Steps(), {"x": (TIMES, TIMES)}, "n")
