"""Blocks with corners and jumps (front end of blocks); each of them is located as an event."""

from __future__ import annotations

from typing import Unpack

from tidegate.expressions import ONE, ZERO, Expr, as_expr, select
from tidegate.frontends.blocks.block import About, Block
from tidegate.frontends.blocks.pen import Pen
from tidegate.model import Terminate

__all__ = ["BangBang", "DeadSpace", "Hysteresis", "Limiter", "NegativeClipper", "PositiveClipper", "Quit", "Relay"]


class BangBang(Block):
    """``out = 1`` where ``x1 >= 0``, else -1.

    Examples
    --------
    >>> BangBang(name="sign")
    BangBang(name='sign')
    """

    code = "B"

    def __init__(self, **about: Unpack[About]) -> None:
        super().__init__(about)

    def signals(self, pen: Pen) -> Expr:
        """The sign."""
        return select(pen.x() >= 0, ONE, -ONE)


class DeadSpace(Block):
    """``out = x1 - upper`` above upper, ``x1 - lower`` below lower, 0 between.

    Parameters
    ----------
    upper, lower : ends of the dead space.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> DeadSpace(0.5, -0.5)
    DeadSpace(upper=0.5, lower=-0.5)
    """

    code = "D"
    table_parameters = ("upper", "lower")

    def __init__(self, upper: float = 0.0, lower: float = 0.0, **about: Unpack[About]) -> None:
        super().__init__(about, upper=upper, lower=lower)

    def check_parameters(self) -> None:
        """The limits are the right way round."""
        upper, lower = self.one_number("upper"), self.one_number("lower")
        self.require(lower <= upper, f"lower is {lower:g} and upper {upper:g}", "the upper limit comes first: DeadSpace(upper, lower)")

    def signals(self, pen: Pen) -> Expr:
        """What sticks out of the dead space."""
        x, upper, lower = pen.x(), pen.p("upper"), pen.p("lower")
        return select(x > upper, x - upper, select(x < lower, x - lower, ZERO))


class Limiter(Block):
    """``out = x1`` between the limits, the limit outside.

    Parameters
    ----------
    upper, lower : the limits.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> Limiter(10.0, 0.0)
    Limiter(upper=10, lower=0)
    """

    code = "L"
    table_parameters = ("upper", "lower")

    def __init__(self, upper: float = 1.0, lower: float = -1.0, **about: Unpack[About]) -> None:
        super().__init__(about, upper=upper, lower=lower)

    def check_parameters(self) -> None:
        """The limits are the right way round."""
        upper, lower = self.one_number("upper"), self.one_number("lower")
        self.require(lower <= upper, f"lower is {lower:g} and upper {upper:g}", "the upper limit comes first: Limiter(upper, lower)")

    def signals(self, pen: Pen) -> Expr:
        """The limited input."""
        x, upper, lower = pen.x(), pen.p("upper"), pen.p("lower")
        return select(x > upper, upper, select(x < lower, lower, x))


class NegativeClipper(Block):
    """``out = x1`` where it is positive, else 0: the negative part is clipped.

    Examples
    --------
    >>> NegativeClipper(number=6)
    NegativeClipper(number=6)
    """

    code = "N"

    def __init__(self, **about: Unpack[About]) -> None:
        super().__init__(about)

    def signals(self, pen: Pen) -> Expr:
        """The positive part."""
        return select(pen.x() > 0, pen.x(), ZERO)


class PositiveClipper(Block):
    """``out = x1`` where it is negative, else 0: the positive part is clipped.

    Examples
    --------
    >>> PositiveClipper(number=6)
    PositiveClipper(number=6)
    """

    code = "P"

    def __init__(self, **about: Unpack[About]) -> None:
        super().__init__(about)

    def signals(self, pen: Pen) -> Expr:
        """The negative part."""
        return select(pen.x() < 0, pen.x(), ZERO)


class Relay(Block):
    """``out = x2`` where ``x1 >= 0``, else ``x3``.

    Examples
    --------
    >>> Relay().inputs
    ('x1', 'x2', 'x3')
    """

    code = "R"
    inputs = ("x1", "x2", "x3")

    def __init__(self, **about: Unpack[About]) -> None:
        super().__init__(about)

    def signals(self, pen: Pen) -> Expr:
        """The chosen input."""
        return select(pen.x("x1") >= 0, pen.x("x2"), pen.x("x3"))


class Quit(Block):
    """Ends the run, as a success, when ``x1 > x2``; what comes out is 0.

    Examples
    --------
    >>> Quit(name="ground")
    Quit(name='ground')
    """

    code = "Q"
    inputs = ("x1", "x2")

    def __init__(self, **about: Unpack[About]) -> None:
        super().__init__(about)

    def feedthrough(self) -> tuple[str, ...]:
        """What comes out does not change."""
        return ()

    def signals(self, pen: Pen) -> Expr:  # noqa: ARG002 - always the same
        """Nothing to see."""
        return ZERO

    def dynamics(self, pen: Pen) -> None:
        """The end of the run."""
        is_over = pen.x("x1") > pen.x("x2")
        sentence = f"block {pen.path} ended the run"
        pen.initially(Terminate(sentence, is_over))
        pen.when(((is_over,), (Terminate(sentence),), "quit"))


class Hysteresis(Block):
    """Switches to ``on`` when x1 rises to ``high``, and back to ``off`` when it falls to ``low``.

    Parameters
    ----------
    low, high : where it switches.
    off, on : what comes out.
    is_on : how it stands at the start, if x1 lies between low and high there.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> Hysteresis(19.0, 21.0, off=1.0, on=0.0)
    Hysteresis(low=19, high=21, off=1, on=0)
    """

    def __init__(
        self, low: float = -1.0, high: float = 1.0, off: float = 0.0, on: float = 1.0, *, is_on: bool = False, **about: Unpack[About]
    ) -> None:
        super().__init__(about, low=low, high=high, off=off, on=on)
        self._is_on = bool(is_on)

    def check_parameters(self) -> None:
        """It switches back below the point where it switches on."""
        low, high = self.one_number("low"), self.one_number("high")
        self.require(low < high, f"low is {low:g} and high {high:g}", "give a low that is less than high")

    def feedthrough(self) -> tuple[str, ...]:
        """It switches by events."""
        return ()

    def signals(self, pen: Pen) -> Expr:
        """On or off."""
        return select(pen.flag("is_on", self._is_on) > 0.5, pen.p("on"), pen.p("off"))

    def dynamics(self, pen: Pen) -> None:
        """Switching."""
        is_on = pen.flag("is_on")
        above, below = pen.x() >= pen.p("high"), pen.x() <= pen.p("low")
        start = select(above, ONE, select(below, ZERO, as_expr(float(self._is_on))))
        pen.initially(*pen.body({is_on: start}))
        pen.when(((above,), pen.body({is_on: ONE}), "on"), ((below,), pen.body({is_on: ZERO}), "off"))
