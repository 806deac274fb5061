"""The machine code of a model for one that differs in the values of its parameters only (stage: compiled). In: both; out: a compiled model."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.compiled_model import CompiledModel
from tidegate.compiled.start import ExpressionStart

__all__ = ["standing_at"]

_FIELDS: Final = frozenset(field.name for field in fields(CompiledModel))


def standing_at(model: CompiledModel, p: NDArray[np.float64]) -> CompiledModel | None:
    """A model whose own values of the parameters are these; None where they may change its structure.

    Parameters
    ----------
    model : made of expressions.
    p : of all its parameters.
    """
    if not isinstance(model.start, ExpressionStart) or model.fitting is not None or model.start.asks_parameters:
        return None
    other = object.__new__(CompiledModel)
    # what else is kept with a model under a private name may depend on its own values
    vars(other).update({name: value for name, value in vars(model).items() if name in _FIELDS or not name.startswith("_")})
    vars(other)["start"] = model.start.standing_at(p)
    return other
