"""Recurrences as LLVM text that loops over the order, rows of one kind side by side in vectors (stage: compiled). For large programs.

Series stand in a table with one line an order, so that the same coefficient of rows that are computed alike is next to each other: a *pack* is up to
eight rows of one kind that need nothing of each other at the same order. An operand whose coefficients are not side by side is copied, once an order.
The text grows with the number of packs only, whatever the order; it is cut into pieces, functions of their own, for which LLVM's time grows faster
than their length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import Final

from tidegate.compiled.emit_taylor.recurrences import Program, Row
from tidegate.compiled.emit_taylor.vector_text import MOST_LANES, VectorText, chunks, kind, spread_literal
from tidegate.compiled.number_table import NumberTable, literal
from tidegate.expressions import Expr
from tidegate.quick_dataclass import dataclass

__all__ = ["LanePlan", "lane_functions"]

_PIECE: Final = 32  # packs of one piece
_WIDE: Final = '"prefer-vector-width"="512"'
_AT_ONCE: Final = 4  # packs whose sums are made in one loop, so that none waits for another
_LATER: Final = {"product": 1, "quotient": 1, "power": 1}  # kinds of which only so many operands are needed at the same order


@dataclass(eq=False)
class Pack:
    """Rows that are computed together.

    Parameters
    ----------
    rows : of one kind.
    lanes : width of the vectors; those behind the rows hold nothing.
    slot : where their series begin in a line of the table.
    copies : of operands that are not side by side: number of the operand -> slot of the copy.
    kept : slot of what is computed of first coefficients only.
    """

    rows: list[Row[Expr]]
    lanes: int
    slot: int
    copies: dict[int, int] = field(default_factory=dict[int, int])
    kept: int = -1


class LanePlan:
    """Which rows stand side by side, and where in a line of the table each node has its coefficient.

    Parameters
    ----------
    program : the recurrences.
    """

    def __init__(self, program: Program) -> None:
        self.slots: dict[Expr, int] = {state: q for q, state in enumerate(program.states)}
        self.width = _rounded(len(program.states), MOST_LANES)
        self.n_states = len(program.states)
        self.times = [row.target for row in program.rows if row.kind == "time"]
        for item in self.times:
            self.slots[item] = self._take(1)
        self.levels = self._packed(program)
        for item in program.first:
            if item not in self.slots and item.op != "const":
                self.slots[item] = self._take(1)
        for packs in self.levels:
            for pack in packs:
                self._place_operands(pack)
        self.width = _rounded(self.width, MOST_LANES) + MOST_LANES

    def _take(self, lanes: int) -> int:
        slot = _rounded(self.width, lanes)
        self.width = slot + lanes
        return slot

    def _packed(self, program: Program) -> list[list[Pack]]:
        level: dict[Expr, int] = dict.fromkeys([*program.states, *self.times], 0)
        groups: dict[tuple[int, str, float, tuple[bool, ...]], list[Row[Expr]]] = {}
        for row in program.rows:
            if row.kind in ("state", "time"):
                continue
            same = row.operands[: _LATER.get(row.kind, len(row.operands))]
            level[row.target] = 1 + max((level.get(item, 0) for item in same if item is not None and item is not row.target), default=0)
            missing = tuple(item is None for item in row.operands)
            groups.setdefault((level[row.target], row.kind, row.sign, missing), []).append(row)
        levels: list[list[Pack]] = []
        for key in sorted(groups, key=lambda key: (key[0], str(key[1:]))):
            rows = groups[key]
            packs: list[Pack] = []
            first = 0
            while first < len(rows):
                left = len(rows) - first
                lanes = MOST_LANES if left > MOST_LANES // 2 else 4 if left > 2 else left
                pack = Pack(rows[first : first + lanes], lanes, self._take(lanes))
                first += lanes
                packs.append(pack)
                for lane, row in enumerate(pack.rows):
                    self.slots[row.target] = pack.slot + lane
            levels.append(packs)
        return levels

    def _place_operands(self, pack: Pack) -> None:
        first = pack.rows[0]
        for number in range(len(first.operands)):
            if number in _MOVING[first.kind] and pack.rows[0].operands[number] is not None and not self.beside(pack, number):
                pack.copies[number] = self._take(pack.lanes)
        if first.kind in _KEPT:
            pack.kept = self._take(pack.lanes)

    def beside(self, pack: Pack, number: int) -> bool:
        """Whether an operand of all rows stands side by side."""
        slots = [self.slots.get(row.needed(number), -1) for row in pack.rows]
        return slots[0] >= 0 and slots == list(range(slots[0], slots[0] + len(slots)))


def _rounded(n: int, lanes: int) -> int:
    return -(-n // lanes) * lanes


# operands whose coefficients above the first are read; kinds that keep something of first coefficients
_MOVING: Final = {
    "same": (0,), "neg": (0,), "add": (0, 1), "sub": (0, 1), "scale": (0,), "ratio": (0,), "mul": (0, 1), "div": (0, 1), "sqrt": (0,),
    "product": (0, 1), "quotient": (0, 1), "angle": (0, 1, 2), "power": (0,), "select": (1, 2),
}  # fmt: skip
_KEPT: Final = frozenset(["scale", "ratio", "div", "sqrt", "quotient", "angle", "power", "select"])


def lane_functions(
    program: Program, plan: LanePlan, table: int, order: int, name: str, numbers: NumberTable, *, rests_at_zero: bool
) -> tuple[str, list[str]]:
    """The pieces, as functions, and the lines that call them.

    Parameters
    ----------
    program : the recurrences.
    plan : of the table; first coefficients stand in its first line already.
    table : where the table begins in %out.
    order : the highest.
    name : of the function, for the names of its pieces.
    numbers : the module's.
    rests_at_zero : whether roots and powers of zero stay what they are.
    """
    work = [group for packs in plan.levels for group in _groups(packs)]
    texts: list[str] = []
    firsts: list[str] = []
    laters: list[str] = []
    for number, piece in enumerate(_pieces(work)):
        first, later = f"{name}.first.{number}", f"{name}.later.{number}"
        texts.append(_Piece(plan, table, order, numbers, rests_at_zero=rests_at_zero).of_first(first, piece))
        texts.append(_Piece(plan, table, order, numbers, rests_at_zero=rests_at_zero).of_later(later, piece))
        firsts.append(f"  call void @{first}(ptr %out) nounwind")
        laters.append(later)
    states = f"{name}.states"
    texts.append(_Piece(plan, table, order, numbers, rests_at_zero=rests_at_zero).of_states(states, program))
    lines = list(firsts)
    for k in range(1, order + 1):
        given = f"ptr %out, i64 {k}, double {literal(float(k))}"
        lines += [f"  call void @{one}({given}) nounwind" for one in (states, *laters)]
    return "\n".join(texts), lines


def _groups(packs: Sequence[Pack]) -> Iterator[list[Pack]]:
    """Packs of the same width and kind, so many as make their sums in one loop."""
    first = 0
    while first < len(packs):
        last = first + 1
        while last < len(packs) and last - first < _AT_ONCE and packs[last].lanes == packs[first].lanes:
            last += 1
        yield list(packs[first:last])
        first = last


def _pieces(groups: Sequence[list[Pack]]) -> Iterator[list[list[Pack]]]:
    piece: list[list[Pack]] = []
    count = 0
    for group in groups:
        if count + len(group) > _PIECE and piece:
            yield piece
            piece, count = [], 0
        piece.append(group)
        count += len(group)
    if piece:
        yield piece


class _Piece:
    """Some packs at one order, as a function of the order; or what is kept of their first coefficients."""

    def __init__(self, plan: LanePlan, table: int, order: int, numbers: NumberTable, *, rests_at_zero: bool) -> None:
        self.plan, self.table, self.order, self.numbers, self.rests_at_zero = plan, table, order, numbers, rests_at_zero
        self.text = VectorText()
        self.loops = 0
        self.block = "entry"

    # ---- the three kinds of functions

    def of_first(self, name: str, groups: list[list[Pack]]) -> str:
        """Copies of first coefficients, and what is kept of them."""
        self.first = self.text.new(f"getelementptr double, ptr %out, i64 {self.table}")
        for pack in (pack for group in groups for pack in group):
            for number, slot in pack.copies.items():
                self.text.store(self.gathered(pack, number, self.first), self.first, slot, pack.lanes)
            if pack.kept >= 0:
                self.text.store(self.kept(pack), self.first, pack.kept, pack.lanes)
        return self._function(f"{name}(ptr %out)")

    def of_later(self, name: str, groups: list[list[Pack]]) -> str:
        """Coefficients of order k."""
        self._open()
        for group in groups:
            kind_of_row = group[0].rows[0].kind
            for pack in group:
                self._copy(pack)
            values = _RULES[kind_of_row](self, group)
            for pack, value in zip(group, values, strict=True):
                self.text.store(value, self.line, pack.slot, pack.lanes)
        return self._function(f"{name}(ptr %out, i64 %k, double %kd)")

    def of_states(self, name: str, program: Program) -> str:
        """Coefficients of order k of states, into the table and into what is given back; and of time."""
        self._open()
        text, n = self.text, self.plan.n_states
        back = text.new(f"getelementptr double, ptr %out, i64 {1 - n}")
        back = text.new(f"getelementptr double, ptr {back}, i64 {text.new(f'mul i64 %k, {n}')}")
        unit = text.load("%out", 0)
        scale = text.op("fmul", 1, unit, self.inverse)
        is_first = text.new("icmp eq i64 %k, 1")
        moving = {row.target for row in program.rows}
        for first, lanes in chunks(n):
            rates = program.rates[first : first + lanes]
            slots = [self.plan.slots.get(rate, -1) if rate in moving else -1 for rate in rates]
            if slots[0] >= 0 and slots == list(range(slots[0], slots[0] + lanes)):
                rate = text.load(self.before, slots[0], lanes)
            else:
                rate = self.text.assembled([self._rate(one, slot, is_first) for one, slot in zip(rates, slots, strict=True)])
            value = text.op("fmul", lanes, rate, text.spread(scale, lanes))
            text.store(value, self.line, first, lanes)
            text.store(value, back, first, lanes)
        for item in self.plan.times:
            text.store(text.new(f"select i1 {is_first}, double {unit}, double {literal(0.0)}"), self.line, self.plan.slots[item])
        return self._function(f"{name}(ptr %out, i64 %k, double %kd)")

    def _rate(self, rate: Expr, slot: int, is_first: str) -> str:
        """One rate's coefficient of the order before."""
        if slot >= 0:
            return self.text.load(self.before, slot)
        return self.text.new(f"select i1 {is_first}, double {self.first_of(rate)}, double {literal(0.0)}")

    def _open(self) -> None:
        text = self.text
        self.first = text.new(f"getelementptr double, ptr %out, i64 {self.table}")
        self.line = text.new(f"getelementptr double, ptr {self.first}, i64 {text.new(f'mul i64 %k, {self.plan.width}')}")
        self.before = text.new(f"getelementptr double, ptr {self.line}, i64 {-self.plan.width}")
        self.inverse = text.new(f"fdiv double {literal(1.0)}, %kd")

    def _function(self, head: str) -> str:
        body = "\n".join(self.text.lines)
        return f"define internal void @{head} nounwind {_WIDE} {{\nentry:\n{body}\n  ret void\n}}"

    # ---- operands

    def first_of(self, item: Expr) -> str:
        """The first coefficient of a node."""
        return self.numbers.operand(self.text.new, item.value) if item.op == "const" else self.text.load(self.first, self.plan.slots[item])

    def gathered(self, pack: Pack, number: int, line: str) -> str:
        """An operand's coefficients in a line of the table, which do not stand side by side."""
        values = [self.text.load(line, self.plan.slots[row.needed(number)]) for row in pack.rows]
        return self.text.assembled(values, pack.lanes)

    def firsts(self, pack: Pack, number: int) -> str:
        """First coefficients of an operand of any kind."""
        items = [row.needed(number) for row in pack.rows]
        if all(item.op == "const" for item in items) and len({item.value for item in items}) == 1:
            return self.text.spread(self.first_of(items[0]), pack.lanes)
        if self.plan.beside(pack, number):
            return self.text.load(self.first, self.plan.slots[items[0]], pack.lanes)
        return self.text.assembled([self.first_of(item) for item in items], pack.lanes)

    def _copy(self, pack: Pack) -> None:
        for number, slot in pack.copies.items():
            # of a companion only what is below this order is needed, and known
            line = self.line if number < _LATER.get(pack.rows[0].kind, number + 1) else self.before
            self.text.store(self.gathered(pack, number, line), line, slot, pack.lanes)

    def slot(self, pack: Pack, number: int) -> int:
        """Where the series of an operand stand side by side; -1 is the pack itself."""
        if number < 0:
            return pack.slot
        if number in pack.copies:
            return pack.copies[number]
        return self.plan.slots[pack.rows[0].needed(number)]

    def now(self, pack: Pack, number: int) -> str:
        """Coefficients of order k of an operand."""
        if pack.rows[0].operands[number] is None:
            return spread_literal(0.0, pack.lanes)
        return self.text.load(self.line, self.slot(pack, number), pack.lanes)

    def of_kept(self, pack: Pack) -> str:
        return self.text.load(self.first, pack.kept, pack.lanes)

    def zeroth(self, pack: Pack, number: int) -> str:
        """First coefficients of an operand that moves."""
        return self.text.load(self.first, self.slot(pack, number), pack.lanes)

    # ---- what is kept of first coefficients

    def kept(self, pack: Pack) -> str:
        text, lanes, row = self.text, pack.lanes, pack.rows[0]
        if row.kind in ("scale", "select"):
            return self.firsts(pack, 1 if row.kind == "scale" else 0)
        if row.kind == "sqrt":
            return self._part(text.load(self.first, pack.slot, lanes), 0.5, lanes)
        if row.kind == "power":
            return self._part(self.firsts(pack, 0), 1.0, lanes)
        divisor = self.firsts(pack, 2 if row.kind == "angle" else 1)
        return text.op("fdiv", lanes, spread_literal(1.0, lanes), divisor)

    def _part(self, first: str, part: float, lanes: int) -> str:
        """part / a_0 for a root or a power of a; 0 where a_0 is zero, if they are to rest there."""
        value = self.text.op("fdiv", lanes, spread_literal(part, lanes), first)
        if not self.rests_at_zero:
            return value
        zero = spread_literal(0.0, lanes)
        is_zero = self.text.new(f"fcmp oeq {kind(lanes)} {first}, {zero}")
        bits = "i1" if lanes == 1 else f"<{lanes} x i1>"
        return self.text.new(f"select {bits} {is_zero}, {kind(lanes)} {zero}, {kind(lanes)} {value}")

    # ---- sums

    def sums(self, packs: list[Pack], pairs: Sequence[tuple[int, int, bool]]) -> list[list[str]]:
        """For each pack and pair (a, b, weighted): sum_{j=1}^{k-1} a_j b_{k-j}, or with j a_j for a_j; operands by number, -1 the pack itself."""
        text = self.text
        self.loops += 1
        label = f"L{self.loops}"
        width = self.plan.width
        lanes = packs[0].lanes
        wanted = [(pack, a, b, weighted) for pack in packs for a, b, weighted in pairs]
        is_any = text.new("icmp sgt i64 %k, 1")
        text.lines += [f"  br i1 {is_any}, label %{label}, label %{label}.none", f"{label}.none:", f"  br label %{label}.done", f"{label}:"]
        entry = f"%{self.block}"
        text.lines.append(f"  %{label}.j = phi i64 [ 1, {entry} ], [ %{label}.next, %{label} ]")
        text.lines.append(f"  %{label}.w = phi double [ {literal(1.0)}, {entry} ], [ %{label}.heavier, %{label} ]")
        for index in range(len(wanted)):
            zero = spread_literal(0.0, lanes)
            text.lines.append(f"  %{label}.s{index} = phi {kind(lanes)} [ {zero}, {entry} ], [ %{label}.t{index}, %{label} ]")
        early = text.new(f"getelementptr double, ptr {self.first}, i64 {text.new(f'mul i64 %{label}.j, {width}')}")
        rest = text.new(f"sub i64 %k, %{label}.j")
        late = text.new(f"getelementptr double, ptr {self.first}, i64 {text.new(f'mul i64 {rest}, {width}')}")
        weight = text.spread(f"%{label}.w", lanes) if any(one[3] for one in wanted) else ""
        for index, (pack, a, b, weighted) in enumerate(wanted):
            left = text.load(early, self.slot(pack, a), lanes)
            if weighted:
                left = text.op("fmul", lanes, left, weight)
            product = text.op("fmul", lanes, left, text.load(late, self.slot(pack, b), lanes))
            text.lines.append(f"  %{label}.t{index} = fadd contract {kind(lanes)} %{label}.s{index}, {product}")
        text.lines.append(f"  %{label}.next = add i64 %{label}.j, 1")
        text.lines.append(f"  %{label}.heavier = fadd double %{label}.w, {literal(1.0)}")
        goes_on = text.new(f"icmp slt i64 %{label}.next, %k")
        text.lines += [f"  br i1 {goes_on}, label %{label}, label %{label}.done", f"{label}.done:"]
        found: list[str] = []
        for index in range(len(wanted)):
            zero = spread_literal(0.0, lanes)
            found.append(f"%{label}.r{index}")
            text.lines.append(f"  {found[-1]} = phi {kind(lanes)} [ {zero}, %{label}.none ], [ %{label}.t{index}, %{label} ]")
        self.block = f"{label}.done"
        each = len(pairs)
        return [found[index : index + each] for index in range(0, len(found), each)]

    # ---- recurrences: the coefficients of order k of each pack

    def same(self, packs: list[Pack]) -> list[str]:
        return [self.now(pack, 0) for pack in packs]

    def neg(self, packs: list[Pack]) -> list[str]:
        return [self.text.new(f"fneg {kind(pack.lanes)} {self.now(pack, 0)}") for pack in packs]

    def add(self, packs: list[Pack]) -> list[str]:
        return [self.text.op("fadd", pack.lanes, self.now(pack, 0), self.now(pack, 1)) for pack in packs]

    def sub(self, packs: list[Pack]) -> list[str]:
        return [self.text.op("fsub", pack.lanes, self.now(pack, 0), self.now(pack, 1)) for pack in packs]

    def scale(self, packs: list[Pack]) -> list[str]:
        return [self.text.op("fmul", pack.lanes, self.now(pack, 0), self.of_kept(pack)) for pack in packs]

    def mul(self, packs: list[Pack]) -> list[str]:
        values: list[str] = []
        for pack, (value,) in zip(packs, self.sums(packs, [(0, 1, False)]), strict=True):
            newer = self._more(pack, value, self.zeroth(pack, 0), self.now(pack, 1))
            values.append(self._more(pack, newer, self.now(pack, 0), self.zeroth(pack, 1)))
        return values

    def _more(self, pack: Pack, value: str, a: str, b: str) -> str:
        return self.text.op("fadd", pack.lanes, value, self.text.op("fmul", pack.lanes, a, b))

    def div(self, packs: list[Pack]) -> list[str]:
        values: list[str] = []
        for pack, (known,) in zip(packs, self.sums(packs, [(-1, 1, False)]), strict=True):
            newer = self._more(pack, known, self.zeroth(pack, -1), self.now(pack, 1))
            values.append(self.text.op("fmul", pack.lanes, self.text.op("fsub", pack.lanes, self.now(pack, 0), newer), self.of_kept(pack)))
        return values

    def sqrt(self, packs: list[Pack]) -> list[str]:
        sums = self.sums(packs, [(-1, -1, False)])
        return [
            self.text.op("fmul", pack.lanes, self.text.op("fsub", pack.lanes, self.now(pack, 0), known), self.of_kept(pack))
            for pack, (known,) in zip(packs, sums, strict=True)
        ]

    def _signed(self, pack: Pack, value: str) -> str:
        return value if pack.rows[0].sign > 0 else self.text.new(f"fneg {kind(pack.lanes)} {value}")

    def _divided(self, pack: Pack, value: str) -> str:
        """By k."""
        return self.text.op("fmul", pack.lanes, value, self.text.spread(self.inverse, pack.lanes))

    def product(self, packs: list[Pack]) -> list[str]:
        return [
            self._signed(pack, self._more(pack, self._divided(pack, value), self.now(pack, 0), self.zeroth(pack, 1)))
            for pack, (value,) in zip(packs, self.sums(packs, [(0, 1, True)]), strict=True)
        ]

    def quotient(self, packs: list[Pack]) -> list[str]:
        values: list[str] = []
        for pack, (known,) in zip(packs, self.sums(packs, [(-1, 1, True)]), strict=True):
            value = self.text.op("fsub", pack.lanes, self._signed(pack, self.now(pack, 0)), self._divided(pack, known))
            values.append(self.text.op("fmul", pack.lanes, value, self.of_kept(pack)))
        return values

    def angle(self, packs: list[Pack]) -> list[str]:
        values: list[str] = []
        sums = self.sums(packs, [(0, 1, True), (1, 0, True), (-1, 2, True)])
        for pack, (up, down, known) in zip(packs, sums, strict=True):
            first = self._more(pack, self._divided(pack, up), self.now(pack, 0), self.zeroth(pack, 1))
            second = self._more(pack, self._divided(pack, down), self.now(pack, 1), self.zeroth(pack, 0))
            value = self.text.op("fsub", pack.lanes, self.text.op("fsub", pack.lanes, first, second), self._divided(pack, known))
            values.append(self.text.op("fmul", pack.lanes, value, self.of_kept(pack)))
        return values

    def power(self, packs: list[Pack]) -> list[str]:
        values: list[str] = []
        for pack, (weighted, plain) in zip(packs, self.sums(packs, [(0, -1, True), (0, -1, False)]), strict=True):
            exponent = self.firsts(pack, 2)
            one_more = self.text.op("fadd", pack.lanes, exponent, spread_literal(1.0, pack.lanes))
            value = self.text.op("fsub", pack.lanes, self.text.op("fmul", pack.lanes, one_more, self._divided(pack, weighted)), plain)
            newest = self.text.op("fmul", pack.lanes, exponent, self.zeroth(pack, -1))
            value = self._more(pack, value, self.now(pack, 0), newest)
            values.append(self.text.op("fmul", pack.lanes, value, self.of_kept(pack)))
        return values

    def select(self, packs: list[Pack]) -> list[str]:
        values: list[str] = []
        for pack in packs:
            lanes = pack.lanes
            holds = self.text.new(f"fcmp une {kind(lanes)} {self.of_kept(pack)}, {spread_literal(0.0, lanes)}")
            bits = "i1" if lanes == 1 else f"<{lanes} x i1>"
            a, b = self.now(pack, 1), self.now(pack, 2)
            values.append(self.text.new(f"select {bits} {holds}, {kind(lanes)} {a}, {kind(lanes)} {b}"))
        return values


_RULES: Final[dict[str, Callable[[_Piece, list[Pack]], list[str]]]] = {
    "same": _Piece.same, "neg": _Piece.neg, "add": _Piece.add, "sub": _Piece.sub, "scale": _Piece.scale, "ratio": _Piece.scale, "mul": _Piece.mul,
    "div": _Piece.div, "sqrt": _Piece.sqrt, "product": _Piece.product, "quotient": _Piece.quotient, "angle": _Piece.angle, "power": _Piece.power,
    "select": _Piece.select,
}  # fmt: skip
