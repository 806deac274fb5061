"""A tank and its operator: a process of SimPy that waits for the level, and closes and opens the valve.

The tank flows by its equation between the events; the operator's last wait ends where the level has come down to two metres. Level and valve
are recorded in `env.result`. The statistics say whether the body of the tank was compiled.
"""

import math

import tidegate as tg

env = tg.Environment(dtmin=1e-9, abserror=1e-9, relerror=1e-9)
level = env.variable(2.0, name="level", unit="m")
valve = env.parameter(1.0, name="valve")


@env.continuous
def tank():
    level.rate = 0.3 - valve.value * math.sqrt(level.state)


def operator():
    tg.Group(tank, level).start()
    yield env.timeout(10)  # SimPy's own event
    valve.value = 0.0
    yield env.wait_until(lambda: level.state > 3.0)  # an event of the state
    print(f"t = {env.now:.6f}: full")
    valve.value = 0.5
    yield env.wait_until(lambda: level.state < 2.0)
    print(f"t = {env.now:.6f}: down to {level.state:.6f} m")


log = env.sample(lambda: print(f"    {env.now:9.6f} {level.state:.6f}"), every=5.0)
log.start()


if __name__ == "__main__":
    env.run(env.process(operator()))
    result = env.result
    print(f"{len(result.events)} events; valve at the end {result.final['valve']}")
    print(f"level at t = 11.3, between two samples: {float(result.at(11.3)['level']):.6f} m")
    print("bodies:", result.statistics.extra["bodies"])
