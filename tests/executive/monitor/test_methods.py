"""The six methods: their orders, their step control, and how they go on behind events and discontinuities."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import pytest

from monitor_models import Body, Flow, List, Look, model
from tidegate.executive.monitor import METHODS, Monitor, Stopped

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "condis.json").read_text(encoding="utf-8"))
ORDERS = {"rke": 4, "pc": 4, "euler": 1, "adams2": 2, "trapezoid": 2, "heun": 2}


def pendulum(method: str, dtmax: float, abserror: float = 1.0) -> tuple[Monitor, List, Flow, Flow]:
    """y'' = -y as two variables, with so much error allowed that every step is dtmax, or with little."""
    monitor, agenda = model(method, dtmin=0.0, dtmax=dtmax)
    x, v = Flow(1.0, abserror), Flow(0.0, abserror)

    def evaluate() -> None:
        x.rate, v.rate = v.state, -x.state

    for variable in (x, v):
        monitor.start_variable(variable)
    monitor.start_body(Body(evaluate))
    return monitor, agenda, x, v


def decay(method: str, *, dtmax: float = 0.2, abserror: float = 1e-6) -> tuple[Monitor, List, Flow]:
    monitor, agenda = model(method, dtmin=0.0 if method == "rke" else 1e-9, dtmax=dtmax)
    y = Flow(1.0, abserror)

    def evaluate() -> None:
        y.rate = -y.state

    monitor.start_variable(y)
    monitor.start_body(Body(evaluate))
    return monitor, agenda, y


@pytest.mark.parametrize("method", METHODS)
def test_half_the_step_divides_the_error_by_two_to_the_order(method: str) -> None:
    """At least: with their estimated error added, the two of variable step behave like order 5 here."""
    errors: list[float] = []
    for dtmax in (1 / 16, 1 / 32, 1 / 64):
        monitor, agenda = model(method, dtmax=dtmax)
        y = Flow(1.0, abserror=1.0)

        def evaluate(monitor: Monitor = monitor, y: Flow = y) -> None:
            y.rate = -y.state * y.state * (1 + math.cos(monitor.time))

        monitor.start_variable(y)
        monitor.start_body(Body(evaluate))
        agenda.run(until=3.0)
        errors.append(abs(y.state - 1 / (4 + math.sin(3.0))))
    for coarse, fine in pairwise(errors):
        assert ORDERS[method] - 0.2 < math.log2(coarse / fine) < ORDERS[method] + 1.4


def test_heun_is_more_exact_than_adams_and_the_trapezoid() -> None:
    errors: dict[str, float] = {}
    for method in ("heun", "adams2", "trapezoid"):
        _, agenda, x, v = pendulum(method, 1 / 32)
        agenda.run(until=4.0)
        errors[method] = math.hypot(x.state - math.cos(4.0), v.state + math.sin(4.0))
    assert errors["heun"] < min(errors["adams2"], errors["trapezoid"])


@pytest.mark.parametrize(("method", "evaluations"), [("euler", 1 + 10), ("adams2", 1 + 2 + 9), ("trapezoid", 1 + 20), ("heun", 1 + 20)])
def test_fixed_steps_cost_what_the_table_says(method: str, evaluations: int) -> None:
    """Ten steps of an eighth, exact in binary, so that all are of the same length."""
    monitor, agenda, _ = decay(method, dtmax=0.125)
    agenda.run(until=1.25)
    assert monitor.counters.evaluations == evaluations
    assert monitor.counters.fixed_steps == 10


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("interval", [0.13, 0.31])
def test_interpolated_samples_are_as_exact_as_steps(method: str, interval: float) -> None:
    monitor, agenda, y = decay(method, dtmax=0.05)
    seen: list[float] = []
    monitor.start_sample(Look(lambda: seen.append(y.state - math.exp(-monitor.time)), interval))
    agenda.run(until=2.0)
    last = abs(y.state - math.exp(-2.0))
    assert len(seen) == int(2.0 / interval) + 2
    # the error grows and shrinks again on the way: it is never much more than e times the one at t = 2
    assert max(map(abs, seen)) < 3.5 * last + 2e-9


def test_samples_inside_steps_of_the_predictor_corrector_leave_the_state_alone() -> None:
    """A last step by Runge-Kutta starts from the state: restored wrongly, it would be off by 1e-3."""
    monitor, agenda, y = decay("pc")
    monitor.start_sample(Look(lambda: None, 0.13))
    agenda.run(until=4.05)
    assert abs(y.state - math.exp(-4.05)) < 1.2e-8
    assert monitor.last_method == "rk"


@pytest.mark.parametrize("abserror", [1e-4, 1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize("method", ["rke", "pc"])
def test_less_allowed_error_gives_less_error(method: str, abserror: float) -> None:
    _, agenda, x, _ = pendulum(method, 0.5, abserror)
    agenda.run(until=10.0)
    assert abs(x.state - math.cos(10.0)) < 40 * abserror


@pytest.mark.parametrize("method", ["rke", "pc"])
def test_relative_tolerance_is_relative_to_the_state(method: str) -> None:
    """Scaled by 1e6, the same problem takes the same steps."""
    counts: set[int] = set()
    for scale in (1.0, 2.0**20):
        monitor, agenda = model(method, dtmax=0.5)
        y = Flow(scale, 0.0, 1e-6)

        def evaluate(y: Flow = y) -> None:
            y.rate = y.state

        monitor.start_variable(y)
        monitor.start_body(Body(evaluate))
        agenda.run(until=5.0)
        assert y.state / scale == pytest.approx(math.exp(5.0), rel=1e-5)
        counts.add(monitor.counters.evaluations)
    assert len(counts) == 1


def test_each_variable_has_its_own_tolerance() -> None:
    counts: list[int] = []
    for tight in (1e-4, 1e-10):
        monitor, agenda, x, _ = pendulum("rke", 0.5, 1e-4)
        x.abserror = tight
        agenda.run(until=5.0)
        counts.append(monitor.counters.rk_accepted)
    assert counts[1] > 2 * counts[0]


def test_a_variable_that_fails_is_looked_at_first_from_then_on() -> None:
    monitor, agenda, x, v = pendulum("rke", 0.5, 1e-3)
    x.abserror = 1e-9
    assert [track.variable for track in monitor.motion.variables] == [v, x]
    agenda.run(until=1.0)
    assert [track.variable for track in monitor.motion.variables] == [x, v]


def test_steps_of_runge_kutta_no_more_than_double() -> None:
    monitor, agenda, y = decay("rke", dtmax=100.0, abserror=1e-8)
    ends: list[float] = []
    monitor.start_sample(Look(lambda: ends.append(monitor.dt)))
    agenda.run(until=50.0)
    steps = ends[1:-1]
    assert all(after <= 2.0000001 * before for before, after in pairwise(steps))
    assert steps[-1] > 10 * min(steps)
    assert y.state == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_the_step_proposed_survives_events(method: str) -> None:
    """Many events cost little more than the evaluation and the cut step of each."""
    monitor, agenda, y = decay(method, dtmax=0.2)
    for k in range(1, 11):
        agenda.at(0.41 * k)
    agenda.run()
    assert y.state == pytest.approx(math.exp(-4.1), abs=1e-2 if method == "euler" else 2e-3)
    most = {"rke": 280, "pc": 280, "euler": 40, "adams2": 60, "trapezoid": 70, "heun": 70}[method]
    assert monitor.counters.evaluations <= most


def test_the_predictor_corrector_is_not_worn_out_by_events() -> None:
    """Each period halves its first step anew: that must not count as halvings of one step, of which only thirty are allowed."""
    monitor, agenda, x, _ = pendulum("pc", 1.0, 1e-7)
    for k in range(1, 60):
        agenda.at(2.0 * k)
    agenda.run()
    assert monitor.counters.rk_rejected > 100
    assert x.state == pytest.approx(math.cos(118.0), abs=1e-4)


def test_states_set_by_events_start_anew() -> None:
    for method in METHODS:
        _, agenda, y = decay(method, dtmax=0.01)
        agenda.at(1.0, lambda y=y: setattr(y, "state", 3.0))
        agenda.run(until=2.0)
        assert y.state == pytest.approx(3 * math.exp(-1.0), rel=2e-2 if method == "euler" else 1e-4)


def test_laststate_is_the_state_at_the_start_of_the_step() -> None:
    for method in METHODS:
        monitor, agenda, y = decay(method, dtmax=0.125)
        ends: dict[float, float] = {}
        starts: list[tuple[float, float]] = []

        def look(monitor: Monitor = monitor, y: Flow = y, ends: dict[float, float] = ends, starts: list[tuple[float, float]] = starts) -> None:
            ends[monitor.time] = y.state
            starts.append((monitor.lasttime, y.laststate))

        monitor.start_sample(Look(look))
        agenda.run(until=2.0)
        assert len(starts) > 10
        assert [(t, y) for t, y in starts if t in ends and ends[t] != pytest.approx(y, abs=1e-6)] == []


@pytest.mark.slow
def test_long_sums_lose_nothing() -> None:
    """Ten thousand steps of 0.1, which is no binary number: time and state stay within a rounding of the sum."""
    monitor, agenda = model("rke", dtmax=0.1)
    y = Flow(0.0)
    monitor.start_variable(y)
    monitor.start_body(Body(lambda: setattr(y, "rate", 1.0)))
    last: list[tuple[float, float]] = []
    monitor.start_sample(Look(lambda: last.append((monitor.time, y.state))))
    agenda.run(until=1000.05)
    assert last[10_000][0] == pytest.approx(1000.0, abs=2.3e-13)
    assert last[10_000][1] == pytest.approx(1000.0, abs=2.3e-13)


def test_another_method_may_be_chosen_between_events() -> None:
    monitor, agenda, y = decay("euler", dtmax=0.01)
    for k, method in enumerate((*METHODS, "rke")):
        agenda.at(0.105 * (k + 1), lambda method=method: monitor.change(method=method))
    agenda.run()
    assert y.state == pytest.approx(math.exp(-0.735), rel=2e-3)


@pytest.mark.parametrize("method", METHODS)
def test_a_smaller_dtmax_holds_from_the_next_step_on(method: str) -> None:
    """Also if it comes between two steps, from somebody who only looks."""
    monitor, agenda, y = decay(method, dtmax=0.2)
    steps: list[tuple[float, float]] = []

    def look() -> None:
        steps.append((monitor.time, monitor.dt))
        if monitor.time >= 1:
            monitor.change(dtmax=0.05)

    monitor.start_sample(Look(look))
    agenda.run(until=3.0)
    first = next(t for t, _ in steps if t >= 1)
    assert max(dt for t, dt in steps if t > first) <= 0.05000001
    assert y.state == pytest.approx(math.exp(-3.0), abs=2e-2 if method == "euler" else 1e-3)


def test_models_without_variables_move_by_dtmax() -> None:
    for method in METHODS:
        monitor, agenda = model(method, dtmax=0.25)
        times: list[float] = []
        monitor.start_body(Body(lambda monitor=monitor, times=times: times.append(monitor.time)))
        agenda.run(until=1.0)
        assert times == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_difference_equations_advance_from_laststate() -> None:
    """Under Runge-Kutta the body runs up to nine times a step, from one laststate: no harm."""
    monitor, agenda = model("euler", dtmax=0.5)
    y = Flow(1.0)

    def evaluate() -> None:
        if monitor.dt > 0:
            y.state = 2 * y.laststate

    monitor.start_variable(y)
    monitor.start_body(Body(evaluate))
    agenda.run(until=2.0)
    assert y.state == 16.0


def test_bodies_that_do_not_set_a_rate_leave_it_at_zero() -> None:
    monitor, agenda = model("rke", dtmax=0.1)
    y = Flow(0.0, abserror=1.0)
    monitor.start_variable(y)
    monitor.start_body(Body(lambda: setattr(y, "rate", y.rate + 1.0)))
    monitor.start_body(Body(lambda: setattr(y, "rate", y.rate + 1.0)))
    agenda.run(until=1.0)
    assert y.state == pytest.approx(2.0, abs=1e-14)


def test_bodies_run_by_priority_and_equals_in_the_order_of_their_start() -> None:
    monitor, agenda = model("rke")
    order: list[str] = []
    bodies = {name: Body(lambda name=name: order.append(name)) for name in "abcd"}
    for name, priority in (("a", 0), ("b", 1), ("c", 0), ("d", 2)):
        monitor.start_body(bodies[name], priority)
    monitor.start_body(bodies["a"], 9)  # it is active already
    agenda.at(0.0, lambda: monitor.set_priority(bodies["a"], 0))
    agenda.at(0.0, lambda: monitor.stop_body(bodies["d"]))
    agenda.at(0.0)
    agenda.run()
    assert "".join(order) == "dbac" + "dbca" + "bca"


def test_variables_start_once_at_the_front_and_stop_with_their_state() -> None:
    monitor, _ = model()
    x, y = Flow(1.0), Flow(2.0)
    for variable in (x, y, x):
        monitor.start_variable(variable)
    assert [track.variable for track in monitor.motion.variables] == [y, x]
    x.rate = 3.0
    monitor.stop_variable(x)
    monitor.stop_variable(x)
    assert (x.state, x.rate) == (1.0, 0.0)
    assert not monitor.is_active(x)
    assert monitor.is_active(y)


def ship(method: str, dtmax: float, abserror: float) -> tuple[Monitor, list[list[float]]]:
    golden = GOLDEN["appendix3"]
    p = golden["parameters"]
    monitor, agenda = model(method, dtmin=1e-9, dtmax=dtmax)
    x, y, v, r, psi, delta = (Flow(0.0, abserror) for _ in range(6))

    def evaluate() -> None:
        x.rate = p["u0"] * math.cos(psi.state) + v.state * math.sin(psi.state)
        y.rate = p["u0"] * math.sin(psi.state) + v.state * math.cos(psi.state)
        v.rate = p["a1"] * v.state + p["a11"] * v.state * abs(v.state) + p["a2"] * r.state + p["b1"] * delta.state
        r.rate = p["a3"] * v.state + p["a4"] * r.state + p["a22"] * r.state * abs(v.state) + p["b2"] * delta.state
        psi.rate = r.state

    for variable in (x, y, v, r, psi):
        monitor.start_variable(variable)
    monitor.start_body(Body(evaluate))
    rows: list[list[float]] = []
    monitor.start_sample(Look(lambda: rows.append([monitor.time, *(variable.state for variable in (x, y, v, r, psi, delta))]), 1.0))
    agenda.at(1.0, lambda: setattr(delta, "state", 0.1))
    agenda.at(2.0, lambda: setattr(delta, "state", 0.0))
    agenda.run(until=10.0)
    return monitor, rows


@pytest.mark.slow
@pytest.mark.parametrize(("method", "dtmax", "abserror"), [("rke", 0.01, 1e-12), ("pc", 0.05, 1e-9)])
def test_the_ship_steers_as_an_independent_program_computed(method: str, dtmax: float, abserror: float) -> None:
    _, rows = ship(method, dtmax, abserror)
    golden = GOLDEN["appendix3"]["oracle"]["rows"]
    assert len(rows) == len(golden)
    for row, truth in zip(rows, golden, strict=True):
        # the file has twelve digits
        assert row == pytest.approx(truth, abs=1e-10 if method == "rke" else 1e-7)


def test_steps_that_give_no_number_are_refused() -> None:
    """NaN is not small: without a word it would be carried on."""
    for method in ("rke", "pc"):
        monitor, agenda = model(method, dtmin=1e-6, dtmax=0.1)
        y = Flow(0.0)

        def evaluate(monitor: Monitor = monitor, y: Flow = y) -> None:
            y.rate = 1.0 if monitor.time < 1 else math.nan

        monitor.start_variable(y)
        monitor.start_body(Body(evaluate))
        with pytest.raises(Stopped) as stopped:
            agenda.run(until=2.0)
        assert stopped.value.trouble.number == 1
        assert stopped.value.trouble.culprit is y
        assert monitor.lasttime < 1
