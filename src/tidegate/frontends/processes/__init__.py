"""Processes as SimPy has them, with variables that flow between their events."""

from tidegate.frontends.processes.dialogue import EndOfAnswers, Question, Recorded
from tidegate.frontends.processes.environment import Environment, WaitUntil
from tidegate.frontends.processes.flows import Continuous, Group, Parameter, Sample, Variable
from tidegate.frontends.processes.simula import SimulaProcess

__all__ = [
    "Continuous",
    "EndOfAnswers",
    "Environment",
    "Group",
    "Parameter",
    "Question",
    "Recorded",
    "Sample",
    "SimulaProcess",
    "Variable",
    "WaitUntil",
]
