"""Plans of the last functions that ``tg.solve_ivp`` was called with (stage: front end of SciPy's words). In: a checked problem; out: its plan.

Whoever calls again and again, for other start values, other arguments or another span, waits for following and compiling once. What is kept serves as
long as nothing has changed that the functions read, and as long as it gives what the function itself gives at the new start.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from types import FunctionType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.expressions import Expr, evaluate
from tidegate.quick_dataclass import dataclass
from tidegate.simulate import with_own_values
from tidegate.solve_ivp.arguments import Ivp, Watched
from tidegate.solve_ivp.plan import Followed, Plan, followed_of, plan_of

__all__ = ["planned"]

FloatArray = NDArray[np.float64]
_MOST: Final = 32  # problems
_PLAIN: Final = (float, np.float64, int, np.int64, str, bool, type(None))  # arguments that nobody can change
_ROUNDING: Final = 1e-9  # of the largest rate: what is kept may add up in another order


@dataclass(frozen=True, eq=False)
class _Kept:
    """A problem, what its functions were followed as, and its plan."""

    ivp: Ivp
    watched: list[Watched]  # held, so that no other functions take their places in memory
    followed: Followed
    plan: Plan


_kept: dict[Hashable, _Kept] = {}


def planned(ivp: Ivp, watched: list[Watched]) -> tuple[Ivp, Plan]:
    """The plan of a problem; with the problem as it was planned, whose arguments may be symbols."""
    expected = ivp.derivatives(ivp.t0, ivp.y0.copy())
    levels = [item.value(ivp, ivp.t0, ivp.y0.copy()) for item in watched]
    key = _key(ivp, watched)
    found = None if key is None else _again(ivp, expected, _kept.get(key))
    if found is not None:
        return found
    followed = followed_of(ivp, watched, expected, levels)
    ivp = replace(ivp, symbolic=followed.symbolic)
    plan = plan_of(ivp, watched, followed)
    if key is not None and not plan.called:
        _kept.pop(key, None)
        _kept[key] = _Kept(ivp, watched, followed, plan)
        if len(_kept) > _MOST:
            _kept.pop(next(iter(_kept)), None)
    return ivp, plan


def _key(ivp: Ivp, watched: list[Watched]) -> Hashable | None:
    """What a plan depends on besides numbers; None where it cannot be told."""
    functions = (ivp.fun, *(item.function for item in watched))
    if not all(isinstance(one, FunctionType) for one in functions) or not all(type(value) in _PLAIN for value in ivp.args):
        return None
    events = tuple((id(item.function), item.direction, item.count) for item in watched)
    return id(ivp.fun), events, tuple(map(type, ivp.args)), ivp.vectorized, ivp.sign, ivp.y0.size


def _again(ivp: Ivp, expected: FloatArray, kept: _Kept | None) -> tuple[Ivp, Plan] | None:
    """What is kept, for these numbers; None if it does not serve."""
    if kept is None or kept.followed.reads.changed():
        return None
    symbolic = kept.followed.symbolic
    if any(k not in symbolic and value != before for k, (value, before) in enumerate(zip(ivp.args, kept.ivp.args, strict=True))):
        return None
    ivp = replace(ivp, symbolic=symbolic)
    if not _gives(kept.followed.fun.values, ivp, expected):
        return None
    model = with_own_values(kept.plan.model, [*ivp.y0.tolist(), *ivp.argument_values])
    return None if model is None else (ivp, replace(kept.plan, model=model))


def _gives(values: list[Expr], ivp: Ivp, expected: FloatArray) -> bool:
    """Whether expressions have the values that the function has at the start."""
    found = np.array(evaluate(values, ivp.start))
    size = float(np.max(np.abs(expected), initial=0.0))
    return bool(np.all((np.abs(found - expected) <= _ROUNDING * size) | (found == expected)))
