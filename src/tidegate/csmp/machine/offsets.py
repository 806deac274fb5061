"""Where everything stands in a machine's memory, for the native code and for Python (stage: csmp).

Integers, offsets and addresses are in ``h``, numbers in ``r``. Names with O_ are places of ``h`` that hold the offset of an array. Arrays "by block"
have one element a block number, from 0, which is an absent input, and 1, which is time, to the highest; so outputs and parameters stand as user
routines of the language know them.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Memory"]

# ---- integers
N_PLACES: Final = 0  # highest block number + 1
N_TAPE: Final = 1
N_DELAYS: Final = 2
N_RATES: Final = 3
N_QUITS: Final = 4
N_OUT: Final = 5
K: Final = 6  # half steps done, -1 before the initial stage
K_END: Final = 7
PHASE: Final = 8
AT: Final = 9  # place on the tape, or in the list of delays
AGAIN: Final = 10  # blocks before this place on the tape are executed again, for an implicit equation; -1 for none
STAGE: Final = 11  # 1 initial, 2 half, 3 full
BLOCK: Final = 12  # that stopped the run
SEED: Final = 13
IS_INTERRUPTED: Final = 14  # set from outside: stop after the next row
IS_FAILED: Final = 15  # set by a user routine
IS_QUIT: Final = 16  # likewise
EVERY_HALF: Final = 17  # a row at every half step
NEXT_ROW: Final = 18  # multiple of the output interval that waits for its row
IS_LISTING: Final = 19
N_ROWS: Final = 20
N_LISTED: Final = 21
N_NOTES: Final = 22
ROOM_ROWS: Final = 23
ROOM_LISTED: Final = 24
ROOM_NOTES: Final = 25
O_MATRIX: Final = 26  # by block: code, inputs with their signs, M
O_TAPE: Final = 27  # block numbers in sort order, without K and U
O_DELAYS: Final = 28  # U blocks in sort order
O_RATES: Final = 29  # I and T1 blocks in sort order
O_QUITS: Final = 30
O_OUT: Final = 31
O_ADDRESS: Final = 32  # by block: of the user routine
O_FIRST_EXTRA: Final = 33  # by block: where its additional outputs begin in O_EXTRAS
O_N_EXTRAS: Final = 34  # by block: how many of them the routine hands back; 0 for one that writes them itself
O_EXTRAS: Final = 35
O_FIRST_PAIR: Final = 36  # by block
O_N_PAIRS: Final = 37  # by block
O_GUESS: Final = 38  # by block, for Y: place of its V on the tape
O_COUNT: Final = 39  # by block, for Y: iterations done
O_FIRED: Final = 40  # by block, for Q
O_X: Final = 41  # by block: outputs
O_P: Final = 42  # by block: P1, P2, P3
O_RATE: Final = 43  # by block
O_BASE: Final = 44  # by block: value at the last complete step
O_ASIDE: Final = 45  # by block: new value, not yet in place
O_PAIRS: Final = 46  # abscissa, ordinate
O_LAST: Final = 47  # values stored last
O_GIVEN: Final = 48  # to a native routine: X1, X2, X3, stage
O_TAKEN: Final = 49  # from it: output, additional outputs
O_LIMIT: Final = 50  # by block, for Y: Ni
N_INTEGERS: Final = 56

# ---- numbers
T_START: Final = 0
T: Final = 1
STEP: Final = 2
EVERY: Final = 3
FRACTION: Final = 4  # of the last stored value, that a new one must differ by
LIST_FROM: Final = 5
LIST_TO: Final = 6
N_NUMBERS: Final = 8

WIDE_LISTED: Final = 10  # time, block, X, X1, X2, X3, M, P1, P2, P3
WIDE_NOTES: Final = 4  # limit, V block, Y block, time

INITIAL_CODE: Final = 1
HALF_CODE: Final = 2
FULL_CODE: Final = 3

# internal codes of block types, as in the language's ``kinds``: the native code needs them as constants
BANG, UO, DEAD, FUNCTION, GAIN, ROOT, INTEGRATOR, JITTER, CONSTANT = 2, 3, 4, 6, 7, 8, 9, 10, 11
LIMITER, MAGNITUDE, NEGATIVE, OFFSET, POSITIVE, QUIT, RELAY = 12, 13, 14, 15, 16, 17, 18
PULSE, DELAY, VACUOUS, WEIGHTED, MULTIPLIER, WYE, HOLD, SUMMER, INVERTER, DIVIDER, LAG = 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30

# ---- why the native code came back
STOP_BUDGET: Final = 0
STOP_DONE: Final = 1
STOP_QUIT: Final = 2
STOP_INTERRUPTED: Final = 3
STOP_ROWS: Final = 4  # a buffer is full
STOP_LISTED: Final = 5
STOP_NOTES: Final = 6
STOP_DIVISION: Final = 10
STOP_ROOT: Final = 11
STOP_PERIOD: Final = 12
STOP_ROUTINE: Final = 13  # it raised an exception
STOP_NOT_LOADED: Final = 14


class Memory:
    """Arrays of one machine.

    Parameters
    ----------
    integers, numbers : name of an offset constant -> size of its array in ``h`` or in ``r``.
    """

    def __init__(self, integers: dict[int, int], numbers: dict[int, int]) -> None:
        offsets: dict[int, int] = {}
        ends: list[int] = []
        for start, sizes in ((N_INTEGERS, integers), (N_NUMBERS, numbers)):
            end = start
            for name, size in sizes.items():
                offsets[name] = end
                end += max(size, 1)
            ends.append(end)
        self.h: NDArray[np.int64] = np.zeros(ends[0], dtype=np.int64)
        self.r: NDArray[np.float64] = np.zeros(ends[1])
        for name, offset in offsets.items():
            self.h[name] = offset
        self._sizes = {**integers, **numbers}

    def integers(self, name: int) -> NDArray[np.int64]:
        """View of an array of integers."""
        offset = int(self.h[name])
        return self.h[offset : offset + self._sizes[name]]

    def numbers(self, name: int) -> NDArray[np.float64]:
        """View of an array of numbers."""
        offset = int(self.h[name])
        return self.r[offset : offset + self._sizes[name]]
