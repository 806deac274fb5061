"""Block diagrams: blocks with ports, connected by calls or expressions."""

from tidegate.frontends.blocks import library as blocks
from tidegate.frontends.blocks.block import Block
from tidegate.frontends.blocks.diagram import Connection, Diagram
from tidegate.frontends.blocks.ports import InPort, OutPort

__all__ = ["Block", "Connection", "Diagram", "InPort", "OutPort", "blocks"]
