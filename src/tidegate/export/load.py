"""Read a result from a file, whichever way it was written (stage: export): whole, or the rows that a killed run left behind."""

from __future__ import annotations

from pathlib import Path

from tidegate.errors import UsageError
from tidegate.export.appended import part_of
from tidegate.export.netcdf import from_netcdf
from tidegate.export.table import from_csv
from tidegate.expressions.formulas import formulas_in
from tidegate.results import Result
from tidegate.results.files import path_of
from tidegate.results.frames import frames_in, is_framed
from tidegate.results.journal import read_journal

__all__ = ["load"]

_KILLED = "the run did not end; these are the rows that it had written"


def load(path: str | Path) -> Result:
    """Read a result.

    Parameters
    ----------
    path : ``.nc``, which has everything; ``.csv``, which has the trajectories and sensitivities; or the ``.part`` of either that a run left which was
        killed. Its status is then "unfinished", and a last row that was cut is left out.

    Raises
    ------
    UsageError
        If there is no such file, or it is none of these.
    """
    file = path_of(path)
    if not file.is_file():
        if part_of(file).is_file():
            raise UsageError(f"there is no file {path}, but there are the rows of a run that did not end", hint=f"{part_of(file)}")
        raise UsageError(f"there is no file {path}", hint="give a file written by `tidegate run --out`, Result.to_netcdf or Result.to_csv")
    is_part = ".part" in file.suffixes
    if is_framed(file):
        result = read_journal(frames_in(file), lambda text: formulas_in(text) if text else None, source=str(path))
    elif ".csv" in file.suffixes:
        result = from_csv(file)
    elif is_part and file.stat().st_size == 0:
        raise UsageError(f"{path} holds no rows", hint="it was cut before the first of them was written; run the model again")
    else:
        return from_netcdf(file)
    if is_part:
        result.status, result.message = "unfinished", _KILLED
    return result
