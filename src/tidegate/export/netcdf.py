"""Results as NetCDF files (stage: export). In goes a ``Result`` or a path, out comes the other, with nothing lost.

The files are NetCDF-4, laid out as ``Result.dataset`` (module ``results.dataset``) with the step polynomials added, so that Python, Julia, MATLAB and
ncdump read them without tidegate.
"""

from __future__ import annotations

from pathlib import Path

from tidegate.errors import UsageError
from tidegate.export.dense_formulas import dense_outputs_in, formula_variables
from tidegate.results import Result, written_whole
from tidegate.results.dataset import dataset_of, dense_variables, trajectories_of
from tidegate.results.reading import result_from

__all__ = ["from_netcdf", "to_netcdf"]


def to_netcdf(result: Result, path: str | Path) -> Path:
    """Write all of a result: trajectories, sensitivities, events, statistics, dense output.

    Parameters
    ----------
    path : of the file; it is written whole or not at all.

    Returns
    -------
    The path.
    """
    is_hidden = any(column.is_hidden for column in result.columns)  # in a file, so that it can be verified
    dataset = dataset_of(result, trajectories=trajectories_of(result, is_whole=True)) if is_hidden else result.dataset
    if result.interpolant is not None and len(result.interpolant):
        dataset = dataset.assign({**dense_variables(result.interpolant), **formula_variables(result.dense_outputs)})
    with written_whole(path) as draft:
        dataset.to_netcdf(draft, engine="netcdf4", format="NETCDF4")
    return Path(path)


def from_netcdf(path: Path) -> Result:
    """Read a file that ``to_netcdf`` wrote.

    Raises
    ------
    UsageError
        If it is no NetCDF file of tidegate.
    """
    import xarray as xr

    try:
        # units like "days" are the user's own and stay numbers
        with xr.open_dataset(path, engine="netcdf4", decode_times=False, decode_timedelta=False) as opened:
            dataset = opened.load()
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} is no NetCDF file", hint="give a file written by `tidegate run --out` or Result.to_netcdf") from error
    result = result_from(dataset, source=str(path))
    result.dense_outputs = dense_outputs_in(dataset, str(path))
    return result
