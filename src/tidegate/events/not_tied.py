"""Why a mode that ties states, or has no solution, is not integrated: for whoever puts it into words."""

from __future__ import annotations

__all__ = ["FORCES", "IS_COUPLED", "NONE_HOLDS", "NOTHING", "VARIES", "WITH_SENSITIVITIES"]

# nothing is in the way; a state would be moved at once; what ties them varies; derivatives by parameters are wanted; anything else;
# no combination of relations holds of itself
NOTHING, FORCES, VARIES, WITH_SENSITIVITIES, IS_COUPLED, NONE_HOLDS = range(6)
