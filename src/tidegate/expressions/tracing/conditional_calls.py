"""Calls of functions on elements that are there under conditions (stage: tracing the user's Python).

In: the call. Out: what ``conditional_elements`` says of them all.
"""

from __future__ import annotations

import builtins
import math
import operator
import statistics
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tidegate.expressions.nodes import TRUE, Expr
from tidegate.expressions.tracing.conditional_elements import (
    FollowedGenerator,
    Pairs,
    Sometimes,
    are_all_true,
    deviation,
    extreme,
    is_any_true,
    is_conditional,
    largest,
    least,
    mean,
    number_of,
    product,
    total,
    variance,
)
from tidegate.expressions.tracing.tracer import Tracer

__all__ = ["as_list", "rule_for_conditional"]

_Rule = Callable[[Tracer, tuple[Any, ...], dict[str, Any]], Any]


def rule_for_conditional(function: Any, args: tuple[Any, ...]) -> _Rule | None:
    """The rule for a call whose first argument holds elements with conditions, or may."""
    return _RULES.get(function) if args and is_conditional(args[0]) else None


def _by(take: Callable[..., Any]) -> _Rule:
    """What is said of all; ``initial`` is one more, and an axis is the only one there is."""

    def rule(_tracer: Tracer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        first = [(kwargs["initial"], TRUE)] if "initial" in kwargs else []
        others = {name: value for name, value in kwargs.items() if name not in ("axis", "initial")}
        return take([*first, *args[0].pairs], *args[1:], **others)

    return rule


def _best(choose: Callable[..., Any], goes_before: Callable[[Any, Any], Any]) -> _Rule:
    """``min`` and ``max``, with all that they can be told."""

    def rule(tracer: Tracer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        pairs = list(args[0].pairs)
        if all(condition is TRUE for _, condition in pairs):
            return tracer.call(tracer, choose, ([value for value, _ in pairs],), kwargs)
        if kwargs.get("key") is None:
            return extreme(pairs, goes_before, kwargs.get("default", math.nan))
        raise tracer.error(f"`{choose.__name__}` with `key` of elements that are there under conditions", "write a loop with `if`")

    return rule


def _listed(tracer: Tracer, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    return as_list(tracer, args[0].pairs)


def as_list(tracer: Tracer, pairs: Pairs) -> list[Any] | Sometimes:
    """A list, if all are there for certain."""
    known = list(pairs)
    return Sometimes(known, tracer.here()) if any(condition is not TRUE for _, condition in known) else [value for value, _ in known]


def _first(tracer: Tracer, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    """``next``: what it gives where there is none is its second argument, or nothing."""
    given: Any = args[0]
    found: list[tuple[Any, Expr]] = []
    result: Any = None
    with tracer.journal() as journal:
        for value, condition in given.pairs:
            if condition is TRUE:
                result = value
                break
            found.append((value, condition))
        else:
            if not found and len(args) == 1:
                raise StopIteration
            result = args[1] if len(args) > 1 else math.nan
    if found and tracer.has_changed_others(journal):
        raise tracer.error("`next` of values that change something else as they are looked at: how far it looks is known in the run", "write a loop")
    if found and isinstance(given, FollowedGenerator):
        given.leave()
    for value, condition in reversed(found):
        result = tracer.merge(condition, value, result, "what `next` gives")
    return result


_RULES: Final[dict[Any, _Rule]] = {
    **dict.fromkeys((builtins.sum, math.fsum, np.sum), _by(total)),
    **dict.fromkeys((builtins.len, np.size), _by(number_of)),
    **dict.fromkeys((np.mean, statistics.mean, statistics.fmean), _by(mean)),
    np.var: _by(variance),
    np.std: _by(deviation),
    **dict.fromkeys((np.prod, math.prod), _by(product)),
    **dict.fromkeys((np.min, np.amin), _by(least)),
    **dict.fromkeys((np.max, np.amax), _by(largest)),
    builtins.min: _best(builtins.min, operator.lt),
    builtins.max: _best(builtins.max, operator.gt),
    np.any: _by(is_any_true),
    np.all: _by(are_all_true),
    builtins.list: _listed,
    builtins.next: _first,
}
