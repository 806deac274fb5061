"""A model with a memory of its own goes on from what was saved of a run (stage: executive). In: a state. Out: one that the model knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.compiled_model import CompiledModel

__all__ = ["taken_up"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Saved:
    """Where the run is."""

    time: float
    y: FloatArray
    m: FloatArray
    p: FloatArray


def taken_up(model: CompiledModel, state: Mapping[str, FloatArray]) -> Mapping[str, FloatArray]:
    """The state with what the model sets when it is told of it: the run that it had begun is not known here.

    Raises
    ------
    UsageError : the model cannot go on without its memory.
    """
    if model.resuming is None:
        return state
    layout, modes = model.layout, state["modes"].copy()
    new = model.resuming.assigned(_Saved(float(state["progress"][0]), state["unknowns"], modes, state["parameters"]))
    modes[layout.first_discrete : layout.first_input] = np.tile(new[len(layout.unknowns) :], 2)
    return {**state, "modes": modes}
