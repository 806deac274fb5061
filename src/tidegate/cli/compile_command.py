"""``tidegate compile`` (stage: command line). In: how much of the kernel. Out: machine code in a folder, and a line about it."""

from __future__ import annotations

import time

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tidegate.integrators.compile_kernel import compile_kernel, place_for_all

__all__ = ["compile_now"]


def compile_now(*, usual: bool, quiet: bool) -> None:
    """Compile what is missing.

    Raises
    ------
    UsageError : the machine code could not be kept.
    """
    place, began = place_for_all(), time.monotonic()
    columns = (TextColumn("compiling the kernel"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet) as progress:
        task = progress.add_task("", total=None)

        found = compile_kernel(place, lambda done, total: progress.update(task, completed=done, total=total), usual=usual)
    if not quiet:
        typer.echo(f"{found} parts of the kernel are machine code in {place} ({time.monotonic() - began:.0f} s)")
