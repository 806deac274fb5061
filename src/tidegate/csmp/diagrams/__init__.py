"""The bridge between programs of the language and diagrams of blocks, both ways. Blocks know nothing of the language."""

from tidegate.csmp.diagrams.from_diagram import from_diagram
from tidegate.csmp.diagrams.to_diagram import to_diagram

__all__ = ["from_diagram", "to_diagram"]
