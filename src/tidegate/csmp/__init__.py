"""CSMP-10(ARL): its programs run by the language's own method, with user routines in Python; the console is ``tidegate csmp``."""

from tidegate.csmp.context import Context, RunFacts
from tidegate.csmp.control import RunControl, control_problems, integration_problems, output_blocks
from tidegate.csmp.csmp_run import CsmpRun
from tidegate.csmp.execution import Surroundings
from tidegate.csmp.files import load
from tidegate.csmp.listing import DebugEntry, debug_text
from tidegate.csmp.remarks import Remark
from tidegate.csmp.routines import Routine, Routines, interpolation, routines_of, user
from tidegate.csmp.run import SEED, run, run_program

__all__ = [
    "SEED",
    "Context",
    "CsmpRun",
    "DebugEntry",
    "Remark",
    "Routine",
    "Routines",
    "RunControl",
    "RunFacts",
    "Surroundings",
    "control_problems",
    "debug_text",
    "integration_problems",
    "interpolation",
    "load",
    "output_blocks",
    "routines_of",
    "run",
    "run_program",
    "user",
]
