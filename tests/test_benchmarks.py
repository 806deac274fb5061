"""The benchmarks' own runs work: what they time is what they say."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import own, whole_runs
from benchmarks.problems import PROBLEMS

__all__: list[str] = []


@pytest.mark.parametrize(("key", "sensitivities"), [("P1", False), ("P3", False), ("P6", True)])
def test_tidegate_s_own_run_reaches_the_reference_again_and_again(key: str, sensitivities: bool) -> None:
    problem = next(problem for problem in PROBLEMS if problem.key == key)
    run = own.prepare(problem, 1e-8, sensitivities)
    first, second = run(), run()
    assert np.array_equal(first.y, second.y)
    assert first.y == pytest.approx(problem.end, rel=1e-5, abs=1e-7)
    if sensitivities:
        # Robertson's derivatives by its three rates differ by nine orders of magnitude
        assert first.sensitivities == pytest.approx(problem.end_sensitivities, rel=1e-4, abs=1e-12)


@pytest.mark.parametrize("event", [False, True])
def test_what_a_tiny_run_costs_above_its_native_part_is_a_part_of_the_run(event: bool) -> None:
    found = whole_runs.overhead_microseconds(1, event=event)
    assert 0.0 < found < 1e4
