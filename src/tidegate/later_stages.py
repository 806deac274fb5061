"""Methods whose code belongs to later stages than the class that offers them: found by name when asked for. No other file knows them.

So a result knows no plotting library and no file format, and a diagram knows no other language.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

__all__ = ["later"]

_HOMES: Final = {
    "plot": "tidegate.plot",
    "explore": "tidegate.plot",
    "save": "tidegate.export",
    "to_netcdf": "tidegate.export",
    "to_csv": "tidegate.export",
    "to_dataframe": "tidegate.export",
    "load": "tidegate.export",
    "Appended": "tidegate.export",
    "from_diagram": "tidegate.csmp.diagrams",
    "to_diagram": "tidegate.csmp.diagrams",
    "Monitor": "tidegate.executive.monitor",
    "Stopped": "tidegate.executive.monitor",
    "Trouble": "tidegate.executive.monitor",
    "Record": "tidegate.executive.monitor",
    "monitor_statistics": "tidegate.executive.monitor",
    "run_due": "tidegate.executive.monitor",
    "Segments": "tidegate.simulation",
    "compiled_of": "tidegate.simulate",
    "export_dsblock": "tidegate.source_text",
    "as_html": "tidegate.show",
    "as_text": "tidegate.description_tables",
}


def later(name: str) -> Any:
    """The function of this name, from the stage where it lives."""
    return getattr(import_module(_HOMES[name]), name)
