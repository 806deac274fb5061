"""Two engines side by side: agreement is told in numbers, disagreement in sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from examples import bouncing_ball, carver_circuit, stiff_relay

import tidegate as tg
from golden_components import SeriesParallel
from tidegate.library import electrical as el

__all__: list[str] = []


def test_engines_agree_on_the_ball_in_states_event_times_and_derivatives() -> None:
    check = tg.cross_check(bouncing_ball.model, bouncing_ball.t_span, sensitivities="all", rtol=1e-8)
    assert check.agrees
    assert check.methods == ("radau", "bdf")
    assert {d.kind for d in check.differences} == {"state", "event time", "sensitivity", "event-time derivative"}
    # the table is ordered by what matters, and none of its numbers is nothing: the engines are independent
    tolerances = [d.tolerances for d in check.differences]
    assert tolerances == sorted(tolerances, reverse=True)
    assert 0.0 < tolerances[0] < 1000.0
    assert "radau and bdf agree" in str(check)
    assert "bounce, h < 0" in str(check)
    assert "<table>" in check._repr_html_()


def test_algebraic_unknowns_are_checked_by_ida() -> None:
    check = tg.cross_check(carver_circuit.model, carver_circuit.t_span, sensitivities="all", rtol=1e-8)
    assert check.methods == ("radau", "ida")
    assert check.agrees, str(check)


def test_an_event_that_one_engine_misses_is_told_by_cause_and_time() -> None:
    # the fifth switch lies 3.5e-7 s before the end; BDF at this tolerance is 1.4e-6 s late at the fourth and does not come to it
    check = tg.cross_check(stiff_relay.model, stiff_relay.t_span, rtol=1e-8)
    assert not check.agrees
    (sentence,) = check.problems
    assert "only radau has drops_out, y1 > 5.8 at t = 4.99999965" in sentence


def test_an_engine_that_stops_is_reported_and_what_both_have_is_compared() -> None:
    model = tg.ode(lambda t, y: [y[0] ** 2], y0=[1.0])
    check = tg.cross_check(model, (0.0, 2.0))
    assert len(check.problems) == 2
    assert all("stopped" in sentence for sentence in check.problems)
    assert [d.name for d in check.differences] == ["y[0]"]
    assert not check.agrees


def test_a_wrong_engine_does_not_pass() -> None:
    # a step limit that leaves one engine far too inaccurate is what a wrong result looks like
    model = tg.ode(lambda t, y, p: [p["a"] * y[1], -y[0]], y0=[1.0, 0.0], p={"a": 1.0})
    good = tg.cross_check(model, (0.0, 30.0), rtol=1e-7)
    loose = tg.cross_check(model, (0.0, 30.0), rtol=1e-7, methods=("adams", "bdf"), atol=1e-1)
    assert good.agrees
    assert not loose.agrees


@pytest.mark.parametrize("methods", [("radau",), ("ida", "ida"), ("radau", "ida", "bdf"), "ida"])
def test_methods_must_be_two_different_ones(methods: Any) -> None:
    with pytest.raises(tg.UsageError, match="two different"):
        tg.cross_check(bouncing_ball.model, (0.0, 1.0), methods=methods)


def test_what_cannot_be_asked_of_a_cross_check_is_told() -> None:
    with pytest.raises(tg.UsageError, match=r"no option 'method': two engines are compared\n  try: methods="):
        tg.cross_check(bouncing_ball.model, (0.0, 1.0), method="ida")
    with pytest.raises(tg.UsageError, match="t_span must hold two numbers"):
        tg.cross_check(bouncing_ball.model, 1.0)  # pyright: ignore[reportArgumentType]


def test_values_are_not_compared_between_the_two_times_of_one_event() -> None:
    # the speed changes sign at a bounce; a common time that lies between both engines' bounces would show twice the speed
    truth = tg.simulate(bouncing_ball.model, bouncing_ball.t_span, rtol=1e-12)
    times = np.sort(np.concatenate([truth.events.times, np.linspace(0.0, 3.0, 31)]))
    check = tg.cross_check(bouncing_ball.model, bouncing_ball.t_span, rtol=1e-8, outputs=times)
    assert check.agrees, str(check)


class Balanced(tg.Component):
    """A bridge in balance: its diagonal carries what rounding leaves, and C.v, behind it, its sum."""

    V, G, C = el.ConstantVoltage(V=10.0), el.Ground(), el.Capacitor(C=1.0, v=1.0)
    R1, R2, R3, R4, R5, R6 = (el.Resistor(R=R) for R in (3.0, 7.0, 6.0, 14.0, 0.001, 2.0))

    def equations(self) -> Any:
        yield tg.connect(self.V.p, self.R1.p, self.R3.p, self.R6.p)
        yield tg.connect(self.R6.n, self.C.p)
        yield tg.connect(self.R1.n, self.R2.p, self.R5.p)
        yield tg.connect(self.R3.n, self.R4.p, self.R5.n)
        yield tg.connect(self.R2.n, self.R4.n, self.V.n, self.C.n, self.G.p)


@pytest.mark.slow
def test_what_rounding_leaves_of_a_balanced_bridge_is_no_difference() -> None:
    check = tg.cross_check(Balanced(), (0.0, 1.0), rtol=1e-8, methods=("radau", "ida"), sensitivities=["R2.R"])
    assert check.agrees, str(check)


@pytest.mark.slow
def test_a_wrong_engine_does_not_pass_where_rounding_is_left_out() -> None:
    check = tg.cross_check(SeriesParallel(), (0.0, 1.0), rtol=1e-8, methods=("radau", "euler"), max_step=1e-3)
    assert not check.agrees
    wrong = {d.name for d in check.differences if d.tolerances > check.allowed}
    assert {"C1.v", "C1.i", "R1.i", "source.i"} <= wrong
    assert "G.p.i" not in wrong


@pytest.mark.slow
def test_step_events_are_left_out_and_said_to_be_and_values_are_compared_all_the_same() -> None:
    """Each engine has them at its own steps; pairs of events that do not belong together once left no time to compare at."""

    class Counted(tg.DSblock):
        def define(self, declare: Any) -> None:
            declare.state("X", start=1.0)
            declare.indicator("HALF")

        def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
            return -x.X

        def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
            return x.X - 0.5

        def step_condition(self, t: float, x: Any, u: Any, p: Any, m: Any) -> bool:
            return 0.68 < x.X < 0.7

        def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
            return tg.dsblock.EventAction()

    check = tg.cross_check(Counted(), (0.0, 2.0), rtol=1e-8)
    assert check.agrees
    assert {"X"} <= {difference.name for difference in check.differences if difference.kind == "state"}
    assert "step events happen at the steps of each engine" in str(check)
