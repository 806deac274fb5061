"""Calls in the user's code: which are followed, which get a rule, which are made as they are (stage: tracing the user's Python).

In: anything callable and its arguments. Out: its result. Python functions of the user are followed statement by statement; functions of `math`,
numpy and the builtins get their symbolic rules; the rest is called with the symbols, on every path through its decisions.
"""

from __future__ import annotations

import ast
import math
import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from functools import lru_cache, partial, reduce
from itertools import accumulate, dropwhile, starmap, takewhile
from types import FunctionType, MethodType
from typing import Any, Final

import numpy as np

from tidegate.errors import Origin, UntraceableError
from tidegate.expressions.nodes import Expr
from tidegate.expressions.tracing.branch_changes import Journal, content, identities, owner
from tidegate.expressions.tracing.branches import fork, in_scope
from tidegate.expressions.tracing.call_frames import BoundClosure, CallFrame, Closure, Flow, Yielded, bind_arguments, closure_of
from tidegate.expressions.tracing.is_and_type import check_arguments
from tidegate.expressions.tracing.looked_into import is_pythons, look_into_call
from tidegate.expressions.tracing.merge import ChosenFunction, frozen
from tidegate.expressions.tracing.path_locking import Exploration, explore, failing_line
from tidegate.expressions.tracing.reads import note_read
from tidegate.expressions.tracing.source import find_source, is_generator, is_pythons_own, is_tidegates_own, leaves_early, origin_at, package_of
from tidegate.expressions.tracing.special_calls import as_vectors, rule_for
from tidegate.expressions.tracing.tracer import Tracer
from tidegate.expressions.tracing.unknown_texts import by_texts, is_done_by_texts
from tidegate.expressions.tracing.value_kinds import class_of, is_array, is_collection, is_dict
from tidegate.expressions.tracing.vector import is_symbolic, stored
from tidegate.expressions.tracing.without_source import on_symbols
from tidegate.quick_dataclass import dataclass

__all__ = ["Yields", "call", "in_turn", "is_followed"]

_DEEPEST: Final = 200  # calls within calls; more is a recursion that symbols never end
# what takes all of an iterator before it does anything else
_TAKE_ALL: Final[tuple[Any, ...]] = (sum, list, tuple, set, dict, sorted, max, min, math.fsum, math.prod, deque)
_CALL_ARGUMENTS: Final[tuple[Any, ...]] = (map, filter, sorted, max, min, iter, reduce, accumulate, starmap, takewhile, dropwhile, operator.call)
_COMPILED: Final = ("numpy", "scipy", "numba", "xarray", "pandas", "matplotlib", "jax", "torch")


@dataclass(eq=False)
class Yields:
    """What a followed generator yielded; iterates like the generator."""

    yielded: list[Yielded]
    result: Any = None
    changes_others: bool = False  # followed as a whole, it did so before its first value was looked at
    at: int = field(default=0, init=False)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self.at >= len(self.yielded):
            raise StopIteration
        self.at += 1
        return self.yielded[self.at - 1].value


def call(tracer: Tracer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of ``function(*args, **kwargs)``."""
    if isinstance(function, Expr):
        function(*args, **kwargs)  # says what is wrong
    function, args, kwargs = _unbound(function, args, kwargs)
    if isinstance(function, ChosenFunction):
        return _call_either(tracer, function, args, kwargs)
    for value in args:
        tracer.consumed(value)
        if isinstance(value, Yields) and function not in _TAKE_ALL:
            tracer.taken_in_turn(value)
    if isinstance(function, Closure):
        return _follow(tracer, function, args, kwargs)
    if isinstance(function, FunctionType) and (function is in_turn or _is_users(function.__code__.co_filename)):
        source = find_source(function)
        if source is None:
            return _on_every_path(tracer, function, args, kwargs)
        return _follow(tracer, closure_of(function, source, partial(_again, tracer)), args, kwargs)
    if getattr(function, "__module__", None) == "math" and is_symbolic(args):
        # for a `try` around it
        tracer.may_raise += [(ValueError, tracer.here()), (OverflowError, tracer.here())]
    tracer.require_usable(*args, *kwargs.values())
    look_into_call(tracer, function, args, kwargs)
    if is_done_by_texts(function, args):
        return by_texts(tracer, partial(_with_texts, tracer, function, kwargs), *args)
    rule = rule_for(function, args, kwargs)
    if rule is not None:
        return rule(tracer, args, kwargs)
    if isinstance(function, type):
        return _construct(tracer, function, args, kwargs)
    inner = _inner(function)
    if inner is not None:
        return call(tracer, inner, args, kwargs)
    kind = class_of(function)
    own = getattr(kind, "__call__", None)  # noqa: B004 - the function itself is wanted
    if isinstance(own, Closure) or (isinstance(own, FunctionType) and _is_users(own.__code__.co_filename)):
        return call(tracer, own, (function, *args), kwargs)
    return _as_it_is(tracer, function, args, kwargs)


def _unbound(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The function of a method or of a ``partial``, with the arguments that it is called with."""
    while True:
        if isinstance(function, BoundClosure):
            function, args = function.function, (function.instance, *args)
        elif issubclass(class_of(function), partial):
            note_read(function, f"arguments of {_name(function.func)}", _given(function), partial(_given, function))
            function, args, kwargs = function.func, (*function.args, *args), {**function.keywords, **kwargs}
        elif isinstance(function, MethodType) and isinstance(function.__func__, FunctionType | Closure):
            function, args = function.__func__, (function.__self__, *args)
        else:
            return function, args, kwargs


def _given(function: Any) -> tuple[Any, ...]:
    return function.func, function.args, function.keywords


def _with_texts(tracer: Tracer, function: Any, kwargs: dict[str, Any], *args: Any) -> Any:
    return call(tracer, function, args, kwargs)


def _call_either(tracer: Tracer, function: ChosenFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of the one or the other function; what it changes is changed in its branch only."""
    known = tracer.known(function.condition)
    if known is not None:
        return call(tracer, function.if_true if known else function.if_false, args, kwargs)
    found: list[Any] = []

    def called(one: Any) -> Flow:
        found.append(call(tracer, one, args, kwargs))
        return Flow.NEXT

    tracer.note(function.condition)
    fork(tracer, tracer.frames[-1], function.condition, partial(called, function.if_true), partial(called, function.if_false))
    is_handed_on = len(tracer.frames) + 1 in tracer.hands_on
    return tracer.merge(function.condition, found[0], found[1], "the returned value", partly=is_handed_on)


def in_turn(functions: Iterable[tuple[Callable[[], Any], Any]]) -> None:
    """Call functions one after the other, each where its condition holds; followed like the user's own."""
    for function, is_called in functions:
        if is_called:
            function()


def is_followed(function: Any) -> bool:
    """Whether a call of it is the next call that is followed."""
    written = function.__func__ if isinstance(function, MethodType) else function
    if isinstance(written, FunctionType):
        return _is_users(written.__code__.co_filename) and find_source(written) is not None
    return isinstance(written, Closure | BoundClosure | ChosenFunction)


def _inner(function: Any) -> Any:
    """The Python function inside one that was cached by functools or compiled by Numba."""
    if hasattr(function, "cache_info"):
        return getattr(function, "__wrapped__", None)
    written = getattr(function, "py_func", None)
    return written if isinstance(written, FunctionType) else None


def _again(tracer: Tracer, closure: Closure, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _follow(tracer, closure, args, kwargs)


@lru_cache(maxsize=1024)
def _is_users(filename: str) -> bool:
    """Whether functions of a file are followed: not those of Python itself, of numerical packages, and of tidegate but for its library."""
    if filename.startswith("<frozen") or is_tidegates_own(filename):
        return False
    package = package_of(filename)
    return not is_pythons_own(filename) if package is None else package not in _COMPILED


def _follow(tracer: Tracer, closure: Closure, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    source = closure.source
    if len(tracer.frames) >= _DEEPEST:
        raise tracer.error(
            f"calls of {source.name} are nested more than {_DEEPEST} deep: a recursion whose end depends on symbols cannot be followed"
        )
    if isinstance(source.node, ast.AsyncFunctionDef):
        raise tracer.error(f"{source.name} is an `async` function", at=origin_at(source.file, source.node))
    frame = CallFrame(
        source.file,
        source.name,
        closure.globals,
        bind_arguments(closure, args, kwargs),
        closure.cells,
        closure.parent,
        source.class_name,
        first_argument=next((item.arg for item in (*source.node.args.posonlyargs, *source.node.args.args)), ""),
    )
    position, others_changed = tracer.position, False
    tracer.frames.append(frame)
    try:
        if is_generator(source.node):
            with tracer.journal() as journal:
                result = _run_body(tracer, closure, frame)
                others_changed = tracer.has_changed_others(journal)
        else:
            result = _run_body(tracer, closure, frame)
    except BaseException as error:
        tracer.mark(error)
        raise
    finally:
        tracer.frames.pop()
        tracer.position = position
    if not tracer.frames and frame.return_node is not None:
        tracer.returned = (frame.file, frame.return_node)
    return Yields(frame.yields, result, others_changed) if is_generator(source.node) else result


def _run_body(tracer: Tracer, closure: Closure, frame: CallFrame) -> Any:
    node = closure.source.node
    if isinstance(node, ast.Lambda):
        frame.return_node = node.body
        tracer.made(frame.variables)
        return tracer.value_of(node.body, frame, is_handed_on=tracer.returns_partly())
    if leaves_early(node):

        def follow() -> Flow:
            tracer.made(frame.variables)
            return tracer.run(tracer, node.body, frame)

        in_scope(tracer, frame, Flow.RETURN, follow)
        return frame.result
    tracer.made(frame.variables)
    return frame.result if tracer.run(tracer, node.body, frame) is Flow.RETURN else None


def _construct(tracer: Tracer, kind: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An instance of a class; its ``__init__`` is followed where it is the user's and nothing else happens."""
    start: Any = kind.__init__
    is_followed = isinstance(start, Closure) or (
        isinstance(start, FunctionType) and _is_users(start.__code__.co_filename) and find_source(start) is not None
    )
    if not is_followed or class_of(kind) is not type or kind.__new__ is not object.__new__:
        return _as_it_is(tracer, kind, args, kwargs)
    instance = _new(kind)
    if hasattr(instance, "__dict__"):
        tracer.made(vars(instance))
    call(tracer, start, (instance, *args), kwargs)
    return instance


def _new(kind: Any) -> Any:
    return object.__new__(kind)


def _as_it_is(tracer: Tracer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call that Python makes itself; conditions it decides are decided both ways."""
    check_arguments(tracer, function, args)
    is_numpy = isinstance(function, np.ufunc) or (getattr(function, "__module__", None) or "").startswith("numpy")
    receiver = getattr(function, "__self__", None)
    if is_numpy:
        args = as_vectors(args)
    elif not isinstance(receiver, list | dict | np.ndarray):
        calls = not is_pythons(function) or any(function is one for one in _CALL_ARGUMENTS)
        args = tuple(_followed(tracer, value, has_calls=calls) for value in args)
        kwargs = {key: _followed(tracer, value, has_calls=calls) for key, value in kwargs.items()}
    with tracer.journal() as journal:
        changeable: list[Any] = [receiver, *args, *kwargs.values()]
        for value in changeable:
            tracer.touch(value, is_changed=False)
        held = [(place, identities(content(place))) for value in changeable if tracer.joined and (place := owner(value)) is not None]
        exploration = _exploration(tracer, partial(_refuse_changes, tracer, function, journal, changeable))
        result = explore(lambda: function(*args, **kwargs), lambda c, a, b: tracer.merge(c, a, b, f"the result of {_name(function)}"), exploration)
    for place, before in held:
        if identities(content(place)) != before:
            tracer.changes(place)
    if is_array(result) and result.dtype == object:
        return stored(result)
    is_new = isinstance(function, type) or _name(function) in ("copy", "tolist", "iter")
    is_kept = is_collection(result) or is_dict(result) or hasattr(result, "__next__")
    if type(result) is function and function.__new__ is object.__new__:
        tracer.made(getattr(result, "__dict__", result))
    return tracer.made(result) if is_new and is_kept else result


def _followed(tracer: Tracer, value: Any, *, has_calls: bool) -> Any:
    """A function of the user that is handed to someone else's code, in a form that is followed when it is called from there.

    Parameters
    ----------
    has_calls : whether that code calls what it is given; otherwise an object that can be called is handed on as the object that it is.
    """
    if isinstance(value, FunctionType) and _is_users(value.__code__.co_filename):
        source = find_source(value)
        if source is not None:
            closure = closure_of(value, source, partial(_again, tracer))
            closure.__dict__.update(__name__=value.__name__, __qualname__=value.__qualname__, __doc__=value.__doc__, __wrapped__=value)
            return closure
    inner = value.__func__ if isinstance(value, MethodType) else getattr(class_of(value), "__call__", None)  # noqa: B004 - the function itself is wanted
    is_object = not isinstance(value, MethodType) and (not has_calls or isinstance(value, type | Closure | BoundClosure))
    is_users = not is_object and isinstance(inner, FunctionType) and _is_users(inner.__code__.co_filename)
    if is_users or isinstance(value, ChosenFunction):

        def followed(*args: Any, **kwargs: Any) -> Any:
            return call(tracer, value, args, kwargs)

        return followed
    return value


def _name(function: Any) -> str:
    return getattr(function, "__name__", None) or type(function).__name__


def _exploration(tracer: Tracer, before_more: Callable[[], None]) -> Exploration:
    depth = len(tracer.assumptions)

    def forget() -> None:
        del tracer.assumptions[depth:]

    return Exploration(tracer.known, partial(_met, tracer), tracer.assume, forget, before_more)


def _met(tracer: Tracer, condition: Expr, origin: Origin) -> None:
    if is_tidegates_own(origin.file) or not origin.line:
        tracer.note(condition)
    elif condition not in tracer.condition_origins:
        tracer.condition_origins[condition] = origin


def _refuse_changes(tracer: Tracer, function: Any, journal: Journal, given: list[Any]) -> None:
    if any(hasattr(value, "__next__") for value in given):
        raise tracer.error(f"{_name(function)} moves an iterator on in a way that depends on symbols", "make a list of it first")
    for place, before in journal.touched.values():
        if identities(content(place)) != identities(before):
            raise tracer.error(f"{_name(function)} changes a {type(place).__name__} in a way that depends on symbols")


def _on_every_path(tracer: Tracer, function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function without source, with copies of its arguments for every path."""
    exploration = _exploration(tracer, lambda: None)
    is_yielding = bool(function.__code__.co_flags & 0x20)  # CO_GENERATOR
    ready = on_symbols(function, partial(call, tracer), _is_users)

    def once() -> Any:
        result = ready(*frozen(args), **frozen(kwargs))
        if not is_yielding:
            return result
        made: list[Yielded] = []
        place = Origin(function.__code__.co_filename, function.__code__.co_firstlineno)
        while True:
            try:
                made.append(Yielded(next(result), place))
            except StopIteration as end:
                return Yields(made, end.value)

    try:
        result = explore(once, partial(_joined_paths, tracer, function.__name__, is_yielding), exploration)
    except UntraceableError as error:
        if error.origin is not None:
            raise
        raise tracer.error(
            f"{error.message} (the source of {function.__name__} cannot be read, so that Python itself carries it out on symbols)",
            "put the function into a file; or mark it with tg.opaque",
            at=failing_line(error),
        ) from error
    return result


def _joined_paths(tracer: Tracer, name: str, is_yielding: bool, condition: Expr, a: Any, b: Any) -> Any:
    if is_yielding:
        result = None if a.result is None and b.result is None else _joined_paths(tracer, name, False, condition, a.result, b.result)
        return Yields(_joined_yields(tracer, name, condition, a.yielded, b.yielded), result)
    if not tracer.frames and tracer.merge_returns is not None:
        return tracer.merge_returns(condition, a, b)
    return tracer.merge(condition, a, b, f"the result of {name}")


def _joined_yields(tracer: Tracer, name: str, condition: Expr, a: list[Yielded], b: list[Yielded]) -> list[Yielded]:
    if tracer.merge_yields is not None:
        return tracer.merge_yields(condition, a, b)
    if len(a) != len(b):
        raise tracer.error(f"{name} yields {len(a)} values where `{condition!r}` holds and {len(b)} where it does not")
    return [Yielded(tracer.merge(condition, x.value, y.value, "the yielded value"), x.origin) for x, y in zip(a, b, strict=True)]
