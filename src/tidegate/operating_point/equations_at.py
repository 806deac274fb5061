"""The equations of a model at one instant, for given parameters (stage: operating_point). In: a compiled model; out: f, M and their derivatives as
arrays, and what its conditions say.

``M y' = f(t, y)`` is the form that every integrator gets (``compiled.mass_form``); here it is called from Python, since a steady state takes no more
than a handful of evaluations.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import field
from typing import Any, Final

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from tidegate.compiled.callbacks import VALUE_FUNCTION, OpaqueCalls, noted_in, pointer_to, value_at
from tidegate.compiled.compiled_model import CompiledModel, Direction
from tidegate.compiled.workspace import LOWER, RELATION
from tidegate.executive import callback_error
from tidegate.quick_dataclass import dataclass

__all__ = ["Along", "EquationsAt", "FloatArray", "Matrix"]

FloatArray = NDArray[np.float64]
Matrix = Any  # a dense array, or a sparse one of SciPy

_SPARSE: Final[Any] = scipy.sparse  # which has no types
_POINTER: Final = ctypes.POINTER(ctypes.c_double)
_TANGENT_FUNCTION: Final = ctypes.CFUNCTYPE(None, ctypes.c_double, *[_POINTER] * 4, ctypes.c_double, *[_POINTER] * 4)
_SLACK: Final = 1e-10  # of the size of its terms: nearer to its zero a relation may say either
_MOST_PASSES: Final = 2000  # of relations and pieces of tables that depend on one another


@dataclass(frozen=True, eq=False)
class _Where:
    time: float
    y: FloatArray
    p: FloatArray
    m: FloatArray


@dataclass(frozen=True, eq=False)
class Along:
    """A direction.

    Parameters
    ----------
    dy : of unknowns; dp : of parameters, by index; dm : index of the number of m that moves at rate one; dt : of time.
    v : y', where a derivative of ``f - M y'`` is asked for.
    """

    dy: FloatArray | None = None
    dp: Direction = field(default_factory=dict[int, float])
    dm: int | None = None
    dt: float = 0.0
    v: FloatArray | None = None


class EquationsAt:
    """A compiled model at one time with these parameters.

    Parameters
    ----------
    compiled : the model.
    time : at which everything that depends on time is taken.
    p : parameters.
    """

    def __init__(self, compiled: CompiledModel, time: float, p: FloatArray) -> None:
        self.compiled, self.time, self.p = compiled, time, p
        self.n = len(compiled.layout.unknowns)
        nominal = compiled.nominal
        self.sizes: FloatArray = np.where(nominal > 0.0, nominal, 1.0)

    # -- values ------------------------------------------------------------------------------------------------------------------------------

    def value(self, name: str, size: int, y: FloatArray, m: FloatArray) -> FloatArray:
        """What a value function gives."""
        if name not in self.compiled.addresses:
            return np.zeros(size)
        calls = OpaqueCalls()
        out = value_at(self.compiled, name, size, _Where(self.time, y, self.p, m), calls)
        self._raise(calls)
        return out

    def tangent(self, name: str, size: int, y: FloatArray, m: FloatArray, along: Along) -> FloatArray:
        """The derivative of a function in a direction."""
        out, nothing = np.zeros(size), np.zeros(self.n)
        if name not in self.compiled.addresses:
            return out
        moves_p, moves_m = np.zeros(len(self.p)), np.zeros(len(m))
        for index, rate in along.dp.items():
            moves_p[index] = rate
        if along.dm is not None:
            moves_m[along.dm] = 1.0
        before = (y, nothing if along.v is None else along.v, self.p, m)
        behind = (nothing if along.dy is None else along.dy, moves_p, moves_m, out)
        calls = OpaqueCalls()
        with noted_in(calls):
            _TANGENT_FUNCTION(self.compiled.addresses[name])(self.time, *map(pointer_to, before), along.dt, *map(pointer_to, behind))
        self._raise(calls)
        return out

    def written(self, name: str, before: FloatArray, y: FloatArray, m: FloatArray) -> FloatArray:
        """What a function makes of values of which it writes only those that change."""
        out = np.concatenate([before, np.zeros(len(before) + 1)])
        if name in self.compiled.addresses:
            calls = OpaqueCalls()
            with noted_in(calls):
                VALUE_FUNCTION(self.compiled.addresses[name])(self.time, *map(pointer_to, (y, self.p, m, out)))
            self._raise(calls)
        return out[: len(before)]

    def _raise(self, calls: OpaqueCalls) -> None:
        error = callback_error(calls, self.time)
        if error is not None:
            raise error from error.__cause__

    def residual(self, y: FloatArray, m: FloatArray) -> FloatArray:
        """f, one value an equation."""
        return self.value("rhs", self.n, y, m)

    def jacobian(self, y: FloatArray, m: FloatArray) -> Matrix:
        """df/dy, sparse where the model is large enough for that."""
        pattern = self.compiled.sparsity
        if pattern is None:
            return self.value("jacobian", self.n * self.n, y, m).reshape(self.n, self.n)
        entries = self.value("jacobian", len(pattern.row), y, m)
        return _SPARSE.csc_matrix((entries, pattern.row, pattern.first), shape=(self.n, self.n))

    def mass(self, y: FloatArray, m: FloatArray) -> Matrix:
        """M, likewise."""
        kind = self.compiled.mass_kind
        if kind == 0:
            diagonal = np.ones(self.n)
        elif kind == 1:
            diagonal = self.value("mass", self.n, y, m)
        else:
            return self.value("mass", self.n * self.n, y, m).reshape(self.n, self.n)
        return np.diag(diagonal) if self.compiled.sparsity is None else _SPARSE.diags(diagonal, format="csc")

    def moved(self, name: str, size: int, y: FloatArray, m: FloatArray) -> FloatArray:
        """All derivatives of a function by the unknowns, (values, unknowns)."""
        found = np.zeros((size, self.n))
        for k in range(self.n if size else 0):
            unit = np.zeros(self.n)
            unit[k] = 1.0
            found[:, k] = self.tangent(name, size, y, m, Along(dy=unit))
        return found

    # -- conditions --------------------------------------------------------------------------------------------------------------------------

    def contradictions(self, y: FloatArray, m: FloatArray) -> list[int]:
        """Guards that matter and do not say what their modes say, by more than rounding."""
        compiled = self.compiled
        count = len(compiled.guards)
        if not count:
            return []
        guards = compiled.guards
        g = self.value("guards", count, y, m)
        size = self.tangent("guard_scale", count, y, m, Along(dt=abs(self.time), dy=np.abs(y) + _SLACK * self.sizes))
        matters = self.value("activity", count, y, m) != 0.0
        held = m[guards.mode]
        is_relation = guards.kind == RELATION
        wants_above = np.where(is_relation, held != 0.0, True)
        slack = _SLACK * size
        wrong = np.where(wants_above, g < -slack, g > slack)
        return np.flatnonzero(matters & wrong).tolist()

    def following(self, y: FloatArray, m: FloatArray) -> FloatArray:
        """m with the modes that the conditions have at y; those that contradict each other without end are left as they were last."""
        new, seen = m, set[bytes]()
        for _ in range(_MOST_PASSES):
            wrong = self.contradictions(y, new)
            if not wrong or new.tobytes() in seen:
                return new
            seen.add(new.tobytes())
            new = self._corrected(wrong, y, new)
        return new

    def _corrected(self, wrong: Sequence[int], y: FloatArray, m: FloatArray) -> FloatArray:
        guards, new = self.compiled.guards, m.copy()
        g = self.value("guards", len(guards), y, m)
        for k in wrong:
            mode = guards.mode[k]
            if guards.kind[k] == RELATION:
                new[mode] = 1.0 - m[mode]
                continue
            far = max(1.0, np.ceil(-g[k])) if guards.grids[k] is None else 1.0  # pieces of a floor are one wide
            new[mode] = m[mode] - far if guards.kind[k] == LOWER else m[mode] + far
        return new
