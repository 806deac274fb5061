"""Where a function was written: from a code object to its syntax tree and its lines (stage: tracing the user's Python).

In: functions. Out: the tree of the *whole file* they stand in, narrowed to the one definition, so that line numbers are
the file's own and several lambdas on one line can be told apart by their columns.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, Final

from tidegate.errors import Origin
from tidegate.expressions.tracing.value_kinds import class_of
from tidegate.quick_dataclass import dataclass
from tidegate.shown_places import shown_file

__all__ = [
    "FunctionSource",
    "SourceFile",
    "find_source",
    "followed_place",
    "function_origin",
    "is_generator",
    "is_pythons_own",
    "is_tidegates_own",
    "leaves_early",
    "may_break",
    "origin_at",
    "package_of",
    "users_frame",
    "written_at",
]

_PACKAGE: Final = "tidegate."
_STANDARD_LIBRARY: Final = sysconfig.get_paths()["stdlib"]
_PACKAGES: Final = ("site-packages", "dist-packages")
_MODELS: Final = "tidegate.library."  # models that are written as a user writes them, and read so
_FOLDER: Final = f"{Path(__file__).resolve().parents[2]}{os.sep}"
_MODELS_FOLDER: Final = f"{_FOLDER}library{os.sep}"

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
followed_place: Final[ContextVar[Callable[[], Origin] | None]] = ContextVar("followed_place", default=None)  # tells where a trace is
_LONGEST_TEXT: Final = 160  # characters of source quoted in a message; more would hide the message itself


@dataclass(frozen=True, eq=False)
class SourceFile:
    """One file of Python, as text and as all functions defined in it (each with the class it stands in)."""

    name: str
    lines: tuple[str, ...]
    functions: tuple[tuple[FunctionNode, str], ...]


@dataclass(frozen=True, eq=False)
class FunctionSource:
    """The definition of one function: its tree, its file, and the class whose names it may mangle."""

    node: FunctionNode
    file: SourceFile
    class_name: str

    @property
    def name(self) -> str:
        """The function's name; ``<lambda>`` has none of its own."""
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name


def find_source(function: FunctionType) -> FunctionSource | None:
    """The definition of a function, or None where its source cannot be read or does not belong to it.

    Parameters
    ----------
    function : any Python function.
    """
    code = function.__code__
    linecache.checkcache(code.co_filename)
    text = "".join(linecache.getlines(code.co_filename, function.__globals__))
    if not text:
        return None
    try:
        file = _parsed(code.co_filename, text)
    except (SyntaxError, ValueError):
        return None
    found = [(node, owner) for node, owner in file.functions if _first_line(node) == code.co_firstlineno and _fits(node, code)]
    if len(found) > 1:
        found = _narrowed(found, code)
    if len(found) != 1:
        return None
    return FunctionSource(found[0][0], file, found[0][1])


@functools.lru_cache(maxsize=256)
def _parsed(filename: str, text: str) -> SourceFile:
    return SourceFile(shown_file(filename), tuple(text.splitlines()), tuple(_functions(ast.parse(text), "")))


def users_frame() -> FrameType:
    """Where the user's source called into tidegate."""
    frame = sys._getframe(1)  # noqa: SLF001 - inspect.stack reads every source file on the way
    while frame.f_back is not None and _is_own(str(frame.f_globals.get("__name__", "")), _PACKAGE, _MODELS):
        frame = frame.f_back
    return frame


def package_of(filename: str) -> str | None:
    """The installed package, or module, that a file belongs to; None if it is in no folder of packages."""
    parts = Path(filename).parts
    return next((parts[at + 1] for at, part in enumerate(parts[:-1]) if part in _PACKAGES), None)


def is_pythons_own(filename: str) -> bool:
    """Whether a file is of Python's standard library; the packages that are installed in its folder are not."""
    return filename.startswith(_STANDARD_LIBRARY) and package_of(filename) is None


def is_tidegates_own(filename: str) -> bool:
    """Whether a file is part of tidegate; its library of models is read as if a user had written it."""
    return _is_own(filename, _FOLDER, _MODELS_FOLDER)


def _is_own(name: str, package: str, models: str) -> bool:
    return name.startswith(package) and not name.startswith(models)


def written_at(frame: FrameType | None = None) -> Origin:
    """The place in the user's source that called into tidegate; while a function is followed, no frame of Python stands there."""
    followed = followed_place.get()
    if frame is None and followed is not None:
        return followed()
    frame = frame or users_frame()
    file, line = frame.f_code.co_filename, frame.f_lineno
    return Origin(file=shown_file(file), line=line, text=linecache.getline(file, line).strip())


def _functions(tree: ast.AST, owner: str) -> Iterator[tuple[FunctionNode, str]]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, FunctionNode):
            yield child, owner
        yield from _functions(child, child.name if isinstance(child, ast.ClassDef) else owner)


def _first_line(node: FunctionNode) -> int:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _fits(node: FunctionNode, code: CodeType) -> bool:
    """Name and arguments agree, as they do unless the file was edited after it was imported."""
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    if name != code.co_name:
        return False
    given = node.args
    names = [argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    names += [argument.arg for argument in (given.vararg, given.kwarg) if argument is not None]
    flags = (bool(code.co_flags & inspect.CO_VARARGS), bool(code.co_flags & inspect.CO_VARKEYWORDS))
    count = code.co_argcount + code.co_kwonlyargcount + sum(flags)
    own = list(code.co_varnames[:count])
    # private names are mangled in the code object and not in the tree
    return len(own) == len(names) and all(a == b or a.endswith(b) for a, b in zip(own, names, strict=True))


def _narrowed(found: list[tuple[FunctionNode, str]], code: CodeType) -> list[tuple[FunctionNode, str]]:
    """Of several definitions on one line, the smallest whose body holds every instruction of the code object."""
    places = [place[:4] for place in code.co_positions() if None not in place and place[2] != place[3]]
    if not places:
        return found
    first = min((line, column) for line, _, column, _ in places if line is not None and column is not None)
    last = max((line, column) for _, line, _, column in places if line is not None and column is not None)
    holding: list[tuple[FunctionNode, str]] = []
    for node, owner in found:
        start, end = _extent(node)
        if start <= first and last <= end:
            holding.append((node, owner))
    holding.sort(key=lambda item: _extent(item[0]), reverse=True)
    return holding[:1]


def _extent(node: FunctionNode) -> tuple[tuple[int, int], tuple[int, int]]:
    body: list[Any] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    head, tail = body[0], body[-1]
    return (head.lineno, head.col_offset), (tail.end_lineno, tail.end_col_offset)


def origin_at(file: SourceFile, node: ast.AST) -> Origin:
    """File, line and text of an expression or statement; of a compound statement only its first line."""
    line: int = getattr(node, "lineno", 0)
    if not line or line > len(file.lines):
        return Origin(file.name, line)
    text = _segment(file, node) if isinstance(node, ast.expr) else file.lines[line - 1]
    text = " ".join(text.split())
    return Origin(file.name, line, text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "...")


def _segment(file: SourceFile, node: ast.expr) -> str:
    last = node.end_lineno or node.lineno
    rows = [row.encode() for row in file.lines[node.lineno - 1 : last]]
    rows[-1] = rows[-1][: node.end_col_offset]
    rows[0] = rows[0][node.col_offset :]
    return b" ".join(rows).decode(errors="replace")


def _own_nodes(node: ast.AST, stop: tuple[type[ast.AST], ...]) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, stop):
            yield from _own_nodes(child, stop)


_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@functools.lru_cache(maxsize=4096)
def is_generator(node: FunctionNode) -> bool:
    """Whether the function yields."""
    statements: list[Any] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    for statement in statements:
        if isinstance(statement, _SCOPES):
            continue
        if isinstance(statement, ast.Yield | ast.YieldFrom):
            return True
        if any(isinstance(item, ast.Yield | ast.YieldFrom) for item in _own_nodes(statement, _SCOPES)):
            return True
    return False


@functools.lru_cache(maxsize=4096)
def leaves_early(node: FunctionNode | ast.For | ast.While) -> bool:
    """Whether a function can return, or a loop's round be left by ``continue``, from within a nested statement."""
    if isinstance(node, ast.Lambda):
        return False
    if isinstance(node, ast.For | ast.While):
        return any(isinstance(inner, ast.Continue) for item in node.body for inner in _of_round(item) if inner is not item)
    nested = (item for item in node.body if not isinstance(item, _SCOPES))
    return any(isinstance(inner, ast.Return) for item in nested for inner in _own_nodes(item, _SCOPES))


@functools.lru_cache(maxsize=1024)
def may_break(node: ast.stmt) -> bool:
    """Whether there is a `break` in a statement, or in one in it."""
    return any(isinstance(inner, ast.Break) for inner in ast.walk(node))


def _of_round(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes whose `continue` goes on with the loop that the statement stands in: of a loop in it, only what follows its end."""
    yield node
    inner: list[ast.AST] = list(node.orelse) if isinstance(node, ast.For | ast.While) else list(ast.iter_child_nodes(node))
    for child in inner:
        if not isinstance(child, _SCOPES):
            yield from _of_round(child)


def function_origin(function: Any) -> Origin:
    """Where a callable is defined; an empty origin where that cannot be known."""
    inner = inspect.unwrap(function) if callable(function) else function
    while isinstance(inner, functools.partial):
        inner = inner.func
    inner = getattr(inner, "__func__", inner)
    if not isinstance(inner, FunctionType):
        kind = class_of(inner)
        inner = getattr(kind, "__call__", None)  # noqa: B004 - the function itself is wanted
    if not isinstance(inner, FunctionType):
        return Origin()
    source = find_source(inner)
    if source is None:
        return Origin(shown_file(inner.__code__.co_filename), inner.__code__.co_firstlineno)
    return origin_at(source.file, source.node)
