"""Models put together of parts, against the same equations written by hand, in turn within one process.

What counts is the run: the parts are taken apart before it, and what is left has to be as good as what the hand writes. That the results are the same
is asserted before anything is measured. Of the plate, with 2500 unknowns, a run's memory is measured as well: no array has an element for every pair.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

import tidegate as tg
from benchmarks.component_models import chain, chain_by_hand, ladder, ladder_by_hand, plate, plate_by_hand

__all__ = ["PAIRS", "Pair", "Seconds", "plate_mebibytes", "seconds"]

SIDE: Final = 50
_AGREE: Final = 1e-4  # of the largest value: a hundred tolerances, for a chain that swings


@dataclass(frozen=True)
class Pair:
    """A model of parts, the same by hand, and names of what must come out alike.

    Parameters
    ----------
    title : what it is.
    parts, hand : make the sources.
    end : of the run.
    same : a quantity of each, with the positions that are compared.
    """

    title: str
    parts: Callable[[], Any]
    hand: Callable[[], Any]
    end: float
    same: tuple[str, str]


@dataclass(frozen=True)
class Seconds:
    """Of a pair: from the source to machine code, and of a run, by parts and by hand."""

    parts: float
    hand: float
    parts_run: float
    hand_run: float


PAIRS: Final = (
    Pair("a ladder of 1000 cells", lambda: ladder(1000), lambda: ladder_by_hand(1000), 100.0, ("capacitor[9].v", "v[9]")),
    Pair("a plate of 50 x 50", lambda: plate(SIDE), lambda: plate_by_hand(SIDE), 5.0, ("cell[7,7].T", "T[7,7]")),
    Pair("a chain of 100 pendulums", lambda: chain(100), lambda: chain_by_hand(100), 1.0, ("rod[99].x", "x[99]")),
)


def _prepared(source: Callable[[], Any], end: float) -> tuple[float, Any]:
    gc.collect()
    began = time.process_time()
    run = tg.prepare(source(), (0.0, end), outputs=np.linspace(0.0, end, 11), dense=False)
    return time.process_time() - began, run


def seconds(pair: Pair, rounds: int) -> Seconds:
    """Processor seconds; of runs the fastest, in turn.

    Raises
    ------
    AssertionError : the two are not the same.
    """
    (parts, run), (hand, run_by_hand) = _prepared(pair.parts, pair.end), _prepared(pair.hand, pair.end)
    values, others = (np.asarray(one.run()[name]) for one, name in zip((run, run_by_hand), pair.same, strict=True))
    wrong = np.abs(values - others).max()
    assert wrong <= _AGREE * np.abs(others).max(), f"{pair.title}: {wrong:g} apart"
    taken: tuple[list[float], list[float]] = [], []
    for _ in range(max(rounds, 3)):
        for one, several in zip((run, run_by_hand), taken, strict=True):
            began = time.process_time()
            one.run()
            several.append(time.process_time() - began)
    return Seconds(parts, hand, min(taken[0]), min(taken[1]))


def plate_mebibytes() -> float:
    """The largest array of a run of the plate of parts, its memory; with a number for every pair of its unknowns that would be 47.7 more."""
    run = tg.prepare(plate(SIDE), (0.0, 1.0), outputs=[1.0], dense=False)
    gc.collect()
    tracemalloc.start()
    try:
        kept = run.run(), run.integrator()
        largest = max(trace.size for trace in tracemalloc.take_snapshot().traces)
        del kept
        return largest / 2**20
    finally:
        tracemalloc.stop()
