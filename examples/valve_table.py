"""A cylinder filled through a valve on a cam, both known from measured points.

The lift of the cam is a linear table of time: its corners are breaks in the equations, so the run stops at each, and counts it. The flow through the
valve is a cubic table, which is smooth and has none.
"""

import tidegate as tg

lift = tg.table([0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 0.2, 1.0, 0.3, 0.0], name="lift")
flow = tg.table([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 0.1, 0.35, 0.8, 1.5], kind="cubic", name="flow")


def cylinder(t, y, p):
    (pressure,) = y
    return [p["gain"] * flow(lift(t / p["pace"])) * (p["supply"] - pressure)]


model = tg.ode(cylinder, y0={"pressure": 1.0}, p={"gain": 1.0, "pace": 1.0, "supply": 5.0})
t_span = (0.0, 4.0)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, rtol=1e-8, sensitivities=["gain", "pace"])
    print(f"{result.statistics.extra['corners of tables']} corners, {len(result.events)} events")
    print(f"pressure = {result.final['pressure']:.6f}")
    for name in ("gain", "pace"):
        print(f"d pressure / d {name} = {float(result.sensitivity('pressure', name)[-1]):.6f}")
