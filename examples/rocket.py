"""A rocket straight up and down again: burning, coasting, a parachute, and the ground, each of them ended by a condition.

A process waits for what happens to the rocket, and changes it there: thrust, mass and drag. The engine burns out when the fuel is gone, the
empty stage falls off, the parachute opens on the way down at 1500 m, and the run ends at the ground. An independent run follows: the same
equations phase after phase by `tg.ode`, with another method and with events that end each phase.
"""

import math

import tidegate as tg

G, HEIGHT = 9.81, 7400.0  # m/s2; of the atmosphere, m
EXHAUST = 2200.0  # m/s
STAGE, PAYLOAD = 40.0, 20.0  # kg
BODY, CHUTE = 0.012, 4.0  # drag coefficient times area, times half the density at the ground: kg/m

env = tg.Environment(dtmin=1e-9, abserror=1e-9, relerror=1e-9)
height = env.variable(0.0, name="height", unit="m")
speed = env.variable(0.0, name="speed", unit="m/s")
fuel = env.variable(60.0, name="fuel", unit="kg")
burning = env.parameter(2.0, name="burning", unit="kg/s")
empty = env.parameter(STAGE + PAYLOAD, name="empty", unit="kg")
drag = env.parameter(BODY, name="drag", unit="kg/m")


@env.continuous
def flight():
    mass = empty.value + fuel.state
    air = drag.value * math.exp(-height.state / HEIGHT) * speed.state * abs(speed.state)
    height.rate = speed.state
    speed.rate = (EXHAUST * burning.value - air) / mass - G
    fuel.rate = -burning.value


def tell(what):
    print(f"{what:<16} t = {env.now:11.6f} s  height {height.state:z12.4f} m  speed {speed.state:z10.5f} m/s")


def mission():
    tg.Group(height, speed, fuel, flight).start()
    yield env.wait_until(lambda: fuel.state <= 0.0)
    tell("burnt out")
    fuel.state, burning.value = 0.0, 0.0
    yield env.timeout(3)
    empty.value = PAYLOAD
    tell("stage off")
    yield env.wait_until(lambda: speed.state < 0.0)
    tell("highest point")
    yield env.wait_until(lambda: height.state < 1500.0)
    drag.value = CHUTE
    tell("parachute")
    yield env.wait_until(lambda: height.state < 0.0)
    tell("ground")


def again():
    """The same by functions of time and state, one after another."""

    def phase(start, t0, longest, ends, **p):
        def motion(t, y, p):
            height, speed, fuel = y
            air = p["drag"] * math.exp(-height / HEIGHT) * speed * abs(speed)
            return [speed, (EXHAUST * p["burning"] - air) / (p["empty"] + fuel) - G, -p["burning"]]

        events = [tg.event(ends, terminal=True)] if ends else []
        model = tg.ode(motion, y0=dict(zip(("height", "speed", "fuel"), start, strict=True)), p=p, events=events)
        result = tg.simulate(model, (t0, t0 + longest), rtol=1e-11, atol=1e-11)
        return [result.final[name] for name in ("height", "speed", "fuel")], result.t[-1]

    y, t = phase([0.0, 0.0, 60.0], 0.0, 30.0, None, burning=2.0, empty=STAGE + PAYLOAD, drag=BODY)
    y, t = phase(y, t, 3.0, None, burning=0.0, empty=STAGE + PAYLOAD, drag=BODY)
    y, t = phase(y, t, 1000.0, lambda t, y: y[0] < 1500.0, burning=0.0, empty=PAYLOAD, drag=BODY)
    return phase(y, t, 1000.0, lambda t, y: y[0] < 0.0, burning=0.0, empty=PAYLOAD, drag=CHUTE)


if __name__ == "__main__":
    env.run(env.process(mission()))
    print("bodies:", env.result.statistics.extra["bodies"])
    y, t = again()
    print("a tight run phase after phase agrees:", abs(t - env.now) < 1e-5 and abs(y[1] - speed.state) < 1e-6)
