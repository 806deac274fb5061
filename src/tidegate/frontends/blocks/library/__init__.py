"""The blocks: Table 1 of CSMP-10(ARL) under full names, and what else block diagrams are made of."""

from tidegate.errors import UnknownNameError
from tidegate.frontends.blocks.library.arithmetic import (
    Constant,
    Divider,
    Gain,
    HalfPower,
    Inverter,
    Magnitude,
    Multiplier,
    Offset,
    Summer,
    WeightedSummer,
)
from tidegate.frontends.blocks.library.dynamic import PID, FirstOrderLag, Integrator, RateLimiter, StateSpace, TransferFunction
from tidegate.frontends.blocks.library.implicit import Vacuous, Wye
from tidegate.frontends.blocks.library.logic import And, Compare, Not, Or, Switch
from tidegate.frontends.blocks.library.measured_curves import Function
from tidegate.frontends.blocks.library.noise import Jitter, Noise
from tidegate.frontends.blocks.library.piecewise import BangBang, DeadSpace, Hysteresis, Limiter, NegativeClipper, PositiveClipper, Quit, Relay
from tidegate.frontends.blocks.library.sampled import DiscreteTransferFunction, TimePulse, TransportDelay, UnitDelay, VariableDelay, ZeroOrderHold
from tidegate.frontends.blocks.library.sources import Pulse, Ramp, Sine, Step, TableSource, Time
from tidegate.frontends.blocks.library.user import Scope, UserBlock, UserOutput
from tidegate.names import suggestion

__all__ = [
    "PID",
    "And",
    "BangBang",
    "Compare",
    "Constant",
    "DeadSpace",
    "DiscreteTransferFunction",
    "Divider",
    "FirstOrderLag",
    "Function",
    "Gain",
    "HalfPower",
    "Hysteresis",
    "Integrator",
    "Inverter",
    "Jitter",
    "Limiter",
    "Magnitude",
    "Multiplier",
    "NegativeClipper",
    "Noise",
    "Not",
    "Offset",
    "Or",
    "PositiveClipper",
    "Pulse",
    "Quit",
    "Ramp",
    "RateLimiter",
    "Relay",
    "Scope",
    "Sine",
    "StateSpace",
    "Step",
    "Summer",
    "Switch",
    "TableSource",
    "Time",
    "TimePulse",
    "TransferFunction",
    "TransportDelay",
    "UnitDelay",
    "UserBlock",
    "UserOutput",
    "Vacuous",
    "VariableDelay",
    "WeightedSummer",
    "Wye",
    "ZeroOrderHold",
]


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnknownNameError(f"there is no block tg.blocks.{name}", hint=suggestion(name, __all__, "dir(tg.blocks) lists what there is"))
