"""The executive: start values, the loop around an integrator, what was recorded, and failures in the user's words."""

from tidegate.executive.closing import close
from tidegate.executive.failures import failure, forget_old_errors
from tidegate.executive.labelled import Cost, Feed, Labelled, Meter
from tidegate.executive.loop import begin, drive
from tidegate.executive.options import Options, check_names, output_times
from tidegate.executive.run import Prepared, method_of, prepare

__all__ = [
    "Cost",
    "Feed",
    "Labelled",
    "Meter",
    "Options",
    "Prepared",
    "begin",
    "check_names",
    "close",
    "drive",
    "failure",
    "forget_old_errors",
    "method_of",
    "output_times",
    "prepare",
]
