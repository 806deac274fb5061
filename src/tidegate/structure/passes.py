"""Passes over a model (stage: structure): each takes a neutral model and gives one that is easier to solve, or the same, or refuses it.

A pass tells what became of the unknowns that it takes away, so that whatever comes later shows them under their own names, and says conditions as the
user wrote them. Passes follow one another; what they tell is put together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Final, Protocol

from tidegate.errors import Origin
from tidegate.expressions import Expr, makes_events, walk
from tidegate.expressions.pickled import stored, unstored
from tidegate.expressions.substitute import substitute
from tidegate.model import Model, VariableRole
from tidegate.model.rewriting import expressions_of
from tidegate.quick_dataclass import dataclass

__all__ = ["Check", "Demand", "Follower", "Pass", "Passed", "Reduced", "reduced"]

_ALGEBRAIC: Final = "it is no state, and there is no start value of a state that could give way to it"


@dataclass(frozen=True, eq=False)
class Demand:
    """What must be true of parameters, so that a pass may do what it did.

    Parameters
    ----------
    value : expression of parameters.
    sentence : what is wrong where it is not as it must be.
    is_zero : True if the value must be zero, at the start; False if it must never be.
    origin : of what is wrong then.
    is_choice : True if the pass can do without where it is not so from the start (``solve_explicitly``).
    """

    value: Expr
    sentence: str
    is_zero: bool = False
    origin: Origin = field(default_factory=Origin)
    is_choice: bool = False


@dataclass(frozen=True, eq=False)
class Follower:
    """An unknown that was declared as a state and is none, since others determine it.

    If its start value must hold exactly, the start is compared with it. It may not jump unless the others are given values: what made it jump would
    make them jump too, and by how much is in no equation.

    Parameters
    ----------
    name : of the unknown, as the user knows it.
    value : what it is in the new model.
    start : its start value, in terms of parameters.
    is_held : whether its start value must hold.
    is_doubted : whether a start value was given that may well turn out to be another: worth a word then.
    is_beside_held : whether start values of others between which and it the equation is must hold: its own can only tell one solution from another.
    is_candidate : whether it is one of several between which the states are chosen while the model runs.
    row : number of the equation that determines it; -1 if it is not known.
    origin : where the unknown was declared.
    reason : why it is no state, as messages say it.
    """

    name: str
    value: Expr
    start: Expr
    is_held: bool
    row: int = -1
    origin: Origin = field(default_factory=Origin)
    reason: str = ""
    is_doubted: bool = False
    is_beside_held: bool = False
    is_candidate: bool = False


@dataclass(frozen=True, eq=False)
class Passed:
    """What a pass gives.

    Parameters
    ----------
    model : the new model.
    replaced : symbols of the old one that the new one does not have, unknowns, derivatives and values before a round, and what each is now.
    demands : what must be true of parameters.
    followers : declared states that are none any more, in terms of the new model.
    """

    model: Model
    replaced: Mapping[Expr, Expr] = field(default_factory=dict[Expr, Expr])
    demands: tuple[Demand, ...] = ()
    followers: tuple[Follower, ...] = ()


class Pass(Protocol):
    """One step from model to model."""

    def __call__(self, model: Model, /) -> Passed:
        """The new model."""
        ...


@dataclass(frozen=True)
class Check:
    """A pass that leaves a model as it is, or raises."""

    look: Callable[[Model], object]

    def __call__(self, model: Model, /) -> Passed:
        """The same model."""
        self.look(model)
        return Passed(model)


@dataclass(frozen=True, eq=False)
class Reduced:
    """A model as it was given, and what is solved in its place.

    Parameters
    ----------
    given : with the user's variables, equations and conditions.
    model : what passes made of it.
    replaced : symbols of ``given`` that ``model`` does not have, and what they are in it.
    demands : what must be true of parameters.
    steps : the models that became others, each with what was replaced in it.
    followers : states of ``given`` that are none any more.
    """

    given: Model
    model: Model
    replaced: Mapping[Expr, Expr] = field(default_factory=dict[Expr, Expr])
    demands: tuple[Demand, ...] = ()
    steps: tuple[tuple[Model, Mapping[Expr, Expr]], ...] = ()
    followers: tuple[Follower, ...] = ()

    @cached_property
    def written(self) -> dict[Expr, Expr]:
        """Relations of the model that read otherwise in the given one, and how they do."""
        known: dict[Expr, Expr] = {}
        # step by step, since in one step an expression may be simplified otherwise
        for model, replaced in self.steps:
            old = [item for item in walk(expressions_of(model)) if makes_events(item)]
            found: dict[Expr, Expr] = {}
            for new, own in zip(substitute(old, replaced), old, strict=True):
                found.setdefault(new, known.get(own, own))
            known = found
        return known

    @cached_property
    def held(self) -> tuple[Follower, ...]:
        """Unknowns that are no states, and whose start values must hold all the same: what others determine, and algebraic ones."""
        found = [item for item in self.followers if item.is_held]
        known = {item.name for item in found}
        for variable in self.given.by_role(VariableRole.ALGEBRAIC):
            if variable.fixed is True:
                values = substitute(variable.symbols(), self.replaced)
                for name, value, start in zip(variable.names, values, variable.starts(), strict=True):
                    if name not in known:
                        found.append(Follower(name, value, start, True, origin=variable.origin, reason=_ALGEBRAIC))
        return tuple(found)

    def then(self, step: Pass) -> Reduced:
        """What one more pass makes of it."""
        passed = step(self.model)
        before = dict(zip(self.replaced, substitute(self.replaced.values(), passed.replaced), strict=True))
        steps = (*self.steps, (self.model, passed.replaced)) if passed.replaced else self.steps
        values = substitute([item.value for item in self.followers], passed.replaced)
        followers = tuple(replace(item, value=value) for item, value in zip(self.followers, values, strict=True))
        demands, every = (*self.demands, *passed.demands), {**before, **passed.replaced}
        return Reduced(self.given, passed.model, every, demands, steps, (*followers, *passed.followers))

    def __reduce__(self) -> tuple[Any, ...]:
        return _reduced_of, stored((self.given, self.model, self.replaced, self.demands, self.steps, self.followers))


def _reduced_of(*parts: Any) -> Reduced:
    return Reduced(*unstored(*parts))


def reduced(model: Model, passes: Sequence[Pass]) -> Reduced:
    """What passes make of a model, one after the other.

    Examples
    --------
    >>> from tidegate.expressions import Role, symbol
    >>> from tidegate.model import Equation, Form, Variable, VariableRole
    >>> x, rate = symbol(Role.UNKNOWN, "x"), symbol(Role.DERIVATIVE, "x")
    >>> model = Model("decay", Form.ODE, (Variable("x", VariableRole.STATE),), (Equation(rate, -x),))
    >>> reduced(model, [Check(lambda seen: print(seen.name))]).model is model
    decay
    True
    """
    found = Reduced(model, model)
    for step in passes:
        found = found.then(step)
    return found
