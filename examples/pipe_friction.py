"""A reservoir empties through a pipe whose friction factor has no formula: an opaque function iterates it.

The factor of Colebrook and White stands on both sides of its equation, so a `while` loop repeats until the number settles. How often it
turns depends on data, which no symbolic model can follow; `tg.opaque` has the function called as it is, with differences for derivatives.
"""

from math import log10, pi, sqrt

import tidegate as tg

DIAMETER = 0.1  # m
LENGTH = 50.0  # m
SURFACE = 2.0  # m^2, of the reservoir
ROUGHNESS = 1e-4  # m
VISCOSITY = 1e-6  # m^2/s
GRAVITY = 9.81  # m/s^2


@tg.opaque
def friction_factor(speed):
    reynolds = max(speed * DIAMETER / VISCOSITY, 1.0)
    factor, last = 0.02, 0.0
    while abs(factor - last) > 1e-14:
        last = factor
        factor = (-2.0 * log10(ROUGHNESS / (3.7 * DIAMETER) + 2.51 / (reynolds * sqrt(factor)))) ** -2
    return factor


def reservoir(t, y, p):
    level, speed = y
    head = speed**2 / (2.0 * GRAVITY)
    losses = (1.0 + friction_factor(speed) * LENGTH / DIAMETER) * head
    return {
        "level": -speed * pi * DIAMETER**2 / (4.0 * SURFACE),
        "speed": GRAVITY / LENGTH * (level + p["fall"] - losses),
    }


half_empty = tg.event(lambda t, y, p: y["level"] < 1.0, terminal=True, name="half empty")
model = tg.ode(
    reservoir,
    y0={"level": 2.0, "speed": 0.1},
    p={"fall": 1.0},
    units={"level": "m", "speed": "m/s", "fall": "m"},
    events=half_empty,
)
t_span = (0.0, 600.0)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, rtol=1e-8, sensitivities=["fall"])
    last = result.events[-1]
    print(f"{result.status} at {last.time:.3f} s: {result.message}; the water leaves with {result.final['speed']:.5f} m/s")
    print(f"each metre of fall changes that time by {last.dt_dp['fall']:.2f} s")
