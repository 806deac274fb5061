"""Recurrences as straight-line LLVM text of vectors (stage: compiled): rows of one kind side by side, every coefficient in a register.

Which rows stand side by side is what ``lanes.LanePlan`` says; what is done with them, ``straight_line``. Operands that do not stand side by side are
put together from registers, once an order, so that no load waits for a store of another width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import overload

from tidegate.compiled.emit_taylor.lanes import LanePlan, Pack
from tidegate.compiled.emit_taylor.recurrences import Program, Row
from tidegate.compiled.emit_taylor.straight_line import Item, Series, Side, StraightLine, StraightSeries
from tidegate.compiled.emit_taylor.vector_text import assembled, chunks, kind, spread, spread_literal
from tidegate.compiled.number_table import NumberTable, is_written, literal
from tidegate.expressions import Expr

__all__ = ["packed_series"]


def packed_series(
    program: Program,
    plan: LanePlan,
    places: Mapping[Expr, int],
    order: int,
    numbers: NumberTable,
    others: Sequence[Expr] = (),
    *,
    rests_at_zero: bool,
) -> StraightSeries:
    """What ``straight_line.straight_series`` gives, several rows at a time.

    Parameters
    ----------
    program : the recurrences.
    plan : which of them stand side by side.
    places : of first coefficients in %out, as the plan says.
    order : of the last coefficient.
    numbers : the module's.
    others : nodes whose coefficients are wanted besides.
    rests_at_zero : roots and powers of zero stay what they are.
    """
    made = _SideBySide(program, plan, places, order, numbers, rests_at_zero=rests_at_zero)
    pieces = {(first, lanes): made.own[made.side(program.states[first : first + lanes], lanes)] for first, lanes in chunks(len(program.states))}
    return StraightSeries(made.lines, pieces, [made.one(item) for item in others])


class _Together(Sequence["str | None"]):
    """Coefficients of nodes that are not computed side by side; each is put together when it is first asked for."""

    def __init__(self, line: _SideBySide, side: Side) -> None:
        self.line, self.side = line, side
        self.known: dict[int, str | None] = {}

    def __len__(self) -> int:
        return self.line.order + 1

    @overload
    def __getitem__(self, k: int) -> str | None: ...
    @overload
    def __getitem__(self, k: slice) -> Sequence[str | None]: ...
    def __getitem__(self, k: int | slice) -> str | Sequence[str | None] | None:
        if isinstance(k, slice):
            return [self[one] for one in range(len(self))[k]]
        if k not in self.known:
            self.known[k] = self.line.first(self.side) if k == 0 else self.line.together(self.side, k)
        return self.known[k]


class _SideBySide(StraightLine):
    def __init__(
        self, program: Program, plan: LanePlan, places: Mapping[Expr, int], order: int, numbers: NumberTable, *, rests_at_zero: bool
    ) -> None:
        super().__init__(order, rests_at_zero=rests_at_zero)
        self.places, self.numbers = places, numbers
        self.sides: dict[tuple[Expr, ...], Side] = {}
        self.own: dict[Side, Series] = {}
        self.where: dict[Expr, tuple[Series, int, int]] = {}  # the series, the lane in it, how many it has
        self.loaded: dict[Side, str] = {}
        states = [self._made(program.states[first : first + lanes], lanes) for first, lanes in chunks(len(program.states))]
        times = [self._made([item], 1) for item in plan.times]
        work = [self._recurrence(pack) for packs in plan.levels for pack in packs]
        rates = [self._operand(program.rates[first : first + lanes], lanes) for first, lanes in chunks(len(program.states))]
        for k in range(1, order + 1):
            self.lanes = 1
            scale = self.unit if k == 1 else self.op("fmul", self.unit, literal(1.0 / k))
            scales = {lanes: spread(self.new, scale, lanes) for lanes in {len(side.items) for side in states}}
            now: list[tuple[Side, str | None]] = []
            for state, rate in zip(states, rates, strict=True):
                self.lanes = len(state.items)
                now.append((state, self.times(self.series[rate][k - 1], scales[self.lanes])))
            for side, value in now:
                self.own[side].append(value)
            for side in times:
                self.own[side].append(self.unit if k == 1 else None)
            for row in work:
                self.lanes = len(row.target.items)
                self.own[row.target].append(self.recurrence(row, k))

    # ---- which nodes stand where

    def side(self, items: Sequence[Expr], lanes: int) -> Side:
        """Of so many lanes, the last node in those left over."""
        padded = (*items, *[items[-1]] * (lanes - len(items)))
        return self.sides.setdefault(padded, Side(padded))

    def _made(self, items: Sequence[Expr], lanes: int) -> Side:
        """One that is computed as it stands."""
        side = self.side(items, lanes)
        self.lanes = lanes
        self.series[side] = self.own[side] = [self.first(side)]
        for lane, item in enumerate(items):
            self.where[item] = (self.own[side], lane, lanes)
        return side

    def _operand(self, items: Sequence[Expr], lanes: int) -> Side:
        side = self.side(items, lanes)
        if side not in self.series:
            self.series[side] = _Together(self, side)
        return side

    def _recurrence(self, pack: Pack) -> _Rows:
        rows = pack.rows
        target = self._made([row.target for row in rows], pack.lanes)
        operands = [
            None if item is None else self._operand([row.needed(number) for row in rows], pack.lanes) for number, item in enumerate(rows[0].operands)
        ]
        return _Rows(target, rows[0].kind, tuple(operands), rows[0].sign)

    # ---- several numbers from several places

    def first(self, item: Item) -> str:
        """First coefficients, from memory and literals."""
        if not isinstance(item, Side):
            raise TypeError("nodes side by side")
        if item not in self.loaded:
            self.loaded[item] = self._loaded(item.items)
        return self.loaded[item]

    def _loaded(self, items: tuple[Expr, ...]) -> str:
        lanes = len(items)
        if all(item.op == "const" for item in items):
            return self._of_numbers([item.value for item in items])
        places = [self.places.get(item, -1) for item in items]
        if places == list(range(places[0], places[0] + lanes)):
            at = self.new(f"getelementptr double, ptr %out, i64 {places[0]}")
            return self.new(f"load {kind(lanes)}, ptr {at}, align 8")
        values: dict[Expr, str] = {}
        for item in dict.fromkeys(items):
            if item.op == "const":
                values[item] = self.numbers.operand(self.new, item.value)
            else:
                at = self.new(f"getelementptr double, ptr %out, i64 {self.places[item]}")
                values[item] = self.new(f"load double, ptr {at}")
        return assembled(self.new, [values[item] for item in items])

    def _of_numbers(self, values: Sequence[float]) -> str:
        lanes = len(values)
        if len(set(values)) == 1:
            return spread(self.new, self.numbers.operand(self.new, values[0]), lanes)
        if any(map(is_written, values)):
            return assembled(self.new, [self.numbers.operand(self.new, value) for value in values])
        return self.new(f"load {kind(lanes)}, ptr {self.numbers.array(values)}, align 8")

    def together(self, side: Side, k: int) -> str | None:
        """Coefficients of order k >= 1; zero for what does not move."""
        lanes = len(side.items)
        sources: dict[tuple[str, int], dict[int, int]] = {}  # a register and its lanes -> lane here -> lane there
        for here, item in enumerate(side.items):
            series, there, width = self.where.get(item, ([], 0, 0))
            value = series[k] if width else None
            if value is not None:
                sources.setdefault((value, width), {})[here] = there
        vector: str | None = None
        for (value, width), taken in sources.items():
            vector = self._joined(vector, lanes, value, width, taken)
        if vector is not None:
            self.ready[vector] = 1 + max(self.ready.get(value, 0) for value, _ in sources)
        return vector

    def _joined(self, vector: str | None, lanes: int, value: str, width: int, taken: Mapping[int, int]) -> str:
        """Lanes of one register in the places of another, or of zeros."""
        if lanes == 1:
            return self._one_of(value, taken[0], width)
        if width == 1:
            joined = vector or spread_literal(0.0, lanes)
            for here in taken:
                joined = self.new(f"insertelement {kind(lanes)} {joined}, double {value}, i32 {here}")
            return joined
        if vector is None and width == lanes and all(taken.get(lane) == lane for lane in range(lanes)):
            return value
        moved = ", ".join(f"i32 {taken.get(lane, width)}" for lane in range(lanes))
        of = kind(width)
        placed = self.new(f"shufflevector {of} {value}, {of} zeroinitializer, <{lanes} x i32> <{moved}>")
        if vector is None:
            return placed
        chosen = ", ".join(f"i32 {lanes + lane if lane in taken else lane}" for lane in range(lanes))
        return self.new(f"shufflevector {kind(lanes)} {vector}, {kind(lanes)} {placed}, <{lanes} x i32> <{chosen}>")

    def _one_of(self, value: str, lane: int, width: int) -> str:
        return value if width == 1 else self.new(f"extractelement {kind(width)} {value}, i32 {lane}")

    def one(self, item: Expr) -> list[str | None]:
        """The coefficients of one node, for whoever wants it alone."""
        series, lane, width = self.where[item]
        return [None if value is None else self._one_of(value, lane, width) for value in series]


class _Rows(Row[Item]):
    """Several rows, whose target is their side."""

    target: Side
