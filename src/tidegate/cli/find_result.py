"""Find the result that a file holds (stage: command line). In goes a path, out comes a result, or what the file is instead."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tidegate.cli.find_model import STORED
from tidegate.errors import UsageError
from tidegate.export import load
from tidegate.results import Result

__all__ = ["load_result"]

_MODELS: Final = frozenset({".py", STORED})


def load_result(path: str | Path, command: str) -> Result:
    """Read a saved result.

    Parameters
    ----------
    path : of the file.
    command : what wants it, e.g. ``"plot"``.

    Raises
    ------
    UsageError
        If there is none in it.
    """
    file = Path(path)
    # FILE:MODEL is how models are named everywhere else
    named = Path(str(path).rpartition(":")[0]) if ":" in file.name and not file.exists() else file
    if named.suffix in _MODELS and named.is_file():
        how = f"tidegate run {path} --until T --out {named.stem}.nc, then tidegate {command} {named.stem}.nc"
        raise UsageError(f"{path} is a model, and `tidegate {command}` takes a saved result", hint=how)
    if file.is_dir():
        raise UsageError(f"{path} is a folder", hint="name a file in it that `tidegate run --out` wrote")
    return load(path)
