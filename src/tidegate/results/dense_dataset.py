"""What ``Result.at`` gives: a dataset that knows elements of arrays by name, and tells the close names for a wrong one (stage: results).

Loaded when it is first asked for, since xarray is heavy.
"""

from __future__ import annotations

from typing import Any

import xarray as xr

from tidegate.names import Spelling, unknown_name
from tidegate.results.columns import element_of

__all__ = ["DenseDataset"]


class DenseDataset(xr.Dataset):
    """Values at some times; ``dense["x"]`` is a variable, ``dense["x[0]"]`` one element of it."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        """A variable, an element of one, or whatever a dataset gives."""
        if not isinstance(key, str) or key in self.variables:
            return super().__getitem__(key)
        if self.attrs.get("folds_names"):
            base, bracket, index = key.partition("[")
            spelled = Spelling(map(str, self.data_vars))(base)
            if spelled != base:
                return self[f"{spelled}{bracket}{index}"]
        for name, variable in self.data_vars.items():  # what a file calls otherwise
            if variable.attrs.get("user_name") == key:
                return super().__getitem__(name)
        base, index = element_of(key)
        if base in self.data_vars:
            array = super().__getitem__(base)
            shape = array.shape[array.ndim - len(index) :]
            if array.ndim >= len(index) and all(0 <= i < size for i, size in zip(index, shape, strict=True)) and index:
                return array[(..., *index)]
        raise unknown_name("variable", key, [str(name) for name in self.data_vars], of="these values")
