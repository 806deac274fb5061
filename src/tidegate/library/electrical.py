"""Electrical parts (library of components): connectors are pins with a potential v and a current i into the part.

Of parts with two pins v is the voltage from p to n, and i the current that goes in at p and out at n. A circuit needs one ``Ground``. Ideal diodes
follow Otter, Elmqvist and Mattsson (1999): a curve parameter s runs along the characteristic, so that one set of equations holds in both modes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from tidegate.expressions.elementary import where
from tidegate.frontends.components import (
    Algebraic,
    Bound,
    Component,
    Connector,
    Flow,
    InputSignal,
    OutputSignal,
    Parameter,
    Potential,
    State,
    der,
    time,
)
from tidegate.library.other_names import no_part

__all__ = [
    "Capacitor",
    "ConstantCurrent",
    "ConstantVoltage",
    "CurrentSensor",
    "Diode",
    "Ground",
    "IdealDiode",
    "IdealOpAmp",
    "IdealSwitch",
    "IdealTransformer",
    "Inductor",
    "OnePort",
    "Pin",
    "PotentialSensor",
    "Resistor",
    "SignalCurrent",
    "SignalVoltage",
    "SineCurrent",
    "SineVoltage",
    "StepCurrent",
    "StepVoltage",
    "Transformer",
    "TwoPort",
    "VoltageSensor",
]


class Pin(Connector):
    """Where a part is soldered: v [V], and i [A] into the part."""

    v = Potential(unit="V", description="potential at the pin")
    i = Flow(unit="A", description="current into the pin")


class OnePort(Component):
    """Base of parts with two pins: ``v = p.v - n.v``, ``i = p.i = -n.i``; what v and i have to do with each other is up to the subclass.

    Examples
    --------
    >>> class Varistor(OnePort):
    ...     def equations(self):
    ...         yield self.i == 1e-6 * self.v**3
    """

    p, n = Pin(), Pin()
    v = Algebraic(unit="V", description="voltage from p to n")
    i = Algebraic(unit="A", description="current from p to n")

    def equations(self) -> Iterator[Any]:
        """The pins."""
        yield self.v == self.p.v - self.n.v
        yield self.p.i + self.n.i == 0
        yield self.i == self.p.i


class Ground(Component):
    """Zero of potentials: ``p.v = 0``.

    Examples
    --------
    >>> Ground().lower().equations[0].label
    'self.p.v == 0'
    """

    p = Pin()

    def equations(self) -> Iterator[Any]:
        """The potential."""
        yield self.p.v == 0


class Resistor(OnePort):
    """``v = R i``.

    Parameters
    ----------
    R : resistance [Ohm]; zero and negative values are allowed.

    Examples
    --------
    >>> Resistor(R=10.0).R
    R
    """

    R = Parameter(1.0, unit="Ohm", description="resistance")

    def equations(self) -> Iterator[Any]:
        """Ohm's law."""
        yield self.v == self.R * self.i


class Capacitor(OnePort):
    """``C dv/dt = i``; the state is v.

    Parameters
    ----------
    C : capacitance [F], above 0.
    v : its voltage at the start.

    Examples
    --------
    >>> Capacitor(C=1e-6, v=5.0).C
    C
    """

    C = Parameter(1.0, unit="F", min=Bound(0.0, is_open=True), description="capacitance")
    v = State(0.0, unit="V", description="voltage from p to n")

    def equations(self) -> Iterator[Any]:
        """The charge."""
        yield self.C * der(self.v) == self.i


class Inductor(OnePort):
    """``L di/dt = v``; the state is i.

    Parameters
    ----------
    L : inductance [H], above 0.
    i : its current at the start.

    Examples
    --------
    >>> Inductor(L=0.1, i=2.0).L
    L
    """

    L = Parameter(1.0, unit="H", min=Bound(0.0, is_open=True), description="inductance")
    i = State(0.0, unit="A", description="current from p to n")

    def equations(self) -> Iterator[Any]:
        """The flux."""
        yield self.L * der(self.i) == self.v


class ConstantVoltage(OnePort):
    """``v = V``.

    Parameters
    ----------
    V : voltage [V].

    Examples
    --------
    >>> ConstantVoltage(V=12.0).V
    V
    """

    V = Parameter(1.0, unit="V", description="voltage")

    def equations(self) -> Iterator[Any]:
        """The voltage."""
        yield self.v == self.V


class SineVoltage(OnePort):
    """``v = offset + V sin(2 pi f time + phase)``.

    Parameters
    ----------
    V : amplitude [V].
    f : frequency [Hz].
    phase : [rad].
    offset : [V].

    Examples
    --------
    >>> SineVoltage(V=220.0, f=50.0).f
    f
    """

    V = Parameter(1.0, unit="V", description="amplitude")
    f = Parameter(50.0, unit="Hz", description="frequency")
    phase = Parameter(0.0, unit="rad", description="phase at time 0")
    offset = Parameter(0.0, unit="V", description="mean")

    def equations(self) -> Iterator[Any]:
        """The voltage."""
        yield self.v == self.offset + self.V * np.sin(2.0 * math.pi * self.f * time + self.phase)


class StepVoltage(OnePort):
    """``v = offset`` before start_time, ``v = offset + V`` from then on; the step is an event.

    Parameters
    ----------
    V : height of the step [V].
    offset : [V].
    start_time : [s].

    Examples
    --------
    >>> StepVoltage(V=5.0, start_time=0.1).V
    V
    """

    V = Parameter(1.0, unit="V", description="height of the step")
    offset = Parameter(0.0, unit="V", description="value before")
    start_time = Parameter(0.0, unit="s", description="time of the step")

    def equations(self) -> Iterator[Any]:
        """The voltage."""
        yield self.v == self.offset + where(time < self.start_time, 0.0, self.V)


class SignalVoltage(OnePort):
    """``v = u``, a signal [V].

    Examples
    --------
    >>> SignalVoltage().u
    u
    """

    u = InputSignal(unit="V", description="voltage from p to n")

    def equations(self) -> Iterator[Any]:
        """The voltage."""
        yield self.v == self.u


class ConstantCurrent(OnePort):
    """``i = I``: what goes in at p, through the source, and out at n.

    Parameters
    ----------
    I : current [A].

    Examples
    --------
    >>> ConstantCurrent(I=0.02).I
    I
    """

    I = Parameter(1.0, unit="A", description="current")  # noqa: E741 - the symbol of a current

    def equations(self) -> Iterator[Any]:
        """The current."""
        yield self.i == self.I


class SineCurrent(OnePort):
    """``i = offset + I sin(2 pi f time + phase)``.

    Parameters
    ----------
    I : amplitude [A].
    f : frequency [Hz].
    phase : [rad].
    offset : [A].

    Examples
    --------
    >>> SineCurrent(I=2.0, f=50.0).f
    f
    """

    I = Parameter(1.0, unit="A", description="amplitude")  # noqa: E741 - the symbol of a current
    f = Parameter(50.0, unit="Hz", description="frequency")
    phase = Parameter(0.0, unit="rad", description="phase at time 0")
    offset = Parameter(0.0, unit="A", description="mean")

    def equations(self) -> Iterator[Any]:
        """The current."""
        yield self.i == self.offset + self.I * np.sin(2.0 * math.pi * self.f * time + self.phase)


class StepCurrent(OnePort):
    """``i = offset`` before start_time, ``i = offset + I`` from then on; the step is an event.

    Parameters
    ----------
    I : height of the step [A].
    offset : [A].
    start_time : [s].

    Examples
    --------
    >>> StepCurrent(I=5.0, start_time=0.1).I
    I
    """

    I = Parameter(1.0, unit="A", description="height of the step")  # noqa: E741 - the symbol of a current
    offset = Parameter(0.0, unit="A", description="value before")
    start_time = Parameter(0.0, unit="s", description="time of the step")

    def equations(self) -> Iterator[Any]:
        """The current."""
        yield self.i == self.offset + where(time < self.start_time, 0.0, self.I)


class SignalCurrent(OnePort):
    """``i = u``, a signal [A].

    Examples
    --------
    >>> SignalCurrent().u
    u
    """

    u = InputSignal(unit="A", description="current from p to n")

    def equations(self) -> Iterator[Any]:
        """The current."""
        yield self.i == self.u


class IdealDiode(OnePort):
    """On: ``v = knee + Ron s``, ``i = Goff knee + s``; off, while ``s < 0``: ``v = knee + s``, ``i = Goff (knee + s)``. Each change is an event.

    So s is the current while on and the voltage below the knee while off, and the characteristic is continuous.

    Parameters
    ----------
    Ron : resistance while on [Ohm]; 0 for an ideal one.
    Goff : conductance while off [S]; 0 for an ideal one.
    knee : forward voltage [V].

    Examples
    --------
    >>> IdealDiode(knee=0.7).knee
    knee
    """

    Ron = Parameter(0.0, unit="Ohm", min=0.0, description="resistance while on")
    Goff = Parameter(0.0, unit="S", min=0.0, description="conductance while off")
    knee = Parameter(0.0, unit="V", description="forward voltage")
    one_volt = Parameter(1.0, unit="V", description="of one unit of s while off")
    one_ampere = Parameter(1.0, unit="A", description="of one unit of s while on")
    s = Algebraic(-1.0, description="along the characteristic: in ampere while on, in volt while off; a run looks for it from off")
    off = OutputSignal(description="1 while off")

    def equations(self) -> Iterator[Any]:
        """Along the characteristic."""
        is_off = self.s < 0
        yield self.v == self.knee + self.s * where(is_off, self.one_volt, self.Ron * self.one_ampere)
        yield self.i == self.Goff * self.knee + self.s * where(is_off, self.Goff * self.one_volt, self.one_ampere)
        yield self.off == where(is_off, 1.0, 0.0)


class Diode(OnePort):
    """``i = Is (exp(v/Vt) - 1) + v/R``, Shockley's equation with a leak; beyond ``v/Vt = 40`` it goes on along its tangent.

    Parameters
    ----------
    Is : saturation current [A].
    Vt : thermal voltage times emission coefficient [V].
    R : parallel resistance [Ohm].

    Examples
    --------
    >>> Diode(Is=1e-12, Vt=0.026).Is
    Is
    """

    Is = Parameter(1e-9, unit="A", min=0.0, description="saturation current")
    Vt = Parameter(0.04, unit="V", min=Bound(0.0, is_open=True), description="thermal voltage times emission coefficient")
    R = Parameter(1e8, unit="Ohm", min=0.0, description="parallel resistance")
    largest = Parameter(40.0, description="v/Vt from which on the characteristic is straight")

    def equations(self) -> Iterator[Any]:
        """The characteristic."""
        x, top = self.v / self.Vt, self.largest
        bent = np.exp(where(x > top, top, x)) * where(x > top, 1.0 + x - top, 1.0)
        yield self.i == self.Is * (bent - 1.0) + self.v / self.R


class IdealSwitch(OnePort):
    """Closed while its signal ``control`` is above 0.5: ``v = Ron i``; open otherwise: ``i = Goff v``. Each change is an event.

    Parameters
    ----------
    Ron : resistance while closed [Ohm]; 0 for an ideal one.
    Goff : conductance while open [S]; 0 for an ideal one.

    Examples
    --------
    >>> IdealSwitch(Goff=1e-9).control
    control
    """

    control = InputSignal(description="closed above 0.5")
    Ron = Parameter(0.0, unit="Ohm", min=0.0, description="resistance while closed")
    Goff = Parameter(0.0, unit="S", min=0.0, description="conductance while open")
    one_ohm = Parameter(1.0, unit="Ohm", description="what makes a voltage of the current in the equation of the open switch")

    def equations(self) -> Iterator[Any]:
        """Closed or open."""
        yield where(self.control > 0.5, self.v - self.Ron * self.i, self.one_ohm * (self.i - self.Goff * self.v)) == 0


class TwoPort(Component):
    """Base of parts with two pairs of pins: ``v1, i1`` of p1 and n1, ``v2, i2`` of p2 and n2.

    Examples
    --------
    >>> class Gyrator(TwoPort):
    ...     G = Parameter(0.1, unit="S")
    ...     def equations(self):
    ...         yield self.i1 == self.G * self.v2
    ...         yield self.i2 == -self.G * self.v1
    """

    p1, n1, p2, n2 = Pin(), Pin(), Pin(), Pin()
    v1 = Algebraic(unit="V", description="voltage from p1 to n1")
    v2 = Algebraic(unit="V", description="voltage from p2 to n2")
    i1 = Algebraic(unit="A", description="current from p1 to n1")
    i2 = Algebraic(unit="A", description="current from p2 to n2")

    def equations(self) -> Iterator[Any]:
        """The pins."""
        yield self.v1 == self.p1.v - self.n1.v
        yield self.v2 == self.p2.v - self.n2.v
        yield self.p1.i + self.n1.i == 0
        yield self.p2.i + self.n2.i == 0
        yield self.i1 == self.p1.i
        yield self.i2 == self.p2.i


class IdealTransformer(TwoPort):
    """``v1 = n v2``, ``i2 = -n i1``, for direct current as well.

    Parameters
    ----------
    ratio : n, windings of side 1 by windings of side 2.

    Examples
    --------
    >>> IdealTransformer(ratio=10.0).ratio
    ratio
    """

    ratio = Parameter(1.0, description="windings of side 1 by windings of side 2")

    def equations(self) -> Iterator[Any]:
        """No losses."""
        yield self.v1 == self.ratio * self.v2
        yield self.i2 == -self.ratio * self.i1


class Transformer(TwoPort):
    """``v1 = L1 di1/dt + M di2/dt``, ``v2 = M di1/dt + L2 di2/dt``; states are i1 and i2.

    Parameters
    ----------
    L1, L2 : inductances of the windings [H].
    M : of their coupling [H]; less than ``sqrt(L1 L2)``.

    Examples
    --------
    >>> Transformer(L1=1.0, L2=0.1, M=0.3).M
    M
    """

    L1 = Parameter(1.0, unit="H", min=Bound(0.0, is_open=True), description="inductance of side 1")
    L2 = Parameter(1.0, unit="H", min=Bound(0.0, is_open=True), description="inductance of side 2")
    M = Parameter(0.5, unit="H", description="inductance of the coupling")
    i1 = State(0.0, unit="A", description="current from p1 to n1")
    i2 = State(0.0, unit="A", description="current from p2 to n2")

    def equations(self) -> Iterator[Any]:
        """Two fluxes."""
        yield self.v1 == self.L1 * der(self.i1) + self.M * der(self.i2)
        yield self.v2 == self.M * der(self.i1) + self.L2 * der(self.i2)


class IdealOpAmp(Component):
    """``in_p.v = in_n.v``, no current into either; ``out`` gives whatever current that takes.

    Examples
    --------
    >>> IdealOpAmp().out.v
    out.v
    """

    in_p, in_n, out = Pin(), Pin(), Pin()

    def equations(self) -> Iterator[Any]:
        """A nullor."""
        yield self.in_p.v == self.in_n.v
        yield self.in_p.i == 0
        yield self.in_n.i == 0


class PotentialSensor(Component):
    """Signal ``y = p.v`` [V]; no current.

    Examples
    --------
    >>> PotentialSensor().y
    y
    """

    p = Pin()
    y = OutputSignal(unit="V", description="potential")

    def equations(self) -> Iterator[Any]:
        """What is measured."""
        yield self.y == self.p.v
        yield self.p.i == 0


class VoltageSensor(OnePort):
    """Signal ``y = v`` [V]; no current.

    Examples
    --------
    >>> VoltageSensor().y
    y
    """

    y = OutputSignal(unit="V", description="voltage from p to n")

    def equations(self) -> Iterator[Any]:
        """What is measured."""
        yield self.y == self.v
        yield self.i == 0


class CurrentSensor(OnePort):
    """Signal ``y = i`` [A]; no voltage.

    Examples
    --------
    >>> CurrentSensor().y
    y
    """

    y = OutputSignal(unit="A", description="current from p to n")

    def equations(self) -> Iterator[Any]:
        """What is measured."""
        yield self.y == self.i
        yield self.v == 0


def __dir__() -> list[str]:
    """What completion offers."""
    return __all__


def __getattr__(name: str) -> NoReturn:
    raise no_part(__name__, name)
