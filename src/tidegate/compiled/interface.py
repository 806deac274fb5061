"""What every later stage sees of a model: flat vectors, and native functions on them by address.

Signatures of the native functions (C, all vectors ``double *``):

=================  ======================================================================================
value functions    ``void f(double t, y, p, m, out)``
tangent functions  ``void f(double t, y, v, p, m, double dt, dy, dp, dm, out)``: derivative in a direction
=================  ======================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.layout import Layout
from tidegate.compiled.locking import Guard
from tidegate.compiled.native import NativeModule
from tidegate.compiled.transitions import Transitions
from tidegate.expressions import Expr
from tidegate.model import Model, Variable

__all__ = ["CompiledModel", "GuardTapes", "Output", "StartValues"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GuardTapes:
    """Nonlinear guards as tapes of interval operations, all on the same inputs.

    Parameters
    ----------
    code, constants : rows of all tapes one behind the other.
    first_row : of every guard.
    n_rows : (3, guards), how many rows lead to g, to dg/dtheta too, and to the second derivative too; 0 for a linear guard.
    value, rate, bend : registers of g, dg/dtheta and the second derivative; ``bend`` is -1 where that would be too long.
    used : numbers of the unknowns that are inputs: [t, those y, those dy/dtheta, dt/dtheta, p, m, those second derivatives].
    n_registers : inputs and the longest tape.
    """

    code: IntArray
    constants: FloatArray
    first_row: IntArray
    n_rows: IntArray
    value: IntArray
    rate: IntArray
    bend: IntArray
    used: IntArray
    n_registers: int


@dataclass(frozen=True, eq=False)
class Output:
    """A recorded quantity that is computed from the unknowns."""

    variable: Variable
    name: str


@dataclass(frozen=True, eq=False)
class StartValues:
    """Values at the start of a run, and their derivatives with respect to every parameter."""

    y: FloatArray
    m: FloatArray
    p: FloatArray
    dy_dp: FloatArray
    dd_dp: FloatArray


@dataclass(frozen=True, eq=False)
class CompiledModel:
    """One model as flat native functions.

    Parameters
    ----------
    model : where it came from, for names and origins.
    layout : order of the vectors.
    n_own : how many of the unknowns are the model's own; the rest are derivatives made unknowns.
    equations : for each row of M y' = f the number of the model's equation, -1 for ``x' = z``.
    mass_kind : 0 unit matrix, 1 diagonal, 2 dense.
    mass_varies : True if M depends on modes or discrete variables.
    guards : the discontinuity functions.
    activity : for every guard the condition, of modes, discrete variables and parameters, under which it matters; None: never.
    is_linear, is_time, is_opaque : for every guard whether it is affine in time and unknowns; of time only; not computable on intervals.
    n_state_conditions : how many values ``conditions`` gives behind those of the ``when`` branches.
    transitions : branches and time events.
    algebraic : True for unknowns that no derivative of enters.
    outputs : recorded outputs, in the order of the ``outputs`` function.
    addresses : of the native functions by name; absent where there is nothing to compute.
    module : keeps the machine code alive.
    tapes : nonlinear guards.
    seconds : time spent compiling.
    has_opaque : some function calls back into Python.
    forcing : the functions of time alone that the equations are made of.
    output_values : expression of each output, of the layout's symbols.
    """

    model: Model
    layout: Layout
    n_own: int
    equations: tuple[int, ...]
    mass_kind: int
    mass_varies: bool
    guards: tuple[Guard, ...]
    activity: tuple[Expr | None, ...]
    is_linear: NDArray[np.bool_]
    is_time: NDArray[np.bool_]
    is_opaque: NDArray[np.bool_]
    n_state_conditions: int
    transitions: Transitions
    algebraic: NDArray[np.bool_]
    outputs: tuple[Output, ...]
    addresses: dict[str, int]
    module: NativeModule
    tapes: GuardTapes
    seconds: float
    has_opaque: bool
    forcing: tuple[Expr, ...] = ()
    output_values: tuple[Expr, ...] = ()
    keep_alive: tuple[object, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        # addresses mean nothing elsewhere; the machine code is found in the cache again
        return _compiled_anew, (self.model,)

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledModel:
        return self


def _compiled_anew(model: Model) -> CompiledModel:
    from tidegate.compiled.compile import compile_model  # which makes what is described here

    return compile_model(model)
