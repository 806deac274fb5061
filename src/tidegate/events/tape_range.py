"""Bounds of one nonlinear guard, of its rate and its bend over a part of a step, by its interval tape (stage: events).

In: the bounds of time, unknowns and rates in the registers. Out: the bounds of every register of the guard's tape. A unit of its own, loaded only
for models that have such guards, since it holds the interval rules of all operations. The rules themselves are those of ``expressions.interval``,
compiled.
"""

from __future__ import annotations

from tidegate.compiled.jit import INTEGER, kernel_entry, native
from tidegate.compiled.workspace import matrix
from tidegate.events.guards import first_row
from tidegate.expressions import interval, tape

__all__ = ["tape_range"]

# the rules stay plain Python functions, tested as such
_run_tape = native(tape.run_tape, calls=(*interval.RULES, *tape.KERNELS))


@kernel_entry(INTEGER)
def tape_range(run, guard_and_level):
    """Run the tape of a guard on the registers, as far as its value (level 0), its rate (1) or its bend (2): guard + level * run.n_guards."""
    guard = guard_and_level % run.n_guards
    first = run.tape_first[guard]
    rows = run.tape_rows[guard_and_level]
    code = matrix(run.h, run.tape_code_at + 4 * first, rows, 4)
    inputs = first_row(run)
    _run_tape(code, rows, inputs, run.constants, run.lower_scratch, run.upper_scratch)
    return 0
