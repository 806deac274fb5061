"""The picture of a diagram (front end of blocks): blocks and connections go in, the plain description that ``drawing`` lays out comes out."""

from __future__ import annotations

from tidegate.frontends.blocks.block import Block, Composite
from tidegate.frontends.blocks.drawing import Drawing, DrawnNode, Edge
from tidegate.frontends.blocks.library.arithmetic import Summer
from tidegate.frontends.blocks.outer_ports import Inlet, Outlet

__all__ = ["picture"]


def picture(diagram: Composite) -> Drawing:
    """What to draw: a node for every block and port of the diagram, an edge for every connection. Inputs that may stay open are shown where used."""
    parts: list[Block] = [*diagram.inlets.values(), *diagram, *diagram.outlets.values()]
    ids = {block: f"{_kind(block)} {block.name}" for block in parts}
    shown = {block: [port for port in block.inputs if block.drivers(port) or not block.is_open(port)] for block in parts}
    nodes = [_node(block, ids[block], shown[block]) for block in parts]
    edges: list[Edge] = []
    for block in parts:
        for k, port in enumerate(shown[block]):
            sign = block.signs[block.inputs.index(port)] if isinstance(block, Summer) else 1
            edges += [
                Edge(ids[source.block], source.block.outputs.index(source.name), ids[block], k, sign=sign)
                for source, _ in block.drivers(port)
                if source.block in ids
            ]
    return Drawing(nodes, edges, diagram.name)


def _kind(block: Block) -> str:
    if isinstance(block, Composite):
        return "Diagram"
    return "Input" if isinstance(block, Inlet) else "Output" if isinstance(block, Outlet) else block.kind


def _node(block: Block, node_id: str, shown: list[str]) -> DrawnNode:
    names = tuple(shown) if isinstance(block, Composite) else ()
    ends = block.outputs if isinstance(block, Composite) else ()
    label = block.label or block.name
    if block.number is not None and label != f"block {block.number}":
        label = f"{block.number} {label}"
    return DrawnNode(node_id, _kind(block), label, len(shown), len(block.outputs), block.inscription, names, ends)
