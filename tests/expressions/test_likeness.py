"""Graphs that differ in numbers only are told from others, by random graphs of which one number or one operation is another."""

from __future__ import annotations

import random

import pytest

from tidegate.expressions import Expr, Role, symbol
from tidegate.expressions.likeness import differ_in_numbers_only
from tidegate.expressions.nodes import raw_node

__all__: list[str] = []

_BINARY = ("add", "sub", "mul", "div")


def _written(rng: random.Random) -> list[tuple[str, object, object]]:
    """A program of few lines: an operation, and two places of earlier lines; or a number; or a symbol."""
    lines: list[tuple[str, object, object]] = [("symbol", "x", None), ("symbol", "y", None)]
    for _ in range(rng.randint(2, 15)):
        if rng.random() < 0.3:
            lines.append(("const", rng.uniform(0.1, 9.0), None))
        else:
            lines.append((rng.choice(_BINARY), rng.randrange(len(lines)), rng.randrange(len(lines))))
    return lines


def _graph(lines: list[tuple[str, object, object]]) -> list[Expr]:
    made: list[Expr] = []
    for op, a, b in lines:
        if op == "symbol":
            made.append(symbol(Role.UNKNOWN, str(a)))
        elif op == "const":
            made.append(raw_node("const", (), a))
        else:
            assert isinstance(a, int)
            assert isinstance(b, int)
            made.append(raw_node(op, (made[a], made[b])))
    return made[-2:]


@pytest.mark.parametrize("seed", range(60))
def test_another_number_is_no_difference_and_another_operation_is_one(seed: int) -> None:
    rng = random.Random(seed)
    lines = _written(rng)
    first = _graph(lines)
    # each number becomes another one, and no two the same
    others = _graph([(op, a + 10.0 * k, b) if op == "const" and isinstance(a, float) else (op, a, b) for k, (op, a, b) in enumerate(lines)])
    assert differ_in_numbers_only(first, first)
    assert differ_in_numbers_only(first, others)
    assert differ_in_numbers_only(others, first)
    at = [k for k, (op, _, _) in enumerate(lines) if op in _BINARY]
    k = rng.choice(at) if at else -1
    if k < 0:
        return
    op, a, b = lines[k]
    changed = [*lines]
    changed[k] = (rng.choice([other for other in _BINARY if other != op]), a, b)
    second = _graph(changed)
    # where that line matters to the roots at all
    if [id(item) for item in second] != [id(item) for item in first]:
        assert not differ_in_numbers_only(first, second)
        assert not differ_in_numbers_only(second, others)


def test_symbols_and_how_often_something_is_used_are_no_numbers() -> None:
    x, y = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "y")
    assert not differ_in_numbers_only([x * 2.0], [y * 2.0])
    assert not differ_in_numbers_only([x, y], [y, x])
    assert not differ_in_numbers_only([x * 2.0], [x * 2.0, x])
    # what was one number twice, and has become two, or the other way round
    assert not differ_in_numbers_only([x * 2.0 + y / 2.0], [x * 2.0 + y / 3.0])
    assert not differ_in_numbers_only([x * 2.0 + y / 3.0], [x * 2.0 + y / 2.0])
