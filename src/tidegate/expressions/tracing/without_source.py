"""Functions whose source cannot be read, for symbols (stage: tracing the user's Python).

In: a function that `exec`, the interactive console or ``python -c`` made, and what makes a call with symbols. Out: the same code, to which every
function of `math` and numpy that it names, or gets by an import, and every function of the user, is one that takes symbols. Python itself carries it
out: its branches are explored path by path.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import partial
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, Final

from tidegate.expressions.tracing.looked_into import look_into_name
from tidegate.expressions.tracing.reads import note_read
from tidegate.expressions.tracing.source import find_source
from tidegate.expressions.tracing.vector import is_symbolic, plain
from tidegate.quick_dataclass import dataclass

__all__ = ["on_symbols"]

_MODULES: Final = ("math", "numpy")

Caller = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


@dataclass(frozen=True, eq=False, slots=True)
class _Through:
    """A function that goes through ``call`` where it is given symbols, and is itself otherwise."""

    function: Any
    call: Caller

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return plain(self.call(self.function, args, kwargs)) if is_symbolic(args, kwargs) else self.function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)


@dataclass(frozen=True, eq=False, slots=True)
class _Module:
    """A module whose functions take symbols."""

    module: ModuleType
    stand_in: Callable[[Any], Any]

    def __getattr__(self, name: str) -> Any:
        return self.stand_in(getattr(self.module, name))


def on_symbols(function: FunctionType, call: Caller, is_users: Callable[[str], bool]) -> FunctionType:
    """The function with others in place of those that take no symbols.

    Parameters
    ----------
    function : without source.
    call : makes a call with symbols, from the function, its arguments and its named ones.
    is_users : whether a file holds code of the user.
    """
    made: dict[int, FunctionType] = {}

    def rebuilt(given: FunctionType) -> FunctionType:
        if id(given) not in made:
            named: dict[str, Any] = {"__builtins__": {**vars(builtins), "__import__": imported}, "__name__": given.__globals__.get("__name__", "")}
            cells = tuple(CellType() for _ in given.__closure__ or ())
            made[id(given)] = new = FunctionType(given.__code__, named, given.__name__, given.__defaults__, cells or None)
            new.__kwdefaults__ = given.__kwdefaults__
            place = given.__globals__
            mentioned = _names(given.__code__)
            for name in mentioned & place.keys():
                note_read(place, name, place[name], partial(place.__getitem__, name))
                look_into_name(place[name])
                _note_module(place[name], mentioned)
                named[name] = stand_in(place[name])
            for name, cell, own in zip(given.__code__.co_freevars, cells, given.__closure__ or (), strict=True):
                note_read(own, name, own.cell_contents, partial(getattr, own, "cell_contents"))
                look_into_name(own.cell_contents)
                _note_module(own.cell_contents, mentioned)
                cell.cell_contents = stand_in(own.cell_contents)
        return made[id(given)]

    def stand_in(value: Any) -> Any:
        if isinstance(value, ModuleType):
            return _Module(value, stand_in) if value.__name__.partition(".")[0] in _MODULES else value
        if isinstance(value, FunctionType) and is_users(value.__code__.co_filename):
            return rebuilt(value) if find_source(value) is None else _Through(value, call)
        is_known = callable(value) and not isinstance(value, type) and _root(value) in _MODULES
        return _Through(value, call) if is_known else value

    def imported(*args: Any, **kwargs: Any) -> Any:
        return stand_in(builtins.__import__(*args, **kwargs))

    return rebuilt(function)


def _note_module(value: Any, mentioned: set[str]) -> None:
    """Remember what a module has under names that a function mentions: they may be attributes of it."""
    if isinstance(value, ModuleType) and not value.__name__.startswith("tidegate"):
        for name in mentioned & vars(value).keys():
            note_read(value, name, vars(value)[name], partial(vars(value).__getitem__, name))
            look_into_name(vars(value)[name])


def _root(value: Any) -> str:
    """The package that a function comes from; what has no module, as numpy's own elementwise functions, says so by its class."""
    module = getattr(value, "__module__", None) or type(value).__module__
    return str(module).partition(".")[0]


def _names(code: CodeType) -> set[str]:
    """Names of globals that a function may read, also in functions defined in it."""
    inner = (item for item in code.co_consts if isinstance(item, CodeType))
    return set(code.co_names).union(*map(_names, inner))
