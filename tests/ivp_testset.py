"""Smooth problems of the Test Set for IVP Solvers (CWI Amsterdam, then Bari), scored as there: in significant digits of the worst component.

``tests/golden/ivp_reference.json`` holds the end values.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

import tidegate as tg

__all__ = ["MODELS", "significant_digits"]

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "golden" / "ivp_reference.json").read_text())
UNSCORED = {"pollution": {15}}  # its sixteenth species is 4e-18, far below any absolute tolerance asked for here


def hires(t: Any, y: Any) -> list[Any]:
    y1, y2, y3, y4, y5, y6, y7, y8 = (y[k] for k in range(8))
    q = 280.0 * y6 * y8
    return [
        -1.71 * y1 + 0.43 * y2 + 8.32 * y3 + 7e-4,
        1.71 * y1 - 8.75 * y2,
        -10.03 * y3 + 0.43 * y4 + 0.035 * y5,
        8.32 * y2 + 1.71 * y3 - 1.12 * y4,
        -1.745 * y5 + 0.43 * (y6 + y7),
        -q + 0.69 * y4 + 1.71 * y5 - 0.43 * y6 + 0.69 * y7,
        q - 1.81 * y7,
        -q + 1.81 * y7,
    ]


REACTIONS: list[tuple[float, tuple[int, ...], tuple[int, ...]]] = [
    (0.35, (1,), (2, 3)),
    (26.6, (2, 4), (1,)),
    (1.23e4, (5, 2), (6, 1)),
    (8.6e-4, (7,), (5, 5, 8)),
    (8.2e-4, (7,), (8,)),
    (1.5e4, (7, 6), (8, 5)),
    (1.3e-4, (9,), (10, 8, 5)),
    (2.4e4, (9, 6), (11,)),
    (1.65e4, (11, 2), (10, 12, 1)),
    (9e3, (11, 1), (13,)),
    (0.022, (13,), (11, 1)),
    (1.2e4, (10, 2), (14, 1)),
    (1.88, (14,), (7, 5)),
    (1.63e4, (1, 6), (15,)),
    (4.8e6, (3,), (4,)),
    (3.5e-4, (4,), (16,)),
    (0.0175, (4,), (3,)),
    (1e8, (16,), (6, 6)),
    (4.44e11, (16,), (3,)),
    (1240.0, (17, 6), (18, 5)),
    (2.1, (19,), (2,)),
    (5.78, (19,), (1, 3)),
    (0.0474, (1, 4), (19,)),
    (1780.0, (19, 1), (20,)),
    (3.12, (20,), (19, 1)),
]


def pollution(t: Any, y: Any) -> list[Any]:
    slopes: list[Any] = [0.0] * 20
    for rate, consumed, produced in REACTIONS:
        speed: Any = rate
        for k in consumed:
            speed = speed * y[k - 1]
        for k in consumed:
            slopes[k - 1] = slopes[k - 1] - speed
        for k in produced:
            slopes[k - 1] = slopes[k - 1] + speed
    return slopes


def polluted_air() -> list[float]:
    start = [0.0] * 20
    for k, value in {2: 0.2, 4: 0.04, 7: 0.1, 8: 0.3, 9: 0.01, 17: 0.007}.items():
        start[k - 1] = value
    return start


def ring_modulator(t: Any, y: Any) -> list[Any]:
    y1, y2, y3, y4, y5, y6, y7, y8, y9, y10, y11, y12, y13, y14, y15 = (y[k] for k in range(15))
    C, Cs, Cp, R, Rp, Lh, L1, L2 = 1.6e-8, 2e-12, 1e-8, 25e3, 50.0, 4.45, 2e-3, 5e-4
    low = 0.5 * np.sin(2e3 * math.pi * t)
    s = y7 + 2 * np.sin(2e4 * math.pi * t)
    d1, d2, d3, d4 = (40.67286402e-9 * (np.exp(17.7493332 * u) - 1) for u in (y3 - y5 - s, -y4 + y6 - s, y4 + y5 + s, -y3 - y6 + s))
    return [
        (y8 - y10 / 2 + y11 / 2 + y14 - y1 / R) / C,
        (y9 - y12 / 2 + y13 / 2 + y15 - y2 / R) / C,
        (y10 - d1 + d4) / Cs,
        (-y11 + d2 - d3) / Cs,
        (y12 + d1 - d3) / Cs,
        (-y13 - d2 + d4) / Cs,
        (-y7 / Rp + d1 + d2 - d3 - d4) / Cp,
        -y1 / Lh,
        -y2 / Lh,
        (y1 / 2 - y3 - 17.3 * y10) / L2,
        (-y1 / 2 + y4 - 17.3 * y11) / L2,
        (y2 / 2 - y5 - 17.3 * y12) / L2,
        (-y2 / 2 + y6 - 17.3 * y13) / L2,
        (-y1 + low - 86.3 * y14) / L1,
        (-y2 - 636.3 * y15) / L1,
    ]


def chemical_akzo(t: Any, y: Any, ydot: Any) -> list[Any]:
    y1, y2, y3, y4, y5, y6 = (y[k] for k in range(6))
    r1 = 18.7 * y1**4 * np.sqrt(y2)
    r2 = 0.58 * y3 * y4
    r3 = 0.58 * y1 * y5 / 34.4
    r4 = 0.09 * y1 * y4**2
    r5 = 0.42 * y6**2 * np.sqrt(y2)
    inflow = 3.3 * (0.9 / 737.0 - y2)
    slopes = [-2 * r1 + r2 - r3 - r4, -r1 / 2 - r4 - r5 / 2 + inflow, r1 - r2 + r3, -r2 + r3 - 2 * r4, r2 - r3 + r5]
    return [ydot[k] - slopes[k] for k in range(5)] + [115.83 * y1 * y4 - y6]


def transistor_amplifier(t: Any, y: Any, ydot: Any) -> list[Any]:
    y1, y2, y3, y4, y5, y6, y7, y8 = (y[k] for k in range(8))
    d1, d2, d3, d4, d5, d6, d7, d8 = (ydot[k] for k in range(8))
    supply, R, gain = 6.0, 9000.0, 0.99
    signal = 0.1 * np.sin(200 * math.pi * t)
    first, second = (1e-6 * (np.exp(u / 0.026) - 1) for u in (y2 - y3, y5 - y6))
    return [
        1e-6 * (d2 - d1) - (y1 - signal) / 1000.0,
        1e-6 * (d1 - d2) - (y2 / R + (y2 - supply) / R + (1 - gain) * first),
        -2e-6 * d3 - (y3 / R - first),
        3e-6 * (d5 - d4) - ((y4 - supply) / R + gain * first),
        3e-6 * (d4 - d5) - (y5 / R + (y5 - supply) / R + (1 - gain) * second),
        -4e-6 * d6 - (y6 / R - second),
        5e-6 * (d8 - d7) - ((y7 - supply) / R + gain * second),
        5e-6 * (d7 - d8) - y8 / R,
    ]


MODELS = {
    "hires": tg.ode(hires, y0=[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057]),
    "pollution": tg.ode(pollution, y0=polluted_air()),
    "ring_modulator": tg.ode(ring_modulator, y0=[0.0] * 15),
    "chemical_akzo": tg.dae(chemical_akzo, y0=[0.444, 0.00123, 0.0, 0.007, 0.0, 115.83 * 0.444 * 0.007]),
    "transistor_amplifier": tg.dae(transistor_amplifier, y0=[0.0, 3.0, 3.0, 6.0, 3.0, 3.0, 6.0, 0.0]),
}


def significant_digits(name: str, rtol: float, atol: float, method: str = "radau") -> float:
    """Of the worst component at the end of a run."""
    golden = GOLDEN[name]
    result = tg.simulate(MODELS[name], (0.0, golden["t_end"]), rtol=rtol, atol=atol, dense=False, method=method)
    assert result.status == "finished"
    expected = [float(value) for value in golden["end"]]
    scored = [k for k in range(len(expected)) if k not in UNSCORED.get(name, set())]
    return -math.log10(max(abs(result.final[f"y[{k}]"] / expected[k] - 1) for k in scored))
