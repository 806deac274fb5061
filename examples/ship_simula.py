"""A ship and its rudder, in the style of Simula: processes that hold, activate each other and are activated.

The same as `ship_processes`, as CONDIS itself would write it; both print the same table.
"""

import math

import tidegate as tg

U0, A1, A11, A2, A22, A3, A4, B1, B2 = 1.0, -0.581, -2.017, -0.335, -12.88, -4.945, -1.822, 0.106, -0.790

env = tg.Environment(dtmin=1e-9, abserror=1e-12, relerror=1e-12)
x, y, v, r, psi, delta = (env.variable(name=name) for name in ("x", "y", "v", "r", "psi", "delta"))


@env.continuous
def motion():
    x.rate = U0 * math.cos(psi.state) + v.state * math.sin(psi.state)
    y.rate = U0 * math.sin(psi.state) + v.state * math.cos(psi.state)
    v.rate = A1 * v.state + A11 * v.state * abs(v.state) + A2 * r.state + B1 * delta.state
    r.rate = A3 * v.state + A4 * r.state + A22 * r.state * abs(v.state) + B2 * delta.state
    psi.rate = r.state


@env.sample(every=1.0)
def table():
    print(f"{env.now:3.0f}" + "".join(f"{variable.state:13.9f}" for variable in (x, y, v, r, psi, delta)))


ship = tg.Group(x, y, v, r, psi, motion, table)  # delta only changes at events, and is not among it


class Rudder(tg.SimulaProcess):
    def actions(self):
        delta.state = 0.1
        yield self.hold(1)
        delta.state = 0.0


class Voyage(tg.SimulaProcess):
    def actions(self):
        ship.start()
        Rudder(env).activate(at=1)
        yield self.hold(10)
        ship.stop()


if __name__ == "__main__":
    print("  t" + "".join(f"{name:>13}" for name in ("x", "y", "v", "r", "psi", "delta")))
    voyage = Voyage(env)
    voyage.activate()
    env.run(voyage)
