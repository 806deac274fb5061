"""Results as flat tables: CSV files and pandas (stage: export). In goes a ``Result``, out come rows of time and one column a scalar."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tidegate.results import Result, written_whole

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["to_csv", "to_dataframe"]


def _columns(result: Result, *, sensitivities: bool) -> Iterator[tuple[str, NDArray[np.float64]]]:
    for i, column in enumerate(result.columns):
        yield column.name, result.values[:, i]
    if sensitivities and result.sensitivities is not None:
        for j, parameter in enumerate(result.sensitivity_parameters):
            for i, column in enumerate(result.columns):
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
    columns = [("time", result.t), *_columns(result, sensitivities=True)]
    rows = np.column_stack([values for _, values in columns])
    with written_whole(path) as draft, draft.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([name for name, _ in columns])
        writer.writerows(rows.tolist())
    return Path(path)


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
