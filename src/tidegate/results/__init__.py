"""What a run hands back: labelled trajectories, the event log, sensitivities, statistics and dense output.

Stage after the run. In go plain arrays and names from the recorder, out come objects for people; no simulator is needed to use them.
"""

from tidegate.results.columns import Column, ColumnRole
from tidegate.results.event_log import Event, EventKind, EventLog
from tidegate.results.files import known_suffix, written_whole
from tidegate.results.interpolant import Interpolant
from tidegate.results.result import Result, RunStatus
from tidegate.results.statistics import Statistics

__all__ = [
    "Column",
    "ColumnRole",
    "Event",
    "EventKind",
    "EventLog",
    "Interpolant",
    "Result",
    "RunStatus",
    "Statistics",
    "known_suffix",
    "written_whole",
]
