"""A tank that fills, overflows and drains, judged by its own function: called as plain Python along the result, it must agree with every step."""

import tidegate as tg


def tank(t, y, p):
    inflow = 1.0 if t < 2.0 else 0.0
    overflow = p["k"] * max(y["level"] - p["edge"], 0.0)
    return {"level": inflow - overflow, "spilt": overflow, "wet": 1.0 if max(y["level"] - p["edge"], 0.0) > 0 else 0.0}


def forgetful(t, y, p):
    """The same without the edge: what a run would give that never saw it."""
    return {"level": 1.0 if t < 2.0 else 0.0, "spilt": 0.0, "wet": 0.0}


START, VALUES = {"level": 0.0, "spilt": 0.0, "wet": 0.0}, {"k": 3.0, "edge": 1.0}
model = tg.ode(tank, y0=START, p=VALUES)
t_span = (0.0, 4.0)

if __name__ == "__main__":
    check = tg.verify(tg.simulate(model, t_span, rtol=1e-5))
    print("ok" if check.ok else "wrong", "by", check.truth)
    wrong = tg.simulate(tg.ode(forgetful, y0=START, p=VALUES), t_span, rtol=1e-5)
    for finding in sorted(tg.verify(wrong, source=model).wrong, key=lambda each: each.name):
        print(f"{finding.kind} {finding.name}: wrong")
