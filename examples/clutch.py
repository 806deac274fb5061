"""A motor starts a machine through a friction clutch: it slips, sticks while it can hold, and slips again when the machine is braked.

While the clutch slips its torque is known, and the difference of speeds changes; while it is stuck that is zero, and the torque is what it takes.
"""

import tidegate as tg
from tidegate.library import rotational as ro

MODES = {-1: "slips backward", 0: "is stuck", 1: "slips forward", 2: "is free"}


class Drive(tg.Component):
    motor = ro.ConstantTorque(tau=8.0)
    rotor = ro.Inertia(J=0.6, w=30.0)
    clutch = ro.Clutch(peak=1.25)
    machine = ro.Inertia(J=2.4)
    losses = ro.Damper(d=0.2)
    brake = ro.Brake()
    housing = ro.Fixed()

    def equations(self):
        yield tg.connect(self.motor.flange, self.rotor.flange_a)
        yield tg.connect(self.rotor.flange_b, self.clutch.flange_a)
        yield tg.connect(self.clutch.flange_b, self.machine.flange_a)
        yield tg.connect(self.machine.flange_b, self.losses.flange_b, self.brake.flange_a)
        yield tg.connect(self.losses.flange_a, self.housing.flange)
        yield self.clutch.capacity == tg.where(tg.time < 0.5, 0.0, 16.0)
        yield self.brake.capacity == tg.where(tg.time < 6.0, 0.0, 60.0)


model = Drive()
t_span = (0.0, 9.0)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, rtol=1e-8, sensitivities=["machine.J"])
    for event in result.events:
        after = event.after
        clutch, brake = MODES[round(after["clutch.mode"])], MODES[round(after["brake.mode"])]
        speeds = " and ".join(f"{abs(after[name]):.4f}" for name in ("rotor.w", "machine.w"))
        print(f"{event.time:.6f} s: speeds {speeds} rad/s; the clutch {clutch}, {after['clutch.tau']:.4f} N m; the brake {brake}")
    stuck = result.events[1]
    print(f"a machine heavier by 1 kg m^2 sticks later by {stuck.dt_dp['machine.J']:.5f} s")
