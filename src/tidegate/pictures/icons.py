"""Icons of the library's parts (stage: pictures). In: a class; out: lines in a square from -1 to 1, y upwards, as blocks have theirs."""

from __future__ import annotations

import math
from typing import Final

from tidegate.frontends.blocks.drawing.looks import Look

__all__ = ["icon_of", "icons"]

Curve = tuple[tuple[float, float], ...]
_GLYPH: Final = 15.0


def _circle(x: float, y: float, radius: float, first: float = 0.0, last: float = 360.0) -> Curve:
    steps = max(2, int(abs(last - first) / 15))
    angles = [math.radians(first + (last - first) * k / steps) for k in range(steps + 1)]
    return tuple((round(x + radius * math.cos(a), 4), round(y + radius * math.sin(a), 4)) for a in angles)


def _box(x0: float, y0: float, x1: float, y1: float) -> Curve:
    return ((x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0))


def _arrow(x0: float, y0: float, x1: float, y1: float) -> tuple[Curve, ...]:
    length = math.hypot(x1 - x0, y1 - y0)
    u, v = (x1 - x0) / length * 0.25, (y1 - y0) / length * 0.25
    return (((x0, y0), (x1, y1)), ((x1 - u - 0.7 * v, y1 - v + 0.7 * u), (x1, y1), (x1 - u + 0.7 * v, y1 - v - 0.7 * u)))


def _wave(x0: float, x1: float, height: float, y: float = 0.0) -> Curve:
    return tuple((round(x0 + (x1 - x0) * k / 16, 4), round(y + height * math.sin(2 * math.pi * k / 16), 4)) for k in range(17))


def _coil(x0: float, x1: float, y: float, turns: int = 4, side: float = 1.0) -> Curve:
    radius = (x1 - x0) / (2 * turns)
    points: list[tuple[float, float]] = []
    for k in range(turns):
        points += [(px, y + side * abs(py)) for px, py in _circle(x0 + (2 * k + 1) * radius, 0.0, radius, 180.0, 0.0)]
    return tuple(points)


def _upright(curve: Curve) -> Curve:
    return tuple((-y, x) for x, y in curve)


def _shrunk(curves: tuple[Curve, ...], height: float, y: float) -> tuple[Curve, ...]:
    return tuple(tuple((u, height * v + y) for u, v in curve) for curve in curves)


def _tick(x: float) -> tuple[Curve, ...]:
    return ((x, 0.6), (x + 0.3, 0.6)), ((x, 0.75), (x + 0.3, 0.75))


_LEADS: Final[tuple[Curve, ...]] = (((-1, 0), (-0.6, 0)), ((0.6, 0), (1, 0)))
_ZIGZAG: Final[Curve] = ((-1, 0), (-0.7, 0), (-0.58, 0.4), (-0.35, -0.4), (-0.12, 0.4), (0.12, -0.4), (0.35, 0.4), (0.58, -0.4), (0.7, 0), (1, 0))
_RING: Final = _circle(0, 0, 0.6)
_PLUS: Final[tuple[Curve, ...]] = (((-0.95, 0.4), (-0.95, 0.7)), ((-1.1, 0.55), (-0.8, 0.55)))
_STEP: Final[Curve] = ((-0.35, -0.25), (0, -0.25), (0, 0.25), (0.35, 0.25))
_SIGNAL: Final = _arrow(0, 1, 0, 0.35)
_V: Final[Curve] = ((-0.25, 0.3), (0, -0.3), (0.25, 0.3))
_FLOOR: Final[tuple[Curve, ...]] = (((-0.8, -0.8), (0.8, -0.8)), *(((x, -0.8), (x - 0.2, -1.0)) for x in (-0.6, -0.2, 0.2, 0.6)))
_WALL: Final[tuple[Curve, ...]] = (((0.3, -0.9), (0.3, 0.9)), *(((0.3, y), (0.6, y - 0.3)) for y in (-0.5, -0.1, 0.3, 0.7)))
_DIODE: Final[tuple[Curve, ...]] = (((-1, 0), (1, 0)), ((-0.45, 0.5), (0.45, 0), (-0.45, -0.5), (-0.45, 0.5)), ((0.45, 0.5), (0.45, -0.5)))
_DASHPOT: Final[tuple[Curve, ...]] = (
    ((-1, 0), (0.05, 0)),
    ((0.05, -0.3), (0.05, 0.3)),
    ((-0.5, 0.45), (0.5, 0.45), (0.5, -0.45), (-0.5, -0.45)),
    ((0.5, 0), (1, 0)),
)
_TANK: Final[tuple[Curve, ...]] = (((-0.8, 0.8), (-0.8, -0.8), (0.8, -0.8), (0.8, 0.8)), ((-0.8, 0.2), (0.8, 0.2)), ((-0.5, 0.0), (0.1, 0.0)))
_BOW_TIE: Final[Curve] = ((-0.8, 0.45), (0.8, -0.45), (0.8, 0.45), (-0.8, -0.45), (-0.8, 0.45))
_FLAME: Final = tuple(_upright(_wave(-0.7, 0.7, 0.18, y)) for y in (-0.5, 0.0, 0.5))
_DISC: Final[tuple[Curve, ...]] = (_box(-0.3, -0.8, 0.3, 0.8), ((-1, 0), (-0.3, 0)), ((0.3, 0), (1, 0)))
_PLATES: Final[tuple[Curve, ...]] = (((-1, 0), (-0.15, 0)), ((-0.15, -0.8), (-0.15, 0.8)), ((0.15, -0.8), (0.15, 0.8)), ((0.15, 0), (1, 0)))
_BODY: Final = _box(-0.7, -0.4, 0.7, 0.5)
_SPRING: Final[Curve] = ((-1, 0), (-0.75, 0), (-0.6, 0.5), (-0.3, -0.5), (0, 0.5), (0.3, -0.5), (0.6, 0.5), (0.75, 0), (1, 0))
_HIGH: Final[Curve] = tuple((x, 0.45 + 0.6 * y) for x, y in _SPRING)
_LOW: Final[tuple[Curve, ...]] = tuple(tuple((x, -0.55 + 0.7 * y) for x, y in curve) for curve in _DASHPOT)
_BOTH: Final[tuple[Curve, ...]] = (_HIGH, *_LOW, ((-1, 0.45), (-1, -0.55)), ((1, 0.45), (1, -0.55)))
_GAUGE: Final[tuple[Curve, ...]] = (_circle(0, 0.1, 0.7), *_arrow(0, -0.1, 0.35, 0.55), ((0, -0.6), (0, -1)))
_TURN: Final[tuple[Curve, ...]] = (_circle(0, 0, 0.7, 210, -30), ((0.6, -0.05), (0.61, -0.35), (0.85, -0.15)))
_PIPE: Final[tuple[Curve, ...]] = (((-1, 0.3), (1, 0.3)), ((-1, -0.3), (1, -0.3)))
_THERMOMETER: Final[tuple[Curve, ...]] = (_circle(0, -0.6, 0.3), ((-0.12, -0.3), (-0.12, 0.8), (0.12, 0.8), (0.12, -0.3)), ((0, -0.6), (0, 0.4)))
_GEARS: Final[tuple[Curve, ...]] = (
    _box(-0.45, -0.1, -0.15, 0.9),
    _box(0.15, -0.9, 0.45, 0.4),
    ((-1, 0.4), (-0.45, 0.4)),
    ((0.45, -0.25), (1, -0.25)),
)

_THROUGH: Final[tuple[Curve, ...]] = (_box(-0.8, -0.4, 0.8, 0.4), *_arrow(-0.55, 0, 0.55, 0), ((-1, 0), (-0.8, 0)), ((0.8, 0), (1, 0)))
_TORQUE: Final[tuple[Curve, ...]] = (_circle(0, 0, 0.75, 200, -20), *_arrow(0.68, 0, 0.7, -0.3))
_FORCE: Final[tuple[Curve, ...]] = _arrow(-0.9, 0, 0.9, 0)
_HATCH: Final = (-0.6, -0.2, 0.2, 0.6)

_ICONS: Final[dict[str, tuple[Curve, ...]]] = {
    "electrical.OnePort": (_box(-0.6, -0.35, 0.6, 0.35), *_LEADS),
    "electrical.TwoPort": (_box(-0.6, -0.8, 0.6, 0.8), *(((x, y), (x + 0.4, y)) for x in (-1, 0.6) for y in (-0.5, 0.5))),
    "electrical.Resistor": (_ZIGZAG,),
    "electrical.Capacitor": _PLATES,
    "electrical.Inductor": (_coil(-0.7, 0.7, 0), ((-1, 0), (-0.7, 0)), ((0.7, 0), (1, 0))),
    "electrical.Ground": (((0, 1), (0, 0)), ((-0.7, 0), (0.7, 0)), ((-0.45, -0.3), (0.45, -0.3)), ((-0.2, -0.6), (0.2, -0.6))),
    "electrical.ConstantVoltage": (_RING, *_LEADS, ((-0.6, 0), (0.6, 0)), *_PLUS),
    "electrical.SineVoltage": (_RING, *_LEADS, _wave(-0.4, 0.4, 0.3), *_PLUS),
    "electrical.StepVoltage": (_RING, *_LEADS, _STEP, *_PLUS),
    "electrical.SignalVoltage": (_RING, *_LEADS, _V, *_SIGNAL, *_PLUS),
    "electrical.ConstantCurrent": (_RING, *_LEADS, *_arrow(-0.35, 0, 0.35, 0)),
    "electrical.SineCurrent": (_RING, *_LEADS, _wave(-0.4, 0.4, 0.2, -0.2), *_arrow(-0.35, 0.3, 0.35, 0.3)),
    "electrical.StepCurrent": (_RING, *_LEADS, tuple((x, 0.7 * y - 0.2) for x, y in _STEP), *_arrow(-0.35, 0.3, 0.35, 0.3)),
    "electrical.SignalCurrent": (_RING, *_LEADS, *_arrow(-0.35, -0.1, 0.35, -0.1), *_SIGNAL),
    "electrical.IdealDiode": _DIODE,
    "electrical.Diode": (*_DIODE, _circle(0, 0, 0.85)),
    "electrical.IdealSwitch": (((-1, 0), (-0.5, 0), (0.45, 0.6)), ((0.5, 0), (1, 0)), _circle(0.5, 0, 0.08), _circle(-0.5, 0, 0.08)),
    "electrical.IdealTransformer": (_upright(_coil(-0.8, 0.8, 0.35, 4, -1)), _upright(_coil(-0.8, 0.8, -0.35, 4, 1))),
    "electrical.Transformer": (_upright(_coil(-0.8, 0.8, 0.4, 4, -1)), _upright(_coil(-0.8, 0.8, -0.4, 4, 1)), ((0, -0.9), (0, 0.9))),
    "electrical.IdealOpAmp": (
        ((-0.7, 0.9), (0.9, 0), (-0.7, -0.9), (-0.7, 0.9)),
        ((-0.5, 0.4), (-0.2, 0.4)),
        ((-0.5, -0.4), (-0.2, -0.4)),
        ((-0.35, 0.25), (-0.35, 0.55)),
    ),
    "electrical.PotentialSensor": _GAUGE,
    "electrical.VoltageSensor": (_RING, *_LEADS, _V),
    "electrical.CurrentSensor": (_RING, *_LEADS, ((-0.25, -0.3), (0, 0.35), (0.25, -0.3)), ((-0.15, -0.05), (0.15, -0.05))),
    "machines.RotationalEMF": (_circle(0, 0, 0.55), _box(-0.75, -0.2, -0.55, 0.2), _box(0.55, -0.2, 0.75, 0.2), *_TURN),
    "machines.TranslationalEMF": (_coil(-0.7, 0.7, -0.3), *_arrow(-0.6, 0.5, 0.6, 0.5), ((-1, -0.3), (-0.7, -0.3)), ((0.7, -0.3), (1, -0.3))),
    "translational.Mass": (_BODY, ((-1, 0), (-0.7, 0)), ((0.7, 0), (1, 0)), *_arrow(-0.4, 0.8, 0.4, 0.8)),
    "translational.Fixed": (*_FLOOR, ((0, -0.8), (0, 0.4))),
    "translational.Spring": (_SPRING,),
    "translational.Damper": _DASHPOT,
    "translational.SpringDamper": _BOTH,
    "translational.Compliant": _BOTH,
    "translational.Body": (_BODY, *_arrow(-0.4, 0.8, 0.4, 0.8)),
    "translational.SlidingFriction": (_box(-0.6, -0.3, 0.6, 0.5), ((-1, -0.3), (1, -0.3)), *(((x, -0.3), (x - 0.2, -0.6)) for x in _HATCH)),
    "translational.Friction": (_box(-0.8, 0.05, 0.4, 0.45), _box(-0.4, -0.45, 0.8, -0.05), ((-1, 0.25), (-0.8, 0.25)), ((0.8, -0.25), (1, -0.25))),
    "translational.Brake": (_box(-0.8, -0.1, 0.8, 0.2), _box(-0.3, 0.3, 0.3, 0.5), *_arrow(0, 1, 0, 0.5), *_FLOOR),
    "translational.ElasticStop": (((-1, 0), (-0.8, 0)), tuple((0.55 * x - 0.25, 0.6 * y) for x, y in _SPRING), *_WALL),
    "translational.StoppedMass": (_box(-0.8, -0.4, 0.1, 0.4), *_WALL, ((-1, 0), (-0.8, 0))),
    "translational.Lever": (((-0.9, 0.5), (0.9, -0.1)), ((0, 0.2), (-0.3, -0.6), (0.3, -0.6), (0, 0.2)), *_FLOOR),
    "translational.ConstantForce": _FORCE,
    "translational.StepForce": (*_FORCE, tuple((x, y + 0.6) for x, y in _STEP)),
    "translational.SignalForce": (*_FORCE, *_arrow(0, 1, 0, 0.3)),
    "translational.ForceSensor": _GAUGE,
    "translational.SpeedSensor": _GAUGE,
    "translational.Rod": (_box(-0.8, -0.15, 0.8, 0.15), ((-1, 0), (-0.8, 0)), ((0.8, 0), (1, 0))),
    "rotational.Inertia": _DISC,
    "rotational.Fixed": (*_FLOOR, ((0, -0.8), (0, 0.4))),
    "rotational.Spring": (tuple((0.1 * k / 4 * math.cos(0.5 * k), 0.1 * k / 4 * math.sin(0.5 * k)) for k in range(33)),),
    "rotational.Damper": (*_shrunk(_DASHPOT, 0.8, -0.3), *_shrunk(_TURN, 0.5, 0.6)),
    "rotational.SpringDamper": _BOTH,
    "rotational.Gear": _GEARS,
    "rotational.Clutch": (*_PLATES, *_arrow(-0.8, 0.7, -0.2, 0.7), *_arrow(0.8, 0.7, 0.2, 0.7)),
    "rotational.Brake": (*_DISC, _box(-0.5, 0.8, 0.5, 1.0), *_FLOOR),
    "rotational.BearingFriction": (_box(-0.6, 0.25, 0.6, 0.6), _box(-0.6, -0.6, 0.6, -0.25), ((-1, 0), (1, 0)), *_FLOOR),
    "rotational.Compliant": _BOTH,
    "rotational.ConstantTorque": _TORQUE,
    "rotational.StepTorque": (*_TORQUE, _STEP),
    "rotational.SignalTorque": (*_TORQUE, *_arrow(0, 0.2, 0, -0.5)),
    "rotational.SpeedSensor": _GAUGE,
    "rotational.TorqueSensor": _GAUGE,
    "thermal.HeatCapacitor": (_box(-0.9, -0.8, 0.9, 0.8), *_FLAME),
    "thermal.ThermalConductor": _THROUGH,
    "thermal.ThermalResistor": (*_THROUGH, ((0.5, 0.75), (0.65, 0.75))),
    "thermal.ThermalElement": _THROUGH,
    "thermal.Convection": (_box(-0.9, -0.8, -0.5, 0.8), *(tuple((x + 0.3, y) for x, y in curve) for curve in _FLAME)),
    "thermal.BodyRadiation": (_box(-0.9, -0.8, -0.6, 0.8), _box(0.6, -0.8, 0.9, 0.8), *_arrow(-0.5, 0.4, 0.5, 0.4), *_arrow(0.5, -0.4, -0.5, -0.4)),
    "thermal.FixedTemperature": (*_THERMOMETER, *_tick(0.5)),
    "thermal.SignalTemperature": (*_THERMOMETER, *_arrow(-1, 0.2, -0.25, 0.2)),
    "thermal.FixedHeatFlow": (*_FLAME[:2], *_arrow(-0.1, 0, 0.9, 0)),
    "thermal.SignalHeatFlow": (*_FLAME[:2], *_arrow(-0.1, 0, 0.9, 0), *_arrow(0.4, 1, 0.4, 0.3)),
    "thermal.HeatFlowSensor": (_RING, *_LEADS, *_arrow(-0.35, 0, 0.35, 0)),
    "thermal.TemperatureSensor": _THERMOMETER,
    "fluid.Tank": _TANK,
    "fluid.Valve": (_BOW_TIE, ((-1, 0), (-0.8, 0)), ((0.8, 0), (1, 0))),
    "fluid.LaminarPipe": (*_PIPE, *_arrow(-0.5, 0, 0.5, 0)),
    "fluid.FlowElement": _PIPE,
    "fluid.Drain": (_BOW_TIE, *_arrow(0, 0, 0, -0.95)),
    "fluid.FixedFlow": (*_PIPE, *_arrow(-0.8, 0, 0.8, 0), *_tick(0.7)),
    "fluid.SignalFlow": (*_PIPE, *_arrow(-0.8, 0, 0.8, 0), *_arrow(0, 1, 0, 0.4)),
    "fluid.FixedPressure": (((-0.8, 0.5), (-0.8, -0.7), (0.8, -0.7), (0.8, 0.5)), _wave(-0.8, 0.8, 0.12, 0.1)),
    "fluid.Pump": (_circle(0, 0, 0.75), ((-0.5, 0.56), (0.75, 0), (-0.5, -0.56))),
    "fluid.PressureSensor": _GAUGE,
    "fluid.FlowSensor": _GAUGE,
}


def _key(kind: type) -> str:
    return f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}" if kind.__module__.startswith("tidegate.library.") else ""


def icons() -> dict[str, Look]:
    """The icons, by ``module.Class``."""
    return {name: _look(curves) for name, curves in _ICONS.items()}


def icon_of(kind: type) -> Look | None:
    """The icon of a class of the library, or of the first of its base classes that has one; None for others.

    Examples
    --------
    >>> from tidegate.library.electrical import Resistor
    >>> len(icon_of(Resistor).curves)
    1
    """
    for base in kind.__mro__:
        if _key(base) in _ICONS:
            return _look(_ICONS[_key(base)])
    return None


def _look(curves: tuple[Curve, ...]) -> Look:
    return Look(curves=curves, glyph=_GLYPH)
