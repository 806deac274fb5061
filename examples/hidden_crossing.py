"""Two crossings inside one step: a switching equation that sign tests at step ends get wrong.

The cubic `x**3 - 5*x**2 + 7*x` rises to 3 at x = 1, only a tenth above `p`, and falls below `p` again a moment later. An integrator that
looks at the sign of its condition at the ends of a step sees nothing at all.
"""

import tidegate as tg


def switching(t, y, p):
    (x,) = y
    if x**3 - 5.0 * x**2 + 7.0 * x <= p["p"]:
        return [4.0 - x]
    return [10.0 - 2.0 * x]


model = tg.ode(switching, y0={"x": 0.0}, p={"p": 2.9})
t_span = (0.0, 2.0)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, rtol=1e-8, atol=1e-10, sensitivities=["p"])
    for event in result.events:
        print(f"t = {event.time:.9f}, dt/dp = {event.dt_dp['p']:.6f}: {', '.join(event.causes)}")
    print(f"x = {result.final['x']:.9f}")
    print(f"dx/dp = {float(result.sensitivity('x', 'p')[-1]):.6f}")
