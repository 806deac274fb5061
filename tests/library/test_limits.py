"""What a part stores is above zero: a class with such a parameter refuses 0 by the part's path, where it is built, and where parameters are set."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import tidegate as tg
from golden_components import SeriesParallel
from tidegate import library
from tidegate.frontends.components.component import Component

__all__: list[str] = []

STORED = {
    "Capacitor": "C", "Inductor": "L", "Transformer": "L2", "Mass": "m", "StoppedMass": "m", "Inertia": "J", "HeatCapacitor": "C", "Tank": "A",
}  # fmt: skip


def classes() -> dict[str, type[Any]]:
    found: dict[str, type[Any]] = {}
    for domain in library.__all__:
        module = importlib.import_module(f"tidegate.library.{domain}")
        found |= {name: value for name in module.__all__ if isinstance(value := getattr(module, name), type) and issubclass(value, Component)}
    return found


@pytest.mark.parametrize("name", sorted(STORED))
def test_zero_is_refused_by_the_path_of_the_part(name: str) -> None:
    part, key = classes()[name], STORED[name]

    class Whole(tg.Component):
        stored = part(**{key: 0.0})

    with pytest.raises(tg.TidegateError, match=rf"parameter stored\.{key}: its (start )?value 0 must be more than 0"):
        tg.simulate(Whole(), (0.0, 1.0))


def test_zero_is_refused_when_parameters_are_set() -> None:
    with pytest.raises(tg.UsageError, match=r"parameter C1\.C: its value 0 must be more than 0"):
        tg.simulate(SeriesParallel(), (0.0, 1.0), parameters={"C1.C": 0.0})


def test_a_limit_that_excludes_itself_is_public() -> None:
    class Own(tg.Component):
        T = tg.Parameter(2.0, min=tg.Bound(0.0, is_open=True), max=tg.Bound(3.0))
        x = tg.State(1.0)

        def equations(self) -> Any:
            yield tg.der(self.x) == -self.x / self.T

    tg.simulate(Own(), (0.0, 1.0), parameters={"T": 3.0})
    with pytest.raises(tg.UsageError, match="T: its value 0 must be more than 0 and at most 3"):
        tg.simulate(Own(), (0.0, 1.0), parameters={"T": 0.0})
