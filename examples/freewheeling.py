"""A coil whose switch opens, and the ideal diode that takes over its current: no leak, no resistance that would have to be invented.

Switch open and diode still off is a mode in which the current would have nowhere to go. It is only passed through: what it would do to the diode says
that the diode conducts, and the current goes on from where it was. Later the source blocks the diode of a rectifier, and the current rests at zero.
"""

import math

import tidegate as tg
from tidegate.library import electrical as el


class Freewheeling(tg.Component):
    opens = tg.Parameter(0.1, unit="s", description="when the switch opens")
    V, G, R, L = el.ConstantVoltage(V=12.0), el.Ground(), el.Resistor(R=4.0), el.Inductor(L=0.1)
    switch, diode = el.IdealSwitch(), el.IdealDiode()

    def equations(self):
        yield tg.connect(self.V.p, self.switch.p)
        yield tg.connect(self.switch.n, self.R.p, self.diode.n)
        yield tg.connect(self.R.n, self.L.p)
        yield tg.connect(self.V.n, self.L.n, self.diode.p, self.G.p)
        yield self.switch.control == tg.where(tg.time < self.opens, 1.0, 0.0)


class Rectifier(tg.Component):
    source, diode, G = el.SineVoltage(V=10.0, f=1.0), el.IdealDiode(), el.Ground()
    R, L = el.Resistor(R=2.0), el.Inductor(L=0.3)

    def equations(self):
        yield tg.connect(self.source.p, self.diode.p)
        yield tg.connect(self.diode.n, self.R.p)
        yield tg.connect(self.R.n, self.L.p)
        yield tg.connect(self.source.n, self.L.n, self.G.p)


model = Freewheeling()
t_span = (0.0, 0.2)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, rtol=1e-8, sensitivities=["opens"])
    for event in result.events:
        print(f"{event.time:.3f} s: the current is {event.before['L.i']:.6f} A before and {event.after['L.i']:.6f} A after the switch opens")
    exact = 3.0 * (1.0 - math.exp(-4.0)) * math.exp(-4.0)
    print(f"at the end {result.final['L.i']:.6f} A, exactly {exact:.6f} A; d/d opens = {result.sensitivity('L.i', 'opens')[-1]:.5f} A/s")

    rectified = tg.simulate(Rectifier(), (0.0, 2.5), rtol=1e-8)
    for event in rectified.events:
        print(f"{event.time:.6f} s: the diode {'blocks' if event.after['diode.off'] else 'conducts'}")
