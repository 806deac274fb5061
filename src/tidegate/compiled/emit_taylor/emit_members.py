"""One step of several runs at once as LLVM text (stage: compiled): lane by lane what ``whole_step`` does for one run, to the last bit.

Every number of a run stands beside the same number of the other runs, ``MEMBERS`` of them, which is one vector. Only the first coefficients, in which
functions of libraries are called, are computed run by run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tidegate.compiled.emit_llvm import FunctionSpec, emit_module
from tidegate.compiled.emit_taylor.emit_series import Arguments
from tidegate.compiled.emit_taylor.guard_ranges import NO_GUARDS, WatchedGuards
from tidegate.compiled.emit_taylor.recurrences import Program
from tidegate.compiled.emit_taylor.step_box import MEMBERS
from tidegate.compiled.emit_taylor.straight_line import StraightSeries, fused_declarations, straight_series
from tidegate.compiled.emit_taylor.vector_text import bits, kind, ones
from tidegate.compiled.emit_taylor.whole_step import WholeStep, step_declarations
from tidegate.compiled.number_table import NumberTable
from tidegate.expressions import Expr
from tidegate.quick_dataclass import dataclass

__all__ = ["MembersText", "emit_members"]

_LINE: Final = 8  # numbers in a line of the cache
_BYTES: Final = 8


@dataclass(frozen=True, eq=False)
class MembersText:
    """A module of two functions.

    Parameters
    ----------
    text : ``name.member(t, y, p, m, out, scratch)`` puts down the first coefficients of one run, at its lane of y and out; its parameters are in a
        memory of its own. ``name.step(t, where, y, out, box, polynomial, end, rate, scratch)`` is a step of all; ``where`` has the addresses of the
        parameters of all runs, then those of what is constant between events. It returns a bit for each run: 1 for DONE.
    n_numbers : of ``out``, for one run.
    n_scratch : of ``scratch``, for all.
    """

    text: str
    n_numbers: int
    n_scratch: int


def emit_members(
    program: Program,
    arguments: Arguments,
    order: int,
    name: str,
    *,
    divisors: Sequence[Expr] = (),
    exponents: Sequence[Expr] = (),
    guards: WatchedGuards = NO_GUARDS,
) -> MembersText:
    """What ``emit_series`` makes of a step with series written out, for several runs.

    Parameters
    ----------
    program, arguments, order : as there; the arguments are t, y, p, m, out.
    name : what the names of the functions begin with.
    divisors, exponents, guards : what a step watches.
    """
    n = len(program.states)
    begin = 1
    moving = [item for item in program.first if item.op != "const"]
    places = {item: begin + k for k, item in enumerate(moving)}
    room = -(-n // _LINE) * _LINE
    numbers = NumberTable()
    start = FunctionSpec(f"{name}.start", arguments.names, arguments.by_value, arguments.positions, [(at, item) for item, at in places.items()])
    series = straight_series(program, places, order, numbers, (*divisors, *exponents, *guards.parts), rests_at_zero=True, members=MEMBERS)
    rates = [float(rate.value) if rate.op == "const" else places[rate] for rate in program.rates]
    step = _MembersStep(
        name, n, order, rates, series, numbers,
        n_exponents=len(exponents), is_affine=program.is_affine, guards=guards, places=places, members=MEMBERS,
    )  # fmt: skip
    functions = f"{_member(name, n, list(places.values()), room)}{step.text_of_all()}"
    module = emit_module([start], numbers=numbers)
    n_numbers = begin + len(moving)
    text = f"{numbers.definition()}{module}\n{step_declarations(n, module, MEMBERS)}{fused_declarations(functions)}{functions}"
    return MembersText(text, n_numbers, room + n_numbers)


def _member(name: str, n: int, places: Sequence[int], room: int) -> str:
    """The function of one run's first coefficients."""
    lines: list[str] = []

    def moved(number: str, source: str, at: int, target: str, to: int) -> None:
        lines.append(f"  %f{number} = getelementptr double, ptr {source}, i64 {at}")
        lines.append(f"  %v{number} = load double, ptr %f{number}")
        lines.append(f"  %t{number} = getelementptr double, ptr {target}, i64 {to}")
        lines.append(f"  store double %v{number}, ptr %t{number}")

    for q in range(n):
        moved(f"y{q}", "%y", q * MEMBERS, "%scratch", q)
    lines.append(f"  %own = getelementptr double, ptr %scratch, i64 {room}")
    lines.append(f"  call void @{name}.start(double %t, ptr %scratch, ptr %p, ptr %m, ptr %own) nounwind")
    for at in places:
        moved(f"o{at}", "%own", at, "%out", at * MEMBERS)
    body = "\n".join(lines)
    return f"define void @{name}.member(double %t, ptr %y, ptr %p, ptr %m, ptr %out, ptr %scratch) nounwind {{\nentry:\n{body}\n  ret void\n}}\n"


class _MembersStep(WholeStep):
    """Instead of ending where a run needs care, its bit is left out."""

    good = ones(MEMBERS)

    def _arguments(self) -> str:
        given = ("%t", "%where", "%y", *(f"noalias %{name}" for name in ("out", "box", "a", "end", "rate", "scratch")))
        return ", ".join(f"ptr {one}" for one in given)

    def _begin_straight(self, series: StraightSeries) -> None:
        self.text.lines += series.lines
        self.block = "entry"
        self.now = self.single("%t", 0)

    def _go_on_if(self, condition: str, label: str) -> None:
        del label
        self.good = self.text.both(self.good, condition, MEMBERS)

    def _end_if(self, fits: str) -> None:
        text, own = self.text, bits(MEMBERS)
        does_not_matter = text.new(f"xor {own} {self.good}, {ones(MEMBERS)}")
        all_do = text.every(text.new(f"or {own} {fits}, {does_not_matter}"), MEMBERS)
        text.lines += [f"  br i1 {all_do}, label %fine, label %closely", "fine:"]
        self._end(fits)

    def _end(self, fits: str) -> None:
        text = self.text
        mask = text.new(f"bitcast {bits(MEMBERS)} {text.both(self.good, fits, MEMBERS)} to i{MEMBERS}")
        text.lines.append(f"  ret i64 {text.new(f'zext i{MEMBERS} {mask} to i64')}")

    def _put_rates(self, later: str) -> None:
        text = self.text
        for lane in range(MEMBERS):
            when = text.new(f"extractelement {kind(MEMBERS)} {later}, i32 {lane}")
            p, m = (self._address(of * MEMBERS + lane) for of in range(2))
            end, out = (text.new(f"getelementptr double, ptr {array}, i64 {lane}") for array in ("%end", "%out"))
            given = f"double {when}, ptr {end}, ptr {p}, ptr {m}, ptr {out}, ptr %scratch"
            text.lines.append(f"  call void @{self.name}.member({given}) nounwind")
        for q, rate in enumerate(self.rates):
            value = text.spread(self.numbers.operand(text.new, rate), MEMBERS) if isinstance(rate, float) else self.single("%out", rate)
            text.store(value, "%rate", self.at(q), MEMBERS)

    def _address(self, place: int) -> str:
        at = self.text.new(f"getelementptr i8, ptr %where, i64 {place * _BYTES}")
        return self.text.new(f"load ptr, ptr {at}, align 8")
