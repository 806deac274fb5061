"""Calls of the user's functions: their variables, their arguments, how they end (stage: tracing the user's Python)."""

from __future__ import annotations

import ast
import builtins
import enum
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from types import CellType, FunctionType
from typing import Any, Literal

from tidegate.errors import Origin
from tidegate.expressions.nodes import Expr
from tidegate.expressions.tracing.branch_changes import Contents, Namespace
from tidegate.expressions.tracing.reads import note_read
from tidegate.expressions.tracing.source import FunctionSource, SourceFile
from tidegate.quick_dataclass import dataclass

__all__ = ["BranchRaises", "CallFrame", "Closure", "Exit", "Flow", "Yielded", "bind_arguments", "closure_of"]


class Flow(enum.Enum):
    """How statements ended."""

    NEXT = "next"
    BREAK = "break"
    CONTINUE = "continue"
    RETURN = "return"
    RAISE = "raise"


class BranchRaises(BaseException):
    """The branch that is followed ends in `raise`; everything around it goes on as if it had not been taken."""


@dataclass(frozen=True, eq=False)
class Yielded:
    """One value that a generator yielded, and where."""

    value: Any
    origin: Origin


@dataclass(frozen=True, eq=False)
class Exit:
    """A branch that left its scope early: under which condition, with what result, what mutable objects held then, and how much was yielded."""

    condition: Expr
    result: Any
    contents: Contents
    n_yields: int = 0


@dataclass(eq=False)
class CallFrame:
    """One running call, comprehension or class body.

    Parameters
    ----------
    file, class_name, name : where it is written.
    variables : local variables.
    globals : of its module.
    cells : variables of enclosing functions that ran outside the trace.
    parent : the enclosing frame that is part of the trace.
    kind : class bodies are not seen by functions in them; comprehensions bind ``:=`` outside.
    """

    file: SourceFile
    name: str
    globals: dict[str, Any]
    variables: Namespace = field(default_factory=Namespace)
    cells: Mapping[str, CellType] = field(default_factory=dict[str, CellType])
    parent: CallFrame | None = None
    class_name: str = ""
    kind: Literal["function", "class", "comprehension"] = "function"
    outer_names: dict[str, str] = field(default_factory=dict[str, str])
    yields: list[Yielded] = field(default_factory=list[Yielded])
    first_argument: str = ""
    result: Any = None
    return_node: ast.expr | None = None
    handling: BaseException | None = None

    def lookup(self, name: str) -> Any:
        """The value of a name, found as Python finds it."""
        if self.outer_names.get(name) == "global":
            return self.lookup_global(name)
        frame: CallFrame | None = self
        while frame is not None:
            if name in frame.variables and (frame.kind != "class" or frame is self):
                return frame.variables[name]
            if name in frame.cells:
                cell = frame.cells[name]
                try:
                    found = cell.cell_contents
                except ValueError:
                    raise NameError(f"free variable {name!r} is not bound yet") from None
                note_read(cell, name, found, partial(getattr, cell, "cell_contents"))
                return found
            frame = frame.parent
        return self.lookup_global(name)

    def lookup_global(self, name: str) -> Any:
        """The value of a name of the module, or of Python's own."""
        if name in self.globals:
            place, found = self.globals, self.globals[name]
            note_read(place, name, found, lambda: place[name])
            return found
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError(f"name {name!r} is not defined")

    def home(self, name: str) -> dict[str, Any] | CellType:
        """Where an assignment to a name goes."""
        declared = self.outer_names.get(name)
        if declared == "global":
            return self.globals
        if declared == "nonlocal":
            frame = self.parent
            while frame is not None:
                if name in frame.variables and frame.kind == "function":
                    return frame.variables
                if name in frame.cells:
                    return frame.cells[name]
                frame = frame.parent
            return self.cells[name]
        return self.variables

    def binding_frame(self) -> CallFrame:
        """The frame that ``:=`` binds in."""
        frame = self
        while frame.kind == "comprehension" and frame.parent is not None:
            frame = frame.parent
        return frame


@dataclass(eq=False)
class Closure:
    """A function of the user that is followed when it is called, from wherever it is called.

    Parameters
    ----------
    source : its definition.
    defaults : values of optional arguments by name.
    follow : follows a call of it; bound to the trace it belongs to.
    """

    source: FunctionSource
    globals: dict[str, Any]
    defaults: dict[str, Any]
    follow: Callable[[Closure, tuple[Any, ...], dict[str, Any]], Any]
    cells: Mapping[str, CellType] = field(default_factory=dict[str, CellType])
    parent: CallFrame | None = None

    def __post_init__(self) -> None:
        self.__name__ = self.__qualname__ = self.source.name
        self.__module__ = self.globals.get("__name__", "")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Follow a call of it, made by anyone's code."""
        return self.follow(self, args, kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else BoundClosure(self, instance)


@dataclass(frozen=True, eq=False)
class BoundClosure:
    """A method of a class that was defined inside the trace."""

    function: Closure
    instance: Any

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Follow a call of it, made by anyone's code."""
        return self.function(self.instance, *args, **kwargs)


def closure_of(function: FunctionType, source: FunctionSource, follow: Callable[[Closure, tuple[Any, ...], dict[str, Any]], Any]) -> Closure:
    """A function that was made outside the trace, with its defaults and the variables it closes over."""
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    given = function.__defaults__ or ()
    defaults: dict[str, Any] = dict(zip(positional[len(positional) - len(given) :], given, strict=True))
    defaults.update(function.__kwdefaults__ or {})
    if given or function.__kwdefaults__:
        note_read(function, f"a default of {function.__name__}", _defaults(function), partial(_defaults, function))
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    return Closure(source, function.__globals__, defaults, follow, cells)


def _defaults(function: FunctionType) -> Any:
    return function.__defaults__, function.__kwdefaults__


def bind_arguments(closure: Closure, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Namespace:
    """Arguments of a call by the names of its parameters, as Python binds them.

    Raises
    ------
    TypeError
        in Python's words, if they do not fit.
    """
    wanted = closure.source.node.args
    name = closure.source.name
    positional = [item.arg for item in (*wanted.posonlyargs, *wanted.args)]
    hidden = {item.arg for item in wanted.posonlyargs}
    bound = Namespace(zip(positional, args, strict=False))
    if len(args) > len(positional) and wanted.vararg is None:
        raise TypeError(f"{name}() takes {len(positional)} positional arguments but {len(args)} were given")
    if wanted.vararg is not None:
        bound[wanted.vararg.arg] = args[len(positional) :]
    by_name = [item for item in positional if item not in hidden] + [item.arg for item in wanted.kwonlyargs]
    rest: dict[str, Any] = {}
    for key, value in kwargs.items():
        if key not in by_name:
            rest[key] = value
        elif key in bound:
            raise TypeError(f"{name}() got multiple values for argument {key!r}")
        else:
            bound[key] = value
    if wanted.kwarg is not None:
        bound[wanted.kwarg.arg] = rest
    elif rest:
        raise TypeError(f"{name}() got an unexpected keyword argument {next(iter(rest))!r}")
    missing: list[str] = []
    for key in (*positional, *(item.arg for item in wanted.kwonlyargs)):
        if key in bound:
            continue
        if key in closure.defaults:
            bound[key] = closure.defaults[key]
        else:
            missing.append(repr(key))
    if missing:
        raise TypeError(f"{name}() is missing {len(missing)} argument{'s' * (len(missing) > 1)}: {', '.join(missing)}")
    return bound
