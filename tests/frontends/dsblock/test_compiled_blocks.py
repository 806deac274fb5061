"""Blocks compiled from C and Fortran against closed forms, and against the same systems stated in Python (DSblock 3.3, calling convention)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import tidegate as tg
from tidegate.frontends.dsblock import CompiledDSblock

BLOCKS = Path(__file__).parent / "blocks"
G, E = 9.81, 0.8
FIRST = math.sqrt(2.0 / G)
BOUNCES = [FIRST, FIRST * (1 + 2 * E), FIRST * (1 + 2 * E + 2 * E * E)]


@pytest.fixture(scope="module")
def ball() -> CompiledDSblock:
    return tg.dsblock.build(BLOCKS / "ball.c", prefix="ball")


def test_a_compiled_ball_bounces_when_its_height_falls_through_zero(ball: CompiledDSblock, method: str) -> None:
    result = tg.simulate(ball, rtol=1e-8, method=method)
    assert [event.time for event in result.events] == pytest.approx(BOUNCES, abs=2e-7)
    assert result["ENERGY"].values[-1] == pytest.approx(G * E**6, rel=1e-6)
    assert result["BOUNCES"].values[-1] == 3.0


def test_nothing_of_a_compiled_block_is_asked_of_python_within_steps(ball: CompiledDSblock) -> None:
    few, many = (tg.simulate(ball, (0.0, 0.4), rtol=1e-8, max_step=step, outputs=[0.0, 0.4]).statistics for step in (0.1, 0.001))
    assert many.steps > 300
    assert many.opaque_calls <= few.opaque_calls


def test_changed_parameters_come_to_the_block_and_its_own_end_of_the_run(ball: CompiledDSblock) -> None:
    result = tg.simulate(ball, (0.0, 9.0), parameters={"STOPS": 2, "G": 2.0, "E": 0.5}, rtol=1e-8)
    assert result.status == "terminated"
    assert [event.time for event in result.events] == pytest.approx([1.0, 2.0], abs=1e-6)
    assert "BLOCKV (ballv) of DSblock ball ends the run" in result.message
    # and the next run has its own again
    assert len(tg.simulate(ball, (0.0, 2.0)).events) == 3


@pytest.mark.parametrize("change", [{"G": 0.0}, {"E": 1.5}, {"STOPS": -1}, {"STOPS": 0.5}])
def test_values_outside_of_the_bounds_of_a_parameter_are_refused(ball: CompiledDSblock, change: dict[str, float]) -> None:
    with pytest.raises(tg.UsageError, match=next(iter(change))):
        tg.simulate(ball, (0.0, 1.0), parameters=change)


def test_a_block_can_be_joined_and_several_of_one_library_run_at_once(ball: CompiledDSblock) -> None:
    both = tg.dsblock.join({"one": ball, "two": ball}, links={})
    result = tg.simulate(both, (0.0, 1.0), rtol=1e-8, parameters={"two.G": 2 * G})
    assert [event.time for event in result.events] == pytest.approx(sorted([FIRST, FIRST / math.sqrt(2), FIRST / math.sqrt(2) * 2.6]), abs=2e-7)
    assert np.isfinite(result["one.HEIGHT"].values).all()
