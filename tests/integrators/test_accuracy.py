"""Radau IIA has the order of its theory, and errors at the end of a run stay within 100 times the tolerance asked for."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import tidegate as tg
from run_checks import final_vector, slopes
from tidegate.integrators.interface import Stop
from tidegate.integrators.kernel_cache import kernel

ALLOWED = 100.0
TOLERANCES = [1e-3, 1e-5, 1e-7, 1e-9, 1e-11]


def error(result: Any, expected: Any, scale: float | None = None) -> float:
    """Largest error at the end over all unknowns, relative to each one's size or to a common one."""
    found = np.array(list(result.final.values()))
    truth = np.asarray(expected, dtype=float)
    return float(np.max(np.abs(found - truth) / (np.abs(truth) if scale is None else scale)))


# --- order -----------------------------------------------------------------------------------------------------------


@cache
def driven() -> Any:
    """Linear with a constant Jacobian, so that Newton's iteration is exact and only the method's error is left."""
    return tg.ode(lambda t, y: [-0.5 * (y[0] - np.sin(t)) + np.cos(t)], y0=[1.0])


def error_with_step(stages: int, step: float, t_end: float) -> float:
    # the kernel is imported by name, so that its machine code is found where runs keep it
    make = kernel("tidegate.integrators.radau.radau_method").RadauIntegrator
    prepared = tg.prepare(driven(), (0.0, t_end), rtol=0.9, atol=1e3, max_step=step, first_step=step)
    integrator = make(prepared.problem, stages=stages)
    assert integrator.start() is Stop.LIMIT
    assert integrator.advance(10_000) is Stop.TARGET
    assert integrator.counters.steps == round(t_end / step)
    return abs(float(integrator.y[0]) - math.sin(t_end) - math.exp(-0.5 * t_end))


@pytest.mark.parametrize(("stages", "coarse"), [(3, 0.5), (5, 1.6), (7, 3.6)])
def test_halving_the_step_divides_the_error_by_two_to_the_order(stages: int, coarse: float) -> None:
    t_end = 24 * coarse
    observed = math.log2(error_with_step(stages, coarse, t_end) / error_with_step(stages, coarse / 2, t_end))
    assert observed == pytest.approx(2 * stages - 1, abs=0.5)


# --- linear systems of any size: own LU and LAPACK ---------------------------------------------------------------------


@cache
def linear_system(n: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(n)
    a = rng.normal(size=(n, n)) / math.sqrt(n) - np.eye(n)
    start = rng.normal(size=n)
    model = tg.ode(lambda t, y, p: [sum(a[i, j] * y["x"][j] for j in range(n)) + p["b"] * a[i, 0] for i in range(n)], y0={"x": start}, p={"b": 0.3})
    return model, a, start


@pytest.mark.hunt
@pytest.mark.parametrize("n", [1, 5, 20, 21, 60])
@pytest.mark.parametrize("rtol", [1e-4, 1e-7, 1e-10])
def test_linear_systems_end_at_the_matrix_exponential(n: int, rtol: float) -> None:
    model, a, start = linear_system(n)
    result = tg.simulate(model, (0.0, 2.0), rtol=rtol, sensitivities=["b"])
    flow = expm(2.0 * np.block([[a, a[:, :1]], [np.zeros((1, n + 1))]]))
    assert final_vector(result, "x", n) == pytest.approx(flow[:n, :n] @ start + 0.3 * flow[:n, n], abs=ALLOWED * rtol)
    assert slopes(result, [f"x[{k}]" for k in range(n)], "b") == pytest.approx(flow[:n, n], abs=ALLOWED * rtol)


# --- non-stiff -------------------------------------------------------------------------------------------------------


@cache
def growing_steps() -> Any:
    """The first steps are tiny and linear, the later ones long with a Jacobian that has changed."""
    return tg.ode(lambda t, y: [y[1], -y[0], -y[0] * y[2]], y0=[1.0, 0.0, 1.0])


@pytest.mark.parametrize("rtol", np.logspace(-3, -12, 19).tolist())
def test_no_tolerance_is_missed_on_a_smooth_problem(rtol: float) -> None:
    for t_end in (1.0, 2.0, 6.0):
        result = tg.simulate(growing_steps(), (0.0, t_end), rtol=rtol)
        assert error(result, [math.cos(t_end), -math.sin(t_end), math.exp(-math.sin(t_end))], 1.0) <= ALLOWED * rtol


@pytest.mark.parametrize("rtol", TOLERANCES)
def test_a_kepler_orbit_closes(rtol: float) -> None:
    e = 0.5

    def orbit(t: Any, y: Any) -> Any:
        cube = (y[0] ** 2 + y[1] ** 2) ** 1.5
        return [y[2], y[3], -y[0] / cube, -y[1] / cube]

    start = [1 - e, 0.0, 0.0, math.sqrt((1 + e) / (1 - e))]
    result = tg.simulate(tg.ode(orbit, y0=start), (0.0, 2 * math.pi), rtol=rtol)
    assert error(result, start, 1.0) <= ALLOWED * rtol


@pytest.mark.parametrize("rtol", [1e-3, 1e-5, 1e-7, 1e-9])
def test_lorenz_agrees_with_a_run_at_the_tightest_tolerance(rtol: float) -> None:
    model = tg.ode(lambda t, y: [10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]], y0=[1.0, 1.0, 1.0])

    def plain(t: float, y: Any) -> Any:
        return [10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]]

    truth = solve_ivp(plain, (0.0, 2.0), [1.0, 1.0, 1.0], method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    assert error(tg.simulate(model, (0.0, 2.0), rtol=rtol), truth, 25.0) <= ALLOWED * rtol


# --- stiff -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rtol", TOLERANCES)
def test_prothero_and_robinson_stays_on_its_slow_solution(rtol: float) -> None:
    model = tg.ode(lambda t, y: [-1e4 * (y[0] - np.cos(t)) - np.sin(t), -y[0] * y[1]], y0=[1.0, 1.0])
    for t_end in (1.0, 2.0, 6.0):
        result = tg.simulate(model, (0.0, t_end), rtol=rtol)
        assert error(result, [math.cos(t_end), math.exp(-math.sin(t_end))], 1.0) <= ALLOWED * rtol


def hires(t: Any, y: Any) -> Any:
    k1, k2, k3, k4, k5, k6, k7, k8, k9, s = 1.71, 0.43, 8.32, 0.69, 0.035, 8.32, 280.0, 0.69, 0.69, 7e-4
    y1, y2, y3, y4, y5, y6, y7, y8 = y
    q = k7 * y6 * y8
    d7 = q - (k2 + k8 + k9) * y7
    return [
        -k1 * y1 + k2 * y2 + k6 * y3 + s,
        k1 * y1 - (k2 + k3) * y2,
        -(k6 + k1) * y3 + k2 * y4 + k5 * y5,
        k3 * y2 + k1 * y3 - (k4 + k2) * y4,
        -(k5 + k1) * y5 + k2 * (y6 + y7),
        -q + k8 * y4 + k1 * y5 - k2 * y6 + k8 * y7,
        d7,
        -d7,
    ]


# test set for initial value problem solvers (Mazzia and Magherini 2008), problem HIRES
HIRES_END = [
    0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4, 0.1175651343283149e-2,
    0.2386356198831331e-2, 0.6238968252742796e-2, 0.2849998395185769e-2, 0.2850001604814231e-2,
]  # fmt: skip


@pytest.mark.parametrize("rtol", TOLERANCES)
def test_hires_ends_at_the_published_values(rtol: float) -> None:
    result = tg.simulate(tg.ode(hires, y0=[1, 0, 0, 0, 0, 0, 0, 0.0057]), (0.0, 321.8122), rtol=rtol, atol=1e-3 * rtol)
    assert error(result, HIRES_END) <= ALLOWED * rtol


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_van_der_pol_with_mu_of_1000_ends_at_its_value(rtol: float) -> None:
    model = tg.ode(lambda t, y: [y[1], 1e3 * (1 - y[0] ** 2) * y[1] - y[0]], y0=[2.0, 0.0])
    # from a run with SciPy's Radau at rtol 1e-12
    assert error(tg.simulate(model, (0.0, 2000.0), rtol=rtol), [1.7061677321, -8.928097010e-4]) <= ALLOWED * rtol


@pytest.mark.parametrize("rtol", TOLERANCES)
def test_robertson_as_an_ode_keeps_its_mass_and_ends_at_its_value(rtol: float) -> None:
    model = tg.ode(
        lambda t, y: [-0.04 * y[0] + 1e4 * y[1] * y[2], 0.04 * y[0] - 1e4 * y[1] * y[2] - 3e7 * y[1] ** 2, 3e7 * y[1] ** 2], y0=[1.0, 0.0, 0.0]
    )
    result = tg.simulate(model, (0.0, 40.0), rtol=rtol, atol=1e-6 * rtol)
    # likewise
    assert error(result, [0.7158270687194, 9.185534764557e-6, 0.2841637457458], 1.0) <= ALLOWED * rtol
    assert sum(result.final.values()) == pytest.approx(1.0, abs=1e-12)


# --- what the step control is given ------------------------------------------------------------------------------------


def test_no_step_is_longer_than_max_step() -> None:
    result = tg.simulate(growing_steps(), (0.0, 3.0), max_step=0.05)
    assert np.diff(result.time).max() <= 0.05 * (1 + 1e-3)


def test_first_step_is_the_first_step() -> None:
    result = tg.simulate(growing_steps(), (0.0, 3.0), first_step=1e-4)
    assert result.time[1] == pytest.approx(1e-4, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e7])
def test_a_change_of_the_unit_of_time_changes_nothing_else(scale: float) -> None:
    model = tg.ode(lambda t, y, p: [y[1] / p["s"], -y[0] / p["s"]], y0=[1.0, 0.0], p={"s": 1.0})
    result = tg.simulate(model, (0.0, 3.0 * scale), parameters={"s": scale}, rtol=1e-8)
    plain = tg.simulate(model, (0.0, 3.0), rtol=1e-8)
    assert result.statistics.steps == plain.statistics.steps
    assert error(result, [math.cos(3.0), -math.sin(3.0)], 1.0) <= 1e-6


@pytest.mark.parametrize("start", [0.0, 1e3, 1e6])
def test_a_run_may_start_at_any_time(start: float) -> None:
    result = tg.simulate(growing_steps(), (start, start + 3.0), rtol=1e-8)
    assert error(result, [math.cos(3.0), -math.sin(3.0), math.exp(-math.sin(3.0))], 1.0) <= 1e-6
