"""What can be told from which unknown stands in which equation: from neutral model to neutral model, before any number is computed."""

from tidegate.structure.analyse import check_structure
from tidegate.structure.incidence import Incidence, incidence, variable_incidence
from tidegate.structure.matching import Matching, Parts, dulmage_mendelsohn, maximum_matching

__all__ = [
    "Incidence",
    "Matching",
    "Parts",
    "check_structure",
    "dulmage_mendelsohn",
    "incidence",
    "maximum_matching",
    "variable_incidence",
]
