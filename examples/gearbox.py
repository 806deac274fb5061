"""A car changes gear: one clutch lets go at the instant at which another one is pressed, and slips until the shafts turn together.

Parts of the library. Each clutch is stuck, slides or is free, and every change is an event; derivatives by the time of the change go through them.
"""

import tidegate as tg
from tidegate.library import rotational


class Gearbox(tg.Component):
    change = tg.Parameter(2.0, unit="s", description="when the second gear is engaged")
    engine = rotational.ConstantTorque(tau=120.0)
    flywheel, wheels = rotational.Inertia(J=0.4), rotational.Inertia(J=110.0)
    low, high = rotational.Gear(ratio=10.0), rotational.Gear(ratio=6.0)
    first, second = rotational.Clutch(), rotational.Clutch()
    drag = rotational.BearingFriction(tau_coulomb=60.0, d=8.0)

    def equations(self):
        yield tg.connect(self.engine.flange, self.flywheel.flange_a)
        yield tg.connect(self.flywheel.flange_b, self.first.flange_a, self.second.flange_a)
        yield tg.connect(self.first.flange_b, self.low.flange_a)
        yield tg.connect(self.second.flange_b, self.high.flange_a)
        yield tg.connect(self.low.flange_b, self.high.flange_b, self.wheels.flange_a, self.drag.flange_a)
        yield self.first.capacity == tg.where(tg.time < self.change, 300.0, 0.0)
        yield self.second.capacity == tg.where(tg.time < self.change, 0.0, 200.0)


model = Gearbox()
t_span = (0.0, 6.0)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, sensitivities=["change"])
    for event in result.events:
        modes = f"first {event.after['first.mode']:2.0f}  second {event.after['second.mode']:2.0f}"
        print(f"{event.time:8.4f} s  {modes}  wheels {event.after['wheels.w']:8.4f} rad/s")
    more = result.sensitivity("wheels.w", "change").values[-1]
    print(f"at the end {result.final['wheels.w']:.4f} rad/s, and {more:.4f} more for each second that the first gear stays")
