"""Bounds of one nonlinear guard, of its rate and its bend over a part of a step, by its interval tape (stage: events).

In: the bounds of time, unknowns and rates in the registers. Out: the bounds of every register of the guard's tape. A unit of its own, loaded only
for models that have such guards, since it holds the interval rules of all operations. The rules themselves are those of ``expressions.interval``,
compiled.
"""

from __future__ import annotations

from numba.extending import register_jitable

from tidegate.compiled.jit import WHOLE, native, unit
from tidegate.compiled.workspace import I_CODE, I_FROW, I_NROW, N_G, N_M, N_P, N_USED, O_CONST, O_HI, O_LO, integers, matrix, tail, vector
from tidegate.expressions import interval, tape

__all__ = ["tape_range"]

# The rules stay plain Python functions, tested as such; registered, Numba inlines them into its callers.
for _rule in (*interval.RULES, *tape.KERNELS):
    register_jitable(_rule)

_run_tape = native(tape.run_tape)


@unit(WHOLE)
def tape_range(h, r, guard_and_level):
    """Run the tape of a guard on the registers, as far as its value (level 0), its rate (1) or its bend (2): guard + level * N_G."""
    guard = guard_and_level % h[N_G]
    first = integers(h, h[I_FROW], h[N_G])[guard]
    rows = integers(h, h[I_NROW], 3 * h[N_G])[guard_and_level]
    code = matrix(h, h[I_CODE] + 4 * first, rows, 4)
    registers = 2 + 3 * h[N_USED] + h[N_P] + h[N_M] + rows
    _run_tape(code, tail(r, h[O_CONST]), vector(r, h[O_LO], registers), vector(r, h[O_HI], registers))
    return 0
