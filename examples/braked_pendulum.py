"""A pendulum on a rod with a dry bearing: the friction depends on the force of the rod, and the constraint is kept in one of five ways.

The form HDAE of DSblock 3.3 (Otter 1994): x1 are position and speed, x2 the friction, x3 the force of the rod per length; f3, f4 and f5 say in
accelerations, speeds and positions that the rod keeps its length. The truth is the pendulum's equation for its angle.
"""

import tidegate as tg

FORMS = ("index1", "index1_partly_stabilised", "index1_stabilised", "index2", "index2_stabilised")


def motion(t, y, p):
    return [
        y["vx"],
        y["vy"],
        -y["force"] * y["px"] - y["brake"] * y["vx"],
        -y["force"] * y["py"] - y["brake"] * y["vy"] - p["g"],
    ]


def friction(t, y, p):
    return y["brake"] - p["mu"] * abs(y["force"]) * p["length"]


def in_accelerations(t, y, p):
    speed = y["vx"] ** 2 + y["vy"] ** 2
    return speed - y["force"] * (y["px"] ** 2 + y["py"] ** 2) - p["g"] * y["py"] - y["brake"] * (y["px"] * y["vx"] + y["py"] * y["vy"])


def in_speeds(t, y, p):
    return y["px"] * y["vx"] + y["py"] * y["vy"]


def in_positions(t, y, p):
    return (y["px"] ** 2 + y["py"] ** 2 - p["length"] ** 2) / 2


model = tg.hdae(
    f1=motion,
    f2=friction,
    f3=in_accelerations,
    f4=in_speeds,
    f5=in_positions,
    x1=lambda p: {"px": 0.6 * p["length"], "py": -0.8 * p["length"], "vx": 0.0, "vy": 0.0},
    x2=lambda p: {"brake": 0.8 * p["g"] * p["mu"]},
    x3=lambda p: {"force": 0.8 * p["g"] / p["length"]},
    p={"length": 1.0, "g": 9.81, "mu": 0.01},
    name="braked_pendulum",
)
t_span = (0.0, 10.0)

if __name__ == "__main__":
    for form in FORMS:
        result = tg.simulate(model, t_span, rtol=1e-7, hdae=form)
        drift = result.statistics.extra["drift of F5"]
        print(f"{form:25} ({result.final['px']:.5f}, {result.final['py']:.5f}), off the rod's length by less than 1e-5: {drift < 1e-5}")
    result = tg.simulate(model, t_span, rtol=1e-8, sensitivities=["mu"])
    print(f"d px / d mu = {float(result.sensitivity('px', 'mu')[-1]):.3f}")
