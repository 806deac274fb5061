"""A pumping station in plain Python: a search left by `break`, pumps counted by a variable, sums over some of them, a check that raises an error."""

import math
from dataclasses import dataclass

import tidegate as tg


@dataclass
class Pump:
    flow: float  # m3/s
    intake: float  # m, below which it draws air


PUMPS = (Pump(0.04, 0.5), Pump(0.06, 1.0), Pump(0.08, 1.5))
SHAFT = ((4.0, 12.0), (2.0, 8.0), (0.0, 5.0))  # from which level on it is how wide, in m2


def area(level):
    if level > 6.0:
        raise ValueError("the shaft overflows")
    width = math.inf
    for bottom, size in SHAFT:
        width = size
        if level >= bottom:
            break
    return width


def rates(t, y, p, d):
    storm = p["rain"] * math.exp(-(((t - 3600.0) / 900.0) ** 2))
    running = PUMPS[: int(d["running"])]
    pumped = sum(pump.flow for pump in running if y["level"] > pump.intake)
    return {"level": (0.01 + storm - pumped) / area(y["level"])}


model = tg.ode(
    rates,
    y0={"level": 1.2},
    p={"rain": 0.12},
    discrete={"running": 0},
    events=[
        tg.event(
            lambda t, y, d: y["level"] > 2.5 + 0.5 * d["running"], reset=lambda t, y, d: {"running": min(d["running"] + 1, len(PUMPS))}, name="on"
        ),
        tg.event(lambda t, y: y["level"] < 1.6, reset=lambda t, y: {"running": 0}, name="off"),
    ],
)

t_span = (0, 7200)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, sensitivities=["rain"])
    switched = [event for event in result.events if event.changes]
    for event in switched[:4]:
        before, after = event.changes["running"]
        print(f"{event.time:7.1f} s  {before:.0f} to {after:.0f} pumps, {event.dt_dp['rain']:+9.1f} s/(m3/s)")
    print(f"{len(switched)} times switched, at most {result['level'].max().item():.2f} m")
    try:
        tg.simulate(model, t_span, parameters={"rain": 0.3})
    except tg.RunError as error:
        print(error.message)
        print(f"the level was {error.result.final['level']:.2f} m, with {error.result.final['running']:.0f} pumps")
