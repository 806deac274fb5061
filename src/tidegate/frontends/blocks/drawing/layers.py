"""Which block stands in which column, and above which other (picture of a diagram). In goes a drawing, out come columns from left to right.

The order within the columns, which decides how many lines cross, is that of K. Sugiyama, S. Tagawa and M. Toda, "Methods for visual understanding of
hierarchical system structures", IEEE Transactions on Systems, Man, and Cybernetics 11 (1981) 109-125, as grandalf has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any, Final

from tidegate.frontends.blocks.drawing.description import Drawing, Edge
from tidegate.frontends.blocks.drawing.untangle import Bend, Item, Net, WirePiece, untangled
from tidegate.quick_dataclass import dataclass

__all__ = ["Columns", "columns_of"]

_SWEEPS: Final = 12  # through all columns and back; crossings seldom become fewer after the first five


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
    >>> from tidegate.frontends.blocks.drawing.description import DrawnNode
    >>> loop = Drawing([DrawnNode("sum", "+"), DrawnNode("plant", "I")], [Edge("sum", 0, "plant", 0), Edge("plant", 0, "sum", 0)])
    >>> columns_of(loop).items, [edge.from_id for edge in columns_of(loop).feedback]
    ([['sum'], ['plant']], ['plant'])
    """
    feedback = _feedback(drawing)
    forward = [edge for edge in drawing.edges if edge not in feedback]
    column = _numbered(drawing, forward)
    nets: dict[Net, list[str]] = {}
    for edge in forward:
        nets.setdefault((edge.from_id, edge.out_port), []).append(edge.to_id)
    items: list[list[Item]] = [[] for _ in range(max(column.values(), default=-1) + 1)]
    for node in drawing.nodes:
        items[column[node.id]].append(node.id)
    links: dict[tuple[Item, Item], None] = {}
    for net, readers in nets.items():
        end = max(column[reader] for reader in readers)
        chain: list[Item] = [net[0], *(Bend(net, k) for k in range(column[net[0]] + 1, end))]
        for bend in chain[1:]:
            assert isinstance(bend, Bend)
            items[bend.column].append(bend)
        links.update(dict.fromkeys(pairwise(chain)))
        for reader in readers:
            links[chain[column[reader] - column[net[0]] - 1], reader] = None
    ordered = _ordered(items, list(links))
    return Columns(untangled(ordered, _pieces(drawing, forward, column)), column, feedback)


def _pieces(drawing: Drawing, forward: Sequence[Edge], column: Mapping[str, int]) -> list[WirePiece]:
    """Every edge from column to column, with how far down its ports are."""
    pieces: dict[WirePiece, None] = {}
    for edge in forward:
        net = (edge.from_id, edge.out_port)
        ends: list[tuple[Item, float]] = [(edge.from_id, edge.out_port / drawing.by_id[edge.from_id].n_out)]
        ends.extend((Bend(net, k), 0.0) for k in range(column[edge.from_id] + 1, column[edge.to_id]))
        ends.append((edge.to_id, edge.in_port / drawing.by_id[edge.to_id].n_in))
        pieces.update(dict.fromkeys(WirePiece(*start, *end) for start, end in pairwise(ends)))
    return list(pieces)


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
            columns: dict[int, list[Any]] = {}
            for vertex in sorted(self.g.sV, key=lambda vertex: place[vertex.data]):
                columns.setdefault(place[vertex.data][0], []).append(vertex)
            self.layers = [layouts.Layer(column) for _, column in sorted(columns.items())]
            for k, layer in enumerate(self.layers):
                for vertex in layer:
                    self.grx[vertex].rank = k

    place = {item: (k, i) for k, column in enumerate(items) for i, item in enumerate(column)}
    ordered: list[list[Item]] = [[] for _ in items]
    for first, part in _connected(place, links):
        vertices: dict[Item, Any] = {item: graphs.Vertex(item) for item in (first, *(end for link in part for end in link))}
        for vertex in vertices.values():
            vertex.view = layouts.VertexViewer()
        # edge by edge, since its constructor compares every vertex with every other one
        graph = graphs.graph_core()
        graph.add_single_vertex(vertices[first])
        for start, end in part:
            graph.add_edge(graphs.Edge(vertices[start], vertices[end]))
        layout: Any = Ranked(graph)
        layout.init_all(roots=[], inverted_edges=[])
        for _ in range(_SWEEPS):
            list(layout.ordering_step())
        for layer in layout.layers:
            for vertex in layer:
                ordered[place[vertex.data][0]].append(vertex.data)
    return ordered


def _connected(items: Iterable[Item], links: Sequence[tuple[Item, Item]]) -> Iterator[tuple[Item, list[tuple[Item, Item]]]]:
    """The parts of the diagram: the first item of each, and its links, each of which has an end in one of those before."""
    at: dict[Item, list[tuple[Item, Item]]] = {item: [] for item in items}
    for link in links:
        for end in link:
            at[end].append(link)
    seen: set[Item] = set()
    for first in at:
        if first in seen:
            continue
        seen.add(first)
        ahead, part = [first], dict[tuple[Item, Item], None]()
        while ahead:
            for link in at[ahead.pop()]:
                part[link] = None
                ahead.extend(new := [end for end in link if end not in seen])
                seen.update(new)
        yield first, list(part)
