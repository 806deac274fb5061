"""The model of index one (stage: structure). In: a model, how often its equations are differentiated, which derivatives are dummies; out: a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

from tidegate.errors import Origin
from tidegate.expressions import ZERO, Expr, Role, evaluate, substitute, symbol
from tidegate.model import Assignment, Equation, Model, Variable, VariableRole
from tidegate.model.rewriting import rewritten, with_actions
from tidegate.model.validate import parameter_values
from tidegate.quick_dataclass import dataclass
from tidegate.structure.derived_equations import derivative_name, derivatives_in_time, own_symbol, value_symbol
from tidegate.structure.dummy_derivatives import Dummies
from tidegate.structure.open_states import Candidates, OpenStates, open_states
from tidegate.structure.pantelides import Orders
from tidegate.structure.passes import Follower, Passed

__all__ = ["Element", "Elements", "StartsOf", "reduced_model"]

_STARTED: Final = (VariableRole.STATE, VariableRole.ALGEBRAIC, VariableRole.DISCRETE, VariableRole.INPUT)
_TIMES: Final = ("", "the derivative of ", "the second derivative of ", "the third derivative of ")


@dataclass(frozen=True, eq=False)
class Element:
    """One unknown of the model as it was given."""

    name: str
    variable: Variable
    start: Expr

    @property
    def is_held(self) -> bool:
        """Whether its start value must hold exactly, state or not."""
        if self.variable.fixed is None:
            return self.variable.role is VariableRole.STATE and self.variable.start_source == "given"
        return self.variable.fixed


Elements = Sequence[Element]


class StartsOf:
    """Start values of everything, as expressions of parameters and time, and as numbers.

    Parameters
    ----------
    model : as it was given.
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    @cached_property
    def expressions(self) -> dict[Expr, Expr]:
        """For every symbol its start value, initial actions carried out."""
        model = self._model
        found = {item: start for v in model.by_role(*_STARTED) for item, start in zip(v.symbols(), v.starts(), strict=True)}
        found |= {symbol(Role.PREVIOUS, item.data.name): start for item, start in found.items()}
        names = [name for variable in model.unknowns for name in variable.names]
        found |= {value_symbol(name, 1): ZERO for name in names}
        found |= dict(self._explicit_rates(found))
        found |= {value_symbol(name, 1): guess for name, guess in model.derivative_starts.items()}
        assigned = [action for action in model.initial_actions if isinstance(action, Assignment)]
        values = substitute([action.value for action in assigned], found)
        return found | {action.target: value for action, value in zip(assigned, values, strict=True)}

    def _explicit_rates(self, known: Mapping[Expr, Expr]) -> Iterator[tuple[Expr, Expr]]:
        """Derivatives that an equation gives by itself, in terms of start values."""
        for equation in self._model.equations:
            sides = (equation.left, equation.right)
            if sides[0] is ZERO and sides[1].op == "sub":
                sides = sides[1].args
            for slope, value in (sides, sides[::-1]):
                if slope in known and slope.data.role is Role.DERIVATIVE and value.op == "symbol":
                    yield slope, known.get(value, ZERO)

    def of(self, exprs: Sequence[Expr]) -> list[Expr]:
        """The expressions at the start."""
        return substitute(exprs, self.expressions)

    @cached_property
    def parameters(self) -> dict[Expr, float]:
        """Values of the parameters."""
        return parameter_values(self._model)

    @cached_property
    def numbers(self) -> dict[Expr, float]:
        """Values of all symbols; the time is taken for zero."""
        known = self.parameters | {symbol(Role.TIME, "time"): 0.0}
        return known | dict(zip(self.expressions, evaluate(self.expressions.values(), known), strict=True))


class _Levels:
    """What every derivative of every unknown is in the new model.

    Parameters
    ----------
    elements, orders, dummies : of it.
    """

    def __init__(self, elements: Elements, orders: Orders, dummies: Dummies) -> None:
        self.elements, self._d = elements, orders.unknowns
        self.open = {(j, order) for choice in dummies.open for j, order in choice.order.items()}
        self._gone = self.open | dummies.because.keys()

    def is_state(self, j: int, order: int) -> bool:
        """Whether this derivative of an unknown is a state."""
        return order < self._d[j] and (j, order + 1) not in self._gone

    def is_own(self, j: int, order: int) -> bool:
        """Whether it is an unknown of its own, and not only the derivative of a state."""
        return order == 0 or (j, order) in self._gone or self.is_state(j, order) or (j, order + 1) in self.open

    def value(self, j: int, order: int) -> Expr:
        """What stands for it in equations."""
        name = self.elements[j].name
        return own_symbol(name, order) if self.is_own(j, order) else value_symbol(name, order)

    def mapping(self) -> dict[Expr, Expr]:
        """Symbols of derivatives that are unknowns of their own."""
        return {
            value_symbol(element.name, order): self.value(j, order)
            for j, element in enumerate(self.elements)
            for order in range(1, self._d[j] + 1)
            if self.is_own(j, order)
        }

    def ties(self) -> Iterator[Equation]:
        """Equations between the derivative of a state and an unknown of its own that is the same."""
        for j, element in enumerate(self.elements):
            for order in range(1, self._d[j] + 1):
                if self.is_own(j, order) and self.is_state(j, order - 1):
                    name = derivative_name(element.name, order)
                    yield Equation(value_symbol(element.name, order), own_symbol(element.name, order), element.variable.origin, f"the state {name}")

    def variables(self, model: Model, starts: StartsOf) -> Iterator[Variable]:
        """The model's variables with their new roles, and the unknowns that are new."""
        place = {element.name: j for j, element in enumerate(self.elements)}
        for variable in model.variables:
            if variable.role not in (VariableRole.STATE, VariableRole.ALGEBRAIC):
                yield variable
                continue
            roles = [self._role(place[name], 0) for name in variable.names]
            if len(set(roles)) == 1:
                yield _in_role(variable, roles[0])
                continue
            for name, role, start in zip(variable.names, roles, variable.starts(), strict=True):
                yield _in_role(replace(variable, name=name, shape=(), start=(start,)), role)
        for j, element in enumerate(self.elements):
            for order in range(1, self._d[j] + 1):
                if self.is_own(j, order):
                    start = starts.expressions.get(value_symbol(element.name, order), ZERO)
                    name = derivative_name(element.name, order)
                    yield Variable(name, self._role(j, order), start=(start,), origin=element.variable.origin)

    def _role(self, j: int, order: int) -> VariableRole:
        return VariableRole.STATE if self.is_state(j, order) else VariableRole.ALGEBRAIC


def _in_role(variable: Variable, role: VariableRole) -> Variable:
    if role is variable.role:
        return variable
    # what must hold is compared with the start, see Follower
    return replace(variable, role=role, fixed=None if role is VariableRole.STATE else False)


def reduced_model(model: Model, elements: Elements, orders: Orders, dummies: Dummies, starts: StartsOf) -> Passed:
    """Put the new model together.

    Parameters
    ----------
    model : as it was given.
    elements, orders, dummies, starts : of it.
    """
    levels = _Levels(elements, orders, dummies)
    new = levels.mapping()
    whole = rewritten(model, new)
    derived = derivatives_in_time([equation.residual for equation in model.equations], orders.equations)
    more = [(k, times, residual) for k, several in enumerate(derived) for times, residual in enumerate(several) if times]
    residuals = substitute([residual for _, _, residual in more], new)
    differentiated = [
        Equation(ZERO, residual, model.equations[k].origin, _label(model, k, times)) for (k, times, _), residual in zip(more, residuals, strict=True)
    ]
    choices = _open(model, levels, dummies, new, starts)
    acting = with_actions(whole, choices.resets) if choices.slots else whole
    names = {element.name for element in elements}
    return Passed(
        replace(
            acting,
            equations=(*whole.equations, *differentiated, *levels.ties(), *choices.equations),
            variables=(*levels.variables(model, starts), *choices.variables),
            whens=(*acting.whens, *choices.whens),
        ),
        {symbol(Role.DERIVATIVE, item.data.name): value for item, value in new.items() if item.data.name in names},
        followers=tuple(_followers(elements, levels, dummies)),
    )


def _label(model: Model, k: int, times: int) -> str:
    of = _TIMES[times] if times < len(_TIMES) else f"the {times}th derivative of "
    return of + (model.equations[k].label or f"equation {k + 1}")


def _open(model: Model, levels: _Levels, dummies: Dummies, new: Mapping[Expr, Expr], starts: StartsOf) -> OpenStates:
    several: list[Candidates] = []
    for choice in dummies.open:
        chosen = [levels.elements[j] for j in choice.columns]
        values = tuple(levels.value(j, choice.order[j] - 1) for j in choice.columns)
        old = [value_symbol(element.name, choice.order[j] - 1) for j, element in zip(choice.columns, chosen, strict=True)]
        plain = [choice.order[j] == 1 for j in choice.columns]
        several.append(
            Candidates(
                values,
                tuple(levels.value(j, choice.order[j]) for j in choice.columns),
                tuple(starts.expressions.get(item, ZERO) for item in old),
                tuple(element.variable.nominal if is_plain else None for element, is_plain in zip(chosen, plain, strict=True)),
                tuple(element.is_held and is_plain for element, is_plain in zip(chosen, plain, strict=True)),
                choice.alternatives,
                tuple(size * size for size in substitute(choice.sizes, new)),
                model.equations[choice.rows[0]].origin if choice.rows else Origin(),
            )
        )
    back = {value: key for key, value in new.items()}
    return open_states(several, lambda exprs: starts.of(substitute(exprs, back)))


def _followers(elements: Elements, levels: _Levels, dummies: Dummies) -> Iterator[Follower]:
    """Declared states that are none."""
    because = {j: row for (j, order), row in dummies.because.items() if order == 1}
    candidates = {j: choice.rows[0] for choice in dummies.open for j, order in choice.order.items() if order == 1}
    because |= candidates
    for j, element in enumerate(elements):
        variable = element.variable
        if not levels.is_state(j, 0) and variable.role is VariableRole.STATE:
            is_doubted = bool(variable.start) and variable.fixed is None and variable.start_source == "declared"
            own = own_symbol(element.name, 0)
            found = Follower(element.name, own, element.start, element.is_held, because.get(j, -1), variable.origin)
            yield replace(found, is_doubted=is_doubted, is_candidate=j in candidates)
