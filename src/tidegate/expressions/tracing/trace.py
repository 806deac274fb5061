"""Run a user's function on symbols (stage: tracing the user's Python).

In: a function and symbolic arguments. Out: the expressions it computes, what it yields, and where every condition in them was written.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, Final

from tidegate.errors import Origin
from tidegate.expressions.nodes import TRUE, Expr
from tidegate.expressions.tracing.branch_changes import Namespace
from tidegate.expressions.tracing.call_frames import BranchRaises, Yielded
from tidegate.expressions.tracing.chosen_entries import nothing_like
from tidegate.expressions.tracing.conditional_elements import ChosenElements, Sometimes
from tidegate.expressions.tracing.follow_calls import Yields, call
from tidegate.expressions.tracing.follow_expressions import evaluate
from tidegate.expressions.tracing.follow_statements import run
from tidegate.expressions.tracing.merge import frozen, joined_objects
from tidegate.expressions.tracing.source import followed_place, origin_at
from tidegate.expressions.tracing.tracer import MergeReturns, MergeYields, Tracer
from tidegate.expressions.tracing.value_kinds import is_array, is_dict, is_sequence
from tidegate.quick_dataclass import dataclass

__all__ = ["Trace", "path_condition", "trace"]

_RECURSION_LIMIT: Final = 20_000  # a sum of a thousand terms is a tree a thousand levels deep

_tracer: ContextVar[Tracer | None] = ContextVar("tracer", default=None)


@dataclass(frozen=True, eq=False)
class Trace:
    """What following a function gave.

    Parameters
    ----------
    value : what it returns.
    yields : what it yields, in order, each with its place.
    condition_origins : where each condition in the expressions was written first.
    item_origins : where the entries of the returned list or dict were written, by index or key, if it is written out.
    changed : the user's objects that the function changed, each with what it held at the end; they hold again what they held before.
    ends : the conditions under which it raises an exception, if it may.
    """

    value: Any
    yields: tuple[Yielded, ...]
    condition_origins: Mapping[Expr, Origin]
    item_origins: Mapping[Any, Origin]
    changed: tuple[tuple[Any, Any], ...] = ()
    ends: tuple[Expr, ...] = ()


def trace(
    function: Callable[..., Any],
    arguments: tuple[Any, ...] | list[Any],
    *,
    merge_yields: MergeYields | None = None,
    make_equation: Callable[[Any, Any], Any] | None = None,
    merge_returns: MergeReturns | None = None,
    point: Mapping[Expr, float] | None = None,
    may_raise: bool = False,
) -> Trace:
    """Run a function on symbols.

    Parameters
    ----------
    function : anything callable.
    arguments : its positional arguments: expressions, vectors of them, or anything else.
    merge_yields : joins what the two branches of a symbolic `if` yielded, ``(condition, where_true, where_false) -> list of Yielded``;
        by default they are joined pairwise.
    make_equation : what ``yield left == right`` yields, ``(left, right) -> anything``; by default the condition that they are equal.
    merge_returns : joins what the function itself returns in the two branches of a symbolic `if`, called like ``merge_yields``;
        by default both must have the same structure.
    may_raise : whether `raise` and `assert` under conditions are followed: what is returned is NaN there, what is yielded is not, and the origins of
        these conditions are those of the statements; by default they are errors.
    point : values of the symbols that decide every condition, so that one path is followed, as a plain call would; by default all paths are.

    Raises
    ------
    UntraceableError
        for what cannot be followed, with file, line and what to try.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> def weir(level):
    ...     return level - 1.0 if level > 1.0 else 0.0
    >>> trace(weir, [symbol(Role.UNKNOWN, "level")]).value
    level - 1 if level > 1 else 0
    """
    tracer = Tracer(evaluate, run, call, merge_yields, make_equation, merge_returns, point, ends=[] if may_raise else None)
    token = _tracer.set(tracer)
    joined = joined_objects.set(tracer.join_objects)
    place = followed_place.set(tracer.here)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        with tracer.journal() as journal:
            try:
                result = call(tracer, function, tuple(arguments), {})
                yields = list(result.yielded) if isinstance(result, Yields) else []
                value = frozen(_with_ends(tracer, _checked(tracer, tracer.settled(result.result if isinstance(result, Yields) else result))))
                changed = tuple(entry for entry in journal.capture().values() if not isinstance(entry[0], Namespace))
            finally:
                # symbols must not stay behind in the user's own objects, nor what was done to them in vain
                journal.restore()
        tracer.note(value)
    except BranchRaises:
        raise tracer.error("the function raises an exception whatever comes", "look at its `raise` and `assert`") from None
    except Exception as error:
        located = tracer.located(error)
        if located is error:
            raise
        raise located from (error if not hasattr(error, "origin") else None)
    finally:
        _tracer.reset(token)
        joined_objects.reset(joined)
        followed_place.reset(place)
        if sys.getrecursionlimit() == max(limit, _RECURSION_LIMIT):
            sys.setrecursionlimit(limit)
    return Trace(value, tuple(yields), tracer.condition_origins, _item_origins(tracer), changed, tuple(tracer.ends or ()))


def path_condition() -> Expr:
    """Under which condition the function being traced is where it is now; for functions of a front end that are called from it."""
    tracer = _tracer.get()
    return TRUE if tracer is None else tracer.assumed_since(0)


def _with_ends(tracer: Tracer, value: Any) -> Any:
    """The value, NaN where an exception was raised before it was returned."""
    for condition in (tracer.ends or ()) if value is not None else ():
        value = tracer.merge(condition, nothing_like(tracer, value), value, "the returned value")
    return value


def _checked(tracer: Tracer, value: Any) -> Any:
    """The value, if no part of it was left undefined by branches."""
    tracer.usable(value, "the returned value")
    if isinstance(value, Sometimes | ChosenElements):
        raise value.unknown()
    if is_array(value) and value.dtype == object:
        for item in value.ravel().tolist():
            tracer.usable(item, "an element of the returned array")
    elif is_sequence(value):
        items: Any = value
        for item in items:
            _checked(tracer, item)
    elif is_dict(value):
        entries: Any = value
        for item in entries.values():
            _checked(tracer, item)
    return value


def _item_origins(tracer: Tracer) -> dict[Any, Origin]:
    if tracer.returned is None:
        return {}
    file, node = tracer.returned
    origins: dict[Any, Origin] = {None: origin_at(file, node)}
    if isinstance(node, ast.List | ast.Tuple) and not any(isinstance(item, ast.Starred) for item in node.elts):
        origins.update({at: origin_at(file, item) for at, item in enumerate(node.elts)})
    if isinstance(node, ast.Dict):
        for key, item in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant):
                origins[key.value] = origin_at(file, item)
    return origins
