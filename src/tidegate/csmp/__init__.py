"""CSMP-10(ARL): its programs run by the language's own method, with user routines in Python; the console is ``tidegate csmp``.

A folder for each of its parts; what is behind a name loads when it is first used, so that a table or a picture needs no machine.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tidegate.csmp.execution.check_control import control_problems, integration_problems, output_blocks
    from tidegate.csmp.execution.context import Context, RunFacts
    from tidegate.csmp.execution.csmp_run import CsmpRun
    from tidegate.csmp.execution.execution import Surroundings
    from tidegate.csmp.execution.listing import DebugEntry, debug_text
    from tidegate.csmp.execution.routines import Routines, interpolation, routines_of, user
    from tidegate.csmp.execution.run_messages import Remark
    from tidegate.csmp.execution.run_program import SEED, run, run_program
    from tidegate.csmp.language.control import RunControl
    from tidegate.csmp.language.model_lines import load
    from tidegate.csmp.language.program import Routine

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

_NAMES_OF: Final = {
    "execution.context": ("Context", "RunFacts"),
    "execution.check_control": ("control_problems", "integration_problems", "output_blocks"),
    "execution.csmp_run": ("CsmpRun",),
    "execution.execution": ("Surroundings",),
    "execution.listing": ("DebugEntry", "debug_text"),
    "execution.run_messages": ("Remark",),
    "execution.routines": ("Routines", "interpolation", "routines_of", "user"),
    "execution.run_program": ("SEED", "run", "run_program"),
    "language.control": ("RunControl",),
    "language.program": ("Routine",),
    "language.model_lines": ("load",),
}


def __getattr__(name: str) -> Any:
    home = next((module for module, names in _NAMES_OF.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'tidegate.csmp' has no attribute {name!r}")
    value = getattr(import_module(f"tidegate.csmp.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
