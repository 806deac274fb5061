"""Start values that are said to hold, of variables that are no states: those of states give way to them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tidegate as tg


def chain(ratios: list[float], inertias: list[float], starts: dict[str, dict[str, Any]]) -> tg.Component:
    """Wheels of which each turns as the one before, times a ratio; ``starts`` are attributes of their angles and speeds, by name."""
    n = len(inertias)
    declared: dict[str, Any] = {f"{name}{k}": tg.State(**starts.get(f"{name}{k}", {})) for k in range(n) for name in ("phi", "w")}
    declared |= {"tau": tg.Algebraic(np.zeros(n + 1)), "torque": tg.Parameter(0.7)}

    def equations(self: Any) -> Iterator[Any]:
        yield self.tau[0] == self.torque
        yield self.tau[n] == 0.0
        for k in range(n):
            phi, w = getattr(self, f"phi{k}"), getattr(self, f"w{k}")
            yield tg.der(phi) == w
            # what turns a wheel comes from the one before, what turns the next is taken from it
            yield inertias[k] * tg.der(w) == self.tau[k] - (ratios[k] * self.tau[k + 1] if k < n - 1 else 0.0)
            if k:
                yield phi == ratios[k - 1] * getattr(self, f"phi{k - 1}")

    return type("Chain", (tg.Component,), {**declared, "equations": equations})()


@pytest.mark.parametrize("seed", range(6))
def test_random_chains_of_gears_start_where_a_wheel_that_is_no_state_was_fixed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    ratios, inertias = rng.uniform(0.3, 3.0, n - 1) * rng.choice([-1.0, 1.0], n - 1), rng.uniform(0.5, 2.0, n)
    of_first = np.cumprod([1.0, *ratios])  # angle of each wheel by that of the first
    angle, speed = float(rng.normal()), float(rng.normal())
    chosen = int(rng.integers(n))
    fixed, moved = (int((chosen + rng.integers(1, n)) % n) for _ in "ab")
    starts: dict[str, dict[str, Any]] = {f"phi{chosen}": {"state_select": "always"}, f"w{chosen}": {"state_select": "always"}}
    starts |= {f"phi{fixed}": {"start": angle * of_first[fixed], "fixed": True}, f"w{moved}": {"start": speed * of_first[moved], "fixed": True}}
    rate = 0.7 / float(np.sum(inertias * of_first**2))
    result = tg.simulate(chain(list(ratios), list(inertias), starts), (0.0, 1.0), rtol=1e-8)
    for k in range(n):
        assert result[f"phi{k}"].values[[0, -1]] == pytest.approx(of_first[k] * np.array([angle, angle + speed + rate / 2]), rel=1e-7)
        assert result[f"w{k}"].values[[0, -1]] == pytest.approx(of_first[k] * np.array([speed, speed + rate]), rel=1e-7)


def pendulum(**starts: dict[str, Any]) -> tg.Component:
    """By its angle, with its coordinates beside it; whichever of them is asked for may be fixed."""
    declared: dict[str, Any] = {name: tg.State(**starts.get(name, {})) for name in ("phi", "w", "x")}
    declared |= {name: tg.Algebraic(**starts.get(name, {})) for name in ("vx", "y")} | {"length": tg.Parameter(1.3)}

    def equations(self: Any) -> Iterator[Any]:
        yield tg.der(self.phi) == self.w
        yield tg.der(self.w) == -9.81 / self.length * np.sin(self.phi)
        yield self.x == self.length * np.sin(self.phi)
        yield self.y == -self.length * np.cos(self.phi)
        yield tg.der(self.x) == self.vx

    return type("Pendulum", (tg.Component,), {**declared, "equations": equations})()


@pytest.mark.parametrize("seed", range(4))
def test_a_pendulum_begins_where_its_coordinate_and_speed_are_fixed(dae_method: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, vx = float(rng.uniform(-1.0, 1.0)), float(rng.uniform(-2.0, 2.0))
    phi = math.asin(x / 1.3)
    states = {"phi": {"state_select": "always"}, "w": {"state_select": "always"}}
    found = tg.simulate(pendulum(x={"start": x, "fixed": True}, vx={"start": vx, "fixed": True}, **states), (0.0, 2.0), rtol=1e-8, method=dae_method)
    equal = tg.simulate(pendulum(phi={"start": phi}, w={"start": vx / (1.3 * math.cos(phi))}), (0.0, 2.0), rtol=1e-8, method=dae_method)
    assert found["x"].values[0] == pytest.approx(x, rel=1e-10)
    assert found.final == pytest.approx(equal.final, rel=1e-5, abs=1e-5)


def test_the_start_that_is_nearest_to_the_guess_is_taken() -> None:
    for guess, sign in ((0.5, 1.0), (2.5, -1.0)):
        model = pendulum(
            phi={"start": guess, "fixed": False, "state_select": "always"}, w={"state_select": "always"}, x={"start": 0.6, "fixed": True}
        )
        assert tg.simulate(model, (0.0, 0.1))["y"].values[0] == pytest.approx(-sign * math.sqrt(1.3**2 - 0.36), rel=1e-10)


class Cooled(tg.Component):
    """What flows out is fixed at the start, and how full it is follows."""

    level = tg.State()
    outflow = tg.Algebraic(lambda self: self.first, fixed=True)
    first, k = tg.Parameter(1.5), tg.Parameter(2.0)

    def equations(self) -> Iterator[Any]:
        yield tg.der(self.level) == -self.outflow
        yield self.outflow == self.k * self.level + 0.1 * self.level**3


def test_an_algebraic_variable_that_is_fixed_determines_a_state(dae_method: str) -> None:
    result = tg.simulate(Cooled(), (0.0, 0.1), sensitivities=["first", "k"], rtol=1e-9, method=dae_method)
    (level,) = (root.real for root in np.roots([0.1, 0.0, 2.0, -1.5]) if abs(root.imag) < 1e-12)
    assert (result["level"].values[0], result["outflow"].values[0]) == pytest.approx((level, 1.5), rel=1e-10)
    slope = 2.0 + 0.3 * level**2
    assert result.sensitivity("level", "first")[0] == pytest.approx(1.0 / slope, rel=1e-9)
    assert result.sensitivity("level", "k")[0] == pytest.approx(-level / slope, rel=1e-9)
    assert tg.simulate(Cooled(), (0.0, 0.1), parameters={"first": 2.1})["level"].values[0] == pytest.approx(1.0, rel=1e-10)


def test_an_algebraic_variable_of_a_part_is_fixed_from_outside() -> None:
    class Whole(tg.Component):
        tank = Cooled(outflow=tg.start(2.1, fixed=True))

        def equations(self) -> list[Any]:
            return []

    assert tg.simulate(Whole(), (0.0, 0.1))["tank.level"].values[0] == pytest.approx(1.0, rel=1e-10)


def test_of_coordinates_between_which_is_chosen_a_sum_may_be_fixed() -> None:
    class Bead(tg.Component):
        x, y, s = tg.State(0.6, fixed=False), tg.State(-0.8, fixed=False), tg.Algebraic(-0.1, fixed=True)
        u, v, pull = tg.State(0.0, fixed=False), tg.State(0.0, fixed=False), tg.Algebraic()

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == self.u
            yield tg.der(self.y) == self.v
            yield tg.der(self.u) == -self.pull * self.x
            yield tg.der(self.v) == -self.pull * self.y - 9.81
            yield self.x**2 + self.y**2 == 1.0
            yield self.s == self.x + self.y

    first = tg.simulate(Bead(), (0.0, 0.2)).at(0.0)
    x = (-0.1 + math.sqrt(2.0 - 0.01)) / 2.0
    assert (first["x"], first["y"]) == pytest.approx((x, -0.1 - x), rel=1e-9)


# -- too much, and what cannot be


@pytest.mark.slow
def test_two_that_contradict_each_other_are_refused_by_name() -> None:
    starts: dict[str, dict[str, Any]] = {"phi0": {"state_select": "always"}, "w0": {"state_select": "always"}}
    starts |= {"phi1": {"start": 1.0, "fixed": True}, "phi2": {"start": 4.0, "fixed": True}}
    with pytest.raises(tg.InitializationError, match=r"value 4 of phi2 is to hold, but comes out as 3: it follows from phi1, whose start"):
        tg.simulate(chain([2.0, 3.0], [1.0, 1.0, 1.0], starts), (0.0, 1.0))
    starts["phi2"]["start"] = 3.0  # those that fit may both be said
    assert tg.simulate(chain([2.0, 3.0], [1.0, 1.0, 1.0], starts), (0.0, 1.0))["phi0"].values[0] == pytest.approx(0.5)


def test_a_value_that_was_given_does_not_give_way() -> None:
    class Gear(tg.Component):
        motor, load, torque = tg.State(0.0, state_select="always"), tg.State(0.0), tg.Algebraic()

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.motor) == self.torque
            yield tg.der(self.load) == -self.torque
            yield self.motor == 2.0 * self.load

    def nothing(_self: Any) -> list[Any]:
        return []

    def whole(**given: Any) -> tg.Component:
        return type("Whole", (tg.Component,), {"gear": Gear(**given), "equations": nothing})()

    assert tg.simulate(whole(load=2.0), (0.0, 1.0))["gear.motor"].values[0] == pytest.approx(4.0)
    with pytest.raises(tg.InitializationError, match=r"value 2 of gear\.load is to hold, but comes out as 1\.5: it follows from gear\.motor"):
        tg.simulate(whole(load=2.0, motor=3.0), (0.0, 1.0))


def test_a_value_that_the_equations_do_not_allow_is_refused_by_name() -> None:
    model = pendulum(phi={"state_select": "always"}, w={"state_select": "always"}, x={"start": 2.0, "fixed": True})
    with pytest.raises(tg.InitializationError, match=r"the start value 2 of x is to hold, but comes out as 0: no start was found that has it"):
        tg.simulate(model, (0.0, 1.0))


def test_an_algebraic_variable_without_a_state_behind_it_is_refused_by_name() -> None:
    class Alone(tg.Component):
        x, a = tg.State(1.0), tg.Algebraic(2.0, fixed=True)

        def equations(self) -> Iterator[Any]:
            yield tg.der(self.x) == -self.x
            yield self.a == 3.0 + tg.time

    with pytest.raises(tg.InitializationError, match=r"value 2 of a is to hold, but comes out as 3: it is no state, and there is no start"):
        tg.simulate(Alone(), (0.0, 1.0))


def test_a_start_at_which_the_constraint_says_nothing_to_first_order_is_accepted() -> None:
    model = pendulum(phi={"state_select": "always"}, w={"state_select": "always"}, y={"start": -1.3, "fixed": True})
    assert tg.simulate(model, (0.0, 1.0)).final["phi"] == pytest.approx(0.0, abs=1e-9)


def test_a_declared_value_that_gives_way_is_told_and_shown() -> None:
    starts: dict[str, dict[str, Any]] = {"phi0": {"start": 1.0, "state_select": "always"}, "phi1": {"start": 0.5, "fixed": True}}
    model = chain([2.0], [1.0, 1.0], starts)
    with pytest.warns(tg.StartValueWarning, match=r"1 of phi0 is not used: it starts at 0\.25, since the start value of phi1 is to hold"):
        assert tg.simulate(model, (0.0, 1.0))["phi0"].values[0] == pytest.approx(0.25)
    text = str(tg.show(model))
    assert "hold: w0 = 0, phi1 = 0.5" in text
    assert "guesses, for what is solved for: phi0 = 1" in text
