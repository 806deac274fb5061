"""Parts that move along one line (library of components): connectors are flanges with a position s and a force f into the part.

Between two flanges springs and dampers count ``s_rel = flange_b.s - flange_a.s``, so that pulling them is positive; friction counts from the driving
to the driven side, ``v_rel = flange_a.v - flange_b.v``. Relative positions are guesses at a start: masses have the states. Where there are none,
``SpringDamper(s_rel=tg.start(0.7, fixed=True, state_select="prefer"))`` makes one of them a state. ``Rod`` has a length, all
other parts are points.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from tidegate.expressions.elementary import maximum, minimum, where
from tidegate.frontends.components import (
    Algebraic,
    Bound,
    Component,
    Connector,
    Discrete,
    Flow,
    InputSignal,
    OutputSignal,
    Parameter,
    Potential,
    State,
    der,
    initially,
    time,
    when,
)
from tidegate.library.other_names import no_part
from tidegate.library.stick_slip import PressedContact, StickSlip, a_moment_later

__all__ = [
    "Body",
    "Brake",
    "Compliant",
    "ConstantForce",
    "Damper",
    "ElasticStop",
    "Fixed",
    "Flange",
    "ForceSensor",
    "Friction",
    "Lever",
    "Mass",
    "Rod",
    "SignalForce",
    "SlidingFriction",
    "SpeedSensor",
    "Spring",
    "SpringDamper",
    "StepForce",
    "StoppedMass",
]


class Flange(Connector):
    """The end of a rod: s [m], and f [N] into the part."""

    s = Potential(unit="m", description="position of the flange")
    f = Flow(unit="N", description="force into the part")


class Body(Component):
    """Base of what moves as a whole: ``s = flange_a.s = flange_b.s``, ``v = ds/dt``, ``a = dv/dt``; the states are s and v.

    Examples
    --------
    >>> class Dragged(Body):
    ...     def equations(self):
    ...         yield 2.0 * self.a == self.flange_a.f + self.flange_b.f - 0.1 * self.v * abs(self.v)
    """

    flange_a, flange_b = Flange(), Flange()
    s = State(0.0, unit="m", description="position")
    v = State(0.0, unit="m/s", description="speed")
    a = Algebraic(unit="m/s^2", description="acceleration")

    def equations(self) -> Iterator[Any]:
        """Both flanges move with it."""
        yield self.s == self.flange_a.s
        yield self.s == self.flange_b.s
        yield self.v == der(self.s)
        yield self.a == der(self.v)


class Mass(Body):
    """``m a = flange_a.f + flange_b.f``; the states are s and v.

    Parameters
    ----------
    m : mass [kg], above 0.
    s, v : position and speed at the start.

    Examples
    --------
    >>> Mass(m=2.0, v=10.0).m
    m
    """

    m = Parameter(1.0, unit="kg", min=Bound(0.0, is_open=True), description="mass")

    def equations(self) -> Iterator[Any]:
        """Newton's law."""
        yield self.m * self.a == self.flange_a.f + self.flange_b.f


class StoppedMass(Body):
    """A mass between two hard stops: ``m a = flange_a.f + flange_b.f + f_stop``; at a stop ``v`` becomes ``-e v``, which is an event.

    A speed below v_rest after it is none: the mass rests at the stop (``rest`` is 1 at s_max, -1 at s_min, else 0) until it is pulled away.
    A mass that starts at a stop, or beyond it, is treated as one that has come there.

    Parameters
    ----------
    m : mass [kg], above 0.
    s_min, s_max : where the stops are [m].
    e : speed after by speed before; 0 for inelastic stops.
    v_rest : [m/s]; ends what would otherwise be endlessly many bounces.

    Examples
    --------
    >>> StoppedMass(m=2.0, s_min=0.0, s_max=0.1, e=0.3).e
    e
    """

    m = Parameter(1.0, unit="kg", min=Bound(0.0, is_open=True), description="mass")
    s_min = Parameter(-1.0, unit="m", description="the lower stop")
    s_max = Parameter(1.0, unit="m", description="the upper stop")
    e = Parameter(0.0, min=0.0, max=1.0, description="speed after by speed before")
    v_rest = Parameter(1e-3, unit="m/s", min=0.0, description="speed below which it rests")
    f_stop = Algebraic(unit="N", description="force of the stop on the mass")
    rest = Discrete(0, description="1 at s_max, -1 at s_min, 0 on the way")
    settled = Discrete(0.0, description="when what is at rest at the start can leave")

    def equations(self) -> Iterator[Any]:
        """Newton's law; no force on the way, no acceleration at rest."""
        yield self.m * self.a == self.flange_a.f + self.flange_b.f + self.f_stop
        yield where(self.rest == 0, self.f_stop, self.m * self.a) == 0

    def meets(self, side: int) -> Any:
        """What a stop does."""
        stays = self.e * abs(self.v) <= self.v_rest
        return {self.v: where(stays, 0.0, -self.e * self.v), self.rest: where(stays, side, 0)}

    @initially
    def begin(self) -> Any:
        """At a stop, and moving towards it or not at all."""
        upper, lower = (self.s >= self.s_max) & (self.v >= 0), (self.s <= self.s_min) & (self.v <= 0)
        stays = self.e * abs(self.v) <= self.v_rest
        return {
            self.settled: a_moment_later(),
            self.v: where(upper | lower, where(stays, 0.0, -self.e * self.v), self.v),
            self.rest: where(stays, where(upper, 1, where(lower, -1, 0)), 0),
        }

    @when(lambda self: (self.rest == 0) & (self.s > self.s_max) & (self.v > 0))
    def hit_upper(self) -> Any:
        """It has come to the upper stop."""
        return self.meets(1)

    @when(lambda self: (self.rest == 0) & (self.s < self.s_min) & (self.v < 0))
    def hit_lower(self) -> Any:
        """It has come to the lower stop."""
        return self.meets(-1)

    # a condition that holds at the start is no event; hence the moment
    @when(lambda self: (self.rest * self.f_stop > 0) & (time > self.settled))
    def leave(self) -> Any:
        """A stop does not pull."""
        return {self.rest: 0}


class ElasticStop(Component):
    """A wall at each end: ``f = c depth + d v`` into the stop beyond s_max and before s_min, and never pulling; 0 between them.

    Parameters
    ----------
    s_min, s_max : where the walls are [m].
    c : stiffness [N/m].
    d : damping [N s/m].

    Examples
    --------
    >>> ElasticStop(s_max=0.1, c=1e5).c
    c
    """

    flange = Flange()
    s_min = Parameter(-1.0, unit="m", description="the lower wall")
    s_max = Parameter(1.0, unit="m", description="the upper wall")
    c = Parameter(1e6, unit="N/m", min=0.0, description="stiffness")
    d = Parameter(0.0, unit="N s/m", min=0.0, description="damping")
    s = State(0.0, unit="m", fixed=False, state_select="avoid", description="position")
    v = Algebraic(unit="m/s", description="speed")
    f = Algebraic(unit="N", description="force of the flange on the wall")

    def equations(self) -> Iterator[Any]:
        """A spring and a damper, one-sided."""
        upper, lower = self.c * (self.s - self.s_max) + self.d * self.v, self.c * (self.s - self.s_min) + self.d * self.v
        yield self.s == self.flange.s
        yield self.v == der(self.s)
        yield self.flange.f == self.f
        yield self.f == where(self.s > self.s_max, maximum(upper, 0.0), where(self.s < self.s_min, minimum(lower, 0.0), 0.0))


class Fixed(Component):
    """``flange.s = s0``.

    Parameters
    ----------
    s0 : position [m].

    Examples
    --------
    >>> Fixed(s0=0.5).s0
    s0
    """

    flange = Flange()
    s0 = Parameter(0.0, unit="m", description="position")

    def equations(self) -> Iterator[Any]:
        """It does not move."""
        yield self.flange.s == self.s0


class Compliant(Component):
    """Base of parts between two flanges: ``s_rel = flange_b.s - flange_a.s``, ``f = flange_b.f = -flange_a.f``.

    Examples
    --------
    >>> class Hardening(Compliant):
    ...     def equations(self):
    ...         yield self.f == 5.0 * self.s_rel + 2.0 * self.s_rel**3
    """

    flange_a, flange_b = Flange(), Flange()
    s_rel = State(0.0, unit="m", fixed=False, state_select="avoid", description="position of b relative to a")
    f = Algebraic(unit="N", description="force into b")

    def equations(self) -> Iterator[Any]:
        """What goes in at one end comes out at the other."""
        yield self.s_rel == self.flange_b.s - self.flange_a.s
        yield self.flange_b.f == self.f
        yield self.flange_a.f == -self.f


class Spring(Compliant):
    """``f = c (s_rel - s_rel0)``.

    Parameters
    ----------
    c : stiffness [N/m].
    s_rel0 : position without force [m].

    Examples
    --------
    >>> Spring(c=100.0).c
    c
    """

    c = Parameter(1.0, unit="N/m", min=0.0, description="stiffness")
    s_rel0 = Parameter(0.0, unit="m", description="relative position without force")

    def equations(self) -> Iterator[Any]:
        """Hooke's law."""
        yield self.f == self.c * (self.s_rel - self.s_rel0)


class Damper(Compliant):
    """``f = d v_rel``, ``v_rel = ds_rel/dt``.

    Parameters
    ----------
    d : [N s/m].

    Examples
    --------
    >>> Damper(d=0.5).d
    d
    """

    d = Parameter(1.0, unit="N s/m", min=0.0, description="damping")
    v_rel = Algebraic(unit="m/s", description="speed of b relative to a")

    def equations(self) -> Iterator[Any]:
        """Proportional to speed."""
        yield self.v_rel == der(self.s_rel)
        yield self.f == self.d * self.v_rel


class SpringDamper(Compliant):
    """``f = c (s_rel - s_rel0) + d v_rel``.

    Parameters
    ----------
    c : stiffness [N/m].
    d : damping [N s/m].
    s_rel0 : position without force [m].

    Examples
    --------
    >>> SpringDamper(c=100.0, d=0.5).d
    d
    """

    c = Parameter(1.0, unit="N/m", min=0.0, description="stiffness")
    d = Parameter(1.0, unit="N s/m", min=0.0, description="damping")
    s_rel0 = Parameter(0.0, unit="m", description="relative position without force")
    v_rel = Algebraic(unit="m/s", description="speed of b relative to a")

    def equations(self) -> Iterator[Any]:
        """Side by side."""
        yield self.v_rel == der(self.s_rel)
        yield self.f == self.c * (self.s_rel - self.s_rel0) + self.d * self.v_rel


class ConstantForce(Component):
    """Pushes what is at its flange on with the force f: ``flange.f = -f``.

    Parameters
    ----------
    f : force [N].

    Examples
    --------
    >>> ConstantForce(f=5.0).f
    f
    """

    flange = Flange()
    f = Parameter(1.0, unit="N", description="force")

    def equations(self) -> Iterator[Any]:
        """It goes out of the source."""
        yield self.flange.f == -self.f


class StepForce(Component):
    """``flange.f = -offset`` before start_time, ``-(offset + f)`` from then on; the step is an event.

    Parameters
    ----------
    f : height of the step [N].
    offset : [N].
    start_time : [s].

    Examples
    --------
    >>> StepForce(f=-50.0, offset=10.0, start_time=6.0).f
    f
    """

    flange = Flange()
    f = Parameter(1.0, unit="N", description="height of the step")
    offset = Parameter(0.0, unit="N", description="force before")
    start_time = Parameter(0.0, unit="s", description="time of the step")

    def equations(self) -> Iterator[Any]:
        """It goes out of the source."""
        yield self.flange.f == -(self.offset + where(time < self.start_time, 0.0, self.f))


class SignalForce(Component):
    """``flange.f = -f``, a signal [N].

    Examples
    --------
    >>> SignalForce().f
    f
    """

    flange = Flange()
    f = InputSignal(unit="N", description="force")

    def equations(self) -> Iterator[Any]:
        """It goes out of the source."""
        yield self.flange.f == -self.f


class Rod(Component):
    """Has a length and no mass: ``flange_b.s = flange_a.s + L``.

    Parameters
    ----------
    L : length [m].

    Examples
    --------
    >>> Rod(L=0.5).L
    L
    """

    flange_a, flange_b = Flange(), Flange()
    L = Parameter(0.0, unit="m", description="length")

    def equations(self) -> Iterator[Any]:
        """Position and force."""
        yield self.flange_b.s == self.flange_a.s + self.L
        yield self.flange_a.f + self.flange_b.f == 0


class Lever(Component):
    """A lever that turns little, without losses: ``flange_a.s = ratio flange_b.s``, ``flange_b.f = -ratio flange_a.f``.

    Parameters
    ----------
    ratio : movement of a by that of b.

    Examples
    --------
    >>> Lever(ratio=5.0).ratio
    ratio
    """

    flange_a, flange_b = Flange(), Flange()
    ratio = Parameter(1.0, description="movement of a by that of b")

    def equations(self) -> Iterator[Any]:
        """Position and force."""
        yield self.flange_a.s == self.ratio * self.flange_b.s
        yield self.flange_b.f == -self.ratio * self.flange_a.f


class Friction(PressedContact):
    """Joins two bodies by dry friction: what slides carries ``f = capacity sign(v_rel)`` from a to b; what is stuck has ``a_rel = 0``.

    It is stuck as long as ``|f| <= peak capacity``, and free while the signal capacity is not positive. ``v_rel = flange_a.v - flange_b.v``,
    ``flange_a.f = f = -flange_b.f``. ``mode`` is 1 forward (a is faster), -1 backward, 0 stuck, 2 free.

    Parameters
    ----------
    peak : force up to which it is stuck, by that of sliding.

    Examples
    --------
    >>> Friction(peak=1.2).capacity
    capacity
    """

    flange_a, flange_b = Flange(), Flange()
    capacity = InputSignal(unit="N", description="force while it slides")
    unit_mass = Parameter(1.0, unit="kg", description="what makes a force of a_rel in the equation of the stuck contact")
    s_rel = State(0.0, unit="m", fixed=False, state_select="avoid", description="position of a relative to b")
    v_rel = State(0.0, unit="m/s", fixed=False, state_select="avoid", description="speed of a relative to b")
    a_rel = Algebraic(unit="m/s^2", description="acceleration of a relative to b")
    f = Algebraic(unit="N", description="force from a to b")

    def slip(self) -> Any:
        """The relative speed."""
        return self.v_rel

    def friction(self) -> Any:
        """What is carried."""
        return self.f

    def equations(self) -> Iterator[Any]:
        """Kinematics, forces, friction."""
        yield self.s_rel == self.flange_a.s - self.flange_b.s
        yield self.v_rel == der(self.s_rel)
        yield self.a_rel == der(self.v_rel)
        yield self.flange_a.f == self.f
        yield self.flange_b.f == -self.f
        yield self.friction_law(self.a_rel, self.unit_mass) == 0


class _OnRod(StickSlip):
    """Friction between a rod, which goes through, and the housing."""

    flange_a, flange_b = Flange(), Flange()
    unit_mass = Parameter(1.0, unit="kg", description="what makes a force of a in the equation of the stuck rod")
    s = State(0.0, unit="m", fixed=False, state_select="avoid", description="position of the rod")
    v = State(0.0, unit="m/s", fixed=False, state_select="avoid", description="its speed")
    a = Algebraic(unit="m/s^2", description="its acceleration")
    f = Algebraic(unit="N", description="force from the rod to the housing")

    def slip(self) -> Any:
        """The speed."""
        return self.v

    def friction(self) -> Any:
        """What the housing takes."""
        return self.f

    def equations(self) -> Iterator[Any]:
        """Kinematics, forces, friction."""
        yield self.s == self.flange_a.s
        yield self.s == self.flange_b.s
        yield self.v == der(self.s)
        yield self.a == der(self.v)
        yield self.flange_a.f + self.flange_b.f == self.f
        yield self.friction_law(self.a, self.unit_mass) == 0


class Brake(_OnRod, PressedContact):
    """Holds a rod to the housing: while it moves ``f = capacity sign(v)``; what is stuck has ``a = 0``.

    It is stuck as long as ``|f| <= peak capacity``, and free while the signal capacity is not positive. ``f = flange_a.f + flange_b.f``.

    Parameters
    ----------
    peak : force up to which it is stuck, by that of sliding.

    Examples
    --------
    >>> Brake(peak=1.2).capacity
    capacity
    """

    capacity = InputSignal(unit="N", description="force while it slides")


class SlidingFriction(_OnRod):
    """Coulomb and viscous friction: while it moves ``f = f_coulomb sign(v) + d v``; what is stuck has ``a = 0``.

    It is stuck as long as ``|f| <= f_peak``.

    Parameters
    ----------
    f_coulomb : [N].
    d : [N s/m].
    f_peak : [N]; by default f_coulomb.

    Examples
    --------
    >>> SlidingFriction(f_coulomb=2.0, d=0.1).d
    d
    """

    f_coulomb = Parameter(1.0, unit="N", min=0.0, description="friction while it moves slowly")
    f_peak = Parameter(lambda self: self.f_coulomb, unit="N", min=0.0, description="friction up to which it is stuck")
    d = Parameter(0.0, unit="N s/m", min=0.0, description="viscous friction")

    def sliding(self) -> Any:
        """Coulomb's part and the viscous one; the speed has the sign of the mode."""
        return self.f_coulomb + self.d * self.mode * self.v

    def limit(self) -> Any:
        """The peak."""
        return self.f_peak


class SpeedSensor(Component):
    """Signal ``y = ds/dt`` [m/s] of a flange; no force.

    Examples
    --------
    >>> SpeedSensor().y
    y
    """

    flange = Flange()
    y = OutputSignal(unit="m/s", description="speed")
    s = State(0.0, unit="m", fixed=False, state_select="avoid", description="position")

    def equations(self) -> Iterator[Any]:
        """What is measured."""
        yield self.s == self.flange.s
        yield self.y == der(self.s)
        yield self.flange.f == 0


class ForceSensor(Component):
    """Signal ``y = flange_a.f`` [N], the force that goes through from a to b.

    Examples
    --------
    >>> ForceSensor().y
    y
    """

    flange_a, flange_b = Flange(), Flange()
    y = OutputSignal(unit="N", description="force from a to b")

    def equations(self) -> Iterator[Any]:
        """What is measured."""
        yield self.flange_a.s == self.flange_b.s
        yield self.flange_a.f + self.flange_b.f == 0
        yield self.y == self.flange_a.f


def __dir__() -> list[str]:
    """What completion offers."""
    return __all__


def __getattr__(name: str) -> NoReturn:
    raise no_part(__name__, name)
