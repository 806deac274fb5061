"""What becomes of start values that were given to variables which are no states: guesses that choose a solution, or a word that they are not used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidegate as tg


class Tied(tg.Component):
    """y follows from x, by a number: there is one solution, and nothing to guess."""

    x, y, f = tg.State(1.0), tg.State(2.0), tg.Algebraic()

    def equations(self) -> Any:
        yield tg.der(self.x) == self.f
        yield tg.der(self.y) == -self.y - self.f
        yield self.x == 2 * self.y


class Rounded(tg.Component):
    """y is a root of a cubic equation; two are near 1 and -1, the third far away."""

    x, y, f = tg.State(0.5, fixed=True), tg.State(0.1), tg.Algebraic()

    def equations(self) -> Any:
        yield tg.der(self.x) == self.f
        yield tg.der(self.y) == -self.y + 2 * self.f
        yield self.y**2 * (1 + 0.1 * self.y) + self.x**2 == 1


class Sunk(tg.Component):
    """The constraint gives x by a number, so that y is the state; what x is to be is an initial equation."""

    x, y, f, x0 = tg.State(fixed=False), tg.State(0.1), tg.Algebraic(), tg.Parameter(0.0)

    def equations(self) -> Any:
        yield tg.der(self.x) == self.f
        yield tg.der(self.y) == -self.y + 2 * self.f
        yield self.y**3 - 3 * self.y == self.x
        yield tg.initial_equations(self.x == self.x0)


@pytest.mark.slow
def test_a_start_value_that_is_not_used_is_told_by_name() -> None:
    with pytest.warns(tg.StartValueWarning) as caught:
        result = tg.simulate(Tied(), (0.0, 0.1))
    (told,) = caught
    said = "the start value 2 of y is not used: it starts at 0.5, since it follows from x by equation 3 (self.x == 2 * self.y"
    assert str(told.message).startswith(said)
    assert told.filename == __file__
    assert result["y"][0] == pytest.approx(0.5)


@pytest.mark.parametrize(
    "given",
    [{"y": 0.5}, {"y": 0.5004}, {"y": tg.start(fixed=False)}, {"x": 4.0}, {"x": 3.0, "y": tg.start(1.5, fixed=True)}],
    ids=["consistent", "rounded", "a guess", "consistent by the other", "held"],
)
def test_nothing_is_said_of_values_that_fit_or_are_guesses(given: Any) -> None:
    tg.simulate(Tied(**given), (0.0, 0.1))


@pytest.mark.slow
def test_nor_of_a_state_without_a_start_value() -> None:
    class Silent(Tied):
        y = tg.State()

    assert tg.simulate(Silent(), (0.0, 0.1))["y"][0] == pytest.approx(0.5)
    # of two that are one the value that was given counts, whichever comes first

    class Same(tg.Component):
        a, b = tg.State(), tg.State(3.0)

        def equations(self) -> Any:
            yield tg.der(self.a) + tg.der(self.b) == -self.b
            yield self.a == self.b

    assert tg.simulate(Same(), (0.0, 0.1))["a"][0] == 3.0


@pytest.mark.slow
def test_nor_where_something_else_says_how_the_run_begins() -> None:
    class Assigned(Tied):
        @tg.initially
        def begin(self) -> Any:
            return {self.x: 3.0}

    class Solved(Tied):
        def equations(self) -> Any:
            yield tg.initial_equations(self.y == 5.0)

    assert tg.simulate(Assigned(), (0.0, 0.1))["y"][0] == pytest.approx(1.5)
    assert tg.simulate(Solved(), (0.0, 0.1))["x"][0] == pytest.approx(10.0)


def test_a_function_says_so_too() -> None:
    def residual(t: Any, y: Any, ydot: Any, p: Any) -> Any:
        return [ydot["x"] - y["f"], ydot["z"] + y["z"] + y["f"], y["x"] - p["k"] * y["z"]]

    model = tg.dae(residual, y0={"x": 1.0, "z": 2.0, "f": 0.0}, p={"k": 2.0})
    with pytest.warns(tg.StartValueWarning, match="the start value 1 of x is not used: it starts at 4, since it follows from z"):
        tg.simulate(model, (0.0, 0.1))
    tg.simulate(model, (0.0, 0.1), parameters={"k": 0.5})  # where they fit


@pytest.mark.slow
def test_a_guess_beside_a_value_that_must_hold_chooses_the_solution_nearest_to_it() -> None:
    random = np.random.default_rng(5)
    for _ in range(12):
        x = random.uniform(-0.9, 0.9)
        roots = np.sort(np.roots([0.1, 1.0, 0.0, x**2 - 1.0]).real)
        near = random.choice(roots[1:])
        result = tg.simulate(Rounded(x=x, y=near * random.uniform(0.8, 1.2)), (0.0, 1e-6))
        assert float(result["y"][0]) == pytest.approx(near, rel=1e-6)


@pytest.mark.slow
def test_and_so_does_one_beside_an_initial_equation() -> None:
    random = np.random.default_rng(6)
    model = Sunk()
    for _ in range(12):
        x = random.uniform(-1.8, 1.8)
        near = random.choice(np.roots([1.0, 0.0, -3.0, -x]).real)
        result = tg.simulate(Sunk(y=near + random.uniform(-0.2, 0.2), x0=x), (0.0, 1e-6))
        assert (float(result["x"][0]), float(result["y"][0])) == pytest.approx((x, near), rel=1e-6)
    assert tg.show(model).report.starts[0].startswith("hold: y = 0.1")


@pytest.mark.slow
def test_what_must_hold_and_cannot_is_refused_with_the_way_out() -> None:
    with pytest.raises(tg.InitializationError, match="the start value 1 of x is to hold") as caught:
        tg.simulate(Cubic(y=tg.start(fixed=True)), (0.0, 0.1))
    assert "say where one is a guess: fixed=False" in caught.value.hint
    first = tg.simulate(Cubic(y=tg.start(fixed=False)), (0.0, 0.1))["y"].values[0]  # which is that way out
    assert first == pytest.approx(sorted(np.roots([1.0, 0.0, -3.0, -1.0]).real)[1], rel=1e-9)


class Cubic(tg.Component):
    x, y, f = tg.State(1.0, fixed=True), tg.State(0.1), tg.Algebraic()

    def equations(self) -> Any:
        yield tg.der(self.x) == self.f
        yield tg.der(self.y) == -self.y + 2 * self.f
        yield self.y**3 - 3 * self.y == self.x


@pytest.mark.slow
def test_show_tells_which_start_values_hold_which_are_guesses_and_which_say_nothing() -> None:
    assert tg.show(Tied()).report.starts == ("hold: x = 1", "not used, since these follow from others: y = 2")
    assert tg.show(Rounded()).report.starts == ("hold: x = 0.5", "guesses, for what is solved for: y = 0.1")
    assert tg.show(Tied(y=tg.start(fixed=True))).report.starts == ("hold: y = 2", "not used, since these follow from others: x = 1")
    assert tg.show(Tied(x=tg.start(fixed=True), y=tg.start(fixed=True))).report.starts == ("hold: x = 1, y = 2",)
    text = str(tg.show(Tied()))
    assert "start values\n  hold: x = 1\n" in text

    class Free(tg.Component):
        x = tg.State(1.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

    assert tg.show(Free()).report.starts == ()
