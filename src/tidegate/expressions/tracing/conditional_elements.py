"""Elements each of which is there under a condition: ``[u for u in y if u > 1.0]``, ``y[y > 1.0]`` (stage: tracing the user's Python).

In: values, each with the condition that it is there. Out: what can be said of all of them without knowing how many there are: their sum, number, least
and largest, the first, whether any or all are so; of arrays also what elementwise arithmetic makes of them, to be put back to where they came from.
Where there is none, and Python would raise an error, there is NaN, and the run ends with an error that names the equation.
"""

from __future__ import annotations

import builtins
import math
import operator
import statistics
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self

import numpy as np

from tidegate.errors import Origin, UntraceableError
from tidegate.expressions.nodes import FALSE, TRUE, Expr, as_boolean, as_real, select
from tidegate.expressions.tracing.merge import is_scalar
from tidegate.expressions.tracing.value_kinds import is_array
from tidegate.expressions.tracing.vector import is_symbolic, plain, stored

if TYPE_CHECKING:
    from tidegate.expressions.tracing.tracer import Tracer

__all__ = ["ChosenElements", "FollowedGenerator", "Sometimes", "as_list", "chosen_elements", "pairs_of", "rule_for_conditional"]

Pairs = Iterable[tuple[Any, Expr]]
_HINT: Final = "sum, len, min, max, any, all and next take it; else keep every element and choose its value: `[a if condition else 0.0 for a in ...]`"
_HINT_OF_ARRAYS: Final = (
    "arithmetic, sum, mean, min, max, len, and putting it back to the same places are followed; else np.where(condition, a, b); or mark the function "
    "with tg.opaque"
)


class Sometimes:
    """A list that holds some of its elements under conditions.

    Parameters
    ----------
    pairs : elements with conditions.
    origin : where it was written.
    """

    def __init__(self, pairs: Pairs, origin: Origin) -> None:
        self.pairs = list(pairs)
        self.origin = origin

    def __bool__(self) -> NoReturn:
        raise self.unknown()

    def __len__(self) -> NoReturn:
        raise self.unknown()

    def __iter__(self) -> NoReturn:
        raise self.unknown()

    def __getitem__(self, place: Any) -> NoReturn:
        raise self.unknown()

    def is_any(self) -> Expr:
        """Whether it holds anything."""
        return reduce(operator.or_, (condition for _, condition in self.pairs))

    def unknown(self) -> UntraceableError:
        """What to say where its length is asked for."""
        return _length_is_unknown(next(condition for _, condition in self.pairs if condition is not TRUE), self.origin)


def _length_is_unknown(condition: Expr, origin: Origin | None = None) -> UntraceableError:
    what = f"the comprehension's `if` depends on symbols (`{condition!r}`), so that its length would be known only during the run"
    return UntraceableError(what, origin=origin, hint=_HINT)


class FollowedGenerator(Iterator[Any]):
    """A generator expression: its elements one by one, or each with its condition.

    Parameters
    ----------
    pairs : elements with conditions, found when they are asked for.
    """

    def __init__(self, pairs: Iterator[tuple[Any, Expr]]) -> None:
        self.pairs = pairs

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        value, condition = next(self.pairs)
        if condition is not TRUE:
            raise _length_is_unknown(condition)
        return value


class ChosenElements(np.lib.mixins.NDArrayOperatorsMixin):
    """What a mask chooses of an array.

    Parameters
    ----------
    values : the whole array.
    mask : conditions, of the same shape.
    """

    __hash__ = None  # type: ignore[assignment]  # as of arrays

    def __init__(self, values: Any, mask: Any) -> None:
        self.values, self.mask = values, mask

    @property
    def pairs(self) -> list[tuple[Any, Expr]]:
        """Elements with conditions."""
        return list(zip(self.values.ravel().tolist(), map(as_boolean, self.mask.ravel().tolist()), strict=True))

    def at_places_of(self, mask: Any) -> Any:
        """The whole array, to be taken from where the mask is true.

        Raises
        ------
        UntraceableError : it is another mask than that by which they were chosen.
        """
        if not _is_same(self.mask, mask):
            raise UntraceableError("elements that one mask has chosen are put together with those of another", hint=_HINT_OF_ARRAYS)
        return self.values

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Arithmetic by element."""
        if method != "__call__" or not (options.keys() <= {"out"} and isinstance(options.get("out", (self,))[0], ChosenElements)):
            raise self.unknown()
        whole = [self._fitting(item) for item in inputs]
        if ufunc is np.matmul:
            return total(ChosenElements(stored(whole[0] * whole[1]), self.mask).pairs)
        return ChosenElements(stored(ufunc(*whole)), self.mask)

    def _fitting(self, item: Any) -> Any:
        if isinstance(item, ChosenElements):
            return item.at_places_of(self.mask)
        if np.ndim(item):
            raise UntraceableError("elements that a mask has chosen are put together with an array, element by element", hint=_HINT_OF_ARRAYS)
        return item

    def __array__(self, *_options: Any, **_others: Any) -> NoReturn:
        raise self.unknown()

    def __iter__(self) -> NoReturn:
        raise self.unknown()

    def __len__(self) -> NoReturn:
        raise self.unknown()

    def __bool__(self) -> NoReturn:
        raise self.unknown()

    def __getitem__(self, place: Any) -> NoReturn:
        raise self.unknown()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise self.unknown()

    def unknown(self) -> UntraceableError:
        """What to say where their number is asked for."""
        condition = next((item for item in self.mask.ravel().tolist() if is_symbolic(item)), TRUE)
        return UntraceableError(f"how many elements the mask chooses is known only during the run (`{condition!r}`)", hint=_HINT_OF_ARRAYS)

    @property
    def size(self) -> Expr:
        """How many there are."""
        return number_of(self.pairs)

    def sum(self) -> Any:
        """Of all."""
        return total(self.pairs)

    def mean(self) -> Any:
        """NaN of none."""
        return mean(self.pairs)

    def max(self) -> Any:
        """NaN of none."""
        return _largest(self.pairs)

    def min(self) -> Any:
        """NaN of none."""
        return _least(self.pairs)

    def any(self) -> Expr:
        """Whether one of them is true, or not 0."""
        return _any(self.pairs)

    def all(self) -> Expr:
        """Whether none of them is false, or 0."""
        return _all(self.pairs)


def _is_same(mask: Any, other: Any) -> bool:
    return mask.shape == np.shape(other) and all(a is b for a, b in zip(mask.ravel().tolist(), plain(other).ravel().tolist(), strict=True))


def chosen_elements(array: Any, mask: Any) -> ChosenElements | None:
    """``array[mask]`` with a mask that depends on symbols; None where it is no mask for all elements."""
    if not is_array(mask) or mask.dtype != object or mask.shape != array.shape or not is_symbolic(mask):
        return None
    items = mask.ravel().tolist()
    are_conditions = all(item.is_boolean if isinstance(item, Expr) else isinstance(item, bool | np.bool_) for item in items)
    return ChosenElements(stored(plain(array)), plain(mask)) if are_conditions else None


def pairs_of(values: Any) -> Pairs:
    """Elements of anything with the conditions that they are there."""
    return values.pairs if isinstance(values, Sometimes | FollowedGenerator | ChosenElements) else ((value, TRUE) for value in values)


# -- what can be said of all


def total(pairs: Pairs, start: Any = 0) -> Any:
    """Their sum."""
    for value, condition in pairs:
        if condition is TRUE:
            start = start + value
        elif is_scalar(value):
            start = start + select(condition, as_real(value), 0.0)
        else:
            start = start + np.where(condition, value, 0.0)
    return start


def number_of(pairs: Pairs) -> Expr:
    """How many there are."""
    return reduce(lambda count, pair: count + as_real(pair[1]), pairs, as_real(0.0))


def mean(pairs: Pairs) -> Any:
    """Their mean."""
    known = list(pairs)
    return total(known) / number_of(known)


def _extreme(pairs: Pairs, goes_before: Callable[[Any, Any], Any], otherwise: Any = math.nan) -> Any:
    """The one that no other goes before; ``otherwise`` of none."""
    best, is_any = None, FALSE
    for value, condition in pairs:
        if best is None:
            best, is_any = value, condition
        else:
            # one that is not there is a number as well, and nobody asks for it
            best = select(condition & (~is_any | as_boolean(goes_before(value, best))), as_real(value), as_real(best))
            is_any = is_any | condition
    return otherwise if best is None else select(is_any, as_real(best), as_real(otherwise))


def _least(pairs: Pairs, otherwise: Any = math.nan) -> Any:
    return _extreme(pairs, operator.lt, otherwise)


def _largest(pairs: Pairs, otherwise: Any = math.nan) -> Any:
    return _extreme(pairs, operator.gt, otherwise)


def _any(pairs: Pairs) -> Expr:
    return reduce(lambda found, pair: found | (pair[1] & as_boolean(pair[0])), pairs, FALSE)


def _all(pairs: Pairs) -> Expr:
    return reduce(lambda found, pair: found & (~pair[1] | as_boolean(pair[0])), pairs, TRUE)


# -- calls


def rule_for_conditional(function: Any, args: tuple[Any, ...]) -> Callable[[Tracer, tuple[Any, ...], dict[str, Any]], Any] | None:
    """The rule for a call whose first argument holds elements with conditions, or may."""
    return _RULES.get(function) if args and isinstance(args[0], Sometimes | FollowedGenerator | ChosenElements) else None


def _by(take: Callable[..., Any]) -> Callable[[Tracer, tuple[Any, ...], dict[str, Any]], Any]:
    """What is said of all; ``initial`` is one more, and an axis is the only one there is."""

    def rule(_tracer: Tracer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        first = [(kwargs["initial"], TRUE)] if "initial" in kwargs else []
        others = {name: value for name, value in kwargs.items() if name not in ("axis", "initial")}
        return take([*first, *args[0].pairs], *args[1:], **others)

    return rule


def _best(choose: Callable[..., Any], goes_before: Callable[[Any, Any], Any]) -> Callable[[Tracer, tuple[Any, ...], dict[str, Any]], Any]:
    """``min`` and ``max``, with all that they can be told."""

    def rule(tracer: Tracer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        pairs = list(args[0].pairs)
        if all(condition is TRUE for _, condition in pairs):
            return tracer.call(tracer, choose, ([value for value, _ in pairs],), kwargs)
        if kwargs.get("key") is None:
            return _extreme(pairs, goes_before, kwargs.get("default", math.nan))
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
    found: list[tuple[Any, Expr]] = []
    result: Any = None
    for value, condition in args[0].pairs:
        if condition is TRUE:
            result = value
            break
        found.append((value, condition))
    else:
        if not found and len(args) == 1:
            raise StopIteration
        result = args[1] if len(args) > 1 else math.nan
    for value, condition in reversed(found):
        result = tracer.merge(condition, value, result, "what `next` gives")
    return result


_RULES: Final[dict[Any, Callable[[Tracer, tuple[Any, ...], dict[str, Any]], Any]]] = {
    **dict.fromkeys((builtins.sum, math.fsum, np.sum), _by(total)),
    **dict.fromkeys((builtins.len, np.size), _by(number_of)),
    **dict.fromkeys((np.mean, statistics.mean, statistics.fmean), _by(mean)),
    **dict.fromkeys((np.min, np.amin), _by(_least)),
    **dict.fromkeys((np.max, np.amax), _by(_largest)),
    builtins.min: _best(builtins.min, operator.lt),
    builtins.max: _best(builtins.max, operator.gt),
    np.any: _by(_any),
    np.all: _by(_all),
    builtins.list: _listed,
    builtins.next: _first,
}
