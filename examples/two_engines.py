"""A ball that bounces, by two engines: our own Radau IIA and SUNDIALS. Where they agree, what is left to doubt is the model.

`print(check)` shows the whole table. Its digits change with every retuning of either engine, so only the verdicts stand here.
"""

import tidegate as tg


class Ball(tg.Component):
    h = tg.State(1.0, unit="m")
    v = tg.State(0.0, unit="m/s")
    g = tg.Parameter(9.81, unit="m/s^2")
    e = tg.Parameter(0.8)

    def equations(self):
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == -self.g

    @tg.when(lambda self: self.h < 0)
    def bounce(self):
        return {self.v: -self.e * self.v}


model = Ball()
t_span = (0.0, 3.5)

if __name__ == "__main__":
    check = tg.cross_check(model, t_span, sensitivities="all", rtol=1e-8)
    print(" and ".join(check.methods), "agree" if check.agrees else "do not agree")
    for difference in sorted(check.differences, key=lambda each: (each.kind, each.name)):
        print(f"{difference.kind}, {difference.name}: {'less' if difference.tolerances < 100 else 'more'} than 100 times rtol")
