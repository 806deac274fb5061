"""What is said of a run that has come to its end, beside its result (stage: executive): one warning of each kind, at the user's own line."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tidegate.errors import NotFiniteWarning, SensitivityWarning, ToleranceWarning
from tidegate.names import shortened

__all__ = ["warn"]

_WARNED: Final = 3  # sentences in a warning
_PACKAGE: Final = str(Path(__file__).parents[1])


def warn(not_finite: Sequence[str], lost_derivatives: Sequence[str], within_tolerances: Sequence[str] = ()) -> None:
    """One warning of each kind, however many things there are to say, at the user's own line whichever way the run was started.

    Parameters
    ----------
    not_finite : sentences about numbers that are not finite.
    lost_derivatives : about derivatives that do not exist.
    within_tolerances : about what is smaller than these.
    """
    for kind, every in ((SensitivityWarning, lost_derivatives), (NotFiniteWarning, not_finite), (ToleranceWarning, within_tolerances)):
        if every:
            warnings.warn("; ".join(shortened(every, _WARNED)), kind, skip_file_prefixes=(_PACKAGE,))
