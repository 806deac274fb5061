"""Noise (front end of blocks): a new number at every tick, from a generator of its own with a seed, the same in every run.

The generator is x <- 14^29 x mod (2^31 - 1) (Lehmer's, with a multiplier of the IBM and PDP-10 libraries), computed exactly in double arithmetic: the
product is split so that no part exceeds 2^53. States for neighbouring seeds must not be small multiples of each other, because the sequences would be
too. So a seed is the exponent of a primitive root (48271; Park, Miller and Stockmeyer 1993), which gives every seed a state of its own, far from the
next; the language's own seed 524287 begins where the language does.
"""

from __future__ import annotations

import math
from typing import Final, Unpack

from tidegate.expressions import Expr, node
from tidegate.expressions import elementary as f
from tidegate.expressions.nodes import as_expr
from tidegate.frontends.blocks.block import About, Block
from tidegate.frontends.blocks.pen import Pen

__all__ = ["Jitter", "Noise", "first_state", "following"]

MODULUS: Final = 2**31 - 1
MULTIPLIER: Final = pow(14, 29, MODULUS)
_ROOT: Final = 48271  # a primitive root of the modulus
_SEED: Final = 524287  # of CSMP-10(ARL)
_HIGH, _LOW = divmod(MULTIPLIER, 2**16)


def _remainder(product: Expr) -> Expr:
    return product - MODULUS * node("floor", (product / MODULUS,))


def first_state(seed: int) -> int:
    """The state of the generator that belongs to a seed.

    Examples
    --------
    >>> first_state(524287), first_state(524288)
    (524287, 1685537660)
    """
    return _SEED * pow(_ROOT, seed - _SEED, MODULUS) % MODULUS


def following(seed: Expr) -> Expr:
    """The next state of the generator; every intermediate product is an integer below 2^48.

    Examples
    --------
    >>> from tidegate.expressions import constant
    >>> int(following(constant(524287.0))) == 14**29 * 524287 % (2**31 - 1)
    True
    """
    return _remainder(_remainder(_HIGH * seed) * 2**16 + _LOW * seed)


class _Generator(Block):
    inputs = ()

    def __init__(self, about: About, period: float, seed: int, **parameters: float) -> None:
        super().__init__(about, period=period, **parameters)
        self.require(0 < seed < MODULUS and seed == int(seed), f"seed is {seed!r}", f"give an integer between 1 and {MODULUS - 1}")
        self._seed = int(seed)

    def check_parameters(self) -> None:
        """There is a period."""
        self.require_positive("period")

    @property
    def seed(self) -> int:
        """Which sequence it gives."""
        return self._seed

    def draw(self, pen: Pen, seed: Expr) -> tuple[Expr, Expr]:
        """A number, and the generator's state after it."""
        raise NotImplementedError

    def signals(self, pen: Pen) -> Expr:
        """The number of the last tick."""
        return pen.discrete()

    def dynamics(self, pen: Pen) -> None:
        """A new number."""
        start = float(first_state(self._seed))
        out, seed = pen.discrete(), pen.discrete("seed", start)
        value, after = self.draw(pen, seed)
        # a run that starts between two ticks has a number, too
        first, _ = self.draw(pen, as_expr(start))
        pen.initially(*pen.body({out: first}))
        pen.at(0.0, pen.body({out: value, seed: after}), period=pen.p("period"))


class Jitter(_Generator):
    """``out`` is uniformly distributed in (-1, 1), new at every tick: every half step of a program of CSMP-10(ARL).

    Parameters
    ----------
    period : of its clock.
    seed : an integer; each gives another sequence, and blocks with the same one the same numbers.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> Jitter(period=0.05).seed
    524287
    """

    code = "J"

    def __init__(self, period: float = 1.0, seed: int = _SEED, **about: Unpack[About]) -> None:
        super().__init__(about, period, seed)

    def draw(self, pen: Pen, seed: Expr) -> tuple[Expr, Expr]:  # noqa: ARG002 - it has no parameters
        """2 x / (2^31 - 1) - 1."""
        after = following(seed)
        return 2.0 * after / MODULUS - 1.0, after


class Noise(_Generator):
    """``out`` is normally distributed with mean 0, new at every tick (Box and Muller 1958).

    Parameters
    ----------
    period : of its clock.
    deviation : standard deviation.
    seed : an integer; each gives another sequence, and blocks with the same one the same numbers.
    about : name, number, label, unit, units.

    Examples
    --------
    >>> Noise(period=0.1, deviation=2.0)
    Noise(period=0.1, deviation=2)
    """

    def __init__(self, period: float = 1.0, deviation: float = 1.0, seed: int = _SEED, **about: Unpack[About]) -> None:
        super().__init__(about, period, seed, deviation=deviation)

    def draw(self, pen: Pen, seed: Expr) -> tuple[Expr, Expr]:
        """sqrt(-2 ln u) cos(2 pi v)."""
        first = following(seed)
        second = following(first)
        size = f.sqrt(-2.0 * f.log(first / MODULUS))
        return pen.p("deviation") * size * f.cos(2.0 * math.pi / MODULUS * second), second
