"""Random components of parts of parts, against what the page on components says of values that are given at several levels (``random_trees``)."""

from __future__ import annotations

import math

import pytest

import tidegate as tg
from random_trees import Tree
from written_source import space_of


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_of_values_that_are_given_at_several_levels_the_outermost_counts(seed: int) -> None:
    for number in range(10 * seed, 10 * seed + 10):
        tree = Tree(number)
        final = tg.simulate(space_of(tree.source(), f"<tree {number}>")["model"], (0.0, 1.0), parameters=tree.parameters, rtol=1e-9).final
        for leaf in tree.leaves():
            p, q = tree.value(f"{leaf}.p"), tree.value(f"{leaf}.q")
            assert final[f"{leaf}.x"] == pytest.approx(p * math.exp(-q), rel=1e-7), (number, leaf)
