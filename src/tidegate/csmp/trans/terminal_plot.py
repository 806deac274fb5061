"""Plots made of characters (stage: output program). In goes a selection, out come lines: time runs down the page, one character a curve."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import numpy as np

from tidegate.csmp.fortran_numbers import three
from tidegate.csmp.trans.scales import Scale, convenient_scale
from tidegate.csmp.trans.selection import Selection
from tidegate.errors import UsageError

__all__ = ["SYMBOLS", "terminal_plot"]

SYMBOLS: Final = "*+ox#@%&ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # of the curves, in order; those most different come first

_POSITIONS: Final = 51  # across the plot, so that half and tenths of it are whole; leaves room for the time and for what coincides
_TIME: Final = 11  # characters, with a blank behind


def terminal_plot(selection: Selection, scales: Mapping[int, Scale] | None = None) -> str:
    """Draw each curve in a scale of its own, the scales at the head.

    Parameters
    ----------
    selection : what is shown; one line for each row.
    scales : by the index of the column; without one, the closest of 1-2-5 that shows all of the curve.

    Returns
    -------
    Lines of at most 72 characters. Where curves coincide, the first is drawn and the symbols of all of them stand at the right. A value outside a
    scale that was given is not drawn.

    Raises
    ------
    UsageError
        For more curves than there are symbols.

    Examples
    --------
    >>> from tidegate.results import Column, Result
    >>> from tidegate.csmp.trans.selection import choose
    >>> print(terminal_plot(choose(Result("ramp", [Column("y")], [0.0, 1.0, 2.0], [[0.0], [5.0], [10.0]]))))
    SCALES
    *  y                          0.00E-01 TO  1.00E+01
    <BLANKLINE>
          TIME +----+----+----+----+----+----+----+----+----+----+
      0.00E-01 *                                                 |
      1.00E+00 |                        *                        |
      2.00E+00 |                                                 *
               +----+----+----+----+----+----+----+----+----+----+
    """
    channels = selection.channels
    if len(channels) > len(SYMBOLS):
        raise UsageError(f"{len(channels)} curves are too many for one plot", hint=f"at most {len(SYMBOLS)}; ask for some of the blocks by number")
    used = [(scales or {}).get(channel.column) or convenient_scale(selection.values[:, i]) for i, channel in enumerate(channels)]
    lines = ["SCALES"]
    for symbol, channel, scale in zip(SYMBOLS, channels, used, strict=False):
        text = f"{channel.heading}  {channel.label}" if channel.number else channel.heading
        lines.append(f"{symbol}  {text[:24]:<24} {three(scale.lower):>10} TO {three(scale.upper):>9}".rstrip())
    ruler = "".join("+" if i % (_POSITIONS // 10) == 0 else "-" for i in range(_POSITIONS))
    lines.extend(["", f"{'TIME':>{_TIME - 1}} {ruler}"])
    for t, row in zip(selection.times.tolist(), selection.values, strict=True):
        lines.append(_line(t, row.tolist(), used))
    lines.append(" " * _TIME + ruler)
    return "\n".join(lines)


def _line(time: float, row: list[float], scales: list[Scale]) -> str:
    places: dict[int, str] = {}
    for symbol, value, scale in zip(SYMBOLS, row, scales, strict=False):
        place = _place(value, scale)
        if place is not None:
            places[place] = places.get(place, "") + symbol
    cells = np.full(_POSITIONS, " ")
    cells[[0, -1]] = "|"
    for place, symbols in places.items():
        cells[place] = symbols[0]
    together = " ".join(symbols for _, symbols in sorted(places.items()) if len(symbols) > 1)
    return f"{three(time):>{_TIME - 1}} {''.join(cells.tolist())} {together[:9]}".rstrip()


def _place(value: float, scale: Scale) -> int | None:
    part = (value / 2 - scale.lower / 2) / (scale.upper / 2 - scale.lower / 2)  # halves, since the difference of two huge numbers may overflow
    if not math.isfinite(part) or not -1e-9 <= part <= 1 + 1e-9:
        return None
    return round(min(max(part, 0.0), 1.0) * (_POSITIONS - 1))
