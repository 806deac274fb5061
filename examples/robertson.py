"""Three chemical reactions over twelve decades of time: a smooth, stiff differential-algebraic system (H. H. Robertson 1966).

The third equation says that the concentrations add up to one. Nothing switches; the example shows derivatives with
respect to rate constants whose sizes differ by nine decades.
"""

import tidegate as tg


def reactions(t, y, ydot, p):
    y1, y2, y3 = y
    slow = p["p1"] * y1
    back = p["p2"] * y2 * y3
    fast = p["p3"] * y2**2
    return [
        ydot["y1"] + slow - back,
        ydot["y2"] - slow + back + fast,
        y1 + y2 + y3 - 1.0,
    ]


rates = {"p1": 0.04, "p2": 1e4, "p3": 3e7}
model = tg.dae(reactions, y0={"y1": 1.0, "y2": 0.0, "y3": 0.0}, ydot0={"y1": -0.04, "y2": 0.04}, p=rates)
t_span = (0.0, 4e4)

if __name__ == "__main__":
    result = tg.simulate(model, t_span, rtol=1e-8, atol=1e-14, sensitivities="all")
    for name in ("y1", "y2", "y3"):
        slopes = ", ".join(f"d/d{rate} = {float(result.sensitivity(name, rate)[-1]):.5e}" for rate in rates)
        print(f"{name} = {result.final[name]:.6e}, {slopes}")
