"""Memory for several smooth runs side by side (stage: integrators), of which ``members`` takes steps at once.

In: the memory of one run, machine code for steps of several. Out: what was written down of runs, and whose it is.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.emit_taylor.step_box import MEMBERS, box_size
from tidegate.compiled.series_functions import MembersFunctions
from tidegate.compiled.workspace import Workspace
from tidegate.integrators import plan_places as s
from tidegate.integrators.interface import Stop
from tidegate.integrators.kernel_cache import kernel
from tidegate.integrators.repeated_runs import RepeatedEntry
from tidegate.integrators.several_runs import Several

__all__ = ["Together"]

_LEAST_ROOM, _MOST_NUMBERS = 256, 1 << 16  # records of each lane; numbers of each, unless the fewest records are more
_BLOCKS: Final = 4096
_FILLED: Final = 0.5  # of the memory for records: they are given to the runs
_LINE, _BYTES = 8, 8  # numbers in a line of the cache, bytes in a number


class Together:
    """As many memories as runs go side by side, and one in which their numbers stand beside each other.

    Parameters
    ----------
    work : the memory of a run before its start.
    functions : of steps.
    order : of the series.
    kinds : of rows, and of entries of the log.
    integers : in the memory of a run before its start.
    """

    def __init__(
        self, work: Workspace, functions: MembersFunctions, order: int, kinds: tuple[np.dtype[np.void], np.dtype[np.void]],
        integers: NDArray[np.int64],
    ) -> None:  # fmt: skip
        n = int(work["n"])
        self._works = [work.copy() for _ in range(MEMBERS)]
        rooms = [max(_LEAST_ROOM, _MOST_NUMBERS * _BYTES // kind.itemsize) for kind in kinds]
        self._rows, self._log = (np.zeros((MEMBERS, room), kind) for room, kind in zip(rooms, kinds, strict=True))
        self._slots = np.zeros(MEMBERS * (s.N_SLOT + 2), dtype=np.int64)
        self._blocks = np.zeros((_BLOCKS, s.N_BLOCK), dtype=np.int64)
        self._wide_box = box_size(n, functions.n_guards)
        wide = s.N_SINGLE + s.N_OF_UNKNOWNS * n + self._wide_box + functions.n_numbers + order * n + functions.n_guards
        room = np.zeros(wide * MEMBERS + functions.n_scratch + _LINE)
        self._lanes = room[-(room.ctypes.data // _BYTES) % _LINE :]  # each vector in one line of the cache
        self._functions = functions
        self._entry = RepeatedEntry(work, kernel("tidegate.integrators.taylor.members").run_members, integers)
        slots, where = self._of_slots
        for lane, own in enumerate(self._works):
            own["address_h"], own["address_r"] = own.h.ctypes.data, own.r.ctypes.data
            slots[lane, [s.NUMBER, s.AT_H, s.AT_R]] = lane, own.h.ctypes.data, own.r.ctypes.data
            slots[lane, [s.SLOT_ROWS, s.SLOT_LOG]] = self._rows[lane].ctypes.data, self._log[lane].ctypes.data
            where[:, lane] = own.numbers("p").ctypes.data, own.numbers("m").ctypes.data

    @property
    def _of_slots(self) -> tuple[Any, Any]:
        """What is known of each run under way, and where its parameters and what is constant between events stand."""
        return self._slots[: MEMBERS * s.N_SLOT].reshape(MEMBERS, s.N_SLOT), self._slots[MEMBERS * s.N_SLOT :].reshape(2, MEMBERS)

    def begin(self, several: Several) -> None:
        """Take up other runs."""
        slots, _ = self._of_slots
        slots[:, [s.MEMBER, s.IS_SMOOTH]] = s.NOBODY, 0
        slots[:, [s.FILLED_ROWS, s.FILLED_LOG, s.TOLD_ROWS, s.TOLD_LOG]] = 0
        self._lanes[:] = 0.0
        plan, functions = several.plan, self._functions
        plan[[s.UNDER_WAY, s.ROOM_BLOCKS, s.WIDE_OUT, s.WIDE_BOX]] = 0, _BLOCKS, functions.n_numbers, self._wide_box
        plan[[s.AT_BLOCKS, s.AT_SLOTS, s.AT_LANES]] = self._blocks.ctypes.data, self._slots.ctypes.data, self._lanes.ctypes.data
        plan[[s.F_MEMBER, s.F_STEP]] = functions.address_of_member, functions.address_of_step
        plan[[s.ROOM_ROWS, s.ROOM_LOG]] = self._rows.shape[1], self._log.shape[1]

    def go_on(self, several: Several, enter: Any) -> bool:
        """Carry the runs on until somebody is to look; True when all are over.

        Parameters
        ----------
        several : the runs, with how many steps are left.
        enter : calls a kernel entry.
        """
        is_over = Stop(enter(self._entry, several.plan.ctypes.data)) is Stop.TARGET
        slots, _ = self._of_slots
        used = max(
            slots[:, s.FILLED_ROWS].max() / self._rows.shape[1], slots[:, s.FILLED_LOG].max() / self._log.shape[1], several.plan[s.N_BLOCKS] / _BLOCKS
        )
        if used > _FILLED:
            self.give(several)
        return is_over

    def give(self, several: Several) -> None:
        """Give what was written down to the runs."""
        slots, _ = self._of_slots
        blocks = self._blocks[: several.plan[s.N_BLOCKS]]
        for lane in range(MEMBERS):
            own = blocks[blocks[:, s.LANE] == lane]
            several.rows.append(self._rows[lane, : slots[lane, s.FILLED_ROWS]].copy())
            several.log.append(self._log[lane, : slots[lane, s.FILLED_LOG]].copy())
            several.owners.append((np.repeat(own[:, s.OWNER], own[:, s.BLOCK_ROWS]), np.repeat(own[:, s.OWNER], own[:, s.BLOCK_LOG])))
        slots[:, [s.FILLED_ROWS, s.FILLED_LOG, s.TOLD_ROWS, s.TOLD_LOG]] = 0
        several.plan[s.N_BLOCKS] = 0
