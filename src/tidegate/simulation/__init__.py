"""A run that can be stopped, looked at, changed, saved and continued (stage: a run under the user's hand). In: anything that lowers to a model."""

from tidegate.simulation.named_values import NamedValues, Values
from tidegate.simulation.segments import Segments
from tidegate.simulation.simulation import Simulation

__all__ = ["NamedValues", "Segments", "Simulation", "Values"]
