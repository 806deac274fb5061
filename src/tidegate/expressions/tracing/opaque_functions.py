"""Functions that are called instead of followed (stage: tracing the user's Python).

In: a function marked with ``tg.opaque`` and symbolic arguments. Out: call nodes of the graph, one output for each number it returns. The function
gets its arguments back in the structure the model gave them, as floats and arrays of floats.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Final

import numpy as np

from tidegate.errors import TidegateError, UsageError
from tidegate.expressions.evaluate import evaluate
from tidegate.expressions.node_data import OpaqueFunction
from tidegate.expressions.nodes import Expr, as_real, opaque_call, walk
from tidegate.expressions.tracing.value_kinds import class_of, is_array, is_dict, is_function, is_sequence
from tidegate.expressions.tracing.vector import Vector, is_symbolic
from tidegate.wrong_calls import explained

__all__ = ["Opaque", "opaque", "probe_values"]

# start values of the model that is being traced: what an opaque function is tried with
probe_values: ContextVar[Mapping[Expr, float]] = ContextVar("probe_values")

Rebuild = Callable[[Iterator[Any]], Any]


class Opaque:
    """A function that the model calls as it is; made by ``opaque``."""

    def __init__(self, function: Callable[..., Any], n_outputs: int | None, name: str) -> None:
        self.function = function
        self.n_outputs = n_outputs
        self.name = name
        self._known: dict[Any, tuple[OpaqueFunction, Rebuild, list[Any]]] = {}
        functools.update_wrapper(self, function, updated=())

    def __repr__(self) -> str:
        return f"opaque({self.name})"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's value; its node in the graph where an argument is symbolic."""
        leaves: list[Any] = []
        kept: list[Any] = []
        signature, rebuild = _take_apart([list(args), kwargs], leaves, kept)
        if not is_symbolic(leaves):
            return self.function(*args, **kwargs)
        expressions = [as_real(leaf) for leaf in leaves]
        if signature not in self._known:
            # `kept` lives as long as the entry: the signature names constants by their identity
            self._known[signature] = (*self._prepare(rebuild, expressions), kept)
        function, shape, _ = self._known[signature]
        return shape(iter(opaque_call(function, expressions)))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def _prepare(self, rebuild: Rebuild, expressions: list[Expr]) -> tuple[OpaqueFunction, Rebuild]:
        count, shape = self.n_outputs, _scalar_or_vector(self.n_outputs or 1)
        if count is None:
            count, shape = self._tried(rebuild, expressions)
        name, original = self.name, self.function

        def call(*numbers: float) -> Sequence[float]:
            args, kwargs = rebuild(iter(numbers))
            found: list[Any] = []
            _take_apart(original(*args, **kwargs), found, [], is_result=True)
            if len(found) != count:
                raise UsageError(
                    f"the opaque function {name} returned {len(found)} numbers where {count} were expected",
                    hint="let it return the same number of values every time; or say how many with tg.opaque(f, n_outputs=...)",
                )
            return [float(value) for value in found]

        return OpaqueFunction(call, count, name), shape

    def _tried(self, rebuild: Rebuild, expressions: list[Expr]) -> tuple[int, Rebuild]:
        """How many numbers the function returns, and in which structure, found by calling it once."""
        given = probe_values.get({})
        values = {item: given.get(item, 1.0) for item in walk(expressions) if item.op == "symbol"}
        hint = f"say how many numbers {self.name} returns: tg.opaque({self.name}, n_outputs=...)"
        try:
            args, kwargs = rebuild(iter(evaluate(expressions, values)))
            result = self.function(*args, **kwargs)
        except TidegateError:
            raise
        except Exception as error:
            raise UsageError(f"the opaque function {self.name} failed at the start values with {type(error).__name__}: {error}", hint=hint) from error
        leaves: list[Any] = []
        _, shape = _take_apart(result, leaves, [], is_result=True)
        if not leaves or not all(isinstance(leaf, int | float | np.number | np.bool_) for leaf in leaves):
            raise UsageError(f"the opaque function {self.name} returned {result!r}; a number, a sequence or a dict of numbers is expected", hint=hint)
        return len(leaves), shape


@explained
def opaque(function: Callable[..., Any] | None = None, n_outputs: int | None = None) -> Any:
    """Mark a function that must be called as it is, because it cannot be followed on symbols: compiled code, a data-dependent loop.

    It is called with floats during the run, and its derivatives are taken by finite differences; conditions inside it cannot be found.

    Parameters
    ----------
    function : any callable that returns a number, or a sequence, array or dict of numbers.
    n_outputs : how many numbers it returns; found by calling it once with the start values if not given.

    Returns
    -------
    A function to be used in its place; also usable as a decorator.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> @opaque
    ... def friction(speed):
    ...     while speed > 2.0:
    ...         speed = speed / 2.0
    ...     return 0.1 * speed
    >>> friction(8.0)
    0.2
    >>> friction(symbol(Role.UNKNOWN, "v")).op
    'output'
    """
    if function is None:
        return functools.partial(opaque, n_outputs=n_outputs)
    if not is_function(function):
        raise UsageError(f"tg.opaque was given {function!r}, which cannot be called")
    if n_outputs is not None and (n_outputs < 1 or n_outputs != int(n_outputs)):
        raise UsageError(f"n_outputs is {n_outputs!r}; an integer of at least 1 is expected")
    return Opaque(function, n_outputs, getattr(function, "__name__", type(function).__name__))


def _scalar_or_vector(count: int) -> Rebuild:
    return next if count == 1 else lambda numbers: _array([next(numbers) for _ in range(count)], (count,), None)


def _array(values: list[Any], shape: tuple[int, ...], like: Vector | None) -> Vector:
    flat: Any = np.array(values, dtype=object if any(isinstance(value, Expr) for value in values) else float)
    return Vector(flat.reshape(shape), like.vector_names if like is not None else None)


def _take_apart(value: Any, leaves: list[Any], kept: list[Any], is_result: bool = False) -> tuple[Any, Rebuild]:
    """Collect the numbers of a structure; gives its signature and what builds the same structure of other numbers.

    Arguments that are integers, truth values, texts and the like are no numbers of the model: they are kept as they are.
    """
    is_number = isinstance(value, Expr | float | np.floating)
    if is_number or (is_result and isinstance(value, int | np.integer | np.bool_)):
        leaves.append(value)
        return "number", next
    if is_array(value) and (is_result or value.dtype == object or isinstance(value, Vector)):
        array: Any = np.asarray(value)
        leaves.extend(array.ravel().tolist())
        shape, size, like = array.shape, array.size, value if isinstance(value, Vector) else None
        names = tuple(like.vector_names.places) if like is not None and like.vector_names is not None else ()
        if shape == ():
            return "number", next
        return ("array", shape, names), lambda numbers: _array([next(numbers) for _ in range(size)], shape, like)
    if is_sequence(value):
        items: Any = value
        return _take_sequence(items, leaves, kept, is_result)
    if is_dict(value):
        entries: Any = value
        keys = list(entries)
        inner, rebuild = _take_sequence([entries[key] for key in keys], leaves, kept, is_result)
        return ("dict", tuple(keys), inner), lambda numbers: dict(zip(keys, rebuild(numbers), strict=True))
    kept.append(value)
    if isinstance(value, _BY_VALUE):
        return (type(value).__name__, value), lambda _: value
    return ("object", id(value)), lambda _: value


_BY_VALUE: Final = (int, str, bool, bytes, type(None))


def _take_sequence(items: Any, leaves: list[Any], kept: list[Any], is_result: bool) -> tuple[Any, Rebuild]:
    parts = [_take_apart(item, leaves, kept, is_result) for item in items]
    rebuilds = [rebuild for _, rebuild in parts]
    kind = class_of(items)

    def build(numbers: Iterator[Any]) -> Any:
        values = [rebuild(numbers) for rebuild in rebuilds]
        if kind is list:
            return values
        return kind(*values) if hasattr(kind, "_fields") else tuple(values)

    return (kind.__name__, tuple(signature for signature, _ in parts)), build
