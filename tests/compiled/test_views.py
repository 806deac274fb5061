"""Views of memory: elements, rows and rows of rows are those that numpy finds there, whatever the kind of the elements and of the index."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tidegate.compiled.jit import INTEGER, INTEGERS, NUMBER, NUMBERS, called_from_c
from tidegate.compiled.pointers import run_at
from tidegate.compiled.schema import RADAU
from tidegate.compiled.workspace import Workspace, matrix, tail, vector

CALLED = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
ROWS, COLUMNS = 4, 5


@called_from_c(NUMBER(INTEGERS, NUMBERS, INTEGER, INTEGER, INTEGER))
def of_a_matrix(_h, r, i, k, width):  # type: ignore[no-untyped-def]
    """An element by two indices, by a row, by where it stands; then twice of it is put into its place, and 1 is added."""
    whole = matrix(r, 1, 4, width)
    row = whole[i]
    same = tail(row.ctypes, k)
    if whole[i, k] != row[k] or same[0] != row[k] or vector(r, 1 + i * width, width)[k] != row[k]:
        return np.nan
    found = whole[i, k]
    row[k] = 2.0 * found
    whole[i, k] += 1
    return found


@called_from_c(NUMBER(INTEGERS, NUMBERS, INTEGER, INTEGER, INTEGER))
def of_a_run(h, r, i, j, k):  # type: ignore[no-untyped-def]
    """The imaginary part of an element of an array of complex numbers in three dimensions, and its number is put into one of integers."""
    run = run_at(h, r)
    whole = run.complex_reciprocals
    if not whole[i, j, k] == whole[i][j, k] == whole[i, j][k]:
        return np.nan
    run.complex_pivots[i, j][k] = 100 * i + 10 * j + k
    whole[i, j, k] = whole[i, j, k] * 2.0
    return whole[i, j][k].imag


@pytest.mark.hunt
@pytest.mark.parametrize(("place", "is_inside"), [((1, 4), True), ((1, 5), False), ((-1, 0), False), ((0, -1), False)])
def test_indices_are_checked_for_who_asks_for_it(place: tuple[int, int], is_inside: bool) -> None:
    program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import numpy as np
from test_views import CALLED, of_a_matrix
memory = np.arange(100.0)
print(CALLED(of_a_matrix.address)(None, memory[40:].ctypes.data, {place[0]}, {place[1]}, 5))
"""
    environment = os.environ | {"TIDEGATE_CHECK_INDICES": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == ((0, "50.0\n") if is_inside else (-signal.SIGILL, "")), done.stderr


@pytest.mark.slow
def test_elements_of_a_matrix_are_found_where_numpy_finds_them() -> None:
    call = CALLED(of_a_matrix.address)
    memory = np.arange(1.0 + ROWS * COLUMNS)
    expected = memory.copy()
    inside = expected[1:].reshape(ROWS, COLUMNS)
    for i in range(ROWS):
        for k in range(COLUMNS):
            assert call(None, memory.ctypes.data, i, k, COLUMNS) == inside[i, k]
            inside[i, k] = 2 * inside[i, k] + 1
    assert memory.tolist() == expected.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("place", [(0, 0, 0), (1, 2, 3), (0, 2, 1), (1, 0, 3)])
def test_elements_in_three_dimensions_of_complex_numbers_and_of_integers_are_found(place: tuple[int, int, int]) -> None:
    memory = Workspace({"n_pairs": 3, "n_sparse": 4, "n_dense": 4}, (RADAU,))
    numbers = memory.numbers("complex_reciprocals").view(complex).reshape(2, 3, 4)
    numbers[...] = np.arange(24).reshape(2, 3, 4) * (1 + 2j)
    expected = numbers.copy()
    expected[place] *= 2
    assert CALLED(of_a_run.address)(memory.h.ctypes.data, memory.r.ctypes.data, *place) == expected[place].imag
    assert np.array_equal(numbers, expected)
    pivots = memory.integers("complex_pivots").reshape(2, 3, 4)
    assert (pivots[place], np.count_nonzero(pivots)) == (int("{}{}{}".format(*place)), 1 if any(place) else 0)
