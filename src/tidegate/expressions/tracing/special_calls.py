"""Builtin and numpy functions that need a rule of their own on symbols (stage: tracing the user's Python).

In: the tracer and the arguments of a call. Out: what the function would return. All other functions are called as they are.
"""

from __future__ import annotations

import builtins
import math
import time
from collections.abc import Callable, Hashable, Iterator
from enum import EnumType
from functools import partial, reduce
from typing import Any, Final

import numpy as np

from tidegate.expressions.elementary import SUBSTITUTES
from tidegate.expressions.nodes import FALSE, TRUE, Expr, as_boolean, as_real, walk
from tidegate.expressions.scipy_functions import is_sparse, product_with_sparse, rule_of_scipy
from tidegate.expressions.substitute import substitute
from tidegate.expressions.tracing.array_types import kind_of
from tidegate.expressions.tracing.attributes import attribute, note_absence, set_attribute
from tidegate.expressions.tracing.branch_changes import EMPTY
from tidegate.expressions.tracing.chosen_entries import chosen_range
from tidegate.expressions.tracing.conditional_calls import rule_for_conditional
from tidegate.expressions.tracing.conditional_elements import FollowedGenerator, pairs_of
from tidegate.expressions.tracing.interpolators import interpolated, is_interpolator
from tidegate.expressions.tracing.is_and_type import IDENTITY_RULES
from tidegate.expressions.tracing.looked_into import note_kind
from tidegate.expressions.tracing.merge import describe, filled, is_scalar, is_there
from tidegate.expressions.tracing.reads import note_read
from tidegate.expressions.tracing.tracer import OPAQUE_HINT, Tracer
from tidegate.expressions.tracing.value_kinds import is_array, is_sequence
from tidegate.expressions.tracing.vector import Vector, is_symbolic, plain, stored, substituted
from tidegate.expressions.tracing.whole_numbers import whole_part, whole_range

__all__ = ["Rule", "as_vectors", "rule_for"]

_MOST_SORTED: Final = 30  # each with each other: 435 conditions
Rule = Callable[[Tracer, tuple[Any, ...], dict[str, Any]], Any]


def rule_for(given: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Rule | None:
    """The rule for a call, if it needs one."""
    function: Any = given
    try:
        hash(function)
    except Exception:  # noqa: BLE001 - a class of the user may do anything there; what has rules is hashable
        return None
    conditional = rule_for_conditional(function, args)
    if conditional is not None:
        return conditional
    if function in _RULES:
        return _RULES[function]
    if function in _MAKERS:
        return lambda tracer, args, kwargs: _made_array(tracer, function, args, kwargs)
    if getattr(function, "__name__", "") == "sort" and isinstance(getattr(function, "__self__", None), list) and is_symbolic(function.__self__):
        return partial(_sort_in_place, function.__self__)
    # a literal too, as `t - t` is one: NumPy does not know it
    has_expressions = any(isinstance(value, Expr) for value in args) or is_symbolic(args, kwargs)
    if function in SUBSTITUTES and has_expressions and not {"out", "where", "keepdims", "initial", "dtype"} & set(kwargs):
        return lambda _, args, kwargs: substituted(function, args, kwargs)
    if has_expressions and (rule := rule_of_scipy(function)) is not None:
        return lambda _, args, kwargs: stored(rule(*map(plain, args), **kwargs))
    if getattr(function, "__name__", "") in ("dot", "__matmul__") and len(args) > 1 and is_sparse(args[0]) and has_expressions:
        return lambda _, args, __: stored(product_with_sparse(args[0], plain(args[1])))
    if is_interpolator(function) and is_symbolic(args):
        return lambda _, args, kwargs: stored(interpolated(function, *map(plain, args), **kwargs))
    if isinstance(function, type) and issubclass(function, np.floating) and is_symbolic(args):
        return _float
    if isinstance(function, EnumType) and len(args) == 1 and is_symbolic(*args):
        return partial(_member, function)
    return None


def _member(kind: Any, tracer: Tracer, args: tuple[Any, ...], _: dict[str, Any]) -> Any:
    """The member of an enumeration with a value that is one of some numbers, as ``Phase((phase + 1) % 3)`` is."""
    (value,) = args
    if isinstance(value, Expr) and value.is_constant:
        return kind(value.value)
    choices = [item for item in walk([value]) if item.op == "select"] if isinstance(value, Expr) else []
    if choices:
        condition, *sides = choices[-1].args
        first, second = (_member(kind, tracer, (substitute([value], {choices[-1]: side})[0],), {}) for side in sides)
        return tracer.merge(condition, first, second, f"the member of {kind.__name__}")
    raise tracer.error(
        f"which member of {kind.__name__} has the value `{value!r}` is known only during the run",
        f"let the variable start with a member, as {kind.__name__}.{kind._member_names_[0]}: then its values are members",
    )


def as_vectors(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments for numpy: lists and arrays with expressions in them as vectors, which numpy hands over to their rules."""
    return tuple(_as_vector(value) for value in values)


def _as_vector(value: Any) -> Any:
    if is_array(value):
        return stored(value) if value.dtype == object else value  # pyright: ignore[reportUnknownVariableType]
    if not is_sequence(value) or not is_symbolic(value):
        return value  # pyright: ignore[reportUnknownVariableType]
    try:
        array = np.array(value, dtype=object)
    except ValueError:
        return value  # pyright: ignore[reportUnknownVariableType]
    return Vector(array) if all(is_scalar(item) for item in array.ravel().tolist()) else value  # pyright: ignore[reportUnknownVariableType]


def _extreme(name: str, function: Callable[..., Any], choose: Callable[[Any, Any], Any]) -> Rule:
    """``min`` and ``max``: of numbers by a rule; of what has a key, or is a row of numbers, the first that no other goes before."""

    def rule(tracer: Tracer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        values = list(args[0]) if len(args) == 1 else list(args)
        key = kwargs.get("key")
        keys = values if key is None else [tracer.call(tracer, key, (value,), {}) for value in values]
        if not is_symbolic(keys):
            return function(values, **kwargs) if key is None or not values else values[keys.index(function(keys))]
        if key is None and all(map(is_scalar, values)):
            return reduce(choose, values)
        best, best_key = values[0], keys[0]
        for value, its_key in zip(values[1:], keys[1:], strict=True):
            pair = (its_key, best_key) if name == "max" else (best_key, its_key)
            goes_before = as_boolean(_is_greater(tracer, *pair))
            best = tracer.merge(goes_before, value, best, f"what `{name}` chooses")
            best_key = tracer.merge(goes_before, its_key, best_key, f"what `{name}` compares")
        return best

    return rule


def _is_greater(tracer: Tracer, a: Any, b: Any) -> Any:
    """``a > b``, also of rows of numbers, as Python compares them."""
    if not is_symbolic([a, b]) or (is_scalar(a) and is_scalar(b)):
        return a > b
    if not (is_sequence(a) and is_sequence(b) and type(a) is type(b) and len(a) == len(b)):
        raise tracer.error(f"{describe(a)} and {describe(b)}, which depend on symbols, are compared", "compare numbers, or rows of as many numbers")
    result: Any = FALSE
    for x, y in zip(reversed(a), reversed(b), strict=True):
        # equal ones leave it to what comes behind
        result = ~as_boolean(_is_greater(tracer, y, x)) & (as_boolean(_is_greater(tracer, x, y)) | result)
    return result


def _quantified(is_any: bool) -> Rule:
    def rule(tracer: Tracer, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
        (values,) = args
        result: Expr = FALSE if is_any else TRUE
        is_decided = False
        with tracer.journal() as journal:
            for value, condition in pairs_of(values):
                test = tracer.truth(value)
                if isinstance(test, Expr) or (condition is not TRUE and test is is_any):
                    result = result | (condition & test) if is_any else result & (~condition | test)
                elif test is is_any:
                    is_decided = True
                    break
        if hasattr(values, "__next__") and not result.is_constant and tracer.has_changed_others(journal):
            raise tracer.error(
                f"`{'any' if is_any else 'all'}` of values that change something else as they are looked at: how far it looks is known in the run",
                "write a loop with `if`",
            )
        if isinstance(values, FollowedGenerator) and not result.is_constant:
            values.leave()
        if is_decided:
            return is_any
        return result if not result.is_constant else result.value != 0.0

    return rule


def _float(_tracer: Tracer, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    if not is_symbolic(args):
        return float(*args)
    value = args[0].item() if is_array(args[0]) else args[0]
    return as_real(value)


def _int(_tracer: Tracer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not is_symbolic(args):
        return int(*args, **kwargs)
    return whole_part(args[0].item() if is_array(args[0]) else args[0])


def _bool(tracer: Tracer, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    return tracer.truth(args[0]) if args else False


def _range(tracer: Tracer, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    if is_symbolic(args):
        return chosen_range(tracer, slice(*args))
    return range(*args)


def _sorted(tracer: Tracer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    values: list[Any] = list(*args)
    key = kwargs.get("key")
    keys = values if key is None else [tracer.call(tracer, key, (value,), {}) for value in values]
    is_reversed = bool(kwargs.get("reverse"))
    if is_symbolic(keys):
        return tracer.made(_exchanged(tracer, values, keys, is_reversed))
    return tracer.made([values[at] for at in sorted(range(len(values)), key=keys.__getitem__, reverse=is_reversed)])


def _exchanged(tracer: Tracer, values: list[Any], keys: list[Any], is_reversed: bool) -> list[Any]:
    """Values in the order of their keys: neighbours change places where they stand the wrong way round, again and again."""
    if len(values) > _MOST_SORTED:
        raise tracer.error(f"sorting {len(values)} symbolic values: their order is known only during the run", "use min and max; or " + OPAQUE_HINT)
    pairs = list(zip(values, keys, strict=True))
    for end in range(len(pairs) - 1, 0, -1):
        for k in range(end):
            first, second = pairs[k : k + 2]
            is_wrong = as_boolean(_is_greater(tracer, second[1], first[1]) if is_reversed else _is_greater(tracer, first[1], second[1]))
            pairs[k : k + 2] = [
                tuple(tracer.merge(is_wrong, a, b, "what is sorted") for a, b in zip(*both, strict=True))
                for both in ((second, first), (first, second))
            ]
    return [value for value, _ in pairs]


def _sort_in_place(held: list[Any], tracer: Tracer, _args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    found = _sorted(tracer, (held,), kwargs)
    tracer.touch(held)
    held[:] = found


def _chosen_by(tracer: Tracer, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    """``filter``: what a function is true of."""
    function, values = args

    def elements() -> Iterator[tuple[Any, Expr]]:
        for value, condition in pairs_of(values):
            test = tracer.truth(value if function is None else tracer.call(tracer, function, (value,), {}))
            if isinstance(test, Expr) or test:
                yield value, condition & test

    return tracer.made(FollowedGenerator(elements()))


def _mapped(tracer: Tracer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``map``: the function of each, or of those that stand beside each other."""
    function, *several = args
    if len(several) != 1:
        calls = ((tracer.call(tracer, function, given, {}), TRUE) for given in zip(*several, strict=bool(kwargs.get("strict"))))
        return tracer.made(FollowedGenerator(calls))
    return tracer.made(FollowedGenerator((tracer.call(tracer, function, (value,), {}), condition) for value, condition in pairs_of(several[0])))


def _from_values(_tracer: Tracer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    values = list(args[0])
    return Vector(values) if is_symbolic(values) else np.fromiter(values, *args[1:], **kwargs)


def _isinstance(tracer: Tracer, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    value, kinds = args
    if isinstance(value, Expr):
        # an expression stands for the number it will be
        if not value.is_boolean and isinstance(1, kinds) is not isinstance(1.0, kinds) and whole_range(value) is not None:
            raise tracer.error(
                f"whether `{value!r}` is an int or a float is asked; as an expression it is neither", "ask for numbers.Real, or do not ask"
            )
        return isinstance(value, kinds) or isinstance(True if value.is_boolean else 1.0, kinds)
    note_kind(value)
    return isinstance(value, kinds)


def _getattr(tracer: Tracer, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    if len(args) == 3 and not hasattr(args[0], args[1]):
        note_absence(tracer, args[0], args[1])
        return args[2]
    found = attribute(tracer, args[0], args[1])
    return tracer.usable(filled(found, args[2]) if len(args) == 3 else found, args[1])


def _hasattr(tracer: Tracer, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    value = args[0]
    if isinstance(value, Expr):
        # an expression stands for the number it will be
        return hasattr(True if value.is_boolean else 1.0, args[1])
    found = getattr(value, args[1], EMPTY)
    if found is EMPTY:
        note_absence(tracer, value, args[1])
    else:
        note_read(value, f"whether there is {args[1]}", True, lambda: hasattr(value, args[1]))
    return is_there(found)


def _setattr(tracer: Tracer, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> None:
    set_attribute(tracer, args[0], args[1], args[2])


def _evaluation(tracer: Tracer, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    raise tracer.error("`eval` and `exec` of a text", "write the code itself; or " + OPAQUE_HINT)


def _clock(tracer: Tracer, _args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    raise tracer.error("the clock of the computer, which has another time at every call", "the model's time is the argument `t`, or tg.time")


_CLOCKS: Final = (time.time, time.perf_counter, time.monotonic, time.process_time, time.time_ns, time.perf_counter_ns, time.monotonic_ns)
_FLOATS: Final = frozenset({None, float, object, np.float64, np.dtype(float), np.dtype(object), "float", "float64", "f8", "d"})


def _made_array(tracer: Tracer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A new array: of objects, so that expressions can be put into it, unless another type was asked for."""
    if function in _FILLED and is_symbolic(args):
        return tracer.made(_filled(function, *args, **kwargs))
    array = function(*args, **kwargs)
    wanted: Any = kwargs.get("dtype")
    is_plain = isinstance(wanted, Hashable) and wanted in _FLOATS
    return tracer.made(stored(array) if is_plain and array.dtype.kind in "fO" else array)


def _converted(function: Any) -> Rule:
    def rule(_tracer: Tracer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not is_symbolic(args):
            return function(*args, **kwargs)
        values, dtype, *more = (*args, None)[: max(2, len(args))]
        options: dict[str, Any] = {"dtype": dtype, **kwargs}
        wanted = options.pop("dtype")
        return _of_type(stored(function(plain(values), object, *more, **options)), wanted)

    return rule


def _filled(function: Any, like: Any, value: Any, dtype: Any = None, **options: Any) -> Any:
    """``np.full`` and ``np.full_like`` with a symbol: the second is of the type of what it is like."""
    if function is np.full_like and dtype is None:
        dtype = np.asarray(like).dtype
    return _of_type(stored(np.full(np.shape(like) if function is np.full_like else like, value, dtype=object, **options)), dtype)


def _of_type(array: Any, dtype: Any) -> Any:
    """The array itself, where its numbers need no conversion."""
    return array if kind_of(dtype) in "fO" else array.astype(dtype)


def _is_number(_tracer: Tracer, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> bool:
    return isinstance(args[0], Expr) or bool(np.isscalar(args[0]))


def _fsum(_tracer: Tracer, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    values = list(args[0])
    return sum(values) if is_symbolic(values) else math.fsum(values)


_FILLED: Final = frozenset({np.full, np.full_like})
_MAKERS: Final = frozenset({np.zeros, np.ones, np.empty, np.eye, np.identity, np.zeros_like, np.ones_like, np.empty_like, *_FILLED})
_RULES: Final[dict[Any, Rule]] = {
    builtins.min: _extreme("min", min, SUBSTITUTES[np.minimum]),
    builtins.max: _extreme("max", max, SUBSTITUTES[np.maximum]),
    builtins.any: _quantified(is_any=True),
    builtins.all: _quantified(is_any=False),
    builtins.float: _float,
    builtins.int: _int,
    builtins.bool: _bool,
    builtins.range: _range,
    builtins.sorted: _sorted,
    builtins.filter: _chosen_by,
    builtins.map: _mapped,
    np.fromiter: _from_values,
    builtins.isinstance: _isinstance,
    builtins.getattr: _getattr,
    builtins.hasattr: _hasattr,
    builtins.setattr: _setattr,
    builtins.eval: _evaluation,
    builtins.exec: _evaluation,
    math.fsum: _fsum,
    np.isscalar: _is_number,
    **IDENTITY_RULES,
    **dict.fromkeys(_CLOCKS, _clock),
    **{function: _converted(function) for function in (np.array, np.asarray, np.asanyarray, np.ascontiguousarray)},
}
