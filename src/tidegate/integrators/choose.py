"""From a method's name to an integrator. The native code is loaded only here, when a run needs it."""

from __future__ import annotations

from typing import Final

from tidegate.errors import UsageError
from tidegate.integrators.interface import Problem, StepIntegrator
from tidegate.integrators.kernel_cache import kernel, share_the_work
from tidegate.integrators.pace import is_kept_moving
from tidegate.integrators.radau.stages_for import stages_for
from tidegate.integrators.stiffness import fastest_decay

__all__ = ["choose", "method_of"]

_CLASSICAL: Final = ("rke", "pc", "euler", "adams2", "trapezoid", "heun")
_LONGEST: Final = 600  # recurrences: compiled in up to a quarter of a second, loaded in a twentieth; longer ones take longer than most runs by Radau
_MODERATE: Final = 1e-5  # relative tolerance: from there on Rodas5P takes less time for the same error, measured
# by Radau's stages, of the shortest time constants that a run may hold: so many, and more for each unknown, which costs Radau more; a series' step
# holds about eight
_FEW_CONSTANTS: Final = {3: (700.0, 20.0), 5: (2500.0, 40.0), 7: (4000.0, 40.0)}


def method_of(problem: Problem, method: str) -> str:
    """What "auto" stands for: "taylor" for small models whose derivatives are expressions with power series, if stability does not make the steps of
    a series much shorter than the motion; those without events for which it does are left to "rodas5p" at moderate tolerances, where it wins; all
    else is "radau". Algebraic unknowns that follow from expressions are no obstacle: an index-1 circuit is an ODE.

    Where a model turns out to be stiff later, or comes to the end of a root or a logarithm, Radau goes on. What is decided depends on the model and
    the length of the run, not on values of parameters: the runs of a sweep agree.

    Parameters
    ----------
    problem : what to run.
    method : "auto" or a method, which is given back; but no power series are computed of nothing, nor of derivatives by parameters that bend, or have
        a pole, inside the domain: those are left to "rodas5p", no stage of which lies where a step that is cut there ends.
    """
    model = problem.model
    if method == "taylor" and not model.layout.unknowns:
        return "radau"
    bends = model.has_bends and len(problem.sensitivity_parameters) > 0
    by_series = "taylor" if not bends else "radau" if problem.proves else "rodas5p"
    has_series = model.series is not None and bool(model.series.length)
    if method != "auto":
        return by_series if method == "taylor" and has_series else method
    if model.series is None or model.past is not None or model.layout.n_forms:
        return "radau"
    length = model.series.length
    if length is None or not 0 < length <= _LONGEST:
        return "radau"
    constants = fastest_decay(model) * (problem.t_end - problem.t_start)
    if constants < _bearable(problem) or is_kept_moving(problem):
        return by_series
    has_events = len(model.guards) > 0 or model.layout.n_time_events > 0
    return "rodas5p" if problem.rtol >= _MODERATE and not has_events and not problem.proves else "radau"


def _bearable(problem: Problem) -> float:
    """How many of the shortest time constants a run by series may hold, whatever happens in them."""
    alone, for_each = _FEW_CONSTANTS[stages_for(problem.rtol)]
    return alone + for_each * len(problem.model.layout.unknowns)


def choose(problem: Problem, method: str) -> StepIntegrator:
    """The integrator for a problem.

    Parameters
    ----------
    problem : what to run.
    method : "auto", see ``method_of``, or "radau", "rodas5p", "taylor"; SUNDIALS' "ida", "bdf", "adams";
        the classical "rke", "pc", and of fixed step "euler", "adams2", "trapezoid", "heun".

    Raises
    ------
    UsageError : the method cannot solve equations of this kind, or is not told what it needs.
    """
    method = method_of(problem, method)
    if problem.model.past is not None and method != "radau":
        raise UsageError(f"method {method!r} solves no equations with delays", hint="method='radau', which 'auto' takes")
    if method in ("radau", "taylor"):
        share_the_work(method, problem.model, has_derivatives=len(problem.sensitivity_parameters) > 0)
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
    return kernel("tidegate.integrators.radau.radau_method").RadauIntegrator(problem)
