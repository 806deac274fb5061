"""Runs that are one call of native code each, in the memory of a run (stage: integrators).

In: where that memory is. Out: everything that a run writes down, as bytes in one piece: counts and counters, what is constant between events, rows,
log, polynomials (``hybrid_loop.at_once`` packs them).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from time import perf_counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.python_call import function_of_bytes
from tidegate.compiled.workspace import TARGET
from tidegate.integrators.kernel_cache import kernel
from tidegate.integrators.repeated_runs import FIRST_LOOK, NEVER, OwnCode

__all__ = ["NOT_BEGUN", "N_COUNTS", "PackedRuns"]


# places in a plan; the same in ``hybrid_loop.at_once``
(
    N_FRESH_INTEGERS, N_FRESH_NUMBERS, AT_FRESH_INTEGERS, AT_FRESH_NUMBERS, AT_TIMES, AT_POLYNOMIALS, AT_ROWS, AT_LOG, AT_PACKED,
    ROOM_PACKED, MOST_STEPS, N_VALUES, AT_INTEGERS, AT_NUMBERS, N_PLAN,
) = range(15)  # fmt: skip
NOT_BEGUN: Final = -100
_STEPS: Final = 1000  # natively before Python looks for Ctrl-C
_ROOM: Final = 1 << 15  # numbers; what is larger takes so long that it does not matter
_AT_TARGET: Final = -1 - TARGET  # came to the end, and there is no room, or more to be said
_LARGE: Final = 1 << 14  # bytes: what is longer is not copied
_LARGER: Final = 1.25  # than the last run's may be what the next one's record takes
_IN_PLACE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
N_COUNTS: Final = 3  # of records, in front of the counters


class PackedRuns:
    """Runs of one problem in one memory.

    Parameters
    ----------
    workspace : addresses of its integers and numbers.
    fresh : both as they are before ``start``.
    buffers : addresses of rows, log, polynomials.
    kinds : of their records.
    n_values : numbers in a row that must be finite.
    own_code : machine code of the model alone, once there is some.
    """

    def __init__(
        self, workspace: tuple[int, int], fresh: Sequence[NDArray[Any]], buffers: Sequence[int], kinds: Sequence[np.dtype[np.void]],
        n_values: int, own_code: OwnCode,
    ) -> None:  # fmt: skip
        self.kinds = kinds
        self._own_code = own_code
        self._interval = self._until_look = FIRST_LOOK
        self._last_size = 0
        self._fresh = fresh
        self._packed = np.empty(_ROOM)
        self.plan = np.zeros(N_PLAN, dtype=np.int64)
        integers, numbers = fresh
        self.plan[[N_FRESH_INTEGERS, N_FRESH_NUMBERS]] = len(integers), len(numbers)
        self.plan[[AT_FRESH_INTEGERS, AT_FRESH_NUMBERS]] = integers.ctypes.data, numbers.ctypes.data
        self.plan[[AT_INTEGERS, AT_NUMBERS]] = workspace
        self.plan[[AT_ROWS, AT_LOG, AT_POLYNOMIALS]] = buffers
        self.plan[[MOST_STEPS, N_VALUES]] = _STEPS, n_values
        self.plan[[AT_PACKED, ROOM_PACKED]] = self._packed.ctypes.data, len(self._packed)
        # for memory that is another every time; the first is never changed, so that an interruption leaves it as it is
        self._other_plan = self.plan.copy()
        address = kernel("tidegate.integrators.hybrid_loop.at_once").run_at_once.address
        self._places = np.array([address, self.plan.ctypes.data, self._packed.ctypes.data])
        self._copied = function_of_bytes(self._places.ctypes.data)
        self._in_place: Any = _IN_PLACE(address)

    def ask_for(self, times_at: int) -> None:
        """Other times to record at, at this address."""
        self.plan[AT_TIMES] = self._other_plan[AT_TIMES] = times_at

    def use_own_code(self) -> None:
        """Make machine code of the model alone, or find it on disk, and run by that from now on.

        Raises
        ------
        TidegateError : it could not be made.
        """
        self._use(self._own_code.now())
        self._until_look = self._interval = NEVER

    def _use(self, address: int) -> None:
        self._places[0], self._in_place = address, _IN_PLACE(address)

    def _look(self) -> None:
        """See whether machine code of the model alone has come; a run tells how long runs take."""
        began = perf_counter()
        self._in_place(self.plan.ctypes.data)
        address, self._interval = self._own_code.look(self._interval, perf_counter() - began)
        self._until_look = self._interval
        if address:
            self._use(address)

    def run(self) -> bytearray | NDArray[np.uint8] | int:
        """What a run wrote down that came to its end, with nothing more to be said of it; else where it stands, as ``run_at_once`` answers."""
        self._until_look -= 1
        if not self._until_look:
            self._look()
        if self._last_size <= _LARGE:
            answer = self._copied()
            if not isinstance(answer, int):
                self._last_size = len(answer)
            return answer
        # about as large as the last; it is packed where it stays
        own = np.empty(int(self._last_size * _LARGER) // 8 + 1)
        self._other_plan[AT_PACKED], self._other_plan[ROOM_PACKED] = own.ctypes.data, len(own)
        self._last_size = self._in_place(self._other_plan.ctypes.data)
        if self._last_size > 0:
            return own.view(np.uint8)[: self._last_size]
        # what was written down may be longer than expected
        return self._last_size if self._last_size != _AT_TARGET else self.run()
