"""Where Python looks at which object a value is, or what kind it is, instead of its number (stage: tracing the user's Python).

A symbol stands for a number that is known only during the run, so `is`, `in`, sets and the keys of dictionaries cannot be answered with the symbol
itself: what has one right answer gets it, everything else is refused at the user's line.
"""

from __future__ import annotations

import builtins
import collections
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, Final

import numpy as np

from tidegate.expressions.chosen_texts import is_text, is_unknown_text, texts_of
from tidegate.expressions.nodes import FALSE, TRUE, Expr, as_boolean, as_expr
from tidegate.expressions.tracing.looked_into import note_kind
from tidegate.expressions.tracing.tracer import Tracer
from tidegate.expressions.tracing.value_kinds import is_array, is_collection, is_dict, is_mapping, is_sequence
from tidegate.expressions.tracing.vector import is_symbolic

__all__ = [
    "among_numbers",
    "check_arguments",
    "check_entry",
    "check_key",
    "check_member",
    "equal_sequences",
    "is_among_numbers",
    "same_object",
]

_NUMBERS: Final = (bool, int, float, np.number, np.bool_, Expr)
_CHOOSE: Final = "choose with `if` and `elif`, or `a if condition else b`, on the value itself"
_KEYED: Final = frozenset({"get", "pop", "setdefault", "add", "discard", "remove", "__getitem__", "__setitem__", "__delitem__", "__contains__"})
_FILLED: Final = frozenset({"update", "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint"})
_SETS: Final[tuple[Any, ...]] = (set, frozenset, collections.Counter, dict.fromkeys)


def same_object(tracer: Tracer, left: Any, right: Any) -> bool:
    """``left is right``, where that does not depend on what a symbol will be."""
    for value, other in ((left, right), (right, left)):
        if isinstance(value, Expr) and isinstance(other, _NUMBERS):
            raise tracer.error(
                f"`is` compares which objects `{value!r}` and `{other!r}` are; their values are known only during the run",
                "compare values: `==`, or the condition by itself instead of `is True`, and `not condition` instead of `is False`",
            )
        if is_unknown_text(value) and is_text(other):
            raise tracer.error(f"`is` compares which objects `{value!r}` and `{other!r}` are; that is known only during the run", "use `==`")
    return left is right


def equal_sequences(left: Any, right: Any) -> Any:
    """``left == right`` of lists or tuples with symbols in them, element by element; None where they are something else."""
    if not (is_sequence(left) and is_sequence(right) and is_symbolic(left, right)):
        return None
    if isinstance(left, list) is not isinstance(right, list) or len(left) != len(right):
        return False
    together = TRUE
    for a, b in zip(left, right, strict=True):
        one = equal_sequences(a, b)
        if one is None:
            one = a is b or a == b
        if not isinstance(one, bool | np.bool_ | Expr):
            return None
        together = together & as_boolean(one)
    return together is TRUE if together.is_constant else together


def is_among_numbers(item: Any, container: Any) -> bool:
    """Whether ``item in container`` asks for a number, known only during the run, among numbers; sets look for objects."""
    if not isinstance(container, list | tuple | range):
        return False
    values: list[Any] = [item, *container]
    are_numbers = all(isinstance(value, _NUMBERS) and not (isinstance(value, Expr) and value.is_boolean) for value in values)
    return are_numbers and is_symbolic(*values)


def among_numbers(item: Any, container: Iterable[Any]) -> Any:
    """``item in container``: it is equal to one of them."""
    found: Any = FALSE
    for other in container:
        found = found | as_boolean(as_expr(item) == other)
    return found


def check_member(tracer: Tracer, item: Any, container: Any) -> None:
    """Refuse ``item in container`` where it depends on what symbols will be."""
    if isinstance(item, str):
        return
    if is_mapping(container):
        check_key(tracer, item, container)
    if is_symbolic(item) or isinstance(item, Expr) or (not is_dict(container) and is_symbolic(container)):
        raise tracer.error(
            "`in` with symbolic values: which elements are equal is known only during the run",
            "give numbers in a tuple, `mode in (1, 2)`; or compare with the elements one by one, with `==` and `or`",
        )


def check_key(tracer: Tracer, key: Any, container: Any = None) -> None:
    """Refuse a key of a dictionary or an element of a set that is known only during the run.

    A plain variable is a key of a dictionary, as in the ``{self.v: new_value}`` that a body returns, as long as no numbers are keys beside it.
    """
    keys: list[Any] = list(container) if is_dict(container) else []
    if is_unknown_text(key):
        # a variable is a key among others; where its texts are keys, too, one of these is meant
        its_texts = [text for _, text in texts_of(key)]
        if (container is None or is_dict(container)) and not any(item in its_texts for item in keys if isinstance(item, str | Enum)):
            return
    elif is_symbolic(key) or isinstance(key, Expr):
        is_plain = container is None or is_dict(container)
        if is_plain and _is_variable(key) and all(isinstance(item, Expr | str) or not isinstance(item, _NUMBERS) for item in keys):
            return
    elif not (isinstance(key, _NUMBERS) and any(isinstance(item, Expr) for item in keys)):
        return
    raise tracer.error(f"`{key!r}` is looked up among keys, or kept in a set; which key it equals is known only during the run", _CHOOSE)


def _is_variable(key: Any) -> bool:
    """Whether a key is a symbol by itself, or an array of them: what the front ends' variables are."""
    items: list[Any] = key.ravel().tolist() if is_array(key) and key.dtype == object else [key]
    return all(isinstance(item, Expr) and item.op == "symbol" for item in items)


def check_entry(tracer: Tracer, container: Any, index: Any) -> None:
    """Refuse ``container[index]`` of a dictionary where the key is known only during the run."""
    if is_dict(container):
        check_key(tracer, index, container)


def check_arguments(tracer: Tracer, function: Any, args: tuple[Any, ...]) -> None:
    """Refuse a call that keeps symbols in a set or as keys, or looks them up there."""
    held: Any = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if isinstance(held, dict | set | frozenset) and args:
        if name in _KEYED:
            check_key(tracer, args[0], held)
        elif name in _FILLED:
            for given in args:
                _check_elements(tracer, given, None if is_dict(held) else held)
    if args and isinstance(function, type) and issubclass(function, dict) and not issubclass(function, collections.Counter):
        given: Any = args[-1]
        if not is_mapping(given) and is_collection(given):
            for pair in given:
                check_key(tracer, pair[0] if is_sequence(pair) and pair else None)
    elif args and any(function == known for known in _SETS):
        _check_elements(tracer, args[0], frozenset())


def _check_elements(tracer: Tracer, given: Any, container: Any) -> None:
    if is_mapping(given):
        given = list(given)
    elif is_array(given):
        given = given.ravel().tolist()
    if is_collection(given):
        items: Iterable[Any] = given
        for item in items:
            check_key(tracer, item, container)


def _kind(_tracer: Tracer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``type(x)``: an expression is the number that it will be."""
    if len(args) == 1 and isinstance(args[0], Expr):
        return bool if args[0].is_boolean else float
    if len(args) == 1:
        note_kind(args[0])
    return type(*args, **kwargs)


def _is_callable(_tracer: Tracer, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    return not isinstance(args[0], Expr) and callable(args[0])


def _identity(tracer: Tracer, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    if is_symbolic(args[0]) and not is_array(args[0]) and not is_collection(args[0]) and not is_dict(args[0]):
        raise tracer.error(f"`id` and `hash` of `{args[0]!r}`: its value is known only during the run", _CHOOSE)
    return id(args[0])


def _hashed(tracer: Tracer, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    if is_symbolic(args[0]):
        raise tracer.error(f"`id` and `hash` of `{args[0]!r}`: its value is known only during the run", _CHOOSE)
    return hash(args[0])


IDENTITY_RULES: Final[dict[Any, Callable[[Tracer, tuple[Any, ...], dict[str, Any]], Any]]] = {
    builtins.type: _kind,
    builtins.callable: _is_callable,
    builtins.id: _identity,
    builtins.hash: _hashed,
}
__all__ += ["IDENTITY_RULES"]
