"""Recurrences as LLVM text that loops over the order (stage: compiled): series in a table, sums made by shared functions. For large programs.

The text grows with the number of nodes only, whatever the order; it is cut into pieces, functions of their own, for which LLVM's time grows faster
than their length.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tidegate.compiled.emit_taylor.recurrences import Program, Row
from tidegate.compiled.emit_taylor.straight_line import literal
from tidegate.expressions import Expr

__all__ = ["SUMS", "looped_functions", "table_size"]

_PIECE: Final = 250  # rows of one piece

# sum_{j=low}^{high} a_j b_{k-j}, and the same with j a_j for a_j
SUMS: Final = "\n".join(
    f"""define internal double @series.{name}(ptr readonly %a, ptr readonly %b, i64 %k, i64 %low, i64 %high) nounwind {{
entry:
  br label %test
test:
  %j = phi i64 [ %low, %entry ], [ %next, %more ]
  %sum = phi double [ 0.0, %entry ], [ %larger, %more ]
  %is = icmp sle i64 %j, %high
  br i1 %is, label %more, label %done
more:
  %rest = sub i64 %k, %j
  %ap = getelementptr double, ptr %a, i64 %j
  %bp = getelementptr double, ptr %b, i64 %rest
  %av = load double, ptr %ap
  %bv = load double, ptr %bp
  {weight}
  %product = fmul contract double %aw, %bv
  %larger = fadd contract double %sum, %product
  %next = add i64 %j, 1
  br label %test
done:
  ret double %sum
}}"""
    for name, weight in (
        ("sum", f"%aw = fmul double %av, {literal(1.0)}"),
        ("weighted", "%jd = sitofp i64 %j to double\n  %aw = fmul contract double %av, %jd"),
    )
)


def table_size(program: Program, order: int) -> int:
    """Numbers in the table of series."""
    return len(program.rows) * (order + 1)


def looped_functions(
    program: Program, places: Mapping[Expr, int], table: int, order: int, name: str, *, rests_at_zero: bool
) -> tuple[str, list[str]]:
    """The pieces, as functions, and the lines that call them.

    Parameters
    ----------
    program : the recurrences.
    places : of first coefficients in %out.
    table : where the table begins in %out.
    order : the highest.
    name : of the function, for the names of its pieces.
    rests_at_zero : whether roots and powers of zero stay what they are.
    """
    of = {row.target: table + index * (order + 1) for index, row in enumerate(program.rows)}
    rows = program.rows
    pieces = [rows[first : first + _PIECE] for first in range(0, len(rows), _PIECE)]
    texts = [_Piece(program, piece, of, places, rests_at_zero=rests_at_zero).function(f"{name}.{index}") for index, piece in enumerate(pieces)]
    lines: list[str] = []
    count = 0

    def new(instruction: str) -> str:
        nonlocal count
        count += 1
        lines.append(f"  %l{count} = {instruction}")
        return f"%l{count}"

    for row in rows:
        value = literal(row.target.value) if row.target.is_constant else new(f"load double, ptr {_at(new, places[row.target])}")
        lines.append(f"  store double {value}, ptr {_at(new, of[row.target])}")
    for k in range(1, order + 1):
        lines += [f"  call void @{name}.{index}(ptr %out, i64 {k}, double {literal(float(k))}) nounwind" for index in range(len(pieces))]
    n = len(program.states)
    for k in range(1, order + 1):
        for q, state in enumerate(program.states):
            value = new(f"load double, ptr {_at(new, of[state] + k)}")
            lines.append(f"  store double {value}, ptr {_at(new, 1 + (k - 1) * n + q)}")
    return "\n".join(texts), lines


def _at(new: Callable[[str], str], place: int) -> str:
    return new(f"getelementptr double, ptr %out, i64 {place}")


class _Piece:
    """One order of some rows, as a function of the order."""

    def __init__(self, program: Program, rows: tuple[Row, ...], of: Mapping[Expr, int], places: Mapping[Expr, int], *, rests_at_zero: bool) -> None:
        self.of = of
        self.rests_at_zero = rests_at_zero
        self.places = places
        self.rate_of = dict(zip(program.states, program.rates, strict=True))
        self.lines: list[str] = []
        self.count = 0
        self.inverse = self.new(f"fdiv double {literal(1.0)}, %kd")
        self.is_first = self.new("icmp eq i64 %k, 1")
        self.before = self.new("sub i64 %k, 1")
        for row in rows:
            value = _RULES[row.kind](self, row)
            self.lines.append(f"  store double {value}, ptr {self.pointer(row.target, '%k')}")

    def function(self, name: str) -> str:
        """Its text."""
        body = "\n".join(self.lines)
        return f"define internal void @{name}(ptr %out, i64 %k, double %kd) nounwind {{\nentry:\n{body}\n  ret void\n}}"

    def new(self, instruction: str) -> str:
        """The register that holds what an instruction gives."""
        self.count += 1
        self.lines.append(f"  %s{self.count} = {instruction}")
        return f"%s{self.count}"

    def op(self, name: str, a: str, b: str) -> str:
        """An operation of two numbers."""
        return self.new(f"{name} contract double {a}, {b}")

    def pointer(self, item: Expr, k: str = "0") -> str:
        """Where coefficient k of a node stands."""
        base = self.new(f"getelementptr double, ptr %out, i64 {self.of[item]}")
        return base if k == "0" else self.new(f"getelementptr double, ptr {base}, i64 {k}")

    def coefficient(self, item: Expr | None, k: str = "%k") -> str:
        """Coefficient k of a node; zero for one that is constant."""
        return literal(0.0) if item is None else self.new(f"load double, ptr {self.pointer(item, k)}")

    def first(self, item: Expr) -> str:
        """The first coefficient of any node."""
        if item.op == "const":
            return literal(item.value)
        if item in self.of:
            return self.coefficient(item, "0")
        return self.new(f"load double, ptr {_at(self.new, self.places[item])}")

    def sum(self, a: Expr, b: Expr, low: str, high: str, name: str = "sum") -> str:
        """sum_{j=low}^{high} a_j b_{k-j}."""
        return self.new(f"call double @series.{name}(ptr {self.pointer(a)}, ptr {self.pointer(b)}, i64 %k, i64 {low}, i64 {high})")

    def weighted(self, a: Expr, b: Expr, high: str) -> str:
        """1/k sum_{j=1}^{high} j a_j b_{k-j}."""
        return self.op("fmul", self.sum(a, b, "1", high, "weighted"), self.inverse)

    def divided(self, value: str, item: Expr) -> str:
        """value / a_0 for a root or a power of a; 0 where a_0 is zero, if they are to rest there."""
        first = self.first(item)
        quotient = self.op("fdiv", value, first)
        if not self.rests_at_zero:
            return quotient
        is_zero = self.new(f"fcmp oeq double {first}, 0.0")
        return self.new(f"select i1 {is_zero}, double {literal(0.0)}, double {quotient}")

    # ---- recurrences

    def state(self, row: Row) -> str:
        rate = self.rate_of[row.target]
        if rate in self.of:
            value = self.coefficient(rate, self.before)
        else:
            value = self.new(f"select i1 {self.is_first}, double {self.first(rate)}, double {literal(0.0)}")
        unit = self.new("load double, ptr %out")
        return self.op("fmul", value, self.op("fmul", unit, self.inverse))

    def time(self, _row: Row) -> str:
        unit = self.new("load double, ptr %out")
        return self.new(f"select i1 {self.is_first}, double {unit}, double {literal(0.0)}")

    def same(self, row: Row) -> str:
        return self.coefficient(row.operands[0])

    def neg(self, row: Row) -> str:
        return self.new(f"fneg double {self.coefficient(row.operands[0])}")

    def add(self, row: Row) -> str:
        return self.op("fadd", *(self.coefficient(item) for item in row.operands))

    def sub(self, row: Row) -> str:
        return self.op("fsub", *(self.coefficient(item) for item in row.operands))

    def scale(self, row: Row) -> str:
        return self.op("fmul", self.coefficient(row.operands[0]), self.first(row.needed(1)))

    def ratio(self, row: Row) -> str:
        return self.op("fdiv", self.coefficient(row.operands[0]), self.first(row.needed(1)))

    def mul(self, row: Row) -> str:
        return self.sum(row.needed(0), row.needed(1), "0", "%k")

    def div(self, row: Row) -> str:
        a, b = row.operands[0], row.needed(1)
        value = self.op("fsub", self.coefficient(a), self.sum(row.target, b, "0", self.before))
        return self.op("fdiv", value, self.first(b))

    def sqrt(self, row: Row) -> str:
        y = row.target
        value = self.op("fsub", self.coefficient(row.operands[0]), self.sum(y, y, "1", self.before))
        return self.divided(self.op("fmul", value, literal(0.5)), y)

    def signed(self, row: Row, value: str) -> str:
        return value if row.sign > 0 else self.new(f"fneg double {value}")

    def product(self, row: Row) -> str:
        return self.signed(row, self.weighted(row.needed(0), row.needed(1), "%k"))

    def quotient(self, row: Row) -> str:
        a, u = row.operands[0], row.needed(1)
        value = self.op("fsub", self.signed(row, self.coefficient(a)), self.weighted(row.target, u, self.before))
        return self.op("fdiv", value, self.first(u))

    def angle(self, row: Row) -> str:
        y, x, u = (row.needed(index) for index in range(3))
        value = self.op("fsub", self.weighted(y, x, "%k"), self.weighted(x, y, "%k"))
        return self.op("fdiv", self.op("fsub", value, self.weighted(row.target, u, self.before)), self.first(u))

    def power(self, row: Row) -> str:
        a, y, exponent = (row.needed(index) for index in range(3))
        more = self.op("fmul", self.op("fadd", self.first(exponent), literal(1.0)), self.weighted(a, y, "%k"))
        return self.divided(self.op("fsub", more, self.sum(a, y, "1", "%k")), a)

    def select(self, row: Row) -> str:
        condition, a, b = row.needed(0), *row.operands[1:]
        holds = self.new(f"fcmp une double {self.first(condition)}, 0.0")
        return self.new(f"select i1 {holds}, double {self.coefficient(a)}, double {self.coefficient(b)}")


_RULES: Final[dict[str, Callable[[_Piece, Row], str]]] = {
    "state": _Piece.state, "time": _Piece.time, "same": _Piece.same, "neg": _Piece.neg, "add": _Piece.add, "sub": _Piece.sub, "scale": _Piece.scale,
    "ratio": _Piece.ratio, "mul": _Piece.mul, "div": _Piece.div, "sqrt": _Piece.sqrt, "product": _Piece.product,
    "quotient": _Piece.quotient, "angle": _Piece.angle, "power": _Piece.power, "select": _Piece.select,
}  # fmt: skip
