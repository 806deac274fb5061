"""A time event that the integrator may step past (TEVENT(2), ``may_reach``) happens at its time, and costs no restart where it changes nothing.

Where it does change something the method begins anew there (DSblock 3.3, BLOCKS and BLOCKV). Likewise ICALL(2), which tells of steps.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from callbacks_by_python import by_python
from random_compiled_blocks import Drawn, judge
from random_compiled_source import written

BLOCKS = Path(__file__).parent / "blocks"
END = 5.03


class Clock(tg.DSblock):
    """``x'' = -x`` with a tick every PERIOD, which steps may pass by REACH; each KICK-th tick gives a push, each LOUD-th changes a gain."""

    def define(self, declare: Any) -> None:
        declare.state("X", start=1.0)
        declare.state("V")
        for name, value in (("PERIOD", 0.1), ("REACH", 0.0), ("FORCE", 0.0)):
            declare.real(name, value)
        declare.integer("KICK", 0)
        declare.discrete("TICKS")
        declare.discrete("TOTAL")
        declare.discrete("GAIN", 1.0)
        declare.auxiliary("COUNT")

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return [x.V, -x.X + p.FORCE * m.GAIN]

    def communication(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return m.TICKS

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Any:
        return tg.dsblock.Start(next_event=p.PERIOD, may_reach=p.PERIOD + p.REACH if p.REACH else None)

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        m.TICKS += 1
        m.TOTAL += x.X
        following = (m.TICKS + 1) * p.PERIOD
        reach = following + p.REACH if p.REACH else None
        if p.KICK and m.TICKS % p.KICK == 0:
            return tg.dsblock.EventAction(x={"V": x.V + 0.1}, next_event=following, may_reach=reach)
        return tg.dsblock.EventAction(action="continue", next_event=following, may_reach=reach)


def truth(kick: int) -> tuple[float, float, list[float]]:
    x, v, t, total, times = 1.0, 0.0, 0.0, 0.0, []
    for n in range(1, 51):
        h, t = n * 0.1 - t, n * 0.1
        x, v = x * math.cos(h) + v * math.sin(h), v * math.cos(h) - x * math.sin(h)
        total, times = total + x, [*times, t]
        v += 0.1 if kick and n % kick == 0 else 0.0
    h = END - t
    return x * math.cos(h) + v * math.sin(h), total, times


@pytest.mark.slow
@pytest.mark.parametrize("traced", [None, False])
@pytest.mark.parametrize("kick", [0, 3])
def test_ticks_that_steps_pass_happen_at_their_times(method: str, traced: bool | None, kick: int) -> None:
    x, total, times = truth(kick)
    for reach in (0.0, 0.05, 0.5, 1e9):
        result = tg.simulate(Clock(), (0, END), parameters={"REACH": reach, "KICK": kick}, rtol=1e-9, method=method, traced=traced, outputs=0.07)
        assert [event.time for event in result.events] == pytest.approx(times, abs=1e-12)
        assert result.final["X"] == pytest.approx(x, abs=1e-6)
        assert (result.final["TICKS"], result.final["TOTAL"]) == (50.0, pytest.approx(total, abs=1e-5))
        # every row has what had happened until then, and lies where it was asked for
        rows = [k for k, t in enumerate(result.t) if np.min(np.abs(np.array(times) - t)) > 1e-9]
        assert result["COUNT"].values[rows].tolist() == [math.floor(t / 0.1 + 1e-9) for t in result.t[rows]]
        assert (np.diff(result.t) >= 0).all()


@pytest.mark.slow
def test_ticks_that_change_nothing_cost_no_steps(method: str) -> None:
    steps = {}
    for reach in (0.0, 1e9):
        steps[reach] = tg.simulate(Clock(), (0, END), parameters={"REACH": reach, "PERIOD": 0.02}, rtol=1e-6, method=method).statistics.steps
    never = tg.simulate(Clock(), (0, END), parameters={"PERIOD": 100.0}, rtol=1e-6, method=method).statistics.steps
    assert steps[0.0] >= 251
    assert steps[1e9] <= never + 2


def test_no_step_goes_beyond_what_may_be_reached() -> None:
    asked: list[float] = []

    class Watched(Clock):
        def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
            asked.append(t - (m.TICKS + 1) * p.PERIOD)
            return super().derivatives(t, x, u, p, m)

    tg.simulate(Watched(), (0, 3), parameters={"PERIOD": 1.0, "REACH": 0.25}, rtol=1e-3, traced=False, method="rodas5p")
    assert 0.1 < max(asked) <= 0.25 + 1e-9


class Changed(Clock):
    """It says that nothing has changed, and its gain has."""

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        m.GAIN = -m.GAIN
        return super().event(happening, t, x, u, p, m)


@pytest.mark.slow
@pytest.mark.parametrize("traced", [None, False])
def test_a_block_that_changes_its_equations_is_not_believed_that_nothing_has_changed(traced: bool | None) -> None:
    finals = [
        tg.simulate(Changed(), (0, 2.05), parameters={"REACH": reach, "FORCE": 1.0}, rtol=1e-9, traced=traced).final["X"] for reach in (0.0, 1e9)
    ]
    x, v, t, gain = 1.0, 0.0, 0.0, 1.0
    for n in range(1, 22):
        h, t = min(n * 0.1, 2.05) - t, min(n * 0.1, 2.05)
        x, v, gain = gain + (x - gain) * math.cos(h) + v * math.sin(h), v * math.cos(h) - (x - gain) * math.sin(h), -gain
    assert finals == pytest.approx([x, x], abs=1e-8)


@pytest.mark.slow
def test_a_compiled_clock_may_be_passed() -> None:
    block = tg.dsblock.build(BLOCKS / "clock.f", prefix="clock")
    result = tg.simulate(block, (0.0, 1.1), rtol=1e-8)
    assert [event.time for event in result.events] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert [result.final[name] for name in ("TICKS", "STEPS", "TOGETHER")] == [4.0, 1.0, 2.0]


@pytest.mark.slow
def test_with_derivatives_every_tick_ends_a_step() -> None:
    result = tg.simulate(Clock(), (0, END), parameters={"REACH": 1e9}, rtol=1e-8, sensitivities=["PERIOD"])
    assert result.statistics.steps >= 50
    assert result.sensitivity("X", "PERIOD").values[-1] == pytest.approx(0.0, abs=1e-9)
    h = 1e-6
    totals = [tg.simulate(Clock(), (0, END), parameters={"PERIOD": p}, rtol=1e-11).final["TOTAL"] for p in (0.1 + h, 0.1 - h)]
    assert result.sensitivity("TOTAL", "PERIOD").values[-1] == pytest.approx((totals[0] - totals[1]) / (2 * h), rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [6, 39, 50, 58])
def test_random_compiled_blocks_whose_events_may_all_be_passed(seed: int, tmp_path: Path) -> None:
    drawn = Drawn(seed)
    drawn.reach[:] = 0.15
    source = tmp_path / f"passed.{drawn.language}"
    source.write_text(((BLOCKS / "blo.h").read_text() if drawn.language == "c" else "") + written(drawn))
    block = tg.dsblock.build(source, prefix=drawn.prefix)
    for method in ("radau", "ida"):
        judge(drawn, block, method)


@pytest.mark.parametrize("is_called", [False, True])
@pytest.mark.parametrize("options", [{}, {"method": "bdf"}, {"method": "ida"}, {"inputs": {"U": lambda t: 0.0}}])
def test_blockf_finds_zero_in_icall_2_at_the_first_call_of_a_step_and_then_what_it_left(options: dict[str, Any], is_called: bool) -> None:
    block = tg.dsblock.build(BLOCKS / "first.c", prefix="first")
    with by_python(wanted=is_called):
        result = tg.simulate(block, (0.0, 1.0), rtol=1e-8, **{"inputs": {"U": 0.0}, **options})
    began, calls, wrong = (result.final[name] for name in ("STEPS", "CALLS", "WRONG"))
    assert result.final["X"] == pytest.approx(math.exp(-1.0), abs=1e-6)
    assert wrong == 0.0
    assert result.statistics.steps <= began <= result.statistics.steps + 2
    assert calls > 2 * began
