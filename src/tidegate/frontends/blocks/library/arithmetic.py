"""Blocks that calculate (front end of blocks): constants, sums, products, quotients, powers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from tidegate.expressions import Expr, as_expr
from tidegate.expressions import elementary as f
from tidegate.frontends.blocks.block import About, Block
from tidegate.frontends.blocks.pen import Pen

__all__ = ["Constant", "Divider", "Gain", "HalfPower", "Inverter", "Magnitude", "Multiplier", "Offset", "Summer", "WeightedSummer", "input_names"]


def input_names(count: int) -> tuple[str, ...]:
    """``x1``, ``x2``, ..."""
    return tuple(f"x{k + 1}" for k in range(count))


class Constant(Block):
    """``out = value``.

    Parameters
    ----------
    value : what comes out.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> Constant(2.5)
    Constant(value=2.5)
    """

    code = "K"
    inputs = ()
    table_parameters = ("value",)

    def __init__(self, value: float = 0.0, **about: Unpack[About]) -> None:
        super().__init__(about, value=value)

    @property
    def inscription(self) -> str:
        """Its value."""
        return f"{self._parameters['value']:g}"

    def signals(self, pen: Pen) -> Expr:
        """The parameter."""
        return pen.p("value")


class Gain(Block):
    """``out = gain * x1``.

    Parameters
    ----------
    gain : the factor.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> Gain(2.0)
    Gain(gain=2)
    """

    code = "G"
    table_parameters = ("gain",)

    def __init__(self, gain: float = 1.0, **about: Unpack[About]) -> None:
        super().__init__(about, gain=gain)

    @property
    def inscription(self) -> str:
        """Its factor."""
        return f"{self._parameters['gain']:g}"

    def signals(self, pen: Pen) -> Expr:
        """The product."""
        return pen.p("gain") * pen.x()


class Offset(Block):
    """``out = x1 + offset``.

    Parameters
    ----------
    offset : what is added.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> Offset(-1.0)
    Offset(offset=-1)
    """

    code = "O"
    table_parameters = ("offset",)

    def __init__(self, offset: float = 0.0, **about: Unpack[About]) -> None:
        super().__init__(about, offset=offset)

    @property
    def inscription(self) -> str:
        """The sum."""
        return f"x {self._parameters['offset']:+g}"

    def signals(self, pen: Pen) -> Expr:
        """The sum."""
        return pen.x() + pen.p("offset")


class Inverter(Block):
    """``out = -x1``.

    Examples
    --------
    >>> Inverter(name="minus")
    Inverter(name='minus')
    """

    code = "-"

    def __init__(self, **about: Unpack[About]) -> None:
        super().__init__(about)

    def signals(self, pen: Pen) -> Expr:
        """The input with its sign changed."""
        return -pen.x()


class Summer(Block):
    """``out = s1 x1 + s2 x2 + ...``, every sign s either +1 or -1; inputs that are not connected count as 0.

    Parameters
    ----------
    signs : a text like ``"+-+"``, or a sequence of +1 and -1; one an input.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> Summer("+-").inputs
    ('x1', 'x2')
    """

    code = "+"

    def __init__(self, signs: str | Sequence[int] = "+++", **about: Unpack[About]) -> None:
        super().__init__(about)
        read = [{"+": 1, "-": -1}.get(s, 0) if isinstance(s, str) else s for s in signs]
        self.require(bool(read) and all(s in (1, -1) for s in read), f"signs are {signs!r}", 'write e.g. "+-+", one sign an input')
        self._signs = tuple(read)
        object.__setattr__(self, "inputs", input_names(len(read)))
        object.__setattr__(self, "optional", frozenset(input_names(len(read))))

    @property
    def signs(self) -> tuple[int, ...]:
        """+1 or -1 for each input."""
        return self._signs

    def signals(self, pen: Pen) -> Expr:
        """The sum."""
        total = as_expr(0.0)
        for port, sign in zip(self.inputs, self._signs, strict=True):
            total = total + pen.x(port) if sign > 0 else total - pen.x(port)
        return total

    def __repr__(self) -> str:
        signs = "".join("+" if s > 0 else "-" for s in self._signs)
        return super().__repr__().replace("Summer(", f"Summer({signs!r}{', ' if self.name or self.number is not None else ''}", 1)


class WeightedSummer(Block):
    """``out = weight1 x1 + weight2 x2 + weight3 x3``; inputs that are not connected count as 0.

    Parameters
    ----------
    weight1, weight2, weight3 : the factors.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> WeightedSummer(2.0, -1.0)
    WeightedSummer(weight1=2, weight2=-1, weight3=0)
    """

    code = "W"
    inputs = ("x1", "x2", "x3")
    optional = frozenset(inputs)
    table_parameters = ("weight1", "weight2", "weight3")

    def __init__(self, weight1: float = 0.0, weight2: float = 0.0, weight3: float = 0.0, **about: Unpack[About]) -> None:
        super().__init__(about, weight1=weight1, weight2=weight2, weight3=weight3)

    def signals(self, pen: Pen) -> Expr:
        """The weighted sum."""
        total = as_expr(0.0)
        for port, weight in zip(self.inputs, self.table_parameters, strict=True):
            if pen.is_connected(port):
                total = total + pen.p(weight) * pen.x(port)
        return total


class Multiplier(Block):
    """``out = x1 * x2``.

    Examples
    --------
    >>> Multiplier().inputs
    ('x1', 'x2')
    """

    code = "X"
    inputs = ("x1", "x2")

    def __init__(self, **about: Unpack[About]) -> None:
        super().__init__(about)

    def signals(self, pen: Pen) -> Expr:
        """The product."""
        return pen.x("x1") * pen.x("x2")


class Divider(Block):
    """``out = x1 / x2``; where x2 is zero the run fails.

    Examples
    --------
    >>> Divider().inputs
    ('x1', 'x2')
    """

    code = "/"
    inputs = ("x1", "x2")

    def __init__(self, **about: Unpack[About]) -> None:
        super().__init__(about)

    def signals(self, pen: Pen) -> Expr:
        """The quotient."""
        return pen.x("x1") / pen.x("x2")


class Magnitude(Block):
    """``out = |x1|``; the corner is an event.

    Examples
    --------
    >>> Magnitude(name="speed")
    Magnitude(name='speed')
    """

    code = "M"

    def __init__(self, **about: Unpack[About]) -> None:
        super().__init__(about)

    def signals(self, pen: Pen) -> Expr:
        """The absolute value."""
        return abs(pen.x())


class HalfPower(Block):
    """``out = sqrt(x1)``; where x1 is negative the run fails.

    Examples
    --------
    >>> HalfPower(number=4)
    HalfPower(number=4)
    """

    code = "H"

    def __init__(self, **about: Unpack[About]) -> None:
        super().__init__(about)

    def signals(self, pen: Pen) -> Expr:
        """The square root."""
        return as_expr(f.sqrt(pen.x()))
