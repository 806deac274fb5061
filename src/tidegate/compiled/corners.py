"""Equations whose derivatives by parameters bend or have poles where their values are smooth enough for the steps (stage: compiled).

In: right-hand sides. Out: whether the error of sensitivities has to be looked at beside that of values. A relation that makes no event is a corner
inside a step. A root of what an event clips, such as ``sqrt(max(u, 0))``, begins vertically there: it is integrated with steps that say nothing of
its derivative, which is one over a root.
"""

from __future__ import annotations

from collections.abc import Iterable

from tidegate.expressions import Expr, Role, walk
from tidegate.expressions.no_event import is_quiet

__all__ = ["has_corners"]


def has_corners(rates: Iterable[Expr]) -> bool:
    """Whether there is a relation that makes no event, or a root of what reads a mode.

    Examples
    --------
    >>> from tidegate.expressions import symbol
    >>> from tidegate.expressions.elementary import sqrt
    >>> clipped = symbol(Role.MODE, "u > 0") * symbol(Role.UNKNOWN, "u")
    >>> has_corners([sqrt(clipped)]), has_corners([clipped]), has_corners([sqrt(symbol(Role.UNKNOWN, "u"))])
    (True, False, False)
    """
    reads_modes: dict[Expr, bool] = {}
    for item in walk(rates):
        reads_modes[item] = (item.op == "symbol" and item.data.role is Role.MODE) or any(reads_modes[arg] for arg in item.args)
        if is_quiet(item) or (_is_root(item) and reads_modes[item.args[0]]):
            return True
    return False


def _is_root(item: Expr) -> bool:
    return item.op == "sqrt" or (item.op == "pow" and item.args[1].is_constant and 0.0 < item.args[1].value < 1.0)
