"""Models as Python classes: variables and parts are attributes, equations and events methods; ``Component.lower`` makes the neutral model."""

from tidegate.frontends.components.assertions import assertion, terminate
from tidegate.frontends.components.clauses import at, every, finally_, initially, when
from tidegate.frontends.components.component import Component
from tidegate.frontends.components.conditional import conditional
from tidegate.frontends.components.connect import connect
from tidegate.frontends.components.connectors import Connector, Flow, InputSignal, OutputSignal, Potential
from tidegate.frontends.components.declarations import Algebraic, Constant, Discrete, Input, Output, Parameter, State, start
from tidegate.frontends.components.der_and_pre import change, der, edge, pre, time
from tidegate.frontends.components.enabling import enable
from tidegate.frontends.components.equation_methods import replaces
from tidegate.frontends.components.initial_equations import initial_equations
from tidegate.frontends.components.model_part import as_part
from tidegate.frontends.components.part_array import Array
from tidegate.frontends.components.precompiled import load_component, precompile
from tidegate.frontends.components.samples import sample
from tidegate.model import Bound
from tidegate.model.remarks import message

__all__ = [
    "Algebraic",
    "Array",
    "Bound",
    "Component",
    "Connector",
    "Constant",
    "Discrete",
    "Flow",
    "Input",
    "InputSignal",
    "Output",
    "OutputSignal",
    "Parameter",
    "Potential",
    "State",
    "as_part",
    "assertion",
    "at",
    "change",
    "conditional",
    "connect",
    "der",
    "edge",
    "enable",
    "every",
    "finally_",
    "initial_equations",
    "initially",
    "load_component",
    "message",
    "pre",
    "precompile",
    "replaces",
    "sample",
    "start",
    "terminate",
    "time",
    "when",
]
