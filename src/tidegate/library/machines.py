"""Where electricity meets motion (library of components): what turns current into torque or force, and speed into voltage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from tidegate.frontends.components import Algebraic, Component, Parameter, der
from tidegate.library.electrical import Pin
from tidegate.library.other_names import no_part
from tidegate.library.rotational import Flange as Shaft
from tidegate.library.translational import Flange as Rod

__all__ = ["RotationalEMF", "TranslationalEMF"]


class _Transducer(Component):
    p, n = Pin(), Pin()
    v = Algebraic(unit="V", description="voltage from p to n")
    i = Algebraic(unit="A", description="current from p to n")

    def equations(self) -> Iterator[Any]:
        """What every part with two pins has."""
        yield self.v == self.p.v - self.n.v
        yield self.i == self.p.i
        yield self.p.i + self.n.i == 0


class RotationalEMF(_Transducer):
    """The ideal machine with direct current: ``v = k w`` with ``w = dphi/dt``, ``flange.tau = -k i``; it stands on the ground.

    Parameters
    ----------
    k : torque of one ampere, which is the voltage of one radian a second [N m/A].

    Examples
    --------
    >>> RotationalEMF(k=0.3).k
    k
    """

    flange = Shaft()
    k = Parameter(1.0, unit="N m/A", description="torque of one ampere")
    w = Algebraic(unit="rad/s", description="speed")

    def equations(self) -> Iterator[Any]:
        """Power goes through: v i = -w flange.tau."""
        yield self.w == der(self.flange.phi)
        yield self.v == self.k * self.w
        yield self.flange.tau == -self.k * self.i


class TranslationalEMF(_Transducer):
    """The ideal linear drive, the coil of a loudspeaker: ``v = k speed`` with ``speed = ds/dt``, ``flange.f = -k i``; it stands on the ground.

    Parameters
    ----------
    k : force of one ampere, which is the voltage of one metre a second [N/A].

    Examples
    --------
    >>> TranslationalEMF(k=8.0).k
    k
    """

    flange = Rod()
    k = Parameter(1.0, unit="N/A", description="force of one ampere")
    speed = Algebraic(unit="m/s", description="speed")

    def equations(self) -> Iterator[Any]:
        """Power goes through: v i = -speed flange.f."""
        yield self.speed == der(self.flange.s)
        yield self.v == self.k * self.speed
        yield self.flange.f == -self.k * self.i


def __dir__() -> list[str]:
    """What completion offers."""
    return __all__


def __getattr__(name: str) -> NoReturn:
    raise no_part(__name__, name)
