"""What another run needs to go on from where one stands (stage: integrators). In: the memory of a run; out: its arrays by name, and back.

Two of these are made at every exchange of values, in case that it fails, and hardly ever looked at: so memory is copied as it lies, and parted for
whoever asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final, override

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.workspace import INDEX_OF, Workspace

__all__ = ["RunState", "StateMemory"]

FloatArray = NDArray[np.float64]

# in the order of the schema, where nothing stands between them
_ARRAYS: Final = {
    "unknowns": "y",
    "largest": "y_max",
    "parameters": "p",
    "modes": "m",
    "conditions": "conditions",
    "held": "held",
    "sensitivities": "sens",
    "discrete_sensitivities": "sens_discrete",
}
_NUMBERS: Final = ("t", "t_start", "step_new", "last_event", "last_interval", "interval_2", "interval_3", "last_factor", "shrink_from")
_INTEGERS: Final = ("is_terminated", "same_time", "still_events", "shrinking")
_PROGRESS: Final = "progress"  # of numbers and integers, in one array


class RunState(Mapping[str, FloatArray]):
    """Everything that another run needs to go on from a point, whatever its method.

    Parameters
    ----------
    places : of every array in the block.
    block : the arrays, as they lie in the memory of the run.
    numbers, integers : how far it has come.
    """

    __slots__ = ("_block", "_integers", "_numbers", "_places")

    def __init__(self, places: Mapping[str, slice], block: FloatArray, numbers: FloatArray, integers: FloatArray) -> None:
        self._places, self._block, self._numbers, self._integers = places, block, numbers, integers

    @override
    def __getitem__(self, name: str) -> FloatArray:
        return np.concatenate([self._numbers, self._integers]) if name == _PROGRESS else self._block[self._places[name]]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter((*self._places, _PROGRESS))

    @override
    def __len__(self) -> int:
        return len(self._places) + 1


class StateMemory:
    """Where all of that is in the memory of a run.

    Parameters
    ----------
    work : the memory.
    """

    def __init__(self, work: Workspace) -> None:
        self._work = work
        where = [work.extent(array) for array in _ARRAYS.values()]
        first = where[0][0]
        self._places = {name: slice(start - first, start - first + size) for name, (start, size) in zip(_ARRAYS, where, strict=True)}
        self._block = work.r[first : sum(where[-1])]
        self._numbers = work.r[INDEX_OF[_NUMBERS[0]] : INDEX_OF[_NUMBERS[-1]] + 1]
        self._integers = work.h[INDEX_OF[_INTEGERS[0]] : INDEX_OF[_INTEGERS[-1]] + 1]

    def copy(self) -> RunState:
        """What stands there now."""
        return RunState(self._places, self._block.copy(), self._numbers.copy(), self._integers.astype(np.float64))

    def put(self, state: Mapping[str, FloatArray]) -> None:
        """Let it be what stood there, or in the memory of another run; what that did not have is zero."""
        for name, array in _ARRAYS.items():
            self._work.numbers(array)[:] = np.ravel(state[name]) if name in state else 0.0
        for name, value in zip(chain(_NUMBERS, _INTEGERS), state[_PROGRESS].tolist(), strict=True):
            self._work[name] = value
