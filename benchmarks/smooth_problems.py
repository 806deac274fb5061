"""Smooth stiff problems of the Test Set for IVP Solvers as plain numeric functions, in the same form as the switching ones.

In: nothing. Out: ``Problem`` records. Scored as the test set does, by the worst relative error of a component; references in
``tests/golden/ivp_reference.json``. The equations are those of ``tests/ivp_testset.py``.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.pollution import pollution_jacobian, pollution_rates
from benchmarks.problems import Problem, Vector

__all__ = ["HIRES", "POLLUTION", "SMOOTH_PROBLEMS", "TRANSISTOR"]

_REFERENCE: Final[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "tests" / "golden" / "ivp_reference.json").read_text())


# --- hires, eight reactants around a plant's growth by light ---


def hires_rates(t: float, y: Vector, p: Vector, m: Vector, out: Vector) -> None:
    q = 280.0 * y[5] * y[7]
    out[0] = -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 7e-4
    out[1] = 1.71 * y[0] - 8.75 * y[1]
    out[2] = -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4]
    out[3] = 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3]
    out[4] = -1.745 * y[4] + 0.43 * (y[5] + y[6])
    out[5] = -q + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6]
    out[6] = q - 1.81 * y[6]
    out[7] = -q + 1.81 * y[6]


def hires_jacobian(t: float, y: Vector, p: Vector, m: Vector, out: Vector) -> None:
    by6, by8 = 280.0 * y[7], 280.0 * y[5]
    out[:, :] = 0.0
    out[0, 0] = -1.71
    out[0, 1] = 0.43
    out[0, 2] = 8.32
    out[1, 0] = 1.71
    out[1, 1] = -8.75
    out[2, 2] = -10.03
    out[2, 3] = 0.43
    out[2, 4] = 0.035
    out[3, 1] = 8.32
    out[3, 2] = 1.71
    out[3, 3] = -1.12
    out[4, 4] = -1.745
    out[4, 5] = out[4, 6] = 0.43
    out[5, 3] = 0.69
    out[5, 4] = 1.71
    out[5, 5] = -by6 - 0.43
    out[5, 6] = 0.69
    out[5, 7] = -by8
    out[6, 5] = by6
    out[6, 6] = -1.81
    out[6, 7] = by8
    out[7, 5] = -by6
    out[7, 6] = 1.81
    out[7, 7] = -by8


# --- the transistor amplifier: capacitors couple derivatives, three of its eight equations are algebraic in hiding ---


def transistor_as_given(t: Any, y: Any, ydot: Any) -> list[Any]:
    signal = 0.1 * np.sin(200.0 * math.pi * t)
    first, second = (1e-6 * (np.exp(u / 0.026) - 1.0) for u in (y[1] - y[2], y[4] - y[5]))
    return [
        1e-6 * (ydot[1] - ydot[0]) - (y[0] - signal) / 1000.0,
        1e-6 * (ydot[0] - ydot[1]) - (y[1] / 9000.0 + (y[1] - 6.0) / 9000.0 + 0.01 * first),
        -2e-6 * ydot[2] - (y[2] / 9000.0 - first),
        3e-6 * (ydot[4] - ydot[3]) - ((y[3] - 6.0) / 9000.0 + 0.99 * first),
        3e-6 * (ydot[3] - ydot[4]) - (y[4] / 9000.0 + (y[4] - 6.0) / 9000.0 + 0.01 * second),
        -4e-6 * ydot[5] - (y[5] / 9000.0 - second),
        5e-6 * (ydot[7] - ydot[6]) - ((y[6] - 6.0) / 9000.0 + 0.99 * second),
        5e-6 * (ydot[6] - ydot[7]) - y[7] / 9000.0,
    ]


# rewritten for libraries that want to know which unknowns are algebraic: what is integrated are the voltages of the capacitors,
# z = (y1 - y2, y3, y4 - y5, y6, y7 - y8; y2, y5, y8). As given, IDA needs ten to a hundred times as long.


def transistor_residual(t: float, z: Vector, zdot: Vector, p: Vector, m: Vector, out: Vector) -> None:
    signal = 0.1 * np.sin(200.0 * math.pi * t)
    first = 1e-6 * (np.exp((z[5] - z[1]) / 0.026) - 1.0)
    second = 1e-6 * (np.exp((z[6] - z[3]) / 0.026) - 1.0)
    into2 = (2.0 * z[5] - 6.0) / 9000.0 + 0.01 * first
    into5 = (2.0 * z[6] - 6.0) / 9000.0 + 0.01 * second
    into8 = z[7] / 9000.0
    out[0] = zdot[0] - into2 / 1e-6
    out[1] = zdot[1] - (first - z[1] / 9000.0) / 2e-6
    out[2] = zdot[2] - into5 / 3e-6
    out[3] = zdot[3] - (second - z[3] / 9000.0) / 4e-6
    out[4] = zdot[4] - into8 / 5e-6
    out[5] = (z[5] + z[0] - signal) / 1000.0 + into2
    out[6] = (z[6] + z[2] - 6.0) / 9000.0 + 0.99 * first + into5
    out[7] = (z[7] + z[4] - 6.0) / 9000.0 + 0.99 * second + into8


def transistor_jacobian(t: float, cj: float, z: Vector, zdot: Vector, p: Vector, m: Vector, out: Vector) -> None:
    slope1 = 1e-6 * np.exp((z[5] - z[1]) / 0.026) / 0.026
    slope2 = 1e-6 * np.exp((z[6] - z[3]) / 0.026) / 0.026
    out[:, :] = 0.0
    out[0, 0] = out[2, 2] = out[4, 4] = cj
    out[0, 1] = 0.01 * slope1 / 1e-6
    out[0, 5] = -(2.0 / 9000.0 + 0.01 * slope1) / 1e-6
    out[1, 1] = cj + (slope1 + 1.0 / 9000.0) / 2e-6
    out[1, 5] = -slope1 / 2e-6
    out[2, 3] = 0.01 * slope2 / 3e-6
    out[2, 6] = -(2.0 / 9000.0 + 0.01 * slope2) / 3e-6
    out[3, 3] = cj + (slope2 + 1.0 / 9000.0) / 4e-6
    out[3, 6] = -slope2 / 4e-6
    out[4, 7] = -1.0 / 9000.0 / 5e-6
    out[5, 0] = 1.0 / 1000.0
    out[5, 1] = -0.01 * slope1
    out[5, 5] = 1.0 / 1000.0 + 2.0 / 9000.0 + 0.01 * slope1
    out[6, 1] = -0.99 * slope1
    out[6, 2] = 1.0 / 9000.0
    out[6, 3] = -0.01 * slope2
    out[6, 5] = 0.99 * slope1
    out[6, 6] = 3.0 / 9000.0 + 0.01 * slope2
    out[7, 3] = -0.99 * slope2
    out[7, 4] = 1.0 / 9000.0
    out[7, 6] = 0.99 * slope2
    out[7, 7] = 2.0 / 9000.0


def _transistor_slopes() -> Vector:
    """Consistent derivatives of z at the start, from the three algebraic equations differentiated by time."""
    gain = 1e-6 / 0.026
    slopes = np.zeros(8)
    slopes[1], slopes[3] = -3.0 / 9000.0 / 2e-6, -3.0 / 9000.0 / 4e-6
    slopes[5] = (0.1 * 200.0 * math.pi / 1000.0 + 0.01 * gain * slopes[1]) / (1.0 / 1000.0 + 2.0 / 9000.0 + 0.01 * gain)
    slopes[6] = (0.01 * gain * slopes[3] - 0.99 * gain * (slopes[5] - slopes[1])) / (3.0 / 9000.0 + 0.01 * gain)
    slopes[7] = -0.99 * gain * (slopes[6] - slopes[3]) / (2.0 / 9000.0)
    return slopes


def _node_voltages() -> NDArray[np.float64]:
    """The matrix that gives y from z."""
    matrix = np.zeros((8, 8))
    for node, places in enumerate([(0, 5), (5,), (1,), (2, 6), (6,), (3,), (4, 7), (7,)]):
        matrix[node, list(places)] = 1.0
    return matrix


def _polluted_air() -> Vector:
    start = np.zeros(20)
    start[[1, 3, 6, 7, 8, 16]] = 0.2, 0.04, 0.1, 0.3, 0.01, 0.007
    return start


_TINY: Final = 15  # the sixteenth species ends at 4e-18, far below any absolute tolerance
HIRES: Final = Problem(
    "hires", "HIRES", 321.8122, np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057]), np.zeros(0), stiff=True,
    rates=hires_rates, rates_jacobian=hires_jacobian, reference=_REFERENCE["hires"], scored=tuple(range(8)), atol_ratio=1e-4,
)  # fmt: skip
POLLUTION: Final = Problem(
    "pollution", "air pollution", 60.0, _polluted_air(), np.zeros(0), stiff=True, rates=pollution_rates, rates_jacobian=pollution_jacobian,
    reference=_REFERENCE["pollution"], scored=tuple(k for k in range(20) if k != _TINY), atol_ratio=1e-4,
)  # fmt: skip
TRANSISTOR: Final = Problem(
    "transistor", "transistor amplifier (DAE)", 0.2, np.array([-3.0, 3.0, 3.0, 3.0, 6.0, 3.0, 3.0, 0.0]), np.zeros(0),
    ydot0=_transistor_slopes(), n_differential=5, stiff=True, residual=transistor_residual, residual_jacobian=transistor_jacobian,
    as_given=transistor_as_given, back=_node_voltages(), reference=_REFERENCE["transistor_amplifier"], scored=tuple(range(8)),
)  # fmt: skip
SMOOTH_PROBLEMS: Final = (HIRES, POLLUTION, TRANSISTOR)
