"""The vectors a traced function is given: numpy arrays of expressions that also answer to names (stage: tracing the user's Python).

In: expressions or numbers, with names for pieces of them. Out: an array that indexes, slices, unpacks and computes as numpy's do, and in
which functions that numpy cannot apply to objects (comparisons, maximum, where, norm ...) work too. It is the same
type with numbers in it, so that an opaque function meets its arguments in the form the model gave them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Final, Self, override

import numpy as np

from tidegate.errors import UnknownNameError, UntraceableError, UsageError
from tidegate.expressions.chosen_texts import is_text
from tidegate.expressions.elementary import SUBSTITUTES
from tidegate.expressions.nodes import Expr, is_condition
from tidegate.expressions.tracing.array_types import converted, entry_for, kind_of
from tidegate.expressions.tracing.symbolic_matrices import determinant, inverse, solution
from tidegate.expressions.tracing.value_kinds import is_array, is_collection, is_dict, is_sequence
from tidegate.names import listed, suggestion
from tidegate.quick_dataclass import dataclass

__all__ = ["Vector", "VectorNames", "is_symbolic", "plain", "settled_index", "stored", "substituted"]


@dataclass(frozen=True, eq=False)
class VectorNames:
    """Names of the pieces of a vector.

    Parameters
    ----------
    owner : what messages call the vector, e.g. ``"p"``.
    places : for each name the index of its first element and its shape.
    elsewhere : hints for names that the model has in another vector.
    """

    owner: str
    places: Mapping[str, tuple[int, tuple[int, ...]]]
    elsewhere: Mapping[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def hides_attributes(self) -> bool:
        """Whether vectors have attributes of their own under one of these names, as ``T`` and ``size``."""
        return any(name in _ATTRIBUTES for name in self.places)

    def unknown(self, name: str) -> UnknownNameError:
        """The error for a name that is not there, with the closest that are."""
        known = f"its names are: {listed(map(repr, self.places)) or 'none'}"
        hint = self.elsewhere.get(name) or suggestion(name, self.places, known)
        return UnknownNameError(f"{self.owner} has no entry {name!r}", hint=hint)


def is_symbolic(*values: Any) -> bool:
    """True if any of these is an expression that is no literal, or a container with one in it."""
    for value in values:
        if isinstance(value, Expr):
            if not value.is_constant:
                return True
        elif is_array(value):
            if value.dtype == object and is_symbolic(*value.ravel().tolist()):
                return True
        elif is_collection(value):
            if is_symbolic(*value):
                return True
        elif is_dict(value):
            entries: Any = value
            if is_symbolic(*entries.values()):
                return True
    return False


def plain(value: Any) -> Any:
    """A vector as an ordinary array sharing its memory; lists and tuples likewise inside; the rest as it is."""
    if isinstance(value, Vector):
        return value.view(np.ndarray)
    if is_sequence(value) and not hasattr(value, "_fields"):
        items: Any = value
        return type(items)(plain(item) for item in items)
    return value


def _numbers(value: Any, copies: list[tuple[Any, Any, bytes]] | None = None) -> Any:
    """Objects that hold nothing but literals, as arrays of numbers; each is noted in ``copies``, with what it held."""
    if isinstance(value, Expr):
        return value.value
    if is_array(value) and value.dtype == object:
        flat: list[Any] = [item.value if isinstance(item, Expr) else item for item in value.ravel().tolist()]
        array: np.ndarray[Any, Any] = np.array(flat) if flat else np.empty(0)
        # integers here are the zeros that numpy puts into object arrays: they stand for floats
        array = (array.astype(float) if array.dtype.kind == "i" else array).reshape(np.asarray(value).shape)
        if copies is not None:
            copies.append((value, array, array.tobytes()))
        return array
    if is_sequence(value) and not hasattr(value, "_fields"):
        items: Any = value
        return type(items)(_numbers(item, copies) for item in items)
    return plain(value)


class Vector(np.ndarray):
    """An array of expressions or numbers, with names for its pieces where it has a layout.

    Parameters
    ----------
    values : the elements.
    layout : names of the pieces; None for none.

    Examples
    --------
    >>> y = Vector([1.0, 2.0, 3.0], VectorNames("y", {"x": (0, (2,)), "v": (2, ())}))
    >>> y["v"], y.v, float(sum(y["x"]))
    (3.0, 3.0, 3.0)
    """

    vector_names: VectorNames | None = None
    numpy_kind: str = "f"  # NumPy's letter for the type of numbers that the user's array is of

    def __new__(cls, values: Any, layout: VectorNames | None = None) -> Self:
        """An object array of the values; numbers only where the values are a numpy array of numbers."""
        source = values if is_array(values) else _object_array(values)
        if layout is None:
            return source.view(cls)
        made: Any = source.view(_NamesFirst if cls is Vector and layout.hides_attributes else cls)
        made.vector_names = layout
        return made

    @override
    def __array_finalize__(self, obj: Any) -> None:
        """A view is of the type that the whole is of."""
        self.numpy_kind = getattr(obj, "numpy_kind", "f")

    @override
    def copy(self, order: Any = "C") -> Self:
        """A copy that answers to the same names."""
        made = super().copy(order)
        made.vector_names = self.vector_names
        return made

    @override
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._entry(key)
        if type(key) is not int:
            _check_index(key)
            key = _mask(key)
        found = super().__getitem__(key)
        return found if isinstance(found, Vector) or not is_array(found) else found.view(Vector)

    @override
    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            place, shape = self._place(key)
            if shape:
                self.ravel()[place : place + int(np.prod(shape))] = np.asarray(value, dtype=object).ravel()
            else:
                super().__setitem__(place, value)
            return
        if is_array(key) and is_symbolic(key):
            super().__setitem__(slice(None), SUBSTITUTES[np.where](plain(key), plain(entry_for(value, self.numpy_kind)), plain(self)))
            return
        _check_index(key)
        super().__setitem__(_mask(key), entry_for(value, self.numpy_kind))

    def __getattr__(self, name: str) -> Any:
        """The piece of that name, where numpy has no attribute of that name."""
        if self.vector_names is None or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self._entry(name)

    @override
    def __contains__(self, item: Any) -> bool:
        if isinstance(item, str):
            return self.vector_names is not None and item in self.vector_names.places
        return super().__contains__(item)

    def keys(self) -> list[str]:
        """Names of the pieces, in order."""
        return list(self.vector_names.places) if self.vector_names is not None else []

    def items(self) -> list[tuple[str, Any]]:
        """Names and pieces, in order."""
        return [(name, self[name]) for name in self.keys()]

    def values(self) -> list[Any]:
        """The pieces, in order."""
        return [self[name] for name in self.keys()]

    def get(self, name: str, default: Any = None) -> Any:
        """The piece of that name, or the default."""
        return self[name] if self.vector_names is not None and name in self.vector_names.places else default

    @override
    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        """The numbers as the type has them: without their fraction, as truth values."""
        if is_symbolic(self):
            made = Vector(converted(plain(self).copy(), dtype))
            made.numpy_kind = kind_of(dtype)
            return made
        return _numbers(self).astype(dtype, *args, **options)

    def _place(self, name: str) -> tuple[int, tuple[int, ...]]:
        layout = self.vector_names
        if layout is None:
            raise UsageError(f"an array without names was asked for {name!r}")
        if name not in layout.places:
            raise layout.unknown(name)
        return layout.places[name]

    def _entry(self, name: str) -> Any:
        place, shape = self._place(name)
        if not shape:
            return super().__getitem__(place)
        return super().__getitem__(slice(place, place + int(np.prod(shape)))).reshape(shape)

    @override
    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, out: Any = None, **options: Any) -> Any:
        chosen = options.pop("where", True) if method == "__call__" else True
        if method == "reduce" and _is_given(options.get("where")) and options["where"] is not True and is_symbolic(options["where"], *inputs):
            inputs = (_others_left_out(ufunc, options.pop("where"), inputs[0]),)
        if ufunc in _EQUALITIES and method == "__call__" and any(map(_has_texts, inputs)):
            return stored(np.frompyfunc(_EQUALITIES[ufunc], 2, 1)(*map(plain, inputs)))
        if ufunc in _OF_TRUTHS and method == "__call__" and all(_are_conditions(item) for item in inputs):
            ufunc = _OF_TRUTHS[ufunc]
        if method == "at" or (is_symbolic(*inputs) and not _has_rule(ufunc)):
            given = tuple(plain(item) for item in inputs)
            result = getattr(ufunc, method)(*given, **options)
        elif is_symbolic(*inputs):
            result = _by_elements(ufunc, method, [plain(item) for item in inputs], options)
        else:
            result = getattr(ufunc, method)(*(_numbers(item) for item in inputs), **options)
            if out is None and chosen is True and not _has_objects(inputs):
                return result
        if chosen is not True:
            result = _where_chosen(ufunc, chosen, result, out)
        if out is not None:
            return _put_out(out[0], result)
        made = stored(result)
        if isinstance(made, Vector) and _are_conditions(made):
            made.numpy_kind = "b"
        return made

    @override
    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not is_symbolic(args, list(kwargs.values())):
            return _on_numbers(func, args, kwargs)
        if func in _OWN:
            return stored(_OWN[func](*args, **kwargs))
        if func in SUBSTITUTES:
            given = {key: value for key, value in kwargs.items() if key != "out"}
            result = substituted(func, args, given)
            return result if len(given) == len(kwargs) else _put_out(kwargs["out"], result)
        return _all_stored(super().__array_function__(func, types, args, kwargs))


_ATTRIBUTES: Final = frozenset(dir(Vector))
_NEEDED_HERE: Final = frozenset({"copy", "dtype", "vector_names", "numpy_kind", "ravel", "reshape", "view"})


class _NamesFirst(Vector):
    """A vector with pieces whose names NumPy has for itself: ``p.T`` is the piece, not what is transposed."""

    @override
    def __getattribute__(self, name: str) -> Any:
        if name in _ATTRIBUTES and name not in _NEEDED_HERE:
            layout = super().__getattribute__("vector_names")
            if layout is not None and name in layout.places:
                return self._entry(name)
        return super().__getattribute__(name)


def substituted(func: Any, args: Any, kwargs: Any) -> Any:
    """A function by the rule that stands for it; its arguments have symbols, which are floats: so is what comes out, if it is no condition."""
    result = SUBSTITUTES[func](*map(plain, args), **{key: plain(value) for key, value in kwargs.items()})
    return stored(result.astype(float) if is_array(result) and result.dtype.kind == "i" else result)


def _put_out(target: Any, result: Any) -> Any:
    plain(target)[...] = plain(result)
    return target


def _are_conditions(value: Any) -> bool:
    items: list[Any] = value.ravel().tolist() if is_array(value) else [value]
    return bool(items) and all(map(is_condition, items))


def _others_left_out(ufunc: Any, chosen: Any, values: Any) -> Any:
    """An array to be reduced, with what changes nothing in place of what ``where=`` leaves out."""
    if ufunc.identity is None:
        raise UntraceableError(f"np.{ufunc.__name__}.reduce with where= cannot be followed on symbols", hint="use np.where(c, a, b) inside of it")
    return SUBSTITUTES[np.where](plain(chosen), plain(values), float(ufunc.identity))


def _where_chosen(ufunc: Any, chosen: Any, result: Any, out: Any) -> Any:
    """What ``where=`` leaves out stays what it was."""
    if out is None:
        raise UntraceableError(f"np.{ufunc.__name__} with where=, without out=, leaves values open", hint="use np.where(c, a, b)")
    return SUBSTITUTES[np.where](plain(chosen), plain(result), plain(out[0]).copy())


def _on_numbers(func: Any, args: Any, kwargs: Any) -> Any:
    """NumPy's own function, of arrays that hold no symbols yet: what it would change in them it changes, its views are views of them."""
    copies: list[tuple[Any, Any, bytes]] = []
    given = [_numbers(item, copies) for item in (*args, *kwargs.values())]
    result = func(*given[: len(args)], **dict(zip(kwargs, given[len(args) :], strict=True)))
    for original, numbers, before in copies:
        if numbers.tobytes() != before:
            plain(original)[...] = numbers
        if result is numbers:
            return original
    parts: Any = result if is_sequence(result) else (result,)
    if any(is_array(part) and np.may_share_memory(part, numbers) for part in parts for _, numbers, _ in copies):
        result = func(*(plain(item) for item in args), **{key: plain(value) for key, value in kwargs.items()})
        return _all_stored(result)
    return _all_stored(result) if copies else result


def _all_stored(result: Any) -> Any:
    if is_sequence(result) and not hasattr(result, "_fields"):
        parts: Any = result
        return type(parts)(stored(part) for part in parts)
    return stored(result)


def _has_texts(value: Any) -> bool:
    return is_array(value) and value.dtype == object and any(map(is_text, value.ravel().tolist()))


def _has_objects(value: Any) -> bool:
    """Whether a vector whose elements may be replaced by expressions is among the arguments."""
    if is_sequence(value):
        return any(_has_objects(item) for item in value)
    return is_array(value) and value.dtype == object


def _object_array(values: Any) -> Any:
    """Like ``np.array(values, dtype=object)``, which would try to look inside what stands for one number."""
    return np.array(values if isinstance(values, list) else list(values), dtype=object)


def stored(result: Any) -> Any:
    """An array as a vector whose elements can be replaced by expressions; masks and indexes stay what they are."""
    if is_array(result):
        array: Any = result
        if array.dtype == object:
            return array if isinstance(array, Vector) else array.view(Vector)
        if array.dtype.kind == "f" and array.shape:
            return array.astype(object).view(Vector)
        return plain(array)
    return result


def _check_index(key: Any) -> None:
    if is_symbolic(key):
        raise UntraceableError(
            "an array is indexed with a value that is known only during the run",
            hint="use np.where(condition, a, b) for a mask and tg.table for a look-up; or mark the function with tg.opaque",
        )


def _mask(key: Any) -> Any:
    return settled_index(key) if isinstance(key, Vector) else key


def settled_index(key: Any) -> Any:
    """An index that is an array of literals, as an array of numbers or of truth values."""
    if not is_array(key) or key.dtype != object or is_symbolic(key):
        return key
    items: list[Any] = plain(key).ravel().tolist()
    found = [(item.value != 0.0 if item.is_boolean else item.value) if isinstance(item, Expr) else item for item in items]
    return np.array(found).reshape(np.shape(key)) if found else np.zeros(np.shape(key), dtype=int)


def _says_nothing(name: str, value: Any) -> bool:
    """Whether an option of a ufunc is followed, or asks for what is done anyway."""
    if name == "dtype":
        return kind_of(value) in "fOb"
    return name in ("axis", "keepdims", "initial") or value is True or not _is_given(value)


def _is_given(value: Any) -> bool:
    return value is not None and value is not np._NoValue  # noqa: SLF001 - what ndarray.max hands over


_REDUCED: Final = {"maximum": np.max, "minimum": np.min, "fmax": np.max, "fmin": np.min, "logical_and": np.all, "logical_or": np.any}


def _has_rule(ufunc: Any) -> bool:
    return ufunc in SUBSTITUTES or ufunc.__name__ == "clip"


def _by_elements(ufunc: Any, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """A ufunc that numpy cannot apply to objects, by the rule that stands for it."""
    rule = SUBSTITUTES[np.clip] if ufunc.__name__ == "clip" else SUBSTITUTES[ufunc]
    unknown = {name for name, value in options.items() if not _says_nothing(name, value)}
    if unknown:
        raise UntraceableError(f"np.{ufunc.__name__} with {listed(sorted(unknown))}= cannot be followed on symbols", hint="write it out")
    if method == "__call__":
        return rule(*inputs)
    if method == "reduce" and ufunc.__name__ in _REDUCED:
        axis = options.get("axis", 0)
        array = np.asarray(inputs[0], dtype=object)
        first = {"initial": options["initial"]} if _is_given(options.get("initial")) else {}
        result = SUBSTITUTES[_REDUCED[ufunc.__name__]](array, axis=axis if array.ndim > 1 else None, **first)
        return np.expand_dims(result, axis if axis is not None else tuple(range(array.ndim))) if options.get("keepdims") else result
    if method == "outer":
        first, second = (np.asarray(item, dtype=object) for item in inputs)
        return rule(first.reshape(first.shape + (1,) * second.ndim), second)
    if method == "accumulate":
        return np.frompyfunc(rule, 2, 1).accumulate(inputs[0], **options)
    raise UntraceableError(f"np.{ufunc.__name__}.{method} cannot be followed on symbols", hint="write it out, or mark the function with tg.opaque")


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    array: Any = np.asarray(plain(x), dtype=object)
    absolute, largest, root = SUBSTITUTES[np.absolute], SUBSTITUTES[np.max], SUBSTITUTES[np.sqrt]
    if ord in (None, "fro") or (ord == 2 and (array.ndim == 1 or axis is not None)):
        return root(np.sum(array * array, axis=axis, keepdims=keepdims))
    if array.ndim == 1 and ord == np.inf:
        return largest(absolute(array))
    if array.ndim == 1 and ord == 1:
        return sum(absolute(array).tolist())
    raise UntraceableError(f"np.linalg.norm with ord={ord!r} cannot be followed on symbols", hint="write it out, or mark the function with tg.opaque")


def _solve(a: Any, b: Any) -> Any:
    if is_symbolic(a):
        return solution(plain(a), plain(b))
    return np.linalg.inv(np.asarray(_numbers(a), dtype=float)) @ np.asarray(plain(b))


def _inv(a: Any) -> Any:
    return inverse(plain(a))


def _det(a: Any) -> Any:
    return determinant(plain(a))


def _isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    if equal_nan:
        raise UntraceableError("np.isclose with equal_nan= cannot be followed on symbols", hint="leave it out")
    absolute = SUBSTITUTES[np.absolute]
    return SUBSTITUTES[np.less_equal](absolute(operator.sub(plain(a), plain(b))), atol + rtol * absolute(plain(b)))


_OWN: Final[dict[Callable[..., Any], Callable[..., Any]]] = {
    np.linalg.norm: _norm, np.linalg.solve: _solve, np.linalg.inv: _inv, np.linalg.det: _det, np.isclose: _isclose,
}  # fmt: skip
_EQUALITIES: Final = {np.equal: operator.eq, np.not_equal: operator.ne}
# what NumPy makes of truth values, where Python's own are numbers
_OF_TRUTHS: Final = {np.add: np.logical_or, np.multiply: np.logical_and, np.invert: np.logical_not}
