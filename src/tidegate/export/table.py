"""Results as flat tables: CSV files and pandas (stage: export). In goes a ``Result``, out come rows of time and one column a scalar."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.results import Column, Result, written_whole

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["csv_head", "csv_rows", "from_csv", "to_csv", "to_dataframe"]

_DERIVATIVE: Final = re.compile(r"^d\((?P<variable>.+)\)/d\((?P<parameter>.+)\)$")


def _columns(result: Result, *, sensitivities: bool) -> Iterator[tuple[str, NDArray[np.float64]]]:
    shown = [(i, column) for i, column in enumerate(result.columns) if not column.is_hidden]
    for i, column in shown:
        yield column.name, result.values[:, i]
    if sensitivities and result.sensitivities is not None:
        for j, parameter in enumerate(result.sensitivity_parameters):
            for i, column in shown:
                yield f"d({column.name})/d({parameter})", result.sensitivities[:, j, i]


def to_csv(result: Result, path: str | Path) -> Path:
    """Write trajectories and sensitivities, time first, with every digit of every number.

    Parameters
    ----------
    path : of the file; it is written whole or not at all.

    Returns
    -------
    The path.
    """
    with written_whole(path) as draft, draft.open("w", newline="", encoding="utf-8") as file:
        file.write(csv_head(result))
        file.write(csv_rows(result))
    return Path(path)


def csv_head(result: Result) -> str:
    """The line of names."""
    return _lines([["time", *(name for name, _ in _columns(result, sensitivities=True))]])


def csv_rows(result: Result) -> str:
    """A line for each row."""
    return _lines(np.column_stack([result.t, *(values for _, values in _columns(result, sensitivities=True))]).tolist())


def _lines(rows: Iterable[Iterable[object]]) -> str:
    page = StringIO(newline="")
    csv.writer(page).writerows(rows)
    return page.getvalue()


def from_csv(path: Path) -> Result:
    """Read a file that ``to_csv`` wrote: the trajectories and sensitivities, since it has no more. A last line that was cut is left out.

    Raises
    ------
    UsageError
        If it is no such file.
    """
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        lines = [line for line in file if line.endswith("\n") and not line.startswith("#")]
    names, *rows = csv.reader(lines) if lines else [[""]]
    try:
        table = np.array(rows, dtype=float).reshape(len(rows), len(names))
    except ValueError:
        names, table = [""], np.zeros((0, 1))
    if names[:1] != ["time"]:
        raise UsageError(f"{path} is no table of tidegate", hint="give a file written by `tidegate run --out` or Result.to_csv")
    derivatives = {k: match for k, name in enumerate(names) if (match := _DERIVATIVE.match(name))}
    plain = [k for k in range(1, len(names)) if k not in derivatives]
    parameters = list(dict.fromkeys(match["parameter"] for match in derivatives.values()))
    places = {names[k]: i for i, k in enumerate(plain)}
    sensitivities = np.full((len(rows), len(parameters), len(plain)), np.nan)
    for k, match in derivatives.items():
        sensitivities[:, parameters.index(match["parameter"]), places[match["variable"]]] = table[:, k]
    return Result(
        path.name.partition(".")[0],
        [Column(names[k]) for k in plain],
        table[:, 0],
        table[:, plain],
        sensitivity_parameters=parameters,
        sensitivities=sensitivities if parameters else None,
    )


def to_dataframe(result: Result, *, sensitivities: bool = False) -> pd.DataFrame:
    """A pandas table with the time as index; units in ``attrs["units"]``, that of ``"time"`` too if the model gave one.

    Parameters
    ----------
    sensitivities : add columns ``d(variable)/d(parameter)``.
    """
    import pandas as pd

    frame = pd.DataFrame(dict(_columns(result, sensitivities=sensitivities)), index=pd.Index(result.t, name="time"))
    units = {"time": result.time_unit, **{column.name: column.unit for column in result.columns}}
    frame.attrs["units"] = {name: unit for name, unit in units.items() if unit}
    return frame
