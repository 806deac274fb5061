"""A rectifier of twelve pulses: two bridges of ideal diodes side by side, whose sources are 30 degrees apart. Beside it the one bridge of six pulses.

Parts of parts, and arrays of them. Which of the twelve diodes conduct is found at each event, also at the start, where both bridges float.
"""

import numpy as np

import tidegate as tg
from tidegate.library import electrical as el


class Bridge(tg.Component):
    """Three sources with a star of their own, their inductances, six diodes."""

    plus, minus = el.Pin(), el.Pin()
    phase = tg.Parameter(0.0, unit="rad")
    source = tg.Array(el.SineVoltage, 3, V=100.0, f=50.0, phase=lambda self, k: self.phase - 2.0 * np.pi * k / 3.0)
    coil, wire = tg.Array(el.Inductor(L=2e-4, i=tg.start(0.0)), 3), tg.Array(el.Resistor(R=0.05), 3)
    high, low = tg.Array(el.IdealDiode(), 3), tg.Array(el.IdealDiode(), 3)

    def equations(self):
        yield tg.connect(*(self.source[k].n for k in range(3)))
        for k in range(3):
            yield tg.connect(self.source[k].p, self.coil[k].p)
            yield tg.connect(self.coil[k].n, self.wire[k].p)
            yield tg.connect(self.wire[k].n, self.high[k].p, self.low[k].n)
            yield tg.connect(self.high[k].n, self.plus)
            yield tg.connect(self.low[k].p, self.minus)


class Rectifier(tg.Component):
    """Bridges on one capacitor and one load."""

    n = tg.Constant(2)
    bridge = tg.Array(Bridge, lambda self: self.n, phase=lambda self, k: 0.3 + k * np.pi / 6.0)
    C, load, ground = el.Capacitor(C=2e-3, v=tg.start(0.0, fixed=True)), el.Resistor(R=10.0), el.Ground()

    def equations(self):
        for k in range(self.n):
            yield tg.connect(self.bridge[k].plus, self.C.p)
            yield tg.connect(self.bridge[k].minus, self.C.n)
        yield tg.connect(self.C.p, self.load.p)
        yield tg.connect(self.C.n, self.load.n, self.ground.p)


model = Rectifier()
t_span = (0.0, 0.1)

if __name__ == "__main__":
    for pulses, rectifier in ((6, Rectifier(n=1)), (12, model)):
        result = tg.simulate(rectifier, t_span, outputs=np.linspace(0.08, 0.1, 2001))
        v = result["C.v"].values
        print(f"{pulses:2d} pulses: {v.mean():.2f} V, ripple {v.max() - v.min():.2f} V, {len(result.events)} events")
