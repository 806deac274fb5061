"""Matching and the decomposition of bipartite graphs, against brute force."""

from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.structure import dulmage_mendelsohn, maximum_matching

Rows = list[list[int]]
N_COLUMNS = 5
graphs = st.lists(st.lists(st.integers(0, N_COLUMNS - 1), unique=True, max_size=N_COLUMNS), min_size=1, max_size=6)


def brute_force_size(rows: Rows, n_columns: int) -> int:
    """The largest number of rows that some assignment of columns satisfies."""
    places = list(range(n_columns)) + [-1] * len(rows)
    return max(sum(column in row for row, column in zip(rows, choice, strict=False)) for choice in set(permutations(places, len(rows))))


def reachable_size(rows: Rows, n_columns: int) -> int:
    """The same by Konig and Hall's formula: the least |rows left out| + |columns of the others|, over all sets of rows."""
    subsets = [[row for k, row in enumerate(rows) if mask >> k & 1] for mask in range(2 ** len(rows))]
    return min(len(rows) - len(subset) + len({column for row in subset for column in row if column < n_columns}) for subset in subsets)


@pytest.mark.slow
@given(graphs)
def test_a_matching_pairs_rows_with_columns_of_their_own(rows: Rows) -> None:
    matching = maximum_matching(rows, N_COLUMNS)
    used = [column for column in matching.column_of_row if column >= 0]
    assert len(used) == len(set(used)) == matching.size
    assert all(column in rows[row] and matching.row_of_column[column] == row for row, column in enumerate(matching.column_of_row) if column >= 0)


@pytest.mark.slow
@given(graphs)
def test_a_matching_is_as_large_as_halls_theorem_allows(rows: Rows) -> None:
    assert maximum_matching(rows, N_COLUMNS).size == reachable_size(rows, N_COLUMNS)


@pytest.mark.slow
@given(st.lists(st.lists(st.integers(0, 2), unique=True), min_size=1, max_size=3))
def test_a_matching_is_as_large_as_the_best_of_all_assignments(rows: Rows) -> None:
    assert maximum_matching(rows, 3).size == brute_force_size(rows, 3)


def test_a_long_chain_is_matched_without_recursion() -> None:
    # row k takes k or k + 1; the last row only the last column: every greedy choice has to be undone
    n = 3000
    rows = [[k + 1, k] for k in range(n - 1)] + [[n - 1]]
    assert maximum_matching(rows, n).is_perfect


@pytest.mark.slow
@given(graphs)
def test_the_parts_divide_rows_and_columns(rows: Rows) -> None:
    parts = dulmage_mendelsohn(rows, N_COLUMNS)
    assert sorted(parts.over_rows + parts.under_rows + parts.well_rows) == list(range(len(rows)))
    assert sorted(parts.over_columns + parts.under_columns + parts.well_columns) == list(range(N_COLUMNS))


@pytest.mark.slow
@given(graphs)
def test_the_parts_have_too_many_equations_too_few_or_just_enough(rows: Rows) -> None:
    parts = dulmage_mendelsohn(rows, N_COLUMNS)
    lost_rows = len(rows) - maximum_matching(rows, N_COLUMNS).size
    lost_columns = N_COLUMNS - maximum_matching(rows, N_COLUMNS).size
    assert len(parts.over_rows) - len(parts.over_columns) == lost_rows
    assert len(parts.under_columns) - len(parts.under_rows) == lost_columns
    assert len(parts.well_rows) == len(parts.well_columns)


@pytest.mark.slow
@given(graphs)
def test_an_equation_of_the_overdetermined_part_can_be_spared(rows: Rows) -> None:
    size = maximum_matching(rows, N_COLUMNS).size
    over = dulmage_mendelsohn(rows, N_COLUMNS).over_rows
    for row in range(len(rows)):
        is_sparable = maximum_matching([r for k, r in enumerate(rows) if k != row], N_COLUMNS).size == size
        assert is_sparable == (row in over)


@pytest.mark.slow
@given(graphs, st.randoms())
def test_the_parts_do_not_depend_on_the_order_of_columns_within_a_row(rows: Rows, random: Random) -> None:
    shuffled = [random.sample(row, len(row)) for row in rows]
    assert dulmage_mendelsohn(shuffled, N_COLUMNS) == dulmage_mendelsohn(rows, N_COLUMNS)
