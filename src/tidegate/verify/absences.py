"""What a result leaves out of variables that are not there (stage: verification). In: one with NaN for them; out: with what is held, and findings.

Whoever leaves out too much hides what would be judged, so it is looked at whether values are missing exactly where the switch of the part says so.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from tidegate.results import Result
from tidegate.results.labels import number
from tidegate.results.presence import hides_absent, is_absent
from tidegate.verify.verification import Tally

__all__ = ["filled"]


def filled(result: Result, tally: Tally) -> Result:
    """The result with every value that is held."""
    if not hides_absent(result.options):
        return result
    found = copy(result)
    found.options = {name: value for name, value in result.options.items() if name != "record_disabled"}
    found.values = result.values.copy()
    position = {column.name: k for k, column in enumerate(result.columns)}
    is_before = np.append(np.diff(result.t) == 0.0, [False] * bool(result.t.size))
    for k, column in enumerate(result.columns):
        absent = is_absent(column, result.t.shape, lambda name: result.values[:, position[name]] if name in position else None)
        if absent is None:
            continue
        missing = np.isnan(result.values[:, k])
        wrong = np.flatnonzero(missing != absent)
        if wrong.size:
            at = float(result.t[wrong[0]])
            has, where = ("a", "off") if absent[wrong[0]] else ("no", "on")
            tally.note("row", column.name, at, np.inf, f"has {has} value in the row at t = {number(at, 9)}, where its part is {where}")
        for rows, is_left in ((is_before & missing, True), (~is_before & missing, False)):
            if rows.any():
                held = found.at(result.t[rows], [column.name], side="left" if is_left else "right")
                found.values[rows, k] = next(iter(held.data_vars.values())).values
    return found
