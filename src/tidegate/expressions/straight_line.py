"""Straight-line program text of expressions (stage: expressions): graphs in, assignments out; ``c_text`` and ``fortran_text`` are languages.

What is used more than once is computed once and has a name; all else is written where it is used, with a parenthesis around every operation, so that
a compiler keeps the order of ``ieee_arithmetic`` and results agree with plain evaluation to the last bit (library functions: to the library's).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Final, Protocol

from tidegate.errors import UsageError
from tidegate.expressions.ieee_arithmetic import MAX_MULTIPLIED_POWER, apply
from tidegate.expressions.node_data import OPAQUE
from tidegate.expressions.nodes import UNARY_FUNCTIONS, Expr, walk
from tidegate.quick_dataclass import dataclass

__all__ = ["Language", "StraightLine", "Tables", "straight_line"]

_LONGEST: Final = 72  # characters of an expression that is still written inside another one
_WORD: Final = re.compile(r"\w+")
_DIRECTLY: Final = frozenset(["const", "symbol", "true", "false"])
_OPERATORS: Final = frozenset(["add", "sub", "mul", "div", "neg", "ge", "gt", "nonzero", "and", "or", "not"])


class Language(Protocol):
    """How a language writes things down."""

    @property
    def operators(self) -> Mapping[str, str]:
        """Of every operation a pattern with {0} and {1}, parenthesised."""
        ...

    def number(self, value: float) -> str:
        """A literal that is read as exactly this number, infinite or NaN as it may be."""
        ...

    def truth(self, value: bool) -> str:
        """A literal condition."""
        ...

    def choice(self, condition: str, a: str, b: str) -> str:
        """One of two numbers."""
        ...

    def called(self, function: str, arguments: Sequence[str]) -> str:
        """A function of the mathematical library by its name in C, or ``tg_segment`` or ``tg_index``, which the language brings along."""
        ...

    def element(self, array: str, index: str) -> str:
        """An element of an array, counted from zero."""
        ...

    def assigned(self, target: str, value: str) -> str:
        """The statement that gives a variable a value."""
        ...


@dataclass(frozen=True, eq=False)
class Tables:
    """Arrays of constants that several functions share.

    Parameters
    ----------
    prefix : what their names begin with.
    """

    prefix: str
    names: dict[tuple[float, ...], str] = field(default_factory=dict[tuple[float, ...], str])

    def name(self, values: Iterable[float]) -> str:
        """The array with these values."""
        return self.names.setdefault(tuple(map(float, values)), f"{self.prefix}{len(self.names)}")


@dataclass(frozen=True, eq=False)
class StraightLine:
    """The inside of a function.

    Parameters
    ----------
    reals, integers, conditions : names of local variables; integers are numbers of pieces of tables.
    statements : in order, without indentation.
    tables : names of the arrays of constants that are read.
    called : names of the functions that are called.
    """

    reals: tuple[str, ...]
    integers: tuple[str, ...]
    conditions: tuple[str, ...]
    statements: tuple[str, ...]
    tables: frozenset[str]
    called: frozenset[str]


def straight_line(outputs: Sequence[tuple[str, Expr]], places: Mapping[Expr, str], language: Language, tables: Tables) -> StraightLine:
    """Assignments that compute expressions; conditions give 1 or 0.

    Parameters
    ----------
    outputs : the target of each expression as the language writes it, ``out[0]``. No target may be read as a symbol.
    places : how the language writes each symbol, ``y[2]``.
    language : C or Fortran.
    tables : where arrays of constants are put.

    Raises
    ------
    UsageError : a symbol has no place, or an opaque function is called.
    """
    return _Writer(places, language, tables).written(outputs)


class _Writer:
    def __init__(self, places: Mapping[Expr, str], language: Language, tables: Tables) -> None:
        self.places, self.language, self.tables = places, language, tables
        self.texts: dict[Expr, str] = {}
        self.pieces: dict[Expr, str] = {}
        self.statements: list[tuple[str, str]] = []
        self.reals: list[str] = []
        self.integers: list[str] = []
        self.conditions: list[str] = []
        self.read_tables: set[str] = set()
        self.called: set[str] = set()
        self.uses: dict[Expr, int] = {}
        self.known: dict[Expr, float] = {}  # what is made of constants alone; a compiler might refuse to find that it is not finite

    def written(self, outputs: Sequence[tuple[str, Expr]]) -> StraightLine:
        order = list(walk([expr for _, expr in outputs]))
        for used in (arg for item in order for arg in item.args):
            self.uses[used] = self.uses.get(used, 0) + 1
        targets: dict[Expr, list[str]] = {}
        for target, expr in outputs:
            targets.setdefault(expr, []).append(target)
            self.uses[expr] = self.uses.get(expr, 0) + 1
        for item in order:
            text = self._folded(item) or self._text(item)
            if (
                item.op not in _DIRECTLY
                and (self.uses[item] > 1 or len(text) > _LONGEST)
                and not (len(targets.get(item, ())) == self.uses[item] == 1)
            ):
                text = self._named(text, self.conditions if item.is_boolean else self.reals, "c" if item.is_boolean else "v")
            self.texts[item] = text
        for expr, several in targets.items():
            value = self.texts[expr]
            if expr.is_boolean:
                value = self.language.choice(value, self.language.number(1.0), self.language.number(0.0))
            self.statements += [("", self.language.assigned(target, value)) for target in several]
        self._drop_unused()
        return StraightLine(
            tuple(self.reals), tuple(self.integers), tuple(self.conditions), tuple(text for _, text in self.statements),
            frozenset(self.read_tables), frozenset(self.called),
        )  # fmt: skip

    def _named(self, text: str, names: list[str], letter: str) -> str:
        name = f"{letter}{len(names)}"
        names.append(name)
        self.statements.append((name, self.language.assigned(name, text)))
        return name

    def _drop_unused(self) -> None:
        """Leave out what has a name and is not used, since what it stood in turned out to be a number."""
        used: set[str] = set()
        kept: list[tuple[str, str]] = []
        for name, text in reversed(self.statements):
            if not name or name in used:
                kept.append((name, text))
                used.update(_WORD.findall(text.split("=", maxsplit=1)[1]))
        self.statements = kept[::-1]
        for names in (self.reals, self.integers, self.conditions):
            names[:] = [name for name in names if name in used]
        self.read_tables &= used
        self.called = {name for name in self.called if used.intersection(_WORD.findall(self.language.called(name, ("", ""))))}

    def _folded(self, item: Expr) -> str:
        """A literal for what is made of constants; nothing for anything else."""
        if item.is_constant:
            self.known[item] = item.value
        elif item.args and all(arg in self.known for arg in item.args):
            value = apply(item.op, [self.known[arg] for arg in item.args], item.data)
            if value is None:
                return ""
            self.known[item] = value
        elif item.op == "select" and item.args[0] in self.known:
            chosen = item.args[1] if self.known[item.args[0]] else item.args[2]
            if chosen not in self.known:
                return self.texts[chosen]
            self.known[item] = self.known[chosen]
        elif item.op == "pow" and self.known.get(item.args[1]) == 0.0:
            self.known[item] = 1.0
        else:
            return ""
        value = self.known[item]
        return self.language.truth(value != 0.0) if item.is_boolean else self.language.number(value)

    def _text(self, item: Expr) -> str:
        op, arguments = item.op, [self.texts[arg] for arg in item.args]
        if op in _OPERATORS:
            return self.language.operators[op].format(*arguments)
        rule = self._rules.get(op)
        if rule is not None:
            return rule(self, item, arguments)
        if op in UNARY_FUNCTIONS or op in ("atan2", "floor"):
            return self._call(op, arguments)
        if op in OPAQUE:
            call = item if op == "call" else item.args[0]
            while call.op != "call":
                call = call.args[0]
            raise UsageError(f"the opaque function `{call.data.name}` is Python and cannot be written as program text")
        raise UsageError(f"`{op}` has no program text", hint="write only expressions made of the operations of expressions.nodes")

    def _call(self, function: str, arguments: Sequence[str]) -> str:
        self.called.add(function)
        return self.language.called(function, arguments)

    def _table(self, values: Iterable[float]) -> str:
        name = self.tables.name(values)
        self.read_tables.add(name)
        return name

    def _symbol(self, item: Expr, _: list[str]) -> str:
        place = self.places.get(item)
        if place is None:
            raise UsageError(f"there is no place for `{item!r}`", hint="name the place of every symbol that appears in the expressions")
        return place

    def _select(self, _: Expr, arguments: list[str]) -> str:
        return self.language.choice(*arguments)

    def _power(self, item: Expr, arguments: list[str]) -> str:
        """Small whole powers by the products of ``ieee_arithmetic.multiplied_power``, in its order."""
        exponent = item.args[1]
        if exponent in self.known:
            y = self.known[exponent]
            if y == 0.5:
                return self._call("sqrt", arguments[:1])
            if abs(y) <= MAX_MULTIPLIED_POWER and y == int(y):
                return self._multiplied(self._short(arguments[0], item.args[0]), int(y))
        return self._call("pow", arguments)

    def _short(self, text: str, item: Expr) -> str:
        """A name for what is about to be written several times."""
        return text if item.op in _DIRECTLY or item in self.known or text in self.reals else self._named(text, self.reals, "v")

    def _multiplied(self, base: str, n: int) -> str:
        times = self.language.operators["mul"]
        product, left = "", abs(n)
        while left:
            if left & 1:
                product = times.format(product, base) if product else base
            left >>= 1
            if left:
                base = self._named(times.format(base, base), self.reals, "v")
        product = product or self.language.number(1.0)
        return product if n >= 0 else self.language.operators["div"].format(self.language.number(1.0), product)

    def _piece(self, x: str, grid: Sequence[float]) -> str:
        arguments = [x, self._table(grid), str(len(grid))]
        return self._named(self._call("tg_segment", arguments), self.integers, "k")

    def _segment(self, item: Expr, arguments: list[str]) -> str:
        # counted as a number everywhere else
        return self._call("tg_real", [self._piece(arguments[0], item.data)])

    def _lookup(self, item: Expr, arguments: list[str]) -> str:
        return self.language.element(self._table(item.data), self._call("tg_index", [arguments[0], str(len(item.data))]))

    def _spline(self, item: Expr, arguments: list[str]) -> str:
        grid = item.data.grid.tolist()
        x = self._short(arguments[0], item.args[0])
        piece = self._piece(x, grid)
        coefficients = self._table(item.data.coefficients.T.ravel().tolist())
        operators, element = self.language.operators, self.language.element
        u = self._named(operators["sub"].format(x, element(self._table(grid), piece)), self.reals, "v")
        value = element(coefficients, f"4*{piece}")
        for k in (1, 2, 3):
            value = operators["add"].format(operators["mul"].format(value, u), element(coefficients, f"4*{piece} + {k}"))
        return value

    _rules: Final[dict[str, Callable[[_Writer, Expr, list[str]], str]]] = {
        "symbol": _symbol,
        "select": _select,
        "pow": _power,
        "segment": _segment,
        "lookup": _lookup,
        "spline": _spline,
    }
