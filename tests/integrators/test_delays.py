"""Delays against the method of steps: polynomials piece by piece, and Picard iteration in plain NumPy; what is delayed may jump and switch."""

from __future__ import annotations

import copy
from math import factorial, floor
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from delayed_truth import solve

__all__: list[str] = []


def decay(t: float) -> float:
    """x' = -x(t - 1), x = 1 before: a polynomial of one degree more in every unit of time (Driver 1977)."""
    return sum((-1) ** k * (t - (k - 1)) ** k / factorial(k) for k in range(floor(t) + 2))


@pytest.mark.parametrize("rtol", [1e-4, 1e-8])
def test_the_simplest_delay_is_a_polynomial_in_each_interval(rtol: float) -> None:
    model = tg.ode(lambda t, y: [-tg.delay(y["x"], 1.0)], y0={"x": 1.0})
    result = tg.simulate(model, (0, 5), rtol=rtol)
    times = np.linspace(0.0, 5.0, 101)
    assert result.at(times, "x").values == pytest.approx([decay(t) for t in times], abs=rtol)
    assert len(result.events) == 0
    assert result.names == ["x"]


@pytest.mark.parametrize("how", ["function", "method", "expression"])
def test_what_was_before_may_be_a_function_of_time(how: str) -> None:
    def follow(t: Any, y: Any) -> Any:
        before = {"function": lambda s: 2.0 * np.sin(s) / 2.0, "method": np.sin, "expression": np.sin(t)}[how]
        return [tg.delay(y["x"], np.pi / 2, history=before)]

    result = tg.simulate(tg.ode(follow, y0={"x": 0.0}), (0, 1), rtol=1e-8)
    assert result.final["x"] == pytest.approx(-np.sin(1.0), abs=1e-8)


def test_what_was_before_is_no_text() -> None:
    with pytest.raises(tg.UsageError, match="the history of a delay is a number, an expression, or a function of time, not 'one'"):
        tg.simulate(tg.ode(lambda t, y: [-tg.delay(y["x"], 1.0, history="one")], y0={"x": 1.0}), (0, 1))


def random_system(seed: int) -> tuple[Any, Any, float]:
    """A model with its truth: linear and a little nonlinear, with several delays, a history that may not fit, and a size."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    ago = np.round(rng.uniform(0.3, 1.0, k), 3).tolist()
    own, back = rng.normal(size=(n, n)) * 0.5 - 0.8 * np.eye(n), rng.normal(size=(k, n, n)) * 0.6
    w, x0, gap = rng.uniform(0.5, 3, n), rng.normal(size=n), 0.4 * float(seed % 2)

    def f(t: Any, y: Any) -> Any:
        old = [[tg.delay(y[j], ago[i], history=x0[j] + 0.3 * np.sin(w[j] * t) + gap) for j in range(n)] for i in range(k)]
        return [
            sum(own[r, j] * y[j] for j in range(n)) + sum(back[i, r, j] * old[i][j] for i in range(k) for j in range(n)) + 0.1 * np.tanh(y[r])
            for r in range(n)
        ]

    def plain(t: float, x: Any, past: Any) -> Any:
        return own @ x + sum(back[i] @ past(ago[i]) for i in range(k)) + 0.1 * np.tanh(x)

    truth = solve(plain, x0, lambda t: x0 + 0.3 * np.sin(w * t) + gap, ago, 1.6, longest=0.15)
    return tg.ode(f, y0=x0.tolist()), truth, float(np.max(np.abs(x0)))


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(2))
def test_random_systems_with_several_delays_agree_with_the_method_of_steps(seed: int) -> None:
    model, truth, _ = random_system(seed)
    result = tg.simulate(model, (0, 1.6), rtol=1e-8)
    times = np.linspace(0.02, 1.6, 60)
    assert result.at(times, "y").values == pytest.approx(np.array([truth(t) for t in times]), abs=3e-8)  # a few steps' errors add up


@pytest.mark.slow
def test_a_jump_of_the_past_comes_again_a_delay_later_and_is_no_event() -> None:
    model = tg.ode(
        lambda t, y: [-tg.delay(y["x"], 0.5)],
        y0={"x": 1.0},
        events=[tg.event(lambda t, y: t >= 1.3, reset=lambda t, y: {"x": y["x"] + 1.0}, name="kick")],
    )
    truth = solve(lambda t, x, past: past(0.5) * -1.0, [1.0], lambda t: 1.0, [0.5], 3.0, longest=0.5, jumps=[(1.3, lambda x: x + 1.0)])
    result = tg.simulate(model, (0, 3), rtol=1e-8)
    times = np.linspace(0.01, 3.0, 60)
    assert result.at(times, "x").values == pytest.approx([truth(t)[0] for t in times], abs=2e-8)
    assert result.events.times == pytest.approx([1.3])
    # in pieces, copied and taken up again, the past comes along
    run = tg.Simulation(model, rtol=1e-8)
    run.advance(0.9)
    run.advance(1.7)
    other = copy.deepcopy(run)
    for one in (run, other):
        one.advance(3.0)
        assert one["x"] == pytest.approx(truth(3.0)[0], abs=2e-8)


@pytest.mark.slow
def test_what_the_user_sets_is_a_jump_of_the_past_too() -> None:
    run = tg.Simulation(tg.ode(lambda t, y: [-tg.delay(y["x"], 0.5)], y0={"x": 1.0}), rtol=1e-8)
    run.advance(1.3)
    run["x"] = run["x"] + 1.0
    run.advance(2.1)
    run.advance(3.0)
    truth = solve(lambda t, x, past: -past(0.5), [1.0], lambda t: 1.0, [0.5], 3.0, longest=0.5, jumps=[(1.3, lambda x: x + 1.0)])
    assert run["x"] == pytest.approx(truth(3.0)[0], abs=2e-8)
    times = np.linspace(0.02, 3.0, 40)
    assert run.result.at(times, "x").values == pytest.approx([truth(t)[0] for t in times], abs=2e-8)


def test_a_delay_that_the_user_sets_holds_from_there_on() -> None:
    model = tg.ode(lambda t, y, p: [-1.1 * tg.delay(y["x"], p["tau"])], y0={"x": 1.0}, p={"tau": 1.0})
    run = tg.Simulation(model, rtol=1e-9)
    for until, tau in ((1.5, 0.6), (1.8, 0.9)):
        run.advance(until)
        run["tau"] = tau
    run.advance(3.0)
    # by the midpoint rule on a grid that has every break
    n = 2000
    x = np.ones(3 * n + 1)
    for k in range(3 * n):
        ago = n if k < 1.5 * n else 0.6 * n if k < 1.8 * n else 0.9 * n
        old, older = (x[max(k + j - round(ago), 0)] for j in (0, 1))
        x[k + 1] = x[k] - 1.1 * 0.5 * (old + older) / n
    assert run["x"] == pytest.approx(x[-1], abs=1e-6)


class Relay(tg.Component):
    x = tg.State(0.0)
    tau = tg.Parameter(0.3)
    seen = tg.Output(lambda self: 2.0 * tg.delay(self.x, self.tau))

    def equations(self) -> Any:
        yield tg.der(self.x) == (1.0 if tg.delay(self.x, self.tau) < 0.5 else -1.0)


@pytest.mark.parametrize("tau", [0.1, 0.3])
def test_a_condition_on_the_past_is_located_and_outputs_show_the_past(tau: float) -> None:
    result = tg.simulate(Relay(), (0, 2.5), rtol=1e-8, parameters={"tau": tau})
    # x passes 0.5 and the relay sees it tau later; up and down with slope one: every 2 tau
    first = 0.5 + tau
    times = np.arange(first, 2.5, 2.0 * tau)
    assert result.events.times == pytest.approx(times, abs=1e-7)
    assert result.at(first, "x").item() == pytest.approx(first, abs=1e-7)
    assert result.at(0.45, "seen").item() == pytest.approx(2.0 * (0.45 - tau), abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("rtol", [1e-8, 1e-10, 1e-12])
def test_random_relays_on_a_delayed_value_are_zigzags_at_every_tolerance(rtol: float) -> None:
    model = tg.ode(lambda t, y, p: [-p["a"] * tg.sign(tg.delay(y["x"], p["tau"]))], y0={"x": 1.0}, p={"tau": 0.3, "a": 1.0})
    random = np.random.default_rng(5)
    for a, tau in [
        (1.343398494170642, 0.674561364131813),
        (1.9612792898888831, 0.4632001746138849),
        *random.uniform((0.5, 0.05), (2.0, 1.0), (20, 2)),
    ]:
        result = tg.simulate(model, (0, 6), rtol=rtol, parameters={"a": a, "tau": tau}, max_steps=1000)
        # x falls through zero at 1/a, which is seen tau later; from there up and down, 2 a tau at a time
        turns = np.arange(1.0 / a + tau, 6.0, 2.0 * tau)
        knots = np.concatenate([[0.0], turns, [turns[-1] + 2.0 * tau]])
        heights = np.concatenate([[1.0], -a * tau * (-1.0) ** np.arange(len(turns) + 1)])
        assert result.events.times == pytest.approx(turns, abs=4.0 * rtol)
        assert result["x"].values == pytest.approx(np.interp(result.t, knots, heights), abs=4.0 * rtol)


class Pulses(tg.Component):
    x = tg.State(0.0)
    u = tg.Discrete(0.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == tg.delay(self.u, 0.25, history=0.0)

    @tg.every(1.0)
    def flip(self) -> Any:
        return {self.u: 1.0 - self.u}


def test_what_is_discrete_is_delayed_with_its_jumps() -> None:
    result = tg.simulate(Pulses(), (0, 4), rtol=1e-8)
    # one on [0, 1) and [2, 3), seen on [0.25, 1.25) and [2.25, 3.25)
    for t, x in ((0.2, 0.0), (0.75, 0.5), (1.25, 1.0), (2.2, 1.0), (2.5, 1.25), (4.0, 2.0)):
        assert result.at(t, "x").item() == pytest.approx(x, abs=1e-8)


class Twice(tg.Component):
    x = tg.State(1.0)
    z = tg.Algebraic()

    def equations(self) -> Any:
        yield self.z == tg.delay(self.x, 0.4)
        yield tg.der(self.x) == -tg.delay(self.z, 0.6, history=1.0)


def test_a_delay_of_a_delay_is_their_sum() -> None:
    result = tg.simulate(Twice(), (0, 3), rtol=1e-8)
    times = np.linspace(0.0, 3.0, 61)
    assert result.at(times, "x").values == pytest.approx([decay(t) for t in times], abs=1e-8)
    assert result.at(times[10:], "z").values == pytest.approx([decay(max(t - 0.4, 0.0)) for t in times[10:]], abs=1e-8)


def test_blood_cells_of_mackey_and_glass_until_a_hundred() -> None:
    def cells(t: Any, y: Any) -> Any:
        old = tg.delay(y["x"], 17.0)
        return [0.2 * old / (1.0 + old**10) - 0.1 * y["x"]]

    result = tg.simulate(tg.ode(cells, y0={"x": 1.2}), (0, 100), rtol=1e-9)
    # by ``delayed_truth.solve`` with pieces of 1: it takes a second, and its number is kept here
    assert result.final["x"] == pytest.approx(1.01372402, abs=1e-7)


def test_long_pasts_and_short_delays_find_room() -> None:
    model = tg.ode(lambda t, y: [-tg.delay(y["x"], 0.01) + 0.0 * tg.delay(y["x"], 3.0)], y0={"x": 1.0})
    result = tg.simulate(model, (0, 6), rtol=1e-8)
    # exp(s t) with s = -exp(-0.01 s) behind the start
    s = -1.0
    for _ in range(50):
        s = -np.exp(-0.01 * s)
    assert result.at(4.0, "x").item() / result.at(3.0, "x").item() == pytest.approx(np.exp(s), rel=1e-6)


@pytest.mark.slow
def test_what_is_not_computed_is_refused_by_name() -> None:
    plain = tg.ode(lambda t, y: [-tg.delay(y["x"], 1.0)], y0={"x": 1.0})
    for act, sentence in (
        (lambda: tg.simulate(plain, (0, 1), method="bdf"), "method 'bdf' solves no equations with delays"),
        (lambda: tg.simulate(Relay(), (0, 1), parameters={"tau": 0.0}), "the delay tau is 0"),
        (lambda: tg.ode(lambda t, y: [-tg.delay(y["x"], -1.0)], y0={"x": 1.0}).lower(), "a delay takes a positive time, not -1"),
        (lambda: tg.verify(tg.simulate(plain, (0, 1))), "delays"),
        (lambda: tg.steady_state(plain), "has delays"),
        (lambda: tg.cross_check(plain, (0, 1)), "delays"),
        (lambda: tg.dsblock.export(plain, "block"), "past"),
    ):
        with pytest.raises(tg.TidegateError, match=sentence):
            act()


def test_a_history_that_is_not_known_is_asked_for() -> None:
    class Late(tg.Component):
        x = tg.State(1.0)
        z = tg.Algebraic()

        def equations(self) -> Any:
            yield self.z == 2.0 * self.x
            yield tg.der(self.x) == -tg.delay(self.z, 0.5)

    with pytest.raises(tg.ModelError, match="before the start is not known: z is no state"):
        tg.simulate(Late(), (0, 1))
