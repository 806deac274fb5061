"""Sources (front end of blocks): signals of time alone; where they jump or have a corner is known beforehand and not searched."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, Unpack

import numpy as np

from tidegate.expressions import ZERO, Expr, as_expr, node, select
from tidegate.expressions import elementary as f
from tidegate.expressions.lookup_tables import table
from tidegate.frontends.blocks.block import About, Block
from tidegate.frontends.blocks.pen import TIME, Pen

__all__ = ["Pulse", "Ramp", "Sine", "Step", "TableSource", "Time"]

_HARDLY = 1e-9  # of a period: what lies this little before a flank is at it


class Time(Block):
    """``out`` is simulated time; block 1 of CSMP-10(ARL).

    Examples
    --------
    >>> Time().inputs
    ()
    """

    inputs = ()

    def __init__(self, **about: Unpack[About]) -> None:
        super().__init__(about)

    def signals(self, pen: Pen) -> Expr:  # noqa: ARG002 - the same in every diagram
        """Time."""
        return TIME


class Step(Block):
    """``out = before`` until ``at``, then ``after``.

    Parameters
    ----------
    at : when.
    before, after : what comes out.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> Step(at=1.0, after=3.0)
    Step(at=1, after=3, before=0)
    """

    inputs = ()

    def __init__(self, at: float = 0.0, after: float = 1.0, before: float = 0.0, **about: Unpack[About]) -> None:
        super().__init__(about, at=at, after=after, before=before)

    def signals(self, pen: Pen) -> Expr:
        """The step."""
        return select(pen.p("at") <= TIME, pen.p("after"), pen.p("before"))


class Ramp(Block):
    """``out = slope * (time - start)`` from start on, 0 before.

    Parameters
    ----------
    slope : how steep.
    start : when it begins.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> Ramp(2.0)
    Ramp(slope=2, start=0)
    """

    inputs = ()

    def __init__(self, slope: float = 1.0, start: float = 0.0, **about: Unpack[About]) -> None:
        super().__init__(about, slope=slope, start=start)

    def signals(self, pen: Pen) -> Expr:
        """The ramp."""
        return select(pen.p("start") <= TIME, pen.p("slope") * (TIME - pen.p("start")), ZERO)


class Sine(Block):
    """``out = offset + amplitude * sin(2 pi frequency time + phase)``.

    Parameters
    ----------
    frequency : periods in a unit of time.
    amplitude, offset : of what comes out.
    phase : in radians.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> Sine(frequency=50.0)
    Sine(frequency=50, amplitude=1, phase=0, offset=0)
    """

    inputs = ()

    def __init__(self, frequency: float = 1.0, amplitude: float = 1.0, phase: float = 0.0, offset: float = 0.0, **about: Unpack[About]) -> None:
        super().__init__(about, frequency=frequency, amplitude=amplitude, phase=phase, offset=offset)

    def signals(self, pen: Pen) -> Expr:
        """The wave."""
        return pen.p("offset") + pen.p("amplitude") * f.sin(2.0 * math.pi * pen.p("frequency") * TIME + pen.p("phase"))


class Pulse(Block):
    """``out = height`` for the first ``width`` of every period, else 0; 0 before the first.

    Parameters
    ----------
    period : of the pulses.
    width : the part of it that is high, between 0 and 1.
    height : of a pulse.
    start : when the first begins.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> Pulse(period=2.0, width=0.1)
    Pulse(period=2, width=0.1, height=1, start=0)
    """

    inputs = ()

    def __init__(self, period: float = 1.0, width: float = 0.5, height: float = 1.0, start: float = 0.0, **about: Unpack[About]) -> None:
        super().__init__(about, period=period, width=width, height=height, start=start)

    def check_parameters(self) -> None:
        """There is a period, and a part of it."""
        self.require_positive("period")
        width = self.one_number("width")
        self.require(0 < width < 1, f"width is {width:g}", "give a part of the period, between 0 and 1")

    def signals(self, pen: Pen) -> Expr:
        """High or low."""
        return select(pen.flag("is_high") > 0.5, pen.p("height"), ZERO)

    def dynamics(self, pen: Pen) -> None:
        """The flanks."""
        period, width, start = pen.p("period"), pen.p("width"), pen.p("start")
        passed = (TIME - start) / period + _HARDLY
        phase = passed - node("floor", (passed,))
        # one body for both flanks and the start of the run, which may lie anywhere
        body = pen.body({pen.flag("is_high"): select((passed >= 0) & (phase < width), as_expr(1.0), ZERO)})
        pen.initially(*body)
        pen.at(start, body, "rise", period=period)
        pen.at(start + width * period, body, "fall", period=period)


class TableSource(Block):
    """``out`` is a table's value at the present time.

    Parameters
    ----------
    times, values : the points, times increasing.
    kind : ``"linear"``, whose corners are events, or ``"cubic"``; the end pieces are continued.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> TableSource([0.0, 1.0], [2.0, 3.0]).inputs
    ()
    """

    inputs = ()

    def __init__(
        self,
        times: Sequence[float] | np.ndarray,
        values: Sequence[float] | np.ndarray,
        kind: Literal["linear", "cubic"] = "linear",
        **about: Unpack[About],
    ) -> None:
        super().__init__(about)
        self._table = table(times, values, kind, self.path)

    def signals(self, pen: Pen) -> Expr:  # noqa: ARG002 - a table has numbers, and no parameters
        """The table's value."""
        return as_expr(self._table(TIME))
