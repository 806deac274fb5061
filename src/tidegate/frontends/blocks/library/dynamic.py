"""Blocks with states (front end of blocks): integrator, lag, transfer function, state space, controller, rate limiter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from tidegate.expressions import FALSE, ONE, ZERO, Expr, as_expr, as_real, select
from tidegate.frontends.blocks.block import About, Block
from tidegate.frontends.blocks.library.arithmetic import input_names
from tidegate.frontends.blocks.pen import Pen, truth

__all__ = ["PID", "FirstOrderLag", "Integrator", "RateLimiter", "StateSpace", "TransferFunction", "coefficients"]

Vector = Sequence[float] | np.ndarray


def _limits(block: Block) -> tuple[float, float]:
    """The lower and the upper limit of a block; infinite where it is not given.

    Raises
    ------
    UsageError : they are not the right way round.
    """
    lower, upper = (block.one_number(name) if name in block.parameters else none for name, none in (("lower", -math.inf), ("upper", math.inf)))
    block.require(lower < upper, f"lower is {lower:g} and upper {upper:g}", "give a lower limit that is less")
    return lower, upper


class Integrator(Block):
    """``out = start + integral of x1 (1 + gain_error) + drift``; held while x2 is not zero, at ``start`` while x3 is not zero.

    Ports are also called ``rate``, ``hold`` and ``reset``; hold and reset need not be connected. With limits it stands at the upper one as long as
    the rate is positive there, and at the lower one as long as it is negative.

    Parameters
    ----------
    start : value at the beginning, and after a reset.
    gain_error, drift : imperfections of an analogue integrator.
    lower, upper : limits of what comes out; none if not given.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> Integrator(start=2.0).reset
    a Integrator.x3
    >>> Integrator(upper=4.0)
    Integrator(start=0, gain_error=0, drift=0, upper=4)
    """

    code = "I"
    inputs = ("x1", "x2", "x3")
    optional = frozenset({"x2", "x3"})
    aliases = {"rate": "x1", "hold": "x2", "reset": "x3"}  # noqa: RUF012 - a mapping nobody writes to
    table_parameters = ("start", "gain_error", "drift")

    def __init__(
        self, start: float = 0.0, gain_error: float = 0.0, drift: float = 0.0, *, lower: float | None = None, upper: float | None = None,
        **about: Unpack[About],
    ) -> None:  # fmt: skip
        super().__init__(about, start=start, gain_error=gain_error, drift=drift, lower=lower, upper=upper)

    def check_parameters(self) -> None:
        """The limits are the right way round, and it starts between them."""
        lower, upper = _limits(self)
        if math.isinf(lower) and math.isinf(upper):
            return
        start = self.one_number("start")
        self.require(lower <= start <= upper, f"start is {start:g}, which is not within the limits", "start at a limit, or between them")

    def feedthrough(self) -> tuple[str, ...]:
        """It integrates."""
        return ()

    def signals(self, pen: Pen) -> Expr:
        """The state."""
        return pen.state(start=pen.p("start"))

    def dynamics(self, pen: Pen) -> None:
        """Integration, and jumps back to the start."""
        state = pen.state()
        rate = pen.x("x1")
        if self._parameters["gain_error"] != 0.0:  # a model need not have parameters that nobody gave
            rate = rate * (1.0 + pen.p("gain_error"))
        if self._parameters["drift"] != 0.0:
            rate = rate + pen.p("drift")
        rate = self._limited(pen, state, rate)
        is_held = truth(pen.x("x2")) if pen.is_connected("x2") else FALSE
        if pen.is_connected("x3"):
            is_held = self._reset(pen, truth(pen.x("x3"))) | is_held
        pen.rate(state, select(is_held, ZERO, rate))

    def _limited(self, pen: Pen, state: Expr, rate: Expr) -> Expr:
        if "lower" in self._parameters:
            rate = select((state <= pen.p("lower")) & (rate < 0), ZERO, rate)
        if "upper" in self._parameters:
            rate = select((state >= pen.p("upper")) & (rate > 0), ZERO, rate)
        return rate

    def _reset(self, pen: Pen, is_reset: Expr) -> Expr:
        """Jump back to the start, and be held there if the jump has not ended its own cause; the answer is whether it is.

        A ball whose reset is asked for by a negative height must fly on at once: held at height zero, it would stay there. So the state is held from
        the round after the jump on, when what the jump leads to is known.
        """
        has_jumped, is_standing = pen.flag("has_jumped"), pen.flag("is_standing")
        jump = pen.body({pen.state(): pen.p("start"), has_jumped: ONE})
        pen.initially(*pen.body({has_jumped: as_real(is_reset), is_standing: as_real(is_reset)}))
        pen.when(
            ((is_reset,), jump, "reset"),
            ((is_reset & (has_jumped > 0.5),), pen.body({is_standing: ONE}), "stand"),
            ((~is_reset,), pen.body({has_jumped: ZERO, is_standing: ZERO}), "release"),
        )
        return is_standing > 0.5


class FirstOrderLag(Block):
    """``out + time_constant * d(out)/dt = x1 + x2 + x3``, from ``start`` on; inputs that are not connected count as 0.

    Parameters
    ----------
    start : value at the beginning.
    time_constant : not zero.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> FirstOrderLag(time_constant=0.5)
    FirstOrderLag(start=0, time_constant=0.5)
    """

    code = "T1"
    inputs = ("x1", "x2", "x3")
    optional = frozenset({"x2", "x3"})
    table_parameters = ("start", "time_constant")

    def __init__(self, start: float = 0.0, time_constant: float = 1.0, **about: Unpack[About]) -> None:
        super().__init__(about, start=start, time_constant=time_constant)

    def check_parameters(self) -> None:
        """There is a time constant."""
        self.require(self.one_number("time_constant") != 0, "time_constant is 0", "give a positive one; with none at all it is a Summer")

    @property
    def inscription(self) -> str:
        """The transfer function."""
        return f"1/(1+{self._parameters['time_constant']:g}s)"

    def feedthrough(self) -> tuple[str, ...]:
        """It integrates."""
        return ()

    def signals(self, pen: Pen) -> Expr:
        """The state."""
        return pen.state(start=pen.p("start"))

    def dynamics(self, pen: Pen) -> None:
        """Relaxation."""
        pen.rate(pen.state(), (pen.x("x1") + pen.x("x2") + pen.x("x3") - pen.state()) / pen.p("time_constant"))


def coefficients(block: Block, numerator: Vector, denominator: Vector) -> tuple[list[float], list[float]]:
    """Coefficients of a proper rational function as lists, the numerator as long as the denominator.

    Raises
    ------
    UsageError : this is none.
    """
    above, below = (np.atleast_1d(block.as_numbers(name, given)) for name, given in (("numerator", numerator), ("denominator", denominator)))
    block.require(above.ndim == below.ndim == 1, "coefficients are flat lists, highest power first")
    block.require(above.size > 0, "the numerator is empty", "give its coefficients, highest power first; [1.0] for 1")
    num = [float(item) for item in np.trim_zeros(above, "f")] or [0.0]
    den = [float(item) for item in below]
    block.require(bool(den) and den[0] != 0, f"the denominator {den} begins with zero", "begin with the coefficient of the highest power")
    block.require(
        len(num) <= len(den),
        f"the numerator {num} is of higher degree than the denominator {den}",
        "a pure derivative cannot be: give the denominator a fast pole",
    )
    return [0.0] * (len(den) - len(num)) + num, den


class TransferFunction(Block):
    """``out = num(s) / den(s) * x1``, states zero at the beginning (observer canonical form).

    Parameters
    ----------
    numerator, denominator : coefficients, highest power of s first: ``[1.0], [1.0, 0.4, 2.0]``.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> TransferFunction([1.0], [1.0, 0.4, 2.0])
    TransferFunction(numerator=[0.0, 1.0], denominator=[1.0, 0.4, 2.0])
    """

    def __init__(self, numerator: Vector, denominator: Vector, **about: Unpack[About]) -> None:
        super().__init__(about)
        num, den = coefficients(self, numerator, denominator)
        self._is_direct = num[0] != 0.0
        self._parameters.update(numerator=np.array(num if self._is_direct or len(num) == 1 else num[1:]), denominator=np.array(den))

    def feedthrough(self) -> tuple[str, ...]:
        """Only where both have the same degree."""
        return self.inputs if self._is_direct else ()

    def _read(self, pen: Pen) -> tuple[list[Expr], list[Expr]]:
        """Coefficients b and a, divided by the first of the denominator."""
        den = pen.elements("denominator")
        num = pen.elements("numerator")
        num = [ZERO] * (len(den) - len(num)) + num
        return [item / den[0] for item in num], [item / den[0] for item in den]

    def signals(self, pen: Pen) -> Expr:
        """The first state, and the input's direct way."""
        b, a = self._read(pen)
        first = pen.state("state1") if len(a) > 1 else ZERO
        return first + b[0] * pen.x() if self._is_direct else first

    def dynamics(self, pen: Pen) -> None:
        """The chain of integrators."""
        b, a = self._read(pen)
        n = len(a) - 1
        out = (pen.state("state1") if n else ZERO) + (b[0] * pen.x() if self._is_direct else ZERO)
        for k in range(1, n + 1):
            following = pen.state(f"state{k + 1}") if k < n else ZERO
            pen.rate(pen.state(f"state{k}"), following + b[k] * pen.x() - a[k] * out)


class StateSpace(Block):
    """``x' = A x + B u``, ``y = C x + D u``; inputs ``x1, x2, ...`` are u, outputs ``out`` (or ``y1``), ``y2``, ... are y.

    Parameters
    ----------
    A, B, C, D : matrices, n by n, n by m, p by n, p by m; D is zero if not given.
    start : the n states at the beginning; zero if not given.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> StateSpace([[0, 1], [-1, 0]], [0, 1], [[1, 0], [0, 1]]).outputs
    ('out', 'y2')
    """

    aliases = {"y1": "out"}  # noqa: RUF012 - a mapping nobody writes to

    def __init__(self, A: Any, B: Any, C: Any, D: Any = None, start: Vector | None = None, **about: Unpack[About]) -> None:
        super().__init__(about)
        given = {"A": A, "B": B, "C": C}
        a, b, c = (np.atleast_2d(np.asarray(self.as_numbers(name, value), dtype=float)) for name, value in given.items())
        n = a.shape[0]
        b = b.T if b.shape[0] != n and b.shape == (1, n) else b
        self.require(a.shape == (n, n), f"A is {a.shape[0]} by {a.shape[1]}", "it must be square")
        self.require(b.shape[0] == n, f"A is {n} by {n}, but B {b.shape[0]} by {b.shape[1]}", f"B must have {n} rows")
        self.require(c.shape[1] == n, f"A is {n} by {n}, but C {c.shape[0]} by {c.shape[1]}", f"C must have {n} columns")
        m, p = b.shape[1], c.shape[0]
        self._parameters.update(A=a, B=b, C=c)
        if D is not None:
            d = np.atleast_2d(np.asarray(self.as_numbers("D", D), dtype=float))
            self.require(d.shape == (p, m), f"D is {d.shape[0]} by {d.shape[1]}", f"it must be {p} by {m}, for {p} outputs and {m} inputs")
            if np.any(d):
                self._parameters["D"] = d
        x0 = np.zeros(n) if start is None else np.atleast_1d(np.asarray(self.as_numbers("start", start), dtype=float))
        self.require(x0.shape == (n,), f"start has the shape {x0.shape}", f"it must have {n} numbers")
        self._parameters["start"] = x0
        object.__setattr__(self, "inputs", input_names(m))
        object.__setattr__(self, "outputs", ("out", *(f"y{k + 2}" for k in range(p - 1))))

    def feedthrough(self) -> tuple[str, ...]:
        """Only where D is not zero."""
        return self.inputs if "D" in self._parameters else ()

    def _states(self, pen: Pen) -> list[Expr]:
        return [pen.state(f"state{k + 1}", start) for k, start in enumerate(pen.elements("start"))]

    def signals(self, pen: Pen) -> list[Expr]:
        """C x + D u."""
        x = self._states(pen)
        outputs = _product(pen.elements("C"), x)
        if "D" in self._parameters:
            direct = _product(pen.elements("D"), [pen.x(port) for port in self.inputs])
            outputs = [a + b for a, b in zip(outputs, direct, strict=True)]
        return outputs

    def dynamics(self, pen: Pen) -> None:
        """A x + B u."""
        x = self._states(pen)
        u = [pen.x(port) for port in self.inputs]
        for state, own, driven in zip(x, _product(pen.elements("A"), x), _product(pen.elements("B"), u), strict=True):
            pen.rate(state, own + driven)


def _product(matrix: Sequence[Expr], vector: Sequence[Expr]) -> list[Expr]:
    n = len(vector)
    rows = [matrix[k : k + n] for k in range(0, len(matrix), n)]
    return [sum((a * x for a, x in zip(row, vector, strict=True)), as_expr(0.0)) for row in rows]


class PID(Block):
    """``out = limited(kp e + integral + derivative)``, e = x1 the control error; also called ``error``.

    The derivative is that of e behind a lag of ``filter_time`` that begins at 0: ``kd (e - filtered) / filter_time``. Where the output is limited,
    the integral is driven back by what is cut off: ``d(integral)/dt = ki e + (out - unlimited) / tracking_time`` (anti-windup by back calculation).

    With a period it is a program that runs at every tick, T = period (Astrom and Wittenmark, Computer-Controlled Systems, 1997, section 8.5; the
    derivative by backward, the integral by forward differences)::

        derivative <- (filter_time derivative + kd (e - last)) / (filter_time + T);  last <- e
        out <- limited(kp e + integral + derivative)
        integral <- integral + T (ki e + (out - unlimited) / tracking_time)

    Parameters
    ----------
    kp, ki, kd : gains; made without kd, the block has no derivative that could be given a gain later.
    filter_time : of the derivative.
    lower, upper : limits of the output; none if not given.
    tracking_time : of the integral under limits.
    start : the integral at the beginning.
    period : of its clock; None for a controller without one.
    offset : of its clock.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> PID(2.0, ki=0.5, upper=10.0)
    PID(kp=2, ki=0.5, start=0, upper=10, tracking_time=1)
    >>> PID(2.0, ki=0.5, period=0.1)
    PID(kp=2, ki=0.5, start=0, period=0.1, offset=0)
    """

    aliases = {"error": "x1"}  # noqa: RUF012 - a mapping nobody writes to

    def __init__(  # noqa: PLR0913, a controller has so many numbers, each with a name
        self, kp: float = 1.0, ki: float = 0.0, kd: float = 0.0, *, filter_time: float = 0.01, lower: float | None = None, upper: float | None = None,
        tracking_time: float = 1.0, start: float = 0.0, period: float | None = None, offset: float = 0.0, **about: Unpack[About],
    ) -> None:  # fmt: skip
        has_derivative, has_limits = kd != 0, lower is not None or upper is not None
        super().__init__(
            about, kp=kp, ki=ki, start=start, kd=kd if has_derivative else None, filter_time=filter_time if has_derivative else None,
            lower=lower, upper=upper, tracking_time=tracking_time if has_limits else None, period=period, offset=None if period is None else offset,
        )  # fmt: skip

    def check_parameters(self) -> None:
        """Times are positive, and the limits the right way round."""
        self.require_positive("filter_time", "tracking_time", "period")
        _limits(self)

    @property
    def is_sampled(self) -> bool:
        """With a clock."""
        return "period" in self._parameters

    def _unlimited(self, pen: Pen) -> Expr:
        e = pen.x()
        u = pen.p("kp") * e + pen.state("integral", pen.p("start"))
        if "kd" in self._parameters:
            u = u + pen.p("kd") * (e - pen.state("filtered")) / pen.p("filter_time")
        return u

    def _limited(self, pen: Pen, u: Expr) -> Expr:
        out = u
        if "lower" in self._parameters:
            out = select(u < pen.p("lower"), pen.p("lower"), out)
        if "upper" in self._parameters:
            out = select(u > pen.p("upper"), pen.p("upper"), out)
        return out

    def signals(self, pen: Pen) -> Expr:
        """The limited control signal; with a clock that of the last tick."""
        return pen.discrete() if self.is_sampled else self._limited(pen, self._unlimited(pen))

    def dynamics(self, pen: Pen) -> None:
        """Integral and filter."""
        if self.is_sampled:
            self._at_ticks(pen)
            return
        e = pen.x()
        rate = pen.p("ki") * e
        if "tracking_time" in self._parameters:
            rate = rate + (self.signals(pen) - self._unlimited(pen)) / pen.p("tracking_time")
        pen.rate(pen.state("integral"), rate)
        if "kd" in self._parameters:
            pen.rate(pen.state("filtered"), (e - pen.state("filtered")) / pen.p("filter_time"))

    def _at_ticks(self, pen: Pen) -> None:
        e, integral, period = pen.fresh(), pen.discrete("integral", pen.p("start")), pen.p("period")
        new: dict[Expr, Expr | float] = {}
        u = pen.p("kp") * e + integral
        if "kd" in self._parameters:
            slope, last, lag = pen.discrete("derivative"), pen.discrete("last"), pen.p("filter_time")
            new[slope] = (lag * slope + pen.p("kd") * (e - last)) / (lag + period)
            new[last] = e
            u = u + new[slope]
        out = self._limited(pen, u)
        rate = pen.p("ki") * e
        if "tracking_time" in self._parameters:
            rate = rate + (out - u) / pen.p("tracking_time")
        pen.at(pen.p("offset"), pen.body({**new, integral: integral + period * rate, pen.discrete(): out}), period=period)


class RateLimiter(Block):
    """``out`` follows x1 no faster than ``rising`` upwards and ``falling`` downwards.

    An approximation: where x1 is slow enough, out follows it with a lag of ``time_constant``, which should be short against everything else. The rate
    of out is ``(x1 - out) / time_constant``, limited.

    Parameters
    ----------
    rising, falling : the largest rates, both positive.
    time_constant : of following.
    start : value at the beginning.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> RateLimiter(2.0)
    RateLimiter(rising=2, falling=2, time_constant=0.001, start=0)
    """

    def __init__(
        self, rising: float = 1.0, falling: float | None = None, *, time_constant: float = 1e-3, start: float = 0.0, **about: Unpack[About]
    ) -> None:
        super().__init__(about, rising=rising, falling=rising if falling is None else falling, time_constant=time_constant, start=start)

    def check_parameters(self) -> None:
        """Rates and the time constant are positive."""
        self.require_positive("rising", "falling", "time_constant")

    def feedthrough(self) -> tuple[str, ...]:
        """It integrates."""
        return ()

    def signals(self, pen: Pen) -> Expr:
        """The state."""
        return pen.state(start=pen.p("start"))

    def dynamics(self, pen: Pen) -> None:
        """A limited rate."""
        wanted, rising, falling = (pen.x() - pen.state()) / pen.p("time_constant"), pen.p("rising"), pen.p("falling")
        pen.rate(pen.state(), select(wanted > rising, rising, select(wanted < -falling, -falling, wanted)))
