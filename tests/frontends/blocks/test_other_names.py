"""Names that blocks have in other programs are answered by names that exist."""

from __future__ import annotations

import re

import pytest

import tidegate as tg
from tidegate.frontends.blocks import library


def test_what_other_programs_call_a_block_is_answered_with_one_that_there_is() -> None:
    answers = library._CALLED_OTHERWISE  # pyright: ignore[reportPrivateUsage]
    assert not set(answers) & set(library.__all__)
    for name, hint in answers.items():
        with pytest.raises(tg.UnknownNameError) as caught:
            getattr(tg.blocks, name)
        assert caught.value.hint == hint
        for told in re.findall(r"(?<![.\w])([A-Z]\w+)(?=\(|$|,| (?:or|and|takes))", hint):
            assert told in library.__all__, f"{name}: {told}"


def test_a_name_is_found_by_the_part_it_begins_with() -> None:
    diagram = tg.Diagram("d")
    diagram.motor = tg.blocks.TransferFunction([1.0], [1.0, 1.0])(1.0)
    with pytest.raises(tg.UsageError, match="no start value of 'motor'") as caught:
        tg.simulate(diagram, (0, 1), y0={"motor": 1.0})
    assert "motor.state1" in str(caught.value)


@pytest.mark.slow
def test_a_sampler_behind_a_delay_of_noise_is_told_where_the_noise_goes() -> None:
    b = tg.blocks

    def loop(*, is_before: bool) -> tg.Diagram:
        diagram = tg.Diagram("loop")
        diagram.plant = b.FirstOrderLag(1.0)
        diagram.noise = b.Noise(period=0.1, deviation=0.1)
        diagram.seen = b.TransportDelay(0.3)(diagram.plant + diagram.noise) if is_before else b.TransportDelay(0.3)(diagram.plant) + diagram.noise
        diagram.hold = b.ZeroOrderHold(0.1)(diagram.seen)
        diagram.plant(1.0 - diagram.hold)
        return diagram

    with pytest.raises(tg.InvalidModelError, match="add them up behind the delay, or sample a state"):
        tg.prepare(loop(is_before=True), (0, 1))
    tg.prepare(loop(is_before=False), (0, 1))  # which can be done
