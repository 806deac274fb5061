"""A traced function against plain calls of it (stage: tracing the user's Python).

In: what following a function gave, and the function called with numbers. Out: nothing, or the first point where they differ. The points are the
start, points near it and farther away, and points on either side of the relations in the graph, so that different branches are taken. They are
the same every time. What a function answers twice at one point must be the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.expressions.evaluate import evaluate, evaluate_order
from tidegate.expressions.evaluate_rows import columns_of
from tidegate.expressions.likeness import differ_in_numbers_only
from tidegate.expressions.node_data import Role
from tidegate.expressions.nodes import Expr, as_expr, decide, walk
from tidegate.expressions.rounding import roundings
from tidegate.expressions.tracing.choices import Choice, item_of
from tidegate.expressions.tracing.plain_numbers import PlainNumber, Truth
from tidegate.expressions.tracing.value_kinds import is_array, is_dict, is_mapping, is_sequence
from tidegate.expressions.tracing.vector import Vector
from tidegate.quick_dataclass import dataclass

__all__ = ["MOST_POINTS", "PathDifference", "at_start", "compare", "numbers_of", "numeric", "points_after"]

FloatArray = NDArray[np.float64]
Point = dict[Expr, float]
Plain = Callable[[Point], Any]
Order = Callable[[list[float]], list[float]]

_SEED: Final = 20240229
MOST_POINTS: Final = 32  # calls of the user's function
_AGAIN: Final = 2  # of a function whose graph differs in numbers only from the one that was compared before
_WORK: Final = 20_000  # nodes times points: a larger graph is compared at fewer points
_FEWEST_POINTS: Final = 4
_MOST_RELATIONS: Final = 16  # that are looked for on their other side
_MOST_SYMBOLS: Final = 4  # of one relation that are moved to get there
_TOGETHER: Final = 4  # points where several relations are on their other side
_AGREEMENT: Final = 1e-6  # relative: above what constants cancelled in the graph but not in the call leave, far below what a wrong branch gives
_ROUNDING: Final = 1e-12  # of the largest value at a point: what differences of them leave
_NEAR: Final = 1e-11  # relative distance of points that tell how well a value is determined
_ROUNDINGS: Final = 16.0  # of a function's own: it may have more of them than its graph
_AMPLIFIED: Final = 1e3  # of the spread at these points: how far rounding in another order may lead


@dataclass(frozen=True, eq=False)
class PathDifference:
    """Where a function and its graph differ.

    Parameters
    ----------
    at : the point.
    followed, plain : the two values; for a function that gives two answers both are its own.
    is_own : whether the function differs from itself.
    """

    at: Point
    followed: Any
    plain: Any
    is_own: bool = False


# -- the same structure in numbers


def numeric(given: Any, point: Point) -> Any:
    """Arguments of a function with the value of every symbol in place of it."""
    values: Any = given
    if isinstance(values, Expr):
        (number,) = evaluate([values], point)
        return Truth(number != 0.0) if values.is_boolean else PlainNumber(number)
    if isinstance(values, Choice):
        return values.at(evaluate([values.item], point)[0])
    if is_array(values) and values.dtype == object:
        array: Any = values
        held = _all_numeric(array.ravel().tolist(), point)
        whole: Any = Vector(held, getattr(array, "vector_names", None))
        shape = np.asarray(array).shape
        return whole if len(shape) == 1 else Vector(whole.reshape(shape))
    if is_sequence(values) and not hasattr(values, "_fields"):
        items: Any = values
        return type(items)(numeric(item, point) for item in items)
    return given


def _all_numeric(items: list[Any], point: Point) -> list[Any]:
    """The same for many, expressions all at once."""
    expressions = [item for item in items if isinstance(item, Expr)]
    numbers = iter(evaluate(expressions, point))
    held = [next(numbers) if isinstance(item, Expr) else numeric(item, point) for item in items]

    def plain(item: Any, number: Any) -> Any:
        return (Truth(number != 0.0) if item.is_boolean else PlainNumber(number)) if isinstance(item, Expr) else number

    return [plain(item, number) for item, number in zip(items, held, strict=True)]


def at_start(arguments: Any, start: Mapping[Expr, float]) -> Point:
    """Start values of the symbols in the arguments of a function; one that has none is 1, and the time 0."""
    return {item: start.get(item, float(item.data.role is not Role.TIME)) for item in walk(_expressions(arguments)) if item.op == "symbol"}


def _expressions(values: Any) -> list[Expr]:
    if isinstance(values, Expr | Choice):
        return [item_of(values)]
    if is_array(values) and values.dtype == object:
        values = values.ravel().tolist()
    if is_sequence(values):
        items: Any = values
        return [found for item in items for found in _expressions(item)]
    return []


def numbers_of(value: Any, like: Any = None) -> list[Any] | None:
    """All numbers and expressions in a returned structure, in order; None where something else is in it.

    Parameters
    ----------
    like : a structure whose order of names is taken.
    """
    if is_array(value):
        array: Any = value
        return numbers_of(array.ravel().tolist())
    if is_mapping(value):
        names = list(like) if is_dict(like) and set(like) == set(value) else list(value)
        return _joined([numbers_of(value[name]) for name in names])
    if is_sequence(value):
        items: Any = value
        return _joined([numbers_of(item) for item in items])
    if value is None:
        return []
    return [value] if isinstance(value, Expr | int | float | np.number | np.bool_) else None


def _joined(parts: list[list[Any] | None]) -> list[Any] | None:
    whole: list[Any] = []
    for part in parts:
        if part is None:
            return None
        whole += part
    return whole


# -- points


class _Graph:
    """Expressions evaluated at many points at once."""

    def __init__(self, roots: Sequence[Expr]) -> None:
        self.roots = list(roots)
        self.order = list(walk(self.roots))
        self.is_called = any(item.op == "call" for item in self.order)

    def at(self, point: Point) -> list[float]:
        """The expressions at one point."""
        found = evaluate_order(self.order, point)
        return [found[root] for root in self.roots]

    def relations(self) -> list[Expr]:
        """What decides: the quantities whose sign is asked for, once each."""
        return list(dict.fromkeys(item.args[0] for item in self.order if item.op in ("ge", "gt", "nonzero")))

    def compared_with(self) -> dict[Expr, list[float]]:
        """Numbers that symbols are asked to be equal to, and one that they are not."""
        found: dict[Expr, list[float]] = {}
        for item in self.order:
            symbol, number = _equality(item)
            if symbol is not None and number not in found.setdefault(symbol, []):
                found[symbol].append(number)
        return {symbol: [*numbers, max(numbers) + 1.0] for symbol, numbers in found.items()}

    def values(self, points: Sequence[Point]) -> dict[Expr, FloatArray]:
        """Every node at every point; a symbol that no point has is 0."""
        symbols = [item for item in self.order if item.op == "symbol"]
        return columns_of(self.order, {item: np.array([point.get(item, 0.0) for point in points]) for item in symbols}, len(points))


def _equality(item: Expr) -> tuple[Expr | None, float]:
    """The symbol and the number of ``symbol == number``, which is ``symbol <= number and symbol >= number``."""
    if item.op != "and" or any(part.op != "ge" for part in item.args):
        return None, 0.0
    a, b = (part.args[0] for part in item.args)
    for one, other in ((a, b), (b, a)):
        if one.op == "symbol" and other.op == "neg" and other.args[0] is one:
            return one, 0.0
    if a.op == b.op == "sub" and a.args[0] is b.args[1] and a.args[1] is b.args[0]:
        for one, other in (a.args, b.args):
            if one.op == "symbol" and other.is_constant:
                return one, float(other.value)
    return None, 0.0


def _points_around(graph: _Graph, start: Point, most: int) -> list[Point]:
    """The start, and points around it where the relations of a graph are on one side and on the other."""
    if graph.is_called:
        return _scattered(start, min(most, 3))
    count = min(most, max(_FEWEST_POINTS, _WORK // max(len(graph.order), 1)))
    points = _scattered(start, min(count, max(2 * count // 5, _FEWEST_POINTS)))
    for _ in range(2):
        if len(points) >= count or count <= _FEWEST_POINTS:
            break
        points += _other_sides(graph, points)[: count - len(points)]
    return points[:count]


def _scattered(start: Point, count: int) -> list[Point]:
    values = np.array(list(start.values()), dtype=float)
    sizes = np.where(values == 0.0, 1.0, np.abs(values))
    found = [dict(start)]
    noises = _noise(max(count - 1, 0), values.size)
    for k in range(1, count):
        noise: FloatArray = noises[k - 1]
        if k % 4 == 1:
            moved = values + 0.01 * sizes * noise
        elif k % 4 == 2:
            moved = np.where(values == 0.0, noise, values * np.exp(noise))  # the signs stay, as logarithms and roots want it
        else:
            moved = values + (sizes + 1.0) * noise * (1.0 if k % 4 == 3 else 3.0)
        found.append(dict(zip(start, moved.tolist(), strict=True)))
    return found


@lru_cache(maxsize=64)
def _noise(count: int, size: int) -> FloatArray:
    """The same for every function."""
    return np.random.default_rng(_SEED).standard_normal((count, size))


def _other_sides(graph: _Graph, points: list[Point]) -> list[Point]:
    """For every relation that has one sign at all points, a point where it has the other, if moving one symbol leads there."""
    found = graph.values(points)
    one_sided = [g for g in graph.relations() if _has_one_side(found[g])][:_MOST_RELATIONS]
    tries: list[tuple[Expr, int, Expr, float]] = []
    for g in one_sided:
        symbols = [item for item in walk([g]) if item.op == "symbol" and item in points[0]][:_MOST_SYMBOLS]
        bases = [k for k in range(len(points)) if math.isfinite(found[g][k])]
        for k in dict.fromkeys((*bases[:1], *bases[len(bases) // 2 :][:1], *bases[-1:])):
            tries += [(g, k, item, 1e-4 * max(abs(points[k][item]), 1e-3)) for item in symbols]
    if not tries:
        return []
    beside = graph.values([{**points[k], item: points[k][item] + step} for _, k, item, step in tries])
    moved: list[Point] = []
    of: list[tuple[Expr, float, Expr]] = []
    for at, (g, k, item, step) in enumerate(tries):
        here, slope = found[g][k], (beside[g][at] - found[g][k]) / step
        if slope != 0.0 and math.isfinite(slope):
            away = here / slope if here != 0.0 else step / slope
            moved.append({**points[k], item: points[k][item] - 1.5 * away})
            of.append((g, here, item))
    new: dict[Expr, Point] = {}
    moves: dict[Expr, float] = {}
    after = graph.values(moved) if moved else {}
    for at, (g, here, item) in enumerate(of):
        if g not in new and after[g][at] * (here or -1.0) < 0.0:
            new[g] = moved[at]
            moves[item] = moved[at][item]
    # a branch inside a branch needs several of them on their other side
    rng = np.random.default_rng(_SEED)
    together = [{**points[0], **{item: value for item, value in moves.items() if k == 0 or rng.random() < 0.6}} for k in range(_TOGETHER)]
    return [*new.values(), *(together if len(moves) > 1 else [])]


def _has_one_side(values: FloatArray) -> bool:
    known = values[np.isfinite(values)]
    return bool(known.size) and (bool(np.all(known > 0)) or bool(np.all(known < 0)) or bool(np.all(known == 0)))


# -- the comparison


def points_after(before: Sequence[Expr] | None, now: Sequence[Expr]) -> int:
    """At how many points a function is to be compared that had another graph when it was compared before; None if it was not."""
    return MOST_POINTS if before is None or not differ_in_numbers_only(before, now) else _AGAIN


def compare(
    followed: Any,
    plain: Plain,
    start: Mapping[Expr, float],
    most: int = MOST_POINTS,
    order: Order | None = None,
    among: Mapping[Expr, Sequence[float]] | None = None,
) -> PathDifference | None:
    """The first point where a function does not give what its graph gives, or where it gives two answers.

    An exception of the plain call, and a value that rounding alone decides, say nothing.

    Parameters
    ----------
    followed : what following it returned: expressions in any structure.
    plain : the function called at a point.
    start : values of all symbols it may depend on.
    most : how many points at most.
    order : makes numbers comparable that may come in another order.
    among : the values of symbols that have only some.
    """
    parts = numbers_of(followed)
    if parts is None or not _are_numbers(parts):
        return None
    graph = _Graph([as_expr(item) for item in parts])
    pair = _Pair(graph, plain, followed, order or list, among or {}, graph.compared_with())
    beginning = dict(start)
    is_called = pair.graph.is_called
    if is_called and _differ(pair.followed(beginning), pair.followed(beginning)):
        return None
    for at, point in enumerate(_allowed(_points_around(pair.graph, beginning, most), pair)):
        found = pair.called(point)
        if found is None:
            continue
        again = pair.called(point) if at == 0 and not is_called else found
        if again is not None and _differ(found, again):
            return PathDifference(point, found, again, is_own=True)
        mine = pair.followed(point)
        if mine is not None and _is_wrong(pair, point, mine, found):
            return PathDifference(point, mine, found)
    return None


def _allowed(points: list[Point], pair: _Pair) -> list[Point]:
    """The start, and other points with one of its values for every symbol that has only some; at each second, that is asked to be equal to some."""
    rng = np.random.default_rng(_SEED)
    found = points[:1]
    for at, point in enumerate(points[1:], start=1):
        wanted = {**pair.compared_with, **pair.among} if at % 2 else pair.among
        found.append({**point, **{item: float(rng.choice(values)) for item, values in wanted.items() if item in point}})
    return found


def _are_numbers(parts: list[Any]) -> bool:
    return all(isinstance(item, Expr | int | float | np.number | np.bool_) and not isinstance(item, complex | np.complexfloating) for item in parts)


@dataclass(frozen=True, eq=False)
class _Pair:
    """A function's graph, and the function."""

    graph: _Graph
    plain: Plain
    like: Any
    order: Order
    among: Mapping[Expr, Sequence[float]]
    compared_with: Mapping[Expr, Sequence[float]]

    def keeps(self, item: Expr, value: float) -> bool:
        """Whether a symbol has this value exactly, so that values beside it say nothing of it."""
        return item in self.among or value in self.compared_with.get(item, ())

    def followed(self, point: Point) -> list[float] | None:
        """What the graph gives; None where an opaque function of the user in it does not like the point."""
        try:
            return self.order(self.graph.at(point))
        except Exception:  # noqa: BLE001 - whatever the user's function raises
            return None

    def called(self, point: Point) -> list[float] | None:
        """What the function gives; None where it raises an exception or gives no real numbers."""

        def answer(condition: Expr) -> bool:
            return evaluate([condition], point)[0] != 0.0

        token = decide.set(answer)
        try:
            with np.errstate(all="ignore"):
                parts = numbers_of(self.plain(point), self.like)
            if parts is None or not _are_numbers(parts):
                return None
            return self.order([evaluate([item], point)[0] if isinstance(item, Expr) else float(item) for item in parts])
        except Exception:  # noqa: BLE001 - at odd points the user's function may raise anything
            return None
        finally:
            decide.reset(token)


def _differ(first: list[float] | None, second: list[float] | None) -> bool:
    if first is None or second is None:
        return first is not second
    return first != second and (len(first) != len(second) or not np.array_equal(np.array(first), np.array(second), equal_nan=True))


def _is_wrong(pair: _Pair, point: Point, mine: list[float], found: list[float]) -> bool:
    if mine == found:
        return False
    if len(mine) != len(found):
        return True
    a, b = np.array(mine), np.array(found)
    with np.errstate(all="ignore"):
        largest = max((abs(x) for x in (*mine, *found, *point.values()) if math.isfinite(x)), default=0.0)
        close = np.abs(a - b) <= _AGREEMENT * np.maximum(np.abs(a), np.abs(b)) + _ROUNDING * largest
        apart = ~((a == b) | (np.isnan(a) & np.isnan(b)) | close)
        # where the plain call is not finite it shows no branch
        apart &= np.isfinite(b)
    if not np.any(apart):
        return False
    with np.errstate(all="ignore"):
        apart &= ~(np.abs(a - b) <= _AMPLIFIED * _spread(pair, point, a))
        return bool(np.any(apart)) and bool(np.any(apart & ~(np.abs(a - b) <= _ROUNDINGS * _rounding(pair, point))))


def _rounding(pair: _Pair, point: Point) -> FloatArray:
    """How far the graph's values may be from exact ones, as a difference of large numbers is that moving symbols by a little leaves as it is."""
    symbols = [item for item in pair.graph.order if item.op == "symbol"]
    bounds = np.array(evaluate(roundings(pair.graph.roots, symbols), point))
    return bounds if pair.order is list else np.full(bounds.size, np.max(bounds, initial=0.0))


def _spread(pair: _Pair, point: Point, here: FloatArray) -> FloatArray:
    """How far values move when every symbol moves by little more than rounding; infinite where a condition is about to change."""
    rng = np.random.default_rng(_SEED)
    widest = np.zeros(here.size)
    for _ in range(4):
        moved = {
            item: value if pair.keeps(item, value) else value + _NEAR * (abs(value) or 1.0) * float(rng.uniform(-1, 1))
            for item, value in point.items()
        }
        values = np.array(pair.followed(moved) or [math.inf] * here.size)
        with np.errstate(all="ignore"):
            far = np.where(np.isfinite(values) | ~np.isfinite(here), np.abs(values - here), math.inf)
        widest = np.fmax(widest, far)
    return widest
