"""Random networks of ``random_networks`` in Python: the fewest elements are torn, and they do what their matrix exponential says."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tidegate as tg
from random_networks import END, Written, drawn, element, joined, outer, truth


def fewest(blocks: list[Written]) -> int:
    """How many elements must be torn, by trying all sets of them."""
    linked = [(b, k) for b, w in enumerate(blocks) for k in w.links if np.any(w.D if w.shaped else w.D[:, k])]

    def has_circle(torn: set[tuple[int, int]]) -> bool:
        left = {(blocks[b].links[k][0], b) for b, k in linked if (b, k) not in torn}
        nodes = set(range(len(blocks)))
        while free := {node for node in nodes if not any(b == node and a in nodes for a, b in left)}:
            nodes -= free
        return bool(nodes)

    return next(n for n in range(len(linked) + 1) if any(not has_circle(set(torn)) for torn in itertools.combinations(linked, n)))


SEEDS = (*range(7), 511)  # of the last the rank of the leading matrix rests on its last digits


@pytest.mark.parametrize("seed", SEEDS)
def test_the_fewest_elements_are_torn(seed: int) -> None:
    blocks = drawn(seed)
    assert len(joined(blocks).torn) == fewest(blocks)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_network_does_what_its_matrix_exponential_says(seed: int) -> None:
    blocks = drawn(seed)
    inputs = {
        f"b{b}.U" if w.shaped and not w.links else element(b, "U", k, w): np.array([outer(b, j) for j in range(w.B.shape[1])])
        if w.shaped and not w.links
        else outer(b, k)
        for b, w in enumerate(blocks)
        for k in range(w.B.shape[1])
        if k not in w.links
    }
    result = tg.simulate(joined(blocks), (0.0, END), inputs=inputs, rtol=1e-8)
    wrong = {
        name: (float(result.final[name]), value)
        for name, value in truth(blocks).items()
        if not np.isclose(float(result.final[name]), value, rtol=1e-5, atol=1e-5)
    }
    assert wrong == {}
