"""Parameters from noisy measurements: a ball from the times of its bounces, a tank from its levels.

The times of bounces say how bouncy the ball is and how strong gravity: derivatives of event times are exact, and so are those of levels behind the
instant at which the tank begins to overflow.
"""

import numpy as np

import tidegate as tg


class Ball(tg.Component):
    h = tg.State(1.0, unit="m")
    v = tg.State(0.0, unit="m/s")
    e = tg.Parameter(0.9, min=0.0, max=1.0, description="part of the speed that a bounce leaves")
    g = tg.Parameter(9.0, unit="m/s^2", min=0.1)

    def equations(self):
        yield tg.der(self.h) == self.v
        yield tg.der(self.v) == -self.g

    @tg.when(lambda self: self.h < 0)
    def bounce(self):
        return {self.v: -self.e * self.v}


def tank(t, y, p):
    (level,) = y
    return [0.2 - (p["k"] * (level - 1.0) if level > 1.0 else 0.0)]


ball = Ball()
overflow = tg.ode(tank, y0={"level": 0.0}, p={"k": 1.0})
t_span = (0.0, 3.0)

if __name__ == "__main__":
    noise = np.random.default_rng(7)

    # as somebody would hear them with a microphone: of a ball with e = 0.8 and g = 9.81
    fall = np.sqrt(2.0 / 9.81)
    heard = fall + np.concatenate([[0.0], np.cumsum(2.0 * fall * 0.8 ** np.arange(1, 8))]) + 0.002 * noise.normal(size=8)
    found = tg.fit(ball, parameters=["e", "g"], events={"h < 0": heard}, sigma=0.002)
    print(found)
    print()

    # levels of a tank with k = 3, read to a millimetre
    times = np.linspace(4.5, 9.0, 19)
    exact = np.where(times < 5.0, 0.2 * times, 1.0 + 0.2 / 3.0 * (1.0 - np.exp(-3.0 * np.maximum(times - 5.0, 0.0))))
    print(tg.fit(overflow, {"level": (times, exact + 0.001 * noise.normal(size=19))}, {"k": 2.0}))
