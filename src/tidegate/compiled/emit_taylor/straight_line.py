"""Recurrences as straight-line LLVM text (stage: compiled): every coefficient in a register of its own, zeros left out. For small programs.

The number of products grows with the square of the order, and nothing is repeated or looked up. In every sum the products of the newest coefficients
come last, so that the others do not wait for them; what these are divided by or multiplied with is known before. What is fused with what is part of
the text: several runs at once, which take the same text, have the numbers of each alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from tidegate.compiled.emit_taylor.recurrences import Program, Row
from tidegate.compiled.emit_taylor.vector_text import bits, kind, spread, spread_literal, suffix
from tidegate.compiled.number_table import NumberTable
from tidegate.expressions import Expr
from tidegate.quick_dataclass import dataclass

__all__ = ["Item", "Series", "Side", "StraightLine", "StraightSeries", "fused_declarations", "stores", "straight_series"]

Series = list[str | None]


@dataclass(frozen=True, eq=False)
class Side:
    """Nodes side by side in one vector."""

    items: tuple[Expr, ...]


Item = Expr | Side


@dataclass(frozen=True, eq=False)
class StraightSeries:
    """Lines, and where they leave what they compute.

    Parameters
    ----------
    lines : of the function, behind those that put down first coefficients.
    pieces : first state and how many -> registers of their coefficients, from those of order zero on; None is zero.
    others : the same of what else was asked for.
    """

    lines: list[str]
    pieces: Mapping[tuple[int, int], Sequence[str | None]]
    others: Sequence[Sequence[str | None]]


def straight_series(
    program: Program,
    places: Mapping[Expr, int],
    order: int,
    numbers: NumberTable,
    others: Sequence[Expr] = (),
    *,
    rests_at_zero: bool,
    members: int = 1,
) -> StraightSeries:
    """Lines that read the first coefficients at ``places`` of %out and the unit of time at its beginning, and keep all others in registers.

    With ``rests_at_zero`` roots and powers of zero stay what they are. With several ``members`` every number is one of each, side by side.
    """
    made = _OneByOne(program, places, order, numbers, rests_at_zero=rests_at_zero, members=members)
    pieces = {(q, members): made.series[state] for q, state in enumerate(program.states)}
    return StraightSeries(made.lines, pieces, [made.series[item] for item in others])


def fused_declarations(text: str) -> str:
    """What the lines in a text call."""
    kinds = {f"llvm.fmuladd.{suffix(lanes)}": kind(lanes) for lanes in (1, 2, 4, 8)}
    return "".join(f"declare {own} @{name}({own}, {own}, {own})\n" for name, own in kinds.items() if f"@{name}(" in text)


def stores(made: StraightSeries) -> list[str]:
    """Lines that write the coefficients of the states to %out: that of order k of state q to place 1 + (k - 1) n + q."""
    lines: list[str] = []
    n = sum(lanes for _, lanes in made.pieces)
    for (q, lanes), series in made.pieces.items():
        for k, value in enumerate(series[1:], 1):
            lines.append(f"  %c{k}.{q} = getelementptr double, ptr %out, i64 {1 + (k - 1) * n + q}")
            lines.append(f"  store {kind(lanes)} {value or spread_literal(0.0, lanes)}, ptr %c{k}.{q}, align 8")
    return lines


class StraightLine:
    """Instructions and recurrences, of one number at a time or, with ``lanes``, of several.

    Parameters
    ----------
    order : of the last coefficient.
    rests_at_zero : roots and powers of zero stay what they are.
    lanes : of what is not told otherwise.
    """

    def __init__(self, order: int, *, rests_at_zero: bool, lanes: int = 1) -> None:
        self.order = order
        self.rests_at_zero = rests_at_zero
        self.lanes = lanes
        self.lines: list[str] = []
        self.count = 0
        self.ready: dict[str, int] = {}  # how many operations behind each other a register needs at least
        self.products: dict[str, tuple[str, str]] = {}  # what each register that is one is the product of
        self.kept: dict[tuple[str, Item], str] = {}
        self.series: dict[Item, Sequence[str | None]] = {}
        self.weighted: dict[Item, Series] = {}
        self.unit = self.new(f"load {kind(lanes)}, ptr %out, align 8")

    def first(self, item: Item) -> str:
        """The first coefficient of a node."""
        raise NotImplementedError

    def recurrence(self, row: Row[Item], k: int) -> str | None:
        """The coefficient of order k of a row that is neither state nor time."""
        return _RULES[row.kind](self, row, k)

    # ---- instructions

    def new(self, instruction: str) -> str:
        """The register that holds what an instruction gives."""
        self.count += 1
        name = f"%s{self.count}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def number(self, value: float) -> str:
        """The same number in every lane."""
        return spread_literal(value, self.lanes)

    def op(self, name: str, a: str, b: str) -> str:
        """An operation of two numbers."""
        register = self.new(f"{name} {kind(self.lanes)} {a}, {b}")
        self.ready[register] = 1 + max(self.ready.get(a, 0), self.ready.get(b, 0))
        if name == "fmul":
            self.products[register] = (a, b)
        return register

    def fused(self, a: str, b: str, c: str) -> str:
        """a b + c in one operation, where the processor has such; said here, so that it does not depend on what else the numbers are for."""
        own = kind(self.lanes)
        register = self.new(f"call {own} @llvm.fmuladd.{suffix(self.lanes)}({own} {a}, {own} {b}, {own} {c})")
        self.ready[register] = 1 + max(self.ready.get(one, 0) for one in (a, b, c))
        return register

    def minus(self, a: str | None) -> str | None:
        """-a."""
        return None if a is None else self.negated(a)

    def negated(self, a: str) -> str:
        """-a, not zero."""
        register = self.new(f"fneg {kind(self.lanes)} {a}")
        self.ready[register] = self.ready.get(a, 0)
        return register

    def plus(self, a: str | None, b: str | None) -> str | None:
        """a + b, zeros left out."""
        if a is None or b is None:
            return a or b
        if b in self.products:
            return self.fused(*self.products[b], a)
        return self.fused(*self.products[a], b) if a in self.products else self.op("fadd", a, b)

    def difference(self, a: str | None, b: str | None) -> str | None:
        """a - b, zeros left out."""
        if a is None or b is None:
            return a or self.minus(b)
        if b in self.products:
            one, other = self.products[b]
            return self.fused(self.negated(one), other, a)
        return self.fused(*self.products[a], self.negated(b)) if a in self.products else self.op("fsub", a, b)

    def times(self, a: str | None, b: str | None) -> str | None:
        """a b, zeros left out."""
        return None if a is None or b is None else self.op("fmul", a, b)

    def once(self, what: str, item: Item, make: Callable[[], str]) -> str:
        """A value of a node that is computed when it is first asked for."""
        if (what, item) not in self.kept:
            self.kept[what, item] = make()
        return self.kept[what, item]

    def reciprocal(self, item: Item) -> str:
        """1 / a_0."""
        return self.once("reciprocal", item, lambda: self.new(f"fdiv {kind(self.lanes)} {self.number(1.0)}, {self.first(item)}"))

    def part_of_first(self, part: float, item: Item) -> str:
        """part / a_0 for a root or a power of a; 0 where a_0 is zero, if they are to rest there."""

        def make() -> str:
            first = self.first(item)
            own, zero = kind(self.lanes), self.number(0.0)
            value = self.new(f"fdiv {own} {self.number(part)}, {first}")
            if not self.rests_at_zero:
                return value
            is_zero = self.new(f"fcmp oeq {own} {first}, {zero}")
            return self.new(f"select {bits(self.lanes)} {is_zero}, {own} {zero}, {own} {value}")

        return self.once(f"{part} of first", item, make)

    def coefficient(self, item: Item | None, k: int) -> str | None:
        """a_k; None for zero."""
        return None if item is None else self.series[item][k]

    def weight(self, item: Item, j: int) -> str | None:
        """j a_j."""
        known = self.weighted.setdefault(item, [])
        while len(known) <= j:
            i = len(known)
            value = self.series[item][i]
            known.append(value if i == 1 else None if value is None or i == 0 else self.op("fmul", value, self.number(float(i))))
        return known[j]

    def total(self, products: list[tuple[str | None, str | None]], begin: str | None = None) -> str | None:
        """A sum of products, those known first added first, to ``begin`` if there is such."""
        pairs = [(a, b) for a, b in products if a is not None and b is not None]
        value = begin
        for a, b in sorted(pairs, key=lambda pair: max(self.ready.get(pair[0], 0), self.ready.get(pair[1], 0))):
            value = self.plus(value, self.times(a, b))
        return value

    def convolution(self, a: Item, b: Item, k: int, low: int, high: int) -> str | None:
        """sum_{j=low}^{high} a_j b_{k-j}."""
        return self.total([(self.series[a][j], self.series[b][k - j]) for j in range(low, high + 1)])

    def weighted_convolution(self, a: Item, b: Item, k: int, low: int, high: int) -> str | None:
        """sum_{j=low}^{high} j a_j b_{k-j}, divided by k."""
        value = self.total([(self.weight(a, j), self.series[b][k - j]) for j in range(low, high + 1)])
        return value if k == 1 else self.times(value, self.number(1.0 / k))

    # ---- recurrences

    def same(self, row: Row[Item], k: int) -> str | None:
        """y = a."""
        return self.coefficient(row.operands[0], k)

    def neg(self, row: Row[Item], k: int) -> str | None:
        """y = -a."""
        return self.minus(self.coefficient(row.operands[0], k))

    def add(self, row: Row[Item], k: int) -> str | None:
        """y = a + b."""
        return self.plus(*(self.coefficient(item, k) for item in row.operands))

    def sub(self, row: Row[Item], k: int) -> str | None:
        """y = a - b."""
        return self.difference(*(self.coefficient(item, k) for item in row.operands))

    def scale(self, row: Row[Item], k: int) -> str | None:
        """y = a b, b constant."""
        return self.times(self.coefficient(row.operands[0], k), self.first(row.needed(1)))

    def ratio(self, row: Row[Item], k: int) -> str | None:
        """y = a / b, b constant."""
        return self.times(self.coefficient(row.operands[0], k), self.reciprocal(row.needed(1)))

    def mul(self, row: Row[Item], k: int) -> str | None:
        """y = a b."""
        a, b = row.needed(0), row.needed(1)
        if a is b:
            half = self.convolution(a, a, k, 1, (k - 1) // 2)
            twice = None if half is None else self.op("fadd", half, half)
            middle = self.series[a][k // 2] if k % 2 == 0 else None
            known = self.plus(twice, self.times(middle, middle))
            double = self.once("twice", a, lambda: self.op("fadd", self.first(a), self.first(a)))
            return self.plus(known, self.times(double, self.series[a][k]))
        return self.convolution(a, b, k, 0, k)

    def div(self, row: Row[Item], k: int) -> str | None:
        """y = a / b."""
        a, b, y = row.operands[0], row.needed(1), row.target
        inverse = self.reciprocal(b)
        of_newest = self.once("minus by first", y, lambda: self.negated(self.op("fmul", self.first(y), inverse)))
        known = self.times(self.minus(self.convolution(y, b, k, 1, k - 1)), inverse)
        return self.total([(self.coefficient(a, k), inverse), (of_newest, self.series[b][k])], known)

    def sqrt(self, row: Row[Item], k: int) -> str | None:
        """y = sqrt(a)."""
        y = row.target
        half = self.convolution(y, y, k, 1, (k - 1) // 2)
        twice = None if half is None else self.op("fadd", half, half)
        middle = self.series[y][k // 2] if k % 2 == 0 else None
        part = self.part_of_first(0.5, y)
        known = self.times(self.minus(self.plus(twice, self.times(middle, middle))), part)
        return self.total([(self.coefficient(row.operands[0], k), part)], known)

    def signed(self, row: Row[Item], value: str | None) -> str | None:
        """By the sign of the row."""
        return value if row.sign > 0 else self.minus(value)

    def product(self, row: Row[Item], k: int) -> str | None:
        """y' = u a'."""
        a, u = row.needed(0), row.needed(1)
        return self.signed(row, self.total([(self.series[a][k], self.first(u))], self.weighted_convolution(a, u, k, 1, k - 1)))

    def quotient(self, row: Row[Item], k: int) -> str | None:
        """u y' = a'."""
        a, u = row.operands[0], row.needed(1)
        inverse = self.reciprocal(u)
        known = self.times(self.minus(self.weighted_convolution(row.target, u, k, 1, k - 1)), inverse)
        return self.total([(self.signed(row, self.coefficient(a, k)), inverse)], known)

    def angle(self, row: Row[Item], k: int) -> str | None:
        """u theta' = x y' - y x'."""
        y, x, u = (row.needed(index) for index in range(3))
        value = self.difference(self.weighted_convolution(y, x, k, 1, k), self.weighted_convolution(x, y, k, 1, k))
        value = self.difference(value, self.weighted_convolution(row.target, u, k, 1, k - 1))
        return None if value is None else self.times(value, self.reciprocal(u))

    def power(self, row: Row[Item], k: int) -> str | None:
        """a y' = c y a'."""
        a, y, exponent = (row.needed(index) for index in range(3))
        one_more = self.once("one more", exponent, lambda: self.new(f"fadd {kind(self.lanes)} {self.first(exponent)}, {self.number(1.0)}"))
        part = self.part_of_first(1.0, a)
        of_newest = self.once("by first", y, lambda: self.op("fmul", self.op("fmul", self.first(exponent), self.first(y)), part))
        known = self.difference(self.times(one_more, self.weighted_convolution(a, y, k, 1, k - 1)), self.convolution(a, y, k, 1, k - 1))
        return self.total([(of_newest, self.series[a][k])], self.times(known, part))

    def select(self, row: Row[Item], k: int) -> str | None:
        """y = a or b."""
        condition = row.needed(0)
        a, b = (self.coefficient(item, k) for item in row.operands[1:])
        if a is None and b is None:
            return None
        own, zero = kind(self.lanes), self.number(0.0)
        holds = self.once("holds", condition, lambda: self.new(f"fcmp une {own} {self.first(condition)}, {zero}"))
        register = self.new(f"select {bits(self.lanes)} {holds}, {own} {a or zero}, {own} {b or zero}")
        self.ready[register] = 1 + max(self.ready.get(a or zero, 0), self.ready.get(b or zero, 0))
        return register


_RULES: Final[dict[str, Callable[[StraightLine, Row[Item], int], str | None]]] = {
    "same": StraightLine.same, "neg": StraightLine.neg, "add": StraightLine.add, "sub": StraightLine.sub, "scale": StraightLine.scale,
    "ratio": StraightLine.ratio, "mul": StraightLine.mul, "div": StraightLine.div, "sqrt": StraightLine.sqrt,
    "product": StraightLine.product, "quotient": StraightLine.quotient, "angle": StraightLine.angle, "power": StraightLine.power,
    "select": StraightLine.select,
}  # fmt: skip


class _OneByOne(StraightLine):
    def __init__(self, program: Program, places: Mapping[Expr, int], order: int, numbers: NumberTable, *, rests_at_zero: bool, members: int) -> None:
        super().__init__(order, rests_at_zero=rests_at_zero, lanes=members)
        self.places, self.numbers = places, numbers
        self.loaded: dict[Item, str] = {}
        made: dict[Item, Series] = {row.target: [self.first(row.target)] for row in program.rows}
        self.series.update(made)
        rate_of: dict[Item, Expr] = dict(zip(program.states, program.rates, strict=True))
        for k in range(1, order + 1):
            scale = self.unit if k == 1 else self.op("fmul", self.unit, self.number(1.0 / k))
            for row in program.rows:
                if row.kind == "state":
                    value = self._of_state(rate_of[row.target], k, scale)
                elif row.kind == "time":
                    value = self.unit if k == 1 else None
                else:
                    value = self.recurrence(row, k)
                made[row.target].append(value)

    def first(self, item: Item) -> str:
        """The first coefficient of a node."""
        if not isinstance(item, Expr):
            raise TypeError("nodes one by one")
        if item not in self.loaded and item.op == "const":
            self.loaded[item] = spread(self.new, self.numbers.operand(self.new, item.value), self.lanes)
        if item not in self.loaded:
            place = self.new(f"getelementptr double, ptr %out, i64 {self.places[item] * self.lanes}")
            self.loaded[item] = self.new(f"load {kind(self.lanes)}, ptr {place}, align 8")
        return self.loaded[item]

    def _of_state(self, rate: Expr, k: int, scale: str) -> str | None:
        if rate not in self.series:
            return self.op("fmul", self.first(rate), scale) if k == 1 else None
        value = self.series[rate][k - 1]
        return None if value is None else self.op("fmul", value, scale)
