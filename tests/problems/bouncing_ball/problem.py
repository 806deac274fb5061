"""P1, the bouncing ball, as a plain function with an event, and as a component."""

from examples.bouncing_ball import model as component_model

import tidegate as tg

__all__ = ["component_model", "model", "t_span"]


def ball(t, y, p):
    return [y["v"], -9.81]


model = tg.ode(
    ball,
    y0={"h": 1.0, "v": 0.0},
    p={"e": 0.8},
    events=[
        tg.event(
            condition=lambda t, y, p: y["h"] < 0,
            reset=lambda t, y, p: {"v": -p["e"] * y["v"]},
            name="bounce",
        )
    ],
)
t_span = (0.0, 3.5)
