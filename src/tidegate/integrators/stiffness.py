"""How stiff a model is: the fastest rate at which a disturbance dies out where it starts by itself, or moves elsewhere (stage: integrators)."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.callbacks import OpaqueCalls, value_at
from tidegate.compiled.compiled_model import CompiledModel

__all__ = ["fastest_decay", "fastest_rate"]

_KEPT: Final = "_fastest_decay"
_ROUNDING: Final = 1e-13
_BESIDE: Final = 0.01  # of an unknown's size: chemistry begins with substances of which there is none yet, and is stiff as soon as there is some

FloatArray = NDArray[np.float64]


class _Place(NamedTuple):
    time: float
    y: FloatArray
    p: FloatArray
    m: FloatArray


def fastest_decay(model: CompiledModel) -> float:
    """One over the shortest time constant of y' = f at the model's own start or close beside it, with its own parameters; 0 where none is known.

    What swings faster than it dies out is not counted: every method has to follow that. It is looked at once for a model, at time zero.

    Parameters
    ----------
    model : of explicit differential equations, not too many.
    """
    kept = vars(model)  # a model is frozen, so it can carry what is known of it
    if _KEPT not in kept:
        kept[_KEPT] = _looked_at(model)
    return kept[_KEPT]


def fastest_rate(model: CompiledModel, time: float, y: FloatArray, p: FloatArray, m: FloatArray) -> float:
    """The fastest at which a disturbance dies out, grows or swings at a point; 0 where none is known.

    Parameters
    ----------
    time, y, p, m : the point: unknowns, parameters, and what is constant between events.
    """
    return float(np.max(np.abs(_modes_at(model, _Place(time, y, p, m))), initial=0.0))


def _looked_at(model: CompiledModel) -> float:
    if model.start.asks_a_block or "jacobian" not in model.addresses:
        return 0.0
    p = model.start.parameters({})
    if model.start.asks_parameters and model.start.problem(p) is not None:
        return 0.0  # what divides by a parameter that is zero says nothing
    start = model.start.values(p, 0.0, (), with_actions=False)
    size = np.maximum(np.abs(start.y), np.where(model.nominal > 0.0, model.nominal, 1.0))
    return max(_fastest(model, _Place(0.0, y, p, start.m)) for y in (start.y, start.y + _BESIDE * size))


def _fastest(model: CompiledModel, at: _Place) -> float:
    values = _modes_at(model, at)
    dying = values.real < -np.abs(values.imag)
    return float(-values.real[dying].min()) if dying.any() else 0.0


def _modes_at(model: CompiledModel, at: _Place) -> NDArray[np.complex128]:
    n, pattern = len(model.layout.unknowns), model.sparsity
    found = value_at(model, "jacobian", n * n if pattern is None else len(pattern.row), at, OpaqueCalls())
    matrix = found.reshape(n, n) if pattern is None else np.zeros((n, n))
    if pattern is not None:
        matrix[pattern.row, np.repeat(np.arange(n), np.diff(pattern.first))] = found
    if not np.isfinite(matrix).all():
        return np.zeros(0, dtype=complex)
    return np.linalg.eigvals(matrix).astype(complex) if model.mass_kind == 0 else _modes(matrix, _mass(model, at, n))


def _mass(model: CompiledModel, at: _Place, n: int) -> FloatArray:
    found = value_at(model, "mass", n if model.mass_kind == 1 else n * n, at, OpaqueCalls())
    return np.diag(found) if model.mass_kind == 1 else found.reshape(n, n)


def _modes(jacobian: FloatArray, mass: FloatArray) -> NDArray[np.complex128]:
    """The finite l with ``det(J - l M) = 0``: those of M y' = J y, whose algebraic unknowns have none (by the inverse of J - s M; Wilkinson 1979)."""
    diagonal = np.diag(mass)
    if diagonal.all() and not np.any(mass - np.diag(diagonal)):
        with np.errstate(all="ignore"):
            ratio = jacobian / diagonal[:, None]
        return np.linalg.eigvals(ratio).astype(complex) if np.isfinite(ratio).all() else np.zeros(0, dtype=complex)
    shift = 1.0 + 2.0 * float(np.max(np.abs(jacobian), initial=0.0))
    with np.errstate(all="ignore"):
        try:
            inverse = np.linalg.eigvals(np.linalg.solve(jacobian - shift * mass, mass)).astype(complex)
        except np.linalg.LinAlgError:
            return np.zeros(0, dtype=complex)
        finite = inverse[np.abs(inverse) > _ROUNDING * np.max(np.abs(inverse), initial=0.0)]
        return (shift + 1.0 / finite).astype(complex)
