"""Loading a module of native code: only when a run needs it, since Numba and its types take a moment. Its entries are compiled when first called.

Numba compiles one function at a time in each process. So where there are two processors, and nothing has been compiled yet, a second process makes
what nearly every run comes to, beginning where the first gets to last; what one of them is at, the other waits for (``compiled.entry_code``).
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Final

from tidegate.cache_folder import cache_directory
from tidegate.compiled.kernel_keys import entry_directory, kernel_directory

__all__ = ["compile_ahead", "kernel", "share_the_work"]

_RARELY: Final = (100_000, 50, 50)  # garbage collection, a twelfth of the time to compile otherwise
_LOOP: Final = "tidegate.integrators.hybrid_loop.loop"
_SEARCH: Final = "tidegate.events.isolate"
# by the module that tells whether it has been compiled: what every run comes to after ``begin``; what those of models with relations come to
_AHEAD: Final = {
    _LOOP: {
        _LOOP: ("advance",),
        "tidegate.integrators.radau.step": ("take_step",),
        "tidegate.integrators.radau.newton": ("newton",),
        "tidegate.linear.systems": ("factor_complex", "factor_real", "solve_complex", "solve_real"),
        "tidegate.integrators.radau.inside": ("error_inside",),
        "tidegate.integrators.hybrid_loop.record": ("record_row", "record_polynomial"),
    },
    _SEARCH: {
        _SEARCH: ("earliest_of_guards",),
        "tidegate.integrators.hybrid_loop.event": ("event_with_rows",),
        "tidegate.events.tape_range": ("tape_range",),
        "tidegate.integrators.radau.locate": ("locate",),
        "tidegate.events.leaving": ("leaving_sides",),
    },
}

_loading = threading.RLock()
_others: list[subprocess.Popen[bytes]] = []


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


@cache
def share_the_work(has_relations: bool) -> None:
    """Begin the second process for a run of the default method, where there is something for it to do.

    Parameters
    ----------
    has_relations : whether a step is searched for events.
    """
    firsts = (_LOOP, _SEARCH) if has_relations else (_LOOP,)
    missing = [first for first in firsts if (place := entry_directory(first)) is not None and not any(place.glob("*"))]
    if not missing or (os.cpu_count() or 1) < 2 or not sys.executable:
        return
    if not kernel_directory().is_relative_to(cache_directory()):
        return  # of this process alone
    program = f"from tidegate.integrators.kernel_cache import compile_ahead; compile_ahead({missing})"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    nothing = subprocess.DEVNULL
    try:
        other = subprocess.Popen(  # noqa: S603, this interpreter and a text of ours
            [sys.executable, "-c", program], env=environment, stdin=nothing, stdout=nothing, stderr=nothing
        )
    except OSError:
        return
    _others.append(other)  # it is not waited for


def compile_ahead(firsts: Iterable[str]) -> None:
    """Compile what runs come to, in a process that does nothing else.

    Parameters
    ----------
    firsts : the modules that lists of it begin with.
    """
    gc.set_threshold(*_RARELY)
    for first in firsts:
        for module, names in _AHEAD[first].items():
            loaded = import_module(module)
            for name in names:
                getattr(loaded, name).there()
