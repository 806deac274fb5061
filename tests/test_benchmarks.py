"""The benchmarks' own runs work: what they time is what they say."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from benchmarks import own, taylor_series, whole_runs
from benchmarks.component_models import ANGLE, GRAVITY, chain, chain_by_hand, ladder, ladder_by_hand, plate, plate_by_hand
from benchmarks.problems import PROBLEMS
from scipy.integrate import solve_ivp  # pyright: ignore[reportUnknownVariableType]

import tidegate as tg

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


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in taylor_series.CASES if case.end], ids=lambda case: case.title)
def test_power_series_reach_the_reference(case: taylor_series.Case) -> None:
    end_only, whole = (prepared.run() for prepared in taylor_series.prepare(case))
    for result in (end_only, whole):
        assert [result.final[name] for name in case.names] == pytest.approx(case.end, abs=1e-6)
    assert len(end_only.events) == len(whole.events)


@pytest.mark.parametrize("event", [False, True])
def test_what_a_tiny_run_costs_above_its_native_part_is_a_part_of_the_run(event: bool) -> None:
    found = whole_runs.overhead_microseconds(1, event=event)
    assert 0.0 < found < 1e4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parts", "hand", "names"),
    [
        (ladder, ladder_by_hand, ("capacitor[{}].v", "v[{}]")),
        (plate, plate_by_hand, ("cell[{0},{0}].T", "T[{0},{0}]")),
        (chain, chain_by_hand, ("rod[{}].x", "x[{}]")),
    ],
)
def test_models_of_parts_do_what_those_by_hand_do(parts: Any, hand: Any, names: tuple[str, str]) -> None:
    one, other = (tg.simulate(source(5), (0.0, 1.0), rtol=1e-9).final for source in (parts, hand))
    for k in range(5):
        # ten tolerances of the largest
        assert one[names[0].format(k)] == pytest.approx(other[names[1].format(k)], rel=1e-8, abs=1e-8)


@pytest.mark.slow
def test_a_chain_of_pendulums_moves_as_its_angles_do(dae_method: str) -> None:
    n, end = 6, 2.0
    i = np.arange(n)
    below = n - np.maximum.outer(i, i)

    def rates(_t: float, z: Any) -> Any:
        """Lagrange's equations of equal rods and masses of one."""
        angle, speed = z[:n], z[n:]
        apart = angle[:, None] - angle[None, :]
        right = -(below * np.sin(apart)) @ speed**2 - GRAVITY * (n - i) * np.sin(angle)
        return [*speed, *np.linalg.solve(below * np.cos(apart), right)]

    solve = cast("Any", solve_ivp)
    truth = solve(rates, (0.0, end), [ANGLE] * n + [0.0] * n, method="DOP853", rtol=1e-12, atol=1e-13).y[:n, -1]
    result = tg.simulate(chain(n), (0.0, end), rtol=1e-9, method=dae_method)
    x: list[float] = np.cumsum(np.sin(truth)).tolist()
    found = [float(result.final[f"rod[{k}].x"]) for k in range(n)]
    # of lengths up to six: hundreds of steps of IDA add up
    assert found == pytest.approx(x, abs=1e-6 if dae_method == "ida" else 1e-8)
