"""A saved run of a block goes on with what was recorded of its memory, in whatever process; or it is said that it cannot."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tidegate as tg

__all__: list[str] = []


class Ball(tg.DSblock):
    """Bounces; every third time it loses more."""

    def define(self, declare: Any) -> None:
        declare.state("height", start=1.0)
        declare.state("speed")
        declare.indicator("contact")
        declare.real("g", 9.81)
        declare.discrete("bounces")

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return {"height": x.speed, "speed": -p.g}

    def indicators(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return {"contact": x.height}

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Any:
        return tg.dsblock.Start(directions={"contact": -1})

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        m.bounces += 1
        return tg.dsblock.EventAction(x={"speed": -(0.8 if m.bounces % 3 else 0.5) * x.speed})


class Called(Ball):
    """Counts in memory that is not declared."""

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Any:
        m.hits = 0
        return super().start(t0, x0, u0, p, m)

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        m.hits += 1
        return super().event(happening, t, x, u, p, m)


@pytest.mark.slow
@pytest.mark.parametrize("traced", [True, False])
def test_a_saved_block_goes_on_as_if_it_had_not_been_saved(traced: bool, tmp_path: Path) -> None:
    block, end = Ball(), 2.3
    whole = tg.simulate(block, (0.0, end), rtol=1e-9, traced=traced)
    simulation = tg.Simulation(Ball(), rtol=1e-9, traced=traced)
    for stop in (0.3, 1.2, 1.9):
        simulation.advance(stop)
        simulation = tg.Simulation.load(simulation.save(tmp_path / "ball.sim"), Ball())
    simulation.advance(end)
    assert simulation["bounces"] == whole.final["bounces"] == 5
    assert simulation["height"] == pytest.approx(whole.final["height"], rel=1e-6)
    assert [event.time for event in simulation.result.events] == pytest.approx([event.time for event in whole.events], rel=1e-7)


@pytest.mark.slow
def test_it_goes_on_in_another_process(tmp_path: Path) -> None:
    simulation = tg.Simulation(Ball(), rtol=1e-9)
    simulation.advance(1.2)
    simulation.save(tmp_path / "ball.sim")
    code = (
        "import sys; sys.path.insert(0, sys.argv[2]); import tidegate as tg; from test_saved_blocks import Ball; "
        "s = tg.Simulation.load(sys.argv[1], Ball()); s.advance(2.3); print(s['bounces'], s['height'])"
    )
    found = subprocess.run([sys.executable, "-c", code, tmp_path / "ball.sim", Path(__file__).parent], capture_output=True, text=True, check=True)
    whole = tg.simulate(Ball(), (0.0, 2.3), rtol=1e-9)
    assert [float(text) for text in found.stdout.split()] == pytest.approx([5.0, whole.final["height"]], rel=1e-6)


def test_memory_that_was_not_declared_is_missed_by_name(tmp_path: Path) -> None:
    simulation = tg.Simulation(Called(), rtol=1e-9)
    simulation.advance(0.7)
    again = tg.Simulation.load(simulation.save(tmp_path / "called.sim"), Called())
    with pytest.raises(tg.RunError, match=r"m\.hits was not saved with the run, which keeps what declare\.discrete names"):
        again.advance(2.0)


@pytest.mark.slow
def test_connected_blocks_whose_memory_was_not_saved_do_not_go_on(tmp_path: Path) -> None:
    def joined() -> Any:
        return tg.dsblock.join({"a": Ball(), "b": Ball()}, {})

    simulation = tg.Simulation(joined(), rtol=1e-9)
    simulation.advance(0.7)
    saved = simulation.save(tmp_path / "two.sim")
    with pytest.raises(tg.UsageError, match="is not in what was saved of its run"):
        tg.Simulation.load(saved, joined())
