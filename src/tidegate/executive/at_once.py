"""Runs of which nothing is to be said while they last (stage: executive): one call of native code, and a result that reads what that packed.

In: a problem, options, what a run has packed. Out: whether runs are of this kind; the recording of one. What takes time is done when it is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, override

import numpy as np
from numpy.typing import NDArray

from tidegate.executive.options import Options
from tidegate.executive.recorder import NONE_DONE, Cost, Legend, Recording
from tidegate.integrators.interface import Counters, Problem, Stop
from tidegate.integrators.packed_run import N_COUNTS, NOT_BEGUN
from tidegate.integrators.record_types import Written
from tidegate.results import Event, RunStatus

__all__ = ["END_OF_SPAN", "is_plain", "read", "stopped"]

FloatArray = NDArray[np.float64]
END_OF_SPAN: Final = "reached the end of the time span"
_HEAD: Final = N_COUNTS + len(Counters._fields)  # numbers in front of what is constant between events


def is_plain(problem: Problem, options: Options, legend: Legend) -> bool:
    """Whether nobody is to be asked or told anything between the start of a run and its end."""
    model = problem.model
    wishes = options.progress or options.on_rows is not None or options.max_steps is not None
    memory = model.opening is not None or model.closing is not None or model.past is not None or model.has_opaque
    words = model.initial.says or model.final.says or model.final.assigns or model.start.compares
    return not (wishes or memory or words or model.layout.n_constraints or legend.followers or problem.resume is not None)


def stopped(answer: int) -> Stop | None:
    """Why a run stopped where it can go on from; None of one that is to be begun anew, by somebody who looks at every failure."""
    stop = None if answer == NOT_BEGUN else Stop(-1 - answer)
    return stop if stop in (Stop.TARGET, Stop.LIMIT, Stop.TERMINATED) else None


class _Unpacked(NamedTuple):
    """What a run wrote down; arrays on the memory that it was packed in."""

    counters: Counters
    m: FloatArray
    rows: Written
    log: Written
    polynomials: Written


def _unpacked(packed: bytearray | NDArray[np.uint8], n_m: int, kinds: Sequence[np.dtype[np.void]]) -> _Unpacked:
    """The parts of what was packed.

    Parameters
    ----------
    n_m : how many numbers are constant between events.
    kinds : of rows, log, polynomials.
    """
    head = np.frombuffer(packed, np.int64, _HEAD).tolist()
    m, place, parts = np.frombuffer(packed, np.float64, n_m, 8 * _HEAD), 8 * (_HEAD + n_m), list[Written]()
    for kind, count in zip(kinds, head[:N_COUNTS], strict=True):
        parts.append(np.ndarray(count, kind, packed, place))
        place += count * kind.itemsize
    return _Unpacked(Counters._make(head[N_COUNTS:]), m, *parts)


class PackedRecording(Recording):
    """What was written down of a run that came to its end, and of which there is nothing more to say.

    Parameters
    ----------
    legend : what the numbers are.
    packed : of ``PackedRuns.run``.
    kinds : of rows, log, polynomials in it.
    seconds, compile_seconds : that the run took, and getting ready.
    """

    status: RunStatus = "finished"
    _told = END_OF_SPAN
    _shows_inner = False
    _initial_words = _held = None
    _last: Event | None = None
    _absent: NDArray[np.bool_] | None = None

    def __init__(
        self, legend: Legend, packed: bytearray | NDArray[np.uint8], kinds: Sequence[np.dtype[np.void]], seconds: float, compile_seconds: float
    ) -> None:
        self.legend, self._packed, self._kinds, self._seconds, self._compile_seconds = legend, packed, kinds, seconds, compile_seconds

    @cached_property
    def _unpacked(self) -> _Unpacked:
        return _unpacked(self._packed, self.legend.layout.n_m, self._kinds)

    @cached_property
    def _rows(self) -> list[Written]:
        return [self._unpacked.rows] if len(self._unpacked.rows) else []

    @cached_property
    def _log(self) -> list[Written]:
        return [self._unpacked.log] if len(self._unpacked.log) else []

    @cached_property
    def _polynomials(self) -> list[Written]:
        return [self._unpacked.polynomials] if len(self._unpacked.polynomials) else []

    @cached_property
    def _m(self) -> NDArray[np.float64] | None:
        return None if self.legend.formulas is None and self.legend.computed is None else self._unpacked.m

    @property
    @override
    def cost(self) -> Cost:
        return Cost(NONE_DONE, self._unpacked.counters, self._seconds, 0, self._compile_seconds)


def read(
    legend: Legend, compile_seconds: float, source: Any, packed: bytearray | NDArray[np.uint8], kinds: Sequence[np.dtype[np.void]], seconds: float
) -> tuple[PackedRecording, Mapping[str, Any], RunStatus, Any]:
    """What a result takes up of a run that was one call: the recording, what many results share, how the run ended, what it is judged by."""
    return PackedRecording(legend, packed, kinds, seconds, compile_seconds), legend.facts, "finished", source
