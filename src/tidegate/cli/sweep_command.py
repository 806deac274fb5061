"""``tidegate sweep``: a model found in a file, run for every combination of values (stage: command line). In goes a request, out a table, a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

import tidegate
from tidegate.cli.find_model import load_source
from tidegate.cli.library_command import is_library
from tidegate.cli.run_command import Request, check_request, options_of, span_of
from tidegate.cli.sweep_table import print_runs
from tidegate.cli.values import axis_values
from tidegate.description_tables import model_line
from tidegate.errors import InterruptedRunError, UsageError
from tidegate.quick_dataclass import dataclass
from tidegate.sweep.files import checked_target

__all__ = ["SweepRequest", "sweep"]


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
            print_runs(console, error.result)
        raise
    print_runs(console, dataset)
    if request.out is not None:
        dataset.close()
        console.print(f"runs written to {request.out}", markup=False, soft_wrap=True)
