"""Numbers of states and indicators that change at events: what is not there is missing in everything that a result offers."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.frontends.dsblock import EventAction, Start


class Vary(tg.DSblock):
    """NX 1, 2, 1, 2 and NZ 1, 2, 0, 0, changed at t = 1, 2, 3."""

    n_states = (1, 2, 1, 2)
    n_indicators = (1, 2, 0, 0)

    def define(self, declare: Any) -> None:
        declare.state("A", start=1.0)
        declare.state("B")
        declare.indicator("Z", shape=(2,))
        declare.discrete("k")

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return -x.flat

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        assert m.k < 2
        return [[x.A + 1.0, 5.0]] if m.k else {"Z": [x.A + 1.0, 0.0]}

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        return Start(n_states=1, n_indicators=1, next_event=1.0)

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        m.k += 1
        k = int(m.k)
        new = [x.A, 10.0][: self.n_states[k]]
        due = t + 1.0 if k < 3 else None
        return EventAction(x=new, n_states=self.n_states[k], n_indicators=self.n_indicators[k], next_event=due)


def there(t: float, *, before: bool) -> int:
    """Which mode counts at a time; 0 to 3."""
    return max(0, min(3, math.ceil(t) - 1 if before else math.floor(t)))


@pytest.fixture(scope="module")
def vary() -> tg.Result:
    return tg.simulate(Vary(), (0.0, 4.0), rtol=1e-9)


@pytest.mark.slow
def test_rows_have_what_is_there_and_nothing_else(vary: tg.Result) -> None:
    first_of_two = np.append(np.diff(vary.t) == 0.0, False)
    for row, (t, is_before) in enumerate(zip(vary.t.tolist(), first_of_two.tolist(), strict=True)):
        k = there(t, before=is_before)
        expected = math.exp(-t), 10.0 * math.exp(-(t - (1 if k == 1 else 3))) if Vary.n_states[k] == 2 else math.nan
        assert (vary["A"].values[row], vary["B"].values[row]) == pytest.approx(expected, rel=1e-7, nan_ok=True)
        z = vary["Z"].values[row]
        n = Vary.n_indicators[k]
        assert np.isnan(z).tolist() == [n < 1, n < 2], t
        if n:
            assert z[0] == pytest.approx(1.0 + math.exp(-t), rel=1e-7)


@pytest.mark.slow
def test_events_final_values_and_dense_output_have_it_too(vary: tg.Result, tmp_path: Path) -> None:
    assert [math.isnan(event.before["B"]) for event in vary.events] == [True, False, True]
    assert [math.isnan(event.after["B"]) for event in vary.events] == [False, True, False]
    assert vary.final["B"] == pytest.approx(10.0 / math.e, rel=1e-7)
    dense = vary.at([0.5, 1.5, 2.5, 3.5], "B").values
    assert dense == pytest.approx([math.nan, 10.0 * math.exp(-0.5), math.nan, 10.0 * math.exp(-0.5)], rel=1e-7, nan_ok=True)
    assert vary.at([1.0, 2.0, 3.0], "B", side="left").values == pytest.approx([math.nan, 10.0 / math.e, math.nan], rel=1e-7, nan_ok=True)
    loaded = tg.Result.load(vary.to_netcdf(tmp_path / "vary.nc"))
    assert np.array_equal(loaded["B"].values, vary["B"].values, equal_nan=True)
    assert loaded.at([0.5, 1.5], "B").values == pytest.approx([math.nan, 10.0 * math.exp(-0.5)], rel=1e-7, nan_ok=True)
    drawn = vary.plot("A", "B").axes
    assert any(np.isnan(line.get_ydata()).any() for axes in drawn for line in axes.get_lines())


@pytest.mark.slow
def test_a_simulation_has_no_value_for_what_is_not_there() -> None:
    simulation = tg.Simulation(Vary())
    simulation.advance(0.5)
    assert (simulation["A"], simulation["B"]) == pytest.approx((math.exp(-0.5), math.nan), rel=1e-5, nan_ok=True)
    simulation.advance(1.5)
    assert simulation["B"] == pytest.approx(10.0 * math.exp(-0.5), rel=1e-5)


class Implicit(tg.DSblock):
    """``xd + a x = 0`` with an algebraic Q = 2 P; with one state, then two, then three."""

    def define(self, declare: Any) -> None:
        declare.form("dae")
        for name, start in (("P", 1.0), ("R", 3.0), ("Q", 2.0)):
            declare.state(name, start=start)

    def residual(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        decays = [xdot[k] + (k + 1) * x[k] for k in range(min(len(x), 2))]
        return [*decays, x[2] - 2.0 * x[0]] if len(x) > 2 else decays

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        return Start(n_states=1, next_event=1.0)

    def event(self, happening: Any, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> EventAction:
        more = [x.P, 3.0] if len(x) == 1 else [x.P, x.R, 0.0]
        return EventAction(x=more, n_states=len(more), next_event=2.0)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["radau", "ida"])
def test_a_dae_varies_too(engine: str) -> None:
    result = tg.simulate(Implicit(), (0.0, 3.0), rtol=1e-9, method=engine, outputs=[0.5, 1.5, 2.5])
    e = math.exp
    assert result["P"].values == pytest.approx([e(-0.5), e(-1.5), e(-2.5)], rel=1e-6)
    assert result["R"].values == pytest.approx([math.nan, 3.0 * e(-1.0), 3.0 * e(-3.0)], rel=1e-6, nan_ok=True)
    assert result["Q"].values == pytest.approx([math.nan, math.nan, 2.0 * e(-2.5)], rel=1e-6, nan_ok=True)


class Changing(tg.DSblock):
    """Q is algebraic until t = 1, and has a derivative of its own from then on."""

    def define(self, declare: Any) -> None:
        declare.form("dae")
        for name, start in (("P", 1.0), ("Q", 2.0)):
            declare.state(name, start=start)
        declare.discrete("is_late")

    def residual(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        return [xdot[0] + x[0], xdot[1] + 3.0 * x[1] if m.is_late else x[1] - 2.0 * x[0]]

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        m.is_late = 0.0
        return Start(next_event=1.0)

    def event(self, happening: Any, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> EventAction:
        m.is_late = 1.0
        return EventAction(x=[x.P, x.Q])


def test_an_algebraic_x_that_gets_a_derivative_at_an_event_is_told() -> None:
    with pytest.raises(tg.TidegateError, match=r"at t = 1 derivatives enter the residuals .* in another way .* Q algebraic"):
        tg.simulate(Changing(), (0.0, 3.0), traced=False)


class Random(tg.DSblock):
    """Straight lines whose number changes at drawn times, none of them included."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.n = int(random.integers(1, 5))
        self.times = np.cumsum(random.uniform(0.05, 1.0, 6))
        self.n_states = random.integers(0, self.n + 1, 7)
        self.x = random.normal(size=(7, self.n))
        self.rates = random.normal(size=(7, self.n))

    def define(self, declare: Any) -> None:
        for k in range(self.n):
            declare.state(f"X{k}", start=self.x[0, k])
        declare.discrete("k")
        declare.output("total")

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        assert len(x)
        return self.rates[int(m.k), : len(x)]

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> float:
        return sum(x)

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        return Start(n_states=int(self.n_states[0]), next_event=self.times[0])

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        m.k += 1
        k, n = int(m.k), int(self.n_states[int(m.k)])
        return EventAction(x=self.x[k, :n], n_states=n, next_event=self.times[k] if k < 6 else None)

    def truth(self, t: float) -> np.ndarray:
        k = int(np.searchsorted(self.times, t, side="right"))
        values = self.x[k] + self.rates[k] * (t - (self.times[k - 1] if k else 0.0))
        return np.where(np.arange(self.n) < self.n_states[k], values, np.nan)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_a_random_structure_is_recorded_as_lines_say(seed: int) -> None:
    block = Random(seed)
    end = float(block.times[-1]) + 0.5
    asked = np.random.default_rng(seed).uniform(0.0, end, 40)
    asked.sort()
    result = tg.simulate(block, (0.0, end), rtol=1e-8, outputs=asked, method=("radau", "ida", "adams")[seed % 3])
    truth = np.array([block.truth(t) for t in asked])
    for k in range(block.n):
        assert result[f"X{k}"].values == pytest.approx(truth[:, k], abs=1e-6, nan_ok=True)
        assert result.at(asked, f"X{k}").values == pytest.approx(truth[:, k], abs=1e-6, nan_ok=True)
    assert result["total"].values == pytest.approx(np.nansum(truth, axis=1), abs=1e-6)


class Rests(tg.DSblock):
    """Falls onto zero and a little across, where it stays; ``number`` indicators look at that."""

    number = 2

    def define(self, declare: Any) -> None:
        declare.state("x", start=0.7)
        for k in range(self.number):
            declare.indicator(f"z{k}")

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Any:
        m.falls = 1.0

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return -0.9 * m.falls

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return [(k + 1.1) * x.x for k in range(self.number)]

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        m.falls = 0.0
        return EventAction(action="restart", x={"x": -3e-17})


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2, 6])
def test_where_several_indicators_rest_within_rounding_of_zero_the_run_says_so(number: int) -> None:
    block = Rests()
    block.number = number
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tg.simulate(block, (0.0, 1.0), traced=False)
    told = [str(each.message) for each in caught if each.category is tg.DSblockWarning]
    assert len(told) == (number > 1)
    if told:
        assert "of DSblock Rests rest within rounding of zero, and not at it: z0" in told[0]
        assert ("and 2 more" in told[0]) == (number == 6)


class Leaves(Rests):
    """Rests only from 7/9 to 19/20."""

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Any:
        m.falls = 1.0
        return Start(next_event=0.95)

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        m.falls = -1.0 if happening.time else 0.0
        return EventAction(action="restart", x={"x": 0.1 if happening.time else -3e-17})


@pytest.mark.slow
@pytest.mark.parametrize("is_traced", [True, False])
def test_a_rest_that_ends_before_the_run_does_is_told_once_with_its_times(is_traced: bool) -> None:
    with pytest.warns(tg.DSblockWarning) as told:
        tg.simulate(Leaves(), (0.0, 1.0), traced=None if is_traced else False)
    assert len(told) == 1
    assert str(told[0].message).startswith(
        "from t = 0.777777778 to 0.95 indicators of DSblock Leaves rest within rounding of zero, and not at it: z0, z1;"
    )


class Stateless(tg.DSblock):
    """No state at all: time runs from event to event, some of them where an indicator of time crosses zero."""

    def define(self, declare: Any) -> None:
        declare.indicator("late")
        declare.discrete("n")
        declare.real("fails", 0.0)

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return t - 0.37

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Any:
        return Start(next_event=0.25)

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        if p.fails and happening.state:
            raise ValueError("no such thing")
        m.n += 1 if happening.time else 10
        return EventAction(action="continue", next_event=t + 0.25 if happening.time else None)


@pytest.mark.parametrize("is_traced", [True, False])
def test_without_states_time_runs_from_event_to_event(is_traced: bool) -> None:
    result = tg.simulate(Stateless(), (0.0, 0.9), traced=None if is_traced else False)
    assert [event.time for event in result.events] == pytest.approx([0.25, 0.37, 0.5, 0.75])
    assert result.final["n"] == 13
    with pytest.raises(tg.CallbackError, match=r"Stateless raised ValueError: no such thing at t = 0.37") as ended:
        tg.simulate(Stateless(), (0.0, 0.9), parameters={"fails": 1.0}, traced=None if is_traced else False)
    assert ended.value.result is not None
