"""The blocks: Table 1 of CSMP-10(ARL) under full names, and what else block diagrams are made of."""

from typing import Final

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


_TABLE: Final = "it is Function(x, y), or a UserBlock that calls a tg.table"
_FIELDS: Final = "a UserBlock takes several signals and gives several: UserBlock(f, inputs=['a', 'b'], outputs=['sum', 'difference'])"
_RECORDED: Final = "every signal is in the result under the name of its block: result['block']"
_CALLED_OTHERWISE: Final = {
    "Saturation": "it is Limiter(upper, lower)",
    "Product": "it is Multiplier, or a * b of two signals",
    "Divide": "it is Divider, or a / b of two signals",
    "Sum": "it is Summer('+-'), or a - b of two signals",
    "Add": "it is Summer('++'), or a + b of two signals",
    "Subtract": "it is Summer('+-'), or a - b of two signals",
    "Abs": "it is Magnitude, or abs(signal)",
    "Sign": "it is BangBang, or a UserBlock",
    "DeadZone": "it is DeadSpace(upper, lower)",
    "Lookup": _TABLE,
    "LookUp": _TABLE,
    "LookupTable": _TABLE,
    "LookUpTable": _TABLE,
    "Lookup1D": _TABLE,
    "Interpolation": _TABLE,
    "Table": "over the time it is TableSource(times, values); of a signal it is Function(x, y)",
    "FromWorkspace": "it is TableSource(times, values), or inputs={'u': (times, values)} of a run",
    "Signal": "it is TableSource(times, values), or inputs={'u': (times, values)} of a run",
    "Clock": "it is Time",
    "SineWave": "it is Sine",
    "PulseGenerator": "it is Pulse(period, width, height)",
    "SquareWave": "it is Pulse(period, width, height)",
    "ZOH": "it is ZeroOrderHold(period)",
    "Memory": "it is UnitDelay(period)",
    "Delay": "TransportDelay(delay) for a time, UnitDelay(period) for a tick",
    "PIDController": "it is PID(kp, ki, kd); with period= it is sampled",
    "DiscretePID": "it is PID(kp, ki, kd, period=...)",
    "WhiteNoise": "it is Noise(period, deviation, seed)",
    "RandomNumber": "it is Noise(period, deviation, seed)",
    "LogicalOperator": "And, Or and Not are blocks",
    "RelationalOperator": "it is Compare, or a < b of two signals",
    "Filter": "it is FirstOrderLag or TransferFunction",
    "Derivative": "a pure derivative cannot be: TransferFunction([1, 0], [T, 1]) with a short time T",
    "Differentiator": "a pure derivative cannot be: TransferFunction([1, 0], [T, 1]) with a short time T",
    "Mux": _FIELDS,
    "Demux": _FIELDS,
    "Bus": _FIELDS,
    "BusCreator": _FIELDS,
    "Fcn": "it is UserBlock(lambda x: ...)",
    "MATLABFunction": "it is UserBlock(lambda x: ...)",
    "ToWorkspace": _RECORDED,
    "Outport": "it is diagram.output('y', signal)",
    "Inport": "it is diagram.input('u')",
    "Subsystem": "a tg.Diagram with inputs and outputs is a block",
    "LimitedIntegrator": "it is Integrator(lower=..., upper=...)",
    "IntegratorLimited": "it is Integrator(lower=..., upper=...)",
    "ResetIntegrator": "it is Integrator, whose third input resets it",
    "Quantizer": "it is UserBlock(lambda x: step * np.floor(x / step + 0.5))",
    "Stop": "it is Quit",
    "StopSimulation": "it is Quit",
}  # what other programs call it


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    hint = _CALLED_OTHERWISE.get(name) or suggestion(name, __all__, "dir(tg.blocks) lists what there is")
    raise UnknownNameError(f"there is no block tg.blocks.{name}", hint=hint)
