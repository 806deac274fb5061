"""Variables that are not always there (stage: results): those of a part that is switched off, or of a state that a block does without for a while.

The system goes on holding a value for each, with which it resumes. Whether a row shows that value or none (NaN) is chosen by ``record_disabled``;
columns say by ``present_while`` on which others it depends. The log of events and the step polynomials keep what is held.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.results.columns import Column

__all__ = ["RECORD_DISABLED", "hides_absent", "is_absent", "without_absent"]

FloatArray = NDArray[np.float64]

RECORD_DISABLED: Final = ("held", "nan")


def hides_absent(options: Mapping[str, Any]) -> bool:
    """Whether a run was asked to show no values of what is not there."""
    return options.get("record_disabled") == "nan"


def is_absent(column: Column, shape: tuple[int, ...], of: Callable[[str], FloatArray | None]) -> NDArray[np.bool_] | None:
    """Where a variable is not there; None for one that is always there.

    Parameters
    ----------
    shape : of the values.
    of : the values of another column at the same places, by name; None for one that is not known.
    """
    if not column.present_while:
        return None
    absent = np.zeros(shape, dtype=bool)
    for name in column.present_while:
        switch = of(name)
        if switch is not None:
            absent |= switch == 0.0
    return absent


def without_absent(columns: Sequence[Column], rows: FloatArray, shown: FloatArray) -> FloatArray:
    """What is shown, (rows, ..., columns), with NaN where there is no such variable.

    Parameters
    ----------
    rows : (rows, columns), the values of all columns as they are held.
    shown : these values, or derivatives of them.

    Examples
    --------
    >>> columns = Column("mixer.c", present_while=("mixer.enabled",)), Column("mixer.enabled", "discrete")
    >>> rows = np.array([[0.5, 1.0], [0.7, 0.0]])
    >>> without_absent(columns, rows, rows).tolist()
    [[0.5, 1.0], [nan, 0.0]]
    """
    places = {column.name: k for k, column in enumerate(columns)}
    found = shown.copy()
    for k, column in enumerate(columns):
        absent = is_absent(column, rows.shape[:1], lambda name: rows[:, places[name]] if name in places else None)
        if absent is not None:
            found[absent, ..., k] = np.nan
    return found
