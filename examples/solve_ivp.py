"""A program written for SciPy's solve_ivp, with one import changed: a cannon whose ball opens a parachute.

The `if` in the function is found and located; the events are functions with `terminal` and `direction`, as SciPy takes them.
"""

import tidegate as tg


def cannon(t, y, drag):
    _, speed = y
    if speed < -5.0:  # the parachute opens
        return [speed, -9.81 + drag * speed * speed]
    return [speed, -9.81]


def hit_ground(t, y, drag):
    return y[0]


def apex(t, y, drag):
    return y[1]


hit_ground.terminal = True
hit_ground.direction = -1

model = tg.ode(lambda t, y, p: cannon(t, y, p["drag"]), y0=[0.0, 30.0], p={"drag": 0.1})  # the same for tg.simulate and the command line
t_span = (0.0, 10.0)

if __name__ == "__main__":
    solution = tg.solve_ivp(cannon, (0, 100), [0.0, 30.0], args=(0.1,), events=(hit_ground, apex), dense_output=True, rtol=1e-9, atol=1e-9)
    print(solution.message)
    print(f"apex   t = {solution.t_events[1][0]:.6f}, height = {solution.y_events[1][0, 0]:.6f}")
    print(f"ground t = {solution.t_events[0][0]:.6f}, speed = {solution.y_events[0][0, 1]:.6f}")
    print(f"height at t = 4: {solution.sol(4.0)[0]:.6f}")
