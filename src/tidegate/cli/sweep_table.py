"""The runs of a sweep as a table (stage: command line). In goes its dataset, out come lines."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tidegate.numbers_as_texts import flag_text
from tidegate.results.labels import number
from tidegate.results.reading import holds_a_sweep
from tidegate.sweep.files import opened

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["print_runs", "sweep_in"]

_MOST_RUNS: Final = 30  # a screen's height; the file holds the rest
_MOST_COLUMNS: Final = 8


def sweep_in(path: Path) -> xr.Dataset | None:
    """The runs of a sweep that a file holds; None if it holds something else."""
    if path.suffix.lower() not in (".nc", ".zarr") or not path.exists():
        return None
    try:
        found = opened(path)
    except (OSError, ValueError, KeyError):
        return None  # whoever reads a result says what is wrong with the file
    if holds_a_sweep(found):
        return found
    found.close()
    return None


def _labels(dataset: xr.Dataset, dim: str) -> list[str]:
    """What tells the runs along a dimension apart: its own values; of runs one by one the parameters that differ."""
    own = [name for name in map(str, dataset.coords) if name != dim and dataset[name].dims == (dim,)]
    return own or [dim]


def print_runs(console: Console, dataset: xr.Dataset) -> None:
    """A line for each run: its parameters, how it ended, and the values at its end or at the last time."""
    status = dataset["status"].to_numpy().ravel().tolist()
    counts = {kind: status.count(kind) for kind in dict.fromkeys(status)}
    console.print(f"{len(status)} runs: {', '.join(f'{count} {kind}' for kind, count in counts.items())}")
    dims = dataset["status"].dims
    last = dataset.isel(time=-1) if "time" in dataset.dims else dataset
    shown = [str(name) for name in last.data_vars if last[name].dims == dims and last[name].attrs.get("role")]
    table = Table(box=None, pad_edge=False)
    labels = [dataset[name] for dim in dims for name in _labels(dataset, str(dim))]
    columns = [*(str(label.name) for label in labels), "ended", *shown[:_MOST_COLUMNS]]
    for name in columns:
        table.add_column(Text(name), justify="left" if name == "ended" else "right")
    sizes = [dataset.sizes[dim] for dim in dims]
    values = [last[name] for name in shown[:_MOST_COLUMNS]]
    for run in range(min(len(status), _MOST_RUNS)):
        places = [run // math.prod(sizes[k + 1 :]) % sizes[k] for k in range(len(sizes))]
        own = [_told(label, places[dims.index(label.dims[0])]) for label in labels]
        table.add_row(*own, status[run], *(_told(column, run) for column in values))
    console.print(table)
    if len(status) > _MOST_RUNS:
        console.print(f"and {len(status) - _MOST_RUNS} more")
    failed = [text for text in dataset["message"].to_numpy().ravel().tolist() if text]
    for text in list(dict.fromkeys(failed))[:3]:
        console.print(text, style="dim", markup=False, soft_wrap=True)


def _told(values: xr.DataArray, place: int) -> str:
    value = float(values.values.flat[place])
    return flag_text(values.attrs, value) or number(value)
