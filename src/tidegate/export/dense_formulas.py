"""Outputs between the rows, in a NetCDF file and back (stage: export): their formulas as a text, with the constants and modes that they read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tidegate.errors import UsageError
from tidegate.expressions.formulas import formulas_in
from tidegate.results.dense_outputs import DenseOutputs

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["dense_outputs_in", "formula_variables"]

_TEXT: Final = "dense_formulas"
# arrays of ``DenseOutputs``, each with its dimensions in the file
_DIMENSIONS: Final = {
    "constants": ("dense_part", "dense_constant"),
    "first_pieces": ("dense_part",),
    "changes": ("dense_change",),
    "modes": ("dense_mode_row", "dense_mode"),
    "first_modes": ("dense_part_end",),
}


def formula_variables(outputs: DenseOutputs | None) -> dict[str, Any]:
    """What is written of them; nothing where there are none, or they ask functions of the user."""
    text = "" if outputs is None else outputs.as_text()
    if outputs is None or not text:
        return {}
    # a dimension of no length would be one without an end
    written = {f"dense_{name}": (_DIMENSIONS[name], array) for name, array in outputs.arrays().items() if array.size}
    shapes = {f"shape_of_{name}": shape for name, shape in outputs.shapes().items()}
    return {_TEXT: ((), text, {"long_name": "outputs as formulas of the dense variables", **shapes}), **written}


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
        shapes = {name: held.attrs[f"shape_of_{name}"] for name in _DIMENSIONS}
        arrays = {name: dataset[f"dense_{name}"].values for name in _DIMENSIONS if f"dense_{name}" in dataset.variables}
        return DenseOutputs.with_arrays(formulas_in(str(held.values)), arrays, shapes)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise UsageError(f"{source} is damaged: the formulas of its outputs cannot be read", hint="take an older copy, or run it again") from error
