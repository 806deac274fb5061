"""A ship and its rudder, in the style of SimPy: one process sails, another turns the rudder at t = 1 and back at t = 2.

The model of Maansson's CONDIS (1980). All of the ship is one group, which starts and stops together. The table has a row before and behind
each event; it agrees with tight steps of Runge-Kutta-England in all digits.
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


def rudder():
    yield env.timeout(1)
    delta.state = 0.1
    yield env.timeout(1)
    delta.state = 0.0


def voyage():
    ship.start()
    yield env.timeout(10)
    ship.stop()


if __name__ == "__main__":
    print("  t" + "".join(f"{name:>13}" for name in ("x", "y", "v", "r", "psi", "delta")))
    env.process(rudder())
    env.run(env.process(voyage()))
