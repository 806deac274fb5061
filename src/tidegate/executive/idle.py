"""Clauses that had no chance to happen (stage: executive). In: which conditions have held since the start. Out: a sentence for the run's message."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.interface import CompiledModel
from tidegate.compiled.workspace import FIRST_REMARK
from tidegate.names import listed

__all__ = ["idle_clauses"]

_SHOWN: Final = 3


def idle_clauses(compiled: CompiledModel, held: NDArray[np.float64]) -> str:
    """A sentence that names the clauses whose condition was true from the start to the end, so that it never became true; empty if there are none."""
    fires = [fire for fire in compiled.fires if 0 <= fire.chain < FIRST_REMARK]
    names = [fire.label or "a clause" for fire in fires if any(held[c] for c in fire.conditions)]
    if not names:
        return ""
    shown = listed(names, _SHOWN)
    return f"{shown} never happened: the condition was true from the start to the end, and a clause happens when its condition becomes true"
