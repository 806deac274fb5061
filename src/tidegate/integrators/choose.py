"""From a method's name to an integrator. The native code is loaded only here, when a run needs it."""

from __future__ import annotations

from typing import Final

from tidegate.errors import UsageError
from tidegate.integrators.interface import Problem, StepIntegrator
from tidegate.integrators.kernel_cache import kernel, share_the_work

__all__ = ["choose"]

_CLASSICAL: Final = ("rke", "pc", "euler", "adams2", "trapezoid", "heun")


def choose(problem: Problem, method: str) -> StepIntegrator:
    """The integrator for a problem.

    Parameters
    ----------
    problem : what to run.
    method : "radau", "rodas5p", "taylor"; SUNDIALS' "ida", "bdf", "adams";
        the classical "rke", "pc", and of fixed step "euler", "adams2", "trapezoid", "heun".

    Raises
    ------
    UsageError : the method cannot solve equations of this kind, or is not told what it needs.
    """
    if problem.model.past is not None and method != "radau":
        raise UsageError(f"method {method!r} solves no equations with delays", hint="method='radau', which 'auto' takes")
    if method in ("ida", "bdf", "adams"):
        return kernel("tidegate.integrators.sundials.sundials_method").SundialsIntegrator(problem, method)
    if method in _CLASSICAL:
        return kernel("tidegate.integrators.classical.native.classical_method").ClassicalIntegrator(problem, method)
    if method == "taylor":
        return kernel("tidegate.integrators.taylor.taylor_method").TaylorIntegrator(problem)
    if method == "rodas5p":
        return kernel("tidegate.integrators.rosenbrock.rosenbrock_method").RosenbrockIntegrator(problem)
    if method != "radau":
        raise ValueError(f"no integrator is called {method!r}")
    share_the_work(len(problem.model.guards) > 0)
    return kernel("tidegate.integrators.radau.radau_method").RadauIntegrator(problem)
