"""Models as Python classes: variables are class attributes, equations and events are methods; ``Component.lower`` makes the neutral model."""

from tidegate.frontends.components.clauses import at, every, finally_, initially, when
from tidegate.frontends.components.component import Component
from tidegate.frontends.components.declarations import Algebraic, Discrete, Input, Output, Parameter, State
from tidegate.frontends.components.der_and_pre import der, pre, time
from tidegate.model.remarks import message, terminate

__all__ = [
    "Algebraic",
    "Component",
    "Discrete",
    "Input",
    "Output",
    "Parameter",
    "State",
    "at",
    "der",
    "every",
    "finally_",
    "initially",
    "message",
    "pre",
    "terminate",
    "time",
    "when",
]
