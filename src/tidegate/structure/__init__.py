"""What can be told from the equations alone, before any number is computed, as passes from model to model: checks, and what makes a model smaller."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from tidegate.structure.aliases import eliminate_aliases
from tidegate.structure.analyse import check_structure, equation_name
from tidegate.structure.check_units import check_units
from tidegate.structure.incidence import Incidence, incidence, smooth_symbols, variable_incidence
from tidegate.structure.matching import Matching, Parts, dulmage_mendelsohn, maximum_matching
from tidegate.structure.passes import Check, Demand, Follower, Pass, Passed, Reduced, reduced
from tidegate.structure.reduce_index import chosen_states, reduce_index
from tidegate.structure.solve_explicitly import SolvedBlock, explicit_blocks, solve_explicitly
from tidegate.structure.standard_passes import PASSES, standard_passes

if TYPE_CHECKING:
    from tidegate.structure.report import StructureReport, structure_report
    from tidegate.structure.state_report import Demoted, OpenGroup, StateReport

__all__ = [
    "PASSES",
    "Check",
    "Demand",
    "Demoted",
    "Follower",
    "Incidence",
    "Matching",
    "OpenGroup",
    "Parts",
    "Pass",
    "Passed",
    "Reduced",
    "SolvedBlock",
    "StateReport",
    "StructureReport",
    "check_structure",
    "check_units",
    "chosen_states",
    "dulmage_mendelsohn",
    "eliminate_aliases",
    "equation_name",
    "explicit_blocks",
    "incidence",
    "maximum_matching",
    "reduce_index",
    "reduced",
    "smooth_symbols",
    "solve_explicitly",
    "standard_passes",
    "structure_report",
    "variable_incidence",
]

# what tells about a model, and is not needed to run it
_LATER: Final = {
    "Demoted": "state_report",
    "OpenGroup": "state_report",
    "StateReport": "state_report",
    "StructureReport": "report",
    "structure_report": "report",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
