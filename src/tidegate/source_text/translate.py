"""Routines written in a small part of Python as text in C or Fortran (stage: source text). In: their text; out: lines.

What an exported block does at events is the same in every language, so it is written once, in ``event_rules.txt``, and translated: ``for``, ``if``,
assignments, calls and arithmetic of numbers. Every argument is an array, counted from zero, as the interface passes addresses. A local variable is
declared by what gives it its size: ``g = reals(N_Z)``, ``j = integer()``. Names in capitals are numbers known when the text is written; what is
decided by them alone is decided then.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from tidegate.expressions.straight_line import Language
from tidegate.quick_dataclass import dataclass

__all__ = ["Dialect", "Local", "Routine", "rules", "translated"]

_KINDS: Final = {"reals": "real", "integers": "integer", "real": "real", "integer": "integer"}
_OPERATORS: Final[dict[type, str]] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.And: "and", ast.Or: "or", ast.Not: "not", ast.USub: "neg",
}  # fmt: skip
_COMPARISONS: Final[dict[type, str]] = {ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!="}


@dataclass(frozen=True)
class Local:
    """A local variable: its kind, "real" or "integer", and its size; 0 for a number."""

    name: str
    kind: str
    size: int = 0


@dataclass(frozen=True, eq=False)
class Routine:
    """A routine without its head.

    Parameters
    ----------
    name : without prefix.
    arguments : names in order.
    comment : a sentence that says what it does.
    local : its variables.
    lines : statements, indented from zero.
    tables : names of tables of integers that it reads.
    functions : of the mathematical library; routines : other routines that it calls.
    """

    name: str
    arguments: tuple[str, ...]
    comment: str
    local: tuple[Local, ...]
    lines: tuple[str, ...]
    tables: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    routines: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Dialect:
    """How control is written; the rest says a ``straight_line.Language``."""

    language: Language
    compare: Mapping[str, str]
    loop: Callable[[str, str, str], str]
    if_: Callable[[str], str]
    elif_: Callable[[str], str]
    else_: str
    end_loop: str
    end_if: str
    leave: str
    skip: str
    back: str
    call: Callable[[str, Sequence[str]], str]
    functions: Mapping[str, str] = field(default_factory=dict[str, str])


def rules() -> list[ast.FunctionDef]:
    """The routines of ``event_rules.txt``, each behind those that it calls."""
    text = (Path(__file__).parent / "event_rules.txt").read_text(encoding="ascii")
    return [item for item in ast.parse(text).body if isinstance(item, ast.FunctionDef)]


def translated(
    tree: ast.FunctionDef, dialect: Dialect, numbers: Mapping[str, int], tables: Mapping[str, Sequence[int]], empty: Collection[str] = ()
) -> Routine:
    """A routine in a language.

    Parameters
    ----------
    tree : the routine as Python reads it.
    numbers : values of names in capitals.
    tables : arrays of integers that it may read.
    empty : names of routines that do nothing; they are not called.
    """
    return _Translator(dialect, numbers, tables, empty).routine(tree)


class _Translator:
    def __init__(self, dialect: Dialect, numbers: Mapping[str, int], tables: Mapping[str, Sequence[int]], empty: Collection[str]) -> None:
        self.dialect, self.numbers, self.tables, self.empty = dialect, numbers, tables, empty
        self.routines: set[str] = set()
        self.local: dict[str, Local] = {}
        self.read: set[str] = set()
        self.called: set[str] = set()
        self.lines: list[str] = []
        self.depth = 0

    def routine(self, tree: ast.FunctionDef) -> Routine:
        arguments = tuple(argument.arg for argument in tree.args.args)
        self._statements(tree.body)
        local = tuple(item for name, item in self.local.items() if name in self.read)
        comment = (ast.get_docstring(tree) or "").strip()
        used = frozenset(self.tables) & self.read
        return Routine(tree.name, arguments, comment, local, tuple(self.lines), used, frozenset(self.called), frozenset(self.routines))

    def _say(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def _inside(self, body: Sequence[ast.stmt]) -> None:
        self.depth += 1
        self._statements(body)
        self.depth -= 1

    def _statements(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            getattr(self, f"_{type(statement).__name__.lower()}")(statement)
            if self._ends(statement):
                return

    def _ends(self, statement: ast.stmt) -> bool:
        """Whether nothing behind a statement is reached."""
        if isinstance(statement, ast.If):
            known = self._known(statement.test)
            body = [] if known is None else statement.body if known else statement.orelse
            return any(map(self._ends, body))
        return isinstance(statement, (ast.Return, ast.Break, ast.Continue))

    def _expr(self, statement: ast.Expr) -> None:
        call = statement.value
        if isinstance(call, ast.Call):
            assert isinstance(call.func, ast.Name)
            if call.func.id in self.empty:
                return
            self.routines.add(call.func.id)
            self._say(self.dialect.call(call.func.id, [self._value(argument) for argument in call.args]))

    def _assign(self, statement: ast.Assign) -> None:
        (target,) = statement.targets
        value = statement.value
        if isinstance(target, ast.Name) and isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in _KINDS:
            size = max(int(self._known(value.args[0]) or 1), 1) if value.args else 0
            self.local[target.id] = Local(target.id, _KINDS[value.func.id], size)
            return
        self._say(self.dialect.language.assigned(self._value(target), self._value(value)))

    def _augassign(self, statement: ast.AugAssign) -> None:
        target = self._value(statement.target)
        changed = self.dialect.language.operators[_OPERATORS[type(statement.op)]].format(target, self._value(statement.value))
        self._say(self.dialect.language.assigned(target, changed))

    def _for(self, statement: ast.For) -> None:
        assert isinstance(statement.iter, ast.Call)
        bounds = statement.iter.args
        first, end = (bounds[0], bounds[1]) if len(bounds) > 1 else (ast.Constant(0), bounds[0])
        if self._known(end) == 0:
            return
        self._say(self.dialect.loop(self._value(statement.target), self._value(first), self._value(end)))
        self._inside(statement.body)
        self._say(self.dialect.end_loop)

    def _if(self, statement: ast.If) -> None:
        known = self._known(statement.test)
        if known is not None:
            self._statements(statement.body if known else statement.orelse)
            return
        self._say(self.dialect.if_(self._value(statement.test)))
        self._inside(statement.body)
        rest = statement.orelse
        while len(rest) == 1 and isinstance(rest[0], ast.If) and self._known(rest[0].test) is None:
            self._say(self.dialect.elif_(self._value(rest[0].test)))
            self._inside(rest[0].body)
            rest = rest[0].orelse
        if rest:
            self._say(self.dialect.else_)
            self._inside(rest)
        self._say(self.dialect.end_if)

    def _return(self, _: ast.Return) -> None:
        self._say(self.dialect.back)

    def _break(self, _: ast.Break) -> None:
        self._say(self.dialect.leave)

    def _continue(self, _: ast.Continue) -> None:
        self._say(self.dialect.skip)

    # -- values

    def _known(self, tree: ast.expr) -> Any:
        """The value of what is made of numbers that are known; None for anything else."""
        if all(name.id in self.numbers for name in ast.walk(tree) if isinstance(name, ast.Name)):
            if any(isinstance(part, (ast.Call, ast.Subscript)) for part in ast.walk(tree)):
                return None
            return eval(compile(ast.Expression(tree), "", "eval"), {}, dict(self.numbers))  # noqa: S307, our own text
        return None

    def _value(self, tree: ast.expr) -> str:
        language = self.dialect.language
        if isinstance(tree, ast.Constant):
            return str(tree.value) if isinstance(tree.value, int) else language.number(float(str(tree.value)))
        if isinstance(tree, ast.Name):
            self.read.add(tree.id)
            return str(self.numbers[tree.id]) if tree.id in self.numbers else tree.id
        if isinstance(tree, ast.Subscript):
            assert isinstance(tree.value, ast.Name)
            self.read.add(tree.value.id)
            known = self._known(tree.slice)
            index = self._value(tree.slice) if known is None else str(known)
            return language.element(tree.value.id, index[1:-1] if index.startswith("(") and index.count("(") == 1 else index)
        if isinstance(tree, ast.BinOp):
            return language.operators[_OPERATORS[type(tree.op)]].format(self._value(tree.left), self._value(tree.right))
        if isinstance(tree, ast.UnaryOp):
            return language.operators[_OPERATORS[type(tree.op)]].format(self._value(tree.operand))
        if isinstance(tree, ast.BoolOp):
            first, *others = (self._value(value) for value in tree.values)
            for other in others:
                first = language.operators[_OPERATORS[type(tree.op)]].format(first, other)
            return first
        if isinstance(tree, ast.Compare):
            return f"({self._value(tree.left)} {self.dialect.compare[_COMPARISONS[type(tree.ops[0])]]} {self._value(tree.comparators[0])})"
        assert isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name), ast.dump(tree)  # noqa: PT018, one fact
        name = self.dialect.functions.get(tree.func.id, tree.func.id)
        self.called.add(tree.func.id)
        return language.called(name, [self._value(argument) for argument in tree.args])
