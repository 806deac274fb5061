"""A rectifier circuit with three modes: eight differential and algebraic equations with nested conditions (M. B. Carver 1978).

Two diode branches with currents x1 and x2 feed a load of resistance r3 and inductance l3. Which branch conducts depends on
currents and voltages together; every half period of the source both conduct for a while.
"""

from math import cos, pi

import tidegate as tg


def circuit(t, y, ydot, p):
    x1, x2, x3, v1, v2, v3, z3, z4 = y
    if (x1 > 0 or v1 > v3) and (x2 <= 0 and v2 < v3):
        slope1 = (v1 - p["a1"] * x1) / p["a2"]
        slope2 = 0.0
    elif (x2 > 0 or v2 > v3) and (x1 < 0 and v1 < v3):
        slope1 = 0.0
        slope2 = (v2 - p["a3"] * x2) / p["a4"]
    else:
        slope1 = p["a5"] * v1 + p["a6"] * v2 + p["a7"] * x1 + p["a8"] * x2
        slope2 = p["a9"] * v1 + p["a10"] * v2 + p["a11"] * x1 + p["a12"] * x2
    return [
        x1 + x2 - x3,
        p["r3"] * (x1 + x2) + p["l3"] * (ydot["x1"] + ydot["x2"]) - v3,
        100.0 * cos(100.0 * pi * t) - v1,
        -v1 - v2,
        v1 - v3 - z3,
        v2 - v3 - z4,
        ydot["x1"] - slope1,
        ydot["x2"] - slope2,
    ]


parameters = {
    "a1": 12.0,
    "a2": 0.24,
    "a3": 12.0,
    "a4": 0.24,
    "a5": 13.64,
    "a6": -11.64,
    "a7": -50.0,
    "a8": 0.0,
    "a9": -11.64,
    "a10": 13.64,
    "a11": 0.0,
    "a12": -50.0,
    "r3": 10.0,
    "l3": 0.2,
}
start = {
    "x1": 0.0,
    "x2": 0.0,
    "x3": 0.0,
    "v1": 100.0,
    "v2": -100.0,
    "v3": 250.0 / 3.0,
    "z3": 50.0 / 3.0,
    "z4": -550.0 / 3.0,
}
model = tg.dae(circuit, y0=start, ydot0={"x1": 1250.0 / 3.0}, p=parameters)
t_span = (0.0, 0.05)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, rtol=1e-8, atol=1e-10, sensitivities=["a5"])
    for event in result.events:
        print(f"t = {event.time:.9f} s, moved by {1e6 * event.dt_dp['a5']:z.3f} microseconds per unit of a5")
    print(f"x2 = {result.final['x2']:.8f}")
    print(f"dx2/da5 = {float(result.sensitivity('x2', 'a5')[-1]):.8f}")
