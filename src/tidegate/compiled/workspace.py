"""The one block of memory of a run, laid out once: integers, addresses and offsets in ``h``, numbers in ``r``.

Native code gets the two arrays and opens views on them by the names below, so nothing is allocated during a run and a run
is copied by copying two arrays. ``Field``-like constants are plain integers because Numba freezes them into the code.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.numba_later import Intrinsic
from tidegate.compiled.schema import FIELDS, FIRST_WRITTEN, FIXED

__all__ = [
    "FIRST_CHANGING",
    "INDEX_OF",
    "Workspace",
    "indices_of",
    "integers",
    "intrinsic",
    "matrix",
    "tail",
    "vector",
]

# for type checkers: what it makes is called, whatever its own class says
intrinsic: Any = Intrinsic

_SINGLE_INTEGERS: Final = [field.name for field in FIELDS if field.shape is None and field.kind == "integer"]
_SIZES: Final = [name for name in _SINGLE_INTEGERS if name in FIXED]
_SINGLE_NUMBERS: Final = [field.name for field in FIELDS if field.shape is None and field.kind == "number"]
_ARRAYS: Final = [field for field in FIELDS if field.shape is not None and not field.part_of]
_FIRST_ARRAY: Final = len(_SIZES)
FIRST_CHANGING: Final = _FIRST_ARRAY + len(_ARRAYS)  # integers in front of it are what they are
_ARRAY_NUMBER: Final = {field.name: number for number, field in enumerate(_ARRAYS)}
_INDEX_OF_NUMBER: Final = {name: index for index, name in enumerate(_SINGLE_NUMBERS)}
# where every entry stands: a single one in its block, an array by its offset in the block of integers
_INTEGERS: Final = [*_SIZES, *_ARRAY_NUMBER, *(name for name in _SINGLE_INTEGERS if name not in FIXED)]
INDEX_OF: Final = {name: index for index, name in enumerate(_INTEGERS)} | _INDEX_OF_NUMBER
_NOWHERE: Final = 1 << 60  # so far outside of memory that touching it ends the process, in tests too
_LINE: Final = 8  # numbers in a line of the cache: no two arrays share one

# sizes of all arrays are one product of numpy: of the integers at these places, and of plain sizes
_FACTORS: Final = [[index for size in field.memory for index in size.split("*")] for field in _ARRAYS]
_INDICES_OF_FACTORS: Final = np.array([[INDEX_OF[name] for name in (*names, "one", "one", "one", "one")[:4]] for names in _FACTORS])
_PLAIN: Final = np.array([field.plain * (2 if field.kind == "complex" else 1) for field in _ARRAYS])
_IS_INTEGER: Final = np.array([field.kind == "integer" for field in _ARRAYS])
_OWNERS: Final = np.array([field.owner for field in _ARRAYS])

NEVER: Final = 1e300  # a time behind every other

# reasons for which ``advance`` comes back
TARGET, LIMIT, TERMINATED, NOT_FINITE, STEP_TOO_SMALL, SINGULAR, RESTART_FAILED, UNSETTLED, CHATTERING, ZENO, CONFLICT = range(11)
CLOCK_STOPPED, UNDECIDED_GUARD, NO_SENSITIVITIES, OFF_CONSTRAINTS, POLE, DELAY_VANISHED, ANOTHER_METHOD = range(11, 18)
# kinds of events in the log
STATE_EVENT, TIME_EVENT, INITIAL_EVENT, STEP_EVENT = 1, 2, 4, 8
# chain numbers from here on belong to no chain: remarks, which happen with the branch or time event they belong to
FIRST_REMARK: Final = 1 << 32
# what a clause means, if it happened also where it changed no value: the end of the run, an entry in the log; it keeps what a relation was
TERMINATES, IS_NOTED, KEEPS = 1, 2, 4
# kinds of guards
RELATION, LOWER, UPPER = range(3)
# kinds of rows of tapes: a number that is written there, one that p, m and such make; what moves for certain; what may do either, as modes choose
WRITTEN, COMPUTED, MOVING, CHOSEN = range(4)
# kinds of rows
STEP_ROW, BEFORE_ROW, AFTER_ROW, OUTPUT_ROW = range(4)


def indices_of(names: Sequence[str]) -> NDArray[np.intp]:
    """Where single entries stand, to reach several at once."""
    return np.array([INDEX_OF[name] for name in names])


@intrinsic
def vector(_typing_context: Any, base: Any, offset: Any, n: Any) -> Any:
    """View of n items; nobody checks that no other is asked for."""
    from tidegate.compiled.view_code import make_vector

    return make_vector(base, offset, n)


@intrinsic
def matrix(_typing_context: Any, base: Any, offset: Any, rows: Any, columns: Any) -> Any:
    """View of a matrix by rows."""
    from tidegate.compiled.view_code import make_matrix

    return make_matrix(base, offset, rows, columns)


@intrinsic
def tail(_typing_context: Any, base: Any, offset: Any) -> Any:
    """View of everything from a place on, for functions that know how much they read."""
    from tidegate.compiled.view_code import make_vector

    return make_vector(base, offset)


integers = vector


class Workspace:
    """The arrays of one run and where everything stands in them, by the names of ``compiled.schema``.

    Parameters
    ----------
    sizes : values of the integers that shapes are told by.
    owners : whose arrays there are.
    """

    def __init__(self, sizes: dict[str, int], owners: tuple[str, ...]) -> None:
        head, self.sizes, n_integers, n_numbers = _lay(owners, tuple(sizes.items()))
        self.h: NDArray[np.int64] = np.zeros(n_integers, dtype=np.int64)
        self.r: NDArray[np.float64] = np.zeros(n_numbers)
        self.h[: len(head)] = head

    def copy(self) -> Workspace:
        """The same memory at another place."""
        twin: Workspace = object.__new__(Workspace)
        twin.sizes, twin.h, twin.r = self.sizes, self.h.copy(), self.r.copy()
        return twin

    @property
    def lasting(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """What a run must find as it was before, to begin again: without what nobody writes, and what every run writes before it reads it."""
        end_h, end_r = (int(self.h[INDEX_OF[FIRST_WRITTEN[kind]]]) for kind in ("integer", "number"))
        return self.h[FIRST_CHANGING:end_h], self.r[:end_r]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """The numbers of one array."""
        offset, size = self.extent(name)
        return self.r[offset : offset + size]

    def integers(self, name: str) -> NDArray[np.int64]:
        """The integers of one array."""
        offset, size = self.extent(name)
        return self.h[offset : offset + size]

    def extent(self, name: str) -> tuple[int, int]:
        """Where an array begins in its block, and its size."""
        number = _ARRAY_NUMBER[name]
        return int(self.h[_FIRST_ARRAY + number]), int(self.sizes[number])

    def __getitem__(self, name: str) -> Any:
        """A single integer or number."""
        return (self.r if name in _INDEX_OF_NUMBER else self.h)[INDEX_OF[name]].item()

    def __setitem__(self, name: str, value: float) -> None:
        (self.r if name in _INDEX_OF_NUMBER else self.h)[INDEX_OF[name]] = value


@lru_cache(maxsize=64)
def _lay(owners: tuple[str, ...], sizes: tuple[tuple[str, int], ...]) -> tuple[NDArray[np.int64], NDArray[np.int64], int, int]:
    """The beginning of the block of integers, the sizes of all arrays, and the lengths of both blocks."""
    head = np.zeros(len(_INTEGERS), dtype=np.int64)
    for name, value in (("one", 1), *sizes):
        head[INDEX_OF[name]] = value
    exists = np.isin(_OWNERS, owners)
    counts = np.where(exists, head[_INDICES_OF_FACTORS].prod(axis=1) * _PLAIN, 0)
    room = np.maximum(counts, 1)
    room = np.where(_IS_INTEGER, room, -(-room // _LINE) * _LINE) * exists
    offsets = np.empty_like(room)
    ends: list[int] = []
    for kind, first in ((_IS_INTEGER, len(_INTEGERS)), (~_IS_INTEGER, -(-len(_SINGLE_NUMBERS) // _LINE) * _LINE)):
        end = first + np.cumsum(room[kind])
        offsets[kind] = end - room[kind]
        ends.append(int(end[-1]))
    head[_FIRST_ARRAY:FIRST_CHANGING] = np.where(exists, offsets, _NOWHERE)
    return head, counts, ends[0], ends[1]
