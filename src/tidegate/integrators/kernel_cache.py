"""Loading a module of native code: only when a run needs it, since Numba and its types take a moment. Its entries are compiled when first called."""

from __future__ import annotations

import gc
import threading
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Final

__all__ = ["kernel"]

_RARELY: Final = (100_000, 50, 50)  # garbage collection

_loading = threading.RLock()


@cache
def kernel(module: str) -> ModuleType:
    """Import a module of native code.

    Parameters
    ----------
    module : full name, e.g. ``"tidegate.integrators.radau.radau_method"``.
    """
    with _loading:
        collecting = gc.get_threshold()
        gc.set_threshold(*_RARELY)
        try:
            return import_module(module)
        finally:
            gc.set_threshold(*collecting)
