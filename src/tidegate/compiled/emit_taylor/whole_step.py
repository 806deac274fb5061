"""One step of Taylor's method as LLVM text (stage: compiled): series, length, polynomial, end, and how well it fits, without a detour through memory.

It is what ``integrators.taylor.step`` does in plain words, for the step that is accepted at once; whatever else happens is left to that. All work
after the recurrences is the same for every unknown and is done for several of them at a time. In: the numbers of ``Box``, set by the caller, and the
series' own functions. Out: the polynomial, its end, the rates there, and the rest of ``Box``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from tidegate.compiled.emit_taylor.guard_ranges import GuardRanges, WatchedGuards
from tidegate.compiled.emit_taylor.number_text import BIAS, NumberText
from tidegate.compiled.emit_taylor.step_box import CAREFULLY, DONE, FIRST_LEAST, Box, first_of_guards
from tidegate.compiled.emit_taylor.straight_line import StraightSeries, stores
from tidegate.compiled.emit_taylor.vector_text import MOST_LANES, bits, chunks, kind, ones, spread_literal, suffix
from tidegate.compiled.number_table import NumberTable, literal
from tidegate.expressions import Expr

__all__ = ["WholeStep", "inverse_root", "step_declarations", "whole_step"]

_LEAST: Final = 1e-290  # coefficients below say nothing about the radius
_ROUNDING: Final = 64 * 2.0**-52  # of what is added up in comparing the polynomial with the equations
_WIDE: Final = '"prefer-vector-width"="512"'
_UNROLLED: Final = 4  # vectors of the widest kind that are written out one by one
_MOVES: Final = 0.75  # of the way that its slope tells for the last step: so far an unknown moves in this one, ...
_ALIKE: Final = 2.0  # ... if both are as long, up to this factor
_NOTHING: Final = 60.0  # exp(-60) is
_OF_BOUNDS: Final = 2.0**-20  # of the size of a guard: far more than rounding of its bound
_LEFT_OUT: Final = 0.25  # of the coefficient before the last, with the last: about what a series leaves out


def inverse_root(x: float, order: int) -> float:
    """About x**(-1/order), to a percent, by exponent and quadratics, as the machine code computes it; for tests.

    Examples
    --------
    >>> round(inverse_root(2.0**30, 10), 6)
    0.125
    """
    import math

    fraction, exponent = math.frexp(x)
    f = 2.0 * fraction - 1.0
    power = -(exponent - 1.0 + f * (1.3465 - 0.3465 * f)) / order
    whole = math.floor(power)
    r = power - whole
    return math.ldexp(1.0 + r * (0.6565 + 0.3435 * r), whole)


def step_declarations(n: int, before: str, members: int = 1) -> str:
    """What the function of a whole step of n states calls, as far as the text of its module before it does not declare it."""
    widths = sorted({members, *(lanes for _, lanes in chunks(n) if members == 1)})
    called = {f"llvm.fabs.{suffix(lanes)}": kind(lanes) for lanes in widths} | {f"llvm.floor.{suffix(members)}": kind(members)}
    return "".join(f"declare {own} @{name}({own})\n" for name, own in called.items() if f" @{name}(" not in before)


def whole_step(
    name: str,
    n: int,
    order: int,
    rates: Sequence[int | float],
    series: StraightSeries | Sequence[Callable[[int], int]],
    numbers: NumberTable,
    *,
    n_exponents: int = 0,
    is_affine: bool = False,
    guards: WatchedGuards,
    places: Mapping[Expr, int],
) -> str:
    """The function ``i64 name.step(t, y, p, m, out, box, polynomial, end, rate)`` beside ``name.start`` and, for looped series, ``name.rest``.

    It returns DONE or CAREFULLY. With DONE ``out`` holds the first coefficients of the step behind it. Where the series is written out, the function
    holds it in its registers, and writes it to ``out`` instead of all else if ``box`` is null.

    Parameters
    ----------
    name : of the function of the series.
    n : unknowns.
    order : of the series.
    rates : where each unknown's rate stands among the first coefficients, or the number that it is.
    series : written out, that of what is watched among the others; if it is looped, where each order of these stands in ``out``.
    numbers : the module's.
    n_exponents : how many of these are what exponentials are taken of; the others must not come to zero.
    guards : what is watched of guards; the last of the series are those of their parts.
    places : where first coefficients of their nodes stand in ``out``.
    is_affine : of y' = A y + b + c t: what the polynomial leaves of it is one power of time, largest at the end, so that no step is looked into.
    """
    step = WholeStep(
        name, n, order, rates, series, numbers,
        n_exponents=n_exponents, is_affine=is_affine, guards=guards, places=places,
    )  # fmt: skip
    return step.text_of_all()


_Sums = dict[tuple[str, int], str]  # of a name and a width: the register that holds what has been gathered so far


class WholeStep:
    """The text of the function, for what ``whole_step`` is given; with several ``members`` what all kinds of them have in common."""

    def __init__(
        self,
        name: str,
        n: int,
        order: int,
        rates: Sequence[int | float],
        series: StraightSeries | Sequence[Callable[[int], int]],
        numbers: NumberTable,
        *,
        n_exponents: int,
        is_affine: bool,
        guards: WatchedGuards,
        places: Mapping[Expr, int],
        members: int = 1,
    ) -> None:
        self.name, self.n, self.order, self.rates, self.is_affine = name, n, order, rates, is_affine
        self.numbers = numbers
        self.straight = series if isinstance(series, StraightSeries) else None
        self.places = () if isinstance(series, StraightSeries) else series
        self.n_exponents, self.guards, self.first_places = n_exponents, guards, places
        self.members = members
        self.text = NumberText(members)
        self.now = "%t"
        self.block = "go"
        self.loops = 0
        self.cares = False

    def text_of_all(self) -> str:
        """Of this function alone."""
        text = self.text
        if self.straight is None:
            self._begin_looped()
        else:
            self._begin_straight(self.straight)
        unit = self.single("%out", 0)
        step = self._length(self._radius(), unit)
        self._polynomial(step, unit)
        self._fit(step)
        body = "\n".join(text.lines)
        return f"define i64 @{self.name}.step({self._arguments()}) nounwind {_WIDE} {{\nentry:\n{body}\n}}\n"

    def _arguments(self) -> str:
        return "double %t, ptr %y, ptr %p, ptr %m, ptr noalias %out, ptr noalias %box, ptr noalias %a, ptr noalias %end, ptr noalias %rate"

    def _begin_looped(self) -> None:
        text = self.text
        known = text.new(f"fcmp une double {text.load('%box', Box.IS_STARTED)}, 0.0")
        text.lines += [f"  br i1 {known}, label %go, label %first", "first:"]
        text.lines += [f"  call void @{self.name}.start(double %t, ptr %y, ptr %p, ptr %m, ptr %out) nounwind", "  br label %go", "go:"]
        text.lines.append(f"  call void @{self.name}.rest(ptr %out) nounwind")

    def _begin_straight(self, series: StraightSeries) -> None:
        text = self.text
        only = text.new("icmp eq ptr %box, null")
        text.lines += [f"  br i1 {only}, label %first, label %maybe", "maybe:"]
        known = text.new(f"fcmp une double {text.load('%box', Box.IS_STARTED)}, 0.0")
        text.lines += [f"  br i1 {known}, label %go, label %first", "first:"]
        text.lines += [f"  call void @{self.name}.start(double %t, ptr %y, ptr %p, ptr %m, ptr %out) nounwind", "  br label %go", "go:"]
        text.lines += [*series.lines, f"  br i1 {only}, label %give, label %on", "give:", *stores(series), f"  ret i64 {DONE}", "on:"]
        self.block = "on"

    # ---- numbers in memory

    def single(self, array: str, place: int) -> str:
        """What is one number of a run."""
        return self.text.load(array, place * self.members, self.members)

    def put(self, value: str, place: int) -> None:
        """The same into the box."""
        self.text.store(value, "%box", place * self.members, self.members)

    def at(self, first: int | str, offset: int = 0) -> int | str:
        """The place of what is told of an unknown, behind so many other numbers."""
        if isinstance(first, int):
            return (offset + first) * self.members
        return self.text.new(f"add i64 {first}, {offset}") if offset else first

    def _spread(self, value: str, lanes: int) -> str:
        """What is one number of a run, beside as many unknowns."""
        return value if lanes == self.members else self.text.spread(value, lanes)

    # ---- the same for all unknowns

    def _for_all(self, body: Callable[[int | str, int, _Sums], None], sums: dict[str, tuple[str, Callable[[int], str]]]) -> _Sums:
        """Do something with all unknowns, several at a time; what is gathered has a type, double or i1, and begins with a value of so many lanes."""
        pieces = list(chunks(self.n)) if self.members == 1 else [(q, self.members) for q in range(self.n)]
        wide = sum(lanes == MOST_LANES for _, lanes in pieces)
        gathered: _Sums = {}
        for name, (_, begin) in sums.items():
            for lanes in {lanes for _, lanes in pieces}:
                gathered[name, lanes] = begin(lanes)
        if wide > _UNROLLED and self.straight is None:
            self._loop(wide, body, sums, gathered)
            pieces = pieces[wide:]
        for first, lanes in pieces:
            body(first, lanes, gathered)
        return gathered

    def _loop(
        self, count: int, body: Callable[[int | str, int, _Sums], None], sums: dict[str, tuple[str, Callable[[int], str]]], gathered: _Sums
    ) -> None:
        text = self.text
        self.loops += 1
        label = f"all{self.loops}"
        text.label(label)
        text.lines.append(f"  %{label}.q = phi i64 [ 0, %{self.block} ], [ %{label}.next, %{label} ]")
        inside: _Sums = {}
        holes: list[tuple[int, str, str, str]] = []
        for name, (of, _) in sums.items():
            register = f"%{label}.{name}"
            inside[name, MOST_LANES] = register
            holes.append((len(text.lines), register, f"<{MOST_LANES} x {of}>", name))
            text.lines.append("")
        body(f"%{label}.q", MOST_LANES, inside)
        for place, register, of, name in holes:
            begin, later = gathered[name, MOST_LANES], inside[name, MOST_LANES]
            text.lines[place] = f"  {register} = phi {of} [ {begin}, %{self.block} ], [ {later}, %{label} ]"
            gathered[name, MOST_LANES] = later
        text.lines.append(f"  %{label}.next = add i64 %{label}.q, {MOST_LANES}")
        again = text.new(f"icmp slt i64 %{label}.next, {count * MOST_LANES}")
        text.lines += [f"  br i1 {again}, label %{label}, label %{label}.done", f"{label}.done:"]
        self.block = f"{label}.done"

    def _largest(self, gathered: _Sums, name: str) -> str:
        found = ""
        for (one, lanes), value in sorted(gathered.items(), key=str):
            if one == name:
                most = self.text.largest(value, lanes) if lanes != self.members else value
                found = self.text.maximum(found, most, self.members) if found else most
        return found

    def _every(self, gathered: _Sums, name: str) -> str:
        found = ""
        for (one, lanes), value in sorted(gathered.items(), key=str):
            if one == name:
                holds = self.text.every(value, lanes) if lanes != self.members else value
                found = self.text.both(found, holds, self.members) if found else holds
        return found

    def _of(self, what: int, first: int | str) -> int | str:
        """Where one of the four numbers of each unknown stands in the box: its least scale, scale, slope, sum."""
        return self.at(first, FIRST_LEAST + what * self.n)

    def _place(self, k: int, first: int | str, offset: int) -> int | str:
        return self.at(first, offset + (k - 1) * self.n)

    def _coefficients(self, k: int, first: int | str, lanes: int) -> str:
        if self.straight is None or not isinstance(first, int):
            return self.text.load("%out", self._place(k, first, 1), lanes)
        piece = self.straight.pieces.get((first, lanes))
        if piece is not None:
            return piece[k] or spread_literal(0.0, lanes)
        return self.text.assembled([self.straight.pieces[q, 1][k] or literal(0.0) for q in range(first, first + lanes)])

    def _size(self, value: str, lanes: int) -> str:
        return self.text.call("fabs", lanes, value)

    def _least(self, first: int | str, lanes: int) -> str:
        """How large an unknown is at the start, or counts at least."""
        text = self.text
        return text.maximum(self._size(text.load("%y", self.at(first), lanes), lanes), text.load("%box", self._of(0, first), lanes), lanes)

    # ---- how long the step may be

    def _compare(self, first: int | str, lanes: int, scale: str, sums: _Sums) -> None:
        """Note the last two coefficients by the scales."""
        text = self.text
        inverse = text.new(f"fdiv {kind(lanes)} {spread_literal(1.0, lanes)}, {scale}")
        for k in (self.order, self.order - 1):
            part = text.op("fmul", lanes, self._size(self._coefficients(k, first, lanes), lanes), inverse)
            sums[f"c{k}", lanes] = text.maximum(part, sums[f"c{k}", lanes], lanes)

    def _sums_of_coefficients(self) -> dict[str, tuple[str, Callable[[int], str]]]:
        return {f"c{k}": ("double", lambda lanes: spread_literal(0.0, lanes)) for k in (self.order, self.order - 1)}

    def _radius_by(self, gathered: _Sums) -> str:
        """Caution times the radius, in units of time."""
        text = self.text
        least = ""
        says = ""
        for k in (self.order, self.order - 1):
            size = self._largest(gathered, f"c{k}")
            is_told = text.holds("ogt", size, text.number(_LEAST))
            power = text.power(text.maximum(size, text.number(_LEAST), text.wide), k)
            power = text.either(is_told, power, text.number(float(BIAS)))
            least = text.minimum(least, power, text.wide) if least else power
            says = text.new(f"or {bits(text.wide)} {says}, {is_told}") if says else is_told
        return text.times(text.either(says, text.raised(least), text.number(float("inf"))), self.single("%box", Box.CAUTION))

    def _radius(self) -> str:
        """The same, with scales that know how far the unknowns move; the scales are put down.

        Unknowns move about as far as they would have in the step before. Only where that is not so, they are asked twice.
        """
        text = self.text

        def at_once(first: int | str, lanes: int, sums: _Sums) -> None:
            moved = text.op("fmul", lanes, self._size(self._coefficients(1, first, lanes), lanes), spread_literal(_MOVES, lanes))
            scale = text.maximum(moved, self._least(first, lanes), lanes)
            text.store(scale, "%box", self._of(1, first), lanes)
            self._compare(first, lanes, scale, sums)

        def still(first: int | str, lanes: int, sums: _Sums) -> None:
            self._compare(first, lanes, self._least(first, lanes), sums)

        def later(first: int | str, lanes: int, sums: _Sums) -> None:
            moved = text.op("fmul", lanes, self._size(self._coefficients(1, first, lanes), lanes), self._spread(radius, lanes))
            scale = text.maximum(moved, self._least(first, lanes), lanes)
            place = self._of(1, first)
            text.store(scale if self.members == 1 else text.either(is_alike, text.load("%box", place, lanes), scale), "%box", place, lanes)
            self._compare(first, lanes, scale, sums)

        told = self._radius_by(self._for_all(at_once, self._sums_of_coefficients()))
        begin = self.block
        is_alike = text.both(text.holds("oge", told, text.number(1.0 / _ALIKE)), text.holds("ole", told, text.number(_ALIKE)), text.wide)
        text.lines += [f"  br i1 {text.every(is_alike, text.wide)}, label %known, label %asked", "asked:"]
        self.block = "asked"
        radius = self._radius_by(self._for_all(still, self._sums_of_coefficients()))
        radius = text.either(text.holds("olt", radius, text.number(float("inf"))), radius, text.number(0.0))
        again = self._radius_by(self._for_all(later, self._sums_of_coefficients()))
        if self.members > 1:
            again = text.either(is_alike, told, again)
        text.label("known")
        value = text.new(f"phi {text.one} [ {told}, %{begin} ], [ {again}, %{self.block} ]")
        self.block = "known"
        return value

    def _length(self, radius: str, unit: str) -> str:
        text = self.text
        limit = text.times(radius, unit)
        self.put(limit, Box.LIMIT)
        longest = self.single("%box", Box.LONGEST_KNOWN if self.is_affine else Box.LONGEST)
        longest = text.either(text.holds("olt", limit, text.number(float("inf"))), longest, self.single("%box", Box.UNLIMITED))
        possible = text.minimum(limit, longest, text.wide)
        self.put(possible, Box.POSSIBLE)
        until = text.minimum(text.new(f"fadd {text.one} {self.now}, {possible}"), self.single("%box", Box.UNTIL), text.wide)
        step = text.new(f"fsub {text.one} {until}, {self.now}")
        self.put(step, Box.STEP)
        ahead = text.holds("ogt", step, self.single("%box", Box.SMALLEST))
        is_long = text.number(0.0) if self.is_affine else text.one_or_zero(text.holds("ogt", step, self.single("%box", Box.LOOK)))
        self.put(is_long, Box.IS_LONG)
        self._go_on_if(ahead, "polynomial")
        return step

    def _go_on_if(self, condition: str, label: str) -> None:
        """No more is to be done of a step for which this does not hold."""
        self.text.lines.append(f"  br i1 {condition}, label %{label}, label %care")
        if not self.cares:
            self.text.lines += ["care:", f"  ret i64 {CAREFULLY}"]
        self.cares = True
        self.text.lines.append(f"{label}:")
        self.block = label

    # ---- the step

    def _powers(self, step: str, unit: str) -> dict[int, list[str]]:
        """Of the step's length by the unit, from the first on, in as many lanes as are wanted somewhere; the first list is that of the widest."""
        text = self.text
        widths = sorted({lanes for _, lanes in chunks(self.n)}, reverse=True) if self.members == 1 else [self.members]
        most = widths[0]
        powers = ["", self._spread(text.new(f"fdiv {text.one} {step}, {unit}"), most)]
        for k in range(2, self.order + 1):
            powers.append(text.op("fmul", most, powers[k // 2], powers[k - k // 2]))
        return {lanes: [text.narrowed(power, most, lanes) if power else "" for power in powers] for lanes in (*widths, text.wide)}

    def _polynomial(self, step: str, unit: str) -> None:
        """Coefficients for the step, its end, and slopes there."""
        text, order = self.text, self.order
        powers = self._powers(step, unit)

        def body(first: int | str, lanes: int, sums: _Sums) -> None:
            # two sums of each kind, smallest terms first, so that neither waits for the other
            ends, slopes = ["", ""], ["", ""]
            for k in range(order, 0, -1):
                a = text.op("fmul", lanes, self._coefficients(k, first, lanes), powers[lanes][k])
                text.store(a, "%a", self._place(k, first, 0), lanes)
                steep = a if k == 1 else text.op("fmul", lanes, a, spread_literal(float(k), lanes))
                which = k & 1
                ends[which] = text.new(f"fadd {kind(lanes)} {ends[which]}, {a}") if ends[which] else a
                slopes[which] = text.op("fadd", lanes, slopes[which], steep) if slopes[which] else steep
            end, slope = (text.new(f"fadd {kind(lanes)} {kept[0]}, {kept[1]}") for kept in (ends, slopes))
            text.store(slope, "%box", self._of(2, first), lanes)
            place = self.at(first)
            text.store(text.new(f"fadd {kind(lanes)} {text.load('%y', place, lanes)}, {end}"), "%end", place, lanes)
            way = self._size(end, lanes)
            finite = text.new(f"fcmp olt {kind(lanes)} {way}, {spread_literal(float('inf'), lanes)}")
            sums["finite", lanes] = text.both(sums["finite", lanes], finite, lanes)
            allowed = text.op("fmul", lanes, text.load("%box", self._of(1, first), lanes), self._spread(idle, lanes))
            sums["rests", lanes] = text.both(sums["rests", lanes], text.new(f"fcmp ole {kind(lanes)} {way}, {allowed}"), lanes)

        idle = self.single("%box", Box.IDLE)
        gathered = self._for_all(body, {"finite": ("i1", ones), "rests": ("i1", ones)})
        self.put(text.one_or_zero(self._every(gathered, "rests")), Box.IS_IDLE)
        self.put(text.one_or_zero(self._clear(powers[text.wide])), Box.IS_CLEAR)
        self.put(self._reach(powers[text.wide]), Box.REACH)
        if self.guards.roots:
            self._tell_far(powers[text.wide])
        self._go_on_if(self._every(gathered, "finite"), "compare")

    def _clear(self, powers: list[str]) -> str:
        """Whether bounds on the whole step say that no divisor comes to zero."""
        text = self.text
        clear = ones(text.wide)
        for divisor in self._divisors():
            clear = text.both(clear, text.holds("ogt", *self._least_size(divisor, powers)), text.wide)
        return clear

    def _tell_far(self, powers: list[str]) -> None:
        text = self.text
        is_alone = self.members == 1
        if is_alone:
            asks = text.new(f"fcmp une double {self.single('%box', Box.ASKS_FAR)}, 0.0")
            text.lines += [f"  br i1 {asks}, label %guards, label %guarded", "guards:"]
        self.put(text.one_or_zero(self._far(powers)), Box.IS_FAR)
        if is_alone:
            text.label("guarded")
            self.block = "guarded"

    def _far(self, powers: list[str]) -> str:
        """Whether bounds on the whole step say that no guard comes nearer to its zero than it must; their sizes at the start are put down."""
        text, roots = self.text, self.guards.roots
        first = first_of_guards(self.n)
        ranges = GuardRanges(text, self.guards, self._parts(), powers, self._first)
        far = ones(text.wide)
        for i, root in enumerate(roots):
            size, distance = ranges.distance(root)
            self.put(size, first + len(roots) + i)
            self.put(distance, first + 2 * len(roots) + i)
            allowed = text.plus(self.single("%box", first + i), text.times(size, text.number(_OF_BOUNDS)))
            far = text.both(far, text.holds("ogt", distance, allowed), text.wide)
        for condition in ranges.conditions:
            far = text.both(far, condition, text.wide)
        return far

    def _first(self, item: Expr) -> str:
        """The first coefficient of a node, in front of the step."""
        if item.op == "const":
            return self.text.spread(self.numbers.operand(self.text.new, item.value), self.members)
        return self.single("%out", self.first_places[item])

    def _reach(self, powers: list[str]) -> str:
        """A bound on how far any exponent moves in the step, of those that do not stay where exponentials are nothing, or beyond all bounds."""
        text = self.text
        most = text.number(0.0)
        for exponent in self._exponents():
            least, rest = self._least_size(exponent, powers)
            matters = text.holds("ult", text.new(f"fsub {text.one} {least}, {rest}"), text.number(_NOTHING))
            reach = text.number(0.0)
            for k in range(self.order, 0, -1):
                reach = text.plus(reach, self._size(text.times(exponent(k), powers[k]), text.wide))
            most = text.maximum(most, text.either(matters, reach, text.number(0.0)), text.wide)
        return most

    def _least_size(self, series: Callable[[int], str], powers: list[str]) -> tuple[str, str]:
        """A bound from below on the size of a polynomial in the step (Horner's rule, on [0, 1]), and about what the series leaves out."""
        text, order = self.text, self.order
        zero = text.number(0.0)
        begin = series(0)
        sign = text.either(text.holds("olt", begin, zero), text.number(-1.0), text.number(1.0))
        low = ""
        rest = zero
        for k in range(order, 0, -1):
            b = text.times(text.times(series(k), sign), powers[k])
            if k >= order - 1:
                rest = text.plus(rest, text.times(self._size(b, text.wide), text.number(1.0 if k == order else _LEFT_OUT)))
            low = text.minimum(text.plus(b, low) if low else b, zero, text.wide)
        size = self._size(begin, text.wide)
        return text.plus(size, low), text.plus(rest, text.times(size, text.number(_ROUNDING)))

    def _divisors(self) -> list[Callable[[int], str]]:
        watched = self._watched()
        return watched[: len(watched) - self.n_exponents - len(self.guards.parts)]

    def _exponents(self) -> list[Callable[[int], str]]:
        watched = self._watched()
        last = len(watched) - len(self.guards.parts)
        return watched[last - self.n_exponents : last]

    def _parts(self) -> list[Callable[[int], str]]:
        watched = self._watched()
        return watched[len(watched) - len(self.guards.parts) :]

    def _watched(self) -> list[Callable[[int], str]]:
        """What gives the coefficient of each order of each divisor, exponent and part of a guard."""
        if self.straight is not None:
            return [lambda k, series=series: series[k] or self.text.number(0.0) for series in self.straight.others]
        return [lambda k, place=place: self.text.load("%out", place(k)) for place in self.places]

    def _fit(self, step: str) -> None:
        """Whether the equations hold at the end; rounding is asked for only where they seem not to."""
        text = self.text
        self._put_rates(text.new(f"fadd {text.one} {self.now}, {step}"))

        def left_and_allowed(first: int | str, lanes: int) -> tuple[str, str]:
            rate = text.op("fmul", lanes, text.load("%rate", self.at(first), lanes), self._spread(step, lanes))
            left = self._size(text.new(f"fsub {kind(lanes)} {rate}, {text.load('%box', self._of(2, first), lanes)}"), lanes)
            # how far the unknown would have moved in as long a step as the series allows is of no account: this one may be much shorter
            moved = self._size(text.load("%a", self._place(1, first, 0), lanes), lanes)
            scale = text.maximum(
                self._size(text.load("%end", self.at(first), lanes), lanes), text.maximum(moved, self._least(first, lanes), lanes), lanes
            )
            return left, text.op("fmul", lanes, scale, self._spread(fit, lanes))

        def body(first: int | str, lanes: int, sums: _Sums) -> None:
            left, allowed = left_and_allowed(first, lanes)
            sums["fits", lanes] = text.both(sums["fits", lanes], text.new(f"fcmp ole {kind(lanes)} {left}, {allowed}"), lanes)

        def closely(first: int | str, lanes: int, sums: _Sums) -> None:
            size = self._size(text.load("%y", self.at(first), lanes), lanes)
            for k in range(self.order, 0, -1):
                term = self._size(text.load("%a", self._place(k, first, 0), lanes), lanes)
                size = text.op("fadd", lanes, size, text.op("fmul", lanes, term, spread_literal(float(k), lanes)))
            left, allowed = left_and_allowed(first, lanes)
            allowed = text.op("fadd", lanes, allowed, text.op("fmul", lanes, size, spread_literal(_ROUNDING, lanes)))
            sums["fits", lanes] = text.both(sums["fits", lanes], text.new(f"fcmp ole {kind(lanes)} {left}, {allowed}"), lanes)

        fit = self.single("%box", Box.FIT)
        fits = self._every(self._for_all(body, {"fits": ("i1", ones)}), "fits")
        self._end_if(fits)
        text.lines.append("closely:")
        self.block = "closely"
        self._end(self._every(self._for_all(closely, {"fits": ("i1", ones)}), "fits"))

    def _end_if(self, fits: str) -> None:
        self.text.lines += [f"  br i1 {fits}, label %fine, label %closely", "fine:", f"  ret i64 {DONE}"]

    def _end(self, fits: str) -> None:
        self.text.lines.append(f"  ret i64 {self.text.new(f'select i1 {fits}, i64 {DONE}, i64 {CAREFULLY}')}")

    def _put_rates(self, later: str) -> None:
        """First coefficients and rates at the end of the step."""
        self.text.lines.append(f"  call void @{self.name}.start(double {later}, ptr %end, ptr %p, ptr %m, ptr %out) nounwind")
        for first, lanes in chunks(self.n):
            self.text.store(self._rates_at_the_end(first, lanes), "%rate", first, lanes)

    def _rates_at_the_end(self, first: int, lanes: int) -> str:
        rates = self.rates[first : first + lanes]
        if lanes == MOST_LANES and all(isinstance(rate, int) for rate in rates) and list(rates) == list(range(int(rates[0]), int(rates[0]) + lanes)):
            return self.text.load("%out", int(rates[0]), lanes)
        # one by one, as they were written: a wider load would have to wait for that
        return self.text.assembled(
            [self.numbers.operand(self.text.new, rate) if isinstance(rate, float) else self.text.load("%out", rate) for rate in rates]
        )
