"""Golden circuits whose capacitors are tied together, or to a source; and one whose diode has to save a coil's current."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tidegate as tg
from golden_components import Loop

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "components.json").read_text())
RTOL = 1e-8


def test_two_capacitors_side_by_side_that_must_start_apart_are_refused() -> None:
    with pytest.raises(tg.TidegateError, match=r"(?s)C1.*C2"):
        tg.simulate(Loop(mods={"C2.v": tg.start(3.0, fixed=True)}), (0.0, 1.0))


@pytest.mark.slow
def test_a_start_value_that_was_given_counts_before_the_default_of_another_part(dae_method: str) -> None:
    from tidegate.library import translational

    class Joined(tg.Component):
        first, second, lever = translational.Mass(), translational.Mass(s=0.2, v=-1.0), translational.Lever(ratio=-2.0)

        def equations(self) -> Any:
            yield tg.connect(self.first.flange_b, self.lever.flange_a)
            yield tg.connect(self.second.flange_a, self.lever.flange_b)

    result = tg.simulate(Joined(), (0.0, 1.0), method=dae_method, rtol=1e-9)
    assert [result[name].values[0] for name in ("second.s", "second.v", "first.s")] == pytest.approx([0.2, -1.0, -0.4])
    assert result.final["second.s"] == pytest.approx(-0.8)

    class Rigid(tg.Component):
        first, second = translational.Mass(), translational.Mass(s=0.2)

        def equations(self) -> Any:
            yield tg.connect(self.first.flange_b, self.second.flange_a)

    assert tg.simulate(Rigid(), (0.0, 1.0), method=dae_method).final["first.s"] == pytest.approx(0.2)


def test_two_given_start_values_that_exclude_each_other_are_refused() -> None:
    from tidegate.library import translational

    class Joined(tg.Component):
        first, second, lever = translational.Mass(s=0.5), translational.Mass(s=0.2), translational.Lever(ratio=-2.0)

        def equations(self) -> Any:
            yield tg.connect(self.first.flange_b, self.lever.flange_a)
            yield tg.connect(self.second.flange_a, self.lever.flange_b)

    with pytest.raises(tg.InitializationError, match=r"the start value .* of (first|second)\.s is to hold, but comes out as"):
        tg.simulate(Joined(), (0.0, 1.0))
