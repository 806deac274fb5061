"""Functions in blocks are compared with themselves, as those of equations and components are: a wrong path, or two answers, is no result."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tidegate as tg
from tidegate.csmp.language import CsmpProgram, read

b = tg.blocks
GOLDEN = Path(__file__).parents[2] / "golden" / "csmp"


def program(name: str) -> CsmpProgram:
    return read(GOLDEN / f"{name}.mod")[0]


def looped(block: Any) -> tg.Diagram:
    diagram = tg.Diagram("loop")
    diagram.state = b.Integrator(start=1.0)
    diagram.user = block
    diagram.connect(-1.0 * diagram.state, diagram.user.x1)
    diagram.connect(diagram.user, diagram.state.rate)
    return diagram


def drawn(x):
    return x * random.random()


def counted() -> Callable[..., Any]:
    calls: list[int] = []

    def function(x):
        calls.append(0)
        return x * len(calls)

    return function


def is_symbol(x) -> bool:
    return "user" in repr(x) or "state" in repr(x)


def told_apart_by_text(x):
    return x if is_symbol(x) else -x


def told_apart_in_a_branch(x, p):
    if x > p.level:
        return 2.0 if is_symbol(x) else 1.0
    return 0.5


WRONG = {
    "random": (lambda: b.UserBlock(drawn), "gives two answers to one question"),
    "counted": (lambda: b.UserBlock(counted()), "gives two answers to one question"),
    "text": (lambda: b.UserBlock(told_apart_by_text), "was not followed rightly"),
    "text in a branch": (lambda: b.UserBlock(told_apart_in_a_branch, p={"level": 5.0}), "was not followed rightly"),
    "interpolation": (lambda: b.Function([0.0, 1.0], [0.0, 1.0], interpolate=lambda x, pairs: drawn(x)), "gives two answers to one question"),
}


@pytest.mark.parametrize("kind", list(WRONG))
def test_a_block_whose_function_is_not_what_was_followed_is_refused_with_the_way_out(kind: str) -> None:
    maker, sentence = WRONG[kind]
    with pytest.raises(tg.UntraceableError, match=f"the function of user .*{sentence}") as caught:
        tg.simulate(looped(maker()), (0, 1))
    assert "tg.opaque" in caught.value.hint


def test_a_routine_of_a_program_is_compared_with_itself() -> None:
    kept: list[float] = []

    def user1(ctx, block):
        kept.append(0.0)
        ctx.set_uo(block + 1, ctx.x1)
        return ctx.x1 * len(kept)

    with pytest.raises(tg.UntraceableError, match="gives two answers to one question"):
        program("spring_u1").to_diagram(routine_of=lambda statement, parameters: user1).lower()


def test_a_block_fed_by_constants_and_by_a_large_graph_is_compared_at_its_own_signals() -> None:
    sides: list[bool] = []

    def thermostat(x, level):
        if not is_symbol(x):
            sides.append(x < level)
        return 1.0 if x < level else 0.0

    diagram = tg.Diagram("room")
    diagram.heat = b.Integrator(start=1.0)
    diagram.user = b.UserBlock(thermostat, 2)
    diagram.connect(diagram.heat * 2.0 - 0.5 * diagram.heat, diagram.user.x1)
    diagram.connect(3.0, diagram.user.x2)
    diagram.connect(diagram.user, diagram.heat.rate)
    assert tg.simulate(diagram, (0, 3)).final["heat"] == pytest.approx(2.0, abs=1e-6)
    assert {*sides} == {True, False}
