"""The front end for plain Python functions, as SciPy's and DASSL's users write them."""

from tidegate.expressions.tracing import opaque
from tidegate.frontends.equations.dae import dae
from tidegate.frontends.equations.event_clause import EventClause, event
from tidegate.frontends.equations.function_model import FunctionModel
from tidegate.frontends.equations.hdae import hdae
from tidegate.frontends.equations.ode import ode

__all__ = ["EventClause", "FunctionModel", "dae", "event", "hdae", "ode", "opaque"]
