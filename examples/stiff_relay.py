"""A fast state follows a slow one, and a relay with two thresholds reverses the drive: stiff, with events that depend on the fast state.

The second state is the current of a slow circuit; the first follows it within a microsecond. When the first rises through 5.8 the relay
drops out, when it falls through 2.5 it pulls in again. The last switch lies 0.35 microseconds before the end of the run.
"""

import tidegate as tg


class Relay(tg.Component):
    y1 = tg.State(4.2, description="fast state, watched by the relay")
    y2 = tg.State(0.3, description="slow state")
    c1 = tg.Parameter(2.7e6, unit="1/s", description="rate of the fast state")
    c3 = tg.Parameter(3.5651205, unit="1/s", description="rate of the slow state")
    c2 = tg.Discrete(0.4, description="offset of the fast state")
    c4 = tg.Discrete(5.5, description="where the slow state is driven to")

    def equations(self):
        yield tg.der(self.y1) == self.c1 * (self.y2 + self.c2 - self.y1)
        yield tg.der(self.y2) == self.c3 * (self.c4 - self.y2)

    @tg.when(lambda self: self.y1 > 5.8)
    def drops_out(self):
        return {self.c2: -0.3, self.c4: 2.73}

    # c2 < 0: the fall from 4.2 in the first microsecond finds the relay pulled in already
    @drops_out.elsewhen(lambda self: self.y1 < 2.5 and self.c2 < 0)
    def pulls_in(self):
        return {self.c2: 0.4, self.c4: 5.5}


model = Relay()
t_span = (0.0, 5.0)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, rtol=1e-8)
    print(result.events)
    print(f"y1 = {result.final['y1']:.2f}, y2 = {result.final['y2']:.6f}")
