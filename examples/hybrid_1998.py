"""The hybrid example of the draft DSblock 4.0a (Otter and Mosterman, 1998): relations, clauses, samples, a ball that is lifted at the start."""

import tidegate as tg


class Hybrid(tg.Component):
    g, hStart = tg.Parameter(9.81), tg.Parameter(1.0)  # noqa: N815 - named as in the draft
    h, v, a = tg.State(0.0), tg.State(0.0), tg.Algebraic()
    u, y1 = tg.Output(), tg.Output()
    y2 = tg.State(0.0)
    yL, trigger = tg.Discrete(False), tg.Discrete(False)  # noqa: N815

    def equations(self):
        yield self.u == tg.time - 2
        yield self.y1 == tg.where(self.u > 1, 1.0, tg.where(self.u < -1, -1.0, self.u))
        yield tg.der(self.h) == self.v  # a jumping ball
        yield tg.der(self.v) == self.a
        yield self.a == -self.g
        yield tg.der(self.y2) == 1.0  # a saw-tooth

    @tg.when(lambda self: self.y1 > 0.5)
    def late(self):
        return {self.yL: True}

    @tg.initially
    def lifted(self):
        return {self.h: self.hStart}

    @tg.when(lambda self: self.h < 0)
    def bounce(self):
        return {self.v: -0.9 * self.v}

    @tg.every(0.5)
    def tooth(self):
        return {self.y2: 0.0}

    @tg.every(0.5)
    def turn(self):
        return {self.trigger: not self.trigger}


model = Hybrid()
t_span = (0.0, 5.0)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, rtol=1e-9)
    print(result.events)
    final = result.final
    print(f"h = {final['h']:.10f}, v = {final['v']:.10f}, y1 = {final['y1']:g}, trigger = {final['trigger']}")
