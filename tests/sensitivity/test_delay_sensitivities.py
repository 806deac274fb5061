"""Derivatives by parameters through delays: closed forms of the method of steps, and differences of whole runs in plain Python."""

from __future__ import annotations

import copy
from collections.abc import Callable
from math import factorial, floor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tidegate as tg
from delayed_truth import solve, solve_varying

__all__: list[str] = []

FloatArray = NDArray[np.float64]


def at_the_times(result: tg.Result, name: str, parameter: str, times: FloatArray) -> FloatArray:
    """Derivatives in the rows at these times, which were asked for."""
    found = result.sensitivity(name, parameter)
    rows = [int(np.argmin(np.abs(found["time"].values - t))) for t in times]
    return np.asarray(found.values)[rows]


class Decay:
    """x' = -k x(t - tau), x = x0 before: x = x0 sum of (-k)^j (t - (j-1) tau)^j / j! over the intervals that have begun, and its derivatives."""

    model = tg.ode(lambda t, y, p: [-p["k"] * tg.delay(y["x"], p["tau"])], y0=lambda p: {"x": p["x0"]}, p={"k": 1.1, "tau": 0.8, "x0": 1.3})

    @staticmethod
    def terms(t: float) -> list[tuple[int, float]]:
        return [(j, t - (j - 1) * 0.8) for j in range(1, floor(t / 0.8) + 2)]

    @classmethod
    def by(cls, parameter: str, t: float) -> float:
        if parameter == "x0":
            return 1.0 + sum((-1.1) ** j * s**j / factorial(j) for j, s in cls.terms(t))
        if parameter == "k":
            return 1.3 * sum(-j * (-1.1) ** (j - 1) * s**j / factorial(j) for j, s in cls.terms(t))
        return 1.3 * sum((-1.1) ** j * -(j - 1) * s ** (j - 1) / factorial(j - 1) for j, s in cls.terms(t))


@pytest.mark.parametrize("rtol", [1e-5, 1e-9])
def test_factor_delay_and_history_have_their_derivatives(rtol: float) -> None:
    times = np.array([0.3, 0.79, 0.9, 1.7, 2.5, 3.3, 3.9])
    result = tg.simulate(Decay.model, (0, 4), rtol=rtol, sensitivities="all", outputs=times)
    for parameter in ("k", "tau", "x0"):
        assert at_the_times(result, "x", parameter, times) == pytest.approx([Decay.by(parameter, t) for t in times], abs=20 * rtol)


def test_a_run_in_pieces_and_its_copy_go_on_with_the_derivatives() -> None:
    run = tg.Simulation(Decay.model, rtol=1e-9, sensitivities="all")
    run.advance(1.37)
    other = copy.deepcopy(run)
    run.advance(2.2)
    for one in (run, other):
        one.advance(3.7)
        for parameter in ("k", "tau", "x0"):
            assert one.result.sensitivity("x", parameter)[-1].item() == pytest.approx(Decay.by(parameter, 3.7), abs=1e-8)


class Relay(tg.Component):
    """Up with slope k until it is seen, tau later, that x has passed s; down with slope one."""

    x = tg.State(0.0)
    tau = tg.Parameter(0.3)
    s = tg.Parameter(0.5)
    k = tg.Parameter(2.0)
    seen = tg.Output(lambda self: 3.0 * tg.delay(self.x, self.tau))

    def equations(self) -> Any:
        yield tg.der(self.x) == (self.k if tg.delay(self.x, self.tau) < self.s else -1.0)


@pytest.mark.slow
def test_a_condition_on_the_past_moves_with_the_delay() -> None:
    times = np.array([0.2, 0.4, 0.7, 1.0])
    result = tg.simulate(Relay(), (0, 1.05), rtol=1e-9, sensitivities="all", outputs=times)
    # seen at s/k + tau; then x = k (s/k + tau) - (t - s/k - tau)
    assert result.events.times == pytest.approx([0.25 + 0.3])
    for parameter, slope in (("tau", 3.0), ("s", 1.0 + 0.5), ("k", 0.3 - 0.5 / 4)):
        before = {"k": times}.get(parameter, 0.0 * times)
        assert at_the_times(result, "x", parameter, times) == pytest.approx(np.where(times < 0.55, before, slope), abs=1e-8)
    # the output at t is three times x at t - tau
    assert at_the_times(result, "seen", "tau", times)[1:3] == pytest.approx([-6.0, -6.0], abs=1e-8)


class Switched(tg.Component):
    """What is discrete jumps, and tau later the jump is seen by an equation and by a condition."""

    x = tg.State(0.0)
    n = tg.State(0.0)
    clock = tg.State(0.0)
    u = tg.Discrete(0.0)
    te = tg.Parameter(0.5)
    tau = tg.Parameter(0.25)
    k = tg.Parameter(2.0)

    def equations(self) -> Any:
        z = tg.delay(self.u, self.tau, history=0.0)
        yield tg.der(self.clock) == 1.0
        yield tg.der(self.x) == self.k * z
        yield tg.der(self.n) == (self.k if z > 0.5 else 0.0)

    @tg.when(lambda self: self.clock >= self.te)
    def on(self) -> Any:
        return {self.u: 1.0}


@pytest.mark.slow
def test_a_condition_that_a_jump_of_the_past_changes_moves_with_the_jump() -> None:
    result = tg.simulate(Switched(), (0, 2), rtol=1e-9, sensitivities="all")
    for name in ("x", "n"):
        assert result.final[name] == pytest.approx(2.0 * 1.25)
        slopes = [result.sensitivity(name, p)[-1].item() for p in ("te", "tau", "k")]
        assert slopes == pytest.approx([-2.0, -2.0, 1.25], abs=1e-8)


def test_delays_that_are_equal_by_chance_have_each_its_own_derivative() -> None:
    model = tg.ode(
        lambda t, y, p: [-tg.delay(y["x"], p["a"], history=0.3) - 0.5 * tg.delay(y["x"], p["b"], history=0.3)], y0={"x": 1.0}, p={"a": 1.0, "b": 1.0}
    )
    result = tg.simulate(model, (0, 1.9), rtol=1e-10, sensitivities="all")
    # x = 1 - 0.45 t until the first of a, b; then x(t - a) instead of 0.3 from a on, and x(t - b) / 2 from b on
    by_a = 1.0 - 0.3 - 0.45 * 0.9
    by_b = 0.5 * by_a
    assert result.sensitivity("x", "a")[-1].item() == pytest.approx(by_a, abs=1e-8)
    assert result.sensitivity("x", "b")[-1].item() == pytest.approx(by_b, abs=1e-8)


def difference(truth: Callable[[dict[str, float]], Any], p: dict[str, float], name: str, h: float, times: FloatArray) -> FloatArray:
    """Central difference of whole runs."""
    up, down = truth({**p, name: p[name] + h}), truth({**p, name: p[name] - h})
    return np.array([(up(t) - down(t)) / (2.0 * h) for t in times])


def random_linear_system(seed: int) -> tuple[Any, Callable[[dict[str, float]], Any], dict[str, float]]:
    """Linear, one to three unknowns, one or two delays that may be equal or one twice the other, a history that does not fit, and a jump."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    p = {f"tau{i}": float(np.round(rng.uniform(0.3, 1.0), 2)) for i in range(k)}
    if k == 2 and seed % 5 in (0, 1):
        p["tau1"] = (1 + seed % 5) * p["tau0"]
    own, back, size = rng.normal(size=(n, n)) * 0.5 - 0.8 * np.eye(n), rng.normal(size=(k, n, n)) * 0.6, rng.normal(size=n)
    p |= {"b": 1.0, "w": float(rng.uniform(0.5, 3)), "gap": 0.4 * (seed % 2), "x0": float(rng.normal())}
    jumps = seed % 3
    p |= {"te": float(rng.uniform(0.2, 1.2)), "d": 0.5} if jumps else {}

    def history(t: Any, p: Any) -> list[Any]:
        return [p["x0"] * (j + 1) + size[j] * np.sin(p["w"] * t) + p["gap"] for j in range(n)]

    def f(t: Any, y: Any, p: Any) -> Any:
        old = [[tg.delay(y[j], p[f"tau{i}"], history=history(t, p)[j]) for j in range(n)] for i in range(k)]
        pairs = [(i, j) for i in range(k) for j in range(n)]
        return [sum(own[r, j] * y[j] for j in range(n)) + p["b"] * sum(back[i, r, j] * old[i][j] for i, j in pairs) for r in range(n)]

    def kick(t: Any, y: Any, p: Any) -> Any:
        return [y[0] + p["d"], *[y[j] for j in range(1, n)]]

    events = [None, tg.event(at=lambda p: p["te"], reset=kick), tg.event(lambda t, y, p: t >= p["te"], reset=kick)][jumps]

    def starts(p: Any) -> list[Any]:
        return [p["x0"] * (j + 1) for j in range(n)]

    def truth(p: dict[str, float]) -> Any:
        return solve(
            lambda t, x, past: own @ x + p["b"] * sum(back[i] @ past(p[f"tau{i}"]) for i in range(k)),
            starts(p),
            lambda t: np.array(history(t, p)),
            [p[f"tau{i}"] for i in range(k)],
            1.7,
            longest=0.3,
            jumps=[(p["te"], lambda x: x + p["d"] * np.eye(n)[0])] if jumps else (),
        )

    return tg.ode(f, y0=starts, p=p, events=[] if events is None else [events]), truth, p


def random_varying_system(seed: int) -> tuple[Any, Callable[[dict[str, float]], Any], dict[str, float]]:
    """As above, with a delay that depends on the unknowns, or on time so fast that it goes back across the breaks."""
    rng = np.random.default_rng(seed)
    n, kind = int(rng.integers(1, 3)), seed % 3
    p = {"b": 1.0, "x0": float(rng.normal()), "gap": 0.4 * (seed % 2), "c": float(rng.uniform(0.25, 0.6)), "e": float(rng.uniform(0.1, 0.6))}
    own, back, size = rng.normal(size=(n, n)) * 0.5 - 0.8 * np.eye(n), rng.normal(size=(n, n)) * 0.6, rng.normal(size=n)
    fast = float(rng.uniform(3, 5))

    def ago(t: Any, y: Any, p: Any) -> Any:
        return p["c"] + p["e"] * [y[0] ** 2, 1.0 + np.sin(fast * t), 1.0 + np.tanh(y[n - 1])][kind]

    def history(t: Any, p: Any) -> list[Any]:
        return [p["x0"] * (j + 1) + size[j] * np.sin(2.0 * t) + p["gap"] for j in range(n)]

    def starts(p: Any) -> list[Any]:
        return [p["x0"] * (j + 1) for j in range(n)]

    def f(t: Any, y: Any, p: Any) -> Any:
        old = [tg.delay(y[j], ago(t, y, p), history=history(t, p)[j]) for j in range(n)]
        return [sum(own[r, j] * y[j] + p["b"] * back[r, j] * old[j] for j in range(n)) for r in range(n)]

    def truth(p: dict[str, float]) -> Any:
        return solve_varying(
            lambda t, x, pasts: own @ x + p["b"] * (back @ pasts[0]),
            starts(p),
            lambda t: np.array(history(t, p)),
            [lambda t, x: t - ago(t, x, p)],
            1.7,
        )

    return tg.ode(f, y0=starts, p=p), truth, p


@pytest.mark.slow
@pytest.mark.parametrize(("make", "seed"), [(random_linear_system, 5), (random_varying_system, 6), (random_varying_system, 7)])
def test_random_systems_agree_with_differences_of_whole_runs(make: Any, seed: int) -> None:
    model, truth, p = make(seed)
    times = np.sort(np.random.default_rng(seed + 999).uniform(0.05, 1.7, 6))
    result = tg.simulate(model, (0, 1.7), rtol=1e-8, sensitivities="all", outputs=times)
    whole = truth(p)
    assert result.at(times, "y").values == pytest.approx(np.array([whole(t) for t in times]), abs=1e-7)
    for name in p:
        found = at_the_times(result, "y", name, times)
        off = np.inf
        for h in (3e-5, 3e-6, 3e-4):
            # a time within the difference from a break that moves has a wrong difference, and not with all
            slopes = difference(truth, p, name, h, times)
            off = min(off, float(np.max(np.abs(found - slopes) / (1.0 + np.abs(slopes)))))
            if off < 1e-6:
                break
        assert off < 1e-6, name
