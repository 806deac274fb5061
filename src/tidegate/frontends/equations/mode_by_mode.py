"""Functions that are followed for each text by itself, where that is not possible for all at once (front end of plain functions).

In: a function and its arguments, among them variables that have texts. Out: one trace; what each text gives holds where it is this one. So tables may
have rows of different lengths, lists of exits say: where the text is known, Python itself looks them up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import reduce
from itertools import product
from typing import Any, Final

import numpy as np

from tidegate.errors import UntraceableError
from tidegate.expressions import TRUE, Expr
from tidegate.expressions.chosen_texts import is_unknown_text
from tidegate.expressions.tracing import Trace, Vector, function_origin, trace
from tidegate.expressions.tracing.choices import Choice
from tidegate.expressions.tracing.merge import MismatchError, merge
from tidegate.model import Message, Terminate
from tidegate.model.remarks import collect_remarks
from tidegate.quick_dataclass import dataclass

__all__ = ["followed"]

_MOST_MODES: Final = 64
Merge = Callable[[Expr, Any, Any], Any]
Remarks = list[Message | Terminate]


@dataclass(frozen=True, eq=False)
class _Mode:
    """What a function gives where all texts are known."""

    condition: Expr
    trace: Trace
    said: Remarks


def followed(
    function: Callable[..., Any], arguments: tuple[Any, ...], merged: Merge | None = None, said: Remarks | None = None, *, may_raise: bool = False
) -> Trace:
    """A function followed on symbols, for all texts at once or for each by itself.

    Parameters
    ----------
    merged : joins what it returns in two branches; by default both have the same structure.
    said : collects what it says; None for a function that has nothing to say.
    may_raise : whether it may raise exceptions under conditions, as ``trace`` has it.

    Raises
    ------
    UntraceableError
        for what cannot be followed.
    """
    try:
        one = _mode(TRUE, function, arguments, merged, said, may_raise)
    except UntraceableError:
        found = _mode_by_mode(function, arguments, merged, said, may_raise)
        if found is None:
            raise
        return found
    if said is not None:
        said += one.said
    return one.trace


def _mode_by_mode(
    function: Callable[..., Any], arguments: tuple[Any, ...], merged: Merge | None, said: Remarks | None, may_raise: bool
) -> Trace | None:
    """The same for each text by itself; None where that is not possible either, or no argument has texts."""
    try:
        modes = [_mode(condition, function, known, merged, said, may_raise) for condition, known in _with_known_texts(arguments)]
        if not modes:
            return None
        *others, last = modes
        join = merge if merged is None else merged
        value = reduce(lambda after, mode: join(mode.condition, mode.trace.value, after), reversed(others), last.trace.value)
    except (UntraceableError, MismatchError):
        return None
    place = function_origin(function)
    origins = {part: place for mode in modes for part in (mode.condition, *mode.condition.args)}
    for mode in modes:
        origins |= mode.trace.condition_origins
        if said is not None:
            said += [replace(one, condition=mode.condition & one.condition) for one in mode.said]
    return Trace(value, (), origins, {}, tuple(entry for mode in modes for entry in mode.trace.changed))


def _mode(
    condition: Expr, function: Callable[..., Any], arguments: tuple[Any, ...], merged: Merge | None, said: Remarks | None, may_raise: bool
) -> _Mode:
    with nullcontext(Remarks()) if said is None else collect_remarks() as made:
        return _Mode(condition, trace(function, arguments, merge_returns=merged, may_raise=may_raise), made)


def _with_known_texts(arguments: tuple[Any, ...]) -> Iterator[tuple[Expr, tuple[Any, ...]]]:
    """The arguments with each text that is possible in place of the variables that have texts, and the condition that it is these."""
    choices = [item for argument in arguments for item in _elements(argument) if isinstance(item, Choice) and is_unknown_text(item)]
    if not choices or math.prod(len(choice.texts) for choice in choices) > _MOST_MODES:
        return
    for cases in product(*(choice.cases for choice in choices)):
        texts = {id(choice): text for choice, (_, text) in zip(choices, cases, strict=True)}
        together = TRUE
        for condition, _ in cases:
            together &= condition
        yield together, tuple(_known(argument, texts) for argument in arguments)


def _elements(argument: Any) -> list[Any]:
    return np.asarray(argument).ravel().tolist() if isinstance(argument, Vector) else []


def _known(argument: Any, texts: dict[int, Any]) -> Any:
    if not any(id(item) in texts for item in _elements(argument)):
        return argument
    known = np.asarray(argument).copy()
    for place in np.ndindex(known.shape):
        known[place] = texts.get(id(known[place]), known[place])
    return Vector(known, argument.vector_names)
