"""One block without a diagram round it (front end of blocks): a block goes in, a model with its ports as open inputs and outputs comes out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from tidegate.expressions import Expr, Role, as_expr, as_real, symbol
from tidegate.frontends.blocks.pen import Ink, Pen
from tidegate.model import Definition, Equation, Form, Model, Variable, VariableRole
from tidegate.model.rewriting import renamed

__all__ = ["written_alone"]


def written_alone(block: Any, connected: Collection[str]) -> Model:
    """What a block writes when its inputs are inputs of the model; its quantities have their own names, without that of the block.

    Parameters
    ----------
    block : any that is no diagram.
    connected : ports that get a signal; the others count as open.
    """
    ink, head = Ink(inputs_move=True), block.kind
    origin = block.origin
    values = {port: symbol(Role.INPUT, port) for port in block.inputs if port in connected}
    at_once = {port: value for port, value in values.items() if port in block.feedthrough()}
    given: Expr | Sequence[Expr] = block.signals(Pen(block, head, ink, at_once))
    written = [given] if isinstance(given, Expr) else [*given]
    signals = [as_real(item) for item in written]
    ink.note(signals, origin)
    block.dynamics(Pen(block, head, ink, values))
    prefix = f"{head}."
    own = block.outputs[0] if block.outputs else ""
    names = {name: own if name == head else name.removeprefix(prefix) for name in ink.variables}
    names |= {variable.name: variable.name.removeprefix(prefix) for variable in ink.shown}
    inputs = [Variable(port, VariableRole.INPUT, start=(as_expr(0.0),), origin=origin) for port in values]
    shown = list(ink.shown.items())
    for k, (port, value) in enumerate(zip(block.outputs, signals, strict=True)):
        if k or head not in ink.variables:
            unit, kind = block.unit if not k else "", "boolean" if written[k].is_boolean else "real"
            shown.append((Variable(port, VariableRole.OUTPUT, (), unit, block.label, kind=kind, origin=origin), Definition(port, value, origin)))
    states = [v.name for v in ink.variables.values() if v.role is VariableRole.STATE]
    model = Model(
        head,
        Form.DAE if ink.equations else Form.ODE,
        (*inputs, *ink.variables.values(), *(variable for variable, _ in shown)),
        (*(_rate(ink, name) for name in states), *ink.equations),
        tuple(definition for _, definition in shown),
        whens=tuple(ink.whens),
        time_events=tuple(ink.time_events),
        initial_actions=tuple(ink.initial),
        condition_origins=ink.condition_origins,
        origin=origin,
    )
    return renamed(model, names, prefix)


def _rate(ink: Ink, name: str) -> Equation:
    return ink.rates[symbol(Role.UNKNOWN, name)]
