"""Parts that turn about one axis (library of components): connectors are flanges with an angle phi and a torque tau into the part.

Between two flanges springs and dampers count ``phi_rel = flange_b.phi - flange_a.phi``; a clutch counts from the driving to the driven side,
``w_rel = flange_a.w - flange_b.w``, so that it slides forward while a is the faster one. Relative angles are guesses at a start, since
masses have the states; where there are none, ``SpringDamper(phi_rel=tg.start(0.7, fixed=True, state_select="prefer"))`` makes one of them a state.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

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
from tidegate.library.stick_slip import PressedContact, StickSlip

__all__ = [
    "BearingFriction",
    "Brake",
    "Clutch",
    "Compliant",
    "ConstantTorque",
    "Damper",
    "Fixed",
    "Flange",
    "Gear",
    "Inertia",
    "SignalTorque",
    "SpeedSensor",
    "Spring",
    "SpringDamper",
    "StepTorque",
    "TorqueSensor",
]


class Flange(Connector):
    """The end of a shaft: phi [rad], and tau [N m] into the part."""

    phi = Potential(unit="rad", description="angle of the flange")
    tau = Flow(unit="N m", description="torque into the part")


class Inertia(Component):
    """``w = dphi/dt``, ``a = dw/dt``, ``J a = flange_a.tau + flange_b.tau``; the states are phi and w.

    Parameters
    ----------
    J : moment of inertia [kg m^2], above 0.
    phi, w : angle and speed at the start.

    Examples
    --------
    >>> Inertia(J=2.0, w=10.0).J
    J
    """

    flange_a, flange_b = Flange(), Flange()
    J = Parameter(1.0, unit="kg m^2", min=Bound(0.0, is_open=True), description="moment of inertia")
    phi = State(0.0, unit="rad", description="angle")
    w = State(0.0, unit="rad/s", description="speed")
    a = Algebraic(unit="rad/s^2", description="acceleration")

    def equations(self) -> Iterator[Any]:
        """Both flanges turn with it."""
        yield self.phi == self.flange_a.phi
        yield self.phi == self.flange_b.phi
        yield self.w == der(self.phi)
        yield self.a == der(self.w)
        yield self.J * self.a == self.flange_a.tau + self.flange_b.tau


class Fixed(Component):
    """``flange.phi = phi0``.

    Parameters
    ----------
    phi0 : angle [rad].

    Examples
    --------
    >>> Fixed(phi0=0.5).phi0
    phi0
    """

    flange = Flange()
    phi0 = Parameter(0.0, unit="rad", description="angle")

    def equations(self) -> Iterator[Any]:
        """It does not turn."""
        yield self.flange.phi == self.phi0


class Compliant(Component):
    """Base of parts between two flanges: ``phi_rel = flange_b.phi - flange_a.phi``, ``tau = flange_b.tau = -flange_a.tau``.

    Examples
    --------
    >>> class Hardening(Compliant):
    ...     def equations(self):
    ...         yield self.tau == 5.0 * self.phi_rel + 2.0 * self.phi_rel**3
    """

    flange_a, flange_b = Flange(), Flange()
    phi_rel = State(0.0, unit="rad", fixed=False, state_select="avoid", description="angle of b relative to a")
    tau = Algebraic(unit="N m", description="torque into b")

    def equations(self) -> Iterator[Any]:
        """What goes in at one end comes out at the other."""
        yield self.phi_rel == self.flange_b.phi - self.flange_a.phi
        yield self.flange_b.tau == self.tau
        yield self.flange_a.tau == -self.tau


class Spring(Compliant):
    """``tau = c (phi_rel - phi_rel0)``.

    Parameters
    ----------
    c : stiffness [N m/rad].
    phi_rel0 : angle without torque [rad].

    Examples
    --------
    >>> Spring(c=100.0).c
    c
    """

    c = Parameter(1.0, unit="N m/rad", min=0.0, description="stiffness")
    phi_rel0 = Parameter(0.0, unit="rad", description="relative angle without torque")

    def equations(self) -> Iterator[Any]:
        """Hooke's law."""
        yield self.tau == self.c * (self.phi_rel - self.phi_rel0)


class Damper(Compliant):
    """``tau = d w_rel``, ``w_rel = dphi_rel/dt``.

    Parameters
    ----------
    d : [N m s/rad].

    Examples
    --------
    >>> Damper(d=0.5).d
    d
    """

    d = Parameter(1.0, unit="N m s/rad", min=0.0, description="damping")
    w_rel = Algebraic(unit="rad/s", description="speed of b relative to a")

    def equations(self) -> Iterator[Any]:
        """Proportional to speed."""
        yield self.w_rel == der(self.phi_rel)
        yield self.tau == self.d * self.w_rel


class SpringDamper(Compliant):
    """``tau = c (phi_rel - phi_rel0) + d w_rel``.

    Parameters
    ----------
    c : stiffness [N m/rad].
    d : damping [N m s/rad].
    phi_rel0 : angle without torque [rad].

    Examples
    --------
    >>> SpringDamper(c=100.0, d=0.5).d
    d
    """

    c = Parameter(1.0, unit="N m/rad", min=0.0, description="stiffness")
    d = Parameter(1.0, unit="N m s/rad", min=0.0, description="damping")
    phi_rel0 = Parameter(0.0, unit="rad", description="relative angle without torque")
    w_rel = Algebraic(unit="rad/s", description="speed of b relative to a")

    def equations(self) -> Iterator[Any]:
        """Side by side."""
        yield self.w_rel == der(self.phi_rel)
        yield self.tau == self.c * (self.phi_rel - self.phi_rel0) + self.d * self.w_rel


class ConstantTorque(Component):
    """Turns what is at its flange on with the torque tau: ``flange.tau = -tau``.

    Parameters
    ----------
    tau : torque [N m].

    Examples
    --------
    >>> ConstantTorque(tau=5.0).tau
    tau
    """

    flange = Flange()
    tau = Parameter(1.0, unit="N m", description="torque")

    def equations(self) -> Iterator[Any]:
        """It goes out of the source."""
        yield self.flange.tau == -self.tau


class StepTorque(Component):
    """``flange.tau = -offset`` before start_time, ``-(offset + tau)`` from then on; the step is an event.

    Parameters
    ----------
    tau : height of the step [N m].
    offset : [N m].
    start_time : [s].

    Examples
    --------
    >>> StepTorque(tau=-50.0, offset=10.0, start_time=6.0).tau
    tau
    """

    flange = Flange()
    tau = Parameter(1.0, unit="N m", description="height of the step")
    offset = Parameter(0.0, unit="N m", description="torque before")
    start_time = Parameter(0.0, unit="s", description="time of the step")

    def equations(self) -> Iterator[Any]:
        """It goes out of the source."""
        yield self.flange.tau == -(self.offset + where(time < self.start_time, 0.0, self.tau))


class SignalTorque(Component):
    """``flange.tau = -tau``, a signal [N m].

    Examples
    --------
    >>> SignalTorque().tau
    tau
    """

    flange = Flange()
    tau = InputSignal(unit="N m", description="torque")

    def equations(self) -> Iterator[Any]:
        """It goes out of the source."""
        yield self.flange.tau == -self.tau


class Gear(Component):
    """Without losses: ``flange_a.phi = ratio flange_b.phi``, ``flange_b.tau = -ratio flange_a.tau``.

    Parameters
    ----------
    ratio : turns of a for one turn of b.

    Examples
    --------
    >>> Gear(ratio=5.0).ratio
    ratio
    """

    flange_a, flange_b = Flange(), Flange()
    ratio = Parameter(1.0, description="turns of a for one turn of b")

    def equations(self) -> Iterator[Any]:
        """Angle and torque."""
        yield self.flange_a.phi == self.ratio * self.flange_b.phi
        yield self.flange_b.tau == -self.ratio * self.flange_a.tau


class Clutch(PressedContact):
    """Joins two shafts by dry friction: what slides carries ``tau = capacity sign(w_rel)`` from a to b; what is stuck has ``a_rel = 0``.

    It is stuck as long as ``|tau| <= peak capacity``, and free while the signal capacity is not positive. ``w_rel = flange_a.w - flange_b.w``,
    ``flange_a.tau = tau = -flange_b.tau``. ``mode`` is 1 forward (a is faster), -1 backward, 0 stuck, 2 free.

    Parameters
    ----------
    peak : torque up to which it is stuck, by that of sliding.

    Examples
    --------
    >>> Clutch(peak=1.2).capacity
    capacity
    """

    flange_a, flange_b = Flange(), Flange()
    capacity = InputSignal(unit="N m", description="torque while it slides")
    unit_inertia = Parameter(1.0, unit="kg m^2", description="what makes a torque of a_rel in the equation of the stuck clutch")
    phi_rel = State(0.0, unit="rad", fixed=False, state_select="avoid", description="angle of a relative to b")
    w_rel = State(0.0, unit="rad/s", fixed=False, state_select="avoid", description="speed of a relative to b")
    a_rel = Algebraic(unit="rad/s^2", description="acceleration of a relative to b")
    tau = Algebraic(unit="N m", description="torque from a to b")

    def slip(self) -> Any:
        """The relative speed."""
        return self.w_rel

    def friction(self) -> Any:
        """What is carried."""
        return self.tau

    def equations(self) -> Iterator[Any]:
        """Kinematics, torques, friction."""
        yield self.phi_rel == self.flange_a.phi - self.flange_b.phi
        yield self.w_rel == der(self.phi_rel)
        yield self.a_rel == der(self.w_rel)
        yield self.flange_a.tau == self.tau
        yield self.flange_b.tau == -self.tau
        yield self.friction_law(self.a_rel, self.unit_inertia) == 0


class _OnShaft(StickSlip):
    """Friction between a shaft, which goes through, and the housing."""

    flange_a, flange_b = Flange(), Flange()
    unit_inertia = Parameter(1.0, unit="kg m^2", description="what makes a torque of a in the equation of the stuck shaft")
    phi = State(0.0, unit="rad", fixed=False, state_select="avoid", description="angle of the shaft")
    w = State(0.0, unit="rad/s", fixed=False, state_select="avoid", description="its speed")
    a = Algebraic(unit="rad/s^2", description="its acceleration")
    tau = Algebraic(unit="N m", description="torque from the shaft to the housing")

    def slip(self) -> Any:
        """The speed."""
        return self.w

    def friction(self) -> Any:
        """What the housing takes."""
        return self.tau

    def equations(self) -> Iterator[Any]:
        """Kinematics, torques, friction."""
        yield self.phi == self.flange_a.phi
        yield self.phi == self.flange_b.phi
        yield self.w == der(self.phi)
        yield self.a == der(self.w)
        yield self.flange_a.tau + self.flange_b.tau == self.tau
        yield self.friction_law(self.a, self.unit_inertia) == 0


class Brake(_OnShaft, PressedContact):
    """Holds a shaft to the housing: while it turns ``tau = capacity sign(w)``; what is stuck has ``a = 0``.

    It is stuck as long as ``|tau| <= peak capacity``, and free while the signal capacity is not positive. ``tau = flange_a.tau + flange_b.tau``.

    Parameters
    ----------
    peak : torque up to which it is stuck, by that of sliding.

    Examples
    --------
    >>> Brake(peak=1.2).capacity
    capacity
    """

    capacity = InputSignal(unit="N m", description="torque while it slides")


class BearingFriction(_OnShaft):
    """Coulomb and viscous friction: while it turns ``tau = tau_coulomb sign(w) + d w``; what is stuck has ``a = 0``.

    It is stuck as long as ``|tau| <= tau_peak``.

    Parameters
    ----------
    tau_coulomb : [N m].
    d : [N m s/rad].
    tau_peak : [N m]; by default tau_coulomb.

    Examples
    --------
    >>> BearingFriction(tau_coulomb=2.0, d=0.1).d
    d
    """

    tau_coulomb = Parameter(1.0, unit="N m", min=0.0, description="friction while it turns slowly")
    tau_peak = Parameter(lambda self: self.tau_coulomb, unit="N m", min=0.0, description="friction up to which it is stuck")
    d = Parameter(0.0, unit="N m s/rad", min=0.0, description="viscous friction")

    def sliding(self) -> Any:
        """Coulomb's part and the viscous one; the speed has the sign of the mode."""
        return self.tau_coulomb + self.d * self.mode * self.w

    def limit(self) -> Any:
        """The peak."""
        return self.tau_peak


class SpeedSensor(Component):
    """Signal ``y = dphi/dt`` [rad/s] of a flange; no torque.

    Examples
    --------
    >>> SpeedSensor().y
    y
    """

    flange = Flange()
    y = OutputSignal(unit="rad/s", description="speed")
    phi = State(0.0, unit="rad", fixed=False, state_select="avoid", description="angle")

    def equations(self) -> Iterator[Any]:
        """What is measured."""
        yield self.phi == self.flange.phi
        yield self.y == der(self.phi)
        yield self.flange.tau == 0


class TorqueSensor(Component):
    """Signal ``y = flange_a.tau`` [N m], the torque that goes through from a to b.

    Examples
    --------
    >>> TorqueSensor().y
    y
    """

    flange_a, flange_b = Flange(), Flange()
    y = OutputSignal(unit="N m", description="torque from a to b")

    def equations(self) -> Iterator[Any]:
        """What is measured."""
        yield self.flange_a.phi == self.flange_b.phi
        yield self.flange_a.tau + self.flange_b.tau == 0
        yield self.y == self.flange_a.tau


def __dir__() -> list[str]:
    """What completion offers."""
    return __all__


def __getattr__(name: str) -> NoReturn:
    raise no_part(__name__, name)
