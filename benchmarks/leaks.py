"""How much a process grows over ten thousand runs: of one prepared run, and of a model simulated anew each time."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.own import load

__all__ = ["RUNS", "anew_kibibytes", "prepared_kibibytes"]

RUNS: Final = 10_000
WARM_UP: Final = 200
STATUS: Final = Path("/proc/self/statm")


def _resident() -> int:
    if not STATUS.exists():
        raise OSError("the size of the process can only be read where there is /proc")
    return int(STATUS.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _growth(run: Callable[[], Any]) -> float:
    for _ in range(WARM_UP):
        run()
    gc.collect()
    before = _resident()
    for _ in range(RUNS):
        run()
    gc.collect()
    return (_resident() - before) / 1024


def prepared_kibibytes() -> float:
    """Growth over the runs of a prepared model with events and a sensitivity."""
    import tidegate as tg

    return _growth(tg.prepare(load("P1"), (0.0, 3.5), sensitivities=["e"]).run)


def anew_kibibytes() -> float:
    """Growth over calls of ``tg.simulate``, each of which lowers, compiles and runs the same component."""
    import tidegate as tg

    ball = load("P1")
    return _growth(lambda: tg.simulate(ball, (0.0, 3.5)))
