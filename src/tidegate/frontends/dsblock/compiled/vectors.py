"""The vectors of one model of a compiled block, with guard cells around each: what is written there tells of a wrong dimension (BLOCKB's DIM).

In: sizes. Out: arrays for Python, and the structure ``tg_block`` of runtime.h with their addresses for the native adapter.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["GUARD", "BlockStructure", "VariantStructure", "Vectors"]

GUARD: Final = 8  # cells on either side: a dimension that is one or a few off is the usual mistake
_REAL_PATTERN: Final = -6.0221e101  # no number that a model computes
_INTEGER_PATTERN: Final = -1515870811
_POINTER: Final = ctypes.c_void_p


class VariantStructure(ctypes.Structure):
    """``tg_variant`` of runtime.h."""

    _fields_ = (("parameter", ctypes.c_int), ("offset", ctypes.c_double), ("weight", ctypes.c_double), ("block", _POINTER))


class BlockStructure(ctypes.Structure):
    """``tg_block`` of runtime.h."""

    _fields_ = (
        *((name, _POINTER) for name in ("f", "g", "h", "k", "j", "x", "xd", "u", "dp", "ip", "lp", "fout", "y", "z", "w")),
        *((name, _POINTER) for name in ("duser", "iuser", "luser", "jac")),
        *((name, ctypes.c_int) for name in ("n_x", "n_u", "n_y", "n_z", "n_w", "n_dp", "n_ip", "n_lp", "n_f", "is_dae")),
        *((name, ctypes.c_int) for name in ("n_duser", "n_iuser", "n_luser", "n_jac", "needs_rates")),
        ("icall", ctypes.c_int * 16),
        ("failed_in", ctypes.c_int),
        ("ierr", ctypes.c_int),
        ("failed_at", ctypes.c_double),
        ("has_overwritten", ctypes.c_int),
        ("knows_point", ctypes.c_int),
        ("last_t", ctypes.c_double),
        ("n_variants", ctypes.c_int),
        ("variants", _POINTER),
        ("left_in_step", ctypes.c_int),
        ("evaluations", ctypes.c_int),
        ("stays", _POINTER),
        ("name", ctypes.c_char_p),
        ("joined", _POINTER),
    )  # fmt: skip


class Vectors:
    """Arrays by name.

    Parameters
    ----------
    reals, integers : sizes by name.
    """

    def __init__(self, reals: Mapping[str, int], integers: Mapping[str, int]) -> None:
        self._whole: dict[str, NDArray[Any]] = {}
        self._parts: dict[str, NDArray[Any]] = {}
        self._guards: list[tuple[str, NDArray[Any], str, bytes]] = []
        for sizes, kind, pattern in ((reals, np.float64, _REAL_PATTERN), (integers, np.intc, _INTEGER_PATTERN)):
            for name, size in sizes.items():
                whole = np.full(size + 2 * GUARD, pattern, dtype=kind)
                whole[GUARD : GUARD + size] = 0
                self._whole[name], self._parts[name] = whole, whole[GUARD : GUARD + size]
                intact = whole[:GUARD].tobytes()
                self._guards += [(name, whole[:GUARD], "before the first", intact), (name, whole[GUARD + size :], "behind the last", intact)]
        self.addresses = {name: whole.ctypes.data + GUARD * whole.itemsize for name, whole in self._whole.items()}

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._parts[name]

    def overwritten(self) -> Iterator[str]:
        """What was written outside of arrays, a phrase each; the cells are as they were afterwards."""
        for name, cells, where, intact in self._guards:
            if cells.tobytes() != intact:
                cells.view(np.uint8)[:] = np.frombuffer(intact, dtype=np.uint8)
                yield f"{where} of the {len(self._parts[name])} elements of {name.upper()}"
