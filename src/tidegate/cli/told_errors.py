"""What the command line says when something is wrong (stage: command line). In goes an exception, out come sentences and an exit status.

People see their own lines, never ours: frames inside this package, the standard library and installed packages are left out.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import typer
from rich.console import Console
from rich.markup import escape

from tidegate.cli.told_warnings import warnings_told
from tidegate.errors import CallbackError, InterruptedRunError, RunError, TidegateError
from tidegate.user_frames import is_of_a_library, user_frames

__all__ = ["FAILED", "INTERRUPTED", "USAGE", "exit_status", "explanation", "reported"]

FAILED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130  # 128 + SIGINT, as shells count

_MOST_FRAMES: Final = 6  # what calls itself without an end has a thousand


@contextmanager
def reported() -> Generator[None]:
    """Turn any exception of the block into a printed explanation and an exit status, and warnings into sentences."""
    try:
        with warnings_told():
            yield
        sys.stdout.flush()  # what cannot be written is told here, and not when Python ends
    except (typer.Exit, typer.Abort):
        raise
    except SystemExit as stopped:
        if not user_frames(stopped):  # whoever read our output has gone, as in `tidegate run ... | head`
            raise typer.Exit(FAILED) from None
        _print(stopped)
        raise typer.Exit(exit_status(stopped)) from None
    except BrokenPipeError:
        # whoever read our output has gone; nor can what is still in the buffer go anywhere when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(FAILED) from None
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001, whatever happens is said in sentences
        _print(error)
        raise typer.Exit(exit_status(error)) from None


def _print(error: BaseException) -> None:
    Console(stderr=True, soft_wrap=True, highlight=False, emoji=False).print("\n".join(explanation(error)), markup=True)


def exit_status(error: BaseException) -> int:
    """1 for a failed run, 2 where nothing was run, 130 for Ctrl-C."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, RunError | OSError):
        return FAILED
    if isinstance(error, TidegateError) or user_frames(error) or isinstance(error, SyntaxError):
        return USAGE
    return FAILED


def explanation(error: BaseException) -> list[str]:
    """Lines of rich markup that say what is wrong, where, and what to try."""
    if isinstance(error, KeyboardInterrupt) and not isinstance(error, InterruptedRunError):
        return ["[bold red]interrupted[/]"]
    if isinstance(error, TidegateError | InterruptedRunError):
        head, *rest = str(error).split("\n")
        label = "interrupted" if isinstance(error, InterruptedRunError) else "error"
        lines = [f"[bold red]{label}:[/] {escape(head)}", *map(escape, rest)]
        cause = error.__cause__
        if isinstance(error, CallbackError) and cause is not None:
            lines.extend(["  " + escape(f"{type(cause).__name__}: {cause}"), *_frame_lines(cause)])
        return lines
    if isinstance(error, SyntaxError) and error.filename and not is_of_a_library(error.filename):
        mark = [f"    {error.text.rstrip()}", "    " + " " * max((error.offset or 1) - 1, 0) + "^"] if error.text else []
        place = f"  {error.filename}, line {error.lineno}"
        return [f"[bold red]error:[/] {escape(error.msg)}", escape(place), *map(escape, mark), "  try: mend that line"]
    if isinstance(error, MemoryError):
        text = f"there is not enough memory{f': {error}' if str(error) else ''}"
        return [f"[bold red]error:[/] {escape(text)}", "  try: fewer times to be recorded, or fewer runs at once", *_frame_lines(error)]
    frames = _frame_lines(error)
    if isinstance(error, OSError) and not frames and error.strerror:
        what = f"cannot read or write {error.filename}" if error.filename else "cannot write the output"
        return [f"[bold red]error:[/] {escape(f'{what}: {error.strerror}')}", f"  try: {escape(_remedy(error))}"]
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if frames or isinstance(error, OSError):
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        remedy = f"pip install {missing.partition('.')[0]}, or put the module beside the file" if missing else "mend that line"
        return [f"[bold red]error:[/] {escape(text)}", *frames, *([f"  try: {escape(remedy)}"] if frames else [])]
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = "".join(f" ({Path(frame.filename).name}:{frame.lineno})" for frame in last)
    hint = "  try: report it together with the model; it is a mistake in tidegate, not in yours"
    return [f"[bold red]internal error:[/] {escape(text)}{escape(place)}", hint]


def _remedy(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "free some space on the disk, or write to another one"
    return "check that the file is there, what it is, and whether you may read or write it"


def _frame_lines(error: BaseException) -> list[str]:
    lines: list[str] = []
    frames = user_frames(error)
    for place, frame in enumerate(frames):
        if _MOST_FRAMES // 2 <= place < len(frames) - _MOST_FRAMES // 2:
            if place == _MOST_FRAMES // 2:
                lines.append(f"  ... {len(frames) - _MOST_FRAMES} more")
            continue
        lines.append(escape(f"  {frame.filename}, line {frame.lineno}, in {frame.name}"))
        if frame.line:
            lines.append(escape(f"    {frame.line}"))
    return lines
