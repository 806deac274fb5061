"""What the command line says of options and arguments that do not fit (stage: command line). In goes what the parser raised, out come our words.

They have the form of every other error: what is wrong, and what to try.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperGroup

from tidegate.names import close_names

__all__ = ["ToldGroup"]

# typer brings its own copy of click in some versions; what it raises is found from what it offers
_ParserError: Final[Any] = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")

# what other programs, and other commands of this one, call an option
_MEANT: Final = {
    **dict.fromkeys(("--csv", "--netcdf", "--nc", "--save", "--output", "-o"), "--out FILE, whose name ends in .nc or .csv"),
    **dict.fromkeys(("--png", "--svg", "--pdf", "--picture"), "--plot FILE, whose name ends in .png, .svg or .pdf"),
    **dict.fromkeys(("--to", "--end", "--tend", "--stop", "--t-end", "--time"), "--until T"),
    **dict.fromkeys(("-p", "--param", "--parameter"), "--set NAME=VALUE"),
    **dict.fromkeys(("--dt", "--every"), "--step DT"),
    **dict.fromkeys(("--start", "--t0"), "--from T0"),
}


class ToldGroup(TyperGroup):
    """Commands whose mistakes in usage are told as every other mistake."""

    def main(self, *arguments: Any, standalone_mode: bool = True, **options: Any) -> Any:
        """Carry out a command line."""
        if not standalone_mode:
            return super().main(*arguments, standalone_mode=False, **options)
        try:
            status = super().main(*arguments, standalone_mode=False, **options)
        except typer.Abort:
            status = 130
        except _ParserError as error:
            _tell(error)
            status = error.exit_code
        sys.exit(status if isinstance(status, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Carry out a command; Ctrl-C before it has begun its work is told here."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            Console(stderr=True, highlight=False).print("[bold red]interrupted[/]")
            raise typer.Exit(130) from None


def _tell(error: Any) -> None:
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.format_message())
        return
    head, hint = _told(error)
    lines = [f"[bold red]error:[/] {escape(head)}", f"  try: {escape(hint)}"]
    Console(stderr=True, soft_wrap=True, highlight=False, emoji=False).print("\n".join(lines))


def _told(error: Any) -> tuple[str, str]:
    """What is wrong, and what to try."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "tidegate"
    name = getattr(error, "option_name", None)
    kind = type(error).__name__
    if kind == "NoSuchOption" and name:
        known = [option for option in _options(context) if option.startswith("--")]
        meant = _MEANT.get(name.lower(), "")
        hint = meant if meant.partition(" ")[0] in known else " or ".join(close_names(name, known))
        return f"{path} has no option {name}", hint or f"{path} --help lists the options"
    if kind == "MissingParameter":
        what = error.param.metavar or error.param.opts[0] if error.param is not None else "an argument"
        return f"{what} is missing", _example(context) or f"{path} --help"
    if kind == "BadOptionUsage" and name:
        return f"{name} needs a value", f"{name} VALUE; tidegate COMMAND --help says which"
    if getattr(error, "param", None) is not None:
        what, _, hint = error.message.partition("\n")
        return f"{error.param.opts[0]} {what}", hint or f"{path} --help"
    found = error.format_message().rstrip(".")
    if found.startswith("No such command"):
        wrong = found.split("'")[1]
        close = close_names(wrong, list(context.command.commands) if context is not None else [])
        return f"there is no command {wrong}", " or ".join(f"{path} {other}" for other in close) or f"{path} --help lists the commands"
    return found[:1].lower() + found[1:], _example(context) or f"{path} --help"


def _options(context: Any) -> Iterator[str]:
    for parameter in context.command.params if context is not None else ():
        yield from (*parameter.opts, *parameter.secondary_opts)
    yield "--help"


def _example(context: Any) -> str:
    """The example that the help of a command ends with."""
    epilog = getattr(context.command, "epilog", None) if context is not None else None
    return (epilog or "").removeprefix("Example: ").partition(";")[0]
