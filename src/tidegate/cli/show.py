"""``tidegate show`` and ``tidegate plot``: a model or a saved result printed, a saved result drawn (stage: command line).

In goes a file, out come tables and the sparsity pattern, or a picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, cast

from rich.console import Console
from rich.text import Text

from tidegate.cli.find_model import load_source
from tidegate.cli.find_result import load_result
from tidegate.cli.library_command import is_library, library_source, show_block
from tidegate.cli.report import print_result
from tidegate.cli.sweep_table import print_runs, sweep_in
from tidegate.description_tables import print_model
from tidegate.errors import UsageError
from tidegate.export import FORMATS
from tidegate.frontends.dsblock.compiled import CompiledDSblock
from tidegate.plot import picture_format
from tidegate.plot import plot as draw
from tidegate.show import show as told

__all__ = ["is_library", "plot", "show", "show_library"]

_RESULTS: Final = frozenset({*FORMATS, ".part", ".dat"})  # the last is what GOE of CSMP-10(ARL) writes


def show_library(source: str, prefix: str, *, is_trusted: bool) -> None:
    """Print the declarations of a compiled DSblock."""
    console = Console(highlight=False, emoji=False, width=None if Console().is_terminal else 120)
    show_block(console, cast("CompiledDSblock", library_source(source, prefix, is_trusted=is_trusted).model))


def show(source: str, picture: Path | None = None, what: Literal["connections", "equations"] | None = None, part: str = "") -> None:
    """Print a model found in a file, or a result saved in one; or draw a model.

    Parameters
    ----------
    source : the file.
    picture : where a picture goes; nothing is printed then.
    what, part : what is drawn; see ``Shown.picture``.

    Raises
    ------
    UsageError, ModelError
        If the file or the model is wrong.
    """
    console = Console(highlight=False, emoji=False, width=None if Console().is_terminal else 120)
    runs = sweep_in(Path(source))
    if runs is not None:
        with runs:
            console.print(f"sweep of {runs.attrs.get('model', 'a model')}", markup=False)
            print_runs(console, runs)
        return
    if not _RESULTS.isdisjoint(suffix.lower() for suffix in Path(source).suffixes):
        result = load_result(source, "show")
        console.print(Text(result.summary()))
        print_result(console, result)
        return
    found = load_source(source)
    if picture is not None:
        told(found.model).picture(what, part).save(picture)
        console.print(f"picture written to {picture}", markup=False, soft_wrap=True)
        return
    print_model(console, found.model)


def plot(result: Path, names: Sequence[str], out: Path | None, *, sensitivities: bool = False) -> None:
    """Load a result and draw it.

    Raises
    ------
    UsageError
        If the file, a name or the picture's suffix is wrong, or a file would be overwritten that was not named.
    """
    path = out if out is not None else result.with_suffix(".png")
    picture_format(path)
    loaded = load_result(result, "plot")
    if out is None and path.exists():
        raise UsageError(f"{path} is there already, and was not named", hint=f"--out {path}, or another file")
    draw(loaded, *names, path=path, sensitivities=sensitivities)
    Console(highlight=False, emoji=False).print(f"picture written to {path}", markup=False, soft_wrap=True)
