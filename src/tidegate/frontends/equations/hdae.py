"""`tg.hdae`: a constrained system written as the five parts of an HDAE (front end of plain functions)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tidegate.errors import UsageError
from tidegate.frontends.equations.event_clause import EventClause
from tidegate.frontends.equations.follow_functions import Outputs, Parts
from tidegate.frontends.equations.function_model import FunctionModel, FunctionOptions, checked_description
from tidegate.frontends.equations.other_words import OF_MODELS
from tidegate.model import Form
from tidegate.wrong_calls import explained

__all__ = ["ConstrainedFunctions", "hdae"]


class ConstrainedFunctions(FunctionModel):
    """What ``tg.hdae`` returns: a ``FunctionModel`` that is solved in one of five forms."""

    own_options: Sequence[str] = ("hdae", "make_consistent")

    def with_options(
        self, t_span: tuple[float, float] | None, options: Mapping[str, Any]
    ) -> tuple[FunctionModel, tuple[float, float] | None, Mapping[str, Any]]:
        """The same functions in the form chosen for a run; asked for again, the same model with its machine code."""
        parts = self.description.parts
        assert parts is not None
        wanted, moves = options.get("hdae"), options.get("make_consistent")
        makes_consistent = parts.makes_consistent if moves is None else bool(moves)
        chosen = replace(parts, stabilisation=parts.stabilisation if wanted is None else wanted, makes_consistent=makes_consistent)
        kept: dict[tuple[object, bool], FunctionModel] = vars(self).setdefault("_variants", {})
        key = repr(chosen.stabilisation), chosen.makes_consistent
        if key not in kept:
            kept[key] = ConstrainedFunctions(replace(self.description, parts=chosen))
        return kept[key], t_span, {name: value for name, value in options.items() if name not in self.own_options}

    def __getstate__(self) -> dict[str, Any]:
        """As of any ``FunctionModel``."""
        return {name: value for name, value in super().__getstate__().items() if name != "_variants"}

    def without_code(self) -> FunctionModel:
        """The same functions, not followed yet, and without the machine code that comes of it."""
        return ConstrainedFunctions(self.description)


@partial(explained, other_words=OF_MODELS)
def hdae(  # noqa: PLR0913, what can be said of a model are keywords, and editors show them with their defaults
    f1: Callable[..., Any],
    f2: Callable[..., Any] | None = None,
    f3: Callable[..., Any] | None = None,
    f4: Callable[..., Any] | None = None,
    f5: Callable[..., Any] | None = None,
    *,
    x1: Any,
    x2: Any = None,
    x3: Any = None,
    p: Any = None,
    name: str | None = None,
    units: Mapping[str, str] | None = None,
    outputs: Outputs | None = None,
    discrete: Any = None,
    events: Iterable[EventClause] | EventClause = (),
) -> FunctionModel:
    """A constrained system ``x1' = f1, 0 = f2, 0 = f3, 0 = f4, 0 = f5``, whose constraints are kept and not only their derivatives.

    The form HDAE of DSblock 3.3 (Otter 1994). For a mechanism x1 are positions and speeds, x2 what friction makes of forces, x3 forces of
    constraints; f3, f4 and f5 are the constraints in accelerations, speeds and positions. How they are used is the option ``hdae`` of a run:
    "index1" (f3), "index1_partly_stabilised" (f3, f4), "index1_stabilised" (f3, f4, f5), "index2" (f4), "index2_stabilised" (f4, f5; the usual
    one). Where ``f4`` is not given the usual one is "index1_stabilised", or "index1".

    Parameters
    ----------
    f1 : ``f1(t, y)`` or ``f1(t, y, p)``: derivatives of x1, as ``tg.ode`` takes them; ``y`` holds x1, x2 and x3, by name and in this order.
    f2 : zero; what determines x2, whose derivative by x2 is regular.
    f3 : zero; what determines x3, regular in x3: the derivative of f4 by time.
    f4 : zero; looks at x1 only. As many as f3, or none.
    f5 : zero; looks at x1 only: what f4 is the derivative of. At most as many as f4.
    x1, x2, x3 : start values, as for ``tg.ode``; each may be a function of ``p``. All equations must hold at the start, or the run is told
        ``make_consistent=True``: then x1 moves as little as possible, and x2 and x3 follow.
    p, name, units, outputs, discrete, events : as for ``tg.ode``.

    Raises
    ------
    InvalidModelError
        naming every start value and parameter that cannot be.
    UsageError
        if a part does not take these arguments, or the parts do not fit the unknowns.

    Examples
    --------
    >>> import tidegate as tg
    >>> def motion(t, y):
    ...     px, py, vx, vy, force = y
    ...     return [vx, vy, -force * px, -force * py - 9.81]
    >>> pendulum = tg.hdae(
    ...     f1=motion,
    ...     f3=lambda t, y: y["vx"] ** 2 + y["vy"] ** 2 - y["force"] * (y["px"] ** 2 + y["py"] ** 2) - 9.81 * y["py"],
    ...     f4=lambda t, y: y["px"] * y["vx"] + y["py"] * y["vy"],
    ...     f5=lambda t, y: (y["px"] ** 2 + y["py"] ** 2 - 1.0) / 2,
    ...     x1={"px": 1.0, "py": 0.0, "vx": 0.0, "vy": 0.0},
    ...     x3={"force": 0.0},
    ... )
    >>> result = tg.simulate(pendulum, (0, 10), rtol=1e-8, hdae="index2_stabilised")
    >>> abs(result.final["px"] ** 2 + result.final["py"] ** 2 - 1) < 1e-8
    True
    """
    functions = (f1, f2, f3, f4, f5)
    for k, (start, what) in enumerate(((x1, "x1"), (x2, "x2"), (x3, "x3"))):
        if (functions[k] is None) is not (start is None):
            lacks = f"f{k + 1}" if functions[k] is None else what
            raise UsageError(f"tg.hdae was given {what if functions[k] is None else f'f{k + 1}'}, but no {lacks}", hint=f"f{k + 1} determines {what}")
    parts = Parts(functions[1:], (x1, x2, x3))
    return ConstrainedFunctions(
        checked_description(Form.HDAE, f1, (None, None), p, FunctionOptions(name, units, outputs, events, discrete=discrete), parts)
    )
