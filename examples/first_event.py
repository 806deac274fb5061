"""A tank that overflows: an ordinary Python `if` becomes an event.

Water flows into a tank. Above one metre it also leaves over a weir. The run finds the instant at which the level
passes the weir, and how every later level depends on the weir's coefficient `k`.
"""

import tidegate as tg


def tank(t, y, p):
    (level,) = y
    outflow = p["k"] * (level - 1.0) if level > 1.0 else 0.0
    return [p["inflow"] - outflow]


model = tg.ode(tank, y0={"level": 0.0}, p={"inflow": 0.2, "k": 3.0})
t_span = (0.0, 20.0)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, sensitivities=["k"])
    for event in result.events:
        print(f"t = {event.time:.6f}: {', '.join(event.causes)}")
    print(f"level = {result.final['level']:.6f}")
    print(f"d level / d k = {float(result.sensitivity('level', 'k')[-1]):.6f}")
