"""The order in which sparse systems are eliminated, on patterns with a truth: a row of cells takes a share for every cell, however it is written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tidegate as tg
from tidegate.compiled import jacobian_pattern

__all__: list[str] = []


def _row_of_cells(cells: int, generator: np.random.Generator) -> tuple[set[tuple[int, int]], NDArray[np.bool_]]:
    """A state and four algebraic unknowns a cell, whose equations read their own and the next cell; the algebraic ones stand anywhere."""
    n = 5 * cells
    held = np.arange(n) % 5 == 0
    row = np.arange(n)
    row[~held] = generator.permutation(row[~held])
    places: set[tuple[int, int]] = set()
    for cell in range(cells):
        for equation in range(5):
            read = generator.choice(10, size=4, replace=False) + 5 * cell
            places |= {(int(row[5 * cell + equation]), int(j)) for j in (5 * cell + equation, *read) if j < n}
    return places, held


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_factors_of_a_row_of_cells_take_as_much_for_every_cell_wherever_its_equations_stand(seed: int) -> None:
    sizes = {}
    for cells in (40, 320):
        found = jacobian_pattern.sparsity_of(5 * cells, *_row_of_cells(cells, np.random.default_rng(seed)))
        assert found is not None
        sizes[cells] = 5 * cells + sum(map(len, found.lower)) + sum(map(len, found.upper))
    # ten unknowns between two cells: no more than all of the elements of ten rows a cell, with some for orders that differ
    assert sizes[320] <= 8 * 1.3 * sizes[40]
    assert sizes[320] <= 320 * 5 * 30


def _eliminated(places: set[tuple[int, int]], n: int, found: Any) -> set[tuple[int, int]]:
    """Elements of L and U of the pattern, by the steps of rows and columns: Gauss's elimination, as one learns it."""
    steps = np.empty(n, dtype=int)
    steps[found.preferred[found.order]] = np.arange(n)
    column = np.empty(n, dtype=int)
    column[found.order] = np.arange(n)
    full = np.zeros((n, n), dtype=bool)
    for i, j in places:
        full[steps[i], column[j]] = True
    np.fill_diagonal(full, True)
    for k in range(n):
        full[k + 1 :, k + 1 :] |= np.outer(full[k + 1 :, k], full[k, k + 1 :])
    return {(int(i), int(j)) for i, j in zip(*np.nonzero(full), strict=True)}


@pytest.mark.parametrize("seed", range(5))
def test_the_pattern_of_factors_is_that_of_the_elimination(seed: int) -> None:
    places, held = _row_of_cells(16, np.random.default_rng(seed))
    n = len(held)
    found = jacobian_pattern.sparsity_of(n, places, held)
    assert found is not None
    places |= {(i, i) for i in np.flatnonzero(held).tolist()}
    lower = {(i, k) for k, rows in enumerate(found.lower) for i in rows}
    upper = {(i, k) for k, rows in enumerate(found.upper) for i in rows}
    assert lower | upper | {(k, k) for k in range(n)} == _eliminated(places, n, found)


def test_an_algebraic_equation_has_no_element_that_it_does_not_have() -> None:
    places, held = _row_of_cells(16, np.random.default_rng(0))
    found = jacobian_pattern.sparsity_of(len(held), places, held)
    assert found is not None
    assert set(found.numbers) == places | {(i, i) for i in np.flatnonzero(held).tolist()}


@pytest.mark.parametrize("seed", range(5))
def test_a_structure_that_is_singular_has_an_order_all_the_same(seed: int) -> None:
    """Those who solve with it say what is wrong; there may be no row for a column, or one for two."""
    generator = np.random.default_rng(seed)
    places, held = _row_of_cells(80, generator)
    gone = generator.choice(np.flatnonzero(~held), size=3, replace=False).tolist()
    kept = {(i, j) for i, j in places if i not in gone} | {(gone[0], 0), (gone[1], 0)}
    found = jacobian_pattern.sparsity_of(len(held), kept, held)
    assert found is not None
    assert sorted(found.order.tolist()) == sorted(found.preferred.tolist()) == list(range(len(held)))


@pytest.mark.slow
def test_pivots_that_vanish_while_a_model_runs_are_found_beside_the_structures(dae_method: str) -> None:
    """x and y of each pair change their parts at t = 1: one follows from the sum, the other from the equation that weighs both."""
    n = 20

    def residual(t: Any, y: Any, ydot: Any) -> list[Any]:
        found: list[Any] = []
        for k in range(n):
            before = y["s"][k - 1] if k else 0.0
            found += [
                ydot["s"][k] - (before - y["s"][k]),
                tg.where(t < 1.0, y["x"][k], y["y"][k]) - y["s"][k],
                y["x"][k] + y["y"][k] * y["y"][k] / 4.0 + y["y"][k] - 1.0 - before,
            ]
        return found

    model = tg.dae(residual, y0={"s": np.linspace(0.2, 0.8, n), "x": np.zeros(n), "y": np.zeros(n)}, check_units=False)
    result = tg.simulate(model, (0.0, 2.0), rtol=1e-8, method=dae_method)
    s, x, y = (np.asarray(result[name])[-1] for name in ("s", "x", "y"))
    before = np.concatenate([[0.0], s[:-1]])
    assert y == pytest.approx(s, abs=1e-7)
    assert x == pytest.approx(1.0 + before - s - s * s / 4.0, abs=1e-7)
    # s' is a chain of lags, whatever the others do: by its matrix
    matrix = np.diag(np.ones(n - 1), -1) - np.eye(n)
    values, power = np.linspace(0.2, 0.8, n), np.linspace(0.2, 0.8, n)
    for k in range(1, 60):
        power = 2.0 * matrix @ power / k
        values = values + power
    assert s == pytest.approx(values, abs=1e-6)
