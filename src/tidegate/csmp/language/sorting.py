"""The order in which blocks are executed (section 3.2 of the report). In go its blocks, out comes the sort list, or the loop that forbids one."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Final

from tidegate.csmp.language.block_kinds import BlockStatement
from tidegate.csmp.language.diagnostics import Diagnostic, say
from tidegate.errors import CsmpError

__all__ = ["loop_of", "sort_failure", "sort_list", "store_order"]

_Blocks = Mapping[int, BlockStatement]

# Their outputs follow from the past, so that they are known before the pass begins.
_KNOWN_AS_INPUTS: Final = ("I", "T1")
_FIRST_IN_LIST: Final = ("K", "U")


def sort_list(blocks: _Blocks) -> list[int]:
    """Numbers of the blocks in the order of their execution; UO blocks are not among them.

    Inputs that are not configured count as known: they are another problem.

    Raises
    ------
    CsmpError : SORT FAILURE AT BLK n with the lowest block that cannot be placed (decision R14), and the loop.
    """
    order, waiting = _sort(blocks)
    if waiting:
        raise CsmpError([_failure(blocks, waiting)])
    return order


def sort_failure(blocks: _Blocks) -> Diagnostic | None:
    """The diagnostic that ``sort_list`` would raise, or None."""
    waiting = _sort(blocks)[1]
    return _failure(blocks, waiting) if waiting else None


def store_order(blocks: _Blocks) -> list[int]:
    """All blocks in sorted order, UO blocks directly behind their user block (commands CS and AS).

    Raises
    ------
    CsmpError : as ``sort_list``.
    """
    order: list[int] = []
    outputs = [number for number in sorted(blocks) if blocks[number].kind == "UO"]
    for number in sort_list(blocks):
        order.append(number)
        order.extend(output for output in outputs if blocks[output].inputs[0] == number)
    placed = set(order)
    return order + [output for output in outputs if output not in placed]


def loop_of(blocks: _Blocks) -> tuple[int, ...]:
    """The blocks of an algebraic loop along its signals, the lowest number first; empty if there is none."""
    waiting = _sort(blocks)[1]
    return _loop(blocks, waiting) if waiting else ()


def _sort(blocks: _Blocks) -> tuple[list[int], set[int]]:
    """The list, and the blocks that found no place in it.

    The report searches from the lowest unsorted number after every success. Always taking the lowest of the blocks that wait for nothing gives
    the same order, and a heap hands that one out.
    """
    order = [number for kind in _FIRST_IN_LIST for number in sorted(blocks) if blocks[number].kind == kind]
    waiting = {number for number in sorted(blocks) if blocks[number].kind not in {*_FIRST_IN_LIST, "UO"}}
    waits_for = {number: _unknown_inputs(blocks, number) & waiting for number in waiting}
    readers: dict[int, list[int]] = {}
    for number, needed in waits_for.items():
        for one in needed:
            readers.setdefault(one, []).append(number)
    ready = [number for number in waiting if not waits_for[number]]
    heapq.heapify(ready)
    while ready:
        number = heapq.heappop(ready)
        order.append(number)
        waiting.discard(number)
        for reader in readers.get(number, ()):
            waits_for[reader].discard(number)
            if not waits_for[reader]:
                heapq.heappush(ready, reader)
    return order, waiting


def _unknown_inputs(blocks: _Blocks, number: int) -> set[int]:
    """Blocks that must stand before this one; for a UO block its user block (decision R13)."""
    return {_computed_by(blocks, source) for source in blocks[number].inputs if source in blocks} - {0}


def _computed_by(blocks: _Blocks, source: int) -> int:
    block = blocks[source]
    if block.kind in _KNOWN_AS_INPUTS:
        return 0
    return block.inputs[0] if block.kind == "UO" else source


def _loop(blocks: _Blocks, waiting: set[int]) -> tuple[int, ...]:
    # every waiting block has an input that waits too: walking against the signals must come back to where it was
    walked: list[int] = []
    number = min(waiting)
    while number not in walked:
        walked.append(number)
        source = next(one for one in blocks[number].inputs if one in blocks and _computed_by(blocks, one) in waiting)
        computed_by = _computed_by(blocks, source)
        if computed_by != source:
            walked.append(source)
        number = computed_by
    loop = walked[walked.index(number) :][::-1]
    first = loop.index(min(loop))
    return (*loop[first:], *loop[:first])


def _failure(blocks: _Blocks, waiting: set[int]) -> Diagnostic:
    number = min(waiting)
    loop = _loop(blocks, waiting)
    path = " -> ".join(str(one) for one in (*loop, loop[0]))
    hint = f"the loop is {path}: break it with an integrator (I), a lag (T1) or a delay (U), or solve it with V and Y blocks"
    return say("SORT FAILURE", n=number, loop=loop, hint=hint).at(blocks[number].origin)
