"""The executive: start values, the loop around an integrator, what was recorded, and failures in the user's words."""

from tidegate.executive.closing import close
from tidegate.executive.doubts import Doubts, warn
from tidegate.executive.failures import failure, forget_old_errors
from tidegate.executive.labelled import Cost, Feed, Labelled, Meter
from tidegate.executive.loop import begin, drive
from tidegate.executive.opening import Opening, open_run
from tidegate.executive.options import Options, check_names, output_times
from tidegate.executive.run import Prepared, prepare

__all__ = [
    "Cost",
    "Doubts",
    "Feed",
    "Labelled",
    "Meter",
    "Opening",
    "Options",
    "Prepared",
    "begin",
    "check_names",
    "close",
    "drive",
    "failure",
    "forget_old_errors",
    "open_run",
    "output_times",
    "prepare",
    "warn",
]
