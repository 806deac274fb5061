"""Tables (stage: output program). In goes a selection, out come columns for a terminal, a line printer, a spreadsheet or a page of Markdown."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Final

from tidegate.csmp.fortran_numbers import one_pe
from tidegate.csmp.trans.selection import Selection
from tidegate.results.labels import number

__all__ = ["PRINTER_WIDTH", "TERMINAL_WIDTH", "csv_table", "markdown_table", "printer_table", "teletype_table"]

TERMINAL_WIDTH: Final = 72  # characters of a teletype's line
PRINTER_WIDTH: Final = 132  # and of a line printer's

_GAP: Final = 2  # blanks between the longest number and its neighbour


def teletype_table(selection: Selection, digits: int = 3) -> str:
    """Columns of figures that fit 72 characters; where there are more of them, in groups one below the other, each with the time.

    Parameters
    ----------
    selection : what is shown.
    digits : significant digits of every number.

    Examples
    --------
    >>> from tidegate.results import Column, Result
    >>> from tidegate.csmp.trans.selection import choose
    >>> print(teletype_table(choose(Result("spring", [Column("Y", description="block 9")], [0.0, 1.0], [[-10.0], [-3.27]]))))
          TIME      BLK# 9
      0.00E-01   -1.00E+01
      1.00E+00   -3.27E+00
    """
    return "\n".join(_grouped(selection, TERMINAL_WIDTH, digits, [[channel.heading for channel in selection.channels]]))


def printer_table(selection: Selection, heading: Sequence[str], digits: int = 5) -> str:
    """The same for a line printer: 132 characters, with the facts of the file on top and the labels above the columns.

    Parameters
    ----------
    selection : what is shown.
    heading : lines above the table.
    digits : significant digits of every number.
    """
    labels = [channel.full_label for channel in selection.channels]
    numbers = [f"BLK# {channel.number}" if channel.number else "" for channel in selection.channels]
    headings = [numbers, labels] if any(numbers) else [labels]
    return "\n".join([*heading, "", *_grouped(selection, PRINTER_WIDTH, digits, headings)])


def _grouped(selection: Selection, width: int, digits: int, headings: list[list[str]]) -> list[str]:
    """Lines of the groups; ``headings`` are the lines above the columns, each with a text for every channel."""
    figures = digits + 7  # sign, point and an exponent of three digits
    available = width - figures - _GAP
    sizes = [min(max(figures, *(len(line[i]) for line in headings)), available) + _GAP for i in range(len(selection.channels))]
    lines: list[str] = []
    for group in _groups(sizes, width - figures):
        if lines:
            lines.append("")
        for k, line in enumerate(headings):
            time = "TIME" if k == len(headings) - 1 else ""
            lines.append((f"{time:>{figures}}" + "".join(f"{line[i][: sizes[i] - _GAP]:>{sizes[i]}}" for i in group)).rstrip())
        for t, row in zip(selection.times.tolist(), selection.values.tolist(), strict=True):
            lines.append(f"{one_pe(t, digits):>{figures}}" + "".join(f"{one_pe(row[i], digits):>{sizes[i]}}" for i in group))
    return lines


def _groups(sizes: list[int], available: int) -> list[list[int]]:
    groups: list[list[int]] = [[]]
    left = available
    for i, size in enumerate(sizes):
        if size > left and groups[-1]:
            groups.append([])
            left = available
        groups[-1].append(i)
        left -= size
    return groups


def csv_table(selection: Selection) -> str:
    """Time and the channels in their order, every digit of every number, labels in the first line.

    Examples
    --------
    >>> from tidegate.results import Column, Result
    >>> from tidegate.csmp.trans.selection import choose
    >>> csv_table(choose(Result("tank", [Column("level")], [0.0, 0.1], [[2.0], [3.0]]))).split()
    ['time,level', '0.0,2.0', '0.1,3.0']
    """
    page = StringIO(newline="")
    writer = csv.writer(page)
    writer.writerow(["time", *(channel.label for channel in selection.channels)])
    for t, row in zip(selection.times.tolist(), selection.values.tolist(), strict=True):
        writer.writerow([t, *row])
    return page.getvalue()


def markdown_table(selection: Selection, digits: int = 6) -> str:
    """The same rows for a page of text.

    Parameters
    ----------
    selection : what is shown.
    digits : significant digits of every number.

    Examples
    --------
    >>> from tidegate.results import Column, Result
    >>> from tidegate.csmp.trans.selection import choose
    >>> print(markdown_table(choose(Result("tank", [Column("level", unit="m")], [0.0, 0.1], [[2.0], [1 / 3]]))))
    | time | level (m) |
    |---:|---:|
    | 0 | 2 |
    | 0.1 | 0.333333 |
    """
    headings = [selection.time_heading, *(channel.full_label for channel in selection.channels)]
    lines = [_row(heading.replace("\\", "\\\\").replace("|", "\\|") for heading in headings), "|" + "---:|" * len(headings)]
    for t, row in zip(selection.times.tolist(), selection.values.tolist(), strict=True):
        lines.append(_row(number(value, digits) for value in (t, *row)))
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
