"""Differential-algebraic equations whose algebraic unknowns follow from the states by expressions in each mode, by power series.

A condition asks an algebraic unknown that its own equation makes jump, as that of a diode's voltage does. The truth is an ordinary differential
equation with the unknowns put in by hand, integrated by SciPy from one end to the other without modes or events.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from scipy import integrate

import tidegate as tg
from reference_problems import GOLDEN, happened, numbers, problem

__all__: list[str] = []

END = 6.0
NAMES = [f"a{i}{j}" for i in range(2) for j in range(2)] + ["b", "c", "q0", "q1", "q2", "k", "gain", "speed"]


def values_of(seed: int) -> dict[str, float]:
    r = random.Random(seed)
    return {name: r.uniform(-1.0, 1.0) for name in NAMES} | {"a00": -r.uniform(0.1, 1.0), "a11": -r.uniform(0.1, 1.0), "speed": r.uniform(0.5, 3.0)}


def residuals(t: Any, y: Any, ydot: Any, p: Any) -> list[Any]:
    drive = p["a00"] * y["x0"] + p["a01"] * y["x1"] + p["b"] * y["u"]
    wanted = p["q0"] * y["x0"] + p["q1"] * y["x1"] + p["q2"] + p["k"] * drive
    return [
        ydot["x0"] - drive - (p["gain"] * wanted if y["v"] > 0.0 else 0.0),
        ydot["x1"] - p["a10"] * y["x0"] - p["a11"] * y["x1"] - p["c"] * y["v"],
        # v reads the derivative, which reads whether v is positive
        y["v"] - p["q0"] * y["x0"] - p["q1"] * y["x1"] - p["q2"] - p["k"] * ydot["x0"],
        y["u"] - np.cos(p["speed"] * t),
    ]


MODEL = tg.dae(residuals, y0={"x0": 0.3, "x1": -0.2, "v": 0.0, "u": 1.0}, p=values_of(0))


def by_hand(t: float, x: Any, p: dict[str, float]) -> tuple[list[float], float]:
    """x' and v."""
    drive = p["a00"] * x[0] + p["a01"] * x[1] + p["b"] * math.cos(p["speed"] * t)
    wanted = p["q0"] * x[0] + p["q1"] * x[1] + p["q2"] + p["k"] * drive
    v = wanted * (1.0 + p["k"] * p["gain"]) if wanted > 0.0 else wanted
    return [drive + p["gain"] * max(wanted, 0.0), p["a10"] * x[0] + p["a11"] * x[1] + p["c"] * v], v


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_algebraic_unknowns_that_jump_by_their_own_condition_follow_the_truth(seed: int) -> None:
    p = values_of(seed)
    result = tg.simulate(MODEL, (0.0, END), method="taylor", rtol=1e-9, parameters=p)
    solve_ivp: Any = integrate.solve_ivp

    def rates(t: float, x: Any) -> list[float]:
        return by_hand(t, x, p)[0]

    found: Any = solve_ivp(rates, (0.0, END), [0.3, -0.2], "DOP853", rtol=1e-11, atol=1e-12, max_step=0.02)
    end = found.y[:, -1]
    assert [result.final["x0"], result.final["x1"]] == pytest.approx(end.tolist(), abs=1e-7 * max(1.0, float(np.abs(found.y).max())))
    for k in range(result.t.size):  # whatever was added up on the way, algebraic unknowns fit the states of their row
        x = [float(result["x0"][k]), float(result["x1"][k])]
        assert float(result["u"][k]) == pytest.approx(math.cos(p["speed"] * result.t[k]), abs=1e-9)
        assert float(result["v"][k]) == pytest.approx(by_hand(float(result.t[k]), x, p)[1], abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("rtol", [1e-4, 1e-8, 1e-12])
def test_the_rectifier_circuit_switches_ten_times_by_power_series(rtol: float) -> None:
    chosen = problem("P3")
    result = tg.simulate(chosen.model, chosen.t_span, method="taylor", rtol=rtol, atol=0.01 * rtol, sensitivities=["a5"] if rtol == 1e-8 else None)
    assert result.statistics.factorizations == 0  # Radau was not needed
    assert [event.time for event in happened(result)] == pytest.approx(numbers(GOLDEN["P3"]["event_times"]), rel=0.0, abs=max(rtol, 1e-12))
    for name, value in GOLDEN["P3"]["end"].items():
        assert result.final[name] == pytest.approx(float(value), rel=0.0, abs=max(100.0 * rtol, 1e-12)), name
    if rtol == 1e-8:
        assert float(result.sensitivity("x2", "a5")[-1]) == pytest.approx(float(GOLDEN["P3"]["sens"]["dx2_da5"]), rel=1e-9)


def coupled(t: Any, y: Any, ydot: Any) -> list[Any]:
    return [ydot["x"] + ydot["y"] - 1.0, ydot["x"] - ydot["y"] - 2.0 * y["x"]]


def test_derivatives_that_are_coupled_are_solved_for() -> None:
    # x' + y' = 1, x' - y' = 2 x: x = e^t (1 + 1/2) - 1/2
    model = tg.dae(coupled, y0={"x": 1.0, "y": 0.0})
    result = tg.simulate(model, (0.0, 1.0), method="taylor", rtol=1e-10)
    assert result.final["x"] == pytest.approx(1.5 * math.e - 0.5, rel=1e-9)
    assert result.final["y"] == pytest.approx(1.0 - (1.5 * math.e - 1.5), rel=1e-9)
