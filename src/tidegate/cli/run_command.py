"""``tidegate run``: simulate a model found in a file (stage: command line). In goes a request, out come printed tables and files."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any, cast

import numpy as np
from rich.console import Console
from rich.text import Text

import tidegate
from tidegate.cli.find_model import STORED, Source, load_source
from tidegate.cli.library_command import block_line, is_library, library_source, number_settings
from tidegate.cli.option_values import Quantity
from tidegate.cli.report import print_result
from tidegate.cli.values import parameter_values, sensitivity_names
from tidegate.description_tables import model_line
from tidegate.errors import InterruptedRunError, RunError, UsageError
from tidegate.executive.progress_bar import ProgressBar
from tidegate.export import Appended, format_of, part_of
from tidegate.frontends.dsblock.compiled import CompiledDSblock
from tidegate.model import Model
from tidegate.plot import picture_format, plot
from tidegate.quick_dataclass import dataclass
from tidegate.results import Result
from tidegate.results.files import tried
from tidegate.results.presence import RECORD_DISABLED

__all__ = ["Request", "check_request", "options_of", "run", "span_of"]


@dataclass(frozen=True, slots=True)
class Request:
    """The options of ``tidegate run``, as given.

    Parameters
    ----------
    source : FILE[:MODEL].
    start, until : of the run; None for the file's.
    settings : texts NAME=VALUE.
    sensitivities : parameter names, or "all".
    rtol, atol, method, max_step : of the integration.
    step, points : what to record beside the events.
    record_disabled : what rows show of parts that are switched off.
    is_proved : prove of every step that no event was missed.
    out, plot : files to write.
    is_quiet : print nothing but errors.
    prefix, is_trusted, is_isolated : of a compiled library: what the names of its callbacks begin with, whether its code may be carried out, and
        whether in a process of its own.
    """

    source: str
    start: Quantity | None = None
    until: Quantity | None = None
    settings: tuple[str, ...] = ()
    sensitivities: tuple[str, ...] = ()
    rtol: float | None = None
    atol: float | None = None
    method: str = "auto"
    max_step: Quantity | None = None
    step: Quantity | None = None
    points: int | None = None
    out: Path | None = None
    plot: Path | None = None
    is_quiet: bool = False
    prefix: str = ""
    is_trusted: bool = False
    is_isolated: bool = False
    record_disabled: str = "held"
    is_proved: bool = False


def run(request: Request) -> None:
    """Simulate, print, write files; what a failed run computed is printed and written too, before its error goes on.

    Raises
    ------
    UsageError
        Before anything is run, if an option is wrong.
    RunError
        If the run fails.
    """
    check_request(request)
    news = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)
    console = Console(quiet=request.is_quiet, highlight=False, emoji=False, width=None if Console().is_terminal else 120)
    with Appended(request.out) if request.out is not None else nullcontext() as rows:
        source, t_span, options, headline = _prepared(request)
        console.print(headline)
        if rows is not None:
            options["on_rows"] = rows
        try:
            with ProgressBar(t_span, is_quiet=request.is_quiet) as progress:
                # by its public name: the simulator loads here, and not where a wrong option is refused
                result = tidegate.simulate(source.model, t_span, progress=progress, **options)
        except (RunError, InterruptedRunError) as error:
            if error.result is not None and error.result.t.size:
                print_result(console, error.result)
                # a file written after a failure is news even to someone who wants no other
                _write(news, error.result, rows, request, "result up to the failure")
            raise
        finally:
            if rows is not None and rows.has_begun and rows.set_aside is not None:
                news.print(f"the rows that an earlier run left in {part_of(rows.path)} are now in {rows.set_aside}", markup=False)
        print_result(console, result)
        _write(console, result, rows, request, "result")


def _prepared(request: Request) -> tuple[Source, tuple[float, float], dict[str, Any], Text]:
    """What is run, from when to when, how, and what is said of it."""
    if is_library(request.source):
        source = library_source(request.source, request.prefix, is_trusted=request.is_trusted, is_isolated=request.is_isolated)
        block = cast("CompiledDSblock", source.model)
        t_span = span_of(request, source, "")
        options = _options(request, number_settings(request.settings, block), list(request.sensitivities) or None, t_span, "")
        return source, t_span, options, block_line(block)
    source = load_source(request.source)
    model = source.model.lower()
    t_span = span_of(request, source, model.time_unit)
    return source, t_span, options_of(request, model, t_span), model_line(model)


def check_request(request: Request) -> None:
    """Everything that can be refused before the model is even read."""
    lengths = [(name, length.value) for name, length in (("--step", request.step), ("--max-step", request.max_step)) if length is not None]
    for name, value in (("--rtol", request.rtol), ("--atol", request.atol), *lengths):
        if value is not None and not value > 0.0:
            raise UsageError(f"{name} {value:g} is not positive", hint=f"{name} {1e-6 if 'tol' in name else 0.1}")
    if request.record_disabled not in RECORD_DISABLED:
        raise UsageError(f"--record-disabled {request.record_disabled} is none of {', '.join(RECORD_DISABLED)}", hint="--record-disabled nan")
    if request.step is not None and request.points is not None:
        raise UsageError("--step and --points are both given", hint="one of them")
    if request.points is not None and request.points < 2:
        raise UsageError(f"--points {request.points} is less than two, the start and the end", hint="--points 101")
    if request.out is not None:
        format_of(request.out)
    if request.plot is not None:
        picture_format(request.plot)
    for path in (request.out, request.plot):
        if path is not None:
            tried(path)


def span_of(request: Request, source: Source, time_unit: str) -> tuple[float, float]:
    """Start and end in the model's unit of time: as asked for, or as the file says."""
    first, last = source.t_span or (0.0, None)
    first = first if request.start is None else request.start.of(time_unit)
    last = last if request.until is None else request.until.of(time_unit)
    if last is None:
        raise UsageError(
            f"it is not said how long to simulate {source.name}",
            hint="--until T" if source.path.suffix == STORED else f"--until T, or t_span = (0, T) in {source.path}",
        )
    if not last > first:
        raise UsageError(f"the end {last:g} does not lie after the start {first:g}", hint="--from and --until in this order")
    return first, last


def options_of(request: Request, model: Model, t_span: tuple[float, float]) -> dict[str, Any]:
    """The request as options of ``tg.simulate``."""
    values, sensitivities = parameter_values(request.settings, model), sensitivity_names(request.sensitivities, model)
    return _options(request, values, sensitivities, t_span, model.time_unit)


def _options(
    request: Request, values: dict[str, float], sensitivities: list[str] | str | None, t_span: tuple[float, float], time_unit: str
) -> dict[str, Any]:
    options: dict[str, Any] = {
        "rtol": request.rtol,
        "atol": request.atol,
        "method": request.method,
        "max_step": None if request.max_step is None else request.max_step.of(time_unit),
        "parameters": values or None,
        "sensitivities": sensitivities,
    }
    if request.record_disabled != "held":
        options["record_disabled"] = request.record_disabled
    if request.is_proved:
        options["events"] = "proved"
    if request.step is not None:
        options["outputs"] = request.step.of(time_unit)
    if request.points is not None:
        options["outputs"] = np.linspace(*t_span, request.points)
    return options


def _write(console: Console, result: Result, rows: Appended | None, request: Request, what: str) -> None:
    if rows is not None:
        rows.finish(result)
        console.print(f"{what} written to {request.out}", markup=False, soft_wrap=True)
    if request.plot is not None:
        plot(result, path=request.plot, sensitivities=result.sensitivities is not None)
        console.print(f"picture written to {request.plot}", markup=False, soft_wrap=True)
