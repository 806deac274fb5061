"""Save a result under a name whose suffix tells the format (stage: export)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tidegate.export.netcdf import to_netcdf
from tidegate.export.table import to_csv
from tidegate.results import Result, known_suffix

__all__ = ["FORMATS", "format_of", "save"]

FORMATS: Final = MappingProxyType[str, Callable[[Result, str | Path], Path]]({".nc": to_netcdf, ".csv": to_csv})


def format_of(path: str | Path) -> str:
    """The suffix of a file that a result can be saved in.

    Raises
    ------
    UsageError
        For any other suffix.
    """
    return known_suffix(path, FORMATS, "a result")


def save(result: Result, path: str | Path) -> Path:
    """Write a result; ``.nc`` keeps all of it, ``.csv`` the trajectories and sensitivities."""
    return FORMATS[format_of(path)](result, path)
