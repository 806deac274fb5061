"""What can be told from the equations alone, before any number is computed, as passes from model to model: checks, and what makes a model smaller."""

from typing import Final

from tidegate.structure.aliases import eliminate_aliases
from tidegate.structure.analyse import check_index, check_solvable, check_structure
from tidegate.structure.check_units import check_units
from tidegate.structure.incidence import Incidence, incidence, variable_incidence
from tidegate.structure.matching import Matching, Parts, dulmage_mendelsohn, maximum_matching
from tidegate.structure.passes import Check, Demand, Pass, Passed, Reduced, reduced

__all__ = [
    "PASSES",
    "Check",
    "Demand",
    "Incidence",
    "Matching",
    "Parts",
    "Pass",
    "Passed",
    "Reduced",
    "check_index",
    "check_solvable",
    "check_structure",
    "check_units",
    "dulmage_mendelsohn",
    "eliminate_aliases",
    "incidence",
    "maximum_matching",
    "reduced",
    "variable_incidence",
]

# what every model goes through, in this order
PASSES: Final[tuple[Pass, ...]] = (Check(check_solvable), Check(check_units), eliminate_aliases, Check(check_index))
