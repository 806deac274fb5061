"""The coefficients of Rodas5P give the order, the dense output and the stability that Steinebach (BIT 63, 2023) states: plain Python, no kernel."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tidegate.integrators.rosenbrock import coefficients as c

Vector = NDArray[np.float64]
MASS = np.diag([1.0, 0.0])
WHOLE, HALF = 0.1, 0.05


def solution(t: float) -> Vector:
    return np.array([math.exp(math.sin(t)), math.cos(2.0 * t)])


def rates(t: float, y: Vector) -> Vector:
    """x' = x cos t + (z - cos 2t) x, 0 = z^3 + x z - (cos^3 2t + exp(sin t) cos 2t): index one, with time in both rows."""
    x, z = y
    return np.array(
        [x * math.cos(t) + (z - math.cos(2 * t)) * x, z**3 + x * z - math.cos(2 * t) ** 3 - math.exp(math.sin(t)) * math.cos(2 * t)],
    )


def jacobian(t: float, y: Vector) -> Vector:
    x, z = y
    return np.array([[math.cos(t) + z - math.cos(2 * t), x], [z, 3 * z * z + x]])


def by_time(t: float, y: Vector) -> Vector:
    del y
    sine, cosine, e = math.sin(2 * t), math.cos(2 * t), math.exp(math.sin(t))
    x = e  # on the solution
    return np.array([x * (-math.sin(t) + 2 * sine), 6 * cosine**2 * sine - e * math.cos(t) * cosine + 2 * e * sine])


def stages(f: Callable[[float, Vector], Vector], j: Vector, slopes: Vector, mass: Vector, at: tuple[float, Vector], h: float) -> Vector:
    t, y = at
    u = np.zeros((c.N_STAGES, len(y)))
    system = mass / (c.GAMMA * h) - j
    for i in range(c.N_STAGES):
        right = f(t + c.ALPHA[i] * h, y + c.OF_VALUES[i] @ u) + mass @ (c.OF_MASS[i] @ u) / h + h * c.OF_TIME[i] * slopes
        u[i] = np.linalg.solve(system, right)
    return u


def one_step(t: float, h: float) -> tuple[Vector, Vector, Vector]:
    """Errors at the end, of the embedded method, and of the dense output at 0.3 of a step that starts on the solution."""
    y = solution(t)
    u = stages(rates, jacobian(t, y), by_time(t, y), MASS, (t, y), h)
    embedded = y + c.OF_VALUES[-1] @ u
    end = embedded + u[-1]
    k = c.DENSE @ u
    theta = 0.3
    inside = (1 - theta) * y + theta * (end + (1 - theta) * (k[0] + theta * (k[1] + theta * k[2])))
    return end - solution(t + h), embedded - solution(t + h), inside - solution(t + theta * h)


@pytest.mark.parametrize(("which", "unknowns", "power"), [(0, [0, 1], 6), (1, [0, 1], 5), (2, [0], 5), (2, [1], 4)])
def test_errors_of_one_step_fall_with_the_order_on_a_dae_with_time(which: int, unknowns: list[int], power: int) -> None:
    """The error of one step is O(h^(p+1)), of algebraic unknowns inside the step O(h^p), since they add nothing up; the largest over many starts."""
    whole, half = (max(np.abs(one_step(0.1 * k, h)[which][unknowns]).max() for k in range(20)) for h in (WHOLE, HALF))
    assert power - 0.4 < math.log2(whole / half) < power + 1.0


def test_what_is_infinitely_stiff_is_gone_after_one_step() -> None:
    """R(infinity) = 0: y' = lambda y ends at zero, and so does the embedded method."""

    def shrinks(stiffness: float) -> tuple[float, float]:
        j = np.array([[-stiffness]])
        start = np.array([1.0])
        u = stages(lambda _t, y: j @ y, j, np.zeros(1), np.eye(1), (0.0, start), 1.0)
        embedded = start + c.OF_VALUES[-1] @ u
        return abs(float((embedded + u[-1])[0])), abs(float(embedded[0]))

    assert max(shrinks(1e6)) < 1e-4
    assert max(shrinks(1e9)) < 1e-7
    # A-stable: nowhere left of zero does it grow
    assert all(max(shrinks(x)) < 1.0 for x in np.geomspace(1e-2, 1e5, 60))


def test_sums_of_rows_are_the_times_of_the_stages() -> None:
    """y' = 1 + t, whose J is zero, is solved exactly, so nothing of df/dt is missing."""
    start = np.array([0.5])
    u = stages(lambda t, _y: np.array([1.0 + t]), np.zeros((1, 1)), np.ones(1), np.eye(1), (2.0, start), 0.7)
    assert float((start + c.OF_VALUES[-1] @ u + u[-1])[0]) == pytest.approx(0.5 + 0.7 + (2.7**2 - 4.0) / 2, abs=1e-12)
