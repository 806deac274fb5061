"""Calls whose arguments do not fit, answered with how a thing is called. In go functions and classes that users call, out come the same.

Python itself says `f() missing 1 required positional argument: 'y0'`, which names no way out. Nothing is looked at before a call has failed, so that
calls that fit cost a frame and no more. Values that nobody has checked end in a TypeError somewhere inside; where the user himself made the call,
it becomes one of ours, with what he called and Python's own sentence.
"""

from __future__ import annotations

import inspect
import reprlib
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from types import FunctionType, MappingProxyType
from typing import Any, Final, NoReturn, cast

from tidegate.errors import TidegateError, WrongCallError
from tidegate.names import listed, suggestion
from tidegate.user_frames import is_of_a_library

__all__ = ["explained"]

_LONGEST: Final = 130  # characters of a call that is shown; what is optional is left out beyond
_SPECIAL: Final = ("__init__", "__call__")
_NOT_THE_CALLERS: Final = ("self", "cls")
_BY_NAME: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_IN_ORDER: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def explained[T](thing: T, hint: str = "", instead_of_call: str = "", other_words: Mapping[str, str] | None = None) -> T:
    """The same function, or the same class with its public methods, where a call with wrong arguments says how it is called.

    Parameters
    ----------
    thing : a function or a class.
    hint : what to try in place of how it is called.
    instead_of_call : what to write where an instance of this class, which is no function, is called.
    other_words : by a name that an argument of a function has elsewhere, what is written here.

    Examples
    --------
    >>> @explained
    ... def area(width, height=1.0):
    ...     return width * height
    >>> area()
    Traceback (most recent call last):
    tidegate.errors.WrongCallError: area is called without width
      try: area(width, height=1.0)
    """
    if not isinstance(thing, type):
        return cast("T", _function(cast("Any", thing), hint, other_words or {}))
    if instead_of_call:
        _refuse_calls(thing, instead_of_call)
    for name, item in list(vars(thing).items()):
        if name.startswith("_") and name not in _SPECIAL:
            continue
        # what makes instances of a dataclass waits to be asked for
        bound: Any = thing.__init__ if name == "__init__" else item
        if isinstance(bound, staticmethod):
            setattr(thing, name, staticmethod(_function(cast("Any", bound).__func__, "")))
        elif isinstance(bound, classmethod):
            setattr(thing, name, classmethod(_function(cast("Any", bound).__func__, "")))
        elif isinstance(bound, FunctionType):
            setattr(thing, name, _function(bound, hint if name == "__init__" else ""))
    return cast("T", thing)


def _refuse_calls(kind: type, instead: str) -> None:
    def call(self: Any, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise WrongCallError(f"this {type(self).__name__} is no function", hint=instead)

    cast("Any", kind).__call__ = call


def _function(function: Callable[..., Any], hint: str, other_words: Mapping[str, str] = MappingProxyType({})) -> Callable[..., Any]:
    """A function that says how it is called."""
    if getattr(function, "is_explained", False):
        return function

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (TypeError, AttributeError) as error:
            if isinstance(error, TidegateError):
                raise
            wrong, reason = _wrong_call(function, args, kwargs, hint, other_words), None
            if wrong is None and _is_between_the_user_and_us(error):
                wrong, reason = _wrong_value(function, args, kwargs, error), error
            if wrong is None:
                raise
        raise wrong from reason

    cast("Any", call).is_explained = True
    return call


def _wrong_call(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], hint: str, other_words: Mapping[str, str]
) -> WrongCallError | None:
    """What is said of arguments that do not fit; None where they do."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        pass
    else:
        return None
    parameters = list(signature.parameters.values())
    is_method = bool(parameters) and parameters[0].name in _NOT_THE_CALLERS
    name = _shown_name(function, args)
    parameters, given = parameters[is_method:], args[is_method:]
    in_order = [item for item in parameters if item.kind in _IN_ORDER]
    takes_any = any(item.kind is item.VAR_KEYWORD for item in parameters)
    by_name = [item.name for item in parameters if item.kind in _BY_NAME]
    unknown = [] if takes_any else [key for key in kwargs if key not in by_name]
    twice = [item.name for item in in_order[: len(given)] if item.name in kwargs]
    left = [item for item in parameters if item.kind in (*_IN_ORDER, *_BY_NAME) and item.default is item.empty and item.name not in kwargs]
    missing = [item.name for item in left if item not in in_order[: len(given)]]
    call = _shown_call(name, parameters)
    if unknown:
        taken = f"{name} takes no argument {listed(map(repr, unknown))}"
        return WrongCallError(taken, hint=hint or other_words.get(unknown[0]) or suggestion(unknown[0], by_name, call))
    if twice:
        return WrongCallError(f"{name} is given {listed(twice)} twice, by place and by name", hint=hint or call)
    if len(given) > len(in_order) and not any(item.kind is item.VAR_POSITIONAL for item in parameters):
        most = f"{len(in_order)} argument{'s' * (len(in_order) != 1)}" if in_order else "no arguments"
        return WrongCallError(f"{name} takes {most} without a name, and is given {len(given)}", hint=hint or call)
    return WrongCallError(f"{name} is called without {listed(missing, between=' and ' if len(missing) == 2 else ', ')}", hint=hint or call)


def _is_between_the_user_and_us(error: BaseException) -> bool:
    """Whether the user called, and nothing of his was called on the way to where it failed."""
    here = error.__traceback__
    caller = here.tb_frame.f_back if here is not None else None
    inside = traceback.extract_tb(here)
    return caller is not None and not is_of_a_library(caller.f_code.co_filename) and all(is_of_a_library(frame.filename) for frame in inside)


def _wrong_value(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], error: Exception) -> WrongCallError:
    """What is said of an argument with which nothing can be done, and which nobody has looked at before."""
    parameters = list(inspect.signature(function).parameters.values())
    is_method = bool(parameters) and parameters[0].name in _NOT_THE_CALLERS
    name = _shown_name(function, args)
    values = [*(reprlib.repr(value) for value in args[is_method:]), *(f"{key}={reprlib.repr(value)}" for key, value in kwargs.items())]
    said = f"nothing can be made of {name}({', '.join(values)}): {error}"
    return WrongCallError(said, hint=_shown_call(name, parameters[is_method:]))


def _shown_name(function: Callable[..., Any], args: Sequence[Any]) -> str:
    """As a user writes it: ``tg.ode``, ``Result.at``, ``Gain``."""
    thing: Any = cast("Any", type(args[0])) if args and function.__name__ == "__init__" else function
    name = getattr(thing, "__qualname__", "it").rpartition("<locals>.")[2].removesuffix(".__call__")
    package = sys.modules.get("tidegate")
    return f"tg.{name}" if package is not None and name in getattr(package, "__all__", ()) else name


def _shown_call(name: str, parameters: Iterable[inspect.Parameter]) -> str:
    """How it is called: what must be given, and as much of the rest as a line holds."""
    shown: list[str] = []
    is_cut, star = False, False
    for item in parameters:
        if item.kind is item.VAR_KEYWORD and is_cut:
            continue
        if item.kind is item.KEYWORD_ONLY and not star:
            shown.append("*")
        star = star or item.kind in (item.KEYWORD_ONLY, item.VAR_POSITIONAL)
        text = str(item.replace(annotation=item.empty))
        if item.default is item.empty or len(", ".join(shown)) + len(text) < _LONGEST - len(name):
            shown.append(text)
        else:
            is_cut = True
    if shown and shown[-1] == "*":
        shown.pop()
    return f"{name}({', '.join([*shown, '...'] if is_cut else shown)})"
