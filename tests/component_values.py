"""Values in neutral models, as tests of components look at them: a ball, a value for every symbol, right sides, what actions assign."""

from __future__ import annotations

from typing import Any

import tidegate.frontends.components as tg
from tidegate.expressions import Expr, Role, symbol
from tidegate.expressions.evaluate import evaluate
from tidegate.model import Assignment, Bound, Model
from tidegate.model.validate import parameter_values

__all__ = ["Ball", "assigned", "right_sides", "start", "values_of", "variable"]


class Ball(tg.Component):
    h = tg.State(1.0, unit="m", min=-1.0)
    v = tg.State(0.0, unit="m/s", description="upwards", nominal=4.0)
    e = tg.Parameter(0.8, min=0.0, max=Bound(1.0, is_open=True))
    g = 9.81

    def equations(self) -> Any:
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == -self.g

    @tg.when(lambda self: self.h < 0, priority=20)
    def bounce(self):
        return {self.v: -self.e * self.v}


def values_of(model: Model, **given_values: float) -> dict[Expr, float]:
    """A value for every symbol of a model: as given by name (``der_x`` and ``pre_x`` too), else 0."""
    found = {symbol(Role.TIME, "time"): given_values.get("time", 0.0)} | parameter_values(model)
    for variable in model.variables:
        for name in variable.names:
            for role in Role:
                key = {Role.DERIVATIVE: f"der_{name}", Role.PREVIOUS: f"pre_{name}"}.get(role, name)
                if role is not Role.PARAMETER or name in given_values:
                    found[symbol(role, name)] = given_values.get(key, 0.0)
    return found


def right_sides(model: Model, **given_values: float) -> list[float]:
    return evaluate([equation.right for equation in model.equations], values_of(model, **given_values))


def assigned(actions: Any, model: Model, **given_values: float) -> dict[str, float]:
    """New values by the name of their target."""
    found = [action for action in actions if isinstance(action, Assignment)]
    return dict(zip([a.target.data.name for a in found], evaluate([a.value for a in found], values_of(model, **given_values)), strict=True))


def variable(model: Model, name: str) -> Any:
    return next(item for item in model.variables if item.name == name)


def start(model: Model, name: str) -> list[float]:
    return evaluate(variable(model, name).starts(), parameter_values(model))
