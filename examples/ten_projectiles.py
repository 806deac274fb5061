"""Ten projectiles straight up at 1000 m/s, of random mass and launched at random times; their drag is known from a table.

Each is a process that launches its own variables and its own body, waits until it falls, and stops them. The first example of Maansson's
CONDIS (1980), with a table of our own: the coefficient of drag over the Mach number. What the processes found is compared with ten tight
runs of the same equations by `tg.ode`.
"""

import math
import random

import tidegate as tg

SOUND, G = 340.0, 9.81  # m/s, m/s2
AREA, AIR, HEIGHT = 0.008, 1.225, 7400.0  # m2; kg/m3 at the ground; of the atmosphere, m
coefficient = tg.table([0.0, 0.8, 1.0, 1.2, 1.5, 2.0, 3.0, 4.0], [0.20, 0.20, 0.36, 0.42, 0.38, 0.32, 0.26, 0.24], name="coefficient")

env = tg.Environment(dtmin=1e-9, abserror=1e-8, relerror=1e-8)
falling = []


def retardation(height, speed, mass):
    return 0.5 * AIR * math.exp(-height / HEIGHT) * AREA * coefficient(abs(speed) / SOUND) * speed * abs(speed) / mass


def projectile(number, mass, launch):
    yield env.timeout(launch)
    height, speed = env.variable(0.0, name=f"height{number}", unit="m"), env.variable(1000.0, name=f"speed{number}", unit="m/s")

    @env.continuous
    def flight():
        height.rate = speed.state
        speed.rate = -G - retardation(height.state, speed.state, mass)

    whole = tg.Group(height, speed, flight)
    whole.start()
    yield env.wait_until(lambda: speed.state < 0.0)
    whole.stop()
    falling.append((number, mass, launch, env.now, height.state))


def alone(mass):
    """Time and height of the highest point, by a function of time and state."""

    def motion(t, y):
        height, speed = y
        return [speed, -G - retardation(height, speed, mass)]

    model = tg.ode(motion, y0={"height": 0.0, "speed": 1000.0}, events=[tg.event(lambda t, y: y[1] < 0.0, terminal=True)])
    result = tg.simulate(model, (0.0, 200.0), rtol=1e-11, atol=1e-11)
    return result.t[-1], result.final["height"]


if __name__ == "__main__":
    chance = random.Random(1980)  # noqa: S311, a simulation
    for number in range(10):
        env.process(projectile(number, mass=chance.uniform(20.0, 60.0), launch=chance.uniform(0.0, 10.0)))
    env.run()
    worst = 0.0
    for number, mass, launch, time, height in falling:
        print(f"number {number}  {mass:6.3f} kg  from {launch:9.6f} s to {time:10.6f} s  {height:12.5f} m")
        duration, highest = alone(mass)
        worst = max(worst, abs(duration - (time - launch)), abs(highest - height) / highest)
    print("bodies:", env.result.statistics.extra["bodies"])
    print("ten tight runs agree:", worst < 1e-6)
