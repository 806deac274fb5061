"""Many runs of one model with other parameters (stage: sweep): ``tg.sweep``, from the caller's words to one labelled dataset."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from tidegate.compiled.callbacks import OpaqueCalls
from tidegate.errors import InterruptedRunError, UsageError
from tidegate.executive import Interrupts, Prepared
from tidegate.executive import prepare as prepare_run
from tidegate.simulate import prepare
from tidegate.starts_and_inputs import with_named_starts
from tidegate.sweep.batch import Batch
from tidegate.sweep.files import checked_target, finished, opened, write
from tidegate.sweep.gathered import Gathered, InMemory, Shape
from tidegate.sweep.journal import Journal, digest_of
from tidegate.sweep.members import Members, members_of
from tidegate.sweep.progress import Progress
from tidegate.sweep.study import Study, study_of
from tidegate.sweep.workers import as_executor, in_executor, in_this_thread, in_threads, together
from tidegate.wrong_calls import explained

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["sweep"]

_NOT_HERE = {
    "on_rows": "trajectories are in the dataset: outputs=0.1",
    "dense": "a dataset has no polynomials; ask for values at times: outputs=0.1",
    "event_rows": "events are in the dataset: event_time and its kin",
    "over": 'parameters={"k": [1.0, 2.0]}, or grid={...} for every combination; --over is for the command line',
    "values": 'parameters={"k": [1.0, 2.0]}',
}


@explained
def sweep(  # noqa: PLR0913, options are keywords, and help and editors show them with their defaults
    source: Any,
    t_span: tuple[float, float] | None = None,
    parameters: Mapping[str, ArrayLike] | pd.DataFrame | xr.Dataset | None = None,
    *,
    grid: Mapping[str, ArrayLike] | None = None,
    outputs: ArrayLike | None = None,
    variables: str | Sequence[str] | None = None,
    sensitivities: str | Sequence[str] | None = None,
    events: bool = True,
    workers: int | None = None,
    executor: Executor | Any = None,
    out: str | Path | None = None,
    resume: bool = False,
    progress: bool | Callable[[int, int], object] | None = None,
    **options: Any,
) -> xr.Dataset:
    """Run a model many times with other parameters; every number is that of ``tg.simulate`` with these parameters.

    Parameters
    ----------
    source : the model, as for ``tg.simulate``, or a run that ``tg.prepare`` has got ready.
    t_span : start and end; of a prepared run it is known.
    parameters : the runs one by one: a dict of lists of equal length, a DataFrame with a row for each run, or a Dataset whose variables are
        parameters (in its own units, if it says them). What has one value in a dict has it in all runs.
    grid : lists of values; every combination is run.
    outputs : times at which variables are kept, or the distance of equidistant times; None for values at the end of each run.
    variables : which are kept; None for all.
    sensitivities : parameters to differentiate by, or "all".
    events : whether the times and causes of events are kept.
    workers : threads; None for one for each processor. A model that calls functions of the user is run by one.
    executor : who runs instead of threads: a ``concurrent.futures`` executor, or a Dask client.
    out : file to write, ``.nc`` or ``.zarr``; it is there whole or not at all. While the sweep goes on its runs are in ``out`` with
        ``.part`` behind it.
    resume : go on with a sweep to the same file that was stopped; where it is whole already nothing is run.
    progress : None for a bar where a sweep takes more than a second and somebody watches, False for none, or a function that is called with the runs
        done and the number of all.
    options : all others of ``tg.simulate``: method, rtol, atol, max_step, max_steps ...

    Returns
    -------
    xarray.Dataset
        The variables along the dimensions of the sweep (one for each parameter of a grid, ``member`` for runs one by one, those of a Dataset), then
        ``time``. ``status`` says of every run whether it is "finished", "terminated" by the model, "failed" or "not run", ``message`` why; what a run
        that failed did not come to is NaN. ``event_count`` is the number of events of each run, and ``event_time``, ``event_kind``, ``event_cause``,
        ``event_member`` lie along ``event``, run after run. Derivatives are ``d_x``, along ``parameter`` too.

    Raises
    ------
    UsageError : a name, a value or an option does not fit; nothing was run.
    InterruptedRunError : Ctrl-C; ``.result`` is the dataset of the runs that were done, and None where they are in a file.

    Examples
    --------
    >>> import tidegate as tg
    >>> model = tg.ode(lambda t, y, p: [-p["k"] * y["x"]], y0={"x": 1.0}, p={"k": 2.0})
    >>> runs = tg.sweep(model, (0, 1), grid={"k": [1.0, 2.0, 3.0]}, rtol=1e-8)
    >>> [f"{float(x):.5f}" for x in runs["x"].sel(k=[1.0, 3.0])]
    ['0.36788', '0.04979']
    """
    _check_options(options, workers, executor, out, resume=resume)
    if not isinstance(source, Prepared):
        names: list[Any] = [name for given in (parameters, grid) if isinstance(given, Iterable) for name in cast("Iterable[Any]", given)]
        source = with_named_starts(source, names)
    prepared = _prepared(source, t_span, {**options, "outputs": outputs, "sensitivities": sensitivities})
    members = members_of(prepared.problem.model, parameters, grid)
    if members.fixed:
        prepared = prepared.with_parameters(**members.fixed)
    shape = Shape(study_of(prepared, members.names, variables, keeps_events=events), members)
    try:
        if out is None:
            return _in_memory(shape, _Hands(workers, executor), progress)
        return _in_file(shape, _Hands(workers, executor), progress, checked_target(out), resume=resume)
    finally:
        shape.study.prepared.put_away()


class _Hands:
    """Who carries out the runs."""

    def __init__(self, workers: int | None, executor: Any) -> None:
        self._executor, self._n_executor = (None, 0) if executor is None else as_executor(executor)
        self._workers = len(os.sched_getaffinity(0)) if workers is None and hasattr(os, "sched_getaffinity") else workers or os.cpu_count() or 1

    def batches(self, study: Study, members: Members, gathered: Gathered, until: ExitStack) -> Iterator[Batch]:
        """The runs that are left, as they are done; ends early after Ctrl-C where it does not come out of a run."""
        left = gathered.left
        workers = 1 if study.is_for_one_thread else min(self._workers, max(len(left), 1))
        if self._executor is None and workers == 1 and not study.runs_together:
            return in_this_thread(study, left, members.values)
        interrupts = until.enter_context(Interrupts(OpaqueCalls()))

        def is_wanted() -> bool:
            return interrupts.wanted

        if self._executor is not None:
            return in_executor(study, left, members.values, self._executor, self._n_executor, is_wanted)
        if workers == 1:
            return together(study, left, members.values, is_wanted)
        return in_threads(study, left, members.values, workers, is_wanted)


def _in_memory(shape: Shape, hands: _Hands, progress: Any) -> xr.Dataset:
    gathered, values = Gathered(shape), InMemory(shape)

    def take(batch: Batch) -> None:
        values.put(batch)
        gathered.take(batch)

    stopped = _carry_out(shape, hands, gathered, take, progress)
    dataset = gathered.dataset(values.variables())
    if stopped is not None:
        raise InterruptedRunError(_told(gathered), time=float("nan"), result=dataset) from stopped
    return dataset


def _in_file(shape: Shape, hands: _Hands, progress: Any, path: Path, *, resume: bool) -> xr.Dataset:
    digest = digest_of(shape.study, shape.members)
    if resume and (whole := finished(path, digest)) is not None:
        return whole
    gathered = Gathered(shape)
    journal = Journal(path, digest, resume=resume)
    try:
        for batch in journal.batches():
            gathered.take(batch)

        def take(batch: Batch) -> None:
            journal.append(batch)
            gathered.take(batch)

        stopped = _carry_out(shape, hands, gathered, take, progress)
        if stopped is not None:
            told = f"{_told(gathered)}; they are in {journal.path}"
            raise InterruptedRunError(told, time=float("nan"), hint="resume=True goes on with the others") from stopped
        write(path, shape, gathered, journal.batches(), digest)
    finally:
        journal.close()
    journal.remove()
    return opened(path)


def _carry_out(shape: Shape, hands: _Hands, gathered: Gathered, take: Callable[[Batch], None], progress: Any) -> BaseException | None:
    """Carry out what is left; what stopped it, if Ctrl-C did."""
    total = len(shape.members)
    with ExitStack() as until, Progress(total, progress) as bar:
        try:
            done = total - len(gathered.left)
            for batch in hands.batches(shape.study, shape.members, gathered, until):
                take(batch)
                done += len(batch.members)
                bar(done)
        except KeyboardInterrupt as stopped:
            return stopped
    return KeyboardInterrupt() if len(gathered.left) else None


def _told(gathered: Gathered) -> str:
    total = len(gathered.status)
    return f"interrupted: {total - len(gathered.left)} of {total} runs were done"


def _prepared(source: Any, t_span: tuple[float, float] | None, options: dict[str, Any]) -> Prepared:
    if not isinstance(source, Prepared):
        return prepare(source, t_span, dense=False, **options)
    given = [name for name, value in options.items() if value is not None]
    if t_span is not None or given:
        what = "t_span" if t_span is not None else given[0]
        told = f"{t_span}" if t_span is not None else f"t_span, {what}=..."
        raise UsageError(f"{what} is given, but the run is prepared with its own", hint=f"tg.prepare(model, {told}), or give the model itself here")
    return _like(source)


def _like(run: Prepared) -> Prepared:
    """A run like one that the user has prepared, with what a sweep does not keep left out."""
    problem = run.problem
    options = replace(run.options, dense=False, on_rows=None, progress=None, event_rows=None)
    return prepare_run(problem.model, (problem.t_start, problem.t_end), options, None)


def _check_options(options: Mapping[str, Any], workers: Any, executor: Any, out: Any, *, resume: bool) -> None:
    for name, hint in _NOT_HERE.items():
        if name in options:
            raise UsageError(f"a sweep has no option {name!r}", hint=hint)
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int | np.integer) or workers < 1):
        raise UsageError(f"workers is {workers!r}", hint="a number of threads, or None for one for each processor")
    if workers is not None and executor is not None:
        raise UsageError("workers and executor are both given", hint="workers is for threads; an executor brings its own: ProcessPoolExecutor(4)")
    if resume and out is None:
        raise UsageError("resume goes on with a sweep in a file, and no file is named", hint='out="sweep.nc"')
