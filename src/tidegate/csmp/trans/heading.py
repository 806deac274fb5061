"""What is known of a file (stage: output program). In goes a result, out come the lines that stand above everything else."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Final

from tidegate.csmp.fortran_numbers import five
from tidegate.csmp.trans.selection import Window, even_step, of_channels, title_of
from tidegate.results import Result

__all__ = ["heading", "time_line"]

_MONTHS: Final = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()  # whatever language the machine speaks


def heading(result: Result, path: Path | None = None, title: str = "") -> list[str]:
    """Title, date, integration interval, cost and time limits.

    Parameters
    ----------
    result : of any run; its options may tell ``title``, ``recorded`` (date and time), ``interval`` and ``cpu_seconds``.
    path : of the file, whose date stands for the run's where that is not known.
    title : instead of the result's.

    Examples
    --------
    >>> from tidegate.results import Column
    >>> tank = Result("tank", [Column("level")], [0.0, 1.0], [2.0, 3.0], options={"interval": 0.1, "recorded": "1976-04-21T16:57"})
    >>> for line in heading(tank):
    ...     print(line)
    tank
    I/P FILE RECORDED ON 21-APR-76 AT 16:57
    INTEGN INT = 1.0000E-01; RUN CPU TIME = 0.00 SEC.
    TIME FROM 0.0000E-01 TO 1.0000E+00 IN STEPS OF 1.0000E+00
    """
    recorded = _recorded(result, path)
    lines = [title or title_of(result)]
    if recorded is not None:
        lines.append(f"I/P FILE RECORDED ON {recorded:%d}-{_MONTHS[recorded.month - 1]}-{recorded:%y} AT {recorded:%H:%M}")
    interval, spent = result.options.get("interval"), result.options.get("cpu_seconds", result.statistics.seconds)
    step = five(float(interval)) if isinstance(interval, int | float) else "VARIABLE"
    lines.append(f"INTEGN INT = {step}; RUN CPU TIME = {float(spent):.2f} SEC.")
    if result.t.size:
        lines.append(time_line(result, Window()))
    return lines


def time_line(result: Result, window: Window) -> str:
    """The limits of a window, and the step of its rows or how many there are."""
    times = of_channels(result, (), window).times
    if not times.size:
        return "NO ROWS IN THESE TIME LIMITS"
    step = window.step or even_step(times)
    return f"TIME FROM {five(float(times[0]))} TO {five(float(times[-1]))} IN " + (f"STEPS OF {five(step)}" if step else f"{times.size} ROWS")


def _recorded(result: Result, path: Path | None) -> datetime | None:
    try:
        return datetime.fromisoformat(str(result.options.get("recorded")))
    except ValueError:
        pass
    # the machine's own time zone, as the clock on the wall had it
    return datetime.fromtimestamp(path.stat().st_mtime).astimezone() if path is not None and path.is_file() else None
