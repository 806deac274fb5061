"""What an unknown that stays for several takes over from those that go (stage: structure): start value, nominal size, limits.

In: groups of unknowns that are one, or a number. Out: the model's variables without those that go, and what is asked of parameters. A start value
that must hold exactly counts before a guess; two that differ contradict the equation that makes them one, and are refused. Limits are those that all
of them have; the smallest nominal size counts, so that none is solved with less accuracy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from tidegate.errors import Origin, StructureError
from tidegate.expressions import ZERO, Expr, constant, number_text
from tidegate.model import Bound, Equation, Model, Variable, VariableRole
from tidegate.quick_dataclass import dataclass
from tidegate.structure.passes import Demand

__all__ = ["Member", "merged"]

_SAME: Final = 1e-12  # relative distance of two start values that are one


@dataclass(frozen=True, eq=False)
class Member:
    """An unknown that is one with others, or a number.

    Parameters
    ----------
    item : its symbol; sign : with which it is the one that stays.
    stays : True for that one.
    number : that the one that stood for all is; None where it is unknown.
    equation : that made it go.
    """

    item: Expr
    sign: int
    stays: bool
    number: float | None
    equation: Equation | None


@dataclass(frozen=True, eq=False)
class _Known:
    """A member with what was declared of it, turned to the sign of the one that stays."""

    member: Member
    variable: Variable
    start: Expr
    low: Bound | None
    high: Bound | None

    @property
    def strength(self) -> int:
        """How certain its start value is: 2 must hold, 1 is what was declared of a state, 0 a guess."""
        if self.variable.fixed is True:
            return 2
        is_default = self.variable.start_source == "default"
        return int(self.variable.role is VariableRole.STATE and self.variable.fixed is None and bool(self.variable.start) and not is_default)

    def __str__(self) -> str:
        return str(self.member.item.data.name)


def merged(model: Model, groups: Sequence[Sequence[Member]]) -> tuple[tuple[Variable, ...], tuple[Demand, ...]]:
    """The variables that remain, and what must be true of parameters.

    Raises
    ------
    StructureError : start values or limits of unknowns that are one exclude each other.
    """
    declared = {item: (variable, start) for variable in model.unknowns for item, start in zip(variable.symbols(), variable.starts(), strict=True)}
    demands: list[Demand] = []
    gone: set[Expr] = set()
    new: dict[Expr, Variable] = {}
    for group in groups:
        known = [_known(member, *declared[member.item]) for member in group]
        low, high = _limits(known)
        gone |= {member.item for member in group if not member.stays}
        stays = next((one for one in known if one.member.stays), None)
        if stays is None:
            demands += _check_number(known)
            continue
        start, is_fixed = _start(stays, known, demands)
        sizes = [one.variable.nominal for one in known if one.variable.nominal is not None]
        fixed = True if is_fixed else stays.variable.fixed
        facts: dict[str, Any] = {"start": (start,), "fixed": fixed, "nominal": min(sizes, default=None), "minimum": low, "maximum": high}
        new[stays.member.item] = replace(stays.variable, name=str(stays), shape=(), **facts)
    return tuple(part for variable in model.variables for part in _remaining(variable, gone, new)), tuple(demands)


def _known(member: Member, variable: Variable, start: Expr) -> _Known:
    if member.sign > 0:
        return _Known(member, variable, start, variable.minimum, variable.maximum)
    return _Known(member, variable, -start, _turned(variable.maximum), _turned(variable.minimum))


def _turned(bound: Bound | None) -> Bound | None:
    return None if bound is None else replace(bound, value=-bound.value)


def _remaining(variable: Variable, gone: set[Expr], new: dict[Expr, Variable]) -> Iterable[Variable]:
    """The variable as it is, or by themselves those of its elements that stay, if some of them go or stand for others."""
    items = variable.symbols() if variable.role in (VariableRole.STATE, VariableRole.ALGEBRAIC) else []
    if all(item not in gone and item not in new for item in items):
        return (variable,)
    starts = dict(zip(items, variable.starts(), strict=True))
    return [
        new[item] if item in new else replace(variable, name=item.data.name, shape=(), start=(starts[item],)) for item in items if item not in gone
    ]


# -- start values


def _start(stays: _Known, known: Sequence[_Known], demands: list[Demand]) -> tuple[Expr, bool]:
    """The start value of the one that stays, and whether it must hold because another's must."""
    strength = max(one.strength for one in known)
    if strength == 0:
        guesses = [one.start for one in known if stays.variable.role is VariableRole.ALGEBRAIC or one is stays or one.variable.start]
        return next((start for start in guesses if start is not ZERO), stays.start), False
    certain = [one for one in known if one.strength == strength]
    first = stays if stays in certain else certain[0]
    for one in certain:
        if one is not first:
            demands += _same_start(first, one)
    return first.start, strength == 2


def _same_start(one: _Known, other: _Known) -> list[Demand]:
    if one.start is other.start:
        return []
    reason = other.member.equation or one.member.equation
    sentence = f"{one} and {other} are one, by {_named(reason)}, and must start at different values"
    if one.start.is_constant and other.start.is_constant:
        if abs(one.start.value - other.start.value) <= _SAME * max(abs(one.start.value), abs(other.start.value)):
            return []
        raise StructureError(
            f"{one} starts at {_own(one)} and {other} at {_own(other)}, but {_named(reason)} makes them {_relation(one, other)}",
            origin=other.variable.origin if str(other.variable.origin) else _origin(reason),
            hint="give both start values that agree, or one of them fixed=False, which makes it a guess",
        )
    return [Demand(one.start - other.start, sentence, is_zero=True, origin=other.variable.origin)]


def _own(one: _Known) -> str:
    """The start value as it was declared."""
    return number_text(one.start.value * one.member.sign + 0.0)


def _relation(one: _Known, other: _Known) -> str:
    return "equal" if one.member.sign == other.member.sign else "opposite"


def _named(equation: Equation | None) -> str:
    if equation is None:
        return "an equation"
    text = " ".join(equation.origin.text.split()) or f"{equation.left!r} == {equation.right!r}"
    place = f" ({equation.origin})" if str(equation.origin) else ""
    return f"`{equation.label or text}`{place}"


def _origin(equation: Equation | None) -> Origin:
    return Origin() if equation is None else equation.origin


# -- limits


def _limits(known: Sequence[_Known]) -> tuple[Bound | None, Bound | None]:
    """What all of them allow of the one that stays."""
    low: tuple[Bound, _Known] | None = None
    high: tuple[Bound, _Known] | None = None
    for one in known:
        if one.low is not None and (low is None or (one.low.value, one.low.is_open) > (low[0].value, low[0].is_open)):
            low = one.low, one
        if one.high is not None and (high is None or (-one.high.value, one.high.is_open) > (-high[0].value, high[0].is_open)):
            high = one.high, one
    if low is not None and high is not None and not _is_room(low[0], high[0]):
        first, second = sorted((low[1], high[1]), key=known.index)
        reason = second.member.equation or first.member.equation
        raise StructureError(
            f"no value lies within the limits of both {first} ({_range(first)}) and {second} ({_range(second)}), "
            f"which {_named(reason)} makes {_relation(first, second)}",
            origin=_origin(reason),
            hint="change the limits (min, max) of one of them",
        )
    return None if low is None else low[0], None if high is None else high[0]


def _is_room(low: Bound, high: Bound) -> bool:
    return low.value < high.value or (low.value == high.value and not (low.is_open or high.is_open))


def _range(one: _Known) -> str:
    low, high = one.variable.minimum, one.variable.maximum
    parts = [f"{'more than' if low.is_open else 'at least'} {low.value:g}"] if low else []
    parts += [f"{'less than' if high.is_open else 'at most'} {high.value:g}"] if high else []
    return " and ".join(parts)


def _check_number(known: Sequence[_Known]) -> list[Demand]:
    """Unknowns that are a number: it must lie within their limits, and be what must hold at the start."""
    number = known[0].member.number
    assert number is not None
    demands: list[Demand] = []
    for one in known:
        value, reason = one.member.sign * number + 0.0, next((other.member.equation for other in (one, *known) if other.member.equation), None)
        single = Bound(number)
        if (one.low and not _is_room(one.low, single)) or (one.high and not _is_room(single, one.high)):
            raise StructureError(
                f"{one} is {number_text(value)} by {_named(reason)}, and must be {_range(one)}",
                origin=_origin(reason),
                hint="change its limits (min, max), or the equation",
            )
        if one.strength < 2:
            continue
        sentence = f"{one} is {number_text(value)} by {_named(reason)}, and must start at another value"
        if one.start.is_constant and abs(one.start.value - number) > _SAME * max(abs(one.start.value), abs(number)):
            raise StructureError(
                f"{one} starts at {_own(one)}, but {_named(reason)} makes it {number_text(value)}",
                origin=one.variable.origin,
                hint="remove fixed=True",
            )
        if not one.start.is_constant:
            demands.append(Demand(one.start - constant(number), sentence, is_zero=True, origin=one.variable.origin))
    return demands
