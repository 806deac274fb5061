"""Who carries out the runs of a sweep (stage: sweep): this thread, threads, or somebody's executor. Out come batches, as they are done.

Native code gives up Python's lock, so threads run beside each other. An executor of processes, or a Dask client, gets the study as a pickle; a
process takes it out of the pickle once, and makes machine code once.
"""

from __future__ import annotations

import io
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.sweep.batch import Batch, Outcome, batch_of
from tidegate.sweep.study import Study

__all__ = ["as_executor", "in_executor", "in_this_thread", "in_threads", "shipped", "together"]

FloatArray = NDArray[np.float64]
Members = NDArray[np.int64]
_BATCH_SECONDS: Final = 0.25  # of one: often enough for a progress bar, seldom enough to cost nothing
_LEAST_SECONDS: Final = 0.01  # a shorter batch costs more to begin and to take in than it gains by being shared
_BATCH_NUMBERS: Final = 1 << 20  # 8 MB: what a batch may hold
_MOST: Final = 4000
_AHEAD: Final = 2  # batches for each worker that are waiting or under way
_POLL: Final = 0.1  # seconds between two looks for Ctrl-C


class _Pieces:
    """Cuts what is left to be run into batches that take about as long as they should."""

    def __init__(self, members: Members, study: Study, workers: int) -> None:
        self._members, self._next, self._workers = members, 0, workers
        n_times = 1 if study.times is None else len(study.times)
        each = n_times * len(study.columns) * (1 + len(study.sensitivity_parameters))
        self.fits = min(max(_BATCH_NUMBERS // max(each, 1), 1), _MOST)
        self._seconds = np.inf  # of a run; the first batches are single runs

    def next(self) -> Members:
        """The next batch; none if nothing is left."""
        left = len(self._members) - self._next
        share = -(-left // (_AHEAD * self._workers)) if self._workers > 1 else left
        seconds = max(self._seconds, 1e-6)
        size = max(1, min(int(_BATCH_SECONDS / seconds), max(share, int(_LEAST_SECONDS / seconds)), self.fits))
        first, self._next = self._next, min(self._next + size, len(self._members))
        return self._members[first : self._next]

    @property
    def are_measured(self) -> bool:
        """Whether it is known how long a run takes."""
        return self._seconds < np.inf

    def took(self, seconds: float, runs: int) -> None:
        """What runs of a batch have cost, without what a batch itself does."""
        self._seconds = seconds / max(runs, 1)


def in_this_thread(study: Study, members: Members, values: FloatArray) -> Iterator[Batch]:
    """One run after the other; Ctrl-C comes out of the run that it ends."""
    most = _Pieces(members, study, 1).fits
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
    watching, pieces = study.watching(is_wanted), _Pieces(members, study, 1)
    while len(piece := pieces.next()) and not is_wanted():
        batch, seconds = watching.batches(piece.tolist(), values[piece], is_wanted)
        pieces.took(seconds, len(piece))
        if batch is not None:
            yield batch


def in_threads(study: Study, members: Members, values: FloatArray, workers: int, is_wanted: Callable[[], bool]) -> Iterator[Batch]:
    """Runs beside each other in this process.

    Parameters
    ----------
    is_wanted : whether Ctrl-C has come: runs under way end then, and those that are done are given.
    """
    halt = threading.Event()
    watching = study.watching(halt.is_set)
    watching.prepared.integrator()  # loads the kernel, before several threads would

    def work(piece: Members) -> tuple[Batch | None, float]:
        return watching.batches(piece.tolist(), values[piece], halt.is_set)

    with ThreadPoolExecutor(workers, thread_name_prefix="tidegate-sweep") as pool:
        try:
            yield from _collected(lambda piece: pool.submit(work, piece), _Pieces(members, study, workers), workers, is_wanted, halt)
        finally:
            halt.set()


def in_executor(
    study: Study, members: Members, values: FloatArray, executor: Executor, workers: int, is_wanted: Callable[[], bool]
) -> Iterator[Batch]:
    """Runs in other processes; after Ctrl-C nobody waits for those under way."""
    payload = shipped(study)

    def submit(piece: Members) -> Future[tuple[Batch | None, float]]:
        return executor.submit(_run_shipped, payload, piece.tolist(), values[piece])

    yield from _collected(submit, _Pieces(members, study, workers), workers, is_wanted, None)


def _collected(
    submit: Callable[[Members], Future[tuple[Batch | None, float]]],
    pieces: _Pieces,
    workers: int,
    is_wanted: Callable[[], bool],
    halt: threading.Event | None,
) -> Iterator[Batch]:
    """Batches as they are done, with a few more under way than there are workers."""
    under_way: dict[Future[tuple[Batch | None, float]], int] = {}
    is_over = False
    try:
        while True:
            most = (_AHEAD if pieces.are_measured else 1) * workers
            while not is_over and len(under_way) < most and len(piece := pieces.next()):
                under_way[submit(piece)] = len(piece)
            if not under_way:
                return
            done, _ = wait(under_way, timeout=_POLL, return_when=FIRST_COMPLETED)
            for future in done:
                runs = under_way.pop(future)
                batch, seconds = future.result()
                pieces.took(seconds, runs)
                if batch is not None:
                    yield batch
            if is_wanted() and not is_over:
                is_over = True
                if halt is not None:
                    halt.set()
                for future in [*under_way]:
                    if future.cancel() or halt is None:
                        del under_way[future]
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


def _run_shipped(payload: bytes, members: list[int], values: FloatArray) -> tuple[Batch | None, float]:
    with _making:  # two threads of a worker would make it twice
        here = _received(payload)
    if here.study.is_for_one_thread:
        with here.lock:
            return here.study.batches(members, values)
    return here.study.batches(members, values)
