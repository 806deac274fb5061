"""Blocks with a clock (front end of blocks): delays, holds, pulse generators, sampled transfer functions.

Ticks are at ``offset``, ``offset + period``, ... of simulated time, at the start of a run too where it is one of them. At a tick the blocks of one
instant act together: each sees of the others what they have just become, in the direction of the signals, and a delay shows what it took at the tick
before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from tidegate.expressions import ONE, TRUE, ZERO, Expr, as_expr, node, select
from tidegate.expressions.delays import delay
from tidegate.frontends.blocks.block import About, Block
from tidegate.frontends.blocks.library.dynamic import Vector, coefficients
from tidegate.frontends.blocks.pen import TIME, Pen

__all__ = ["DiscreteTransferFunction", "TimePulse", "TransportDelay", "UnitDelay", "VariableDelay", "ZeroOrderHold"]


class _Clocked(Block):
    """What blocks with a clock share."""

    def __init__(self, about: About, period: float | None, offset: float | None, **parameters: Any) -> None:
        super().__init__(about, period=period, offset=offset, **parameters)

    def check_parameters(self) -> None:
        """Periods are positive."""
        self.require_positive("period", "pulse_period")

    def ticks(self, pen: Pen, actions: Any) -> None:
        """Let this happen at every tick."""
        pen.at(pen.p("offset"), actions, period=pen.p("period"))


class UnitDelay(_Clocked):
    """``out`` is what x1 was at the tick before; ``start`` until the second tick.

    The unit delay of CSMP-10(ARL) has half a step of its program as its period.

    Parameters
    ----------
    period : of its clock.
    start : what comes out at first.
    offset : of its clock.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> UnitDelay(0.1)
    UnitDelay(period=0.1, offset=0, start=0)
    """

    code = "U"
    table_parameters = ("start",)

    def __init__(self, period: float, start: float = 0.0, offset: float = 0.0, **about: Unpack[About]) -> None:
        super().__init__(about, period, offset, start=start)

    def feedthrough(self) -> tuple[str, ...]:
        """It delays."""
        return ()

    def signals(self, pen: Pen) -> Expr:
        """What was taken."""
        return pen.discrete(start=pen.p("start"))

    def dynamics(self, pen: Pen) -> None:
        """Show what was taken at the tick before, and take anew."""
        out, taken = pen.discrete(), pen.discrete("taken", pen.p("start"))
        self.ticks(pen, pen.body({out: taken, taken: pen.fresh()}))


class ZeroOrderHold(_Clocked):
    """With a period: ``out`` is x1 as it was at the last tick at which x2 was positive; ``start`` before. Without: ``out = x1`` while ``x2 > 0``, and
    what it was last otherwise (track and hold): x1 when tracking ends, with all that changes at that instant. Ports are also called ``signal`` and
    ``track``; with a period x2 need not be connected.

    Parameters
    ----------
    period : of its clock; None for track and hold.
    start : what comes out at first.
    offset : of its clock.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> ZeroOrderHold(0.1)
    ZeroOrderHold(period=0.1, offset=0, start=0)
    """

    code = "Z"
    inputs = ("x1", "x2")
    aliases = {"signal": "x1", "track": "x2"}  # noqa: RUF012 - a mapping nobody writes to
    table_parameters = ("start",)

    def __init__(self, period: float | None = None, start: float = 0.0, offset: float = 0.0, **about: Unpack[About]) -> None:
        super().__init__(about, period, None if period is None else offset, start=start)
        object.__setattr__(self, "optional", frozenset(() if period is None else ("x2",)))

    @property
    def is_sampled(self) -> bool:
        """With a clock."""
        return "period" in self._parameters

    def signals(self, pen: Pen) -> Expr:
        """What is held, or the signal itself."""
        held = pen.discrete("" if self.is_sampled else "held", pen.p("start"))
        return held if self.is_sampled else select(pen.x("x2") > 0, pen.x("x1"), held)

    def dynamics(self, pen: Pen) -> None:
        """Sampling."""
        if self.is_sampled:
            held = pen.discrete()
            is_wanted = pen.fresh("x2") > 0 if pen.is_connected("x2") else TRUE
            self.ticks(pen, pen.body({held: select(is_wanted, pen.fresh("x1"), held)}))
        else:
            pen.when(((~(pen.x("x2") > 0),), pen.body({pen.discrete("held"): pen.x("x1")}), "hold"))


class TimePulse(_Clocked):
    """Pulses of height 1 and width ``period / 2`` every period, from the moment when x1 is not negative; 0 while x1 is negative.

    Parameters
    ----------
    period : of the pulses.
    sampling : None for flanks at their exact times. Otherwise the distance of the ticks at which it acts, half a step of a program of CSMP-10(ARL),
        whose algorithm it then follows.
    offset : of these ticks.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> TimePulse(2.0)
    TimePulse(pulse_period=2)
    """

    code = "T"
    table_parameters = ("pulse_period",)

    def __init__(self, period: float = 1.0, *, sampling: float | None = None, offset: float = 0.0, **about: Unpack[About]) -> None:
        super().__init__(about, sampling, None if sampling is None else offset, pulse_period=period)

    @property
    def is_sampled(self) -> bool:
        """With ticks."""
        return "period" in self._parameters

    def feedthrough(self) -> tuple[str, ...]:
        """It starts by an event, or at a tick."""
        return self.inputs if self.is_sampled else ()

    def signals(self, pen: Pen) -> Expr:
        """High or low."""
        return pen.discrete()

    def dynamics(self, pen: Pen) -> None:
        """The flanks."""
        if self.is_sampled:
            self._at_ticks(pen)
            return
        out, running, following = pen.discrete(), pen.flag("running"), pen.discrete("next")
        half = pen.p("pulse_period") / 2.0
        wanted, is_running = pen.x() >= 0, running > 0.5
        body = pen.body(
            {
                out: select(wanted, select(is_running, 1.0 - out, ONE), ZERO),
                running: select(wanted, ONE, ZERO),
                following: select(wanted & is_running, following + half, TIME + half),
            }
        )
        pen.initially(*body)
        pen.when(((wanted, ~wanted), body, "start"))
        pen.at(following, body, "flank", only=is_running)

    def _at_ticks(self, pen: Pen) -> None:
        """Section 13 of the language: the phase counts up by half steps, and each time it is past zero the pulse turns."""
        out, running, phase = pen.discrete(), pen.flag("running"), pen.discrete("phase")
        half_step, period = pen.p("period"), pen.p("pulse_period")
        step = 2.0 * half_step
        wanted, is_running = pen.fresh() >= 0, running > 0.5
        turns = select(phase >= 0, node("floor", (phase / (period / 2.0),)) + 1.0, ZERO)
        is_odd = turns - 2.0 * node("floor", (turns / 2.0,)) > 0.5
        start = (step - period) / 2.0 + 1e-4 * select(step < period, step, period)
        body = {
            out: select(wanted, select(is_running, select(is_odd, 1.0 - out, out), ONE), ZERO),
            running: select(wanted, ONE, ZERO),
            phase: select(wanted, select(is_running, phase - turns * (period / 2.0) + half_step, start), phase),
        }
        self.ticks(pen, pen.body(body))


class DiscreteTransferFunction(_Clocked):
    """``out = num(z) / den(z) * x1``, sampled: at each tick ``den0 y(k) = num0 u(k) + num1 u(k-1) + ... - den1 y(k-1) - ...``.

    Parameters
    ----------
    numerator, denominator : coefficients, highest power of z first.
    period : of its clock.
    offset : of its clock.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> DiscreteTransferFunction([1.0], [1.0, -0.5], period=0.1).inputs
    ('x1',)
    """

    def __init__(self, numerator: Vector, denominator: Vector, period: float, offset: float = 0.0, **about: Unpack[About]) -> None:
        super().__init__(about, period, offset)
        num, den = coefficients(self, numerator, denominator)
        self._is_direct = num[0] != 0.0
        self._parameters.update(numerator=np.array(num if self._is_direct or len(num) == 1 else num[1:]), denominator=np.array(den))

    @property
    def is_sampled(self) -> bool:
        """Always."""
        return True

    def feedthrough(self) -> tuple[str, ...]:
        """Only where both have the same degree."""
        return self.inputs if self._is_direct else ()

    def signals(self, pen: Pen) -> Expr:
        """What came out at the last tick."""
        return pen.discrete()

    def dynamics(self, pen: Pen) -> None:
        """The chain of delays (observer canonical form)."""
        den, num = pen.elements("denominator"), pen.elements("numerator")
        b = [item / den[0] for item in [ZERO] * (len(den) - len(num)) + num]
        a = [item / den[0] for item in den]
        n, u = len(a) - 1, pen.fresh()
        states = [pen.discrete(f"state{k + 1}") for k in range(n)]
        first = states[0] if n else ZERO
        out = first + b[0] * u if self._is_direct else first
        values: dict[Expr, Expr | float] = {pen.discrete(): out}
        for k in range(n):
            following = states[k + 1] if k + 1 < n else ZERO
            values[states[k]] = following + b[k + 1] * u - a[k + 1] * out
        self.ticks(pen, pen.body(values))


class TransportDelay(Block):
    """``out`` is x1 a time ``delay`` ago; ``start`` before.

    From the dense past of the run itself (``tg.delay``), as accurate as its steps, corners and jumps included; ``radau`` runs it. With ``samples``
    it is an approximation that all methods run: x1 is sampled every ``delay / samples``, and straight lines are drawn between the samples. Corners of
    x1 are rounded off over one sample, a smooth signal is right to ``x'' (delay / samples)^2 / 8``, and each sample is an event.

    Parameters
    ----------
    delay : how long, positive.
    samples : how many in a delay, at least 2; None for the exact past.
    start : what comes out at first.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> TransportDelay(0.7)
    TransportDelay(delay=0.7, start=0)
    """

    def __init__(self, delay: float, samples: int | None = None, start: float = 0.0, **about: Unpack[About]) -> None:
        super().__init__(about, delay=delay, start=start)
        is_count = samples is None or (samples >= 2 and samples == int(samples))
        self.require(is_count, f"samples is {samples!r}", "give an integer, 2 or more, or none")
        self._samples = None if samples is None else int(samples)

    def check_parameters(self) -> None:
        """It delays."""
        self.require_positive("delay")

    @property
    def samples(self) -> int | None:
        """How many in a delay; None for the exact past."""
        return self._samples

    def feedthrough(self) -> tuple[str, ...]:
        """It delays."""
        return ()

    def _register(self, pen: Pen, samples: int) -> list[Expr]:
        return [pen.discrete(f"sample{k}", pen.p("start")) for k in range(samples + 1)]

    def signals(self, pen: Pen) -> Expr:
        """An unknown of its own, or what is on the line between the two oldest samples."""
        if self._samples is None:
            return pen.unknown("", pen.p("start"))
        register, last = self._register(pen, self._samples), pen.discrete("last")
        passed = (TIME - last) / (pen.p("delay") / as_expr(float(self._samples)))
        return register[-1] + (register[-2] - register[-1]) * passed

    def dynamics(self, pen: Pen) -> None:
        """Looking back, or sampling and shifting."""
        if self._samples is None:
            pen.equation(pen.unknown(), delay(pen.x(), pen.p("delay"), pen.p("start")))
            return
        register, last = self._register(pen, self._samples), pen.discrete("last")
        shifted: Sequence[Expr] = [pen.fresh(), *register[:-1]]
        pen.initially(*pen.body({last: TIME}))
        pen.at(0.0, pen.body({**dict(zip(register, shifted, strict=True)), last: TIME}), period=pen.p("delay") / as_expr(float(self._samples)))


class VariableDelay(Block):
    """``out`` is x1 a time x2 ago; ``start`` before. A belt or a pipe whose speed changes.

    From the dense past of the run itself (``tg.delay``); ``radau`` runs it. The delay must be positive all the time.

    Parameters
    ----------
    start : what comes out at first.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> VariableDelay()
    VariableDelay(start=0)
    """

    inputs = ("x1", "x2")

    def __init__(self, start: float = 0.0, **about: Unpack[About]) -> None:
        super().__init__(about, start=start)

    def feedthrough(self) -> tuple[str, ...]:
        """It delays x1; when it looks back is known at once."""
        return ("x2",)

    def signals(self, pen: Pen) -> Expr:
        """An unknown of its own."""
        return pen.unknown("", pen.p("start"))

    def dynamics(self, pen: Pen) -> None:
        """Looking back."""
        pen.equation(pen.unknown(), delay(pen.x("x1"), pen.x("x2"), pen.p("start")))
