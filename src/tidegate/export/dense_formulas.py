"""Outputs between the rows, in a file and back (stage: export): their formulas as a text, with the constants and modes that they read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tidegate.errors import UsageError
from tidegate.expressions.formulas import Formulas
from tidegate.expressions.written_formulas import formulas_in, formulas_text
from tidegate.results.dense_outputs import DenseOutputs

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["dense_outputs_in", "formula_variables"]

_TEXT: Final = "dense_formulas"
# arrays of ``DenseOutputs``, each with its dimensions in the file
_ARRAYS: Final = {
    "constants": ("dense_part", "dense_constant"),
    "first_pieces": ("dense_part",),
    "changes": ("dense_change",),
    "modes": ("dense_mode_row", "dense_mode"),
    "first_modes": ("dense_part_end",),
}


def formula_variables(outputs: DenseOutputs | None) -> dict[str, Any]:
    """What is written of them; nothing where there are none, or they ask functions of the user."""
    text = formulas_text(outputs.formulas) if outputs is not None and isinstance(outputs.formulas, Formulas) else ""
    if outputs is None or not text:
        return {}
    arrays: dict[str, np.ndarray] = {name: getattr(outputs, name) for name in _ARRAYS}
    shapes = {name: list(array.shape) for name, array in arrays.items()}
    # a dimension of no length would be one without an end
    written = {f"dense_{name}": (dims, arrays[name]) for name, dims in _ARRAYS.items() if arrays[name].size}
    told = {f"shape_of_{name}": shape for name, shape in shapes.items()}
    return {_TEXT: ((), text, {"long_name": "outputs as formulas of the dense variables", **told}), **written}


def dense_outputs_in(dataset: xr.Dataset, source: str) -> DenseOutputs | None:
    """The outputs of a file; None where it has none.

    Raises
    ------
    UsageError : they are damaged.
    """
    if _TEXT not in dataset.variables:
        return None
    held = dataset[_TEXT]
    try:
        formulas = formulas_in(str(held.values))
        arrays: dict[str, Any] = {}
        for name in _ARRAYS:
            shape = tuple(np.atleast_1d(held.attrs[f"shape_of_{name}"]).astype(int).tolist())
            found = dataset[f"dense_{name}"].values if f"dense_{name}" in dataset.variables else np.zeros(shape)
            arrays[name] = found.reshape(shape).astype(np.int64 if name.startswith("first") else float)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise UsageError(f"{source} is damaged: the formulas of its outputs cannot be read", hint="take an older copy, or run it again") from error
    return DenseOutputs(formulas, **arrays)
