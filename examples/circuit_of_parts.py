"""A power supply of parts from the library: transformer, diode, capacitor, load. The diode switches by itself, and each switching is an event.

Parts are connected, and nothing is solved by hand: what a connection says (potentials are equal, currents add up to zero) goes into the equations.
"""

import tidegate as tg
from tidegate.library import electrical as el


class Supply(tg.Component):
    mains = el.SineVoltage(V=325.0, f=50.0)
    transformer = el.IdealTransformer(ratio=25.0)
    winding = el.Resistor(R=0.5)
    diode = el.IdealDiode(knee=0.7)
    smoothing = el.Capacitor(C=2.2e-3)
    load = el.Resistor(R=100.0)
    ground = el.Ground()

    def equations(self):
        yield tg.connect(self.mains.p, self.transformer.p1)
        yield tg.connect(self.transformer.p2, self.winding.p)
        yield tg.connect(self.winding.n, self.diode.p)
        yield tg.connect(self.diode.n, self.smoothing.p, self.load.p)
        yield tg.connect(self.mains.n, self.transformer.n1, self.transformer.n2, self.smoothing.n, self.load.n, self.ground.p)


model = Supply()
t_span = (0.0, 0.06)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, rtol=1e-8, sensitivities=["smoothing.C", "load.R"])
    for event in result.events:
        print(f"{event.time:.6f} s: the diode goes {'off' if event.after['diode.off'] else 'on'} at {event.after['smoothing.v']:.4f} V")
    print(f"at the end: {result.final['load.v']:.5f} V, {1e3 * result.final['load.i']:.4f} mA")
    for name in ("smoothing.C", "load.R"):
        print(f"d load.v / d {name} = {result.sensitivity('load.v', name)[-1]:.5g}")
