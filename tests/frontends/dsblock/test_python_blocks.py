"""Blocks of callbacks in Python against closed forms: events are told once, with all that happens at their instant (DSblock 3.3, BLOCKV)."""

from __future__ import annotations

import math
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import tidegate as tg
from tidegate.frontends.dsblock import Accepted, EventAction, Refused, Start, Warned

G = 9.81


class Ball(tg.DSblock):
    """Falls from 1 and bounces with 0.8 of its speed."""

    def define(self, declare: Any) -> None:
        declare.state("height", start=1.0, unit="m")
        declare.state("speed")
        declare.indicator("contact")
        declare.output("energy")
        declare.real("g", G, minimum=0.0, open="minimum")

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return {"height": x.speed, "speed": -p.g}

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return x.height

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return {"ENERGY": p.g * x.height + x.speed**2 / 2}

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        m.calls = []
        return Start(directions={"contact": -1})

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        m.calls.append((t, happening))
        return EventAction(x={"speed": -0.8 * x.speed})


def test_a_ball_bounces_when_its_height_falls_through_zero(method: str) -> None:
    result = tg.simulate(Ball(), (0.0, 2.0), rtol=1e-8, method=method)
    first = math.sqrt(2.0 / G)
    expected = [first, first * (1 + 2 * 0.8), first * (1 + 2 * 0.8 + 2 * 0.64)]
    # the methods keep 1e-8 relative, a few times per flight
    assert [event.time for event in result.events] == pytest.approx(expected, abs=2e-7)
    assert result["energy"].values[-1] == pytest.approx(G * 0.8**6, rel=1e-6)


class Remembers(Ball):
    """Tells how it was called."""

    def terminate(self, is_well: bool, t: float, x: Any, u: Any, p: Any, m: Any) -> None:
        TOLD.append((is_well, t, len(m.calls)))


TOLD: list[tuple[bool, float, int]] = []


@pytest.mark.slow
def test_every_run_has_a_memory_of_its_own_and_is_ended_once() -> None:
    TOLD.clear()
    prepared = tg.prepare(Remembers(), (0.0, 2.0))
    assert len(prepared.run().events) == len(prepared.run().events) == 3
    assert TOLD == [(True, 2.0, 3), (True, 2.0, 3)]
    one, other = tg.Simulation(Remembers()), tg.Simulation(Remembers())
    one.advance(1.0)
    other.advance(0.1)
    one.advance(2.0)
    other.advance(0.5)
    assert (len(one.result.events), len(other.result.events)) == (3, 1)


def test_copies_of_a_simulation_do_not_move_each_others_memory_without_a_word() -> None:
    one = tg.Simulation(Remembers())
    one.advance(0.3)
    other = deepcopy(one)
    one.advance(0.6)
    other.advance(0.4)  # nothing has happened in it yet
    with pytest.raises(tg.CallbackError, match="remembers is not as this run has left it"):
        other.advance(0.6)
    one.advance(2.0)
    assert len(one.result.events) == 3


class Clock(tg.DSblock):
    """Ticks every half; at 0.5 and 1.25 an indicator crosses zero too, or alone."""

    def define(self, declare: Any) -> None:
        declare.state("X")
        declare.indicator("HALF")
        declare.indicator("LATE")
        declare.discrete("ticks")

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return [1.0]

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return [x.X - 0.5, 1.25 - x.X]

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        SEEN.clear()
        return Start(next_event=0.5)

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        SEEN.append((round(t, 9), happening.time, happening.state, happening.zero))
        m.ticks += happening.time
        return EventAction("continue", next_event=t + 0.5 if happening.time else None)


SEEN: list[tuple[float, bool, bool, tuple[str, ...]]] = []


def test_what_happens_at_one_instant_is_told_in_one_call_and_a_pending_time_event_survives_state_events(method: str) -> None:
    result = tg.simulate(Clock(), (0.0, 2.2), rtol=1e-8, method=method)
    assert SEEN == [
        (0.5, True, True, ("HALF",)),
        (1.0, True, False, ()),
        (1.25, False, True, ("LATE",)),
        (1.5, True, False, ()),
        (2.0, True, False, ()),
    ]
    assert result.final["ticks"] == 4
    assert [event.kind for event in result.events] == ["time", "time", "state", "time", "time"]


class Varying(tg.DSblock):
    """One decaying state; two growing ones from where it is a half, to t = 1; none after that."""

    def define(self, declare: Any) -> None:
        declare.state("A", start=1.0)
        declare.state("B")
        declare.indicator("Z")

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return {"A": -x.A} if len(x) == 1 else [1.0, 2.0]

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return x.A - 0.5

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        return Start(n_states=1)

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        if happening.time:
            return EventAction(n_states=0, n_indicators=0)
        return EventAction(n_states=2, next_event=1.0, x=[x.A, 7.0])


@pytest.mark.slow
def test_the_number_of_states_changes_at_events(method: str) -> None:
    result = tg.simulate(Varying(), (0.0, 2.0), rtol=1e-9, method=method)
    half = math.log(2.0)
    assert [event.time for event in result.events] == pytest.approx([half, 1.0], abs=1e-8)
    after = result.events[1].before
    assert (after["A"], after["B"]) == pytest.approx((0.5 + 1.0 - half, 7.0 + 2.0 * (1.0 - half)), abs=1e-7)


class Implicit(tg.DSblock):
    """``xd + 0.1 xd^3 + x = u``, and an algebraic variable with ``Y^2 = X + 2``."""

    def define(self, declare: Any) -> None:
        declare.form("dae")
        declare.state("X", start=1.0)
        declare.state("Y", start=1.7)
        declare.input("U")
        declare.output("RATE")

    def residual(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        return [xdot.X + 0.1 * xdot.X**3 + x.X - u.U, x.Y**2 - x.X - 2.0]

    def outputs(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        return xdot.X


class Tied(tg.DSblock):
    """``a' + b' = -a + u``, ``a = b``: the derivatives enter through a constant matrix that is singular."""

    def define(self, declare: Any) -> None:
        declare.form("dae")
        declare.state("A", start=1.0)
        declare.state("B", start=1.0)
        declare.input("U")
        declare.output("Y")
        declare.indicator("Z")
        declare.discrete("seen")

    def residual(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        return [xdot.A + xdot.B + x.A - u.U, x.A - x.B - u.U]

    def outputs(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        return xdot.A - xdot.B

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return x.A - 1.05

    def event(self, happening: Any, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> EventAction:
        m.seen = xdot.A
        return EventAction("continue")


class Weighted(tg.DSblock):
    """``c (a' + b') = -a``, ``a = b``; and ``e v' = sin t - v``, which is no differential equation where e = 0."""

    def define(self, declare: Any) -> None:
        declare.form("dae")
        declare.state("A", start=1.0)
        declare.state("B", start=1.0)
        declare.state("V")
        declare.real("C", 1.0)
        declare.real("E", np.zeros(1))

    def residual(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        return [p.C * (xdot.A + xdot.B) + x.A, x.A - x.B, p.E[0] * xdot.V + x.V - math.sin(t)]


@pytest.mark.parametrize("parameters", [{}, {"C": 2.0}, {"E[0]": 0.5}, {"C": 0.5, "E": np.array([0.25])}])
def test_how_derivatives_enter_a_dae_is_found_with_the_parameters_of_the_run(parameters: dict[str, Any]) -> None:
    c, e = parameters.get("C", 1.0), float(np.ravel(parameters.get("E[0]", parameters.get("E", 0.0)))[0])
    result = tg.simulate(Weighted(), (0.0, 1.0), parameters=parameters, rtol=1e-9)
    assert float(result.final["A"]) == pytest.approx(math.exp(-0.5 / c), rel=1e-6)
    # e v' + v = sin t from v = 0
    forced = (math.sin(1.0) - e * math.cos(1.0)) / (1.0 + e * e)
    transient = e / (1.0 + e * e) * math.exp(-1.0 / e) if e else 0.0
    assert float(result.final["V"]) == pytest.approx(forced + transient, abs=1e-6)


@pytest.mark.parametrize("parameters", [{"C": 2.0}, {"E": np.array([0.5])}])
def test_a_model_made_for_other_parameters_of_a_dae_is_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(tg.TidegateError, match="derivatives enter the residuals of DSblock Weighted in another way"):
        tg.simulate(Weighted().callables(), (0.0, 1.0), parameters=parameters)


def test_derivatives_that_are_no_unknowns_are_told_all_the_same() -> None:
    # b = a - sin t, hence 2 a' = -a + sin t + cos t and a' - b' = cos t
    result = tg.simulate(Tied(), (0.0, 1.0), inputs={"U": math.sin}, rtol=1e-8)
    assert float(result.final["Y"]) == pytest.approx(math.cos(1.0), abs=1e-6)
    (event,) = result.events
    a, t = 1.05, event.time
    assert float(result.final["seen"]) == pytest.approx((-a + math.sin(t) + math.cos(t)) / 2.0, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["radau", "ida"])
def test_an_implicit_equation_is_solved_for_derivatives_and_algebraic_variables(engine: str) -> None:
    samples = ([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])
    result = tg.simulate(Implicit(), (0.0, 2.0), rtol=1e-9, method=engine, inputs={"U": samples})

    def rate(t: float, x: float) -> float:
        return float(brentq(lambda w: w + 0.1 * w**3 + x - np.interp(t, *samples), -10.0, 10.0, xtol=1e-14))

    truth = [1.0]
    for span in ((0.0, 1.0), (1.0, 2.0)):  # in two parts: the input has a corner
        truth = [solve_ivp(lambda t, x: [rate(t, float(x[0]))], span, truth, rtol=1e-11, atol=1e-12).y[0, -1]]
    assert result.final["X"] == pytest.approx(truth[0], rel=2e-8)  # IDA's global error at rtol 1e-9
    assert result.final["Y"] == pytest.approx(math.sqrt(truth[0] + 2.0), rel=2e-8)
    assert result.final["RATE"] == pytest.approx(rate(2.0, truth[0]), rel=1e-7)


class Coupled(tg.DSblock):
    """``A' + B' = -A``, ``A - B = sin t``: no single variable is algebraic."""

    def define(self, declare: Any) -> None:
        declare.form("dae")
        declare.state("A", start=1.0)
        declare.state("B", start=1.0)

    def residual(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        return [xdot.A + xdot.B + x.A, x.A - x.B - math.sin(t)]


def test_derivatives_that_enter_together_are_solved_together() -> None:
    # with B = A - sin t: 2 A' = cos t - A, so A = (2 sin t + cos t)/5 + c exp(-t/2) and A(0) = 1 gives c = 4/5
    result = tg.simulate(Coupled(), (0.0, 2.0), rtol=1e-9)
    expected = (2.0 * math.sin(2.0) + math.cos(2.0)) / 5.0 + 0.8 * math.exp(-1.0)
    assert result.final["A"] == pytest.approx(expected, rel=1e-8)


class Matrix(tg.DSblock):
    """Parameters of every kind, and an array."""

    def define(self, declare: Any) -> None:
        declare.state("X", start=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        declare.real("K", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], minimum=0.0, open="minimum")
        declare.integer("N", 1, maximum=5)
        declare.logical("ON", True)
        declare.auxiliary("W", shape=(2, 3))

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return {"X": -p.K * x.X * (p.N if p.ON else 0)}

    def communication(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return {"W": 2.0 * x.X}

    def parameter_changed(self, name: str, p: Any, x0: Any) -> Any:
        if name == "N" and p.N == 2:
            return Refused("two is not possible")
        return Warned("nothing will move", x0={"X": 0.0 * x0.X}) if name == "ON" else Accepted()


def test_arrays_have_their_natural_shape_everywhere() -> None:
    start, rates = np.arange(1.0, 7.0).reshape(2, 3), np.arange(1.0, 7.0).reshape(2, 3)
    result = tg.simulate(Matrix(), (0.0, 1.0), rtol=1e-8)
    assert result["X"].values[-1] == pytest.approx(start * np.exp(-rates), rel=1e-6)
    assert result["W"].values[-1] == pytest.approx(2.0 * start * np.exp(-rates), rel=1e-6)
    other = tg.simulate(Matrix(), (0.0, 1.0), rtol=1e-8, parameters={"K": np.ones((2, 3)), "N": 3})
    assert other["X"].values[-1] == pytest.approx(start * math.exp(-3.0), rel=1e-6)


class OneArray(tg.DSblock):
    """Returns its only array as it is."""

    def define(self, declare: Any) -> None:
        declare.state("X", start=[[1.0, 2.0], [3.0, 4.0]])

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return np.array([[-1.0, -2.0], [-3.0, -4.0]]) * x.X


@pytest.mark.parametrize("traced", [True, False])
def test_the_only_array_may_be_returned_as_it_is(traced: bool) -> None:
    start = np.array([[1.0, 2.0], [3.0, 4.0]])
    result = tg.simulate(OneArray(), (0.0, 1.0), rtol=1e-8, traced=traced)
    assert result["X"].values[-1] == pytest.approx(start * np.exp(-start), rel=1e-6)


@pytest.mark.slow
def test_a_block_answers_to_every_changed_parameter() -> None:
    with pytest.raises(tg.UsageError, match="refuses N = 2: two is not possible"):
        tg.simulate(Matrix(), (0.0, 1.0), parameters={"N": 2})
    with pytest.warns(tg.TidegateWarning, match="ON = False: nothing will move"):
        result = tg.simulate(Matrix(), (0.0, 1.0), parameters={"ON": False})
    assert np.all(result["X"].values == 0.0)
    for wrong, words in (({"N": 6}, "N = 6, but value <= 5"), ({"N": 2.5}, "it is an integer"), ({"K": np.zeros((2, 3))}, "0 < value")):
        with pytest.raises(tg.UsageError, match=words):
            tg.simulate(Matrix(), (0.0, 1.0), parameters=wrong)


class Steps(tg.DSblock):
    """Asks at every completed step whether x has passed 1, and starts again from 0."""

    def define(self, declare: Any) -> None:
        declare.state("X")
        declare.discrete("n")

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return 1.0

    def step_condition(self, t: float, x: Any, u: Any, p: Any, m: Any) -> bool:
        return x.X > 1.0

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        assert happening.step
        m.n += 1
        return EventAction(x=[0.0])


def test_a_condition_is_looked_at_behind_every_step() -> None:
    result = tg.simulate(Steps(), (0.0, 5.0), max_step=0.1)
    assert result.final["n"] == 4  # at 1.1 or less each, since steps have at most 0.1
    times = [event.time for event in result.events]
    assert all(1.0 < later - earlier <= 1.1 + 1e-12 for earlier, later in zip([0.0, *times], times, strict=False))


class Cut(Steps):
    """Wishes a step event behind every step; an indicator crosses zero at 1/2, inside a step that is cut there, or at a tick, where a step ends."""

    def define(self, declare: Any) -> None:
        super().define(declare)
        declare.indicator("Z")
        declare.discrete("both")
        declare.real("TICK", 9.0)

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return x.X - 0.5

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        return Start(next_event=p.TICK)

    def step_condition(self, t: float, x: Any, u: Any, p: Any, m: Any) -> bool:
        return bool(abs(x.X - 0.5) < 1e-9)

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        m.n += 1
        m.both += happening.state and happening.step
        return EventAction(x=[x.X + 1.0])


@pytest.mark.slow
def test_a_step_that_a_state_event_cuts_is_not_asked(method: str) -> None:
    for tick, both in ((9.0, 0), (0.5, 1)):
        final = tg.simulate(Cut(), (0.0, 1.0), parameters={"TICK": tick}, rtol=1e-8, method=method).final
        assert (final["n"], final["both"]) == (1, both)


class Stops(Clock):
    """Ends the run at its second tick."""

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        return EventAction("stop") if t > 0.9 else EventAction("continue", next_event=1.0)


def test_an_event_can_end_the_run() -> None:
    result = tg.simulate(Stops(), (0.0, 2.2))
    assert (result.status, float(result.t[-1])) == ("terminated", 1.0)


class Spreading(tg.DSblock):
    """Two ends for one start, but for rounding."""

    def define(self, declare: Any) -> None:
        declare.state("y", start=1e-14)

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return {"y": 30.0 * x.y * (1.0 - x.y**2)}


def test_engines_that_disagree_on_a_block_are_told() -> None:
    with pytest.warns(tg.ToleranceWarning, match="y is so small"):
        check = tg.cross_check(Spreading(), (0.0, 1.02), rtol=1e-4)
    assert not check.agrees
    assert check.differences[0].name == "y"


class Stiff(tg.DSblock):
    """A DAE whose derivative enters by its third power; notes when its Jacobian is asked for."""

    def define(self, declare: Any) -> None:
        declare.form("dae")
        declare.state("X", start=2.0)
        declare.state("Y", start=1.0)
        declare.real("K", 2.0)
        SEEN.clear()

    def residual(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        return [xdot.X + 0.1 * xdot.X**3 + p.K * x.X - x.Y, x.Y * (1.0 + x.Y**2) - x.X]

    def jacobian(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any, cj: float) -> Any:
        SEEN.append((t, True, True, ()))
        return [[p.K + cj * (1.0 + 0.3 * xdot.X**2), -1.0], [-1.0, 1.0 + 3.0 * x.Y**2]]


class Wrong(Stiff):
    def jacobian(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any, cj: float) -> Any:
        return [[1.0, 2.0]]


@pytest.mark.slow
def test_a_jacobian_takes_the_place_of_differences(dae_method: str) -> None:
    exact = tg.simulate(Stiff(), (0.0, 2.0), rtol=1e-9, method=dae_method)
    assert not SEEN  # what is followed has exact derivatives
    called = tg.simulate(Stiff(), (0.0, 2.0), rtol=1e-9, method=dae_method, traced=False)
    assert SEEN
    assert called.statistics.extra["derivatives by states"] == "jacobian"
    assert [called.final[name] for name in "XY"] == pytest.approx([exact.final[name] for name in "XY"], abs=1e-8)
    if dae_method == "radau":
        with pytest.raises(tg.CallbackError, match=r"jacobian of DSblock Wrong returned the shape \(1, 2\)"):
            tg.simulate(Wrong(), (0.0, 2.0), traced=False)
