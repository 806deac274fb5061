"""A search that runs one model again and again: how bouncy must a ball be for its fifth bounce to come after three seconds?

The run is prepared once, and made machine code of its own; `scipy.optimize` says what is run next.
"""

from scipy.optimize import brentq

import tidegate as tg

bounce = tg.event(lambda t, y, p: y["h"] < 0.0, reset=lambda t, y, p: {"h": 0.0, "v": -p["e"] * y["v"]})
ball = tg.ode(lambda t, y, p: {"h": y["v"], "v": -p["g"]}, y0={"h": 1.0, "v": 0.0}, p={"e": 0.9, "g": 9.81}, events=bounce)
t_span = (0.0, 3.5)

if __name__ == "__main__":
    prepared = tg.prepare(ball, t_span, rtol=1e-10, atol=1e-12).compile()

    def too_late(e):
        return prepared.with_parameters(e=e).run().events.times[4] - 3.0

    e = brentq(too_late, 0.82, 0.9, xtol=1e-12)
    print(f"e = {e:.9f}")

    # thousands more, each of some microseconds: how much the time of that bounce scatters if e does
    near = [prepared.with_parameters(e=e + 1e-4 * (k - 50)).run().events.times[4] for k in range(101)]
    print(f"from {min(near):.6f} to {max(near):.6f} s")
