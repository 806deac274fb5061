"""Pendulums with friction in their bearing, which depends on the force of the rod, in all five forms; truth: the angle alone, for SciPy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import tidegate as tg
from constrained_systems import FORMS

G = 9.81


@dataclass(frozen=True)
class Pendulum:
    """Let go at ``angle`` from below; ``brake`` times the speed is the friction.

    Parameters
    ----------
    corner : how sharply friction turns where force or speed change their signs; 0 for friction in proportion to both.
    """

    friction: float
    angle: float
    corner: float

    def brake(self, force: Any, speed: Any) -> Any:
        if not self.corner:
            return self.friction * force
        return self.friction * (force * force + self.corner**2) ** 0.5 / (speed * speed + self.corner) ** 0.5

    def truth(self, t_end: float) -> Any:
        """px, py, vx, vy."""

        def rates(_: float, q: Any) -> list[float]:
            angle, speed = q
            force = speed * speed + G * math.cos(angle)
            return [speed, -G * math.sin(angle) - self.brake(force, speed) * speed]

        angle, speed = solve_ivp(rates, (0, t_end), [self.angle, 0.0], method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
        return [math.sin(angle), -math.cos(angle), speed * math.cos(angle), speed * math.sin(angle)]

    def model(self) -> tg.FunctionModel:
        return tg.hdae(
            f1=lambda t, y: [y["vx"], y["vy"], -y["force"] * y["px"] - y["brake"] * y["vx"], -y["force"] * y["py"] - G - y["brake"] * y["vy"]],
            f2=lambda t, y: y["brake"] - self.brake(y["force"], y["px"] * y["vy"] - y["py"] * y["vx"]),
            f3=lambda t, y: (
                y["vx"] ** 2
                + y["vy"] ** 2
                - y["force"] * (y["px"] ** 2 + y["py"] ** 2)
                - G * y["py"]
                - y["brake"] * (y["px"] * y["vx"] + y["py"] * y["vy"])
            ),
            f4=lambda t, y: y["px"] * y["vx"] + y["py"] * y["vy"],
            f5=lambda t, y: (y["px"] ** 2 + y["py"] ** 2 - 1) / 2,
            x1={"px": math.sin(self.angle), "py": -math.cos(self.angle), "vx": 0.0, "vy": 0.0},
            x2={"brake": 0.0},
            x3={"force": 0.0},
        )


@pytest.mark.hunt
@pytest.mark.parametrize("pendulum", [Pendulum(0.1, math.pi / 2, 0.0), Pendulum(1.0, 3.0, 0.0), Pendulum(0.02, 3.0, 0.01)], ids=repr)
def test_every_form_comes_to_the_end_at_every_tolerance_and_is_as_exact_as_that(pendulum: Pendulum) -> None:
    truth, model = pendulum.truth(20.0), pendulum.model()
    for form in FORMS:
        for rtol in 10.0 ** -np.arange(4, 11):
            result = tg.simulate(model, (0, 20), rtol=float(rtol), hdae=form, make_consistent=True, method="radau")
            found = [result.final[name] for name in ("px", "py", "vx", "vy")]
            assert found == pytest.approx(truth, abs=200 * rtol + 1e-9), (form, rtol)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["radau", "ida"])
def test_steps_of_a_fiftieth_second_bring_the_angle_after_ten_seconds_to_six_digits(method: str) -> None:
    pendulum = Pendulum(0.1, math.pi / 2, 0.0)
    px, py, _, _ = pendulum.truth(10.0)
    drifts: dict[str, float] = {}
    for form in FORMS:
        result = tg.simulate(pendulum.model(), (0, 10), rtol=1e-8, max_step=0.02, hdae=form, method=method)
        assert math.atan2(result.final["px"], -result.final["py"]) == pytest.approx(math.atan2(px, -py), abs=2e-6), form
        drifts[form] = result.statistics.extra["drift of F5"]
    assert drifts["index1"] < 5e-6
    assert max(drifts["index1_stabilised"], drifts["index2_stabilised"]) < (6e-10 if method == "radau" else 1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_constraints_that_a_form_uses_hold_to_rounding_by_ida_and_the_others_drift(form: str) -> None:
    result = tg.simulate(Pendulum(0.1, math.pi / 2, 0.0).model(), (0, 5), rtol=1e-8, max_step=0.02, hdae=form, method="ida")
    used = {"index1": "", "index1_partly_stabilised": "4", "index1_stabilised": "45", "index2": "4", "index2_stabilised": "45"}[form]
    for part in "45":
        drift = result.statistics.extra[f"drift of F{part}"]
        assert drift < 1e-13 if part in used else 1e-10 < drift < 1e-5, (part, drift)


def toggled_truth(drag: float, threshold: float, start: list[float], t_end: float) -> tuple[NDArray[np.float64], int]:
    """Angle and speed at the end, how often the force rises through a threshold, which switches drag on and off."""

    def rises(_: float, q: Any) -> float:
        return q[1] ** 2 + G * math.cos(q[0]) - threshold

    rises.terminal, rises.direction = True, 1.0  # type: ignore[attr-defined]
    t, q, count = 0.0, np.array(start), 0
    while t < t_end:
        now = drag * (count % 2)
        run = solve_ivp(
            lambda _, q, now=now: [q[1], -G * math.sin(q[0]) - now * q[1]], (t, t_end), q, method="DOP853", rtol=1e-12, atol=1e-13, events=rises
        )
        t, q = float(run.t[-1]), run.y[:, -1]
        count += run.status
        if run.status == 1:
            # off the zero, so that it is not found again; drag does not change the force
            back = solve_ivp(lambda _, q: [q[1], -G * math.sin(q[0]) - drag * (count % 2) * q[1]], (t, t + 1e-6), q, rtol=1e-12, atol=1e-13)  # noqa: B023
            t, q = t + 1e-6, back.y[:, -1]
    return q, count


@pytest.mark.slow
@pytest.mark.parametrize("method", ["radau", "ida"])
@pytest.mark.parametrize("seed", range(4))
def test_an_event_on_a_force_that_changes_friction_happens_once_in_every_form(seed: int, method: str) -> None:
    random = np.random.default_rng(seed)
    drag, threshold, angle, speed = (float(x) for x in random.uniform([0.2, 3.0, 0.8, -1.0], [0.9, 9.0, 1.4, 1.0]))
    q, count = toggled_truth(drag, threshold, [angle, speed], 2.0)

    def pulls(y: Any, p: Any, d: Any) -> tuple[Any, Any]:
        return -y["force"] * y["px"] - d["drag"] * y["vx"], -y["force"] * y["py"] - d["drag"] * y["vy"] - G

    def f3(t: Any, y: Any, p: Any, d: Any) -> Any:
        ax, ay = pulls(y, p, d)
        return y["vx"] ** 2 + y["vy"] ** 2 + y["px"] * ax + y["py"] * ay

    model = tg.hdae(
        f1=lambda t, y, p, d: [y["vx"], y["vy"], *pulls(y, p, d)],
        f3=f3,
        f4=lambda t, y, p, d: y["px"] * y["vx"] + y["py"] * y["vy"],
        f5=lambda t, y, p, d: (y["px"] ** 2 + y["py"] ** 2 - 1) / 2,
        x1=lambda p: {
            "px": np.sin(p["angle"]), "py": -np.cos(p["angle"]), "vx": p["speed"] * np.cos(p["angle"]), "vy": p["speed"] * np.sin(p["angle"]),
        },
        x3={"force": 0.0}, discrete={"drag": 0.0, "n": 0.0}, p={"angle": angle, "speed": speed},
        events=tg.event(lambda t, y, p, d: y["force"] > threshold, lambda t, y, p, d: {"drag": drag - d["drag"], "n": d["n"] + 1}, name="rises"),
    )  # fmt: skip
    wanted = [math.sin(q[0]), -math.cos(q[0]), q[1] * math.cos(q[0]), q[1] * math.sin(q[0])]
    h = 1e-4
    moved = [toggled_truth(drag, threshold, [angle + k * h, speed], 2.0)[0] for k in (1, -1)]
    slope = (np.sin(moved[0][0]) - np.sin(moved[1][0])) / (2 * h)
    for form in FORMS:
        for rtol in (1e-6, 1e-9):
            result = tg.simulate(model, (0, 2), rtol=rtol, hdae=form, make_consistent=True, method=method, sensitivities=["angle"])
            assert result.final["n"] == count, form
            assert [result.final[name] for name in ("px", "py", "vx", "vy")] == pytest.approx(wanted, abs=300 * rtol + 1e-7), form
            assert result.sensitivity("px", "angle")[-1] == pytest.approx(slope, abs=1e-3), form
