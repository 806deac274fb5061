"""What somebody does on a first day who comes from SciPy, and what is said: names the thing, and what to write instead."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tidegate as tg

__all__: list[str] = []

TIMES = np.linspace(0.0, 1.0, 11)


def decay(t: Any, y: Any) -> Any:
    return [-y[0]]


def hit(t: Any, y: Any) -> Any:
    return y[0] - 0.5


hit.terminal, hit.direction = True, -1


class Motor(tg.Component):
    speed = tg.State(0.0)

    def equations(self) -> Any:
        yield tg.der(self.speed) == 1.0 - self.speed


class Misspelt(Motor):
    def equations(self) -> Any:
        yield tg.der(self.speed) == 1.0 - self.sped


def run() -> Any:
    return tg.simulate(tg.ode(lambda t, y: {"a": -y["a"]}, y0={"a": 1.0}), (0, 1))


class Returned(tg.Component):
    x = tg.State(1.0)

    def equations(self) -> Any:
        return tg.der(self.x) == -self.x


@pytest.mark.parametrize(
    ("slip", "words"),
    [
        (lambda: tg.ode(decay, y0=[1.0], events=hit), r"wrap it.*tg\.event\(lambda t, y: hit\(t, y\) <= 0, terminal=True\)"),
        (lambda: tg.ode(decay, y0=[1.0], events=[hit]), "wrap it"),
        (lambda: tg.simulate(tg.ode(decay, y0=[1.0]), (0, 1), events=[hit]), "the events belong to the model"),
        (lambda: tg.simulate(Motor, (0, 1)), r"Motor\(\)"),
        (lambda: tg.Simulation(Motor), r"Motor\(\)"),
        (lambda: tg.simulate(decay, (0, 1)), r"tg\.ode\(f, y0="),
        (lambda: tg.simulate(Misspelt(), (0, 1)), "did you mean 'speed'"),
        (lambda: tg.simulate(tg.ode(lambda y, t: [-y[0]], y0=[1.0]), (0, 1)), r"calls f\(t, y\).*, with the time first"),
        (lambda: tg.simulate(tg.ode(decay, y0=[1.0]), (0, 1), method="RK45"), "taylor"),
        (lambda: tg.simulate(tg.ode(decay, y0=[1.0]), 10), r"t_span=\(0, 10\)"),
        (lambda: tg.simulate(tg.ode(decay, y0=[1.0]), (0, 1), t_eval=TIMES), "outputs=times"),
        (lambda: run().at("a"), r'result\["a"\]'),
        (lambda: run().final["y"], "one of a"),
        (lambda: tg.blocks.Integrador, "did you mean 'Integrator'"),
        (lambda: tg.simulate(tg.prepare(tg.ode(decay, y0=[1.0]), (0, 1)), (0, 1)), r"prepared\.run\(\)"),
        (lambda: tg.simulate(tg.blocks.Gain(2.0), (0, 1)), r"d = tg\.Diagram\(\"d\"\)"),
        (lambda: tg.steady_state(run()), "it is what a run gave"),
        (lambda: run().explore(path="x.txt"), r"a name that ends in \.html$"),
        (lambda: tg.simulate(tg.ode(lambda t, y: [pd.Series([1.0, 2.0])[t] * y[0]], y0=[1.0]), (0, 1)), r"tg\.table\(series\.index, series\)"),
        (lambda: tg.simulate(tg.ode(lambda t, y: [TIMES[int(t)]], y0=[1.0]), (0, 30)), "an index or a table may be outside there"),
        (lambda: tg.blocks.Saturation, r"it is Limiter\(upper, lower\)"),
        (lambda: tg.solve_ivp(lambda t, y: [1.0], (0, 1), [1.0], event=abs), "try: events"),
        (lambda: import_module("tidegate.plot") and tg.plot(tg), r"results plot themselves: result\.plot\(\)"),
        (lambda: tg.simulat, "did you mean 'simulate'"),
        (lambda: tg.simulate(Returned(), (0, 1)), "returns one equation, and equations are yielded.*write `yield"),
        (lambda: tg.simulate(tg.ode(lambda t, y: [1j * y[0]], y0=[1.0]), (0, 1)), "complex numbers cannot be followed.*real and imaginary part"),
        (lambda: tg.simulate(tg.ode(lambda t, y: [unknown * y[0]], y0=[1.0]), (0, 1)), "'unknown' is not defined.*define it"),  # noqa: F821
        (lambda: tg.simulate(tg.ode(lambda t, y: [y[3]], y0=[1.0]), (0, 1)), "index 3 is out of bounds.*counted from 0"),
    ],
)
def test_a_slip_is_answered_with_what_to_write(slip: Any, words: str) -> None:
    with pytest.raises(tg.TidegateError, match=f"(?s){words}"):
        slip()


def test_what_a_result_is_not_is_told_with_what_it_is() -> None:
    result = run()
    with pytest.raises(AttributeError, match=r"no attribute 'y'; result\[\"x\"\] is a variable by its name"):
        _ = result.y
    with pytest.raises(AttributeError, match=r"no attribute 'sol'; result.at\(0.5\)"):
        _ = result.sol
    with pytest.raises(TypeError, match=r"a result has no length: len\(result\.time\)"):
        len(result)
    assert result
    assert list(result) == result.names


@pytest.mark.slow
def test_a_run_that_crawls_says_so() -> None:
    random = np.random.default_rng(1)

    @tg.opaque
    def gust(t: float) -> float:
        return float(random.normal())

    ship = tg.ode(lambda t, y: [gust(t) - y["heading"]], y0={"heading": 0.0})
    with (
        pytest.warns(tg.SlowRunWarning, match=r"crawls: 5000 steps to t = .* of 1000.*tg\.noise\(t, seed=1"),
        pytest.raises(tg.TooManyStepsError),
    ):
        tg.simulate(ship, (0, 1000), max_steps=5100)


def test_a_result_that_grows_large_is_announced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("tidegate.executive.drive"), "_MUCH", 1e6)  # bytes, for the gigabyte of others
    swing = tg.ode(lambda t, y: [y["v"], -y["x"]], y0={"x": 1.0, "v": 0.0}, events=[tg.event(lambda t, y: y["x"] > 0.0)])
    with pytest.warns(tg.TidegateWarning, match=r"has grown to .* GB at t = .* of 40000: \d+ steps, \d+ events; outputs=.*dense=False") as said:
        tg.simulate(swing, (0, 40_000))
    assert len(said) == 1
    calm = tg.ode(lambda t, y: [y["v"], -y["x"]], y0={"x": 1.0, "v": 0.0})
    tg.simulate(calm, (0, 40_000), outputs=1000.0, dense=False)  # whose result is small


@pytest.mark.slow
def test_a_run_whose_events_come_faster_and_faster_says_so() -> None:
    growth = tg.ode(lambda t, y: [y["x"], 7.0 * y["x"] ** 2 % 2.0], y0={"x": 1.0, "y": 0.0})
    with (
        pytest.warns(tg.SlowRunWarning, match=r"hardly ends: \d+ events to t = .* of 30, which come faster and faster.*no_event"),
        pytest.raises(tg.TooManyStepsError),
    ):
        tg.simulate(growth, (0, 30), max_steps=45_000, outputs=10.0)


def test_an_attribute_of_a_result_is_told_to_be_an_entry() -> None:
    with pytest.raises(AttributeError, match=r'the variable is result\["a"\]'):
        _ = run().a
    assert not hasattr(run(), "nothing")


def test_a_notebook_shows_the_users_lines_and_the_sentence(tmp_path: Any) -> None:
    cell = compile("import tidegate as tg\ntg.simulate(tg.ode(lambda t, y: [-y['b']], y0={'a': 1.0}), (0, 1))", "<ipython-input-3-abc>", "exec")
    with pytest.raises(tg.TidegateError) as caught:
        exec(cell, {})
    shown = caught.value._render_traceback_()
    assert shown[-1] == f"UnknownNameError: {caught.value}"
    assert any(line.startswith("<ipython-input-3-abc>, line 2") for line in shown)
    assert not any("tidegate/" in line for line in shown[:-1])
