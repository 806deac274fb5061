"""``ratios[gear]`` where the place is known only during the run (stage: tracing the user's Python).

In: a list, tuple, array or dictionary, and an index that depends on symbols but is surely a whole number: made of ``int``, ``floor``, truth values,
branches between whole numbers, and sums of these. Out: the entry, as branches among the entries; or, to assign, the condition of each place. When the
place changes is an event already, by what the index is made of, so the branches make none of their own. Outside of the container, where Python would
raise an error, the entry is NaN, and the run ends with an error that names the equation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import copy
from enum import Enum
from itertools import product
from typing import Any, Final

import numpy as np

from tidegate.expressions.chosen_texts import is_text, is_unknown_text
from tidegate.expressions.no_event import without_own_event
from tidegate.expressions.nodes import FALSE, TRUE, Expr, as_boolean, as_expr, as_real, lookup, select
from tidegate.expressions.tracing.conditional_elements import ChosenElements, Sometimes, chosen_elements
from tidegate.expressions.tracing.is_and_type import check_entry
from tidegate.expressions.tracing.looked_into import ENTRY, look_into
from tidegate.expressions.tracing.merge import MismatchError, is_scalar, merge
from tidegate.expressions.tracing.tracer import OPAQUE_HINT, Tracer
from tidegate.expressions.tracing.unknown_texts import text_entry
from tidegate.expressions.tracing.value_kinds import is_array, is_dict, is_sequence
from tidegate.expressions.tracing.vector import plain, settled_index, stored
from tidegate.expressions.tracing.whole_numbers import Range, whole_range

__all__ = ["chosen_range", "entry_of", "is_chosen", "is_chosen_slice", "mask_of_slice", "nothing_like", "places_of"]

_MOST_BRANCHES: Final = 256
_LONG: Final = 4  # numbers of which fewer are branches, and more are a table
_LIMIT: Final = "use whole numbers: int(...), math.floor(...), branches between numbers; or u = tg.table(times, values), called with the time"


def is_chosen(index: Any) -> bool:
    """Whether an index is known only during the run."""
    return is_unknown_text(index) or any(isinstance(item, Expr) and not item.is_constant for item in _parts(index))


def _parts(index: Any) -> tuple[Any, ...]:
    return tuple(index) if isinstance(index, tuple) else (index,)  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]


def entry_of(tracer: Tracer, container: Any, index: Any) -> Any:
    """``container[index]``.

    Raises
    ------
    UntraceableError
        For an index that may be no whole number, and for entries that have no common structure.
    """
    look_into(tracer, ENTRY, container, index)
    if is_dict(container) and any(is_text(key) and not isinstance(key, str | Enum) for key in container):
        return container[index]  # new values, by variables
    if is_chosen_slice(index) and (is_sequence(container) or (is_array(container) and container.ndim == 1)):
        mask = mask_of_slice(tracer, index, len(container))
        if is_array(container):
            return ChosenElements(stored(plain(container)), mask, tracer.here())
        return Sometimes(((value, condition) for value, condition in zip(container, mask, strict=True) if condition is not FALSE), tracer.here())
    if is_array(container) and is_array(index):
        chosen = chosen_elements(container, index, tracer.here())
        if chosen is not None:
            return chosen
        index = settled_index(index)
    if not is_chosen(index) or not (is_sequence(container) or is_dict(container) or is_array(container)):
        check_entry(tracer, container, index)
        return container[index]
    if is_unknown_text(index):
        return text_entry(tracer, container, index)
    parts = _parts(index)
    axis = next(k for k, item in enumerate(parts) if is_chosen(item))

    def part(k: int) -> Any:
        return entry_of(tracer, container, (*parts[:axis], k, *parts[axis + 1 :]) if len(parts) > 1 else k)

    return _Choice(tracer, parts[axis], _keys(container, axis), part).entry(parts[axis])


def is_chosen_slice(index: Any) -> bool:
    """Whether the ends of a slice are known only during the run."""
    return isinstance(index, slice) and is_chosen((index.start, index.stop))


def mask_of_slice(tracer: Tracer, index: slice, length: int) -> Any:
    """Conditions of places, that a slice takes each of them."""
    if index.step not in (None, 1):
        raise tracer.error("a slice with a step, whose ends are known only during the run", "write a loop with `if`")
    first, last = (None if end is None else _place_from_end(tracer, end, length) for end in (index.start, index.stop))
    mask = np.empty(length, dtype=object)
    mask[:] = [_lies_between(k, first, last) for k in range(length)]
    return mask


def _place_from_end(tracer: Tracer, end: Any, length: int) -> Expr:
    """The end of a slice, counted from 0."""
    place = as_expr(end)
    limits = whole_range(place)
    if limits is None:
        raise tracer.error(f"the end of a slice, `{place!r}`, may be no whole number", _LIMIT)
    return place if limits[0] >= 0.0 else select(without_own_event(place >= 0), place, place + length)


def _lies_between(k: int, first: Expr | None, last: Expr | None) -> Expr:
    """Whether ``first <= k < last``; when the ends change is an event already."""
    is_behind = TRUE if first is None else without_own_event(as_boolean(first <= k))
    return is_behind & (TRUE if last is None else without_own_event(as_boolean(last > k)))


def chosen_range(tracer: Tracer, ends: slice) -> Sometimes:
    """Whole numbers from one end to the other, which are known only during the run, but not how far apart they can be.

    Raises
    ------
    UntraceableError : an end may be no whole number, or as large as it wants.
    """
    first, last = as_expr(0 if ends.start is None else ends.start), as_expr(ends.stop)
    (low, _), (_, high) = (whole_range(end) or (-math.inf, math.inf) for end in (first, last))
    step = 1 if ends.step is None else ends.step
    if not (math.isfinite(low) and math.isfinite(high)) or isinstance(step, Expr) or step < 1 or (step > 1 and not first.is_constant):
        raise tracer.error(
            f"`range` up to `{last!r}`, which depends on symbols: how often the loop runs would be known only during the run",
            "say how far it may come, range(min(int(n), 10)); or use a plain Python number from outside the function, not a variable or a parameter",
        )
    pairs = ((k, _lies_between(k, None if first.is_constant else first, last)) for k in range(int(low), int(high), step))
    return Sometimes(pairs, tracer.here())


def places_of(tracer: Tracer, container: Any, index: Any) -> dict[Any, Expr]:
    """Every place that the index may mean, and the condition that it does."""
    if not isinstance(index, tuple):
        return _conditions(tracer, index, _keys(container))
    along = [_conditions(tracer, item, _keys(container, axis)) if is_chosen(item) else {item: True} for axis, item in enumerate(_parts(index))]
    return {place: as_boolean(_all(part[k] for part, k in zip(along, place, strict=True))) for place in product(*along)}


def _keys(container: Any, axis: int = 0) -> list[int]:
    """The whole numbers that Python takes as an index, negative ones too."""
    if is_dict(container):
        return sorted(key for key in container if isinstance(key, int))
    length = np.asarray(container).shape[axis] if is_array(container) else len(container)
    return list(range(-length, length))


def _conditions(tracer: Tracer, index: Expr, keys: list[int]) -> dict[int, Expr]:
    limits = whole_range(index)
    if limits is None or limits[0] < keys[0] or limits[1] > keys[-1]:
        raise tracer.error(
            f"the index `{index!r}` of an assignment may lie outside of what there is" if limits else f"the index `{index!r}` may be no whole number",
            f"limit it to what there is, min(max(i, 0), {keys[-1]})" if limits else _LIMIT,
        )
    return {k: as_boolean(_Choice(tracer, index, keys, lambda j, k=k: j == k).entry(index)) for k in keys if limits[0] <= k <= limits[1]}


def _all(conditions: Any) -> Any:
    result: Any = True
    for condition in conditions:
        result = condition if result is True else result & condition
    return result


def _merged(tracer: Tracer, condition: Any, a: Any, b: Any) -> Any:
    try:
        return merge(as_boolean(condition), a, b)
    except MismatchError as mismatch:
        raise tracer.error(f"which entry is taken is known only during the run, and the entries differ: {mismatch}", OPAQUE_HINT) from None


class _Choice:
    """Entries, by whole numbers, and what an expression chooses among them."""

    def __init__(self, tracer: Tracer, index: Expr, keys: list[int], entry_at: Callable[[int], Any]) -> None:
        self._tracer, self._keys, self._entry_at = tracer, keys, entry_at
        self._ranges: dict[Expr, Range | None] = {}
        self._known: dict[Expr, Any] = {}
        if whole_range(index, self._ranges) is None:
            raise tracer.error(f"the index `{index!r}` may be no whole number", _LIMIT)

    def entry(self, index: Expr) -> Any:
        """The entry that the index means; branches of the index are branches of the entry."""
        if index in self._known:
            return self._known[index]
        if index.is_constant and not index.is_boolean:
            found = self._entry_at(int(index.value))
        elif index.is_boolean:
            found = _merged(self._tracer, index, self._entry_at(1), self._entry_at(0))
        elif index.op == "select":
            found = _merged(self._tracer, index.args[0], self.entry(index.args[1]), self.entry(index.args[2]))
        else:
            found = self._by_value(index)
        self._known[index] = found
        return found

    def _by_value(self, index: Expr) -> Any:
        limits = whole_range(index, self._ranges)
        assert limits is not None  # the whole is a whole number, so each branch is
        entries = {k: self._entry_at(k) for k in self._keys if limits[0] <= k <= limits[1]}
        if not entries:
            raise self._tracer.error(f"the index `{index!r}` lies outside of what there is", "count from 0 to the length less one")
        value = self._looked_up(index, entries) if _are_numbers(entries) else self._branches(index, entries)
        if limits[0] < min(entries) or limits[1] > max(entries):
            # for a `try` around it
            self._tracer.may_raise += [(IndexError, self._tracer.here()), (KeyError, self._tracer.here())]
            is_inside = without_own_event((index >= min(entries)) & (index <= max(entries)))
            value = _merged(self._tracer, is_inside, value, nothing_like(self._tracer, value))
        return value

    def _looked_up(self, index: Expr, entries: Mapping[int, Any]) -> Expr:
        first = min(entries)
        return lookup(as_real(index) - first, [float(entries.get(k, math.nan)) for k in range(first, max(entries) + 1)])

    def _branches(self, index: Expr, entries: Mapping[int, Any]) -> Any:
        if len(entries) > _MOST_BRANCHES:
            raise self._tracer.error(f"an index that is known only during the run, among {len(entries)} entries that are no numbers", OPAQUE_HINT)
        first, *others = entries
        value, before = entries[first], first
        for k in others:
            if k - before > 1:
                value = _merged(self._tracer, without_own_event(index > before), nothing_like(self._tracer, value), value)
            value = _merged(self._tracer, without_own_event(index >= k), entries[k], value)
            before = k
        return value


def _are_numbers(entries: Mapping[int, Any]) -> bool:
    return len(entries) > _LONG and all(is_scalar(item) and not isinstance(item, Expr) for item in entries.values())


def nothing_like(tracer: Tracer, value: Any) -> Any:
    """What stands for a value that is not there: the same with numbers that are none."""
    if is_scalar(value):
        return math.nan
    if is_array(value):
        return np.full(value.shape, math.nan)
    if is_sequence(value):
        items: Any = [nothing_like(tracer, item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if is_dict(value):
        return {key: nothing_like(tracer, item) for key, item in value.items()}
    entries = getattr(value, "__dict__", None)
    if is_dict(entries) and not callable(value) and not is_text(value):
        made = copy(value)
        vars(made).update({name: nothing_like(tracer, item) for name, item in entries.items()})
        return made
    raise tracer.error(
        "an index that is known only during the run may lie outside of what there is", "limit it to what there is, min(max(i, 0), length - 1)"
    )
