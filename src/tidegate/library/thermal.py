"""Parts that hold and conduct heat (library of components): connectors are ports with a temperature T and a heat flow Q_flow into the part.

Temperatures are absolute, in kelvin.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from tidegate.frontends.components import Algebraic, Bound, Component, Connector, Flow, InputSignal, OutputSignal, Parameter, Potential, State, der
from tidegate.library.other_names import no_part

__all__ = [
    "BodyRadiation",
    "Convection",
    "FixedHeatFlow",
    "FixedTemperature",
    "HeatCapacitor",
    "HeatFlowSensor",
    "HeatPort",
    "SignalHeatFlow",
    "SignalTemperature",
    "TemperatureSensor",
    "ThermalConductor",
    "ThermalElement",
    "ThermalResistor",
]

_STEFAN_BOLTZMANN = 5.670374419e-8  # W/(m^2 K^4), exact in the SI of 2019


class HeatPort(Connector):
    """Where heat enters: T [K], and Q_flow [W] into the part."""

    T = Potential(288.15, unit="K", description="temperature at the port")
    Q_flow = Flow(unit="W", description="heat flow into the part")


class HeatCapacitor(Component):
    """``C dT/dt = port.Q_flow``; the state is T.

    Parameters
    ----------
    C : heat capacity [J/K], above 0.
    T : temperature at the start [K].

    Examples
    --------
    >>> HeatCapacitor(C=500.0, T=293.15).C
    C
    """

    port = HeatPort()
    C = Parameter(1.0, unit="J/K", min=Bound(0.0, is_open=True), description="heat capacity")
    T = State(288.15, unit="K", description="temperature")

    def equations(self) -> Iterator[Any]:
        """What it holds."""
        yield self.T == self.port.T
        yield self.C * der(self.T) == self.port.Q_flow


class ThermalElement(Component):
    """Base of what heat goes through: ``dT = port_a.T - port_b.T``, ``Q_flow = port_a.Q_flow = -port_b.Q_flow``.

    Examples
    --------
    >>> class Membrane(ThermalElement):
    ...     def equations(self):
    ...         yield self.Q_flow == 3.0 * self.dT
    """

    port_a, port_b = HeatPort(), HeatPort()
    dT = Algebraic(unit="K", description="temperature of a above b")  # noqa: N815 - a symbol of physics
    Q_flow = Algebraic(unit="W", description="heat flow from a to b")

    def equations(self) -> Iterator[Any]:
        """The ports."""
        yield self.dT == self.port_a.T - self.port_b.T
        yield self.port_a.Q_flow == self.Q_flow
        yield self.port_b.Q_flow == -self.Q_flow


class ThermalConductor(ThermalElement):
    """``Q_flow = G dT``.

    Parameters
    ----------
    G : conductance [W/K].

    Examples
    --------
    >>> ThermalConductor(G=2.0).G
    G
    """

    G = Parameter(1.0, unit="W/K", min=0.0, description="conductance")

    def equations(self) -> Iterator[Any]:
        """Fourier's law."""
        yield self.Q_flow == self.G * self.dT


class ThermalResistor(ThermalElement):
    """``dT = R Q_flow``.

    Parameters
    ----------
    R : resistance [K/W]; may be 0.

    Examples
    --------
    >>> ThermalResistor(R=0.5).R
    R
    """

    R = Parameter(1.0, unit="K/W", min=0.0, description="resistance")

    def equations(self) -> Iterator[Any]:
        """Fourier's law."""
        yield self.dT == self.R * self.Q_flow


class Convection(ThermalElement):
    """``Q_flow = Gc dT`` from a solid (port_a) to a fluid (port_b), Gc a signal [W/K].

    Examples
    --------
    >>> Convection().Gc
    Gc
    """

    Gc = InputSignal(unit="W/K", description="convective conductance")

    def equations(self) -> Iterator[Any]:
        """Newton's law."""
        yield self.Q_flow == self.Gc * self.dT


class BodyRadiation(ThermalElement):
    """``Q_flow = Gr sigma (port_a.T^4 - port_b.T^4)``, sigma that of Stefan and Boltzmann.

    Parameters
    ----------
    Gr : effective area [m^2].

    Examples
    --------
    >>> BodyRadiation(Gr=0.5).Gr
    Gr
    """

    Gr = Parameter(1.0, unit="m^2", min=0.0, description="effective area")
    sigma = Parameter(_STEFAN_BOLTZMANN, unit="W/(m^2 K^4)", description="Stefan and Boltzmann's constant")

    def equations(self) -> Iterator[Any]:
        """The fourth powers."""
        yield self.Q_flow == self.Gr * self.sigma * (self.port_a.T**4 - self.port_b.T**4)


class FixedTemperature(Component):
    """``port.T = T``.

    Parameters
    ----------
    T : temperature [K].

    Examples
    --------
    >>> FixedTemperature(T=273.15).T
    T
    """

    port = HeatPort()
    T = Parameter(288.15, unit="K", description="temperature")

    def equations(self) -> Iterator[Any]:
        """Whatever flows."""
        yield self.port.T == self.T


class SignalTemperature(Component):
    """``port.T = T``, a signal [K].

    Examples
    --------
    >>> SignalTemperature().T
    T
    """

    port = HeatPort()
    T = InputSignal(unit="K", description="temperature")

    def equations(self) -> Iterator[Any]:
        """Whatever flows."""
        yield self.port.T == self.T


class FixedHeatFlow(Component):
    """Heats what is at its port: ``port.Q_flow = -Q_flow``.

    Parameters
    ----------
    Q_flow : [W].

    Examples
    --------
    >>> FixedHeatFlow(Q_flow=100.0).Q_flow
    Q_flow
    """

    port = HeatPort()
    Q_flow = Parameter(1.0, unit="W", description="heat flow out of the source")

    def equations(self) -> Iterator[Any]:
        """It goes out of the source."""
        yield self.port.Q_flow == -self.Q_flow


class SignalHeatFlow(Component):
    """``port.Q_flow = -Q_flow``, a signal [W].

    Examples
    --------
    >>> SignalHeatFlow().Q_flow
    Q_flow
    """

    port = HeatPort()
    Q_flow = InputSignal(unit="W", description="heat flow out of the source")

    def equations(self) -> Iterator[Any]:
        """It goes out of the source."""
        yield self.port.Q_flow == -self.Q_flow


class TemperatureSensor(Component):
    """Signal ``y = port.T`` [K]; no heat.

    Examples
    --------
    >>> TemperatureSensor().y
    y
    """

    port = HeatPort()
    y = OutputSignal(unit="K", description="temperature")

    def equations(self) -> Iterator[Any]:
        """What is measured."""
        yield self.y == self.port.T
        yield self.port.Q_flow == 0


class HeatFlowSensor(ThermalElement):
    """Signal ``y = Q_flow`` [W]; no difference of temperature.

    Examples
    --------
    >>> HeatFlowSensor().y
    y
    """

    y = OutputSignal(unit="W", description="heat flow from a to b")

    def equations(self) -> Iterator[Any]:
        """What is measured."""
        yield self.y == self.Q_flow
        yield self.dT == 0


def __dir__() -> list[str]:
    """What completion offers."""
    return __all__


def __getattr__(name: str) -> NoReturn:
    raise no_part(__name__, name)
