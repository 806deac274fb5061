"""Slips of the pen in declarations are answered in words, at the user's line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tidegate as tg

DECLARE: Any = tg  # what is misspelt is no attribute of the types

SLIPS: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: DECLARE.Flow(units="A"), "tg.Flow takes no units", "did you mean unit?"),
    (lambda: DECLARE.State(1.0, statt=2.0), "tg.State takes no statt", "did you mean start?"),
    (lambda: DECLARE.State(displayUnit="deg"), "tg.State takes no displayUnit", "did you mean display_unit?"),
    (lambda: DECLARE.Algebraic(stateSelect="never"), "tg.Algebraic takes no stateSelect", "did you mean state_select?"),
    (lambda: DECLARE.Parameter(1.0, each=3), "tg.Parameter takes no each", "it takes value, unit, display_unit, quantity, description, min, max"),
    (lambda: DECLARE.InputSignal(units="V"), "tg.InputSignal takes no units", "did you mean unit?"),
    (lambda: DECLARE.Constant(3, min=0), "tg.Constant takes no min", "it takes value, unit"),
    (lambda: DECLARE.Parameter(10.0, "resistance"), "without a name, and was given 'resistance' besides", "write description='resistance'"),
    (lambda: DECLARE.State(1.0, 2.0), "tg.State takes one value without a name, and was given 2.0 besides", "it takes start, unit"),
    (DECLARE.Parameter, "tg.Parameter is given no value", "write tg.Parameter(1.0)"),
    (DECLARE.Discrete, "tg.Discrete is given no value", "write tg.Discrete(1.0)"),
    (lambda: DECLARE.State(unit=3), "unit is 3; a text is expected", "unit="),
]


@pytest.mark.parametrize(("slip", "says", "hint"), SLIPS, ids=[says for _, says, _ in SLIPS])
def test_misspelt_keywords(slip: Callable[[], Any], says: str, hint: str) -> None:
    with pytest.raises(tg.UsageError) as caught:
        slip()
    assert says in str(caught.value)
    assert hint in str(caught.value)
    assert caught.value.origin is not None
    assert caught.value.origin.file.endswith("test_slips_with_declarations.py")


def test_every_declaration_takes_its_texts() -> None:
    texts = {"unit": "K", "display_unit": "degC", "quantity": "Temperature", "description": "how warm it is"}
    kinds = (tg.State, tg.Algebraic, tg.Discrete, tg.Parameter, tg.Constant, tg.Input, tg.Potential, tg.Flow)
    for made in (*(kind(300.0, **texts) for kind in kinds), *(kind(**texts) for kind in (tg.Output, tg.InputSignal, tg.OutputSignal))):
        assert {name: getattr(made, name) for name in texts} == texts


def test_an_output_that_only_its_function_makes_an_array_is_not_read_as_a_number() -> None:
    class Doubled(tg.Component):
        x = tg.State(np.array([0.0, 1.0, 2.0]))
        total = tg.State(0.0)
        two = tg.Output(lambda self: 2 * self.x)

        def equations(self) -> Any:
            yield tg.der(self.x) == np.ones(3)
            yield tg.der(self.total) == np.max(self.two)

    with pytest.raises(tg.UsageError, match=r"two is an array, .*\n.*\n.*add shape=3 to its tg\.Output"):
        tg.simulate(Doubled(), (0.0, 1.0))


def test_an_output_that_is_a_text_is_told_what_it_may_be() -> None:
    class Words(tg.Component):
        x = tg.State(0.0)
        word = tg.Output(lambda self: "hot" if self.x > 0.5 else "cold")

        def equations(self) -> Any:
            yield tg.der(self.x) == 1.0

    with pytest.raises(tg.UsageError, match=r"word: .* is not a number or an expression"):
        tg.simulate(Words(), (0.0, 1.0))
