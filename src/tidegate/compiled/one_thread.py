"""One thread for the linear algebra library while a run is inside it (stage: compiled, for the integrators).

The library that SciPy brings starts a thread for each processor, even for systems of fifty unknowns, and these wait for each other in loops: on a
machine that has other work a run takes a hundred times as long. How many threads it may use is a setting of the whole process, so it is set while any
run is inside and set back when the last one leaves. Only the library behind ``scipy.linalg.cython_lapack`` is touched; NumPy has its own.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Final

__all__ = ["OneThread", "one_thread"]

# what OpenBLAS (in SciPy's wheels; of a distribution), MKL and BLIS call the two functions
_NAMES: Final = (
    ("scipy_openblas_get_num_threads", "scipy_openblas_set_num_threads"),
    ("scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"),
    ("openblas_get_num_threads", "openblas_set_num_threads"),
    ("openblas_get_num_threads64_", "openblas_set_num_threads64_"),
    ("MKL_Get_Max_Threads", "MKL_Set_Num_Threads"),
    ("bli_thread_get_num_threads", "bli_thread_set_num_threads"),
)


class OneThread:
    """A context in which a library uses one thread; any number of threads may be in it at once.

    Parameters
    ----------
    get, put : the library's functions that tell and set the number of threads.
    """

    def __init__(self, get: Callable[[], int], put: Callable[[int], Any]) -> None:
        self._get, self._put = get, put
        self._lock = threading.Lock()
        self._inside = 0
        self._before = 1

    @property
    def threads(self) -> int:
        """How many the library may use now."""
        return self._get()

    @threads.setter
    def threads(self, number: int) -> None:
        self._put(number)

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._before = self._get()
                if self._before != 1:
                    self._put(1)
            self._inside += 1

    def __exit__(self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._before != 1:
                self._put(self._before)


@cache
def one_thread() -> OneThread:
    """The context for the library that LAPACK's functions are in; it does nothing where that has no threads to speak of."""
    for path in _places(str(import_module("scipy.linalg.cython_lapack").__file__)):
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        for get, put in _NAMES:
            if hasattr(library, get) and hasattr(library, put):
                return OneThread(getattr(library, get), getattr(library, put))
    return OneThread(lambda: 1, lambda _number: None)


def _places(module: str) -> list[str]:
    """Where to look: in what the module is linked to, which a look-up in the module finds; on Windows it does not, so in what stands beside SciPy."""
    if sys.platform != "win32":
        return [module]
    return [str(path) for path in sorted(Path(module).parents[2].glob("scipy.libs/*openblas*"))]
