"""The check of units (stage: structure; a neutral model goes in, silence or one exception with every contradiction comes out).

Each node of the graph is looked at once, whatever number of equations it stands in. What a contradiction is, is said in ``quantities``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from tidegate.errors import Origin, UnitError
from tidegate.expressions import Expr, Role, symbol, walk
from tidegate.expressions.nodes import UNARY_FUNCTIONS
from tidegate.expressions.printing import text
from tidegate.model import Action, Assignment, Model, VariableRole
from tidegate.names import shortened
from tidegate.quick_dataclass import dataclass
from tidegate.structure import unit_algebra as q
from tidegate.structure.analyse import equation_name
from tidegate.structure.unit_algebra import NUMBER, PURE, UNKNOWN, Measured
from tidegate.units import DIMENSIONLESS, Unit, name_of, parse

__all__ = ["check_units"]

_MAX_LISTED: Final = 8
_MAX_TEXT: Final = 60
_TIME: Final = symbol(Role.TIME, "time")
_ROOTS: Final = {"sqrt": 1.0 / 2.0, "cbrt": 1.0 / 3.0}
_TIME_UNITS: Final = ("min", "h", "d", "ms", "us", "ns")  # what a model may count its time in without saying so
_HINT: Final = (
    "correct a unit, or give a constant with a unit as a parameter; to run the model as it is, check_units=False in tg.ode or tg.dae, or "
    "check_units = False in the component"
)


@dataclass(frozen=True, eq=False)
class _Place:
    """Something that holds expressions.

    Parameters
    ----------
    name : how messages name it, with its line; the index of an equation, whose text is only made for a message.
    roots : its expressions.
    pairs : those of which both must measure the same, and the sentence that says so.
    """

    name: str | int
    roots: tuple[Expr, ...]
    pairs: tuple[tuple[Expr, Expr], ...] = ()
    reason: str = ""


def check_units(model: Model) -> None:
    """Refuse a model whose given units contradict each other.

    Parameters
    ----------
    model : validated neutral model. Nothing is checked if it gives no unit, or has ``check_units`` switched off.

    Raises
    ------
    UnitError : listing every contradiction with its equation, the two expressions, their units, and the factor that is missing.

    Examples
    --------
    >>> from tidegate.model import Equation, Form, Variable
    >>> x, v = Variable("x", VariableRole.STATE, unit="m"), Variable("v", VariableRole.PARAMETER, unit="km/h")
    >>> rate = Equation(symbol(Role.DERIVATIVE, "x"), v.symbols()[0], label="der(x)")
    >>> check_units(Model("car", Form.ODE, (x, v), (rate,)))
    Traceback (most recent call last):
    ...
    tidegate.errors.UnitError: the units of car do not fit:
      - equation 1 (der(x)): `der(x)` is in m/s, but `v` is in km/h, and both sides must be the same: multiply `v` by 0.277778
    ...
    """
    if not model.check_units or not (model.time_unit or any(variable.unit for variable in model.variables)):
        return
    check = _Check(model)
    check.run()
    if not check.problems:
        return
    shown = shortened((problem for _, problem in sorted(check.problems, key=lambda found: found[0])), _MAX_LISTED)
    raise UnitError("\n  - ".join([f"the units of {model.name} do not fit:", *shown]), hint=_HINT)


class _Check:
    """One pass over the graph of a model.

    Attributes
    ----------
    known : unit of every node seen so far.
    problems : sentences, each with the number of the place it was found in.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.time = parse(model.time_unit or "s")
        self.texts: dict[Expr, str] = {}
        self.known: dict[Expr, Measured] = {}
        self.problems: list[tuple[int, str]] = []
        self._read_symbols()
        self.places = list(_places(model))
        self.at = 0

    def _read_symbols(self) -> None:
        self.known[_TIME] = Measured(self.time, is_time=True)
        pairs: dict[str, tuple[Measured, Measured]] = {}
        for variable in self.model.variables:
            if not variable.unit.strip():
                continue
            if variable.unit not in pairs:
                unit = parse(variable.unit)
                pairs[variable.unit] = Measured(unit), Measured(Unit(unit.dimension, unit.factor) / self.time)
            given, rate = pairs[variable.unit]
            for name in variable.names:
                # an output has no symbol of its own; it is written as if it had
                items = [symbol(Role.UNKNOWN, name)] if variable.role in _DEFINED else [symbol(_ROLES[variable.role], name)]
                items += [symbol(Role.PREVIOUS, name)]
                self.known.update(dict.fromkeys(items, given))
                self.texts.update(dict.fromkeys(items, variable.unit))
                self.known[symbol(Role.DERIVATIVE, name)] = rate

    def run(self) -> None:
        """Find every contradiction."""
        for item in walk(self._roots()):
            if item not in self.known:
                self.known[item] = self._quantity(item)
        for at, place in enumerate(self.places):
            self.at = at
            for left, right in place.pairs:
                self._compare(left, right, place.reason)

    def _roots(self) -> Iterator[Expr]:
        # `walk` takes a root only when it is through with the one before, so that `at` is the place of what is being looked at
        for at, place in enumerate(self.places):
            self.at = at
            yield from place.roots

    # -- one operation

    def _quantity(self, item: Expr) -> Measured:
        rule = _RULES.get(item.op)
        return UNKNOWN if rule is None else rule(self, item)

    def sum_of(self, item: Expr) -> Measured:
        """``add`` and ``sub``."""
        a, b = (self.known[arg] for arg in item.args)
        found = q.total(a, b, 1.0 if item.op == "add" else -1.0)
        return self._contradiction(item.args[0], item.args[1], "what is added or compared must be the same") if found is None else found

    def choice(self, item: Expr) -> Measured:
        """``select``."""
        found = q.alternative(self.known[item.args[1]], self.known[item.args[2]])
        return self._contradiction(item.args[1], item.args[2], "either may be taken, so they must be the same") if found is None else found

    def relation(self, item: Expr) -> Measured:
        """``ge`` and ``gt``, whose argument is the difference of what was compared."""
        if item.args[0].op == "sub":
            a, b = item.args[0].args
            self._compare_zeros(a, b, "what is compared must be the same")
        return UNKNOWN

    def function(self, item: Expr) -> Measured:
        """``sin``, ``exp`` and their like."""
        self._pure(item.args[0], f"the argument of {item.op}")
        return NUMBER if self.known[item.args[0]].is_number else PURE

    def angle(self, item: Expr) -> Measured:
        """``atan2``."""
        if q.agreed(self.known[item.args[0]], self.known[item.args[1]]) is None:
            self._contradiction(item.args[0], item.args[1], "the arguments of atan2 must be the same")
        return PURE

    def root(self, item: Expr) -> Measured:
        """``sqrt`` and ``cbrt``."""
        return q.power(self.known[item.args[0]], _ROOTS[item.op])

    def power(self, item: Expr) -> Measured:
        """``pow``; an exponent that is no constant leaves only pure numbers what they are."""
        base, exponent = item.args
        if exponent.op == "const":
            return q.power(self.known[base], exponent.value)
        self._pure(exponent, f"the exponent of `{_short(base)}`")
        known = self.known[base]
        return PURE if base.op == "const" or (known.unit is not None and q.is_pure(known) and not known.is_time) else UNKNOWN

    def whole(self, item: Expr) -> Measured:
        """``floor``; of a ratio, as in ``x % y``, only where numerator and denominator are in one unit."""
        known = self.known[item.args[0]]
        if item.args[0].op == "div" and known.unit is not None and known.unit.dimension == DIMENSIONLESS.dimension:
            a, b = item.args[0].args
            if not q.is_pure(known) and self.known[a].unit is not None and self.known[b].unit is not None:
                return self._contradiction(a, b, "how often one goes into the other needs the same")
        return known if known.unit is None else replace(known, literals=1.0, is_time=False)

    def constant(self, item: Expr) -> Measured:
        """``const``."""
        return q.literal(item.value)

    # -- complaints

    def _compare(self, a: Expr, b: Expr, reason: str) -> None:
        found = q.agreed(self.known[a], self.known[b])
        if found is None:
            self._contradiction(a, b, reason)
        elif a.op == "const" and b.op == "sub":
            self._compare_zeros(b.args[0], b.args[1], reason)  # a residual
        else:
            self._compare_zeros(a, b, reason)

    def _compare_zeros(self, a: Expr, b: Expr, reason: str) -> None:
        if q.agreed(self.known[a], self.known[b]) is None or q.has_same_zero(self.known[a], self.known[b]):
            return
        self._note(
            f"{self._said(a)} counts from another zero than {self._said(b)}, and {reason}: add or subtract 273.15 between degC and K, "
            "and give what is a difference of temperatures in K"
        )

    def _pure(self, item: Expr, what: str) -> None:
        known = self.known[item]
        if q.is_pure(known) or known.unit is None:
            return
        if known.unit.dimension != DIMENSIONLESS.dimension:
            advice = f"divide it by a quantity in {self._unit_of(item)}"
        elif name_of(known.unit) == "deg":
            advice = f"convert it with np.deg2rad({_short(item)})"
        else:
            advice = f"multiply it by {known.unit.factor:.6g}"
        self._note(f"{what} must be a pure number, but {self._said(item)}: {advice}")

    def _contradiction(self, a: Expr, b: Expr, reason: str) -> Measured:
        left, right = self.known[a].unit, self.known[b].unit
        assert left is not None
        assert right is not None
        if left.dimension == right.dimension:
            advice = f"multiply `{_short(b)}` by {right.factor / left.factor:.6g}{self._time_advice(a, b, left.factor / right.factor)}"
        else:
            missing = name_of(Unit(left.dimension, left.factor) / right)
            advice = f"a factor in {missing} is missing from `{_short(b)}`, or a unit is wrong"
        self._note(f"{self._said(a)}, but {self._said(b)}, and {reason}: {advice}")
        return UNKNOWN

    def _time_advice(self, a: Expr, b: Expr, ratio: float) -> str:
        """The unit of time in which there would be no contradiction, if it is one that models count in."""
        if self.model.time_unit:
            return ""
        for item, larger in ((a, ratio), (b, 1.0 / ratio)):
            roles = {node.data.role for node in walk([item]) if node.op == "symbol"}
            if not roles & {Role.DERIVATIVE, Role.TIME}:
                continue
            size = larger if Role.DERIVATIVE in roles else 1.0 / larger
            for name in _TIME_UNITS:
                if abs(parse(name).factor / size - 1.0) < 1e-9:
                    return f'; or, if the model\'s time is in {name}, say so: units={{"time": "{name}"}}, in a component time_unit = "{name}"'
        return ""

    def _unit_of(self, item: Expr) -> str:
        unit = self.known[item].unit
        assert unit is not None
        return self.texts.get(item) or name_of(unit)

    def _said(self, item: Expr) -> str:
        name = self._unit_of(item)
        return f"`{_short(item)}` " + ("has no unit" if name == "1" else f"is in {name}")

    def _note(self, sentence: str) -> None:
        name = self.places[self.at].name
        self.problems.append((self.at, f"{equation_name(self.model, name) if isinstance(name, int) else name}: {sentence}"))


_DEFINED: Final = (VariableRole.OUTPUT, VariableRole.INDICATOR, VariableRole.AUXILIARY)
_ROLES: Final = {
    VariableRole.STATE: Role.UNKNOWN,
    VariableRole.ALGEBRAIC: Role.UNKNOWN,
    VariableRole.INPUT: Role.INPUT,
    VariableRole.DISCRETE: Role.DISCRETE,
    VariableRole.PARAMETER: Role.PARAMETER,
}
_RULES: Final[dict[str, Callable[[_Check, Expr], Measured]]] = {
    **dict.fromkeys(UNARY_FUNCTIONS, _Check.function),
    **dict.fromkeys(_ROOTS, _Check.root),
    **dict.fromkeys(("add", "sub"), _Check.sum_of),
    **dict.fromkeys(("ge", "gt"), _Check.relation),
    "mul": lambda check, item: q.product(check.known[item.args[0]], check.known[item.args[1]]),
    "div": lambda check, item: q.quotient(check.known[item.args[0]], check.known[item.args[1]]),
    "neg": lambda check, item: q.negative(check.known[item.args[0]]),
    "segment": lambda check, item: NUMBER,
    "atan2": _Check.angle,
    "const": _Check.constant,
    "floor": _Check.whole,
    "pow": _Check.power,
    "select": _Check.choice,
}


def _short(item: Expr) -> str:
    shown = f"der({item.data.name})" if item.op == "symbol" and item.data.role is Role.DERIVATIVE else text(item)
    return shown if len(shown) <= _MAX_TEXT else shown[: _MAX_TEXT - 3] + "..."


def _named(name: str, origin: Origin) -> str:
    return f"{name} (at {origin})" if str(origin) else name


def _places(model: Model) -> Iterator[_Place]:
    """Everything of a model that holds expressions, in the user's order."""
    for variable in model.variables:
        if variable.origin.is_sealed:
            continue
        if variable.start and variable.role in _ROLES and any(start.op != "const" for start in variable.start):
            word = "value" if variable.role is VariableRole.PARAMETER else "start value"
            pairs = zip(variable.symbols(), variable.start, strict=True)
            yield _Place(_named(f"the {word} of {variable.name}", variable.origin), variable.start, tuple(pairs), "they must be the same")
    for name, start in model.derivative_starts.items():
        yield _pair(f"the start value of der({name})", symbol(Role.DERIVATIVE, name), start)
    for index, equation in enumerate(model.equations):
        if not equation.origin.is_sealed:  # its numbers have no units any more
            yield _pair(index, equation.left, equation.right, "both sides must be the same")
    for definition in (item for item in model.definitions if not item.origin.is_sealed):
        item = symbol(Role.UNKNOWN, definition.name)
        yield _pair(_named(f"the definition of {definition.name}", definition.origin), item, definition.value)
    yield from _agenda(model)


def _pair(name: str | int, left: Expr, right: Expr, reason: str = "they must be the same") -> _Place:
    return _Place(name, (left, right), ((left, right),), reason)


def _agenda(model: Model) -> Iterator[_Place]:
    for branch in (branch for when in model.whens for branch in when.branches if not branch.origin.is_sealed):
        label = branch.label or "a when clause"
        yield _Place(_named(f"the condition of {label}", branch.origin), branch.conditions)
        yield from _assigned(label, branch.actions)
    for event in (item for item in model.time_events if not item.origin.is_sealed):
        label = event.label or "a time event"
        times = tuple(item for item in (event.first, event.period) if item is not None)
        roots = times if event.condition is None else (*times, event.condition)
        pairs = tuple((_TIME, item) for item in times)
        yield _Place(_named(f"the time of {label}", event.origin), (_TIME, *roots), pairs, "they must be the same")
        yield from _assigned(label, event.actions)
    for step in model.step_events:
        label = step.label or "a step event"
        yield _Place(_named(f"the condition of {label}", step.origin), (step.condition,))
        yield from _assigned(label, step.actions)
    yield from _assigned("the initial actions", model.initial_actions)
    yield from _assigned("the final actions", model.final_actions)


def _assigned(label: str, actions: Iterable[Action]) -> Iterator[_Place]:
    for action in actions:
        if isinstance(action, Assignment) and not action.origin.is_sealed:
            name = _named(f"the new value of {_short(action.target)} in {label}", action.origin)
            yield _pair(name, action.target, action.value)
