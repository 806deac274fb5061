"""What can be told from the equations alone: which unknown stands where, and whether units fit; before any number is computed."""

from tidegate.structure.analyse import check_structure
from tidegate.structure.check_units import check_units
from tidegate.structure.incidence import Incidence, incidence, variable_incidence
from tidegate.structure.matching import Matching, Parts, dulmage_mendelsohn, maximum_matching

__all__ = [
    "Incidence",
    "Matching",
    "Parts",
    "check_structure",
    "check_units",
    "dulmage_mendelsohn",
    "incidence",
    "maximum_matching",
    "variable_incidence",
]
