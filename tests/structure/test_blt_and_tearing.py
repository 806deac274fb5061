"""Blocks in an order in which they can be solved, and few tearing variables in each: against plain searches, on random graphs."""

from __future__ import annotations

import random

import pytest

from tidegate.structure.blt import blocks_in_order
from tidegate.structure.tearing import tear


def reached(reads: list[list[int]], row_of: list[int], row: int) -> set[int]:
    found, waiting = {row}, [row]
    while waiting:
        for column in reads[waiting.pop()]:
            if row_of[column] not in found:
                found.add(row_of[column])
                waiting.append(row_of[column])
    return found


@pytest.mark.parametrize("seed", range(40))
def test_blocks_are_what_needs_each_other_and_come_after_what_they_need(seed: int) -> None:
    draw = random.Random(seed)
    n = draw.randint(1, 30)
    columns = list(range(n))
    draw.shuffle(columns)
    row_of = [columns.index(column) for column in range(n)]
    reads = [sorted({columns[row], *(draw.randrange(n) for _ in range(draw.randint(0, 2)))}) for row in range(n)]
    blocks = blocks_in_order(reads, row_of)
    assert sorted(row for block in blocks for row in block) == list(range(n))
    reach = [reached(reads, row_of, row) for row in range(n)]
    done: set[int] = set()
    for block in blocks:
        for row in block:
            assert {other for other in reach[row] if row in reach[other]} == set(block)
            assert reach[row] <= done | set(block)
        done |= set(block)


def test_long_chains_need_no_recursion() -> None:
    n = 20_000
    chain = [[row, row + 1] if row + 1 < n else [row] for row in range(n)]
    assert [block[0] for block in blocks_in_order(chain, range(n))] == list(range(n))[::-1]
    circle = [[row, (row + 1) % n] for row in range(n)]
    assert blocks_in_order(circle, range(n)) == [list(range(n))]


@pytest.mark.parametrize("seed", range(40))
def test_inner_unknowns_follow_one_after_the_other_from_tearing_variables(seed: int) -> None:
    draw = random.Random(seed)
    n = draw.randint(2, 30)
    reads = [sorted({row, (row + 1) % n, *(draw.randrange(n) for _ in range(draw.randint(0, 2)))}) for row in range(n)]
    solvable = {(row, column): draw.random() < 0.7 for row in range(n) for column in reads[row]}
    held = {column for column in range(n) if draw.random() < 0.1}
    torn = tear(range(n), set(range(n)), reads.__getitem__, lambda row, column: solvable[row, column], held)
    assert held <= set(torn.tearing)
    assert len(torn.tearing) == len(torn.residual) == n - len(torn.inner)
    assert sorted([*torn.residual, *(row for row, _ in torn.inner)]) == list(range(n))
    level = dict.fromkeys(torn.tearing, 0)
    for row, column in torn.inner:
        assert solvable[row, column]
        assert column not in level
        level[column] = 1 + max(level[other] for other in reads[row] if other != column)
        assert level[column] <= 3


def test_one_variable_is_enough_where_a_block_is_one_short_circle() -> None:
    assert len(tear(range(4), set(range(4)), [[0, 1], [1, 2], [2, 3], [3, 0]].__getitem__, lambda row, column: True, []).tearing) == 1


def test_a_long_circle_is_torn_more_than_once() -> None:
    """What follows over many links from one variable is off by the product of their factors."""
    n = 40
    reads = [[row, (row + 1) % n] for row in range(n)]
    assert 10 <= len(tear(range(n), set(range(n)), reads.__getitem__, lambda row, column: True, []).tearing) <= 20
