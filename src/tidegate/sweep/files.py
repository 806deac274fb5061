"""Whole sweeps as NetCDF and Zarr (stage: sweep): what is small at once, the trajectories batch by batch, so that memory holds one batch of them."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tidegate.errors import UsageError
from tidegate.results import known_suffix, written_whole
from tidegate.results.files import path_of, tried
from tidegate.sweep.batch import Batch
from tidegate.sweep.gathered import Gathered, Shape, segments
from tidegate.sweep.journal import journal_of, of_another_sweep

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["checked_target", "finished", "opened", "write"]

_DIGEST: Final = "asked"  # the attribute that says what a file is the answer to
_CHUNK: Final = 1 << 17  # numbers, 1 MB: what is read or written at once


def checked_target(out: str | Path) -> Path:
    """A path that a sweep can be saved in.

    Raises
    ------
    UsageError : its suffix, its folder, or what writes it is not there, or nothing can be written there.
    """
    path = path_of(out)
    if known_suffix(path, _WRITERS, "a sweep") == ".zarr" and find_spec("zarr") is None:
        raise UsageError("files in Zarr need the package zarr", hint="pip install tidegate[zarr], or a name that ends in .nc")
    is_store = any((path / name).is_file() for name in (".zgroup", "zarr.json"))
    if path.is_dir() and not is_store and (path.suffix.lower() == ".nc" or any(path.iterdir())):
        raise UsageError(f"cannot write {path}: it is a folder with something else in it", hint="name another file")
    if not path.is_dir():
        tried(path)
    return path


def write(path: Path, shape: Shape, gathered: Gathered, batches: Iterable[Batch], digest: str) -> None:
    """Write the whole file, or nothing; ``digest`` says what it is the answer to."""
    _WRITERS[path.suffix.lower()](path, shape, gathered.dataset({}).assign_attrs({_DIGEST: digest}), batches)


def finished(path: Path, digest: str) -> xr.Dataset | None:
    """What is in a file that is whole already; None where there is none, or runs beside it that wait to be gone on with.

    Raises
    ------
    UsageError : it is the answer to something else.
    """
    if not path.exists() or journal_of(path).exists():
        return None
    try:
        found = opened(path)
    except Exception as error:
        raise UsageError(f"{path} is no sweep: {error}", hint="remove the file, or name another") from error
    if found.attrs.get(_DIGEST) == digest:
        return found
    found.close()
    raise of_another_sweep(path)


def opened(path: Path) -> xr.Dataset:
    """The dataset of a file; trajectories are read when they are looked at."""
    import xarray as xr

    plain: dict[str, Any] = {"decode_times": False, "decode_timedelta": False}  # units like "s" stay numbers
    return xr.open_zarr(path, chunks=None, **plain) if path.suffix.lower() == ".zarr" else xr.open_dataset(path, engine="netcdf4", **plain)


def _write_netcdf(path: Path, shape: Shape, small: xr.Dataset, batches: Iterable[Batch]) -> None:
    import netCDF4

    with written_whole(path) as draft:
        small.to_netcdf(draft, engine="netcdf4", format="NETCDF4")
        with netCDF4.Dataset(draft, "a") as file:
            for name, (along, attributes) in shape.variables.items():
                for dim, size in along:
                    if dim not in file.dimensions:
                        file.createDimension(dim, size)
                # chunks would be read and written once for every run; a fixed array is one piece
                variable: Any = cast(Any, file).createVariable(name, "f8", [dim for dim, _ in along], fill_value=np.nan)
                variable.setncatts(attributes)
            _fill(shape, batches, lambda name, where, block: file.variables[name].__setitem__(where, block))


def _write_zarr(path: Path, shape: Shape, small: xr.Dataset, batches: Iterable[Batch]) -> None:
    import zarr

    with _folder_written_whole(path) as draft:
        small.to_zarr(draft, mode="w", zarr_format=2, consolidated=False)
        group: Any = zarr.open_group(draft, mode="a", zarr_format=2)
        for name, (along, attributes) in shape.variables.items():
            sizes = [size for _, size in along]
            array = group.create_array(name, shape=sizes, dtype="f8", chunks=_chunks(sizes, len(shape.members.dims)), fill_value=np.nan)
            array.attrs.update({**attributes, "_ARRAY_DIMENSIONS": [dim for dim, _ in along]})
        _fill(shape, batches, lambda name, where, block: group[name].__setitem__(where, block))
        zarr.consolidate_metadata(draft, zarr_format=2)


def _chunks(sizes: list[int], n_dims: int) -> tuple[int, ...]:
    """Whole trajectories, and as many neighbouring runs as fit."""
    room = max(_CHUNK // max(int(np.prod(sizes[n_dims:], dtype=np.int64)), 1), 1)
    found: list[int] = []
    for size in reversed(sizes[:n_dims]):
        found.insert(0, min(room, size))
        room = max(room // size, 1)
    return (*found, *sizes[n_dims:])


def _fill(shape: Shape, batches: Iterable[Batch], put: Callable[[str, tuple[Any, ...], Any], None]) -> None:
    for batch in batches:
        pieces = list(segments(batch.members, shape.members.shape))
        for name, block in shape.blocks(batch):
            for where, runs, leading in pieces:
                put(name, where, block[runs].reshape(*leading, *block.shape[1:]))


@contextmanager
def _folder_written_whole(target: Path) -> Generator[Path]:
    draft = target.with_name(f".{target.stem}.{secrets.token_hex(4)}{target.suffix}")
    try:
        yield draft
        if target.is_dir():
            shutil.rmtree(target)
        draft.replace(target)
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror or error}", hint="check the folder's permissions and free space") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


_WRITERS: Final = MappingProxyType[str, Callable[[Path, Shape, Any, Iterable[Batch]], None]]({".nc": _write_netcdf, ".zarr": _write_zarr})
