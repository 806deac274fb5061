"""The executive: from options to a problem, the session that runs it, what was recorded, and failures in the user's words."""

from tidegate.executive.causes import Cause
from tidegate.executive.drive import drive, drop_rows_behind
from tidegate.executive.failures import callback_error, failure
from tidegate.executive.interrupts import Interrupts
from tidegate.executive.many_causes import kinds_of
from tidegate.executive.many_runs import CarriedOut, ManyRuns, RecordedRuns
from tidegate.executive.options import ASSUMED_LENGTH, Options, changed, check_names, finite_time, of_unknown_length
from tidegate.executive.parameters import find_parameters, given_numbers, numbers_for, parameter_vector
from tidegate.executive.problem import problem_of
from tidegate.executive.run import Prepared, prepare
from tidegate.executive.session import Session, Setting, Standing, Status

__all__ = [
    "ASSUMED_LENGTH",
    "CarriedOut",
    "Cause",
    "Interrupts",
    "ManyRuns",
    "Options",
    "Prepared",
    "RecordedRuns",
    "Session",
    "Setting",
    "Standing",
    "Status",
    "callback_error",
    "changed",
    "check_names",
    "drive",
    "drop_rows_behind",
    "failure",
    "find_parameters",
    "finite_time",
    "given_numbers",
    "kinds_of",
    "numbers_for",
    "of_unknown_length",
    "parameter_vector",
    "prepare",
    "problem_of",
]
