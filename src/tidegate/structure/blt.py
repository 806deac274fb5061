"""The order in which equations can be solved (stage: structure): block lower triangular form. Rows of columns go in, blocks of rows come out.

Every row is the equation for the column that it is matched to, and needs what it reads of the others. Rows that need each other in a circle are a
block; the blocks are ordered so that each needs earlier ones only (Tarjan 1972, https://doi.org/10.1137/0201010; Duff and Reid 1978). No recursion:
systems may be long chains.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["blocks_in_order"]


def blocks_in_order(reads: Sequence[Sequence[int]], row_of_column: Sequence[int]) -> list[list[int]]:
    """Blocks of rows, first those that need nothing; the rows of a block in their own order.

    Parameters
    ----------
    reads : for each row the columns that it reads.
    row_of_column : the row that is matched to each column.

    Examples
    --------
    >>> blocks_in_order([[0, 1], [1], [2, 3, 0], [2, 3]], [0, 1, 2, 3])
    [[1], [0], [2, 3]]
    """
    n = len(reads)
    number, lowest = [-1] * n, [0] * n
    is_open = [False] * n
    members: list[int] = []
    blocks: list[list[int]] = []
    counted = 0
    for root in range(n):
        if number[root] >= 0:
            continue
        path: list[tuple[int, int]] = [(root, 0)]
        while path:
            row, tried = path.pop()
            if tried == 0:
                number[row] = lowest[row] = counted
                counted += 1
                members.append(row)
                is_open[row] = True
            columns = reads[row]
            entered = False
            while tried < len(columns):
                needed = row_of_column[columns[tried]]
                tried += 1
                if number[needed] < 0:
                    path += ((row, tried), (needed, 0))
                    entered = True
                    break
                if is_open[needed]:
                    lowest[row] = min(lowest[row], number[needed])
            if entered:
                continue
            if lowest[row] == number[row]:
                block: list[int] = []
                while True:
                    member = members.pop()
                    is_open[member] = False
                    block.append(member)
                    if member == row:
                        break
                blocks.append(sorted(block))
            if path:
                above = path[-1][0]
                lowest[above] = min(lowest[above], lowest[row])
    return blocks
