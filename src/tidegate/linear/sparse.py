"""Sparse LU by columns, real and complex: with the pivots and the pattern that the structure gives while these are good, else with others.

The order of columns, the row that is matched to each as its pivot, and the pattern of L and U that follows are the compiler's
(``compiled.jacobian_pattern``); factors with these are straight loops (Davis and Palamadai Natarajan 2010). Where a pivot is small against its
column, pivots are searched for: column k of L and U is a triangular solve with the columns before it, whose pattern is what the graph of L reaches
from the column's entries (Gilbert and Peierls 1988). From then on the system has a pattern of its own.

Rows are numbered by the step at which they are pivots. Consecutive columns of L with the same rows, of which a model in space has many, are taken
together (Demmel et al. 1999). Between calls the scratch column is zero.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import native
from tidegate.compiled.schema import PADDING
from tidegate.compiled.workspace import tail
from tidegate.linear.columns import subtract_column, sum_columns

__all__ = ["complex_quotient", "factor", "real_quotient", "solve"]

_PREFERRED: Final = 0.1  # part of the column's largest element with which the matched row is the pivot
_KEPT: Final = 0.01  # part with which an old pivot is still one
_NONE: Final = -1
_STRUCTURE: Final = 0  # the pattern that all systems begin with


@native
def _size(x):
    return abs(x.real) + abs(x.imag)


@native
def real_quotient(x, y):
    """x / y."""
    return x / y


@native
def complex_quotient(x, y):
    """x / y by Smith's formula; no number where y is zero. Python's own quotient would raise there, which native code cannot."""
    if abs(y.real) >= abs(y.imag):
        ratio = y.imag / y.real
        size = y.real + y.imag * ratio
        return complex((x.real + x.imag * ratio) / size, (x.imag - x.real * ratio) / size)
    ratio = y.real / y.imag
    size = y.real * ratio + y.imag
    return complex((x.real * ratio + x.imag) / size, (x.imag * ratio - x.real) / size)


@native
def factor(run, system, entries, lower, upper, reciprocals, column, together, over):
    """LU of the matrix with these entries, ``over`` being their quotient; 0, or 1 + the number of the first column without a pivot."""
    if _refactor(run, run.pattern_of[system], entries, lower, upper, reciprocals, column, together, over):
        return 0
    bad = _search(run, 1 + system, entries, lower, upper, reciprocals, column, over)
    run.pattern_of[system] = 1 + system if bad == 0 else _STRUCTURE
    return bad


@native
def _take_off(column, lower_first, lower_row, lower, begin, end, x, together):
    """Solve with the columns of L from begin to end, which are alike, into x; what they do to the rows below them is added up first."""
    width = end - begin + 1
    for s in range(width):
        x[s] = column[begin + s]
    here = lower_first[end]
    height = lower_first[end + 1] - here
    if width == 1:
        factor = x[0]
        for i in range(height):
            column[lower_row[here + i]] -= lower[here + i] * factor
        return
    for s in range(width - 1):
        subtract_column(x, s, lower, lower_first[begin + s], width - 1 - s)
    sum_columns(together, lower, lower_first[begin] + width - 1, x, width, height)
    for i in range(height):
        column[lower_row[here + i]] -= together[i]


@native
def _refactor(run, pattern, entries, lower, upper, reciprocals, column, together, over):
    """With the pivots of a pattern; False where one is not good enough."""
    first = run.column_first
    row = run.entry_row
    order = run.column_order
    step_of = run.row_step[pattern]
    lower_first = run.lower_first[pattern]
    lower_row = run.lower_row[pattern]
    upper_first = run.upper_first[pattern]
    upper_row = run.upper_row[pattern]
    last = run.last_alike[pattern]
    for k in range(run.n):
        j = order[k]
        for e in range(first[j], first[j + 1]):
            column[step_of[row[e]]] = entries[e]
        e = upper_first[k]
        while e < upper_first[k + 1]:
            begin = upper_row[e]
            end = min(last[begin], k - 1)
            # what is behind these elements of U comes later
            _take_off(column, lower_first, lower_row, lower, begin, end, tail(upper.ctypes, e), together)
            for s in range(begin, end + 1):
                column[s] = 0.0
            e += end - begin + 1
        pivot = column[k]
        column[k] = 0.0
        reciprocal = over(1.0, pivot)
        largest = 0.0
        for q in range(lower_first[k], lower_first[k + 1]):
            i = lower_row[q]
            x = column[i]
            column[i] = 0.0
            largest = max(largest, _size(x))
            lower[q] = x * reciprocal
        if not _size(pivot) > 0.0 or not _size(pivot) >= _KEPT * largest:
            return False
        reciprocals[k] = reciprocal
    return True


@native
def _reach(run, pattern, start, k, top):
    """Rows that the graph of L reaches from one, in an order in which each comes before those it leads to: in front of ``top`` of the list."""
    step_of = run.row_step[pattern]
    lower_first = run.lower_first[pattern]
    lower_row = run.lower_row[pattern]
    reached = run.reached_scratch
    stack = run.stack_scratch
    index = run.stack_index_scratch
    mark = run.mark_scratch
    mark[start] = k
    stack[0] = start
    index[0] = lower_first[step_of[start]] if step_of[start] != _NONE else 0
    depth = 0
    while depth >= 0:
        i = stack[depth]
        s = step_of[i]
        deeper = False
        if s != _NONE:
            q = index[depth]
            end = lower_first[s + 1]
            while q < end and mark[lower_row[q]] == k:
                q += 1
            index[depth] = q + 1
            if q < end:
                i = lower_row[q]
                mark[i] = k
                depth += 1
                stack[depth] = i
                index[depth] = lower_first[step_of[i]] if step_of[i] != _NONE else 0
                deeper = True
        if not deeper:
            top -= 1
            reached[top] = i
            depth -= 1
    return top


@native
def _sort(row, value, begin, end):
    """By rows: of columns that were pushed to a list in turn, which are short or nearly in order."""
    gap = end - begin
    while gap > 1:
        gap = max(1, gap * 5 // 11)
        for i in range(begin + gap, end):
            key = row[i]
            kept = value[i]
            j = i
            while j >= begin + gap and row[j - gap] > key:
                row[j] = row[j - gap]
                value[j] = value[j - gap]
                j -= gap
            row[j] = key
            value[j] = kept


@native
def _are_alike(lower_first, lower_row, k):
    """True if column k of L has the rows of column k + 1, and that one's own."""
    here, there, end = lower_first[k], lower_first[k + 1], lower_first[k + 2]
    if there - here != end - there + 1 or lower_row[here] != k + 1:
        return False
    for i in range(end - there):
        if lower_row[here + 1 + i] != lower_row[there + i]:
            return False
    return True


@native
def _search(run, pattern, entries, lower, upper, reciprocals, column, over):
    """With new pivots; 0, or 1 + the number of the first column without one, or for which there is no room."""
    n = run.n
    first = run.column_first
    row = run.entry_row
    order = run.column_order
    preferred = run.preferred_row
    step_of = run.row_step[pattern]
    lower_first = run.lower_first[pattern]
    lower_row = run.lower_row[pattern]
    upper_first = run.upper_first[pattern]
    upper_row = run.upper_row[pattern]
    reached = run.reached_scratch
    mark = run.mark_scratch
    for i in range(n):
        step_of[i] = _NONE
        mark[i] = _NONE
    n_lower = 0
    n_upper = 0
    for k in range(n):
        lower_first[k] = n_lower
        upper_first[k] = n_upper
        j = order[k]
        top = n
        for e in range(first[j], first[j + 1]):
            if mark[row[e]] != k:
                top = _reach(run, pattern, row[e], k, top)
        if max(n_lower, n_upper) + n - top > run.room_factors - PADDING:
            run.lacks_room = 1
            return k + 1
        for e in range(first[j], first[j + 1]):
            column[row[e]] = entries[e]
        # while rows have no number they are told by their own
        best = _NONE
        largest = 0.0
        for w in range(top, n):
            i = reached[w]
            s = step_of[i]
            x = column[i]
            if s == _NONE:
                if _size(x) > largest:
                    largest = _size(x)
                    best = i
                continue
            column[i] = 0.0
            upper_row[n_upper] = s
            upper[n_upper] = x
            n_upper += 1
            for q in range(lower_first[s], lower_first[s + 1]):
                column[lower_row[q]] -= lower[q] * x
        wished = preferred[j]
        if best != _NONE and mark[wished] == k and step_of[wished] == _NONE and _size(column[wished]) >= _PREFERRED * largest:
            best = wished
        pivot = column[best] if best != _NONE else entries[0] * 0.0
        for w in range(top, n):
            i = reached[w]
            if step_of[i] == _NONE:
                if best not in (_NONE, i):
                    lower_row[n_lower] = i
                    lower[n_lower] = over(column[i], pivot)
                    n_lower += 1
                column[i] = 0.0
        if best == _NONE:
            return k + 1
        step_of[best] = k
        reciprocals[k] = over(1.0, pivot)
    lower_first[n] = n_lower
    upper_first[n] = n_upper
    for q in range(n_lower):
        lower_row[q] = step_of[lower_row[q]]
    for k in range(n):
        _sort(lower_row, lower, lower_first[k], lower_first[k + 1])
        _sort(upper_row, upper, upper_first[k], upper_first[k + 1])
    last = run.last_alike[pattern]
    for k in range(n - 1, -1, -1):
        last[k] = last[k + 1] if k + 1 < n and _are_alike(lower_first, lower_row, k) else k
    return 0


@native
def solve(run, system, lower, upper, reciprocals, column, alike, together, b):
    """Solve with the factors; ``b`` is overwritten."""
    n = run.n
    pattern = run.pattern_of[system]
    order = run.column_order
    step_of = run.row_step[pattern]
    lower_first = run.lower_first[pattern]
    lower_row = run.lower_row[pattern]
    upper_first = run.upper_first[pattern]
    upper_row = run.upper_row[pattern]
    for i in range(n):
        column[step_of[i]] = b[i]
    last = run.last_alike[pattern]
    begin = 0
    while begin < n:
        end = last[begin]
        _take_off(column, lower_first, lower_row, lower, begin, end, alike, together)
        for s in range(begin, end + 1):
            column[s] = alike[s - begin]
        begin = end + 1
    for k in range(n - 1, -1, -1):
        x = column[k] * reciprocals[k]
        column[k] = 0.0
        b[order[k]] = x
        for e in range(upper_first[k], upper_first[k + 1]):
            column[upper_row[e]] -= upper[e] * x
