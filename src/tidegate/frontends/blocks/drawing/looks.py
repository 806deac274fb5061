"""What blocks look like (picture of a diagram). In goes a kind, out come an outline and a sign: a text, or the little curve of its characteristic."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from types import MappingProxyType
from typing import Final, Literal

from tidegate.quick_dataclass import dataclass

__all__ = ["Look", "Outline", "look_of"]

Outline = Literal["box", "double box", "triangle", "circle", "octagon", "pill"]
Curve = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Look:
    """How a kind is drawn.

    Parameters
    ----------
    outline : its shape.
    sign : a text in it.
    curves : lines in it, in a square from -1 to 1 with y upwards.
    has_axes : the curves are drawn over a thin cross: they are a characteristic, output over input.
    has_signs : its inputs carry plus and minus.
    glyph : half of the side of the square, in pixels.
    """

    outline: Outline = "box"
    sign: str = ""
    curves: tuple[Curve, ...] = ()
    has_axes: bool = False
    has_signs: bool = False
    glyph: float = 11.0


def _sampled(function: Callable[[float], float]) -> Curve:
    return tuple((i / 12, function(i / 12)) for i in range(-12, 13))


def _characteristic(*points: tuple[float, float]) -> Look:
    return Look(curves=(points,), has_axes=True)


_SINE: Final = _sampled(lambda x: 0.8 * math.sin(math.pi * x))
_BEND: Final = _sampled(lambda x: 0.9 * math.tanh(2.5 * x))
_NOISE: Final = tuple((-1 + i / 6, y) for i, y in enumerate((0.1, 0.7, -0.4, 0.3, -0.8, 0.5, -0.1, 0.8, -0.6, 0.2, -0.3, 0.6, 0.0)))

# by the names of classes; what CSMP-10(ARL) calls its types stands below
_LOOKS: Final = MappingProxyType(
    {
        "BangBang": _characteristic((-1, -0.7), (0, -0.7), (0, 0.7), (1, 0.7)),
        "DeadSpace": _characteristic((-1, -0.7), (-0.4, 0), (0.4, 0), (1, 0.7)),
        "Function": _characteristic(*_BEND),
        "Gain": Look("triangle", "K"),
        "HalfPower": Look(sign="√x"),
        "Integrator": Look(sign="∫"),
        "Jitter": Look(curves=(_NOISE,)),
        "Constant": Look("pill", "c"),
        "Limiter": _characteristic((-1, -0.6), (-0.5, -0.6), (0.5, 0.6), (1, 0.6)),
        "Magnitude": _characteristic((-0.9, 0.9), (0, 0), (0.9, 0.9)),
        "NegativeClipper": _characteristic((-1, 0), (0, 0), (0.9, 0.9)),
        "Offset": Look(sign="x + c"),
        "PositiveClipper": _characteristic((-0.9, -0.9), (0, 0), (1, 0)),
        "Quit": Look("octagon", "stop"),
        "Relay": Look(curves=(((-1, -0.5), (-0.3, -0.5)), ((-1, 0.5), (-0.3, 0.5)), ((-0.3, 0.5), (0.6, 0.0), (1, 0)))),
        "TimePulse": Look(
            curves=(((-1, -0.6), (-0.9, -0.6), (-0.9, 0.6), (-0.4, 0.6), (-0.4, -0.6), (0.1, -0.6), (0.1, 0.6), (0.6, 0.6), (0.6, -0.6), (1, -0.6)),)
        ),
        "FirstOrderLag": Look(sign="1/(1+Ts)"),
        "UnitDelay": Look(sign="z⁻¹"),
        "UserOutput": Look(sign="UO"),
        "UserBlock": Look(sign="f(x)"),
        "Vacuous": Look("circle", "V"),
        "WeightedSummer": Look(sign="Σ p·x"),
        "Multiplier": Look("circle", "×"),
        "Wye": Look("circle", "Y"),
        "ZeroOrderHold": Look(curves=(((-1, -0.7), (-0.5, -0.7), (-0.5, 0.1), (0.1, 0.1), (0.1, 0.6), (0.6, 0.6), (0.6, 0.3), (1, 0.3)),)),
        "Summer": Look("circle", has_signs=True),
        "Divider": Look("circle", "÷"),
        "Inverter": Look("triangle", "−1"),
        "TransferFunction": Look(sign="H(s)"),
        "StateSpace": Look(sign="x' = Ax + Bu"),
        "PID": Look(sign="PID"),
        "RateLimiter": Look(curves=(((-1, -0.6), (-0.5, -0.6), (0.5, 0.6), (1, 0.6)),)),
        "Hysteresis": _characteristic((-1, -0.7), (0.4, -0.7), (0.4, 0.7), (1, 0.7), (-0.4, 0.7), (-0.4, -0.7)),
        "TransportDelay": Look(sign="delay"),
        "VariableDelay": Look(sign="delay"),
        "DiscreteTransferFunction": Look(sign="H(z)"),
        "Step": Look(curves=(((-1, -0.6), (-0.2, -0.6), (-0.2, 0.6), (1, 0.6)),)),
        "Ramp": Look(curves=(((-1, -0.7), (-0.4, -0.7), (0.9, 0.8)),)),
        "Sine": Look(curves=(_SINE,)),
        "Pulse": Look(curves=(((-1, -0.6), (-0.5, -0.6), (-0.5, 0.6), (0.3, 0.6), (0.3, -0.6), (1, -0.6)),)),
        "TableSource": Look(curves=(((-1, -0.5), (-0.4, 0.6), (0.2, 0.1), (1, 0.7)),)),
        "Noise": Look(curves=(_NOISE,)),
        "And": Look(sign="and"),
        "Or": Look(sign="or"),
        "Not": Look(sign="not"),
        "Compare": Look(sign=">"),
        "Switch": Look(curves=(((-1, -0.5), (-0.3, -0.5)), ((-1, 0.5), (-0.3, 0.5)), ((-0.3, 0.5), (0.6, 0.0), (1, 0)))),
        "Scope": Look(curves=(((-0.9, -0.7), (0.9, -0.7), (0.9, 0.7), (-0.9, 0.7), (-0.9, -0.7)), tuple((0.8 * x, 0.5 * y) for x, y in _SINE))),
        "Time": Look("pill", "t"),
        "Input": Look("pill", "in"),
        "Output": Look("pill", "out"),
        "Diagram": Look("double box"),
    }
)

_TYPES: Final = MappingProxyType(
    {
        "B": "BangBang", "D": "DeadSpace", "F": "Function", "G": "Gain", "H": "HalfPower", "I": "Integrator", "J": "Jitter", "K": "Constant",
        "L": "Limiter", "M": "Magnitude", "N": "NegativeClipper", "O": "Offset", "P": "PositiveClipper", "Q": "Quit", "R": "Relay", "T": "TimePulse",
        "T1": "FirstOrderLag", "U": "UnitDelay", "UO": "UserOutput", "V": "Vacuous", "W": "WeightedSummer", "X": "Multiplier", "Y": "Wye",
        "Z": "ZeroOrderHold", "+": "Summer", "/": "Divider", "-": "Inverter",
    }
)  # fmt: skip
_USER: Final = re.compile(r"U\d+")


def look_of(kind: str) -> Look:
    """The look of a kind of block, by the name of its class or its type in CSMP-10(ARL).

    Examples
    --------
    >>> look_of("I") == look_of("Integrator"), look_of("U3").sign, look_of("Carburettor").sign
    (True, 'U3', 'Carburettor')
    """
    if _USER.fullmatch(kind):
        return Look(sign=kind)
    return _LOOKS.get(_TYPES.get(kind, kind), Look(sign=kind))
