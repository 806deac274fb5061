"""Inputs of a run that are functions of time, followed on the symbol of time. In: functions by entry. Out: expressions by place in U.

With them a block whose callbacks are native has its inputs natively, too, and it is known when a function jumps, so that no step passes a pulse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UntraceableError
from tidegate.expressions import Expr, Role, as_real, dependencies, symbol, walk
from tidegate.expressions.differentiate import differentiate
from tidegate.expressions.evaluate import evaluate
from tidegate.expressions.tracing import collect_reads, function_origin, require_agreement, trace
from tidegate.expressions.tracing.reads import Reads
from tidegate.frontends.dsblock.description import SignalEntry
from tidegate.quick_dataclass import dataclass

__all__ = ["FollowedInputs", "follow", "followed_inputs"]

_TIME: Final = symbol(Role.TIME, "time")
_NEAR: Final = 1e-12  # of a time
_ORDERS: Final = ("ge", "gt")


@dataclass(frozen=True, eq=False)
class FollowedInputs:
    """Functions of time as expressions.

    Parameters
    ----------
    time : its symbol.
    values : by place in U.
    jumps : times just before and just behind those at which relations in them change, as far as these are affine in time: steps end there, and none
        has its end, or all of its stages, on the wrong side.
    reads : what the functions read of their surroundings, which the expressions hold.
    """

    time: Expr
    values: Mapping[int, Expr]
    jumps: NDArray[np.float64]
    reads: Reads

    def are_current(self) -> bool:
        """Whether nothing that the functions read has changed since."""
        return self.reads.are_as_before() or not self.reads.changed()


def follow(entry: SignalEntry, function: Callable[[float], Any]) -> Expr:
    """An input as an expression of time.

    Raises
    ------
    Exception : it cannot be followed; whatever the function does with a symbol.
    """
    if entry.shape:
        raise UntraceableError("it is an array")
    value = as_real(trace(function, (_TIME,)).value)

    def plain(point: Mapping[Expr, float]) -> list[float]:
        return [float(function(point.get(_TIME, 0.0)))]

    require_agreement(f"input {entry.name}", function_origin(function), [value], plain, {_TIME: 0.0})
    return value


def followed_inputs(functions: Iterable[tuple[SignalEntry, Callable[[float], Any]]]) -> FollowedInputs | None:
    """Inputs that are functions, as expressions; None where there is none, or one of them can only be called."""
    try:
        with collect_reads() as reads:
            values = {entry.first: follow(entry, function) for entry, function in functions}
    except Exception:  # noqa: BLE001, whatever a function does with symbols, it can still be called
        return None
    if not values or any(item.op == "call" for item in walk(list(values.values()))):
        return None
    return FollowedInputs(_TIME, values, np.unique(_changes(list(values.values()))), reads)


def _changes(values: Sequence[Expr]) -> list[float]:
    found: list[float] = []
    for item in walk(values):
        if item.op not in _ORDERS:
            continue
        slope = differentiate(item.args[0], _TIME)
        if not dependencies(slope):
            rise, at_zero = evaluate([slope, item.args[0]], {_TIME: 0.0})
            zero = -at_zero / rise if rise else np.inf
            found += [zero - _NEAR * abs(zero), zero + _NEAR * abs(zero)] if np.isfinite(zero) else []
    return found
