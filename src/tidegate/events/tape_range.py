"""Interval tapes at native speed (stage: events): ``tape_range`` is ``expressions.tape.run_tape`` compiled by Numba, to be called from Numba code.

In: the rows of a tape and the bounds of its inputs. Out: the bounds of every register, in place, without allocation and without the GIL.
The compiled code is cached on disk; the cache looks only at the date of ``expressions/tape.py``, not at that of the rules it calls.
"""

from __future__ import annotations


from numba.extending import register_jitable

from tidegate.compiled.jit import native

from tidegate.expressions import interval, tape

__all__ = ["tape_range"]

# The rules stay plain Python functions, tested as such; registered, Numba inlines them into its callers.
for _rule in (*interval.RULES, *tape.KERNELS):
    register_jitable(_rule)

tape_range = native(tape.run_tape)
