"""The commands under ``tidegate csmp`` and their options (stage: command line). In go arguments, out go calls of the module that does the work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from tidegate.cli.option_values import real, whole

__all__ = ["csmp_app"]

_DEFAULT: Final = "console"


class _ConsoleUnlessNamed(TyperGroup):
    """``tidegate csmp spring.mod`` is ``tidegate csmp console spring.mod``: what names no command belongs to the console."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


csmp_app = typer.Typer(
    cls=_ConsoleUnlessNamed,
    help="The language CSMP-10(ARL): its console, and single runs by its own method.\n\n`tidegate csmp [MODEL]` opens the console.",
    add_completion=False,
    rich_markup_mode="rich",
)

Routines = Annotated[
    Path | None,
    typer.Option(metavar="MODULE.py", help="Python file with user routines: functions user1 to user15, intrp1 to intrp3, or marked ones."),
]
Seed = Annotated[int | None, typer.Option(metavar="N", parser=whole, help="Seed of jitter blocks.")]


@csmp_app.command(name=_DEFAULT, epilog="Example: tidegate csmp spring.mod")
def console(
    model: Annotated[Path | None, typer.Argument(metavar="[MODEL]", help="A model file to begin with.")] = None,
    script: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Take replies from a file, as BOMMP.IN holds them; - for standard input.")
    ] = None,
    echo: Annotated[bool, typer.Option("--echo", help="Show prompts and replies of the script, too.")] = False,
    sizes: Annotated[bool, typer.Option("--sizes", help="Ask for the highest block number and the counts of blocks, and hold to them.")] = False,
    user: Routines = None,
    record: Annotated[bool, typer.Option("--record/--no-record", help="Write every reply to BOMMP.OUT.")] = True,
    seed: Seed = None,
) -> None:
    """A session: type a model, run it, change it. Three letters of a command are enough; ? helps. Without MODEL, BOMMP.IN is replayed if there."""
    from tidegate.cli.told_errors import reported

    with reported():
        from tidegate.cli import csmp as work

        request = work.ConsoleRequest(model, script, echo, sizes, user, record, work.SEED if seed is None else seed)
        raise typer.Exit(work.console(request))


@csmp_app.command(epilog="Example: tidegate csmp run spring.mod --to 20 --h 0.1 --out 9,4,48,10 --every 1 --csv spring.csv")
def run(  # noqa: PLR0913, PLR0917, every option of the command is an argument
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.")],
    start: Annotated[float | None, typer.Option("--from", metavar="T0", parser=real, help="Lower limit of time; 0 if not given.")] = None,
    to: Annotated[float | None, typer.Option(metavar="T", parser=real, help="Upper limit of time.")] = None,
    h: Annotated[float | None, typer.Option("--h", metavar="H", parser=real, help="Interval of integration.")] = None,
    out: Annotated[
        str | None, typer.Option(metavar="LIST", help="Output blocks, by number or label: 9,4,48,10. A is all, AS all in sorted order.")
    ] = None,
    every: Annotated[
        float | None, typer.Option(metavar="DT", parser=real, help="Time between rows; below H every half step. H if not given.")
    ] = None,
    percent: Annotated[
        float | None, typer.Option(metavar="P", parser=real, help="Store a value only if it has changed by more than P per cent.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Save time and blocks with every digit; - for standard output.")] = None,
    netcdf: Annotated[Path | None, typer.Option(metavar="FILE", help="Save the result, for `tidegate trans`, `tidegate plot` and Python.")] = None,
    user: Routines = None,
    seed: Seed = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Run a model file once. Without a file to save to, print the table; what is not given is taken from the file's control section, if it has one.

    Exit status: 0 for a run that came to its end or to a Q block, 1 for one that an error stopped, 2 if nothing was run, 130 for Ctrl-C.
    """
    from tidegate.cli.told_errors import reported

    with reported():
        from tidegate.cli import csmp as work

        request = work.RunRequest(model, start, to, h, out, every, percent, csv, netcdf, user, seed, quiet)
        raise typer.Exit(work.run(request))
