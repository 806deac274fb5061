"""The executive: start values, the loop around an integrator, what was recorded, and failures in the user's words."""

from tidegate.executive.closing import close, idle_clauses
from tidegate.executive.doubts import Doubts, warn
from tidegate.executive.failures import callback_error, failure
from tidegate.executive.initial import open_run
from tidegate.executive.interrupts import Interrupts
from tidegate.executive.labelled import Cost, Feed, Labelled, Meter
from tidegate.executive.loop import begin, drive, drop_rows_behind
from tidegate.executive.options import Options, check_names, output_times, time_number
from tidegate.executive.parameters import numbers_for
from tidegate.executive.run import Prepared, prepare

__all__ = [
    "Cost",
    "Doubts",
    "Feed",
    "Interrupts",
    "Labelled",
    "Meter",
    "Options",
    "Prepared",
    "begin",
    "callback_error",
    "check_names",
    "close",
    "drive",
    "drop_rows_behind",
    "failure",
    "idle_clauses",
    "numbers_for",
    "open_run",
    "output_times",
    "prepare",
    "time_number",
    "warn",
]
