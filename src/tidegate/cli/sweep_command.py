"""``tidegate sweep``: a model found in a file, run for every combination of values (stage: command line). In goes a request, out a table, a file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

import tidegate
from tidegate.cli.find_model import load_source
from tidegate.cli.library_command import is_library
from tidegate.cli.run_command import Request, check_request, options_of, span_of
from tidegate.cli.values import axis_values
from tidegate.description_tables import model_line
from tidegate.errors import InterruptedRunError, UsageError
from tidegate.numbers_as_texts import flag_text
from tidegate.results.labels import number
from tidegate.sweep.files import checked_target

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["SweepRequest", "sweep"]

_MOST_RUNS: Final = 30  # a screen's height; the file holds the rest
_MOST_COLUMNS: Final = 8


@dataclass(frozen=True, slots=True)
class SweepRequest:
    """The options of ``tidegate sweep``, as given.

    Parameters
    ----------
    run : what every run has in common.
    over : texts NAME=VALUES.
    variables : names to keep; all if there are none.
    out, workers, is_resumed : as ``tg.sweep`` takes them.
    """

    run: Request
    over: tuple[str, ...]
    variables: tuple[str, ...] = ()
    out: Path | None = None
    workers: int | None = None
    is_resumed: bool = False


def sweep(request: SweepRequest) -> None:
    """Run all, print how they ended, write the file.

    Raises
    ------
    UsageError
        Before anything is run, if an option is wrong.
    """
    check_request(request.run)
    if not request.over:
        raise UsageError("nothing is varied", hint="--over k=0:10:101, or --over k=1,2,5")
    if is_library(request.run.source):
        raise UsageError(
            f"{request.run.source} is a compiled DSblock, and a sweep needs a model in a Python file", hint="tidegate run, once for each value"
        )
    if request.out is not None:
        checked_target(request.out)
    source = load_source(request.run.source)
    model = source.model.lower()
    t_span = span_of(request.run, source, model.time_unit)
    grid = axis_values(request.over, model)
    options: dict[str, Any] = {name: value for name, value in options_of(request.run, model, t_span).items() if value is not None}
    if request.variables:
        options["variables"] = list(request.variables)
    console = Console(quiet=request.run.is_quiet, highlight=False, emoji=False, width=None if Console().is_terminal else 120)
    console.print(model_line(model))
    try:
        dataset = tidegate.sweep(
            source.model,
            t_span,
            grid=grid,
            out=request.out,
            workers=request.workers,
            resume=request.is_resumed,
            progress=False if request.run.is_quiet else None,
            **options,
        )
    except InterruptedRunError as error:
        if error.result is not None:
            _print(console, error.result, list(grid))
        raise
    _print(console, dataset, list(grid))
    if request.out is not None:
        dataset.close()
        console.print(f"runs written to {request.out}", markup=False, soft_wrap=True)


def _print(console: Console, dataset: xr.Dataset, names: list[str]) -> None:
    """A line for each run: its parameters, how it ended, and the values at its end or at the last time."""
    status = dataset["status"].to_numpy().ravel().tolist()
    counts = {kind: status.count(kind) for kind in dict.fromkeys(status)}
    console.print(f"{len(status)} runs: {', '.join(f'{count} {kind}' for kind, count in counts.items())}")
    dims = dataset["status"].dims
    last = dataset.isel(time=-1) if "time" in dataset.dims else dataset
    shown = [str(name) for name in last.data_vars if last[name].dims == dims and last[name].attrs.get("role")]
    table = Table(box=None, pad_edge=False)
    columns = [*names, "ended", *shown[:_MOST_COLUMNS]]
    for name in columns:
        table.add_column(Text(name), justify="left" if name == "ended" else "right")
    labels = [dataset[dim] for dim in dims]
    sizes = [len(label) for label in labels]
    values = [last[name] for name in shown[:_MOST_COLUMNS]]
    for run in range(min(len(status), _MOST_RUNS)):
        places = [run // math.prod(sizes[k + 1 :]) % sizes[k] for k in range(len(sizes))]
        own = [_told(label, place) for label, place in zip(labels, places, strict=True)]
        table.add_row(*own, status[run], *(_told(column, run) for column in values))
    console.print(table)
    if len(status) > _MOST_RUNS:
        console.print(f"and {len(status) - _MOST_RUNS} more")
    failed = [text for text in dataset["message"].to_numpy().ravel().tolist() if text]
    for text in list(dict.fromkeys(failed))[:3]:
        console.print(text, style="dim", markup=False, soft_wrap=True)


def _told(values: xr.DataArray, place: int) -> str:
    value = float(values.values.flat[place])
    return flag_text(values.attrs, value) or number(value)
