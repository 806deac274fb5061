"""What is wrong with a block is said in words, all of a description at once."""

from __future__ import annotations

from typing import Any

import pytest

import tidegate as tg
from tidegate.frontends.dsblock import EventAction


def block(define: Any, **callbacks: Any) -> tg.DSblock:
    """A block of these functions."""
    return type("Block", (tg.DSblock,), {"define": lambda _, declare: define(declare), **callbacks})()


def one_state(declare: Any) -> None:
    declare.state("A")


def test_all_that_a_description_breaks_is_told_together() -> None:
    def define(declare: Any) -> None:
        declare.state("1X")
        declare.state("A", start=float("nan"))
        declare.output("a")
        declare.real("P", 3.0, maximum=2)

    with pytest.raises(tg.InvalidModelError) as told:
        tg.simulate(block(define, derivatives=lambda *_: [0, 0], outputs=lambda *_: 0), (0, 1))
    assert len(told.value.problems) == 4
    for part in ("'1X' is no name", "the name A is taken 2 times", "P = 3, but value <= 2", "A starts with nan"):
        assert part in str(told.value)


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        (lambda *_: {"B": 1.0}, "derivatives of DSblock Block name 'B'"),
        (lambda *_: {}, "lack A"),
        (lambda *_: [1.0, 2.0], "are 2 values"),
        (lambda _, t, x, *__: x.b, "no .*'b'"),
    ],
)
def test_values_that_do_not_fit_are_told_with_the_names_there_are(rates: Any, words: str) -> None:
    with pytest.raises(tg.CallbackError, match=words):
        tg.simulate(block(one_state, derivatives=rates), (0, 1))


def test_missing_and_misspelt_callbacks_are_named() -> None:
    with pytest.raises(tg.UsageError, match="declares what needs derivatives"):
        tg.simulate(block(one_state), (0, 1))
    with pytest.raises(tg.UsageError, match="derivative is no callback"):
        block(one_state, derivative=lambda *_: 0)
    with pytest.raises(tg.UsageError, match="has no define"):
        tg.simulate(tg.DSblock(), (0, 1))


def test_an_event_that_changes_x_must_restart() -> None:
    def define(declare: Any) -> None:
        declare.state("A", start=1.0)
        declare.indicator("Z")

    wrong = block(
        define, derivatives=lambda _, t, x, *__: -x.A, indicators=lambda _, t, x, *__: x.A - 0.5, event=lambda *_: EventAction("continue", x=[1.0])
    )
    with pytest.raises(tg.CallbackError, match="says 'continue'"):
        tg.simulate(wrong, (0, 1))


@pytest.mark.parametrize(
    ("given", "words"), [({"V": 1.0}, "no input 'V'"), ({"U": ([0.0], [1.0])}, "samples give 1 values"), ({"U": "text"}, "cannot be 'text'")]
)
def test_inputs_that_cannot_be_are_refused(given: dict[str, Any], words: str) -> None:
    def define(declare: Any) -> None:
        declare.state("A")
        declare.input("U")

    with pytest.raises(tg.UsageError, match=words):
        tg.simulate(block(define, derivatives=lambda _, t, x, u, *__: u.U), (0, 1), inputs=given)


def test_samples_are_not_used_beyond_their_ends() -> None:
    def define(declare: Any) -> None:
        declare.state("A")
        declare.input("U")

    with pytest.raises(tg.CallbackError, match="has samples from t = 0 to 1") as told:
        tg.simulate(block(define, derivatives=lambda _, t, x, u, *__: u.U), (0, 2), inputs={"U": ([0.0, 1.0], [1.0, 1.0])})
    assert told.value.result is not None
