"""What people who come from Modelica write first, and what they are answered."""

from __future__ import annotations

from typing import Any

import pytest

import tidegate as tg


def test_an_equation_that_is_not_yielded_is_told() -> None:
    class Silent(tg.Component):
        x, y = tg.State(1.0), tg.State(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == -self.x
            tg.der(self.y) == self.x  # noqa: B015 - the slip

    with pytest.raises(tg.ModelError, match=r"`tg.der\(self.y\) == self.x` stands there alone, and says nothing") as caught:
        Silent().lower()
    assert "write `yield tg.der(self.y) == self.x`" in str(caught.value)
    assert caught.value.origin is not None
    assert "self.x" in caught.value.origin.text


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("reinit", "return new values of states"),
        ("noEvent", "tg.no_event"),
        ("terminal", "@tg.finally_"),
        ("sin", "math.sin"),
        ("Variable", "tg.State"),
        ("run", "tg.simulate"),
    ],
)
def test_names_of_modelica_are_translated(name: str, says: str) -> None:
    with pytest.raises(tg.UnknownNameError, match=f"there is no tg.{name}") as caught:
        getattr(tg, name)
    assert says in str(caught.value)
    assert not hasattr(tg, name)

    class Counting(tg.Component):
        x = tg.State(0.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == 1

        @tg.when(lambda self: self.x > 1)
        def count(self) -> Any:
            getattr(tg, name)(self.x, 0)

    with pytest.raises(tg.UnknownNameError, match=f"there is no tg.{name}"):
        Counting().lower()


def test_a_variable_declared_above_is_a_value() -> None:
    class Started(tg.Component):
        x0 = tg.Parameter(2.0)
        k = tg.Parameter(x0)
        x = tg.State(x0, fixed=True)
        n = tg.Constant(3)
        m = tg.Constant(n)
        total = tg.Output(x)

        def equations(self) -> Any:
            yield tg.der(self.x) == -self.k * self.m / 3

    class Around(tg.Component):
        inner, other = Started(x0=5.0), Started(x=1.0)

    result = tg.simulate(Started(), (0.0, 1.0), parameters={"x0": 4.0})
    assert (result["x"].values[0], result.final["x"], result.final["total"]) == pytest.approx((4.0, 0.0, 0.0), abs=1e-9)
    final = tg.simulate(Around(), (0.0, 1.0)).final
    assert (final["inner.x"], final["other.x"]) == pytest.approx((0.0, -1.0), abs=1e-9)
