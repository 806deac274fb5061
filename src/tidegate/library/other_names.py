"""What a part is called here that somebody asks for by another name (stage: library). In: a module and a name; out: the error that tells.

The other names are those of the Modelica Standard Library, version 4, and of textbooks.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final

from tidegate.errors import UnknownNameError
from tidegate.names import listed, suggestion

__all__ = ["no_part"]

_LIBRARY: Final = "tidegate.library"
_SENSORS: Final = "SpeedSensor has the angle and the speed"
_BLOCK: Final = "sources of signals are blocks of tg.blocks, and parts as they are"
_OTHERWISE: Final = {
    "EMF": "machines.RotationalEMF, or machines.TranslationalEMF",
    "DCMotor": "machines.RotationalEMF with a resistor, an inductor and an inertia",
    "IdealGear": "rotational.Gear",
    "IdealOpAmp3Pin": "electrical.IdealOpAmp",
    "OpAmp": "electrical.IdealOpAmp",
    "Conductor": "electrical.Resistor with R = 1/G, thermal.ThermalConductor",
    "Switch": "electrical.IdealSwitch",
    "IdealClosingSwitch": "electrical.IdealSwitch",
    "VoltageSource": "electrical.ConstantVoltage, StepVoltage, SineVoltage, SignalVoltage",
    "Battery": "electrical.ConstantVoltage",
    "CurrentSource": "electrical.ConstantCurrent, StepCurrent, SineCurrent, SignalCurrent",
    "Torque": "rotational.SignalTorque, ConstantTorque, StepTorque",
    "TorqueStep": "rotational.StepTorque",
    "Force": "translational.SignalForce, ConstantForce, StepForce",
    "LinearSpeedDependentTorque": "rotational.Damper to a Fixed",
    "Flywheel": "rotational.Inertia",
    "Load": "rotational.Inertia, translational.Mass",
    "Motor": "machines.RotationalEMF with a resistor, an inductor and an inertia",
    "AngleSensor": _SENSORS,
    "PositionSensor": "translational.SpeedSensor has the position and the speed",
    "SlidingMass": "translational.Mass",
    "MassWithStopAndFriction": "translational.StoppedMass, translational.Friction",
    "PrescribedTemperature": "thermal.SignalTemperature",
    "PrescribedHeatFlow": "thermal.SignalHeatFlow",
    "HeatCapacity": "thermal.HeatCapacitor",
    "OpenTank": "fluid.Tank",
    "Pipe": "fluid.LaminarPipe",
    "StaticPipe": "fluid.LaminarPipe",
    "ValveIncompressible": "fluid.Valve",
    "Source": "fluid.FixedPressure, fluid.FixedFlow; electrical.ConstantVoltage",
    "Sine": _BLOCK,
    "Step": _BLOCK,
    "Constant": _BLOCK,
}


def no_part(module: str, name: str) -> AttributeError:
    """The error for a name that a module of the library does not have.

    Parameters
    ----------
    module : its ``__name__``.
    name : what was asked for.
    """
    if name.startswith("__"):
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    domain = module.removeprefix(f"{_LIBRARY}.")
    library = import_module(_LIBRARY)
    parts = {f"{other}.{part}": part for other in library.__all__ for part in getattr(library, other).__all__}
    own = [part for path, part in parts.items() if path.startswith(f"{domain}.")]
    elsewhere = [path for path, part in parts.items() if part.casefold() == name.casefold()]
    otherwise = _OTHERWISE.get(name, "") or ", ".join(elsewhere)
    if otherwise:
        hint = f"it is {otherwise}" if otherwise.partition(".")[0] in library.__all__ else otherwise
    else:
        hint = suggestion(name, own, suggestion(name, parts, f"{domain} has {listed(own)}"))
    return UnknownNameError(f"there is no part {domain}.{name}", hint=hint)
