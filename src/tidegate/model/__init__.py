"""The neutral model that every front end makes and every later stage reads."""

from tidegate.errors import Origin
from tidegate.model.equations import Definition, Equation, OpaquePart
from tidegate.model.events import (
    DEFAULT_PRIORITY,
    LEAST_IMPORTANT,
    Action,
    Assignment,
    Branch,
    Message,
    StepEvent,
    Terminate,
    TimeEvent,
    When,
    expression_of,
)
from tidegate.model.model import Form, KeepsCode, Lowerable, Model
from tidegate.model.variables import MAX_DIMENSIONS, STATE_SELECTS, Bound, StateSelect, Variable, VariableRole, element_names

__all__ = [
    "DEFAULT_PRIORITY",
    "LEAST_IMPORTANT",
    "MAX_DIMENSIONS",
    "STATE_SELECTS",
    "Action",
    "Assignment",
    "Bound",
    "Branch",
    "Definition",
    "Equation",
    "Form",
    "KeepsCode",
    "Lowerable",
    "Message",
    "Model",
    "OpaquePart",
    "Origin",
    "StateSelect",
    "StepEvent",
    "Terminate",
    "TimeEvent",
    "Variable",
    "VariableRole",
    "When",
    "element_names",
    "expression_of",
]
