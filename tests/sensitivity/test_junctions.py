"""Tanks whose pipes meet at a junction with a weir: its level is solved for, and flows come and go by roots that turn round.

Truth: plain Python finds the level by bisection at every instant, SciPy's LSODA integrates; derivatives are central differences of it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import tidegate as tg
from written_source import space_of

_END = 6.0
_MOVED = 1e-4
_PIPES = ("np.sign({d}) * np.sqrt(abs({d}))", "np.sign({d}) * abs({d}) ** 0.57", "0.6 * ({d})")
_WEIRS = (
    "max(h - p['crest'], 0.0) ** 1.5",
    "max(h - p['crest'], 0.0) ** 2.5",
    "((h - p['crest']) ** 1.5 if h > p['crest'] else 0.0)",
    "np.sign(h - p['crest']) * np.sqrt(abs(h - p['crest']))",
)
_INFLOWS = ("0.8 * max(np.sin({w} * t), 0.0)", "(0.5 if t > {s} else 0.1)", "0.3", "0.4 * np.sin({w} * t)")
_LEAKS = ("0.2 * (h - 0.5)", "0.3 * np.sign(h - 0.5) * np.sqrt(abs(h - 0.5))")


@dataclass(frozen=True)
class Junction:
    """Levels of the tanks at the start, parameters, and the text of two functions: what flows out of each tank and over the weir; what is left."""

    levels: list[float]
    p: dict[str, float]
    text: str

    @staticmethod
    def random(seed: int) -> Junction:
        draw = random.Random(seed)
        levels = [round(draw.uniform(0.2, 2.2), 3) for _ in range(draw.randint(1, 3))]
        pipes = [f"p['r'] * {draw.uniform(0.5, 1.5):.2f} * {draw.choice(_PIPES).format(d=f'y[{k}] - h')}" for k in range(len(levels))]
        inflow = draw.choice(_INFLOWS).format(w=round(draw.uniform(0.4, 2.5), 2), s=round(draw.uniform(1.0, 4.0), 2))
        p = {"r": draw.uniform(0.6, 1.4), "crest": draw.uniform(0.6, 1.5), "c": draw.uniform(0.8, 2.0)}
        text = f"""
def flows(h, t, y, p):
    return [{", ".join(pipes)}, p['c'] * {draw.choice(_WEIRS)}]

def left(h, t, y, p):
    *pipes, over = flows(h, t, y, p)
    return sum(pipes) + {inflow} - over - {draw.choice(_LEAKS)}
"""
        return Junction(levels, p, text)

    def functions(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        space = space_of(self.text, f"<junction {hash(self.text)}>", np=np)
        return space["flows"], space["left"]

    def model(self) -> tg.Model:
        flows, left = self.functions()
        n = len(self.levels)

        def residual(t: Any, y: Any, ydot: Any, p: Any) -> list[Any]:
            *levels, spilled, h = y
            del spilled
            out = flows(h, t, levels, p)
            return [left(h, t, levels, p), *(ydot[f"h{k}"] + out[k] for k in range(n)), ydot["spilled"] - out[n]]

        return tg.dae(residual, {**{f"h{k}": level for k, level in enumerate(self.levels)}, "spilled": 0.0, "h": 1.0}, p=self.p)

    def truth(self, **moved: float) -> NDArray[np.float64]:
        flows, left = self.functions()
        n, p = len(self.levels), self.p | moved

        def rates(t: float, y: NDArray[np.float64]) -> list[float]:
            h = brentq(left, -30.0, 30.0, args=(t, y, p), xtol=1e-15, rtol=1e-15)
            *out, over = flows(h, t, y, p)
            return [*(-q for q in out), over]

        done = solve_ivp(rates, (0.0, _END), [*self.levels, 0.0], method="LSODA", rtol=1e-10, atol=1e-12, max_step=0.02)
        return done.y[: n + 1, -1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_levels_and_their_derivatives_go_through_flows_that_turn_round(seed: int) -> None:
    drawn = Junction.random(seed)
    model, expected = drawn.model(), drawn.truth()
    slopes = {q: (drawn.truth(**{q: x + _MOVED}) - drawn.truth(**{q: x - _MOVED})) / (2.0 * _MOVED) for q, x in drawn.p.items()}
    names = [*(f"h{k}" for k in range(len(drawn.levels))), "spilled"]
    for method in ("auto", "rodas5p", "ida"):
        for rtol in (1e-5, 1e-8):
            result = tg.simulate(model, (0.0, _END), method=method, rtol=rtol, sensitivities="all")
            assert [result.final[name] for name in names] == pytest.approx(expected.tolist(), abs=300.0 * rtol)
            for parameter, slope in slopes.items():
                found = [float(result.sensitivity(name, parameter)[-1]) for name in names]
                # where a flow turns round derivatives bend, and differences know them to the distance only
                assert found == pytest.approx(slope.tolist(), abs=5e-4 if rtol < 1e-6 else 3e-3)
            assert result.statistics.steps < 3000  # there were two million
