"""Block diagrams: blocks with ports, connected by calls or expressions."""

from tidegate.frontends.blocks import library as blocks
from tidegate.frontends.blocks.block import Block, InPort, OutPort
from tidegate.frontends.blocks.diagram import Connection, Diagram
from tidegate.frontends.blocks.library import operators

__all__ = ["Block", "Connection", "Diagram", "InPort", "OutPort", "blocks", "operators"]
