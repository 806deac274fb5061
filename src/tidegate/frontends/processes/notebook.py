"""What stands in an environment, as a table for notebooks (stage: front end)."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from tidegate.frontends.processes.flows import Parameter, Variable
from tidegate.frontends.processes.moved_number import plain

__all__ = ["table_of"]


def table_of(summary: str, items: Iterable[Variable | Parameter]) -> str:
    """A line, and names, values and units below it."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(item.name)}</th><td>{plain(item.state if isinstance(item, Variable) else item.value):.10g}</td>"
        f"<td>{escape(item.unit)}</td><td>{_remark(item)}</td></tr>"
        for item in items
    )
    return f"<p><b>Environment {escape(summary)}</b></p><table><tr><th>name</th><th>value</th><th>unit</th><th></th></tr>{rows}</table>"


def _remark(item: Variable | Parameter) -> str:
    return "parameter" if isinstance(item, Parameter) else "flows" if item.active else "stopped"
