"""The reference problems as plain numeric functions, for the competitors: compiled by Numba or called as Python, as each of them takes.

In: nothing. Out: ``Problem`` records. A switching problem is written the way an expert writes it for a library without modes:
a mode vector m, guards that are watched for rising through zero, and a transition that changes m and the states.
Equations and sources: the README files under ``tests/problems``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["BALL", "CARVER", "CROSSING", "GOLDEN", "PROBLEMS", "RELAY", "ROBERTSON", "Problem", "Vector"]

Vector = NDArray[np.float64]
Function = Callable[..., None]
GOLDEN: Final[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "tests" / "golden" / "hybrid.json").read_text())


@dataclass(frozen=True, eq=False)
class Problem:
    """One problem with everything that the most demanding competitor wants to be given.

    Parameters
    ----------
    key, title : its number among the reference problems, and its name.
    y0, ydot0, p, m : start values, their derivatives, parameters, and the mode vector at the start.
    n_guards : how many guards there are.
    stiff : whether explicit methods are out of the question.
    n_differential : how many of the leading unknowns appear differentiated, where not all do.
    rates : ``rates(t, y, p, m, out)``, y' of the explicit form; None for a system that has none.
    rates_jacobian : ``(t, y, p, m, out)`` with ``out[i, j] = d rates_i / d y_j``.
    residual : ``(t, y, ydot, p, m, out)`` of the implicit form; None where the explicit form is the problem.
    residual_jacobian : ``(t, cj, y, ydot, p, m, out)`` with ``dF/dy + cj dF/dydot``.
    guards : ``(t, y, p, m, out)``; an event is a guard that rises through zero.
    transition : ``(t, y, ydot, p, m, k)`` changes y, ydot and m in place when guard k fired.
    sensitivity_residual : ``(t, y, ydot, s, sdot, p, k, out)``, the implicit form differentiated by parameter k.
    sensitivity_ydot0 : derivatives of the sensitivities at the start, one row for each parameter.
    as_given : ``(t, y, ydot)``, left sides as the source writes them, where ``residual`` is rewritten in other unknowns.
    back : the matrix that takes those other unknowns to the source's.
    reference : its entry among the references, where that is not ``tests/golden/hybrid.json``.
    scored : unknowns whose relative errors count; none for the absolute errors of all.
    atol_ratio : absolute over relative tolerance.
    """

    key: str
    title: str
    t_end: float
    y0: Vector
    p: Vector
    ydot0: Vector = field(default_factory=lambda: np.zeros(0))
    m: Vector = field(default_factory=lambda: np.zeros(1))
    n_guards: int = 0
    n_differential: int = 0
    stiff: bool = False
    rates: Function | None = None
    rates_jacobian: Function | None = None
    residual: Function | None = None
    residual_jacobian: Function | None = None
    guards: Function | None = None
    transition: Function | None = None
    sensitivity_residual: Function | None = None
    sensitivity_ydot0: Vector | None = None
    as_given: Callable[..., list[Any]] | None = None
    back: Vector | None = None
    reference: Mapping[str, Any] | None = None
    scored: tuple[int, ...] = ()
    atol_ratio: float = 0.01

    @property
    def _golden(self) -> Mapping[str, Any]:
        return self.reference if self.reference is not None else GOLDEN[self.key]

    @property
    def n_events(self) -> int:
        """How many events the reference has."""
        return int(self._golden.get("n_events", 0))

    @property
    def names(self) -> list[str]:
        """Names of the unknowns, in order."""
        end = self._golden["end"]
        return list(end) if isinstance(end, Mapping) else [f"y[{k}]" for k in range(len(end))]

    @property
    def end(self) -> Vector:
        """The unknowns at the end, from the reference."""
        end = self._golden["end"]
        return np.array([float(text) for text in (end.values() if isinstance(end, Mapping) else end)])

    def atol(self, rtol: float) -> float:
        """The absolute tolerance that belongs to a relative one."""
        return self.atol_ratio * rtol

    @property
    def end_sensitivities(self) -> Vector:
        """The derivatives at the end, (n_unknowns, n_parameters)."""
        values = GOLDEN[self.key]["sens"]
        return np.array([[float(values[f"d{name}_dp{k + 1}"]) for k in range(self.p.size)] for name in self.names])


# --- P1, the bouncing ball ---


def ball_rates(t: float, y: Vector, p: Vector, m: Vector, out: Vector) -> None:
    out[0] = y[1]
    out[1] = -9.81


def ball_jacobian(t: float, y: Vector, p: Vector, m: Vector, out: Vector) -> None:
    out[:, :] = 0.0
    out[0, 1] = 1.0


def ball_guards(t: float, y: Vector, p: Vector, m: Vector, out: Vector) -> None:
    out[0] = -y[0]


def ball_transition(t: float, y: Vector, ydot: Vector, p: Vector, m: Vector, k: int) -> None:
    y[1] = -p[0] * y[1]


# --- P2, the hidden double crossing: m[0] is 1 while the cubic is above p ---


def crossing_rates(t: float, y: Vector, p: Vector, m: Vector, out: Vector) -> None:
    out[0] = 4.0 - y[0] if m[0] == 0.0 else 10.0 - 2.0 * y[0]


def crossing_jacobian(t: float, y: Vector, p: Vector, m: Vector, out: Vector) -> None:
    out[0, 0] = -1.0 if m[0] == 0.0 else -2.0


def crossing_guards(t: float, y: Vector, p: Vector, m: Vector, out: Vector) -> None:
    x = y[0]
    above = ((x - 5.0) * x + 7.0) * x - p[0]
    out[0] = above if m[0] == 0.0 else -above


def crossing_transition(t: float, y: Vector, ydot: Vector, p: Vector, m: Vector, k: int) -> None:
    m[0] = 1.0 - m[0]


# --- P3, the Carver circuit: m[0] counts A, C after A, B, C after B ---


def carver_residual(t: float, y: Vector, ydot: Vector, p: Vector, m: Vector, out: Vector) -> None:
    x1, x2, x3, v1, v2, v3 = y[0], y[1], y[2], y[3], y[4], y[5]
    out[0] = x1 + x2 - x3
    out[1] = p[12] * (x1 + x2) + p[13] * (ydot[0] + ydot[1]) - v3
    out[2] = 100.0 * math.cos(100.0 * math.pi * t) - v1
    out[3] = -v1 - v2
    out[4] = v1 - v3 - y[6]
    out[5] = v2 - v3 - y[7]
    if m[0] == 0.0:
        out[6] = ydot[0] - (v1 - p[0] * x1) / p[1]
        out[7] = ydot[1]
    elif m[0] == 2.0:
        out[6] = ydot[0]
        out[7] = ydot[1] - (v2 - p[2] * x2) / p[3]
    else:
        out[6] = ydot[0] - (p[4] * v1 + p[5] * v2 + p[6] * x1 + p[7] * x2)
        out[7] = ydot[1] - (p[8] * v1 + p[9] * v2 + p[10] * x1 + p[11] * x2)


def carver_jacobian(t: float, cj: float, y: Vector, ydot: Vector, p: Vector, m: Vector, out: Vector) -> None:
    out[:, :] = 0.0
    out[0, 0] = out[0, 1] = 1.0
    out[0, 2] = -1.0
    out[1, 0] = out[1, 1] = p[12] + cj * p[13]
    out[1, 5] = -1.0
    out[2, 3] = out[3, 3] = out[3, 4] = -1.0
    out[4, 3] = out[5, 4] = 1.0
    out[4, 5] = out[4, 6] = out[5, 5] = out[5, 7] = -1.0
    out[6, 0] = out[7, 1] = cj
    if m[0] == 0.0:
        out[6, 3] = -1.0 / p[1]
        out[6, 0] += p[0] / p[1]
    elif m[0] == 2.0:
        out[7, 4] = -1.0 / p[3]
        out[7, 1] += p[2] / p[3]
    else:
        out[6, 0] -= p[6]
        out[6, 1] = -p[7]
        out[6, 3] = -p[4]
        out[6, 4] = -p[5]
        out[7, 0] = -p[10]
        out[7, 1] -= p[11]
        out[7, 3] = -p[8]
        out[7, 4] = -p[9]


def carver_guards(t: float, y: Vector, p: Vector, m: Vector, out: Vector) -> None:
    if m[0] == 0.0:
        out[0] = y[4] - y[5]
    elif m[0] == 1.0:
        out[0] = -y[0]
    elif m[0] == 2.0:
        out[0] = y[3] - y[5]
    else:
        out[0] = -y[1]


def carver_transition(t: float, y: Vector, ydot: Vector, p: Vector, m: Vector, k: int) -> None:
    m[0] = (m[0] + 1.0) % 4.0
    x1, x2 = y[0], y[1]
    v1 = 100.0 * math.cos(100.0 * math.pi * t)
    v2 = -v1
    v1dot = -1e4 * math.pi * math.sin(100.0 * math.pi * t)
    # algebraic variables and all derivatives by hand: IDA predicts with them, and fails its error test where they do not fit
    slope1 = slope2 = curve1 = curve2 = 0.0
    if m[0] == 0.0:
        slope1 = (v1 - p[0] * x1) / p[1]
        curve1 = (v1dot - p[0] * slope1) / p[1]
    elif m[0] == 2.0:
        slope2 = (v2 - p[2] * x2) / p[3]
        curve2 = (-v1dot - p[2] * slope2) / p[3]
    else:
        slope1 = p[4] * v1 + p[5] * v2 + p[6] * x1 + p[7] * x2
        slope2 = p[8] * v1 + p[9] * v2 + p[10] * x1 + p[11] * x2
        curve1 = (p[4] - p[5]) * v1dot + p[6] * slope1 + p[7] * slope2
        curve2 = (p[8] - p[9]) * v1dot + p[10] * slope1 + p[11] * slope2
    y[2] = x1 + x2
    y[3] = v1
    y[4] = v2
    y[5] = p[12] * (x1 + x2) + p[13] * (slope1 + slope2)
    y[6] = v1 - y[5]
    y[7] = v2 - y[5]
    ydot[0] = slope1
    ydot[1] = slope2
    ydot[2] = slope1 + slope2
    ydot[3] = v1dot
    ydot[4] = -v1dot
    ydot[5] = p[12] * (slope1 + slope2) + p[13] * (curve1 + curve2)
    ydot[6] = v1dot - ydot[5]
    ydot[7] = -v1dot - ydot[5]


# --- P4, the stiff relay: m is (c2, c4) ---


def relay_rates(t: float, y: Vector, p: Vector, m: Vector, out: Vector) -> None:
    out[0] = p[0] * (y[1] + m[0] - y[0])
    out[1] = p[1] * (m[1] - y[1])


def relay_jacobian(t: float, y: Vector, p: Vector, m: Vector, out: Vector) -> None:
    out[0, 0] = -p[0]
    out[0, 1] = p[0]
    out[1, 0] = 0.0
    out[1, 1] = -p[1]


def relay_guards(t: float, y: Vector, p: Vector, m: Vector, out: Vector) -> None:
    out[0] = y[0] - 5.8 if m[0] > 0.0 else 2.5 - y[0]


def relay_transition(t: float, y: Vector, ydot: Vector, p: Vector, m: Vector, k: int) -> None:
    if m[0] > 0.0:
        m[0] = -0.3
        m[1] = 2.73
    else:
        m[0] = 0.4
        m[1] = 5.5


# --- P6, the Robertson reactions ---


def robertson_rates(t: float, y: Vector, p: Vector, m: Vector, out: Vector) -> None:
    slow = p[0] * y[0]
    back = p[1] * y[1] * y[2]
    fast = p[2] * y[1] * y[1]
    out[0] = back - slow
    out[1] = slow - back - fast
    out[2] = fast


def robertson_rates_jacobian(t: float, y: Vector, p: Vector, m: Vector, out: Vector) -> None:
    out[0, 0] = -p[0]
    out[0, 1] = p[1] * y[2]
    out[0, 2] = p[1] * y[1]
    out[2, 0] = 0.0
    out[2, 1] = 2.0 * p[2] * y[1]
    out[2, 2] = 0.0
    for j in range(3):
        out[1, j] = -out[0, j] - out[2, j]


def robertson_residual(t: float, y: Vector, ydot: Vector, p: Vector, m: Vector, out: Vector) -> None:
    slow = p[0] * y[0]
    back = p[1] * y[1] * y[2]
    fast = p[2] * y[1] * y[1]
    out[0] = ydot[0] + slow - back
    out[1] = ydot[1] - slow + back + fast
    out[2] = y[0] + y[1] + y[2] - 1.0


def robertson_jacobian(t: float, cj: float, y: Vector, ydot: Vector, p: Vector, m: Vector, out: Vector) -> None:
    out[0, 0] = cj + p[0]
    out[0, 1] = -p[1] * y[2]
    out[0, 2] = -p[1] * y[1]
    out[1, 0] = -p[0]
    out[1, 1] = cj + p[1] * y[2] + 2.0 * p[2] * y[1]
    out[1, 2] = p[1] * y[1]
    out[2, 0] = out[2, 1] = out[2, 2] = 1.0


def robertson_sensitivity(t: float, y: Vector, ydot: Vector, s: Vector, sdot: Vector, p: Vector, k: int, out: Vector) -> None:
    slow = p[0] * s[0]
    back = p[1] * (s[1] * y[2] + y[1] * s[2])
    fast = 2.0 * p[2] * y[1] * s[1]
    if k == 0:
        slow += y[0]
    elif k == 1:
        back += y[1] * y[2]
    else:
        fast += y[1] * y[1]
    out[0] = sdot[0] + slow - back
    out[1] = sdot[1] - slow + back + fast
    out[2] = s[0] + s[1] + s[2]


BALL: Final = Problem(
    "P1", "bouncing ball", 3.5, np.array([1.0, 0.0]), np.array([0.8]), n_guards=1,
    rates=ball_rates, rates_jacobian=ball_jacobian, guards=ball_guards, transition=ball_transition,
)  # fmt: skip
CROSSING: Final = Problem(
    "P2", "hidden crossing", 2.0, np.array([0.0]), np.array([2.9]), n_guards=1,
    rates=crossing_rates, rates_jacobian=crossing_jacobian, guards=crossing_guards, transition=crossing_transition,
)  # fmt: skip
CARVER: Final = Problem(
    "P3", "Carver circuit (DAE)", 0.05, np.array([0.0, 0.0, 0.0, 100.0, -100.0, 250.0 / 3.0, 50.0 / 3.0, -550.0 / 3.0]),
    np.array([12.0, 0.24, 12.0, 0.24, 13.64, -11.64, -50.0, 0.0, -11.64, 13.64, 0.0, -50.0, 10.0, 0.2]),
    ydot0=np.array([1250.0 / 3.0, 0.0, 1250.0 / 3.0, 0.0, 0.0, 0.0, 0.0, 0.0]), n_guards=1, n_differential=2,
    residual=carver_residual, residual_jacobian=carver_jacobian, guards=carver_guards, transition=carver_transition,
)  # fmt: skip
RELAY: Final = Problem(
    "P4", "stiff relay", 5.0, np.array([4.2, 0.3]), np.array([2.7e6, 3.5651205]), m=np.array([0.4, 5.5]), n_guards=1, stiff=True,
    rates=relay_rates, rates_jacobian=relay_jacobian, guards=relay_guards, transition=relay_transition,
)  # fmt: skip
ROBERTSON: Final = Problem(
    "P6", "Robertson (DAE)", 4e4, np.array([1.0, 0.0, 0.0]), np.array([0.04, 1e4, 3e7]),
    ydot0=np.array([-0.04, 0.04, 0.0]), n_differential=2, stiff=True,
    rates=robertson_rates, rates_jacobian=robertson_rates_jacobian, residual=robertson_residual, residual_jacobian=robertson_jacobian,
    sensitivity_residual=robertson_sensitivity, sensitivity_ydot0=np.array([[-1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
)  # fmt: skip
PROBLEMS: Final = (BALL, CROSSING, CARVER, RELAY, ROBERTSON)
