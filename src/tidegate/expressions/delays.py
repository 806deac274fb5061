"""``delay`` (stage: expressions): an expression, a time and what was before the start in; the expression as it was that long ago out.

Three operations make it up. ``delay`` is what the user wrote; ``structure.delays`` puts an unknown of its own in its place. ``past`` stands in the
equation of that unknown only, and reads the polynomials of the steps that the run has taken (``integrators.hybrid_loop.past``); its data are the
unknown that it reads and how often that is differentiated. ``same`` is its argument, kept by itself so that there is an unknown to read.
"""

from __future__ import annotations

import math
from typing import Any, Final

from tidegate.errors import UsageError
from tidegate.expressions.elementwise import elementwise
from tidegate.expressions.nodes import Expr, Role, as_real, node, symbol, walk
from tidegate.wrong_calls import explained

__all__ = ["delay", "has_delays"]

_HOW: Final = "tg.delay(x, 0.5), half a unit of time ago"


@explained
def delay(expr: Any, time: Any, history: Any = None) -> Any:
    """An expression as it was some time ago, from the dense solution of the run itself.

    Where that was before the start of the run, it is ``history``. Steps end where the past has a corner or a jump: a delay after the start, and after
    every event, and again a delay after these. Such places are no events of the model.

    Parameters
    ----------
    expr : an expression of the model's variables, or an array of these.
    time : how long ago, positive all the time: a number or an expression, of variables too.
    history : what the expression was before the start: a number, an expression in which the model's time is the time of then, ``np.sin(t)``, or a
        function of time, ``lambda t: np.sin(t)``. None where the expression is made of states: it was then what their start values make of it.

    Returns
    -------
    Expr : in models. Of plain numbers the number itself, since these have no past.

    Raises
    ------
    UsageError : the time is not positive, or the history is none of these.

    Examples
    --------
    >>> import tidegate as tg
    >>> model = tg.ode(lambda t, y: [-tg.delay(y["x"], 1.0)], y0={"x": 1.0})
    >>> print(f"{tg.simulate(model, (0, 2), rtol=1e-8).final['x']:.6f}")
    -0.500000
    """
    if not isinstance(time, Expr):
        if not isinstance(time, int | float) or not 0.0 < time < math.inf:
            raise UsageError(f"a delay takes a positive time, not {time!r}", hint=_HOW)
    elif time.is_constant and not 0.0 < time.value < math.inf:
        raise UsageError(f"a delay takes a positive time, not {time.value!r}", hint=_HOW)

    if callable(history) and not isinstance(history, Expr):
        history = history(symbol(Role.TIME, "time"))
    if isinstance(history, str):
        raise UsageError(
            f"the history of a delay is a number, an expression, or a function of time, not {history!r}", hint="history=lambda t: np.sin(t)"
        )

    def of(item: Any, before: Any = None) -> Any:
        if not isinstance(item, Expr) or item.is_constant:
            return item  # what is always the same was no other
        given = () if before is None else (as_real(before),)
        return node("delay", (as_real(item), as_real(time), *given))

    return elementwise(of, expr) if history is None else elementwise(of, expr, history)


def has_delays(roots: Any) -> bool:
    """Whether any of these expressions looks back."""
    return any(item.op in ("delay", "past") for item in walk(roots))
