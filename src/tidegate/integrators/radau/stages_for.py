"""How many stages Radau IIA takes."""

from __future__ import annotations

__all__ = ["stages_for"]


def stages_for(rtol: float) -> int:
    """Number of stages by tolerance, as measured: 3 for rtol >= 1e-5, 5 to 1e-9, 7 below."""
    if rtol >= 1e-5:
        return 3
    return 5 if rtol >= 1e-9 else 7
