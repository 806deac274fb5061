"""A motor drive is given away as a file: whoever has it connects it by its flange and its signals, and sets its parameters.

What is in the file are equations, no Python: opening it runs nothing. The drive is used twice here, with another gear and load each time.
"""

import tempfile
from pathlib import Path

import tidegate as tg
from tidegate.library import rotational as ro


class Command(tg.Connector):
    """What a drive is told, and what it answers."""

    speed = tg.InputSignal(unit="rad/s")
    current = tg.OutputSignal(unit="A")


class Drive(tg.Component):
    """A motor with its speed control, behind a gear."""

    command, flange = Command(), ro.Flange()
    k = tg.Parameter(0.1, unit="N m/A", description="torque by current")
    R = tg.Parameter(0.5, unit="Ohm")
    gain = tg.Parameter(2.0, unit="V s/rad")
    reset_time = tg.Parameter(0.2, unit="s")
    rotor, gear, torque = ro.Inertia(J=2e-3), ro.Gear(ratio=10.0), ro.SignalTorque()
    angle_of_error = tg.State(0.0, unit="rad")

    def equations(self):
        error = self.command.speed - self.rotor.w
        voltage = self.gain * (error + self.angle_of_error / self.reset_time)
        yield tg.der(self.angle_of_error) == error
        yield self.command.current == (voltage - self.k * self.rotor.w) / self.R
        yield self.torque.tau == self.k * self.command.current
        yield tg.connect(self.torque.flange, self.rotor.flange_a)
        yield tg.connect(self.rotor.flange_b, self.gear.flange_a)
        yield tg.connect(self.gear.flange_b, self.flange)


with tempfile.TemporaryDirectory() as folder:
    file = tg.precompile(Drive(), Path(folder) / "drive.tgm")
    StoredDrive = tg.load_component(file)


class Crane(tg.Component):
    slow, fast = StoredDrive(gear={"ratio": 40.0}), StoredDrive(gain=1.0)
    drum, fan = ro.Inertia(J=3.0), ro.Inertia(J=0.1)
    air, wall = ro.Damper(d=0.05), ro.Fixed()

    def equations(self):
        yield self.slow.command.speed == tg.where(tg.time < 1.0, 100.0, 20.0)
        yield self.fast.command.speed == 50.0
        yield tg.connect(self.slow.flange, self.drum.flange_a)
        yield tg.connect(self.fast.flange, self.fan.flange_a)
        yield tg.connect(self.fan.flange_b, self.air.flange_a)
        yield tg.connect(self.air.flange_b, self.wall.flange)


model = Crane()
t_span = (0.0, 2.0)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, rtol=1e-8, sensitivities=["slow.gain"])
    print(f"{StoredDrive.__name__}: {', '.join(StoredDrive().parts())}")
    for name in ("drum.w", "slow.command.current", "fan.w", "fast.command.current"):
        print(f"{name} = {result.final[name]:.6f}")
    print(f"d drum.w / d slow.gain = {result.sensitivity('drum.w', 'slow.gain')[-1]:.3e}")
