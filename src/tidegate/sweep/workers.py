"""Who carries out the runs of a sweep (stage: sweep): this thread, threads, or somebody's executor. Out come batches, as they are done.

Native code gives up Python's lock, so threads run beside each other: each takes some of the runs that are left, again and again, and makes one batch
of what it has done for a while, which is Python. An executor of processes, or a Dask client, gets the study as a pickle; a process takes it out of
the pickle once, and makes machine code once.
"""

from __future__ import annotations

import io
import math
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.executive import CarriedOut
from tidegate.sweep.batch import Batch, Outcome, batch_of
from tidegate.sweep.study import Study

__all__ = ["as_executor", "in_executor", "in_this_thread", "in_threads", "shipped", "together"]

FloatArray = NDArray[np.float64]
Members = NDArray[np.int64]
_BATCH_SECONDS: Final = 0.25  # of one: often enough for a progress bar, seldom enough to cost nothing
_LEAST_SECONDS: Final = 0.002  # what takes less costs more to begin than it gains by being shared
_LITTLE: Final = 0.05  # likewise of what is made into arrays: so much may wait for the end of others
_LEAST_SHIPPED: Final = 0.01  # likewise of what goes to another process
_BATCH_NUMBERS: Final = 1 << 20  # 8 MB: what a batch may hold
_MOST: Final = 8000
_BATCHES: Final = 3  # of a worker, if all are alike
_SHARED: Final = 0.7  # of what is left: the rest makes up for some being slower than others
_AHEAD: Final = 2  # batches for each worker that are waiting or under way
_POLL: Final = 0.1  # seconds between two looks for Ctrl-C


def _fitting(study: Study) -> int:
    """How many runs a batch may hold."""
    n_times = 1 if study.times is None else len(study.times)
    each = n_times * len(study.columns) * (1 + len(study.sensitivity_parameters))
    return min(max(_BATCH_NUMBERS // max(each, 1), 1), _MOST)


class _Left:
    """What is left to be run, cut into portions that take about as long as they should.

    Parameters
    ----------
    count : of the runs.
    study : theirs.
    workers : who share them.
    least : seconds below which a portion is not worth being shared.
    done : of the first runs.
    """

    def __init__(self, count: int, study: Study, workers: int, least: float, done: int = 0) -> None:
        self._next, self._count, self._workers, self._least = done, count, workers, least
        self.fits = _fitting(study)
        # one worker takes up what it has done while others still run
        self.enough = math.ceil(count / (_BATCHES * workers)) if workers > 1 else count
        self._seconds = np.inf  # of a run; the first portions are single runs
        self._lock = threading.Lock()
        self._busy = 0  # workers
        self._left_over: list[CarriedOut] = []  # by those who were ready before the last

    @property
    def is_over(self) -> bool:
        """Whether nothing is left."""
        return self._next >= self._count

    @property
    def is_measured(self) -> bool:
        """Whether it is known how long a run takes."""
        return self._seconds < np.inf

    def next(self, most: int) -> tuple[int, int]:
        """The first and the last of the next portion, without that last, of so many runs at most; the same if nothing is left."""
        with self._lock:
            left = self._count - self._next
            share = math.ceil(_SHARED * left / self._workers) if self._workers > 1 else left
            seconds = max(self._seconds, 1e-6)
            size = max(1, min(int(_BATCH_SECONDS / seconds), max(share, int(self._least / seconds)), most))
            first, self._next = self._next, min(self._next + size, self._count)
            return first, self._next

    def took(self, seconds: float, runs: int) -> None:
        """What runs have cost, without what is done around them."""
        self._seconds = seconds / max(runs, 1)

    def begin(self) -> None:
        """Note that one more worker is busy."""
        with self._lock:
            self._busy += 1

    def to_take_up(self, carried: list[CarriedOut]) -> list[CarriedOut]:
        """What a worker makes a batch of at its end: what took little is left to whoever is still busy, if no runs are left."""
        with self._lock:
            self._busy -= 1
            found, self._left_over = [*self._left_over, *carried], []
            if self._busy and self.is_over and sum(part.seconds for part in found) < _LITTLE:
                found, self._left_over = [], found
            return found


class _ForOneBatch:
    """Portions of what is left for a worker, until it has enough for a batch."""

    def __init__(self, left: _Left) -> None:
        self._left, self._room, self._began = left, left.fits, time.perf_counter()
        self.took, self.to_take_up = left.took, left.to_take_up
        left.begin()

    def next(self) -> tuple[int, int]:
        """The first and the last of the next portion, without that last; the same if that is all."""
        done = self._left.fits - self._room
        if not self._room or done >= self._left.enough or (done and time.perf_counter() - self._began > _BATCH_SECONDS):
            return 0, 0
        first, last = self._left.next(self._room)
        self._room -= last - first
        return first, last


class _AllAtOnce:
    """Runs as one portion, and how long it took."""

    def __init__(self, count: int) -> None:
        self._next, self._count, self.seconds = 0, count, 0.0

    def next(self) -> tuple[int, int]:
        """All of them, once."""
        first, self._next = self._next, self._count
        return first, self._next

    def took(self, seconds: float, runs: int) -> None:  # noqa: ARG002 - how many these are is known
        """How long it took."""
        self.seconds = seconds

    def to_take_up(self, carried: list[CarriedOut]) -> list[CarriedOut]:
        """All."""
        return carried


def in_this_thread(study: Study, members: Members, values: FloatArray) -> Iterator[Batch]:
    """One run after the other; Ctrl-C comes out of the run that it ends."""
    most = _fitting(study)
    done: list[Outcome] = []
    began = time.perf_counter()
    try:
        for outcome in study.outcomes(members.tolist(), values[members]):
            done.append(outcome)
            if len(done) >= most or time.perf_counter() - began > _BATCH_SECONDS:
                batch, done = batch_of(done), []
                yield batch
                began = time.perf_counter()
    except KeyboardInterrupt:
        if done:
            yield batch_of(done)
        raise
    if done:
        yield batch_of(done)


def together(study: Study, members: Members, values: FloatArray, is_wanted: Callable[[], bool]) -> Iterator[Batch]:
    """Many runs in one call of native code, by this thread; after Ctrl-C those that are done are given."""
    watching, left, values = study.watching(is_wanted), _Left(len(members), study, 1, _LEAST_SECONDS), values[members]
    while not left.is_over and not is_wanted():
        batch = watching.batch(_ForOneBatch(left), members, values, is_wanted)
        if batch is not None:
            yield batch


def in_threads(study: Study, members: Members, values: FloatArray, workers: int, is_wanted: Callable[[], bool]) -> Iterator[Batch]:
    """Runs beside each other in this process.

    Parameters
    ----------
    is_wanted : whether Ctrl-C has come: runs under way end then, and those that are done are given.
    """
    halt = threading.Event()
    watching, values = study.watching(halt.is_set), values[members]
    with watching.prepared.lent():  # loads the kernel, before several threads would
        pass
    first = watching.first(values)
    left = _Left(len(members), study, workers, _LEAST_SECONDS, done=0 if first is None else 1)
    if first is not None:
        left.took(first.seconds, 1)

    begun = [] if first is None else [first]

    def work(tried: CarriedOut | None) -> Batch | None:
        return watching.batch(_ForOneBatch(left), members, values, halt.is_set, tried)

    with ThreadPoolExecutor(workers, thread_name_prefix="tidegate-sweep") as pool:

        def submit() -> Future[Batch | None] | None:
            return None if left.is_over and not begun else pool.submit(work, begun.pop() if begun else None)

        try:
            for batch in _collected(submit, lambda: _AHEAD * workers, is_wanted, halt):
                if batch is not None:
                    yield batch
        finally:
            halt.set()


def in_executor(
    study: Study, members: Members, values: FloatArray, executor: Executor, workers: int, is_wanted: Callable[[], bool]
) -> Iterator[Batch]:
    """Runs in other processes; after Ctrl-C nobody waits for those under way."""
    payload, left = shipped(study), _Left(len(members), study, workers, _LEAST_SHIPPED)

    def submit() -> Future[tuple[Batch | None, float]] | None:
        own = members[slice(*left.next(left.fits))]
        return executor.submit(_run_shipped, payload, own, values[own]) if len(own) else None

    for batch, seconds in _collected(submit, lambda: (_AHEAD if left.is_measured else 1) * workers, is_wanted, None):
        if batch is not None:
            left.took(seconds, len(batch.members))
            yield batch


def _collected[T](
    submit: Callable[[], Future[T] | None], most: Callable[[], int], is_wanted: Callable[[], bool], halt: threading.Event | None
) -> Iterator[T]:
    """What comes back, as it does, with so many under way at most; nothing is submitted where nothing is left."""
    under_way: set[Future[T]] = set()
    is_over = False
    try:
        while True:
            while not is_over and len(under_way) < most() and (future := submit()) is not None:
                under_way.add(future)
            if not under_way:
                return
            done, under_way = wait(under_way, timeout=_POLL, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
            if is_wanted() and not is_over:
                is_over = True
                if halt is not None:
                    halt.set()
                under_way = {future for future in under_way if not future.cancel() and halt is not None}
    finally:
        for future in under_way:
            future.cancel()


def as_executor(given: Any) -> tuple[Executor, int]:
    """An executor and how many workers it has; a Dask client gives one.

    Raises
    ------
    UsageError : it is neither.
    """
    if hasattr(given, "get_executor") and hasattr(given, "nthreads"):
        return given.get_executor(pure=False, retries=0), max(sum(given.nthreads().values()), 1)
    if not isinstance(given, Executor):
        hint = "a concurrent.futures executor, such as ProcessPoolExecutor(4), or a dask.distributed Client"
        raise UsageError(f"executor={given!r} carries out nothing", hint=hint)
    workers = getattr(given, "_max_workers", None)
    return given, workers if isinstance(workers, int) and workers > 0 else 1


def shipped(study: Study) -> bytes:
    """The study as a pickle, by cloudpickle where a function has no importable name and that is installed.

    Raises
    ------
    UsageError : the model cannot be pickled.
    """
    try:
        return pickle.dumps(study)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        why = str(error)
    try:
        import cloudpickle
    except ImportError:
        raise UsageError(f"the model cannot be sent to other processes: {why}", hint="put it into a file that can be imported") from None
    try:
        page = io.BytesIO()
        cloudpickle.dump(study, page)
        return page.getvalue()
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise UsageError(f"the model cannot be sent to other processes: {error}", hint="threads need no pickles: leave out executor=") from None


class _Here:
    """A study in the process that carries it out, and the lock that lets threads of the executor in one by one, where they have to be."""

    def __init__(self, payload: bytes) -> None:
        self.study: Study = pickle.loads(payload)  # noqa: S301 - from the caller, who could as well have sent a function
        self.lock = threading.Lock()


_making = threading.Lock()


@lru_cache(maxsize=2)
def _received(payload: bytes) -> _Here:
    return _Here(payload)


def _run_shipped(payload: bytes, members: Members, values: FloatArray) -> tuple[Batch | None, float]:
    """A batch, and how long its runs took."""
    with _making:  # two threads of a worker would make it twice
        here = _received(payload)
    portions = _AllAtOnce(len(members))
    with here.lock if here.study.is_for_one_thread else nullcontext():
        return here.study.batch(portions, members, values), portions.seconds
