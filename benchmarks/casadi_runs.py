"""CasADi's ``idas`` and ``cvodes`` on CasADi's own symbols, with its experimental events and its forward sensitivities.

A mode is a state with derivative zero that the transition changes. An event is a ``zero`` that falls. In CasADi 3.8 a run with events to a
single output time fails, so that those runs go over a grid of output times, on which their accuracy depends. P3 is left out: at its
first event, where the guard is zero with zero slope in the new mode, the run does not return.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from benchmarks.outcome import Outcome, Run
from benchmarks.problems import Problem

__all__ = ["prepare"]

GRID: Final = 200  # output times of a run with events: fewer give errors that no tolerance removes
Build = Callable[[Any, Any], tuple[dict[str, Any], Any]]


def _ball(ca: Any, p: Any) -> tuple[dict[str, Any], Any]:
    x = ca.SX.sym("x", 2)
    return {"x": x, "ode": ca.vertcat(x[1], -9.81), "zero": x[0]}, ca.vertcat(x[0], -p[0] * x[1])


def _crossing(ca: Any, p: Any) -> tuple[dict[str, Any], Any]:
    x = ca.SX.sym("x", 2)
    below = x[1] < 0.5
    rest = p[0] - ((x[0] - 5.0) * x[0] + 7.0) * x[0]
    slope = ca.if_else(below, 4.0 - x[0], 10.0 - 2.0 * x[0])
    return {"x": x, "ode": ca.vertcat(slope, 0.0), "zero": ca.if_else(below, rest, -rest)}, ca.vertcat(x[0], 1.0 - x[1])


def _relay(ca: Any, p: Any) -> tuple[dict[str, Any], Any]:
    x = ca.SX.sym("x", 4)
    filling = x[2] > 0.0
    ode = ca.vertcat(p[0] * (x[1] + x[2] - x[0]), p[1] * (x[3] - x[1]), 0.0, 0.0)
    after = ca.vertcat(x[0], x[1], ca.if_else(filling, -0.3, 0.4), ca.if_else(filling, 2.73, 5.5))
    return {"x": x, "ode": ode, "zero": ca.if_else(filling, 5.8 - x[0], x[0] - 2.5)}, after


def _robertson(ca: Any, p: Any) -> tuple[dict[str, Any], Any]:
    x, z = ca.SX.sym("x", 2), ca.SX.sym("z", 1)
    slow, back, fast = p[0] * x[0], p[1] * x[1] * z[0], p[2] * x[1] ** 2
    return {"x": x, "z": z, "ode": ca.vertcat(back - slow, slow - back - fast), "alg": x[0] + x[1] + z[0] - 1.0}, None


def _smooth(ca: Any, problem: Problem) -> dict[str, Any]:
    """What the problem's own functions compute, called with CasADi's symbols; the differential unknowns have derivatives with factor one."""
    n, n_x, t = problem.y0.size, problem.n_differential or problem.y0.size, ca.SX.sym("t")
    y = ca.SX.sym("y", n)
    out: list[Any] = [None] * n
    nothing: Any = ()
    if problem.rates is not None:
        problem.rates(t, y, nothing, nothing, out)
        return {"t": t, "x": y, "ode": ca.vertcat(*out)}
    assert problem.residual is not None
    slopes: Any = [0.0] * n
    problem.residual(t, y, slopes, nothing, nothing, out)
    return {"t": t, "x": y[:n_x], "z": y[n_x:], "ode": -ca.vertcat(*out[:n_x]), "alg": ca.vertcat(*out[n_x:])}


BUILDERS: Final[dict[str, Build]] = {"P1": _ball, "P2": _crossing, "P4": _relay, "P6": _robertson}


def _integrator(ca: Any, problem: Problem, rtol: float) -> tuple[Any, int]:
    """CasADi's integrator of the problem, and how many states it has (modes included)."""
    p = ca.SX.sym("p", problem.p.size)
    dae, after = BUILDERS[problem.key](ca, p) if problem.key in BUILDERS else (_smooth(ca, problem), None)
    dae["p"] = p
    options: dict[str, Any] = {"reltol": rtol, "abstol": problem.atol(rtol), "max_num_steps": 10**6}
    grid: Any = problem.t_end
    if after is not None:
        z = dae.get("z", ca.SX.sym("z", 0))
        inputs = {"index": ca.SX.sym("i"), "t": dae.get("t", ca.SX.sym("t")), "x": dae["x"], "z": z, "p": p, "u": ca.SX.sym("u", 0)}
        outputs = {"post_x": after, "post_z": z}
        options["transition"] = ca.Function("transition", inputs | outputs, ca.event_in(), ca.event_out())
        grid = list(np.linspace(0.0, problem.t_end, GRID + 1)[1:])
    return ca.integrator("run", "idas" if "z" in dae else "cvodes", dae, 0.0, grid, options), int(dae["x"].numel())


def prepare(problem: Problem, rtol: float, sensitivities: bool) -> Run:
    """Its integrator for the problem; forward sensitivities through ``jacobian`` of the integrator."""
    import casadi as ca

    if (problem.key not in BUILDERS and problem.guards is not None) or (sensitivities and problem.sensitivity_residual is None):
        raise NotImplementedError
    integrator, n_x = _integrator(ca, problem, rtol)
    n = problem.y0.size
    x0 = {"P2": [0.0, 0.0], "P4": [4.2, 0.3, 0.4, 5.5]}.get(problem.key, list(problem.y0[:n_x]))
    n_algebraic = integrator.size1_in("z0")
    arguments = {"x0": x0, "z0": problem.y0[n - n_algebraic :]}
    if sensitivities:
        symbol = ca.MX.sym("p", problem.p.size)
        ends = integrator(p=symbol, **arguments)
        end = ca.vertcat(ends["xf"], ends["zf"])
        derivative = ca.Function("derivative", [symbol], [end, ca.jacobian(end, symbol)])

        def run_with_derivatives() -> Outcome:
            y, slopes = derivative(problem.p)
            return Outcome(np.asarray(y).ravel(), 0, np.asarray(slopes))

        return run_with_derivatives

    def run() -> Outcome:
        ends = integrator(p=problem.p, **arguments)
        states = np.asarray(ends["xf"])[: n - n_algebraic, -1]
        algebraic = np.asarray(ends["zf"])[:, -1] if n_algebraic else np.zeros(0)
        return Outcome(np.concatenate([states, algebraic]), int(integrator.stats().get("n_call_transition", 0)))

    return run
