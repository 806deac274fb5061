"""Algebraic loops (front end of blocks): blocks and what each needs at the same instant go in, loops and an order of evaluation come out.

Strongly connected components are found by Tarjan's algorithm (Depth-first search and linear graph algorithms, SIAM J. Comput. 1, 1972, 146-160),
written without recursion, since diagrams may be long chains.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping, Sequence

__all__ = ["loops", "order", "shortest_loop"]


def _components[N: Hashable](needs: Mapping[N, Sequence[N]]) -> list[list[N]]:
    """Strongly connected components, each after those it needs."""
    index: dict[N, int] = {}
    low: dict[N, int] = {}
    stack: list[N] = []
    on_stack: set[N] = set()
    found: list[list[N]] = []
    for root in needs:
        if root in index:
            continue
        work: list[tuple[N, int]] = [(root, 0)]
        while work:
            node, at = work.pop()
            if at == 0:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
            below = needs.get(node, ())
            if at < len(below):
                work.append((node, at + 1))
                child = below[at]
                if child not in index:
                    work.append((child, 0))
                elif child in on_stack:
                    low[node] = min(low[node], index[child])
                continue
            if low[node] == index[node]:
                component: list[N] = []
                while not component or component[-1] is not node:
                    component.append(stack.pop())
                    on_stack.discard(component[-1])
                found.append(component)
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
    return found


def loops[N: Hashable](needs: Mapping[N, Sequence[N]]) -> list[list[N]]:
    """Groups of nodes that need each other, and nodes that need themselves.

    Examples
    --------
    >>> loops({"a": ["b"], "b": ["c"], "c": ["b"], "d": ["d"]})
    [['c', 'b'], ['d']]
    """
    return [group for group in _components(needs) if len(group) > 1 or group[0] in needs.get(group[0], ())]


def order[N: Hashable](needs: Mapping[N, Sequence[N]]) -> list[N]:
    """The nodes, each after those it needs; there must be no loop.

    Examples
    --------
    >>> order({"a": ["b"], "b": []})
    ['b', 'a']
    """
    return [node for group in _components(needs) for node in group]


def shortest_loop[N: Hashable](group: Sequence[N], needs: Mapping[N, Sequence[N]]) -> list[N]:
    """The nodes of one shortest loop of a group, each behind one that it needs: in the direction of the signals.

    Examples
    --------
    >>> shortest_loop(["a", "b", "c"], {"a": ["b"], "b": ["a", "c"], "c": ["a"]})
    ['a', 'b']
    """
    inside = set(group)
    best: list[N] = []
    for start in group:
        before: dict[N, N] = {}
        waiting = deque([start])
        while waiting and start not in before:
            node = waiting.popleft()
            for child in needs.get(node, ()):
                if child in inside and child not in before:
                    before[child] = node
                    waiting.append(child)
        path = [start]
        while before[path[-1]] != start:
            path.append(before[path[-1]])
        if not best or len(path) < len(best):
            best = path
    return best
