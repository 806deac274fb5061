"""Commands and their options (stage: command line). In go arguments, out go calls of the modules that do the work.

Those modules load when their command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidegate.cli.csmp_commands import csmp_app
from tidegate.cli.option_values import Quantity, quantity, real, whole
from tidegate.cli.told_group import ToldGroup
from tidegate.versions import version_of

__all__ = ["app"]

app = typer.Typer(
    name="tidegate",
    cls=ToldGroup,
    help="Simulate systems that are at once continuous and discrete, with right events and right sensitivities.",
    epilog="Example: tidegate run ball.py --until 3 --sensitivity e --plot ball.png",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.add_typer(csmp_app, name="csmp")

Source = Annotated[
    str, typer.Argument(metavar="FILE[:MODEL]", help="A Python file and the name of a model in it; without a name: `model`, or the only one.")
]

# what several commands have in common; times take units as --set does
Until = Annotated[
    Quantity | None, typer.Option(metavar="T", parser=quantity, help="End of the run, with a unit if you like: 5min; without it the file's t_span.")
]
Start = Annotated[
    Quantity | None, typer.Option("--from", metavar="T0", parser=quantity, help="Start of the run; without it the file's t_span, or 0.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Value of a parameter, or of a variable at the start, with a unit if you like: L=0.1mH. May be repeated."
    ),
]
Sensitivity = Annotated[list[str] | None, typer.Option(metavar="NAME", help="Parameter to differentiate everything by, or `all`. May be repeated.")]
Rtol = Annotated[float | None, typer.Option(metavar="NUMBER", parser=real, help="Relative tolerance; without it 1e-6, or what a DSblock proposes.")]
Atol = Annotated[float | None, typer.Option(metavar="NUMBER", parser=real, help="Absolute tolerance.")]
Method = Annotated[str, typer.Option(metavar="NAME", help="Integration method: taylor, radau, rodas5p; ida, bdf, adams; rke, pc, euler ...")]
MaxStep = Annotated[Quantity | None, typer.Option(metavar="DT", parser=quantity, help="Longest step; the step itself of methods of fixed step.")]
Step = Annotated[Quantity | None, typer.Option(metavar="DT", parser=quantity, help="Values every DT: of a run beside the events.")]
Points = Annotated[int | None, typer.Option(metavar="N", parser=whole, help="Values at N evenly spaced times: of a run beside the events.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Prefix = Annotated[str, typer.Option(metavar="NAME", help="Of a compiled DSblock (.so): what the names of its callbacks begin with.")]
Isolate = Annotated[bool, typer.Option("--isolate", help="Carry a compiled DSblock out in a process of its own, which it may end; slow.")]
Trust = Annotated[bool, typer.Option("--trust", help="Load a compiled DSblock, which carries out its code.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tidegate {version_of('tidegate')}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")] = False,
) -> None:
    """Options before the command."""


@app.command(epilog="Example: tidegate run tank.py --until 20 --set k=3 --sensitivity k --out tank.nc --plot tank.png")
def run(  # noqa: PLR0913, PLR0917, every option of the command is an argument
    source: Source,
    until: Until = None,
    start: Start = None,
    settings: Settings = None,
    sensitivity: Sensitivity = None,
    rtol: Rtol = None,
    atol: Atol = None,
    method: Method = "auto",
    max_step: MaxStep = None,
    step: Step = None,
    points: Points = None,
    record_disabled: Annotated[
        str, typer.Option(metavar="HOW", help="Rows of parts that are off: held (their last values), or none: --record-disabled nan.")
    ] = "held",
    proved: Annotated[bool, typer.Option("--proved", help="Prove of every step that no event was missed; the statistics say of how many.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Save the result: .nc keeps everything, .csv the trajectories.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Save a picture: .png, .svg or .pdf.")] = None,
    quiet: Quiet = False,
    prefix: Prefix = "",
    trust: Trust = False,
    isolate: Isolate = False,
) -> None:
    """Simulate a model: events, final values, statistics; files if you name them."""
    from tidegate.cli import run_command as command
    from tidegate.cli.told_errors import reported

    request = command.Request(
        source=source,
        start=start,
        until=until,
        settings=tuple(settings or ()),
        sensitivities=tuple(sensitivity or ()),
        rtol=rtol,
        atol=atol,
        method=method,
        max_step=max_step,
        step=step,
        points=points,
        out=out,
        plot=plot,
        is_quiet=quiet,
        prefix=prefix,
        record_disabled=record_disabled,
        is_proved=proved,
        is_trusted=trust,
        is_isolated=isolate,
    )
    with reported():
        command.run(request)


@app.command(epilog="Example: tidegate sweep tank.py --until 20 --over k=0:10:101 --over inflow=0.1,0.2 --out sweep.nc --workers 2")
def sweep(  # noqa: PLR0913, PLR0917, every option of the command is an argument
    source: Source,
    over: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUES", help="Values of a parameter: from, to and how many, k=0:10:101, or k=1,2,5. May be repeated."),
    ] = None,
    until: Until = None,
    start: Start = None,
    settings: Settings = None,
    sensitivity: Sensitivity = None,
    variable: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Variable to keep; all without it. May be repeated.")] = None,
    rtol: Rtol = None,
    atol: Atol = None,
    method: Method = "auto",
    max_step: MaxStep = None,
    step: Step = None,
    points: Points = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Save the runs: .nc or .zarr.")] = None,
    workers: Annotated[int | None, typer.Option(metavar="N", parser=whole, help="Threads; without it one for each processor.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a sweep to the same file that was stopped.")] = False,
    quiet: Quiet = False,
) -> None:
    """Simulate a model for every combination of values of its parameters."""
    from tidegate.cli import sweep_command as command
    from tidegate.cli.run_command import Request
    from tidegate.cli.told_errors import reported

    request = Request(
        source=source,
        start=start,
        until=until,
        settings=tuple(settings or ()),
        sensitivities=tuple(sensitivity or ()),
        rtol=rtol,
        atol=atol,
        method=method,
        max_step=max_step,
        step=step,
        points=points,
        is_quiet=quiet,
    )
    wanted = command.SweepRequest(request, tuple(over or ()), tuple(variable or ()), out, workers, is_resumed=resume)
    with reported():
        command.sweep(wanted)


@app.command(epilog="Example: tidegate check tank.py --until 20 --sensitivity all --rtol 1e-8; tidegate check tank.py --until 20 --against python")
def check(
    source: Source,
    until: Until = None,
    start: Start = None,
    settings: Settings = None,
    sensitivity: Sensitivity = None,
    rtol: Rtol = None,
    method: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="One of the two methods; without: radau, and ida or bdf. Give it twice.")
    ] = None,
    against: Annotated[
        str, typer.Option(metavar="WHOM", help="engine: two methods against each other; python: one run against the model called as plain Python.")
    ] = "engine",
) -> None:
    """Run a model by two engines, or by one and by plain Python, and print where they are apart. Exit status 1 if they do not agree."""
    from tidegate.cli import check as command
    from tidegate.cli.run_command import Request
    from tidegate.cli.told_errors import reported

    request = Request(
        source=source,
        start=start,
        until=until,
        settings=tuple(settings or ()),
        sensitivities=tuple(sensitivity or ()),
        rtol=1e-6 if rtol is None else rtol,
    )
    with reported():
        if not command.check(request, method or [], against):
            raise typer.Exit(1)


@app.command(epilog="Example: tidegate show tank.py:model")
def show(
    source: Annotated[
        str, typer.Argument(metavar="FILE[:MODEL]", help="A Python file and the name of a model in it, or a result: .nc, .csv or .part.")
    ],
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Draw parts and connections (equations without parts): .svg, .png or .pdf.")
    ] = None,
    equations: Annotated[bool, typer.Option("--equations", help="Draw which unknown stands in which equation instead.")] = False,
    part: Annotated[str, typer.Option("--part", metavar="PATH", help="Draw the inside of this part.")] = "",
    prefix: Prefix = "",
    trust: Trust = False,
) -> None:
    """Print a model: states, parameters, conditions with their discontinuity functions, events, sparsity; or a saved result."""
    from tidegate.cli import show as command
    from tidegate.cli.told_errors import reported

    with reported():
        if command.is_library(source):
            command.show_library(source, prefix, is_trusted=trust)
        else:
            command.show(source, picture, "equations" if equations else None, part)


@app.command(epilog="Example: tidegate export tank.py --language fortran --out blocks")
def export(
    source: Source,
    language: Annotated[str, typer.Option(metavar="NAME", help="c or fortran.")] = "c",
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the file is put; made if it is missing.")] = Path(),
    name: Annotated[str, typer.Option(metavar="NAME", help="Of the block and its file; without it that of FILE.")] = "",
) -> None:
    """Write a model as a block of DSblock 3.3, in C or Fortran."""
    from tidegate.cli import export_command as command
    from tidegate.cli.told_errors import reported

    with reported():
        command.export(source, language, out, name)


@app.command(epilog="Example: tidegate plot tank.nc level --out tank.png")
def plot(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A file that `tidegate run --out` wrote, or the .part of a run that was killed.")],
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Variables to draw; all when none is named.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="The picture: .png, .svg or .pdf; a new RESULT.png if not given.")] = None,
    sensitivities: Annotated[bool, typer.Option("--sensitivities", help="Draw the derivatives by each parameter below.")] = False,
) -> None:
    """Draw a saved result."""
    from tidegate.cli import show as command
    from tidegate.cli.told_errors import reported

    with reported():
        command.plot(result, names or [], out, sensitivities=sensitivities)


@app.command(epilog="Example: tidegate trans spring.nc --table 9,4 --time 0:10:0.5 --strip spring.png")
def trans(  # noqa: PLR0913, PLR0917, every option of the command is an argument
    result: Annotated[
        Path | None, typer.Argument(metavar="[RESULT]", help="A result of any run: .nc, .csv or .part. Without it you are asked for one.")
    ] = None,
    table: Annotated[str | None, typer.Option(metavar="LIST", help="Print a table of these, by number, name or label: 9,4. A is all.")] = None,
    plot: Annotated[str | None, typer.Option(metavar="LIST", help="Plot these with characters.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="The table is Markdown.")] = False,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Save the columns with every digit; - for the terminal.")] = None,
    strip: Annotated[Path | None, typer.Option(metavar="FILE", help="Picture with a panel each: .png, .svg or .pdf.")] = None,
    overlay: Annotated[Path | None, typer.Option(metavar="FILE", help="Picture with up to eight curves in one graph.")] = None,
    blocks: Annotated[str | None, typer.Option(metavar="LIST", help="Columns of the files; without it those of the table, else all.")] = None,
    time: Annotated[str | None, typer.Option(metavar="FROM:TO:STEP", help="Part of the run, and the step between rows: 0:10:0.5.")] = None,
    label: Annotated[list[str] | None, typer.Option(metavar="BLOCK=TEXT", help="Another label. May be repeated.")] = None,
    scale: Annotated[list[str] | None, typer.Option(metavar="BLOCK=LOW:HIGH", help="Another scale in plots. May be repeated.")] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="Another title.")] = "",
    digits: Annotated[int | None, typer.Option(metavar="N", parser=whole, help="Digits in tables: 3, in Markdown 6, if not given.")] = None,
) -> None:
    """Tables and plots of a saved result, as options say; without options a dialogue in the commands of CSMP-10(ARL)'s TRANS, also from a pipe."""
    from tidegate.cli import trans as command
    from tidegate.cli.told_errors import reported

    wanted = command.WantedOutput(
        blocks=blocks,
        table=table,
        plot=plot,
        csv=csv,
        strip=strip,
        overlay=overlay,
        is_markdown=markdown,
        digits=digits,
        time=time,
        labels=tuple(label or ()),
        scales=tuple(scale or ()),
        title=title,
    )
    with reported():
        if not command.trans(result, wanted):
            raise typer.Exit(1)


@app.command("compile", epilog="Example: tidegate compile")
def compile_kernel(
    usual: Annotated[bool, typer.Option("--usual", help="Only what most runs need, which takes half the time.")] = False,
    quiet: Quiet = False,
) -> None:
    """Compile the kernel to machine code now, so that no run has to: once after an installation, or while a container is built.

    It is put beside the installed package, for every user, or into your cache where that cannot be written. What is there already is left as it is.
    """
    from tidegate.cli import compile_command as command

    command.compile_now(usual=usual, quiet=quiet)
