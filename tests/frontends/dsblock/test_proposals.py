"""What a block proposes is used where the caller says nothing, and what it asks of the run is true; communication points and event points."""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.frontends.dsblock import EventAction, Start

ASKED: list[Any] = []


class Proposes(tg.DSblock):
    """``x' = -x`` with the settings that are declared."""

    wants: Any = None

    def define(self, declare: Any) -> None:
        declare.state("X", start=1.0)
        declare.defaults(**self.wants or {})

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return -x.X

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> None:
        ASKED.append(self.environment)


def proposing(**wants: Any) -> Proposes:
    block = Proposes()
    block.wants = wants
    return block


def test_a_block_says_where_its_run_ends_and_the_caller_says_otherwise() -> None:
    block = proposing(t_start=1.0, t_end=3.0, output_step=0.5)
    result = tg.simulate(block)
    assert result.t == pytest.approx([1.0, 1.5, 2.0, 2.5, 3.0])
    assert result.final["X"] == pytest.approx(math.exp(-2.0), rel=1e-5)
    assert tg.simulate(block, (0, 1)).t == pytest.approx([0.0, 0.5, 1.0])
    assert tg.simulate(block, (0, 1), outputs=[0.3]).t == pytest.approx([0.3])
    assert len(tg.simulate(proposing(t_end=1.0, output_intervals=7)).t) == 8
    for source, words in ((proposing(), "nobody says where the run of Proposes ends"), (tg.ode(lambda t, y: [1.0], y0=[0.0]), "t_span is missing")):
        with pytest.raises(tg.UsageError, match=words):
            tg.simulate(source)


def test_options_of_the_run_are_those_proposed_unless_the_caller_chose() -> None:
    block = proposing(t_end=1.0, rtol=1e-9, first_step=1e-3, max_step=0.25, nominal=(100.0,), prefers_stiff=False)
    problem = tg.prepare(block).problem
    assert (problem.rtol, problem.first_step, problem.step_max) == (1e-9, 1e-3, 0.25)
    assert problem.atol == pytest.approx([1e-9])  # a hundredth of rtol times the typical size
    assert tg.simulate(block).statistics.method == "adams"
    assert tg.simulate(block, method="radau", rtol=1e-4).options["rtol"] == 1e-4
    assert ASKED[-1].rtol == 1e-4
    assert (ASKED[-1].t_start, ASKED[-1].t_end) == (0.0, 1.0)
    simulation = tg.Simulation(block)
    assert simulation.options["rtol"] == 1e-9
    assert math.isinf(ASKED[-1].t_end)


def test_what_is_not_used_is_noted_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="tidegate.dsblock"):
        tg.prepare(proposing(t_end=1.0, max_order=3, precision=2, min_step=1e-6, delay_resolution=0.1))
    for name in ("max_order = 3", "precision = 2", "min_step = 1e-06", "delay_resolution = 0.1"):
        assert f"proposes {name}" in caplog.text


def test_a_limit_of_evaluations_ends_the_run() -> None:
    with pytest.raises(tg.TooManyStepsError, match="were evaluated 20 times") as told:
        tg.simulate(proposing(t_end=50.0, max_evaluations=20), rtol=1e-9)
    assert 0.0 < told.value.time < 50.0
    assert tg.simulate(proposing(t_end=1.0, max_evaluations=20), max_evaluations=0).success


@pytest.mark.parametrize(
    ("option", "words"),
    [({"communication": "exakt"}, "communication='exakt'"), ({"store_priority": 101}, "store_priority=101"), ({"max_evaluations": 2.5}, "=2.5")],
)
def test_options_of_blocks_that_cannot_be_are_refused(option: dict[str, Any], words: str) -> None:
    with pytest.raises(tg.UsageError, match=words):
        tg.simulate(proposing(), (0, 1), **option)


@pytest.mark.parametrize("outputs", [0.1, np.linspace(0.0, 1.0, 11)])
def test_communication_points_are_passed_or_stepped_to(outputs: Any, method: str) -> None:
    points = np.linspace(0.1, 0.9, 9)
    found = {}
    for how in ("interpolate", "exact", "restart"):
        result = tg.simulate(proposing(), (0.0, 1.0), outputs=outputs, communication=how, rtol=1e-6, method=method)
        assert result.t == pytest.approx(np.linspace(0.0, 1.0, 11))
        assert result["X"].values == pytest.approx(np.exp(-result.t), rel=1e-4)
        assert len(result.events) == 0
        assert result.interpolant is not None
        ends = result.interpolant.starts
        found[how] = [bool(np.min(np.abs(ends - point)) < 1e-13) for point in points], result.statistics.jacobians
    assert not all(found["interpolate"][0])
    assert all(found["exact"][0])
    assert all(found["restart"][0])
    if method == "radau":
        assert found["restart"][1] >= 9 > found["exact"][1]  # a restart forgets the Jacobian


class Clock(tg.DSblock):
    """Ticks at 1, 2, 3, 4 with the priorities given, and raises A each time."""

    priorities: tuple[int, ...] = (10, 50, 90, 30)

    def define(self, declare: Any) -> None:
        declare.state("A")

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return 0.0

    def start(self, t0: float, x0: Any, u0: Any, p: Any, m: Any) -> Start:
        return Start(next_event=1.0)

    def event(self, happening: Any, t: float, x: Any, u: Any, p: Any, m: Any) -> EventAction:
        return EventAction(x=[x.A + 1.0], next_event=t + 1.0, priority=self.priorities[round(t) - 1])


@pytest.mark.slow
def test_event_points_are_stored_twice_if_they_are_important_enough() -> None:
    for limit, times in ((100, [1, 2, 3, 4]), (50, [1, 2, 4]), (30, [1, 4]), (9, []), (0, [])):
        result = tg.simulate(Clock(), (0.0, 4.5), outputs=[0.0, 4.25, 4.5], store_priority=limit)
        assert result.t.tolist() == [0.0, *(float(t) for t in times for _ in range(2)), 4.25, 4.5]
        assert [event.priority for event in result.events] == [10, 50, 90, 30]
        assert result.final["A"] == 4.0
    # what was asked for has its row, and so has the end
    result = tg.simulate(Clock(), (0.0, 4.0), outputs=[0.0, 2.0, 4.0], store_priority=0)
    assert result.t.tolist() == [0.0, 2.0, 4.0, 4.0]
    assert result["A"].values.tolist() == [0.0, 2.0, 3.0, 4.0]


def test_a_priority_that_cannot_be_is_clipped_with_a_warning() -> None:
    block = Clock()
    block.priorities = (0, 101, 1, 100)
    with pytest.warns(tg.DSblockWarning, match="has the priority 0; from 1 to 100"):
        result = tg.simulate(block, (0.0, 4.5))
    assert [event.priority for event in result.events] == [1, 100, 1, 100]
