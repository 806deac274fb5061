"""Who is told of what at an instant of connected blocks, and what becomes of their answers."""

from __future__ import annotations

import math
from typing import Any

import pytest

import tidegate as tg
from tidegate.frontends.dsblock import EventAction, Start

LOG: list[tuple[Any, ...]] = []


class Clock(tg.DSblock):
    """Time events every ``T``; its output counts them."""

    def __init__(self, period: float, action: str = "restart", priority: int = 50) -> None:
        self.period, self.action, self.priority = period, action, priority

    def define(self, declare: Any) -> None:
        declare.input("U")
        declare.output("Y")
        declare.discrete("n")
        declare.outputs_depend_on(inputs=False)

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        return Start(next_event=t0 + self.period)

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return m.n

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        LOG.append((self.name, t, happening.time, happening.state, happening.step, u.U))
        m.n += 1
        return EventAction(self.action, next_event=t + self.period, priority=self.priority, reason=f"{self.name} is done")


class Edge(tg.DSblock):
    """A state event where its input crosses ``at``; its output is ``before`` and then ``after``, and back."""

    def __init__(self, at: float, before: float = 0.0, after: float = 1.0) -> None:
        self.at, self.values = at, (before, after)

    def define(self, declare: Any) -> None:
        declare.input("U")
        declare.output("Y")
        declare.indicator("Z")
        declare.discrete("n")
        declare.outputs_depend_on(inputs=False)

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return u.U - self.at

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return self.values[int(m.n) % 2]

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        LOG.append((self.name, t, happening.time, happening.state, happening.step, u.U))
        m.n += 1
        return EventAction()


class Ramp(tg.DSblock):
    """``x' = 1``, ``y = x``; a step event once x is beyond ``upto``."""

    def __init__(self, upto: float = 1e9) -> None:
        self.upto = upto

    def define(self, declare: Any) -> None:
        declare.state("X")
        declare.output("Y")

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return 1.0

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return x.X

    def step_condition(self, t: float, x: Any, u: Any, p: Any, m: Any) -> bool:
        return self.upto < x.X

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        LOG.append((self.name, happening.time, happening.state, happening.step))
        return EventAction("stop", reason="far enough")


def named(**blocks: Any) -> dict[str, Any]:
    """Blocks that know their names in the connection."""
    for name, block in blocks.items():
        block.name = name
    LOG.clear()
    return blocks


def test_clocks_that_meet_are_told_once_in_order_with_inputs_from_before() -> None:
    blocks = named(slow=Clock(0.5), fast=Clock(0.25))
    result = tg.simulate(tg.dsblock.join(blocks, {"slow.U": "fast.Y", "fast.U": "slow.Y"}), (0.0, 0.6))
    told = [(name, t, u) for name, t, is_time, is_state, is_step, u in LOG if is_time and not is_state and not is_step]
    assert told == [("fast", 0.25, 0.0), ("slow", 0.5, 1.0), ("fast", 0.5, 0.0)]
    assert (float(result.final["slow.n"]), float(result.final["fast.n"])) == (1.0, 2.0)
    assert [event.time for event in result.events] == [0.25, 0.5]


def test_a_time_event_reaches_others_as_a_state_event_of_the_next_round() -> None:
    blocks = named(first=Edge(1.5), clock=Clock(0.5), second=Edge(0.5))
    links = {"first.U": "clock.Y", "second.U": "first.Y", "clock.U": "second.Y"}
    tg.simulate(tg.dsblock.join(blocks, links), (0.0, 1.2))
    assert [(entry[0], entry[2], entry[3], entry[-1]) for entry in LOG] == [
        ("clock", True, False, 0.0), ("clock", True, False, 0.0), ("first", False, True, 2.0), ("second", False, True, 1.0),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_pending_time_event_outlives_the_events_of_others() -> None:
    blocks = named(ramp=Ramp(), edge=Edge(0.3), clock=Clock(0.5))
    tg.simulate(tg.dsblock.join(blocks, {"edge.U": "ramp.Y", "clock.U": "edge.Y"}), (0.0, 0.9))
    assert [(entry[0], round(entry[1], 9), entry[-1]) for entry in LOG] == [("edge", 0.3, pytest.approx(0.3)), ("clock", 0.5, 1.0)]


def test_a_step_event_goes_to_the_block_that_asks() -> None:
    blocks = named(ramp=Ramp(0.5), other=Ramp(), clock=Clock(10.0))
    result = tg.simulate(tg.dsblock.join(blocks, {}), (0.0, 2.0), max_step=0.1)
    assert LOG == [("ramp", False, False, True)]
    assert 0.5 < result.t[-1] < 0.7
    assert "far enough" in result.message


@pytest.mark.slow
def test_blocks_that_go_on_answering_each_other_are_named() -> None:
    # each follows the other, and one of them with the other sign: there is no state in which both rest
    blocks = named(ramp=Ramp(), start=Edge(0.5), left=Edge(0.5), right=Edge(0.5, 1.0, 0.0), mix=Mix())
    links = {"start.U": "ramp.Y", "mix.A": "start.Y", "mix.B": "right.Y", "left.U": "mix.Y", "right.U": "left.Y"}
    with pytest.raises(tg.TidegateError, match=r"after 20 rounds (left|right)\.Z still cross"):
        tg.simulate(tg.dsblock.join(blocks, links), (0.0, 1.0))


class Mix(tg.DSblock):
    """``y = a b``."""

    def define(self, declare: Any) -> None:
        declare.input("A")
        declare.input("B")
        declare.output("Y")

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return u.A * u.B


@pytest.mark.slow
def test_one_that_stops_stops_all_and_the_smallest_priority_counts() -> None:
    blocks = named(one=Clock(0.5, "continue", 70), two=Clock(0.25, "continue", 30), three=Clock(0.75, "stop", 90))
    result = tg.simulate(tg.dsblock.join(blocks, {}), (0.0, 2.0), store_priority=60, outputs=[0.0, 2.0])
    assert result.t[-1] == 0.75
    assert "three is done" in result.message
    # of the points at 0.25, 0.5 and 0.75 all are as important as two, which is told at each
    assert sorted({float(t) for t in result.t}) == [0.0, 0.25, 0.5, 0.75]
    lesser = tg.dsblock.join(named(one=Clock(0.5, "continue", 70), two=Clock(0.25, "continue", 80)), {})
    assert sorted({float(t) for t in tg.simulate(lesser, (0.0, 0.6), store_priority=60, outputs=[0.0, 0.6]).t}) == [0.0, 0.6]
    assert sorted({float(t) for t in tg.simulate(lesser, (0.0, 0.6), store_priority=70, outputs=[0.0, 0.6]).t}) == [0.0, 0.5, 0.6]


class Aware(tg.DSblock):
    """Notes its input when it begins, and begins with ``x0 = u0 + add``."""

    def __init__(self, add: float, *, direct: bool) -> None:
        self.add, self.direct = add, direct

    def define(self, declare: Any) -> None:
        declare.state("X", start=-1.0)
        declare.input("U")
        declare.output("Y")
        declare.discrete("told")
        declare.outputs_depend_on(inputs=self.direct)

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        m.told = u0.U
        return Start(x={"X": u0.U + self.add})

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return 0.0

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return x.X + (u.U if self.direct else 0.0)


def test_a_block_begins_with_the_inputs_that_others_give_it_then() -> None:
    # in the order of what follows from what, not of declaration
    blocks = {"last": Aware(0.0, direct=False), "middle": Aware(10.0, direct=True), "first": Aware(1.0, direct=False)}
    chain = tg.dsblock.join(blocks, {"last.U": "middle.Y", "middle.U": "first.Y"})
    final = tg.simulate(chain, (0.0, 1.0), inputs={"first.U": 5.0}).final
    assert [float(final[f"{name}.told"]) for name in ("first", "middle", "last")] == [5.0, 6.0, 22.0]


def test_in_a_circle_all_begin_with_what_was_found_for_all() -> None:
    # both begin once with zero: x = 1 and 2 + 1; then each with the output of the other
    blocks = {"one": Aware(1.0, direct=False), "two": Aware(2.0, direct=False)}
    final = tg.simulate(tg.dsblock.join(blocks, {"one.U": "two.Y", "two.U": "one.Y"}), (0.0, 1.0)).final
    assert [float(final[f"{name}.told"]) for name in ("one", "two")] == [3.0, 1.0]
    assert [float(final[f"{name}.X"]) for name in ("one", "two")] == [4.0, 3.0]


def test_a_stop_that_one_block_wishes_keeps_the_last_row_of_all() -> None:
    class Watch(tg.DSblock):
        def define(self, declare: Any) -> None:
            declare.input("U")
            declare.auxiliary("W")

        def communication(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
            if u.U > 0.45:
                raise tg.StopRun("seen", [7.0])
            return u.U

    watched = tg.dsblock.join({"a": Ramp(), "watch": Watch(), "b": Watch()}, {"watch.U": "a.Y"})
    result = tg.simulate(watched, (0.0, 1.0), outputs=0.1)
    assert result.t[-1] == pytest.approx(0.5)
    assert result.message == "seen"
    assert [float(result.final[name]) for name in ("watch.W", "b.W", "watch.U", "a.Y")] == pytest.approx([7.0, 0.0, 0.5, 0.5])


class Vary(tg.DSblock):
    """One or two states ``x' = u - x`` and one or two indicators, by turns at t = 1, 2, ...; the output is their sum."""

    def define(self, declare: Any) -> None:
        declare.state("A", start=1.0)
        declare.state("B")
        declare.input("U")
        declare.output("Y")
        declare.indicator("Z", shape=(2,))
        declare.discrete("k")
        declare.outputs_depend_on(inputs=False)

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        assert len(x) == 1 + int(m.k) % 2
        return u.U - x.flat

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return float(x.flat.sum())

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return [[x.A - 100.0, x.B - 5.0]] if m.k % 2 else {"Z": [x.A - 100.0, 0.0]}

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        return Start(n_states=1, n_indicators=1, next_event=t0 + 1.0)

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        LOG.append((self.name, round(t, 6), happening.zero))
        if not happening.time:
            return EventAction("continue")
        m.k += 1
        n = 1 + int(m.k) % 2
        return EventAction(x=[x.A, 10.0][:n], n_states=n, n_indicators=n, next_event=t + 1.0)


@pytest.mark.hunt
@pytest.mark.parametrize("loop", [False, True])
def test_numbers_of_states_of_a_block_change_in_a_connection(loop: bool) -> None:
    # b: 10 exp(-t) from t = 1 and from t = 3, where it is there; after: x' = b-sum - x
    blocks: dict[str, Any] = named(vary=Vary(), after=Follow())
    links = {"after.U": "vary.Y"}
    if loop:
        # y = 0.5 u + 0 x, u = y: zero, but a loop to be solved
        blocks |= {"left": Half(), "right": Half()}
        links |= {"left.U": "right.Y", "right.U": "left.Y", "vary.U": "left.Y"}
    inner = tg.dsblock.join(blocks, links)
    assert inner.form == ("dae" if loop else "ode")
    nested = tg.dsblock.join({"plant": inner, "clock": Clock(10.0)}, {"clock.U": "plant.after.Y"})
    result = tg.simulate(nested, (0.0, 2.5), inputs={} if loop else {"plant.vary.U": 0.0}, rtol=1e-8)
    crossing = 1.0 + math.log(2.0)
    assert [(entry[0], entry[2]) for entry in LOG] == [("vary", ()), ("vary", ("Z[1]",)), ("vary", ())]
    assert LOG[1][1] == pytest.approx(crossing, abs=1e-5)
    # x' = e^-t + b - x: t e^-t, and (t - 1) 10 e^-(t - 1) while b is there; b's part decays behind t = 2
    t = 2.5
    expected = t * math.exp(-t) + 10.0 * math.exp(-(t - 1.0))
    assert float(result.final["plant.after.X"]) == pytest.approx(expected, rel=1e-6)
    assert math.isnan(float(result.final["plant.vary.B"]))
    assert math.isnan(float(result.final["plant.vary.Z[1]"]))
    assert result.at([0.5, 1.5, 2.25], "plant.vary.B").values == pytest.approx([math.nan, 10.0 * math.exp(-0.5), math.nan], rel=1e-6, nan_ok=True)
    assert result.at([0.5, 1.5, 2.25], "plant.vary.A").values == pytest.approx([math.exp(-0.5), math.exp(-1.5), math.exp(-2.25)], rel=1e-6)


class Follow(tg.DSblock):
    """``x' = u - x``."""

    def define(self, declare: Any) -> None:
        declare.state("X")
        declare.input("U")
        declare.output("Y")
        declare.outputs_depend_on(inputs=False)

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return u.U - x.X

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return x.X


class Half(tg.DSblock):
    """``y = u / 2``."""

    def define(self, declare: Any) -> None:
        declare.input("U")
        declare.output("Y")

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return u.U / 2.0


class Implicit(tg.DSblock):
    """A DAE: ``x' + x = u``, ``v = 2 x + u``, ``y = v``; with ``tied`` X is x + v, and derivatives enter through a singular matrix."""

    def __init__(self, *, tied: bool) -> None:
        self.tied = tied

    def define(self, declare: Any) -> None:
        declare.form("dae")
        declare.state("X", start=3.0 if self.tied else 1.0)
        declare.state("V", start=2.0)
        declare.input("U")
        declare.output("Y")
        declare.outputs_depend_on(inputs=False)

    def residual(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        own, rate = (x.X - x.V, xdot.X - xdot.V) if self.tied else (x.X, xdot.X)
        return [rate + own - u.U, x.V - 2.0 * own - u.U]

    def outputs(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        return x.V


@pytest.mark.slow
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("loop", [False, True])
def test_what_jumps_through_algebraic_variables_is_an_event_of_the_next_round(tied: bool, loop: bool) -> None:
    # at t = 0.5 u jumps from 0 to 1, and v from 2 x to 2 x + 1, across 2
    blocks: dict[str, Any] = named(clock=Clock(0.5), plant=Implicit(tied=tied), edge=Edge(2.0 - 1e-3))
    links = {"plant.U": "clock.Y", "edge.U": "plant.Y"}
    if loop:
        # u_edge = u_left = 0.5 v + 0.5 u_left
        blocks |= {"left": Mean(), "right": Same()}
        links |= {"left.A": "plant.Y", "left.B": "right.Y", "right.U": "left.Y", "edge.U": "left.Y"}
    result = tg.simulate(tg.dsblock.join(blocks, links), (0.0, 0.8), inputs={"clock.U": 0.0}, rtol=1e-9)
    x = math.exp(-0.5)
    told = [(entry[0], round(entry[1], 9), entry[3]) for entry in LOG if entry[1] > 0.1]
    assert told == [("clock", 0.5, False), ("edge", 0.5, True)]
    assert LOG[-1][-1] == pytest.approx(2.0 * x + 1.0, abs=1e-6)
    last = float(result.final["plant.X"]) - (float(result.final["plant.V"]) if tied else 0.0)
    assert last == pytest.approx(1.0 + (x - 1.0) * math.exp(-0.3), rel=1e-6)


class Mean(tg.DSblock):
    """``y = (a + b) / 2``."""

    def define(self, declare: Any) -> None:
        declare.input("A")
        declare.input("B")
        declare.output("Y")

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return 0.5 * (u.A + u.B)


class Same(tg.DSblock):
    """``y = u``."""

    def define(self, declare: Any) -> None:
        declare.input("U")
        declare.output("Y")

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return u.U


class Discharge(tg.DSblock):
    """``x' = -x / T + u``; where x falls to ``LOW`` it is filled up to ``m.level``, which grows each time."""

    def define(self, declare: Any) -> None:
        declare.state("X", start=1.0)
        declare.input("U")
        declare.output("Y")
        declare.real("T", 1.0)
        declare.real("LOW", 0.5)
        declare.discrete("level", 1.0)
        declare.indicator("LEFT")
        declare.outputs_depend_on(inputs=False)

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return u.U - x.X / p.T

    def outputs(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return x.X

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return x.X - p.LOW

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        m.level = 1.5 * m.level
        return EventAction(x={"X": m.level})


@pytest.mark.slow
@pytest.mark.parametrize("loop", [False, True])
def test_derivatives_by_parameters_go_through_events_of_connections(loop: bool) -> None:
    blocks: dict[str, Any] = {"tank": Discharge(), "rest": Follow()}
    links = {"rest.U": "tank.Y"}
    if loop:
        # u = (y + u) / 2: the loop gives u = y
        blocks |= {"left": Mean(), "right": Same()}
        links = {"left.A": "tank.Y", "left.B": "right.Y", "right.U": "left.Y", "rest.U": "left.Y"}

    def truth(time_constant: float, low: float) -> tuple[float, float]:
        """x = exp(-t / T), then 1.5 exp(-(t - s) / T) from s = -T log(low); and r' = x - r from r = 0."""
        s, a = -time_constant * math.log(low), 1.0 / time_constant
        filled = 1.5 * math.exp(-a * (1.0 - s))

        def driven(r: float, x: float, t: float) -> float:
            c = x / (1.0 - a)
            return (r - c) * math.exp(-t) + c * math.exp(-a * t)

        return filled, driven(driven(0.0, 1.0, s), 1.5, 1.0 - s)

    at = {"tank.T": 0.9, "tank.LOW": 0.5}
    result = tg.simulate(tg.dsblock.join(blocks, links), (0, 1.0), rtol=1e-10, parameters=at, sensitivities=["tank.T", "tank.LOW"])
    assert "tank.derivatives" in result.statistics.extra["compiled callbacks"]
    for k, name in enumerate(("tank.X", "rest.X")):
        assert result.final[name] == pytest.approx(truth(0.9, 0.5)[k], abs=1e-8)
        for which, (dt, dl) in (("tank.T", (1e-5, 0.0)), ("tank.LOW", (0.0, 1e-5))):
            expected = (truth(0.9 + dt, 0.5 + dl)[k] - truth(0.9 - dt, 0.5 - dl)[k]) / 2e-5
            assert result.sensitivity(name, which)[-1] == pytest.approx(expected, rel=1e-6, abs=1e-7), (name, which)
