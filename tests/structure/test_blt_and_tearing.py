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


@pytest.mark.slow
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
    solvable = {(row, column): draw.choice([0, 1, 2, 2]) for row in range(n) for column in reads[row]}
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
    assert len(tear(range(4), set(range(4)), [[0, 1], [1, 2], [2, 3], [3, 0]].__getitem__, lambda row, column: 2, []).tearing) == 1


def test_a_long_circle_is_torn_more_than_once() -> None:
    """What follows over many links from one variable is off by the product of their factors."""
    n = 40
    reads = [[row, (row + 1) % n] for row in range(n)]
    assert 10 <= len(tear(range(n), set(range(n)), reads.__getitem__, lambda row, column: 2, []).tearing) <= 20


def test_what_would_be_divided_by_is_torn_instead() -> None:
    """u1 = R1 i, u2 = R2 i, u1 + u2 = u: from i both follow without a division."""
    easy = {(0, 0): 2, (0, 2): 1, (1, 1): 2, (1, 2): 1, (2, 0): 2, (2, 1): 2}
    torn = tear(range(3), {0, 1, 2}, [[0, 2], [1, 2], [0, 1]].__getitem__, lambda row, column: easy[row, column], [])
    assert torn.tearing == (2,)
    assert torn.inner == ((0, 0), (1, 1))


def test_what_no_equation_gives_is_a_tearing_variable_before_others_are_chosen() -> None:
    """Forces along a chain: f_k = q_k x_k with q_k not given, m a_k = f_k - f_{k+1}, and a constraint of neighbouring a; other choices need more."""
    n = 5
    rows: list[list[int]] = []
    given: dict[tuple[int, int], int] = {}
    for k in range(n):
        q, f, a, after = 3 * k, 3 * k + 1, 3 * k + 2, 3 * k + 4
        rows += [[q, f], [f, a, after] if k + 1 < n else [f, a], [a - 3, a] if k else [a]]
        given |= {(3 * k, f): 2, (3 * k + 1, f): 2, (3 * k + 1, a): 1, (3 * k + 1, after): 2}
    torn = tear(range(3 * n), range(3 * n), rows.__getitem__, lambda row, column: given.get((row, column), 0), [])
    assert torn.tearing == tuple(range(0, 3 * n, 3))
    assert torn.residual == tuple(range(2, 3 * n, 3))
