"""Which block stands in which column, and above which other (picture of a diagram). In goes a drawing, out come columns from left to right.

The order within the columns, which decides how many lines cross, is that of K. Sugiyama, S. Tagawa and M. Toda, "Methods for visual understanding of
hierarchical system structures", IEEE Transactions on Systems, Man, and Cybernetics 11 (1981) 109-125, as grandalf has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any, Final

from tidegate.frontends.blocks.drawing.description import Drawing, Edge

__all__ = ["Bend", "Columns", "Item", "Net", "columns_of"]

_SWEEPS: Final = 12  # through all columns and back; crossings seldom become fewer after the first five

Net = tuple[str, int]  # all edges of one output: a block and its port


@dataclass(frozen=True, slots=True)
class Bend:
    """Where a signal passes a column on its way to a later one."""

    net: Net
    column: int


Item = str | Bend


@dataclass(frozen=True, eq=False)
class Columns:
    """The arrangement.

    Parameters
    ----------
    items : of every column, from the top.
    column : of every block.
    feedback : edges that go back to the same column or an earlier one.
    """

    items: list[list[Item]]
    column: dict[str, int]
    feedback: frozenset[Edge]


def columns_of(drawing: Drawing) -> Columns:
    """Arrange the blocks so that signals go from left to right, but for those that close a loop.

    Parameters
    ----------
    drawing : any.

    Examples
    --------
    >>> from tidegate.frontends.blocks.drawing.description import Node
    >>> loop = Drawing([Node("sum", "+"), Node("plant", "I")], [Edge("sum", 0, "plant", 0), Edge("plant", 0, "sum", 0)])
    >>> columns_of(loop).items, [edge.from_id for edge in columns_of(loop).feedback]
    ([['sum'], ['plant']], ['plant'])
    """
    feedback = _feedback(drawing)
    forward = [edge for edge in drawing.edges if edge not in feedback]
    column = _numbered(drawing, forward)
    last: dict[Net, int] = {}
    for edge in forward:
        net = (edge.from_id, edge.out_port)
        last[net] = max(last.get(net, 0), column[edge.to_id])
    items: list[list[Item]] = [[] for _ in range(max(column.values(), default=-1) + 1)]
    for node in drawing.nodes:
        items[column[node.id]].append(node.id)
    links: dict[tuple[Item, Item], None] = {}
    for net, end in last.items():
        chain: list[Item] = [net[0], *(Bend(net, k) for k in range(column[net[0]] + 1, end))]
        for bend in chain[1:]:
            assert isinstance(bend, Bend)
            items[bend.column].append(bend)
        links.update(dict.fromkeys(pairwise(chain)))
        for edge in forward:
            if (edge.from_id, edge.out_port) == net:
                links[chain[column[edge.to_id] - column[net[0]] - 1], edge.to_id] = None
    return Columns(_ordered(items, list(links)), column, feedback)


def _feedback(drawing: Drawing) -> frozenset[Edge]:
    """Edges that meet, in a walk along the signals that begins at sources, a block whose own signals are still being followed."""
    leaving: dict[str, list[Edge]] = {node.id: [] for node in drawing.nodes}
    entered: set[str] = set()
    for edge in drawing.edges:
        leaving[edge.from_id].append(edge)
        if edge.from_id != edge.to_id:
            entered.add(edge.to_id)
    found: set[Edge] = set()
    open_or_done: dict[str, bool] = {}
    for first in sorted(leaving, key=lambda name: name in entered):  # a stable sort: sources first, else the order of the nodes
        if first in open_or_done:
            continue
        open_or_done[first] = True
        # no recursion, because a chain may have thousands of blocks
        stack = [(first, iter(leaving[first]))]
        while stack:
            name, edges = stack[-1]
            edge = next(edges, None)
            if edge is None:
                open_or_done[name] = False
                stack.pop()
            elif edge.to_id not in open_or_done:
                open_or_done[edge.to_id] = True
                stack.append((edge.to_id, iter(leaving[edge.to_id])))
            elif open_or_done[edge.to_id]:
                found.add(edge)
    return frozenset(found)


def _numbered(drawing: Drawing, forward: Sequence[Edge]) -> dict[str, int]:
    """Columns: one after the last of the blocks that a block reads; a source stands just before the first block that reads it."""
    after: dict[str, list[str]] = {node.id: [] for node in drawing.nodes}
    waiting = dict.fromkeys(after, 0)
    for edge in forward:
        after[edge.from_id].append(edge.to_id)
        waiting[edge.to_id] += 1
    column = dict.fromkeys(after, 0)
    sources = [name for name, count in waiting.items() if not count]
    ready = list(sources)
    while ready:
        name = ready.pop()
        for reader in after[name]:
            column[reader] = max(column[reader], column[name] + 1)
            waiting[reader] -= 1
            if not waiting[reader]:
                ready.append(reader)
    for name in sources:
        column[name] = min((column[reader] for reader in after[name]), default=1) - 1
    return column


def _ordered(items: list[list[Item]], links: Sequence[tuple[Item, Item]]) -> list[list[Item]]:
    """The same columns with few crossings; parts that are not connected stay one below the other."""
    # grandalf has no types
    graphs: Any = import_module("grandalf.graphs")
    layouts: Any = import_module("grandalf.layouts")

    # grandalf would put every source into the first column; ours is decided
    class Ranked(layouts.SugiyamaLayout):
        def rank_all(self, roots: Any, optimize: Any = False) -> None:  # noqa: ARG002, its caller's names
            ranks: dict[int, list[Any]] = {}
            for vertex in self.g.sV:
                ranks.setdefault(rank[vertex.data], []).append(vertex)
            first = min(ranks)
            self.layers = [layouts.Layer(ranks[k]) for k in range(first, max(ranks) + 1)]
            for k, layer in enumerate(self.layers):
                for vertex in layer:
                    self.grx[vertex].rank = k

    rank = {item: k for k, column in enumerate(items) for item in column}
    vertices: Mapping[Item, Any] = {item: graphs.Vertex(item) for column in items for item in column}
    for vertex in vertices.values():
        vertex.view = layouts.VertexViewer()
    graph = graphs.Graph(list(vertices.values()), [graphs.Edge(vertices[start], vertices[end]) for start, end in links])
    ordered: list[list[Item]] = [[] for _ in items]
    for part in graph.C:
        layout: Any = Ranked(part)
        layout.init_all(roots=[], inverted_edges=[])
        for _ in range(_SWEEPS):
            for _ in layout.ordering_step():
                pass
        for layer in layout.layers:
            for vertex in layer:
                ordered[rank[vertex.data]].append(vertex.data)
    return ordered
