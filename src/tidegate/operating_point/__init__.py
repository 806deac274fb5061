"""Around a run (stage: operating_point): where a model comes to rest, and what it is like there for small signals.

In go a model and a place; out come steady states and linear models, both under the user's names.
"""

from tidegate.operating_point.linear_model import LinearModel
from tidegate.operating_point.linearize import linearize
from tidegate.operating_point.steady_point import SteadyState
from tidegate.operating_point.steady_state import steady_state

__all__ = ["LinearModel", "SteadyState", "linearize", "steady_state"]
