"""What ``tidegate run`` prints (stage: command line). In go a model and a result, out come lines and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tidegate.results import Result
from tidegate.results.labels import number

__all__ = ["print_result"]

_MAX_EVENTS: Final = 30  # a screen's height
_MAX_VALUES: Final = 40  # likewise; the file holds the rest


def print_result(console: Console, result: Result) -> None:
    """Event table, final values, statistics."""
    if result.events:
        console.print(result.events.table(_MAX_EVENTS))
    else:
        console.print("no events")
    console.print()
    if result.t.size:
        console.print(_final_values(result))
    else:
        console.print(Text(f"no rows{f': {result.message}' if result.message else ''}"))
    console.print()
    if result.status == "terminated":
        end = f"terminated at {number(float(result.t[-1]), 10)} {result.time_unit}".rstrip()
        console.print(Text(end + (f": {result.message}" if result.message else "")))
    for row in _packed([f"{label} {text}" for label, text in result.statistics.rows()], console.width):
        console.print(Text(row, style="dim"), soft_wrap=True)


def _packed(items: Sequence[str], width: int) -> list[str]:
    """Lines of items with commas between; none is cut inside an item.

    >>> _packed(["method radau", "steps 12", "run 3 ms"], 24)
    ['method radau, steps 12,', 'run 3 ms']
    """
    lines: list[str] = []
    for place, item in enumerate(items):
        told = item if place == len(items) - 1 else f"{item},"
        if lines and len(lines[-1]) + 1 + len(told) <= width:
            lines[-1] += f" {told}"
        else:
            lines.append(told)
    return lines


def _final_values(result: Result) -> Table:
    time = f"{number(float(result.t[-1]), 10)} {result.time_unit}".rstrip()
    table = Table(title=f"values at {time}", title_justify="left", box=None, pad_edge=False)
    table.add_column("variable")
    table.add_column("value", justify="right")
    columns = [(i, column) for i, column in enumerate(result.columns) if not column.is_hidden]
    if any(column.unit for _, column in columns):
        table.add_column("unit")
    has_units = len(table.columns) == 3
    shown = columns[:_MAX_VALUES]
    parameters = result.sensitivity_parameters[:4] if result.sensitivities is not None else ()
    for parameter in parameters:
        table.add_column(Text(f"d/d {parameter}"), justify="right")
    for i, column in shown:
        cells = [column.name, column.told(float(result.values[-1, i]), 10), *([column.shown_unit] if has_units else [])]
        if result.sensitivities is not None:
            cells.extend(number(float(result.sensitivities[-1, j, i]), 8) for j in range(len(parameters)))
        table.add_row(*map(Text, cells))
    left_out = len(columns) - len(shown)
    if left_out:
        table.add_row("...", f"{left_out} more")
    return table
