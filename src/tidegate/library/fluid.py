"""Tanks, pipes and pumps of one incompressible fluid (library of components): ports have a pressure p and a volume flow q into the part.

Pressures are above that of the air around, in pascal. The density is a parameter of tanks, which turn a level into a pressure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from tidegate.expressions.elementary import maximum, where
from tidegate.frontends.components import Algebraic, Bound, Component, Connector, Flow, InputSignal, OutputSignal, Parameter, Potential, State, der
from tidegate.library.other_names import no_part

__all__ = [
    "Drain",
    "FixedFlow",
    "FixedPressure",
    "FlowElement",
    "FlowSensor",
    "LaminarPipe",
    "Port",
    "PressureSensor",
    "Pump",
    "SignalFlow",
    "Tank",
    "Valve",
]


class Port(Connector):
    """Where fluid enters: p [Pa], and q [m^3/s] into the part."""

    p = Potential(unit="Pa", description="pressure above that of the air")
    q = Flow(unit="m^3/s", description="volume flow into the part")


class Tank(Component):
    """Open on top: ``A dh/dt = inlet.q + outlet.q``, ``inlet.p = 0`` (above the fluid), ``outlet.p = rho g h``; the state is h.

    It neither overflows nor runs below the bottom by itself: ``h`` goes on. A ``Valve`` on its outlet lets nothing through without pressure.

    Parameters
    ----------
    A : area [m^2], above 0.
    h : level at the start [m].
    rho : density [kg/m^3].
    g : [m/s^2].

    Examples
    --------
    >>> Tank(A=2.0, h=1.0).A
    A
    """

    inlet, outlet = Port(), Port()
    A = Parameter(1.0, unit="m^2", min=Bound(0.0, is_open=True), description="area")
    rho = Parameter(1000.0, unit="kg/m^3", min=Bound(0.0, is_open=True), description="density")
    g = Parameter(9.81, unit="m/s^2", description="acceleration of gravity")
    h = State(0.0, unit="m", description="level")

    def equations(self) -> Iterator[Any]:
        """Volume and pressure."""
        yield self.A * der(self.h) == self.inlet.q + self.outlet.q
        yield self.inlet.p == 0
        yield self.outlet.p == self.rho * self.g * self.h


class FlowElement(Component):
    """Base of what fluid goes through: ``dp = port_a.p - port_b.p``, ``q = port_a.q = -port_b.q``.

    Examples
    --------
    >>> class Filter(FlowElement):
    ...     def equations(self):
    ...         yield self.dp == 1e6 * self.q + 1e9 * self.q * abs(self.q)
    """

    port_a, port_b = Port(), Port()
    dp = Algebraic(unit="Pa", description="pressure of a above b")
    q = Algebraic(unit="m^3/s", description="volume flow from a to b")

    def equations(self) -> Iterator[Any]:
        """The ports."""
        yield self.dp == self.port_a.p - self.port_b.p
        yield self.port_a.q == self.q
        yield self.port_b.q == -self.q


class LaminarPipe(FlowElement):
    """``dp = R q``.

    Parameters
    ----------
    R : resistance [Pa s/m^3].

    Examples
    --------
    >>> LaminarPipe(R=1e6).R
    R
    """

    R = Parameter(1e6, unit="Pa s/m^3", min=0.0, description="resistance")

    def equations(self) -> Iterator[Any]:
        """Hagen and Poiseuille's law."""
        yield self.dp == self.R * self.q


class Valve(FlowElement):
    """``q = K opening sqrt(dp)`` forwards, ``-K opening sqrt(-dp)`` backwards, or 0 for a check valve.

    Between -dp_small and dp_small, where the root has no derivative or a steep one, stands ``dp (5 - (dp/dp_small)^2) / (4 sqrt(dp_small))`` in its
    place, which joins it smoothly.

    Parameters
    ----------
    K : volume flow at 1 Pa, open [m^3/(s Pa^0.5)].
    opening : a signal from 0 (shut) to 1 (open); what is below 0 counts as 0.
    dp_small : where the root begins [Pa].
    backward : 1, or 0 for a check valve.

    Examples
    --------
    >>> Valve(K=1e-4).opening
    opening
    """

    opening = InputSignal(description="0 shut, 1 open")
    K = Parameter(1e-4, min=0.0, description="volume flow at 1 Pa in m^3/s")
    dp_small = Parameter(1e-3, unit="Pa", min=Bound(0.0, is_open=True), description="difference of pressure below which the root is replaced")
    backward = Parameter(1.0, min=0.0, max=1.0, description="1, or 0 for a check valve")
    one_pascal = Parameter(1.0, unit="Pa", description="unit of pressure under the root")
    one_flow = Parameter(1.0, unit="m^3/s", description="unit of volume flow")

    def equations(self) -> Iterator[Any]:
        """Torricelli's law."""
        x, small = self.dp / self.one_pascal, self.dp_small / self.one_pascal
        forward, back = x > small, x < -small
        near = x * (5.0 - (x / small) ** 2) / (4.0 * small**0.5)
        root = where(forward, where(forward, x, small) ** 0.5, where(back, -(where(back, -x, small) ** 0.5), near))
        yield self.q == self.one_flow * self.K * maximum(self.opening, 0.0) * where(x < 0, self.backward, 1.0) * root


class Pump(FlowElement):
    """``q = q_max (1 - lift / dp_max) speed`` from a to b, ``lift = port_b.p - port_a.p``; speed a signal, 1 at full speed.

    Parameters
    ----------
    q_max : volume flow without lift [m^3/s].
    dp_max : lift without flow [Pa].

    Examples
    --------
    >>> Pump(q_max=1e-3, dp_max=1e5).speed
    speed
    """

    speed = InputSignal(description="0 off, 1 at full speed")
    q_max = Parameter(1e-3, unit="m^3/s", min=0.0, description="volume flow without lift")
    dp_max = Parameter(1e5, unit="Pa", min=0.0, description="lift without flow")

    def equations(self) -> Iterator[Any]:
        """A straight characteristic."""
        yield self.q == self.q_max * (1.0 + self.dp / self.dp_max) * self.speed


class FixedPressure(Component):
    """``port.p = p``.

    Parameters
    ----------
    p : pressure above that of the air [Pa].

    Examples
    --------
    >>> FixedPressure(p=2e5).p
    p
    """

    port = Port()
    p = Parameter(0.0, unit="Pa", description="pressure above that of the air")

    def equations(self) -> Iterator[Any]:
        """Whatever flows."""
        yield self.port.p == self.p


class Drain(FixedPressure):
    """``port.p = 0``: fluid leaves into the air.

    Examples
    --------
    >>> Drain().port.q
    port.q
    """


class FixedFlow(Component):
    """Fills what is at its port: ``port.q = -q``.

    Parameters
    ----------
    q : volume flow [m^3/s].

    Examples
    --------
    >>> FixedFlow(q=0.01).q
    q
    """

    port = Port()
    q = Parameter(1e-3, unit="m^3/s", description="volume flow out of the source")

    def equations(self) -> Iterator[Any]:
        """It goes out of the source."""
        yield self.port.q == -self.q


class SignalFlow(Component):
    """``port.q = -q``, a signal [m^3/s].

    Examples
    --------
    >>> SignalFlow().q
    q
    """

    port = Port()
    q = InputSignal(unit="m^3/s", description="volume flow out of the source")

    def equations(self) -> Iterator[Any]:
        """It goes out of the source."""
        yield self.port.q == -self.q


class PressureSensor(Component):
    """Signal ``y = port.p`` [Pa]; no flow.

    Examples
    --------
    >>> PressureSensor().y
    y
    """

    port = Port()
    y = OutputSignal(unit="Pa", description="pressure above that of the air")

    def equations(self) -> Iterator[Any]:
        """What is measured."""
        yield self.y == self.port.p
        yield self.port.q == 0


class FlowSensor(FlowElement):
    """Signal ``y = q`` [m^3/s]; no difference of pressure.

    Examples
    --------
    >>> FlowSensor().y
    y
    """

    y = OutputSignal(unit="m^3/s", description="volume flow from a to b")

    def equations(self) -> Iterator[Any]:
        """What is measured."""
        yield self.y == self.q
        yield self.dp == 0


def __dir__() -> list[str]:
    """What completion offers."""
    return __all__


def __getattr__(name: str) -> NoReturn:
    raise no_part(__name__, name)
