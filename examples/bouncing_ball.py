"""A ball that loses a part of its speed at every bounce: the smallest model with an event that changes a state."""

import tidegate as tg


class Ball(tg.Component):
    h = tg.State(1.0, unit="m", description="height of the ball above the floor")
    v = tg.State(0.0, unit="m/s", description="velocity, upwards")
    e = tg.Parameter(0.8, min=0.0, max=1.0, description="part of the speed that a bounce leaves")

    def equations(self):
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == -9.81

    @tg.when(lambda self: self.h < 0)
    def bounce(self):
        return {self.v: -self.e * self.v}


model = Ball()
t_span = (0.0, 3.5)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, sensitivities=["e"], rtol=1e-8)
    print(result.events)
    print(f"after {len(result.events)} bounces h = {result.final['h']:.8f} m, v = {result.final['v']:.8f} m/s")
