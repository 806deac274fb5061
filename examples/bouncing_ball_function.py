"""The bouncing ball as a plain function, with its events beside it: one that changes a state, and one that ends the run.

Without the second the bounces would pile up at a finite time, and the run would stop there with a `ZenoError` that says so. Its condition
becomes true by what the first event does, at the same instant.
"""

import tidegate as tg


def ball(t, y, p):
    return {"h": y["v"], "v": -p["g"]}


bounce = tg.event(lambda t, y: y["h"] < 0, reset=lambda t, y, p: {"v": -p["e"] * y["v"]}, name="bounce")
tired = tg.event(lambda t, y, p: 0.5 * y["v"] ** 2 + p["g"] * y["h"] < 0.5, terminal=True, name="hardly any energy left")

model = tg.ode(
    ball,
    y0={"h": 1.0, "v": 0.0},
    p={"g": 9.81, "e": 0.8},
    units={"h": "m", "v": "m/s", "g": "m/s^2"},
    events=[bounce, tired],
)
t_span = (0.0, 10.0)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, rtol=1e-8, sensitivities=["e"])
    for event in result.events:
        print(f"t = {event.time:.6f}, dt/de = {event.dt_dp['e']:.6f}, v after it = {event.after['v']:.6f}")
    print(f"{result.status}: {result.message}")
