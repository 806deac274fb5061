"""A buck converter in discontinuous conduction: a switch at 20 kHz (time events) and a diode that lets no current back (state events).

The switch is on during the first half of every period. After it opens, the diode carries the coil's current until that reaches zero; the
coil then rests until the switch closes again.
"""

import tidegate as tg


class Buck(tg.Component):
    v = tg.State(0.0, unit="V", description="voltage of the capacitor and the load")
    i = tg.State(0.0, unit="A", description="current through the coil")
    on = tg.Discrete(True, description="the switch is closed")
    blocked = tg.Discrete(False, description="the diode has stopped the current")
    supply = tg.Parameter(24.0, unit="V")
    period = tg.Parameter(50e-6, unit="s", min=0.0, description="of the pulse width modulation, half of it on")
    L = tg.Parameter(100e-6, unit="H", min=0.0)
    C = tg.Parameter(100e-6, unit="F", min=0.0)
    R = tg.Parameter(40.0, unit="Ohm", min=0.0)

    def equations(self):
        yield tg.der(self.v) == (self.i - self.v / self.R) / self.C
        if self.on:
            yield tg.der(self.i) == (self.supply - self.v) / self.L
        elif self.blocked:
            yield tg.der(self.i) == 0.0
        else:
            yield tg.der(self.i) == -self.v / self.L

    @tg.every(lambda self: self.period / 2, start=lambda self: self.period / 2)
    def switches(self):
        return {self.on: not self.on}

    @tg.when(lambda self: not self.on and not self.blocked and self.i < 0)
    def current_stops(self):
        return {self.blocked: True, self.i: 0.0}

    @current_stops.elsewhen(lambda self: self.on)
    def current_starts(self):
        return {self.blocked: False}


model = Buck()
t_span = (0.0, 0.05)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, rtol=1e-8)
    print(f"{len(result.events)} events; v = {result.final['v']:.8f} V, i = {result.final['i']:.3g} A")
