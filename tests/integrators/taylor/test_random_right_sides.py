"""Random right sides from all operations against SciPy's integrator on the same text run as plain Python."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tidegate as tg

__all__: list[str] = []

# each keeps what it is given inside the domain of the next
UNARY = (
    "math.sin({0})", "math.cos({0})", "math.tan(0.5 * math.sin({0}))", "math.asin(0.6 * math.sin({0}))", "math.acos(0.7 * math.cos({0}))",
    "math.atan({0})", "math.sinh(math.sin({0}))", "math.cosh(math.sin({0}))", "math.tanh({0})", "math.asinh({0})", "math.acosh(2.0 + math.sin({0}))",
    "math.atanh(0.5 * math.cos({0}))", "math.exp(math.sin({0}))", "math.expm1(math.sin({0}))", "math.log(3.0 + math.sin({0}))",
    "math.log1p(0.5 + 0.4 * math.sin({0}))", "math.sqrt(2.0 + math.cos({0}))", "math.cbrt(1.5 + math.sin({0}))", "math.erf({0})",
    "(1.5 + math.sin({0})) ** p[0]", "(1.2 + 0.5 * math.sin({0})) ** 3", "(2.0 + math.sin({0})) ** -1.7", "-({0})", "1.0 / (2.5 + math.sin({0}))",
)  # fmt: skip
BINARY = (
    "({0} + {1})", "({0} - {1})", "math.sin({0}) * math.cos({1})", "{0} / (2.0 + math.sin({1}))", "math.atan2(1.5 + math.sin({0}), math.cos({1}))",
    "(1.5 + math.sin({0})) ** math.sin({1})", "(math.sin({0}) if {1} > 0.3 else 0.2 - math.cos({0}))", "min(math.sin({0}), 0.6 * math.cos({1}))",
    "abs(math.sin({0}) + 0.5)",
)  # fmt: skip
LEAVES = ("t", "y[0]", "y[1]", "p[0]", "p[1]", "0.7")


def expression(draw: random.Random, depth: int) -> str:
    if depth == 0:
        return draw.choice(LEAVES)
    if draw.random() < 0.5:
        return draw.choice(UNARY).format(expression(draw, depth - 1))
    return draw.choice(BINARY).format(expression(draw, depth - 1), expression(draw, depth - 1))


def exact(function: Any, p: list[float], end: float) -> np.ndarray:
    """Short steps, which corners do not harm much."""
    return solve_ivp(function, (0.0, end), [0.3, -0.2], method="DOP853", rtol=1e-9, atol=1e-11, max_step=0.05, args=(p,)).y[:, -1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_random_right_sides_agree_with_plain_python(seed: int, tmp_path: Any) -> None:
    draw = random.Random(seed)
    lines = [f"        math.cos({expression(draw, 3)}) - 0.3 * y[{k}]," for k in range(2)]
    file = tmp_path / f"right_sides_{seed}.py"
    file.write_text("import math\n\n\ndef rates(t, y, p):\n    return [\n" + "\n".join(lines) + "\n    ]\n")
    space: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), space)
    rates, p, end = space["rates"], [1.3, 0.4], 2.0
    result = tg.simulate(tg.ode(rates, y0=[0.3, -0.2], p=p), (0.0, end), method="taylor", rtol=1e-9, sensitivities="all")
    found = [result.final[name] for name in ("y[0]", "y[1]")]
    assert found == pytest.approx(exact(rates, p, end), rel=0.0, abs=1e-6), lines
    step, k = 1e-3, seed % 2
    above, below = ([x + sign * step * (j == k) for j, x in enumerate(p)] for sign in (1, -1))
    slopes = (exact(rates, above, end) - exact(rates, below, end)) / (2 * step)
    ours = [float(np.asarray(result.sensitivity(name, f"p[{k}]"))[-1]) for name in ("y[0]", "y[1]")]
    assert all(map(math.isfinite, ours)), lines
    assert ours == pytest.approx(slopes, rel=0.0, abs=2e-3 * (1.0 + np.abs(slopes).max())), lines
