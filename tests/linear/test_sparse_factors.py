"""Sparse factors against dense solutions, on random patterns and values; the truth is numpy's."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tidegate as tg
from tidegate.compiled import jacobian_pattern
from tidegate.compiled.workspace import INDEX_OF
from tidegate.integrators.kernel_cache import kernel

__all__: list[str] = []

N = 30
SPAN = (0.0, 1.0)


def _work_of(matrix: NDArray[np.float64], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The memory of a run of y' = A y, with its functions not yet called."""
    made: list[Any] = []
    native_run = kernel("tidegate.integrators.native_run").NativeRun
    begin = native_run.__init__

    def noted(self: Any, *arguments: Any, **named: Any) -> None:
        begin(self, *arguments, **named)
        made.append(self)

    monkeypatch.setattr(native_run, "__init__", noted)
    rows = [[(j, float(a)) for j, a in enumerate(row) if a != 0.0] for row in matrix]
    model = tg.ode(lambda t, y: [sum((a * y["x"][j] for j, a in row), 0.0) for row in rows], y0={"x": np.ones(len(rows))})
    tg.simulate(model, (0.0, 1e-9), method="radau")
    return made[-1]._work


class Systems:
    """The kernel's functions on a run's memory."""

    def __init__(self, work: Any) -> None:
        self.work = work
        module = kernel("tidegate.linear.systems")
        whole, number, pointer = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
        self._factor = ctypes.CFUNCTYPE(whole, pointer, pointer, whole, number, whole)(module.factor_real.address)
        self._solve = ctypes.CFUNCTYPE(whole, pointer, pointer, whole, pointer)(module.solve_real.address)
        self._factor_complex = ctypes.CFUNCTYPE(whole, pointer, pointer, whole, whole, number, number)(module.factor_complex.address)
        self._solve_complex = ctypes.CFUNCTYPE(whole, pointer, pointer, whole, whole)(module.solve_complex.address)
        self._memory = work.h.ctypes.data, work.r.ctypes.data

    def put(self, matrix: NDArray[np.float64], pattern: Any) -> None:
        columns = np.repeat(np.arange(len(matrix)), np.diff(pattern.first))
        self.work.numbers("jacobian")[:] = matrix[pattern.row, columns]

    def solution(self, shift: float, right: NDArray[np.float64]) -> NDArray[np.float64] | None:
        if self._factor(*self._memory, 0, shift, int(self.work.h[INDEX_OF["jacobian"]])) != 0:
            return None
        x = right.copy()
        self._solve(*self._memory, 0, x.ctypes.data)
        return x

    def complex_solution(self, shift: complex, right: NDArray[np.complex128]) -> NDArray[np.complex128] | None:
        if self._factor_complex(*self._memory, 0, 0, shift.real, shift.imag) != 0:
            return None
        self.work.numbers("pairs")[: 2 * len(right)] = right.view(np.float64)
        self._solve_complex(*self._memory, 0, 0)
        return self.work.numbers("pairs")[: 2 * len(right)].copy().view(np.complex128)


def _couplings(kind: str, n: int) -> NDArray[np.bool_]:
    """Places of elements: of a square grid, of blocks along the diagonal that one row and column join, of a band."""
    i, j = np.indices((n, n))
    side = round(n**0.5)
    if kind == "grid":
        across = (np.abs(i // side - j // side) + np.abs(i % side - j % side)) <= 1
        return across & (np.maximum(i, j) < side * side) | (i == j)
    if kind == "blocks":
        return (i // 11 == j // 11) | (i == n - 1) | (j == n - 1)
    return np.abs(i - j) <= 3


@pytest.mark.hunt
@pytest.mark.parametrize(("kind", "n"), [("grid", 49), ("grid", 144), ("blocks", 27), ("blocks", 80), ("band", 33), ("band", 70)])
def test_columns_with_the_same_rows_are_subtracted_whole_whatever_their_number_and_height(kind: str, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(n)
    places = _couplings(kind, n)
    first = np.where(places, generator.normal(size=(n, n)), 0.0) + 8.0 * np.eye(n)
    systems, pattern = Systems(_work_of(first, monkeypatch)), _pattern(first)
    assert len(set(pattern.facts["last_alike"].tolist())) < n  # some are alike
    for _ in range(4):
        matrix = np.where(places, generator.normal(size=(n, n)), 0.0) + np.diag(np.exp(generator.normal(2.0, 2.0, size=n)))
        systems.put(matrix, pattern)
        right = generator.normal(size=n)
        found = systems.solution(0.5, right)
        assert found is not None
        whole = 0.5 * np.eye(n) - matrix
        # backward error: rounding times the growth that pivots of a hundredth allow
        assert np.abs(whole @ found - right).max() <= 1e-11 * (np.abs(whole).max() * np.abs(found).max() + np.abs(right).max())
        shift, complex_right = complex(0.5, 1.25), right + 1j * generator.normal(size=n)
        answer = systems.complex_solution(shift, complex_right)
        assert answer is not None
        whole = shift * np.eye(n) - matrix
        assert np.abs(whole @ answer - complex_right).max() <= 1e-11 * (np.abs(whole).max() * np.abs(answer).max() + np.abs(complex_right).max())


def _random_matrix(generator: np.random.Generator, n: int) -> NDArray[np.float64]:
    matrix = np.where(generator.random((n, n)) < 2.5 / n, generator.normal(size=(n, n)), 0.0)
    return matrix + np.diag(generator.normal(size=n))


def _pattern(matrix: NDArray[np.float64]) -> Any:
    places = {(int(i), int(j)) for i, j in zip(*np.nonzero(matrix), strict=True)}
    return jacobian_pattern.sparsity_of(len(matrix), places, np.ones(len(matrix), dtype=bool))


@pytest.fixture(autouse=True)
def _everything_is_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jacobian_pattern, "MOST_FILL", 100.0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_solutions_are_those_of_dense_systems_however_the_values_change(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(seed)
    matrix = _random_matrix(generator, N)
    pattern = _pattern(matrix)
    systems = Systems(_work_of(matrix, monkeypatch))
    for trial in range(40):
        # small changes keep the pivots; every fourth time values of another size ask for others
        sizes = 10.0 ** generator.uniform(-6, 6, size=matrix.shape) if trial % 4 == 3 else 1.0 + 0.1 * generator.random(matrix.shape)
        values = matrix * sizes
        shift = float(generator.choice([0.0, 1.0, 1e6]))
        full = shift * np.eye(N) - values
        scale = np.linalg.cond(full)
        if not scale < 1e12:
            continue
        systems.put(values, pattern)
        truth = generator.normal(size=N)
        found = systems.solution(shift, full @ truth)
        assert found is not None
        # backward stable: a residual of rounding in the size of the matrix, with growth by pivots a hundredth of their column
        residual = full @ found - full @ truth
        assert np.abs(residual).max() <= 1e-10 * np.abs(full).max() * np.abs(found).max()


@pytest.mark.slow
def test_a_pivot_that_has_become_zero_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.diag(np.full(N, 2.0)) + np.diag(np.full(N - 1, 1.0), 1) + np.diag(np.full(N - 1, 1.0), -1)
    pattern = _pattern(matrix)
    systems = Systems(_work_of(matrix, monkeypatch))
    systems.put(matrix, pattern)
    right = np.arange(1.0, N + 1)
    assert systems.solution(0.0, right) == pytest.approx(np.linalg.solve(-matrix, right), rel=1e-10)
    np.fill_diagonal(matrix, 0.0)  # regular still, for even N, but by other pivots only
    systems.put(matrix, pattern)
    assert systems.solution(0.0, right) == pytest.approx(np.linalg.solve(-matrix, right), rel=1e-10)


@pytest.mark.slow
def test_a_singular_matrix_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.diag(np.full(N, 2.0)) + np.diag(np.full(N - 1, 1.0), 1)
    pattern = _pattern(matrix)
    systems = Systems(_work_of(matrix, monkeypatch))
    matrix[5, 5] = 0.0
    matrix[5, 6] = 0.0
    systems.put(matrix, pattern)
    assert systems.solution(0.0, np.ones(N)) is None
    assert systems.solution(1.0, np.ones(N)) is not None


@pytest.mark.slow
def test_factors_without_room_are_refused_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.diag(np.full(N, 2.0)) + np.diag(np.full(N - 1, 1.0), 1) + np.diag(np.full(N - 1, 1.0), -1)
    pattern = _pattern(matrix)
    work = _work_of(matrix, monkeypatch)
    systems = Systems(work)
    np.fill_diagonal(matrix, 0.0)  # other pivots than the structure's have to be searched for
    systems.put(matrix, pattern)
    work["room_factors"] = 1
    assert systems.solution(0.0, np.ones(N)) is None
    assert work["lacks_room"] == 1
