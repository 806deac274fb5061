"""The monitor of CONDIS: piecewise continuous variables between the events of an agenda, for models that are opaque Python functions.

It knows no front end and no library of processes: it is given variables, bodies, samples and an agenda by the protocols of ``interface.py``.

References
----------
L. Månsson, CONDIS, Lund Institute of Technology, TFRT-5238 (1980). Its numbered errors, order of events and step control are kept; its defects are
not: where a docstring here tells of them, we do something else.
"""

from tidegate.executive.monitor.counters import Counters
from tidegate.executive.monitor.interface import Agenda, Body, Condition, Mover, Process, Sample, Variable
from tidegate.executive.monitor.monitor import Monitor
from tidegate.executive.monitor.record import Record, monitor_statistics
from tidegate.executive.monitor.sampling import run_due
from tidegate.executive.monitor.settings import METHODS, Method, Settings
from tidegate.executive.monitor.troubles import SENTENCES, Afterwards, Refused, Stopped, Trouble
from tidegate.executive.monitor.waiting import Wait

__all__ = [
    "METHODS",
    "SENTENCES",
    "Afterwards",
    "Agenda",
    "Body",
    "Condition",
    "Counters",
    "Method",
    "Monitor",
    "Mover",
    "Process",
    "Record",
    "Refused",
    "Sample",
    "Settings",
    "Stopped",
    "Trouble",
    "Variable",
    "Wait",
    "monitor_statistics",
    "run_due",
]
