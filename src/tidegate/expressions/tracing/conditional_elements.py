"""Elements each of which is there under a condition: ``[u for u in y if u > 1.0]``, ``y[y > 1.0]`` (stage: tracing the user's Python).

In: values, each with the condition that it is there. Out: what can be said of all of them without knowing how many there are: their sum, number,
least and largest, the first, whether any or all are so; of arrays also what elementwise arithmetic makes of them, to be put back to where they came
from. Where there is none, and Python would raise an error, there is NaN, and the run ends with an error that names the equation.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import repeat
from typing import Any, Final, NoReturn, Self, TypeGuard

import numpy as np

from tidegate.errors import Origin, UnknownNameError, UntraceableError
from tidegate.expressions.elementary import SUBSTITUTES
from tidegate.expressions.nodes import FALSE, TRUE, Expr, as_boolean, as_real, select
from tidegate.expressions.tracing.merge import is_scalar
from tidegate.expressions.tracing.value_kinds import is_array
from tidegate.expressions.tracing.vector import is_symbolic, plain, stored

__all__ = [
    "ChosenElements",
    "FollowedGenerator",
    "Pairs",
    "Sometimes",
    "are_all_true",
    "chosen_elements",
    "deviation",
    "extreme",
    "is_any_true",
    "is_conditional",
    "largest",
    "least",
    "length_is_unknown",
    "mean",
    "number_of",
    "pairs_of",
    "product",
    "total",
    "variance",
]

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

    def joined_under(self, condition: Expr, other: Any) -> Any:
        """Itself where the condition holds, else the other; None if that is no list."""
        if not isinstance(other, Sometimes | list):
            return None
        here = [(value, condition & is_there) for value, is_there in self.pairs]
        return Sometimes([*here, *((value, ~condition & is_there) for value, is_there in pairs_of(other))], self.origin)

    def is_any(self) -> Expr:
        """Whether it holds anything."""
        return is_any_true((TRUE, condition) for _, condition in self.pairs)

    def unknown(self) -> UntraceableError:
        """What to say where its length is asked for."""
        return length_is_unknown(next(condition for _, condition in self.pairs if condition is not TRUE), self.origin)


def length_is_unknown(condition: Expr, origin: Origin | None = None, hint: str = _HINT) -> UntraceableError:
    """What to say where the length of a comprehension is asked for."""
    what = f"the comprehension's `if` depends on symbols (`{condition!r}`), so that its length would be known only during the run"
    return UntraceableError(what, origin=origin, hint=hint)


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
            raise length_is_unknown(condition)
        return value

    def leave(self) -> None:
        """It was looked at up to something that is there under a condition: nobody knows how far."""

        def unknown() -> Iterator[tuple[Any, Expr]]:
            raise UntraceableError(
                "a generator is used again after `next`, `any` or `all` has looked for something in it that is known only during the run",
                hint="make a list of it first, and use its elements",
            )
            yield

        self.pairs = unknown()


class ChosenElements(np.lib.mixins.NDArrayOperatorsMixin):
    """What a mask chooses of an array.

    Parameters
    ----------
    values : the whole array.
    mask : conditions, of the same shape.
    origin : where it was written.
    """

    __hash__ = None  # type: ignore[assignment]  # as of arrays

    def __init__(self, values: Any, mask: Any, origin: Origin) -> None:
        self.values, self.mask, self.origin = values, mask, origin

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

    def joined_under(self, condition: Expr, other: Any) -> Any:
        """Itself where the condition holds, else the other; None if that is not of an array of the same shape."""
        if not isinstance(other, ChosenElements) or other.mask.shape != self.mask.shape:
            return None
        values = stored(SUBSTITUTES[np.where](condition, plain(self.values), plain(other.values)))
        mask = np.empty(self.mask.shape, dtype=object)
        for place in np.ndindex(mask.shape):
            mask[place] = (condition & as_boolean(self.mask[place])) | (~condition & as_boolean(other.mask[place]))
        return ChosenElements(values, mask, self.origin)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Arithmetic by element."""
        if method != "__call__" or not (options.keys() <= {"out"} and isinstance(options.get("out", (self,))[0], ChosenElements)):
            raise self.unknown()
        whole = [self._fitting(item) for item in inputs]
        if ufunc is np.matmul:
            return total(ChosenElements(stored(whole[0] * whole[1]), self.mask, self.origin).pairs)
        return ChosenElements(stored(ufunc(*whole)), self.mask, self.origin)

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
        error = self.unknown()
        raise UnknownNameError(error.message, origin=error.origin, hint=error.hint)

    def unknown(self) -> UntraceableError:
        """What to say where their number is asked for."""
        condition = next((item for item in self.mask.ravel().tolist() if is_symbolic(item)), TRUE)
        return UntraceableError(
            f"how many elements the mask chooses is known only during the run (`{condition!r}`)", origin=self.origin, hint=_HINT_OF_ARRAYS
        )

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

    def var(self, ddof: int = 0) -> Any:
        """NaN of none."""
        return variance(self.pairs, ddof=ddof)

    def std(self, ddof: int = 0) -> Any:
        """NaN of none."""
        return deviation(self.pairs, ddof=ddof)

    def prod(self) -> Any:
        """Of all."""
        return product(self.pairs)

    def max(self) -> Any:
        """NaN of none."""
        return largest(self.pairs)

    def min(self) -> Any:
        """NaN of none."""
        return least(self.pairs)

    def any(self) -> Expr:
        """Whether one of them is true, or not 0."""
        return is_any_true(self.pairs)

    def all(self) -> Expr:
        """Whether none of them is false, or 0."""
        return are_all_true(self.pairs)


def _is_same(mask: Any, other: Any) -> bool:
    return mask.shape == np.shape(other) and all(a is b for a, b in zip(mask.ravel().tolist(), plain(other).ravel().tolist(), strict=True))


def chosen_elements(array: Any, mask: Any, origin: Origin) -> ChosenElements | None:
    """``array[mask]`` with a mask that depends on symbols; None where it is no mask for all elements."""
    if not is_array(mask) or mask.dtype != object or mask.shape != array.shape or not is_symbolic(mask):
        return None
    items = mask.ravel().tolist()
    are_conditions = all(item.is_boolean if isinstance(item, Expr) else isinstance(item, bool | np.bool_) for item in items)
    return ChosenElements(stored(plain(array)), plain(mask), origin) if are_conditions else None


_CONDITIONAL: Final = (Sometimes, FollowedGenerator, ChosenElements)


def is_conditional(value: Any) -> TypeGuard[Sometimes | FollowedGenerator | ChosenElements]:
    """Whether a value holds elements with conditions, or may when it is looked at."""
    return isinstance(value, _CONDITIONAL)


def pairs_of(values: Any) -> Pairs:
    """Elements of anything with the conditions that they are there."""
    return values.pairs if is_conditional(values) else zip(values, repeat(TRUE), strict=False)


# -- what can be said of all


def total(pairs: Pairs, start: Any = 0) -> Any:
    """Their sum."""
    result: Any = start
    for value, condition in pairs:
        result = result + (value if condition is TRUE else _or_zero(condition, value))
    return result


def _or_zero(condition: Expr, value: Any) -> Any:
    if is_scalar(value):
        return select(condition, as_real(value), 0.0)
    if not is_array(value):
        raise UntraceableError("a sum of elements that are there under conditions, and are no numbers", hint="write a loop with `if`")
    return stored(SUBSTITUTES[np.where](condition, plain(value), 0.0))


def number_of(pairs: Pairs) -> Expr:
    """How many there are."""
    return reduce(lambda count, pair: count + as_real(pair[1]), pairs, as_real(0.0))


def mean(pairs: Pairs) -> Any:
    """Their mean."""
    known = list(pairs)
    return total(known) / number_of(known)


def variance(pairs: Pairs, *, ddof: int = 0) -> Any:
    """The mean square of how far they are from their mean."""
    known = list(pairs)
    middle = mean(known)
    return total(((value - middle) ** 2.0, condition) for value, condition in known) / (number_of(known) - float(ddof))


def deviation(pairs: Pairs, *, ddof: int = 0) -> Any:
    """Its root."""
    return variance(pairs, ddof=ddof) ** 0.5


def product(pairs: Pairs) -> Any:
    """All of them, multiplied."""
    return reduce(lambda found, pair: found * select(pair[1], as_real(pair[0]), 1.0), pairs, as_real(1.0))


def extreme(pairs: Pairs, goes_before: Callable[[Any, Any], Any], otherwise: Any = math.nan) -> Any:
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


def least(pairs: Pairs, otherwise: Any = math.nan) -> Any:
    """Of numbers."""
    return extreme(pairs, operator.lt, otherwise)


def largest(pairs: Pairs, otherwise: Any = math.nan) -> Any:
    """Of numbers."""
    return extreme(pairs, operator.gt, otherwise)


def is_any_true(pairs: Pairs) -> Expr:
    """Whether one of them is true, or not 0."""
    return reduce(lambda found, pair: found | (pair[1] & as_boolean(pair[0])), pairs, FALSE)


def are_all_true(pairs: Pairs) -> Expr:
    """Whether none of them is false, or 0."""
    return reduce(lambda found, pair: found & (~pair[1] | as_boolean(pair[0])), pairs, TRUE)
