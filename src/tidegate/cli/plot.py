"""``tidegate plot``: draw a saved result (stage: command line). In goes a file, out comes a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from tidegate.export import load
from tidegate.plot import picture_format
from tidegate.plot import plot as draw

__all__ = ["plot"]


def plot(result: Path, names: Sequence[str], out: Path | None, *, sensitivities: bool = False) -> None:
    """Load a result and draw it.

    Raises
    ------
    UsageError
        If the file, a name or the picture's suffix is wrong.
    """
    path = out if out is not None else result.with_suffix(".png")
    picture_format(path)
    draw(load(result), *names, path=path, sensitivities=sensitivities)
    Console(highlight=False).print(f"picture written to {path}", markup=False, soft_wrap=True)
