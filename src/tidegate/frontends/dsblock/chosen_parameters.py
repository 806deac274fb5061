"""Parameters of a block with the values that the caller of a run has given. In: a description, values by name; out: the vector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.frontends.dsblock.description import Description, ParameterKind, element_names

__all__ = ["chosen_parameters"]

FloatArray = NDArray[np.float64]


def chosen_parameters(described: Description, p: FloatArray, given: Mapping[str, Any]) -> FloatArray:
    """Those given in place of those declared; what cannot be is refused where they are set."""
    p, first = p.copy(), 0
    given = {name.upper().replace(" ", ""): value for name, value in given.items()}
    for kind in ParameterKind:
        for entry in described.parameters:
            if entry.kind is not kind:
                continue
            elements = element_names(entry.name.upper(), entry.shape)
            for name, where in [(entry.name.upper(), slice(first, first + entry.size)), *((one, first + k) for k, one in enumerate(elements))]:
                try:
                    value = np.asarray(given[name], dtype=float)
                    p[where] = value.ravel(order="F") if value.shape == entry.shape != () and name == entry.name.upper() else value
                except (KeyError, TypeError, ValueError):
                    continue
            first += entry.size
    return p
