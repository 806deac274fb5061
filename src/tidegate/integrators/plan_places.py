"""What stands where in the plan of several runs, for those who make it and for the native code that carries it out (stage: integrators).

Integers, one behind the other. A plan is what ``several_runs`` makes and ``hybrid_loop.several`` goes by; runs side by side have more places behind
it, which ``taylor.together`` fills for ``taylor.members``.
"""

from __future__ import annotations

from typing import Final

__all__: list[str] = []

NEXT, COUNT, IS_UNDER_WAY, STEPS_LEFT, MOST_STEPS, WIDTH, N_FRESH_INTEGERS, N_FRESH_NUMBERS = range(8)
AT_FRESH_INTEGERS, AT_FRESH_NUMBERS, AT_STARTS, AT_TOLD, AT_TIMES, AT_POLYNOMIALS, AT_ROWS, AT_LOG = range(8, 16)
ROOM_ROWS, ROOM_LOG, USED_ROWS, USED_LOG, N_ALONE = range(16, 21)
# of runs side by side
UNDER_WAY, N_BLOCKS, ROOM_BLOCKS, AT_BLOCKS, AT_SLOTS, AT_LANES, F_MEMBER, F_STEP, WIDE_OUT, WIDE_BOX, N_PLAN = range(N_ALONE, N_ALONE + 11)
# what is told of a run
CODE, TIME, STEPS, ROWS, LOGGED, GRAZING, IS_HELD, N_REMARKS, IS_OVER, N_TOLD = range(10)
# of each run under way beside others: a slot
MEMBER, NUMBER, AT_H, AT_R, SLOT_ROWS, SLOT_LOG, FILLED_ROWS, FILLED_LOG, TOLD_ROWS, TOLD_LOG, IS_SMOOTH, IN_VAIN, N_SLOT = range(13)
NOBODY: Final = -1
# of records that one run has written, one behind the other: a block
OWNER, LANE, BLOCK_ROWS, BLOCK_LOG, N_BLOCK = range(5)
# how many numbers of a run, and how many of each of its unknowns, stand in front of the box in the memory of runs side by side
N_SINGLE, N_OF_UNKNOWNS = 12, 6
