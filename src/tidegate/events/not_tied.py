"""Why a mode that ties states is not integrated: what ``events.constrain`` answers, for whoever puts it into words."""

from __future__ import annotations

__all__ = ["FORCES", "IS_COUPLED", "NOTHING", "VARIES", "WITH_SENSITIVITIES"]

# nothing is in the way; a state would be moved at once; what ties them varies; derivatives by parameters are wanted; anything else
NOTHING, FORCES, VARIES, WITH_SENSITIVITIES, IS_COUPLED = range(5)
