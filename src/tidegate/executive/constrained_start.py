"""The start of an HDAE (stage: executive): all its parts hold there, or values are moved until they do.

In: a run that has not begun. Out: its values, compared with F2 ... F5 or made consistent with them: x1 by the smallest change, weighted by the
tolerances, that satisfies F4 and F5, then x2 and x3 from F2 and F3 (Otter, DSblock 3.3, start of a run; Hairer and Wanner, Solving ODEs II, VII.2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.callbacks import value_at
from tidegate.errors import InitializationError
from tidegate.executive.failures import callback_error
from tidegate.integrators.interface import Problem, StepIntegrator

__all__ = ["hold_constraints"]

FloatArray = NDArray[np.float64]
_OFF: Final = 100.0  # tolerances: so much a part may be off at the start
_STEP: Final = float(np.cbrt(np.finfo(float).eps))
_MOST: Final = 50  # iterations
_CLOSE: Final = 1e-13
_DERIVATIVE: Final = 1e-4  # of the sizes of terms: so much derivatives by parameters may be off
_HINT: Final = "give values that satisfy them all, or let x1 be moved and x2, x3 be computed: make_consistent=True"


class _Start:
    """Values of F2 ... F5 as functions of the unknowns and parameters of a start."""

    def __init__(self, problem: Problem, integrator: StepIntegrator) -> None:
        model = problem.model
        self.problem, self._integrator = problem, integrator
        self.numbers = np.array([part for part, _ in model.constraint_parts])
        self.labels = [label for _, label in model.constraint_parts]
        mu_and_others = np.flatnonzero(model.algebraic)
        self.x1 = np.flatnonzero(~model.algebraic)
        self.others = mu_and_others[: int(np.sum(self.numbers <= 3))]
        self.kept, self.determining = self.numbers > 3, self.numbers <= 3

    def values(self, y: FloatArray, p: FloatArray) -> FloatArray:
        """All of them."""
        at = _At(self.problem.t_start, y, p, self._integrator.m)
        found = value_at(self.problem.model, "hdae_parts", len(self.labels), at, self._integrator.calls)
        error = callback_error(self._integrator.calls, self.problem.t_start)
        if error is not None:
            raise error
        return found

    def gradients(self, y: FloatArray, p: FloatArray, which: NDArray[np.intp]) -> FloatArray:
        """By some unknowns."""
        return np.array([_slope(lambda y: self.values(y, p), y, int(k)) for k in which]).T.reshape(len(self.labels), len(which))

    def weights(self, y: FloatArray) -> FloatArray:
        """What tolerances allow of the unknowns."""
        return self.problem.atol + self.problem.rtol * np.abs(y)

    def violated(self, y: FloatArray, p: FloatArray) -> list[tuple[str, float, float]]:
        """Labels and sizes of what does not hold, and what would have been allowed."""
        values, weights = self.values(y, p), self.weights(y)
        every = np.arange(len(y))
        allowed = _OFF * np.abs(self.gradients(y, p, every)) @ weights
        return [(self.labels[k], float(values[k]), float(allowed[k])) for k in range(len(values)) if not abs(values[k]) <= allowed[k]]

    def moved(self, y: FloatArray, p: FloatArray) -> FloatArray:
        """The values made consistent."""
        y = y.copy()
        w2 = self.weights(y)[self.x1] ** 2
        if self.kept.any():
            self._iterate(y, p, self.x1, self.kept, lambda g: (w2[:, None] * g.T) @ _pseudo_inverse(g @ (w2[:, None] * g.T)))
        if self.determining.any():
            self._iterate(y, p, self.others, self.determining, _pseudo_inverse)
        return y

    def _iterate(
        self, y: FloatArray, p: FloatArray, which: NDArray[np.intp], rows: NDArray[np.bool_], inverse: Callable[[FloatArray], FloatArray]
    ) -> None:
        """Newton's method, damped, for some unknowns in place; a step that makes nothing better is halved."""
        for _ in range(_MOST):
            f = self.values(y, p)[rows]
            change = -inverse(self.gradients(y, p, which)[rows]) @ f
            if not np.all(np.isfinite(change)):
                return
            size = np.max(np.abs(change) / (self.problem.atol[which] + _CLOSE * np.abs(y[which]) / self.problem.rtol), initial=0.0)
            damping = 1.0
            while damping > 1e-6:
                trial = y.copy()
                trial[which] += damping * change
                if np.linalg.norm(self.values(trial, p)[rows]) <= (1.0 - 0.1 * damping) * np.linalg.norm(f) or size <= 1.0:
                    break
                damping *= 0.5
            else:
                return
            y[:] = trial
            if size <= 1e-4:
                return


class _At:
    """A point, as functions of a model are asked at one."""

    def __init__(self, time: float, y: FloatArray, p: FloatArray, m: FloatArray) -> None:
        self.time, self.y, self.p, self.m = time, y, p, m


def hold_constraints(problem: Problem, integrator: StepIntegrator) -> None:
    """Compare the start of an HDAE with all its parts, or make it consistent with them; leave other models alone.

    Parameters
    ----------
    integrator : of the run, not started yet; its values, and derivatives of them, are moved.

    Raises
    ------
    InitializationError : naming each equation that does not hold, by how much it is off, and what would be allowed; or that a parameter moves a
        constraint, and not the start values with it.
    """
    if not problem.model.constraint_parts:
        return
    start = _Start(problem, integrator)
    y, p = integrator.y.copy(), integrator.p.copy()
    derivatives = integrator.sensitivities
    if problem.model.makes_consistent:
        moved = start.moved(y, p)
        for k, direction in enumerate(problem.directions):
            along, of_p = derivatives[k].copy(), np.zeros(len(p))
            for index, rate in direction.items():
                of_p[index] = rate
            derivatives[k] = _along(lambda h, a=along, b=of_p: start.moved(y + h * a, p + h * b), along, of_p, y, p)
        integrator.y[:] = y = moved
    violated = start.violated(y, p)
    if violated:
        listed = "; ".join(f"{label} = {value:.6g} (at most {allowed:.1e})" for label, value, allowed in violated)
        did = "no consistent start values of" if problem.model.makes_consistent else "the start values do not satisfy the equations of"
        found = " were found" if problem.model.makes_consistent else ""
        hint = "give start values closer to where all of them hold" if problem.model.makes_consistent else _HINT
        raise InitializationError(f"{did} {problem.model.name}{found}: {listed}", time=problem.t_start, hint=hint)
    _check_derivatives(start, problem, derivatives, y, p)


def _check_derivatives(start: _Start, problem: Problem, derivatives: FloatArray, y: FloatArray, p: FloatArray) -> None:
    """What moves with a parameter has to keep F4 and F5, too."""
    names = problem.model.layout.parameters
    for k, direction in enumerate(problem.directions):
        of_p = np.zeros(len(p))
        for index, rate in direction.items():
            of_p[index] = rate
        of_y = np.zeros(len(y))
        of_y[start.x1] = derivatives[k][start.x1]
        change = _along(lambda h, a=of_y, b=of_p: start.values(y + h * a, p + h * b), of_y, of_p, y, p)
        sizes = np.abs(start.gradients(y, p, start.x1)) @ np.abs(of_y[start.x1])
        alone = np.abs(_along(lambda h, b=of_p: start.values(y, p + h * b), np.zeros(len(y)), of_p, y, p))
        off = [start.labels[i] for i in np.flatnonzero(start.kept) if not abs(change[i]) <= _DERIVATIVE * (sizes[i] + alone[i]) + 1e-7]
        if off:
            name = names[int(problem.sensitivity_parameters[k])]
            raise InitializationError(
                f"{', '.join(off)} of {problem.model.name} moves with {name}, and the start values do not move with it: they have no derivatives",
                time=problem.t_start,
                hint="give x1 as a function of p, or make_consistent=True",
            )


def _along(function: Callable[[float], FloatArray], of_y: FloatArray, of_p: FloatArray, y: FloatArray, p: FloatArray) -> FloatArray:
    """The derivative in a direction of unknowns and parameters, by central differences."""
    sizes = np.abs(of_y) / np.maximum(np.abs(y), 1.0), np.abs(of_p) / np.maximum(np.abs(p), 1e-3)
    h = _STEP / max(*(np.max(one, initial=0.0) for one in sizes), 1e-300)
    return (function(h) - function(-h)) / (2.0 * h)


def _slope(function: Callable[[FloatArray], FloatArray], x: FloatArray, k: int) -> FloatArray:
    step = _STEP * max(abs(x[k]), 1.0)
    above, below = x.copy(), x.copy()
    above[k], below[k] = x[k] + step, x[k] - step
    return (function(above) - function(below)) / (above[k] - below[k])


def _pseudo_inverse(matrix: FloatArray) -> FloatArray:
    if not np.all(np.isfinite(matrix)):
        return np.full(matrix.T.shape, np.nan)
    return np.linalg.pinv(matrix)
