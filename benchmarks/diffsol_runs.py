"""diffsol through ``pydiffsol``: its BDF on the DiffSL form of smooth problems, compiled by its own LLVM.

The form of Robertson's reactions is written here: sensitivities have one absolute tolerance for all parameters, so its parameters are relative to
their values. That of the others is what their functions compute when they are called with texts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from benchmarks.outcome import Outcome, Run
from benchmarks.problems import Problem

__all__ = ["prepare"]

ROBERTSON_TEXT: Final = """
in_i { q1 = 1, q2 = 1, q3 = 1 }
u_i { y1 = 1, y2 = 0, y3 = 0 }
dudt_i { y1dot = -0.04, y2dot = 0.04, y3dot = 0 }
M_i { y1dot, y2dot, 0 }
F_i {
    10000 * q2 * y2 * y3 - 0.04 * q1 * y1,
    0.04 * q1 * y1 - 10000 * q2 * y2 * y3 - 30000000 * q3 * y2 * y2,
    1 - y1 - y2 - y3
}
"""


@dataclass(frozen=True, slots=True)
class _Text:
    """An operand that writes down what is done with it; NumPy's functions ask it for methods of their names."""

    text: str

    def __add__(self, other: object) -> _Text:
        return _Text(f"({self.text} + {_text(other)})")

    def __sub__(self, other: object) -> _Text:
        return _Text(f"({self.text} - {_text(other)})")

    def __rsub__(self, other: object) -> _Text:
        return _Text(f"({_text(other)} - {self.text})")

    def __mul__(self, other: object) -> _Text:
        return _Text(f"({self.text} * {_text(other)})")

    def __truediv__(self, other: object) -> _Text:
        return _Text(f"({self.text} / {_text(other)})")

    def __neg__(self) -> _Text:
        return _Text(f"(0 - {self.text})")

    def exp(self) -> _Text:
        return _Text(f"exp({self.text})")

    def sin(self) -> _Text:
        return _Text(f"sin({self.text})")

    __radd__ = __add__
    __rmul__ = __mul__


def _text(value: object) -> str:
    return value.text if isinstance(value, _Text) else f"{value:.17g}"


def _block(name: str, entries: list[str]) -> str:
    return f"{name}_i {{ {', '.join(entries)} }}\n"


def _write(problem: Problem) -> str:
    """What the problem's functions compute, as DiffSL; the differential unknowns of an implicit one have derivatives with factor one."""
    n, t = problem.y0.size, _Text("t")
    y = [_Text(f"y{k}") for k in range(n)]
    start = [f"y{k} = {value:.17g}" for k, value in enumerate(problem.y0)]
    out: list[Any] = [None] * n
    nothing: Any = ()
    rates: Callable[..., None] | None = problem.rates
    if rates is not None:
        rates(t, y, nothing, nothing, out)
        return _block("in", ["unused = 0"]) + _block("u", start) + _block("F", [_text(x) for x in out])
    if problem.residual is None or problem.guards is not None:
        raise NotImplementedError
    residual: Callable[..., None] = problem.residual
    residual(t, y, [0.0] * n, nothing, nothing, out)
    slopes = [f"y{k}dot = {value:.17g}" for k, value in enumerate(problem.ydot0)]
    mass = [f"y{k}dot" if k < problem.n_differential else "0" for k in range(n)]
    right = _block("F", [_text(-x) for x in out])
    return _block("in", ["unused = 0"]) + _block("u", start) + _block("dudt", slopes) + _block("M", mass) + right


def prepare(problem: Problem, rtol: float, sensitivities: bool) -> Run:
    """Its BDF with dense matrices; forward sensitivities under error control."""
    import pydiffsol

    if problem.guards is not None:
        raise NotImplementedError
    text = ROBERTSON_TEXT if problem.key == "P6" else _write(problem)
    solver: Any = pydiffsol.Ode(text, matrix_type=pydiffsol.nalgebra_dense, ode_solver=pydiffsol.bdf, linear_solver=pydiffsol.lu)
    solver.rtol, solver.atol = rtol, problem.atol(rtol)
    if sensitivities:
        solver.sens_rtol, solver.sens_atol = rtol, problem.atol(rtol)
    span, inputs = np.array([0.0, problem.t_end]), np.ones(max(problem.p.size, 1))

    def run() -> Outcome:
        if not sensitivities:
            return Outcome(np.asarray(solver.solve(inputs, problem.t_end).ys)[:, -1])
        solution = solver.solve_fwd_sens(inputs, span)
        slopes = np.column_stack([np.asarray(one)[:, -1] for one in solution.sens])
        return Outcome(np.asarray(solution.ys)[:, -1], 0, slopes / problem.p)

    return run
