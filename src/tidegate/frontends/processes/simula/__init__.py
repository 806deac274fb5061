"""Processes in the style of Simula, beside those of SimPy: hold, passivate, activate and the rest, in Simula's exact order."""

from tidegate.frontends.processes.simula.event_list import EventList, Notice
from tidegate.frontends.processes.simula.simula_process import SimulaProcess

__all__ = ["EventList", "Notice", "SimulaProcess"]
