"""Why a mode that ties states, or has no solution, is not integrated: for whoever puts it into words."""

from __future__ import annotations

from typing import Final

__all__ = ["FORCES", "IS_COUPLED", "MOST_TIED", "NONE_FOUND", "NONE_HOLDS", "NOTHING", "TOO_LARGE", "VARIES", "WITH_SENSITIVITIES"]

# nothing is in the way; a state would be moved at once; what ties them varies; derivatives by parameters are wanted; anything else;
# no combination of relations holds of itself; there are too many equations; a combination was looked for among too many to try them all
NOTHING, FORCES, VARIES, WITH_SENSITIVITIES, IS_COUPLED, NONE_HOLDS, TOO_LARGE, NONE_FOUND = range(8)

MOST_TIED: Final = 500  # unknowns of a sparse model, whose systems are dense while a mode of it ties states
