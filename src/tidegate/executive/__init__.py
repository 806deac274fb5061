"""The executive: start values, the loop around an integrator, what was recorded, and failures in the user's words."""

from tidegate.executive.options import Options, check_names
from tidegate.executive.run import Prepared, prepare

__all__ = ["Options", "Prepared", "check_names", "prepare"]
