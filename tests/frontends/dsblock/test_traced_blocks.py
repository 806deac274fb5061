"""Callbacks that are followed on symbols give what they give when they are called, and the statistics say which is which."""

from __future__ import annotations

import math
from collections import UserDict
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from random_blocks import END, Unclear, Written, truth
from tidegate.frontends.dsblock import EventAction, Start


class Ball(tg.DSblock):
    """A bouncing ball with everything that can be followed."""

    def define(self, declare: Any) -> None:
        declare.state("height", start=1.0)
        declare.state("speed")
        declare.output("energy")
        declare.auxiliary("potential")
        declare.indicator("contact")
        declare.real("g", 9.81, minimum=0)
        declare.real("e", 0.8)
        declare.logical("drag", False)
        declare.discrete("bounces")

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return {"height": x.speed, "speed": -p.g - (0.1 * x.speed if p.drag else 0.0)}

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return x.height

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return p.g * x.height + x.speed**2 / 2

    def communication(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return p.g * x.height + m.bounces

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        return Start(directions={"contact": -1})

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        m.bounces += 1
        return EventAction(x={"speed": -p.e * x.speed})


@pytest.mark.slow
def test_everything_but_events_becomes_machine_code(method: str) -> None:
    runs = [tg.simulate(Ball(), (0.0, 2.0), rtol=1e-9, outputs=0.1, method=method, traced=traced) for traced in (True, False)]
    for name in ("height", "energy", "potential", "contact", "bounces"):
        assert runs[0][name].values == pytest.approx(runs[1][name].values, abs=1e-7)
    assert runs[0].statistics.extra["compiled callbacks"] == "derivatives, indicators, outputs, communication"
    assert runs[0].statistics.extra["called callbacks"] == "event"
    assert runs[1].statistics.extra["called callbacks"] == "all (traced=False)"
    assert runs[0].statistics.opaque_calls == 3 < runs[1].statistics.opaque_calls
    # outputs that are formulas are known between rows, too
    energy = runs[0].at(0.33, "energy")
    assert float(energy) == pytest.approx(9.81, rel=1e-7)


@pytest.mark.slow
def test_derivatives_go_through_events_that_are_called(dae_method: str) -> None:
    reference = tg.ode(
        lambda t, y, p: [y["v"], -p["g"]],
        y0={"h": 1.0, "v": 0.0},
        p={"g": 9.81, "e": 0.8},
        events=tg.event(lambda t, y: y["h"] < 0, reset=lambda t, y, p: {"v": -p["e"] * y["v"]}),
    )
    wanted = tg.simulate(reference, (0.0, 2.0), rtol=1e-9, sensitivities="all")
    for traced in (True, False):
        found = tg.simulate(Ball(), (0.0, 2.0), rtol=1e-9, sensitivities=["g", "e"], traced=traced, method=dae_method)
        assert found.sensitivity("height").values[-1] == pytest.approx(wanted.sensitivity("h").values[-1], rel=2e-5)
        assert found.final["bounces"] == 3  # what is tried for derivatives is forgotten
        assert found.events[2].dt_dp == pytest.approx(wanted.events[2].dt_dp, rel=1e-5)


def test_a_fast_pass_below_zero_is_found_by_proof() -> None:
    class Dip(tg.DSblock):
        """A dip that is narrower than a step."""

        def define(self, declare: Any) -> None:
            declare.state("x")
            declare.indicator("z")
            declare.discrete("n")

        def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
            return 1.0

        def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
            return (x.x - 5.03) ** 2 - 1e-6

        def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
            m.n += 1
            return EventAction("continue")

    result = tg.simulate(Dip(), (0.0, 10.0), traced=True)
    assert [event.time for event in result.events] == pytest.approx([5.029, 5.031], abs=1e-9)


class Kept(tg.DSblock):
    """A random block whose numbers are kept in memory that is declared, and so can be followed."""

    def __init__(self, written: Written) -> None:
        self.written = written

    def define(self, declare: Any) -> None:
        n = self.written.n
        declare.state("X", start=self.written.x0)
        declare.indicator("Z", shape=(n,))
        declare.discrete("k")
        for k in range(n):
            declare.discrete(f"rate{k}")
            declare.discrete(f"bound{k}")

    def take(self, m: Any) -> None:
        w, k = self.written, int(m.k)
        for i in range(w.n):
            setattr(m, f"rate{i}", w.rates[k, i])
            setattr(m, f"bound{i}", w.bounds[k, i])

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return {"X": np.array([getattr(m, f"rate{i}") for i in range(self.written.n)])}

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return {"Z": x.X - np.array([getattr(m, f"bound{i}") for i in range(self.written.n)])}

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        self.take(m)
        w = self.written
        return Start(next_event=t0 + w.ticks[0] if w.ticks[0] else None, directions={"Z": w.directions[0]})

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        LOG.append((t, happening.time, happening.zero))
        m.k += 1
        self.take(m)
        w, k = self.written, int(m.k)
        new = np.where(np.isnan(w.resets[k]), x.X, w.resets[k])
        due = t + w.ticks[k] if happening.time and w.ticks[k] else None
        return EventAction(x={"X": new}, next_event=due, directions={"Z": w.directions[k]})


LOG: list[tuple[float, bool, tuple[str, ...]]] = []


@pytest.mark.slow
@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow] if seed > 5 else []) for seed in range(40)])
def test_a_random_block_that_is_followed_does_what_straight_lines_do(seed: int) -> None:
    written = Written(seed)
    try:
        events, last = truth(written)
    except Unclear:
        events, last = [], np.zeros(0)
    LOG.clear()
    result = tg.simulate(Kept(written), (0.0, END), rtol=1e-9, traced=True, method=("radau", "ida", "bdf", "adams")[seed % 4])
    followed = list(LOG)
    LOG.clear()
    called = tg.simulate(Kept(written), (0.0, END), rtol=1e-9, traced=False)
    assert [entry[1:] for entry in followed] == [entry[1:] for entry in LOG]
    assert [entry[0] for entry in followed] == pytest.approx([entry[0] for entry in LOG], abs=1e-8)
    assert result["X"].values[-1] == pytest.approx(called["X"].values[-1], abs=1e-7)
    if len(last):
        assert [entry[1:] for entry in followed] == [entry[1:] for entry in events]
        assert result["X"].values[-1] == pytest.approx(last, abs=1e-7)


class Mixed(tg.DSblock):
    """A DAE whose residual is followed and whose indicators cannot be."""

    def define(self, declare: Any) -> None:
        declare.form("dae")
        declare.state("X", start=1.0)
        declare.state("Y", start=2.0)
        declare.input("U")
        declare.output("V")
        declare.indicator("Z")
        declare.discrete("n")

    def residual(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        return [xdot.X + x.Y - u.U, x.Y - 2.0 * x.X]

    def outputs(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        return xdot.X * 3.0

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return float(f"{x.X:.17g}") - 0.5

    def event(self, happening: Any, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> EventAction:
        m.n += 1
        return EventAction("continue")


@pytest.mark.hunt
def test_what_cannot_be_followed_is_called_and_the_rest_is_not(dae_method: str) -> None:
    for inputs in ({}, {"U": 0.0}, {"U": lambda t: 0.0 * t}, {"U": ([0.0, 2.0], [0.0, 0.0])}):
        result = tg.simulate(Mixed(), (0.0, 1.0), rtol=1e-8, inputs=inputs, method=dae_method)
        extra = result.statistics.extra
        assert extra["compiled callbacks"] == "residual, outputs"
        assert extra["called callbacks"].startswith("indicators (")
        assert [event.time for event in result.events] == pytest.approx([math.log(2.0) / 2.0], abs=1e-7)
        assert result.final["V"] == pytest.approx(-6.0 * math.exp(-2.0), rel=1e-6)
    with pytest.raises(tg.UntraceableError, match="DSblock Mixed cannot be followed on symbols: indicators"):
        tg.simulate(Mixed(), (0.0, 1.0), traced=True)


class Outside(tg.DSblock):
    """Keeps something where machine code does not look."""

    gain = 1.0

    def define(self, declare: Any) -> None:
        declare.state("X", start=1.0)

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return self.gain

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        return Start(next_event=1.0)

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        self.gain = -1.0
        return EventAction()


class Behind(Outside):
    """The same behind a function."""

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        vars(self)["gain"] = -1.0
        return EventAction()


class Handed(Outside):
    """Given to somebody who looks where he likes."""

    def __str__(self) -> str:
        return f"{self.gain}"

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return float(str(self))


class Held(Outside):
    """In an object whose class says what `[...]` is."""

    def __init__(self) -> None:
        self.held = UserDict(gain=1.0)

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return self.held["gain"]

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        self.held["gain"] = -1.0
        return EventAction()


def test_what_is_handed_to_others_is_looked_into_or_called() -> None:
    result = tg.simulate(Handed(), (0.0, 2.0))
    assert result.final["X"] == pytest.approx(1.0)
    assert "self is handed to a function" in result.statistics.extra["called callbacks"]
    with pytest.raises(tg.CallbackError, match="UserDict, of which machine code was made"):
        tg.simulate(Held(), (0.0, 2.0))


def test_what_events_change_outside_of_memory_is_not_taken_for_a_number() -> None:
    result = tg.simulate(Outside(), (0.0, 2.0))
    assert result.final["X"] == pytest.approx(1.0)
    assert "self.gain may change" in result.statistics.extra["called callbacks"]
    with pytest.raises(tg.CallbackError, match="gain, of which machine code was made"):
        tg.simulate(Behind(), (0.0, 2.0))
    assert tg.simulate(Behind(), (0.0, 2.0), traced=False).final["X"] == pytest.approx(1.0)


class Counts(Ball):
    """Counts where nobody looks for it."""

    def communication(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        m.bounces += 1
        return 0.0


@pytest.mark.slow
def test_memory_is_changed_by_events_only_where_machine_code_reads_it() -> None:
    with pytest.raises(tg.CallbackError, match=r"change m\.bounces, which machine code reads"):
        tg.simulate(Counts(), (0.0, 1.0))
    assert tg.simulate(Counts(), (0.0, 0.4), outputs=[0.1, 0.2], traced=False).success


class Rates(tg.DSblock):
    """An ODE whose outputs are given the derivatives."""

    def define(self, declare: Any) -> None:
        declare.state("X", start=1.0)
        declare.output("V")
        declare.outputs_depend_on(xdot=True)

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return -2.0 * x.X

    def outputs(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        return 3.0 * xdot.X


def test_derivatives_that_outputs_are_given_are_followed_too() -> None:
    result = tg.simulate(Rates(), (0.0, 1.0), rtol=1e-8, traced=True)
    assert result["V"].values == pytest.approx(-6.0 * np.exp(-2.0 * result.t), rel=1e-6)


class Reset(tg.DSblock):
    """``x' = A x``; where x[0] falls to LEVEL, x becomes R x, which leaves the indicator at zero."""

    def __init__(self, matrix: np.ndarray, reset: np.ndarray) -> None:
        self.matrix, self.reset = matrix, reset

    def define(self, declare: Any) -> None:
        declare.state("X", shape=(2,), start=(1.0, 0.0))
        declare.real("LEVEL", 0.5)
        declare.indicator("ABOVE")

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return self.matrix @ x.X

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return x.X[0] - p.LEVEL

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return tg.dsblock.EventAction(x={"X": self.reset @ x.X})


@pytest.mark.slow
@pytest.mark.parametrize("is_traced", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_derivatives_go_once_through_a_reset_that_depends_on_what_it_resets(seed: int, is_traced: bool) -> None:
    from scipy.linalg import expm
    from scipy.optimize import brentq

    random = np.random.default_rng(seed)
    matrix = np.array([[-0.8, -0.5], [0.5, -0.8]]) + random.uniform(-0.1, 0.1, (2, 2))
    reset = np.array([[1.0, 0.0], [random.uniform(-4, -3), random.uniform(-1, 1)]])  # x[0] rises behind it

    def truth(level: float) -> Any:
        at = brentq(lambda t: (expm(matrix * t) @ [1.0, 0.0])[0] - level, 0.0, 1.2, xtol=1e-15)
        return expm(matrix * (1.2 - at)) @ reset @ expm(matrix * at) @ [1.0, 0.0]

    result = tg.simulate(Reset(matrix, reset), (0, 1.2), rtol=1e-9, sensitivities=["LEVEL"], traced=is_traced)
    assert len(result.events) == 1
    expected = (truth(0.5 + 1e-5) - truth(0.5 - 1e-5)) / 2e-5
    for k in range(2):
        assert float(result.sensitivity("X", "LEVEL")[-1][k]) == pytest.approx(expected[k], abs=1e-6)
