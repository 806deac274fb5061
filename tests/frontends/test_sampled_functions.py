"""Functions with memory: random sampled controllers are what plain Python makes of them, with exponentials of matrices from tick to tick."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import tidegate as tg

__all__: list[str] = []

STEP = 1e-30  # of the complex step: derivatives to rounding
# times the run's tolerance: what errors of steps add up to over some dozens of restarts, hundreds of random runs with each method
ALLOWED = 300.0


class Loop:
    """A linear plant x' = A x + B u + c with a controller of one, two or three clocks, each with memory of its own; drawn at random.

    At its ticks a clock sets its part of u, and its memory w, from x, its memory and what the others hold, all as they were before the instant.
    """

    def __init__(self, seed: int) -> None:
        r = np.random.default_rng(seed)
        self.n, self.clocks = int(r.integers(1, 4)), int(r.integers(1, 4))
        n, clocks = self.n, self.clocks
        self.a = r.normal(size=(n, n)) * 0.7 - 0.6 * np.eye(n)
        self.b, self.c = r.normal(size=(n, clocks)), r.normal(size=n)
        self.feedback, self.cross = r.normal(size=(clocks, n)) * 0.5, r.normal(size=(clocks, clocks)) * 0.3
        self.memory = r.normal(size=(clocks, 2, 2)) * 0.4
        self.kick = r.normal(size=(clocks, n)) * 0.2 * (r.random(clocks) < 0.3)[:, None]
        if clocks > 1:
            self.kick[1:] = 0.0  # two clocks that set one variable at one instant contradict each other
        # multiples of one number, so that ticks coincide; 0.01 and 0.1 are no binary fractions
        self.periods = r.choice([0.01, 0.1, 0.037]) * r.integers(1, 6, size=clocks)
        self.first = np.where(r.random(clocks) < 0.5, 0.0, r.integers(1, 3) * self.periods)
        self.x0, self.u0 = r.normal(size=n), r.normal(size=clocks)
        self.gain, self.stretch = float(r.uniform(0.5, 1.5)), 1.0
        self.end = float(self.periods.max() * r.uniform(3.2, 7.8))

    def model(self) -> Any:
        def plant(t: Any, y: Any, p: Any, d: Any) -> Any:
            return {"x": self.a @ y["x"] + self.b @ d["u"] + self.c}

        def controller(k: int) -> Any:
            def tick(t: Any, y: Any, p: Any, d: Any) -> Any:
                u = p["gain"] * (self.feedback[k] @ y["x"]) + self.cross[k] @ d["u"] + d[f"w{k}"][0]
                new = {f"w{k}": self.memory[k] @ d[f"w{k}"] + y["x"][0], f"u[{k}]": u, f"n{k}": d[f"n{k}"] + 1}
                return new | ({"x": y["x"] + self.kick[k]} if self.kick[k].any() else {})

            period, first = float(self.periods[k]), float(self.first[k])
            return tg.event(every=lambda p: p["stretch"] * period, start=lambda p: p["stretch"] * first, reset=tick, name=f"clock {k}")

        held = {"u": self.u0} | {f"w{k}": [0.0, 0.5] for k in range(self.clocks)} | {f"n{k}": 0 for k in range(self.clocks)}
        events = [controller(k) for k in range(self.clocks)]
        return tg.ode(plant, y0={"x": self.x0}, p={"gain": self.gain, "stretch": self.stretch}, discrete=held, events=events)

    def truth(self, gain: complex, stretch: complex) -> tuple[Any, Any, list[int]]:
        """States and held values at the end, and how often each clock ticked: no model, no integrator."""
        n = self.n
        x, u, w = self.x0.astype(complex), self.u0.astype(complex), np.tile([0.0 + 0j, 0.5], (self.clocks, 1))
        numbers = [np.arange(int((self.end - self.first[k]) / self.periods[k] + 1e-9) + 1) for k in range(self.clocks)]
        ticks = [(float(self.first[k] + j * self.periods[k]), k) for k in range(self.clocks) for j in numbers[k]]
        now: complex = 0.0
        for group in grouped(sorted(ticks)):
            x, now = self.moved(x, u, stretch * group[0][0] - now), stretch * group[0][0]
            old_x, old_u, old_w = x.copy(), u.copy(), w.copy()
            for _, k in group:
                u[k] = gain * (self.feedback[k] @ old_x) + self.cross[k] @ old_u + old_w[k][0]
                w[k] = self.memory[k] @ old_w[k] + old_x[0]
                x = x + self.kick[k]
        return self.moved(x, u, self.end - now)[:n], u, [len(one) for one in numbers]

    def moved(self, x: Any, u: Any, by: complex) -> Any:
        n = self.n
        whole = np.zeros((n + 1, n + 1), dtype=complex)
        whole[:n, :n], whole[:n, n] = self.a, self.b @ u + self.c
        return (expm(whole * by) @ np.append(x, 1.0))[:n]


def grouped(ticks: list[tuple[float, int]]) -> list[list[tuple[float, int]]]:
    """Ticks of several clocks at one instant."""
    found: list[list[tuple[float, int]]] = []
    for tick in ticks:
        if found and tick[0] - found[-1][0][0] < 1e-9:
            found[-1].append(tick)
        else:
            found.append([tick])
    return found


def judge(seed: int, method: str, rtol: float = 1e-8) -> None:
    loop = Loop(seed)
    result = tg.simulate(loop.model(), (0, loop.end), rtol=rtol, atol=rtol, method=method, sensitivities=["gain", "stretch"])
    x, u, counts = loop.truth(loop.gain, loop.stretch)
    by_gain, by_stretch = loop.truth(loop.gain + STEP * 1j, 1.0)[0].imag / STEP, loop.truth(loop.gain, 1.0 + STEP * 1j)[0].imag / STEP
    assert [round(float(result[f"n{k}"][-1])) for k in range(loop.clocks)] == counts
    for found, true in ((result["x"].values[-1], x.real), (result["u"].values[-1], u.real)):
        np.testing.assert_allclose(found, true, rtol=ALLOWED * rtol, atol=ALLOWED * rtol)
    for name, true in (("gain", by_gain), ("stretch", by_stretch)):
        size = 1.0 + np.abs(true).max()
        np.testing.assert_allclose(result.sensitivity("x", name).values[-1] / size, true / size, rtol=0, atol=10 * ALLOWED * rtol)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_sampled_controllers_are_what_python_makes_of_them(seed: int) -> None:
    judge(seed, "auto")


def test_every_method_ticks_alike(method: str) -> None:
    judge(11, method)


def held_lag() -> Any:
    return tg.ode(
        lambda t, y, d: [d["u"] - y["x"]],
        y0={"x": 1.0},
        discrete={"u": 0.0, "count": 0, "on": True, "past": [0.0, 0.0]},
        events=tg.event(
            every=0.01,
            reset=lambda t, y, d: {"u": -2.0 * y["x"], "count": d["count"] + 1, "on": not d["on"], "past": [d["past"][1], y["x"]]},
            name="sample",
        ),
    )


def test_ticks_are_multiples_of_the_period_and_none_is_missed() -> None:
    result = tg.simulate(held_lag(), (0, 2))
    assert [event.time for event in result.events] == [0.01 * k for k in range(201)]
    assert result.final["count"] == 201
    assert not result.final["on"]


def test_a_reset_sees_what_was_before_the_instant() -> None:
    result = tg.simulate(held_lag(), (0, 0.5), rtol=1e-9)
    before = result.at(0.29, "x", side="left")
    assert result.final["past[0]"] == pytest.approx(float(result.at(0.49, "x")), rel=1e-7)
    assert float(result.at(0.295, "u")) == pytest.approx(-2.0 * float(before), rel=1e-7)


@pytest.mark.slow
def test_sampled_functions_are_judged_as_python_and_swept() -> None:
    assert tg.verify(tg.simulate(held_lag(), (0, 0.3))).truth == "the function, called as Python"
    loop = Loop(5)
    swept = tg.sweep(loop.model(), (0, loop.end), grid={"gain": [0.5, 1.0]}, rtol=1e-8)
    for gain in (0.5, 1.0):
        found = swept["x"].sel(gain=gain).values
        np.testing.assert_allclose(found, loop.truth(gain, 1.0)[0].real, rtol=1e-5, atol=1e-5)


def test_a_residual_and_single_times_have_memory_too() -> None:
    model = tg.dae(
        lambda t, y, ydot, p, d: [ydot["x"] + y["flow"], y["flow"] - p["k"] * (y["x"] - d["level"])],
        y0={"x": 1.0, "flow": 1.0},
        p={"k": 2.0, "when": 0.5},
        discrete=lambda p: {"level": 0.25 * p["k"]},
        events=[
            tg.event(at="when", reset=lambda t, y, p, d: {"level": d["level"] + 1.0}),
            tg.event(at=[0.75, lambda p: p["when"] + 0.5], terminal=True),
        ],
    )
    result = tg.simulate(model, (0, 3), rtol=1e-9)
    first = 0.5 + 0.5 * np.exp(-1.0)
    assert result.final["x"] == pytest.approx(1.5 + (first - 1.5) * np.exp(-0.5), rel=1e-7)
    assert [event.time for event in result.events] == [0.5, 0.75]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (tg.event, "nothing that says when"),
        (lambda: tg.event(lambda t, y: y[0] > 1, every=0.1), "both condition and every"),
        (lambda: tg.event(every=-0.1), "a period is positive"),
        (lambda: tg.event(every=True), "a time is expected"),
        (lambda: tg.event(at=1.0, start=0.5), "no every="),
        (lambda: tg.ode(lambda t, y: [0.0], y0=[1.0], p={"period": 1.0}, events=tg.event(every="perod")).lower(), "did you mean period"),
        (lambda: tg.ode(lambda t, y, d: [d["v"]], y0=[1.0], discrete={"u": 0.0}).lower(), "d has no entry 'v'"),
        (
            lambda: tg.ode(lambda t, y: [0.0], y0=[1.0], discrete={"u": 0.0}, events=tg.event(every=1.0, reset=lambda t, y: {"w": 1.0})).lower(),
            "not a variable of y or d",
        ),
        (lambda: tg.ode(lambda t, y: [0.0], y0={"x": 1.0}, discrete={"x": 0.0}).lower(), "'x' is given to 2 quantities"),
        (lambda: tg.ode(lambda t, y, p, d: [0.0], y0={"x": 1.0}, discrete={"u": 0.0}), "was given no p"),
    ],
)
def test_slips_are_told(make: Any, words: str) -> None:
    with pytest.raises(tg.TidegateError, match=words):
        make()
